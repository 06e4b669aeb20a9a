"""Sessions and chat exports -> turns -> `write`. Turns that an export no longer has stay.

A turn is known by its session and id; its hash has two halves: what it says itself, and the turn
before it. So an export that starts later leaves its first turn as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from chunking.types import Chunk, Session, Turn
from indexing.catalog_rows import About, DeadLetter, SourceRow
from indexing.chat import parse_turns
from indexing.feeds.types import Progress
from indexing.hashing import digest
from indexing.index import Index, Origin, Report, Source
from indexing.tags import tags_of
from indexing.types import GLOBAL, Filter, Kind, Scope, user_scope
from indexing.write import bury, write

HALF = 32
"""Hex digits of each half of a turn's hash."""


def ingest_export(
    index: Index,
    text: str,
    path: str,
    uri: str,
    scope: Scope | None = None,
    timezone: str = "",
    progress: Progress | None = None,
    tags: Sequence[str] = (),
) -> Report:
    """Index a JSONL chat export; each line goes to the scope given, or to its own user's.

    With a user's scope given, a line of another user is refused: it goes to the dead letters.
    """
    report = Report()
    chats, letters = read_export(text, path, uri, scope, timezone, tags)
    report.seen += len(letters)
    bury(index, report, *letters)
    origin = Origin(scope or GLOBAL, path)
    for owner, held in chats.items():
        report.add(ingest_chats(index, owner, in_order(held, uri, progress), origin))
    index.catalog.revive(origin.scope, path, [letter.place for letter in report.dead])
    return report


Chats = dict[Scope, dict[str, list[Turn]]]


def read_export(
    text: str,
    path: str,
    uri: str,
    scope: Scope | None,
    timezone: str,
    tags: Sequence[str] = (),
) -> tuple[Chats, list[DeadLetter]]:
    """Return whose turns an export holds, by session, and why some lines are none.

    A turn gets the tags of its line and these.
    """
    chats: Chats = {}
    letters: list[DeadLetter] = []
    for line in parse_turns(text, uri, timezone, tags):
        place, reason = f"line {line.number}", line.error
        owner, refusal = (None, reason) if reason else _owner(line.user_id, scope)
        if owner is None or line.turn is None:
            letters.append(DeadLetter(scope or GLOBAL, path, place, refusal))
            continue
        chats.setdefault(owner, {}).setdefault(line.session_id, []).append(line.turn)
    return chats, letters


def in_order(
    held: Mapping[str, Sequence[Turn]], uri: str, progress: Progress | None = None
) -> Iterator[Session]:
    """Yield the sessions, their turns by time."""
    for number, (session_id, turns) in enumerate(held.items()):
        if progress:
            progress(f"{uri} {session_id}", number, len(held))
        yield Session(session_id, tuple(sorted(turns, key=_time)))


def _time(turn: Turn) -> float:
    return turn.at.timestamp() if turn.at else 0.0


def _owner(user_id: str, scope: Scope | None) -> tuple[Scope | None, str]:
    """Return whose scope a line goes to, or None and why it goes nowhere."""
    if scope is None:
        if not user_id:
            return None, "user_id: missing; write it in the line or name a user for the file"
        return user_scope(user_id), ""
    if scope.collection == "global":
        return None, "chat turns are personal: name a user, not the global scope"
    if user_id and user_id != scope.user_id:
        return None, "user_id: the line belongs to another user than the one named for the file"
    return scope, ""


def ingest_session(
    index: Index, scope: Scope, session: Session, origin: Origin | None = None
) -> Report:
    """Index the turns of one session; see `ingest_chats`."""
    return ingest_chats(index, scope, [session], origin)


def ingest_chats(
    index: Index, scope: Scope, sessions: Iterable[Session], origin: Origin | None = None
) -> Report:
    """Index the turns of sessions of one scope; of turns with one id the last counts.

    Equal turns are not embedded again; batches fill across sessions. ``origin`` is the file that
    they were read from. Raises `InvalidInput` for tags that cannot be.
    """
    report = Report()
    changed = (source for session in sessions for source in _changed(index, scope, session, report))
    report.add(write(index, scope, changed, origin))
    return report


def _changed(index: Index, scope: Scope, session: Session, report: Report) -> Iterator[Source]:
    """Yield the turns of a session that are new or different; count the others."""
    last = {turn.turn_id: turn for turn in session.turns}
    report.seen += len(session.turns)
    report.unchanged += len(session.turns) - len(last)
    session = replace(session, turns=tuple(last.values()))
    cut: dict[str, list[Chunk]] = {}
    for chunk in index.recipe.chunk_turns(session):
        cut.setdefault(chunk.source_id, []).append(chunk)
    late = index.recipe.late_turns
    context, places = late.session(session) if late else (None, {})
    named = {turn_source(session, turn): turn for turn in session.turns}
    known = index.catalog.sources(scope, list(named))
    described: dict[str, About] = {}
    first = next(iter(cut), "")  # the first turn that is not blank: what was before is not told
    for source_id, turn in named.items():
        chunks = cut.get(turn.turn_id, [])
        row = known.get(source_id)
        before = chunks[0].before if chunks else ""
        at = places.get(turn.turn_id, 0)
        read = context.key(at, at + len(turn.text)) if context else ""
        if turn.turn_id == first and row and row.content_hash != turn_hash(turn, before, read):
            before = _before(index, scope, source_id)
            chunks = [replace(chunk, before=before) for chunk in chunks]
        content = turn_hash(turn, before, read)
        about = about_turn(turn)
        if row and row.content_hash == content:
            report.unchanged += 1
            if _counts_otherwise(row, about, bool(chunks)):
                described[source_id] = about
            continue
        yield Source(
            source_id,
            kind_of(turn),
            content,
            chunks,
            conversation_id=session.session_id,
            turn_id=turn.turn_id,
            change="changed" if row else "new",
            context=context,
            offset=at,
            tags=tags_of(turn.tags),
            role=about.role,
            said_at=turn.at,
            tool=about.tool,
            failed=about.failed,
        )
    if described:
        with index.catalog.writing(scope) as turns:
            turns.describe(described)


def _counts_otherwise(row: SourceRow, about: About, has_text: bool) -> bool:
    """Tell whether a row says something else than its turn; that of a memory that went stays."""
    held = replace(row.about, added_at=None)
    return held != about and bool(row.chunks or not has_text)


def kind_of(turn: Turn) -> Kind:
    """Return the kind of a turn's memories."""
    return "tool_result" if turn.role == "tool" else "turn"


def about_turn(turn: Turn) -> About:
    """Return what a turn counts as."""
    return About(kind_of(turn), turn.role, turn.tool, turn.failed)


def _before(index: Index, scope: Scope, source_id: str) -> str:
    """Return what an indexed turn has as the turn before it."""
    where = Filter(scope, source_ids=(source_id,))
    held = index.store.get(scope.collection, where, limit=1)
    return held[0].before if held else ""


def turn_hash(turn: Turn, before: str, read: str = "") -> str:
    """Return the hash of a turn: what it says, then what came before it and it is read in."""
    return f"{own_hash(turn)}{digest(before, *filter(None, [read]))[:HALF]}"


def own_hash(turn: Turn) -> str:
    """Return the half of a turn's hash that is about itself."""
    when = turn.at.isoformat() if turn.at else ""
    return digest(turn.role, turn.speaker, when, turn.text, *tags_of(turn.tags))[:HALF]


def turn_source(session: Session, turn: Turn) -> str:
    """Name a turn as a source. Framed: session "a:b" with turn "c" is not "a" with "b:c"."""
    return f"turn:{digest(session.session_id, turn.turn_id)[:32]}"
