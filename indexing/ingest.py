"""Files and folders -> sources -> `write`: documents, and sessions of chat turns.

A bad file or line goes to the dead-letter table and the run goes on.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chunking.types import Chunk, Document, Session, Turn
from indexing.catalog import DeadLetter, digest
from indexing.chat import SUFFIXES, parse_turns
from indexing.errors import SourceError
from indexing.parse import DOCUMENTS, check_file, read_text
from indexing.types import GLOBAL, Filter, Scope, user_scope
from indexing.write import Index, Origin, Recipe, Report, Source, bury, write

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many sources are done and how many are known."""


def ingest(
    index: Index, path: Path, scope: Scope | None = None, progress: Progress | None = None
) -> Report:
    """Index a file or folder into a scope; None: documents are global, turns go to their users.

    Files that are gone from a folder leave the index; lines that are gone from a chat export do
    not. Raises `SourceError` when the path does not exist.
    """
    root = path.expanduser().resolve()
    if not root.exists():
        raise SourceError(f"{path}: no such file or folder")
    report = Report()
    files = list_files(root)
    base = root.parent
    documents = [file for file in files if file.suffix.lower() not in SUFFIXES]
    report.add(ingest_files(index, documents, base, scope or GLOBAL, progress))
    for file in files:
        if file.suffix.lower() in SUFFIXES:
            report.add(ingest_turns(index, file, name_of(file.relative_to(base)), scope, progress))
    if root.is_dir():
        report.removed += remove_gone(index, root, files, scope or GLOBAL)
    return report


def retry(index: Index, progress: Progress | None = None) -> Report:
    """Index again every path that has a dead letter; what works now leaves the table."""
    report = Report()
    for scope, path in dict.fromkeys((dead.scope, dead.path) for dead in index.catalog.dead()):
        try:
            owner = None if scope == GLOBAL else scope
            report.add(ingest(index, Path(path), owner, progress))
        except SourceError as error:
            report.seen += 1
            bury(index, report, DeadLetter(scope, path, "", str(error)))
    return report


def list_files(root: Path) -> list[Path]:
    """Return the file itself, or every visible file below a folder, in a stable order.

    A folder that cannot be opened is listed in place of its files: it becomes a dead letter, and
    what was indexed from it stays. Links to folders are not followed.
    """
    if not root.is_dir():
        return [root]
    found: list[Path] = []
    closed: list[OSError] = []
    for folder, inside, files in os.walk(root, onerror=closed.append):
        inside[:] = [name for name in inside if not name.startswith(".")]
        found += [Path(folder, name) for name in files if not name.startswith(".")]
    return sorted([*found, *(Path(error.filename) for error in closed)])


def name_of(file: Path) -> str:
    """Return a path as text; bytes of a name that are no UTF-8 are written as ``\\xff``."""
    return os.fsencode(file.as_posix()).decode(errors="backslashreplace")


def split(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the documents, and the chat exports (JSONL)."""
    exports = [file for file in files if file.suffix.lower() in SUFFIXES]
    return [file for file in files if file.suffix.lower() not in SUFFIXES], exports


def ingest_files(
    index: Index,
    files: Sequence[Path],
    base: Path,
    scope: Scope,
    progress: Progress | None = None,
) -> Report:
    """Index documents; a file's place below ``base`` is what answers show as its source."""
    report = Report()
    known = index.catalog.sources(scope, [name_of(file) for file in files])
    dead = {letter.path for letter in index.catalog.dead(scope)}

    def parsed() -> Iterator[Source]:
        for number, file in enumerate(files):
            name, uri = name_of(file), name_of(file.relative_to(base))
            if progress:
                progress(uri, number, len(files))
            report.seen += 1
            try:
                check_file(file)
                parser = DOCUMENTS.get(file.suffix.lower())
                if parser is None:
                    kind = file.suffix or "no extension"
                    raise SourceError(f"format not supported: {kind}")
                text = read_text(file)
                content = digest(text)
                row = known.get(name)
                if row and row.content_hash == content:
                    report.unchanged += 1
                    if name in dead:
                        index.catalog.revive(scope, name)
                    continue
                document = parser(text, name, uri)
                yield document_source(index.recipe, document, content)
            except SourceError as error:
                bury(index, report, DeadLetter(scope, name, "", str(error)))

    report.add(write(index, scope, parsed()))
    return report


def document_source(recipe: Recipe, document: Document, content_hash: str) -> Source:
    """Cut a document. Raises `SourceError` when nothing in it can be indexed."""
    chunks = recipe.chunk(document)
    if not chunks:
        raise SourceError("no text to index")
    return Source(document.source_id, "document", content_hash, chunks, document.uri)


def ingest_turns(
    index: Index,
    file: Path,
    uri: str = "",
    scope: Scope | None = None,
    progress: Progress | None = None,
) -> Report:
    """Index a JSONL chat export; each line goes to the scope given, or to its own user's.

    With a user's scope given, a line of another user is refused: it goes to the dead letters.
    """
    report = Report()
    path = name_of(file)
    if progress:
        progress(uri or path, 0, 1)
    try:
        text = read_text(file)
    except SourceError as error:
        report.seen = 1
        bury(index, report, DeadLetter(scope or GLOBAL, path, "", str(error)))
        return report
    chats: dict[Scope, dict[str, list[Turn]]] = {}
    letters: list[DeadLetter] = []
    for line in parse_turns(text, uri or path, index.recipe.timezone):
        place, reason = f"line {line.number}", line.error
        owner, refusal = (None, reason) if reason else _owner(line.user_id, scope)
        if owner is None or line.turn is None:
            letters.append(DeadLetter(scope or GLOBAL, path, place, refusal))
            continue
        chats.setdefault(owner, {}).setdefault(line.session_id, []).append(line.turn)
    report.seen += len(letters)
    bury(index, report, *letters)
    origin = Origin(scope or GLOBAL, path)
    for owner, held in chats.items():
        report.add(ingest_chats(index, owner, _in_order(held, uri or path, progress), origin))
    index.catalog.revive(origin.scope, path, [letter.place for letter in report.dead])
    return report


def _in_order(
    held: Mapping[str, Sequence[Turn]], uri: str, progress: Progress | None
) -> Iterator[Session]:
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
    they were read from.
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
    named = {_turn_source(session, turn): turn for turn in session.turns}
    known = index.catalog.sources(scope, list(named))
    for source_id, turn in named.items():
        chunks = cut.get(turn.turn_id, [])
        before = chunks[0].before if chunks else ""
        when = turn.at.isoformat() if turn.at else ""
        content = digest(turn.role, turn.speaker, when, turn.text, before)
        row = known.get(source_id)
        if row and row.content_hash == content:
            report.unchanged += 1
            continue
        yield Source(
            source_id,
            "tool_result" if turn.role == "tool" else "turn",
            content,
            chunks,
            conversation_id=session.session_id,
            turn_id=turn.turn_id,
        )


def _turn_source(session: Session, turn: Turn) -> str:
    """Name a turn as a source. Framed: session "a:b" with turn "c" is not "a" with "b:c"."""
    return f"turn:{digest(session.session_id, turn.turn_id)[:32]}"


def remove_gone(index: Index, root: Path, files: Sequence[Path], scope: Scope) -> int:
    """Remove documents below the folder whose files are no longer there."""
    prefix = name_of(root).rstrip("/") + "/"
    present = {name_of(file) for file in files}
    closed = tuple(name_of(file) + "/" for file in files if os.path.isdir(file))
    gone = [
        name
        for name in index.catalog.sources(scope)
        if name.startswith(prefix) and name not in present and not name.startswith(closed)
    ]
    for start in range(0, len(gone), index.batch):
        page = tuple(gone[start : start + index.batch])
        index.store.delete(scope.collection, Filter(scope, source_ids=page))
        index.catalog.remove(scope, page)
    for letter in index.catalog.dead(scope):
        path = letter.path
        if path.startswith(prefix) and path not in present and not path.startswith(closed):
            index.catalog.revive(scope, letter.path)
    return len(gone)
