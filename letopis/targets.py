"""What a caller names -> scopes and targets: who is meant, and what is to be forgotten."""

from collections.abc import Sequence
from pathlib import Path

from indexing.errors import InvalidInput
from indexing.traces import (
    Target,
    memory_target,
    session_target,
    source_target,
    user_target,
)
from indexing.types import GLOBAL, Scope, session_scope, user_scope


def scope_for(user_id: str, session_id: str | None) -> Scope:
    """Return the user's scope, or that of one of the user's sessions."""
    return user_scope(user_id) if session_id is None else session_scope(user_id, session_id)


def target_for(
    user_id: str | None,
    session_id: str | None = None,
    source: str | Sequence[str] = (),
    memory_ids: Sequence[str] = (),
) -> Target:
    """Return what is to be forgotten. Raises `InvalidInput` when that is nothing, or two things."""
    scope = given_scope(user_id, session_id) or GLOBAL
    names = (source,) if isinstance(source, str) else tuple(source)
    if names and memory_ids:
        raise InvalidInput("name sources or memories, not both")
    if names:
        return source_target(scope, names)
    if memory_ids:
        return memory_target(scope, memory_ids)
    if scope.collection == "global":
        raise InvalidInput("name a user, a session, a source or memories to forget")
    if scope.collection == "session":
        return session_target(scope.user_id, scope.session_id)
    return user_target(scope.user_id)


def given_scope(user_id: str | None, session_id: str | None) -> Scope | None:
    """Return the scope that is named; None when nobody is."""
    if user_id is None:
        if session_id is not None:
            raise InvalidInput("a session belongs to a user: name the user too")
        return None
    return scope_for(user_id, session_id)


def scope_or_global(user_id: str | None, session_id: str | None, everybody: bool) -> Scope:
    """Return the scope that is named: somebody's, or with ``everybody`` the global one.

    Raises `InvalidInput` for neither and for both.
    """
    scope = given_scope(user_id, session_id)
    if (scope is None) != everybody:
        raise InvalidInput("name a user, or --global for everybody's knowledge, not both")
    return scope or GLOBAL


def given_path(path: str | Path) -> Path:
    """Return the path; an empty one is refused, since it would mean the working folder."""
    if not str(path).strip():
        raise InvalidInput("the path is empty")
    return Path(path)
