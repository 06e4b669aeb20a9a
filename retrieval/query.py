"""What may be asked, and of which scopes."""

from collections.abc import Sequence
from datetime import datetime
from typing import get_args

from indexing.errors import InvalidInput
from indexing.sparse import LANGUAGES
from indexing.types import GLOBAL, Kind, Scope, check_time, session_scope, user_scope
from retrieval.types import Query


def check(query: Query) -> None:
    """Raise `InvalidInput` for what cannot be asked."""
    narrow = query.narrow
    if not isinstance(query.text, str) or not query.text.strip():
        raise InvalidInput("the query is empty")
    try:
        query.text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("the query is not valid Unicode (a lone surrogate)") from error
    for number, what in ((query.k, "k"), (query.budget, "the budget")):
        if number is not None and (type(number) is not int or number < 1):
            raise InvalidInput(f"{what} is {number}; it is a whole number from 1 on")
    _among("kind", narrow.kinds, get_args(Kind))
    _among("language", narrow.languages, LANGUAGES)
    for name in ("said_from", "said_to", "as_of"):
        moment = getattr(narrow, name)
        if moment is not None and not isinstance(moment, datetime):
            raise InvalidInput(f"{name} is a datetime, not {type(moment).__name__}")
        if moment is not None:
            check_time(moment, name)
    budget_ms = query.rerank_budget_ms
    if budget_ms is not None and not budget_ms > 0:
        raise InvalidInput(f"rerank_budget_ms is {budget_ms}; give more than 0, or none")
    if narrow.said_from and narrow.said_to and narrow.said_from >= narrow.said_to:
        raise InvalidInput("said_from is not before said_to")


def _among(what: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    for value in given or ():
        if value not in known:
            raise InvalidInput(f"{value!r} is no {what}; there are {', '.join(known)}")


def scopes_of(user_id: str | None, session_id: str | None) -> list[Scope]:
    """Return the scopes a question may see: global, and the user's and session's when named."""
    scopes = [GLOBAL]
    if user_id is not None:
        scopes.append(user_scope(user_id))
    if session_id is not None:
        if user_id is None:
            raise InvalidInput("a session belongs to a user: give user_id with session_id")
        scopes.append(session_scope(user_id, session_id))
    return scopes
