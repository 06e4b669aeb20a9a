"""Both ends of a session and what is kept of it, as they are at one moment: `read_snapshot`."""

from dataclasses import dataclass, field

from sqlalchemy import BindParameter, bindparam, func, or_, select

from indexing.index import Index
from indexing.session_schema import digests, notes, state, turns
from indexing.types import session_scope
from sessions.beside import Tail, read_tail
from sessions.kept import digest_of, note_of
from sessions.log_rows import TURN, turn_of, user_before
from sessions.purpose import said_before
from sessions.replaced import Replacements, replacements
from sessions.state import SessionState, state_of
from sessions.types import FACTS, Digest, LoggedTurn, Note

ENDED = 200
"""Notes that were superseded, the newest, that are looked at."""

_TENANT: BindParameter[str] = bindparam("tenant")
_NOW: BindParameter[float] = bindparam("now")
_MOST: BindParameter[int] = bindparam("most")

_SESSION = select(
    state.c.body.label("state"),
    state.c.expires_at,
    select(digests.c.body).where(digests.c.tenant == _TENANT).scalar_subquery().label("digest"),
    select(func.count()).where(turns.c.tenant == _TENANT).scalar_subquery().label("total"),
).where(state.c.tenant == _TENANT)

_TURNS = select(*TURN).where(turns.c.tenant == _TENANT).limit(_MOST)

_NOTES = (
    select(notes)
    .where(
        notes.c.tenant == _TENANT,
        notes.c.ended_at.is_(None),
        or_(notes.c.expires_at.is_(None), notes.c.expires_at > _NOW),
    )
    .order_by(notes.c.place)
)
_ENDED = (
    select(notes)
    .where(
        notes.c.tenant == _TENANT,
        notes.c.ended_at.is_not(None),
        notes.c.seq > 0,
        notes.c.kind.in_(FACTS),
    )
    .order_by(notes.c.place.desc())
    .limit(ENDED)
)
_FIRST, _LAST = _TURNS.order_by(turns.c.seq), _TURNS.order_by(turns.c.seq.desc())


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session of ``total`` turns, with those notes that hold and the ``replaced`` values.

    ``first`` are there only where ``last`` are not all turns; ``said`` is the user's word before
    the ``last``. ``tail`` is what is known of more of the last turns, without their texts.
    """

    state: SessionState
    notes: tuple[Note, ...] = ()
    replaced: Replacements = field(default_factory=dict)
    digest: Digest | None = None
    first: tuple[LoggedTurn, ...] = ()
    last: tuple[LoggedTurn, ...] = ()
    tail: Tail = field(default_factory=Tail)
    total: int = 0
    said: str = ""


def read_snapshot(index: Index, user_id: str, session_id: str, first: int, last: int) -> Snapshot:
    """Read a session's state, notes, digest, first and last turns in one transaction.

    A session whose life is over is empty. Raises `InvalidId`, `StoreError`.
    """
    tenant, now = session_scope(user_id, session_id).tenant, index.clock().timestamp()
    mine = {"tenant": tenant}
    with index.catalog.database.read() as connection:
        row = connection.execute(_SESSION, mine).first()
        if row and row.expires_at is not None and row.expires_at <= now:
            return Snapshot(SessionState())
        said, total = "", row.total if row else 0
        held = [note_of(note) for note in connection.execute(_NOTES, mine | {"now": now})]
        ended = [note_of(note) for note in connection.execute(_ENDED, mine)]
        newest = connection.execute(_LAST, mine | {"most": last})
        tail = [turn_of(turn) for turn in newest][::-1]
        near = read_tail(connection, tenant)
        head = list[LoggedTurn]()
        if total > len(tail):
            oldest = connection.execute(_FIRST, mine | {"most": first})
            head = [turn_of(turn) for turn in oldest]
        before = said_before(tail)
        if any(turn.entry.role == "tool" and not before[turn.seq] for turn in tail):
            said = user_before(connection, tenant, tail[0].seq)
    return Snapshot(
        state_of(row.state) if row else SessionState(),
        tuple(held),
        replacements(ended, held),
        digest_of(row.digest) if row and row.digest is not None else None,
        tuple(head),
        tuple(tail),
        near,
        total,
        said,
    )
