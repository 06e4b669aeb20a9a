"""Files and folders -> sources -> `write`: documents, and sessions of chat turns.

A bad file or line goes to the dead-letter table and the run goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from chunking.types import Chunk, Document, Session, Turn
from indexing.catalog import DeadLetter, digest
from indexing.errors import SourceError
from indexing.parse import DOCUMENTS, TURNS, parse_turns, read_text
from indexing.types import GLOBAL, Filter, Kind, Scope, user_scope
from indexing.write import Index, Recipe, Report, Source, bury, write

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
    documents = [file for file in files if file.suffix.lower() not in TURNS]
    report.add(ingest_files(index, documents, base, scope or GLOBAL, progress))
    for file in files:
        if file.suffix.lower() in TURNS:
            report.add(
                ingest_turns(index, file, file.relative_to(base).as_posix(), scope, progress)
            )
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
    """Return the file itself, or every visible file below a folder, in a stable order."""
    if not root.is_dir():
        return [root]
    found = []
    for file in root.rglob("*"):
        inside = file.relative_to(root).parts
        if not any(part.startswith(".") for part in inside) and not file.is_dir():
            found.append(file)
    return sorted(found)


def split(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the documents, and the chat exports (JSONL)."""
    exports = [file for file in files if file.suffix.lower() in TURNS]
    return [file for file in files if file.suffix.lower() not in TURNS], exports


def ingest_files(
    index: Index,
    files: Sequence[Path],
    base: Path,
    scope: Scope,
    progress: Progress | None = None,
) -> Report:
    """Index documents; a file's place below ``base`` is what answers show as its source."""
    report = Report()
    known = index.catalog.sources(scope, [file.as_posix() for file in files])

    def parsed() -> Iterator[Source]:
        for number, file in enumerate(files):
            uri = file.relative_to(base).as_posix()
            if progress:
                progress(uri, number, len(files))
            report.seen += 1
            try:
                text = read_text(file)
                parser = DOCUMENTS.get(file.suffix.lower())
                if parser is None:
                    kind = file.suffix or "no extension"
                    raise SourceError(f"format not supported: {kind}")
                content = digest(text)
                row = known.get(file.as_posix())
                if row and row.content_hash == content:
                    report.unchanged += 1
                    index.catalog.revive(scope, file.as_posix())
                    continue
                document = parser(text, file.as_posix(), uri)
                yield document_source(index.recipe, document, content)
            except SourceError as error:
                bury(index, report, DeadLetter(scope, file.as_posix(), "", str(error)))

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
    path = file.as_posix()
    if progress:
        progress(uri or path, 0, 1)
    try:
        text = read_text(file)
    except SourceError as error:
        report.seen = 1
        bury(index, report, DeadLetter(scope or GLOBAL, path, "", str(error)))
        return report
    sessions: dict[tuple[Scope, str], list[Turn]] = {}
    letters: list[DeadLetter] = []
    for line in parse_turns(text, uri or path, index.recipe.timezone):
        place, reason = f"line {line.number}", line.error
        owner, refusal = (None, reason) if reason else _owner(line.user_id, scope)
        if owner is None or line.turn is None:
            letters.append(DeadLetter(scope or GLOBAL, path, place, refusal))
            continue
        sessions.setdefault((owner, line.session_id), []).append(line.turn)
    report.seen += len(letters)
    index.catalog.revive(scope or GLOBAL, path, [letter.place for letter in letters])
    bury(index, report, *letters)
    for number, ((owner, session_id), turns) in enumerate(sessions.items()):
        if progress:
            progress(f"{uri} {session_id}", number, len(sessions))
        session = Session(session_id, tuple(sorted(turns, key=_time)))
        report.add(ingest_session(index, owner, session))
    return report


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


def ingest_session(index: Index, scope: Scope, session: Session) -> Report:
    """Index the turns of one session; equal turns are not embedded again."""
    cut: dict[str, list[Chunk]] = {}
    for chunk in index.recipe.chunk_turns(session):
        cut.setdefault(chunk.source_id, []).append(chunk)
    named = {f"turn:{session.session_id}:{turn.turn_id}": turn for turn in session.turns}
    known = index.catalog.sources(scope, list(named))
    report = Report(seen=len(session.turns))
    report.unchanged = len(session.turns) - len(named)

    def changed() -> Iterator[Source]:
        for source_id, turn in named.items():
            chunks = cut.get(turn.turn_id, [])
            before = chunks[0].before if chunks else ""
            when = turn.at.isoformat() if turn.at else ""
            content = digest(turn.role, turn.speaker, when, turn.text, before)
            row = known.get(source_id)
            if row and row.content_hash == content:
                report.unchanged += 1
                continue
            kind: Kind = "tool_result" if turn.role == "tool" else "turn"
            yield Source(
                source_id,
                kind,
                content,
                chunks,
                conversation_id=session.session_id,
                turn_id=turn.turn_id,
            )

    report.add(write(index, scope, changed()))
    return report


def remove_gone(index: Index, root: Path, files: Sequence[Path], scope: Scope) -> int:
    """Remove documents below the folder whose files are no longer there."""
    prefix = root.as_posix().rstrip("/") + "/"
    present = {file.as_posix() for file in files}
    rows = index.catalog.sources(scope)
    gone = [name for name in rows if name.startswith(prefix) and name not in present]
    for start in range(0, len(gone), index.batch):
        page = tuple(gone[start : start + index.batch])
        index.store.delete(scope.collection, Filter(scope, source_ids=page))
        index.catalog.remove(scope, page)
    for letter in index.catalog.dead(scope):
        if letter.path.startswith(prefix) and letter.path not in present:
            index.catalog.revive(scope, letter.path)
    return len(gone)
