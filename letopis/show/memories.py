"""Memories, as records and as tables."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from indexing.left_behind import origin
from indexing.mentions import spread
from indexing.types import Memory
from letopis.show.tables import shorten

SOURCES = 5
"""How many sources of a memory a table names."""

ID_WIDTH = 36
"""Characters of a memory's id, which people copy."""


def memory_record(memory: Memory) -> dict[str, Any]:
    """Return a memory as a record; times are ISO 8601."""
    names = ("at", "created_at", "expires_at", "valid_from", "valid_to")
    times: dict[str, datetime | None] = {name: getattr(memory, name) for name in names}
    return {
        "id": memory.id,
        "scope": str(memory.scope),
        "kind": memory.kind,
        "text": memory.text,
        "source": memory.source,
        "source_id": memory.source_id,
        "sources": list(memory.sources),
        "start": memory.start,
        "end": memory.end,
        "title": memory.title,
        "headings": list(memory.headings),
        "speaker": memory.speaker,
        "role": memory.role,
        "tags": list(memory.all_tags),
        "subject": memory.subject,
        "superseded_by": memory.superseded_by or None,
        "pinned": memory.pinned,
        **{name: moment.isoformat() if moment else None for name, moment in times.items()},
    }


def memories_table(memories: Sequence[Memory], width: int = 80) -> Table:
    """Return memories as a table: what is remembered, since when, from where, how long.

    ``width`` is that of the terminal; ids are never cut.
    """
    table = Table(show_lines=True)
    table.add_column("memory", width=max(ID_WIDTH, width // 2 - 4), overflow="fold")
    for name in ("what, when", "source", "until"):  # few enough for 80 columns
        table.add_column(name, overflow="fold")
    for memory in memories:
        when = memory.valid_from or memory.at or memory.created_at
        filed = " ".join(f"#{tag}" for tag in memory.all_tags)
        about = "\n".join(filter(None, (memory.kind, memory.subject, _day(when), filed)))
        where = sources_shown(memory)
        if memory.scope.collection == "session":
            where = f"{where}\nin {memory.scope}"
        told = f"{memory.speaker}: " if memory.speaker else ""
        cells = (f"{shorten(told + memory.text)}\n{memory.id}", about, where)
        table.add_row(*(Text(cell) for cell in (*cells, until(memory))))
    if not memories:
        table.add_row("nothing", "", "", "")
    return table


def until(memory: Memory) -> str:
    """Say how long a memory holds or held."""
    if memory.valid_to:
        return f"held until\n{memory.valid_to:%Y-%m-%d %H:%M}"
    if memory.pinned:
        return "pinned"
    return f"{memory.expires_at:%Y-%m-%d %H:%M}" if memory.expires_at else ""


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else ""


def sources_shown(memory: Memory, copies: Sequence[Memory] = ()) -> str:
    """Return where a memory comes from, a line each, for a reader; of many the first ones."""
    parts = [place for each in (memory, *copies) for place in spread(each)]
    told = (p.source if p.uri or p.conversation_id else origin(p) for p in parts)
    names = list(dict.fromkeys(told))
    more = len(names) - SOURCES
    return "\n".join([*names[:SOURCES], *([f"and {more} more"] if more > 0 else [])])
