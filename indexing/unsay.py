"""A turn that goes is also what the next one remembers as said before it: `unsay` takes it there.

The next turn is embedded again, without a turn before it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from indexing.catalog_rows import SourceRow
from indexing.index import Index, Report, Source
from indexing.mentions import spread
from indexing.rebuild import chunk_of
from indexing.types import Filter, Kind, Memory, Scope
from indexing.write import write_batch

TURNS: tuple[Kind, ...] = ("turn", "tool_result")

FEW = 24
"""Characters of a turn by which its repetition is known, where a long one was cut."""


def unsay(index: Index, scope: Scope, gone: Iterable[Memory]) -> int:
    """Write the turns anew that have one of these as the turn before; return how many."""
    said: defaultdict[str, list[str]] = defaultdict(list)
    leaving = set()
    for memory in gone:
        if memory.kind in TURNS:
            said[memory.conversation_id].append(memory.text.strip())
            leaving.add(memory.source_id)
    if not said:
        return 0
    held: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in index.store.scroll(scope.collection, Filter(scope, kinds=TURNS)):
        for part in spread(memory):
            held[part.source_id].append(part)
    doomed = {
        name: parts
        for name, parts in held.items()
        if name not in leaving
        and any(_repeats(p.before, t) for p in parts for t in said.get(p.conversation_id, ()))
    }
    rows = index.catalog.sources(scope, list(doomed))
    sources = [_source(parts, rows[name]) for name, parts in doomed.items()]
    write_batch(index, scope, sources, Report())
    return len(sources)


def _repeats(before: str, text: str) -> bool:
    """Tell whether what was said before, "Anna: where is it?", is this text or a piece of it."""
    words = before.partition(": ")[2].strip() or before.strip()
    return bool(words and text) and (text in before or words[:FEW] in text)


def _source(parts: list[Memory], row: SourceRow) -> Source:
    first = parts[0]
    ordered = sorted(parts, key=lambda part: part.start)
    return Source(
        first.source_id,
        first.kind,
        row.content_hash,
        [replace(chunk_of(part), before="") for part in ordered],
        uri=first.uri,
        conversation_id=first.conversation_id,
        turn_id=first.turn_id,
        expires_at=first.expires_at,
        change="changed",
        role=first.role,
        tool=row.about.tool,
        failed=row.about.failed,
    )
