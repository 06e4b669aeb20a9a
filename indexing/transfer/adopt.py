"""Another system's export -> facts of a user: `adopt`, the way that `remember` goes.

In the order in which they were said, so that a later one takes the place of an earlier one. An item
is a source of its own: read again it changes nothing, and one that was changed there replaces what
it said. What is refused is reported and not put among the dead letters: a retry would read the file
as a document.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from indexing.dense import PassageTooLong
from indexing.errors import InvalidInput
from indexing.feeds.types import Progress
from indexing.hashing import digest
from indexing.index import Index, Report, Source
from indexing.portable import Foreign, Refused, read_foreign_file
from indexing.remember import told_source
from indexing.transfer.types import ImportReport
from indexing.types import Scope, session_scope
from indexing.write import write_batch


def adopt(
    index: Index,
    path: Path,
    scope: Scope,
    progress: Progress | None = None,
    *,
    timezone: str = "",
    namespaces: Sequence[str] = (),
    by_run: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Make the items of a mem0 or LangGraph Store export facts of a user, or of one session.

    With ``by_run`` what mem0 keeps of a run goes to the session of that name instead; otherwise the
    run is the conversation that the fact is from. Raises `InvalidInput` and the like as
    `portable.read_foreign_file`, `Forgotten` for a user or a session that may not be stored.
    """
    export = read_foreign_file(path, scope.user_id, timezone, namespaces)
    report = ImportReport(export.system, refused=list(export.refused), notes=list(export.notes))
    report.seen = len(export.items) + len(export.refused)
    report.left_out = export.left_out
    scopes: defaultdict[Scope, list[tuple[Foreign, Source]]] = defaultdict(list)
    for item in sorted(export.items, key=_said):
        if item.expires_at and item.expires_at <= index.clock():
            report.expired += 1
            continue
        try:
            source = _source(index, item, by_run)
        except InvalidInput as error:
            report.refused.append(Refused(item.place, str(error)))
            continue
        report.left_out.update(name for name in ("agent_id", "role") if getattr(item, name))
        scopes[_scope(scope, item, by_run)].append((item, source))
    for owner, sources in scopes.items():
        _adopt(index, owner, sources, report, progress, dry_run)
    return report


def _adopt(
    index: Index,
    scope: Scope,
    sources: Sequence[tuple[Foreign, Source]],
    report: ImportReport,
    progress: Progress | None,
    dry_run: bool,
) -> None:
    rows = index.catalog.sources(scope, [source.source_id for _, source in sources])
    fresh: list[tuple[Foreign, Source]] = []
    for item, source in sources:
        row = rows.get(source.source_id)
        if row and row.content_hash == source.content_hash:
            report.unchanged += 1
        else:
            fresh.append((item, replace(source, change="changed" if row else "new")))
    if dry_run:
        report.new += len(fresh)
        return
    for start in range(0, len(fresh), index.batch):
        if progress:
            progress(str(scope), start, len(fresh))
        _write(index, scope, fresh[start : start + index.batch], report)


def _write(
    index: Index, scope: Scope, batch: Sequence[tuple[Foreign, Source]], report: ImportReport
) -> None:
    """Write a batch; when one item cannot be embedded, the others still are."""
    done = Report()
    try:
        write_batch(index, scope, [source for _, source in batch], done)
    except PassageTooLong as error:
        if len(batch) == 1:
            report.refused.append(Refused(batch[0][0].place, str(error)))
            return
        for one in batch:
            _write(index, scope, [one], report)
        return
    report.embedded += done.embedded
    report.forgotten += done.forgotten
    report.joined += done.repeated
    report.new += done.indexed - done.repeated


def _source(index: Index, item: Foreign, by_run: bool) -> Source:
    """Return an item as a source. Raises `InvalidInput` for a text that no fact may have."""
    about = "" if item.speaker and item.speaker != item.user_id else None
    told = told_source(index, item.text, item.kind, item.at, item.expires_at, about)
    (chunk,) = told.chunks
    until = item.expires_at.isoformat() if item.expires_at else ""
    run = "" if by_run else item.session_id
    return replace(
        told,
        source_id=item.source_id,
        content_hash=digest(told.content_hash, item.speaker, until, run),
        chunks=[replace(chunk, source_id=item.source_id, speaker=item.speaker)],
        conversation_id=run,
        told=False,
    )


def _scope(scope: Scope, item: Foreign, by_run: bool) -> Scope:
    return session_scope(scope.user_id, item.session_id) if by_run and item.session_id else scope


def _said(item: Foreign) -> float:
    """Order items by when they were said; those that do not tell come last, as they stand."""
    return item.at.timestamp() if item.at else inf
