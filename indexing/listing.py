"""What is remembered of somebody, a page at a time, in an order that stays: `listing`.

Scope by scope, in each by id: a page is one read behind the last memory of the page before, however
many there are, and what is written or deleted between two pages moves nothing from one to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from indexing.errors import InvalidInput
from indexing.index import Index
from indexing.store import check_uuid
from indexing.types import Filter, Kind, Memory, Scope

PAGE = 50
MAX_PAGE = 10_000


@dataclass(frozen=True, slots=True)
class Page:
    """Some of ``total`` memories; ``after`` is where the next page begins, empty on the last."""

    memories: tuple[Memory, ...]
    total: int
    after: str = ""


def listing(
    index: Index,
    scopes: Sequence[Scope],
    limit: int = PAGE,
    after: str = "",
    kinds: Sequence[Kind] | None = None,
    *,
    superseded: bool = False,
) -> Page:
    """Return a page of what a user and sessions of the user have now; see `Page.after`.

    With ``superseded`` also what held before. Raises `InvalidInput`.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"a page holds 1 to {MAX_PAGE} memories, not {limit}")
    for kind in kinds or ():
        if kind not in get_args(Kind):
            raise InvalidInput(f"kind {kind!r} is none of {', '.join(get_args(Kind))}")
    order = sorted(dict.fromkeys(scopes), key=_place)
    begun, last = _position(after)
    found: list[Memory] = []
    total = 0
    for scope in order:
        where = Filter(
            scope,
            now=index.clock(),
            kinds=None if kinds is None else tuple(kinds),
            superseded=superseded,
        )
        total += index.store.count(scope.collection, where)
        if _place(scope) >= begun and len(found) <= limit:
            behind = last if _place(scope) == begun else ""
            missing = limit + 1 - len(found)
            found += index.store.get(scope.collection, where, missing, behind)
    shown = tuple(found[:limit])
    return Page(shown, total, _cursor(shown[-1]) if len(found) > limit else "")


def _place(scope: Scope) -> tuple[bool, str]:
    """Return what orders the scopes of a user: the own one, then the sessions by their ids."""
    return scope.collection == "session", scope.session_id


def _cursor(memory: Memory) -> str:
    scope = memory.scope
    return f"{memory.id}/{scope.session_id}" if scope.collection == "session" else memory.id


def _position(after: str) -> tuple[tuple[bool, str], str]:
    """Return the place of the scope that a page goes on in, and the last id that was shown."""
    if not after:
        return (False, ""), ""
    memory_id, slash, session_id = after.partition("/")
    check_uuid(memory_id)
    return (bool(slash), session_id), memory_id
