"""The calls of models that a session made: what they cost, and whether one more may: `CallLog`.

Rows of the catalog that hold no text: `letopis_model_calls` shows them to the SQL route.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from sqlalchemy import case, func, insert, select

from indexing.catalog_rows import note_scope
from indexing.errors import BudgetExceeded, InvalidInput
from indexing.hashing import digest
from indexing.index import Index
from indexing.session_schema import calls
from indexing.types import check_time, session_scope
from sessions.state import read_state

MAX_CACHE_CHARS = 32

MOST = 2**31 - 1
"""The largest number of tokens that a row can hold."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model: tokens of its prompt and of its answer, and its cost.

    ``cost`` is in the caller's currency. ``cache`` is the kind of cache that answered, or held part
    of the prompt (``exact``, ``semantic``, ``prompt``), empty for none; ``cached_tokens`` of
    ``tokens_in`` came from it. ``tool_calls`` is how many it asked for. A call with a ``call_id``
    is counted once, however often it is recorded.
    """

    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    cache: str = ""
    cached_tokens: int = 0
    tool_calls: int = 0
    at: datetime | None = None
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls of a session add up to."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    calls: int = 0
    tool_calls: int = 0
    cache_hits: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers together: what a ceiling counts."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What one session may spend; None: any amount."""

    tokens: int | None = None
    cost: float | None = None


class CallLog:
    """The table of model calls of one deployment, with the usual ceilings of a session."""

    def __init__(self, index: Index, ceilings: Ceilings | None = None) -> None:
        self._index = index
        self._ceilings = ceilings or Ceilings()

    def record(self, user_id: str, session_id: str, call: ModelCall) -> None:
        """Add a call. Raises `InvalidInput` for numbers below 0, `Forgotten`, `StoreError`."""
        _check(call)
        scope = session_scope(user_id, session_id)
        key = digest(call.call_id or uuid.uuid4().hex)
        at = call.at or self._index.clock()
        row = {
            "tenant": scope.tenant,
            "key": key,
            "called_at": at.timestamp(),
            "model": call.model,
            "tokens_in": call.tokens_in,
            "tokens_out": call.tokens_out,
            "cached_tokens": call.cached_tokens,
            "tool_calls": call.tool_calls,
            "cost": float(call.cost),
            "cache": call.cache,
        }
        with self._index.catalog.writing(scope) as writing:
            writing.blocked()
            note_scope(writing.connection, scope)
            same = select(calls.c.key).where(calls.c.tenant == scope.tenant, calls.c.key == key)
            if writing.connection.execute(same).first() is None:
                writing.connection.execute(insert(calls).values(row))

    def spent(self, user_id: str, session_id: str) -> Spent:
        """Return what a session has spent."""
        tenant = session_scope(user_id, session_id).tenant
        of = calls.c
        sums = (func.sum(column) for column in (of.tokens_in, of.tokens_out, of.cost))
        hits = func.sum(case((of.cache != "", 1), else_=0))
        query = select(*sums, func.count(), func.sum(of.tool_calls), hits)
        with self._index.catalog.database.read() as connection:
            row = connection.execute(query.where(of.tenant == tenant)).one()
        tokens_in, tokens_out, cost, number, tool_calls, cached = (value or 0 for value in row)
        return Spent(
            int(tokens_in), int(tokens_out), float(cost), number, int(tool_calls), int(cached)
        )

    def check(self, user_id: str, session_id: str, tokens: int = 0, cost: float = 0.0) -> Spent:
        """Return what a session has spent, if a call of so many tokens and so much cost may follow.

        Ceilings of the session's own state go before the usual ones. Raises `BudgetExceeded` when
        the call would exceed one, or nothing is left of it.
        """
        spent, own = self.spent(user_id, session_id), read_state(self._index, user_id, session_id)
        usual = self._ceilings
        _hold("tokens", spent.tokens, tokens, _first(own.token_ceiling, usual.tokens))
        _hold("of cost", spent.cost, cost, _first(own.cost_ceiling, usual.cost))
        return spent


def _first(own: float | None, usual: float | None) -> float | None:
    return usual if own is None else own


def _hold(what: str, spent: float, more: float, ceiling: float | None) -> None:
    if ceiling is not None and (spent + more > ceiling or spent >= ceiling):
        raise BudgetExceeded(
            f"the session may spend {ceiling:,g} {what}: {spent:,g} are spent, and the call takes "
            f"{more:,g}"
        )


def _check(call: ModelCall) -> None:
    for name in ("tokens_in", "tokens_out", "cached_tokens", "tool_calls"):
        if not 0 <= getattr(call, name) <= MOST:
            raise InvalidInput(f"{name} of a model call must be 0 to {MOST:,}")
    if not isfinite(call.cost) or call.cost < 0:
        raise InvalidInput("the cost of a model call must be 0 or more")
    if len(call.cache) > MAX_CACHE_CHARS:
        raise InvalidInput(f"cache of a model call has over {MAX_CACHE_CHARS} characters")
    if call.at:
        check_time(call.at, "the time of a model call")
