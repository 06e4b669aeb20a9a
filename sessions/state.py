"""What a session is about, beside its turns: role text, task, ceilings, an accepted packet."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection, select, update

from indexing.chat import reasons
from indexing.errors import InvalidInput, StoreError
from indexing.index import Index
from indexing.session_rows import is_over, open_session
from indexing.session_schema import state as table
from indexing.types import Scope, session_scope

VERSION = 1


@dataclass(frozen=True, slots=True)
class SessionState:
    """The role text (instructions), the task, hard ceilings of this session (None: the usual ones),
    the handoff packet that it began with, and details of the caller's; the last two are JSON."""

    role: str = ""
    task: str = ""
    token_ceiling: int | None = None
    cost_ceiling: float | None = None
    packet: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class _Body(BaseModel):
    """The state as it is stored."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    version: int = Field(VERSION, ge=1, le=VERSION)
    role: str = ""
    task: str = ""
    token_ceiling: int | None = Field(None, ge=0)
    cost_ceiling: float | None = Field(None, ge=0)
    packet: dict[str, Any] | None = None
    details: dict[str, Any] = {}


def read_state(index: Index, user_id: str, session_id: str) -> SessionState:
    """Return the state of a session, the empty one where nothing was written.

    Raises `InvalidId`, `StoreError` also for a state of a newer release.
    """
    scope = session_scope(user_id, session_id)
    with index.catalog.database.read() as connection:
        return _read(connection, scope, index.clock())


def write_state(index: Index, user_id: str, session_id: str, state: SessionState) -> None:
    """Store the state of a session. Raises `InvalidInput`, `Forgotten`, `StoreError`."""
    update_state(index, user_id, session_id, lambda _: state)


def update_state(
    index: Index, user_id: str, session_id: str, change: Callable[[SessionState], SessionState]
) -> SessionState:
    """Change the state of a session in its turn, and return it: no other change is lost.

    Call no model in ``change``. Raises as `write_state`.
    """
    scope = session_scope(user_id, session_id)
    now = index.clock()
    with index.catalog.writing(scope) as writing:
        writing.blocked()
        connection = writing.connection
        open_session(connection, scope, now)
        changed = change(_read(connection, scope, now))
        mine = table.c.tenant == scope.tenant
        connection.execute(update(table).where(mine).values(body=_written(changed)))
    return changed


def _read(connection: Connection, scope: Scope, now: datetime) -> SessionState:
    query = select(table.c.body).where(table.c.tenant == scope.tenant)
    body = connection.execute(query.where(~is_over(scope.tenant, now))).scalar()
    return SessionState() if body is None else state_of(body)


def state_of(text: str) -> SessionState:
    """Return a state as it is stored. Raises `StoreError`."""
    try:
        body = _Body.model_validate_json(text)
    except ValidationError as error:
        raise StoreError(f"the state of a session cannot be read: {reasons(error)}") from error
    return SessionState(**body.model_dump(exclude={"version"}))


def _written(state: SessionState) -> str:
    try:
        body = _Body.model_validate({**asdict(state), "version": VERSION})
        return json.dumps(body.model_dump(), ensure_ascii=False, allow_nan=False)
    except ValidationError as error:
        raise InvalidInput(f"the state of a session: {reasons(error)}") from error
    except (TypeError, ValueError) as error:
        raise InvalidInput("the packet and the details of a session must be JSON") from error
