"""What could not be indexed, as records and as a table."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from indexing.catalog_rows import DeadLetter


def dead_record(letter: DeadLetter) -> dict[str, Any]:
    """Return a dead letter as a record."""
    return {
        "scope": str(letter.scope),
        "path": letter.path,
        "place": letter.place,
        "reason": letter.reason,
    }


def stored_record(letter: DeadLetter) -> dict[str, Any]:
    """Return a dead letter of the table as a record: also how often and when it failed."""
    failed = datetime.fromtimestamp(letter.failed_at, UTC).isoformat(timespec="seconds")
    return {**dead_record(letter), "attempts": letter.attempts, "failed_at": failed}


def dead_table(letters: Sequence[DeadLetter], attempts: bool = False) -> Table:
    """Return dead letters as a table; with ``attempts`` how often each failed."""
    table = Table(title="could not be indexed")
    table.add_column("path", overflow="fold")
    for name in ("place", "reason", "scope", *(("attempts",) if attempts else ())):
        table.add_column(name)
    for letter in letters:
        cells = [letter.path, letter.place, letter.reason, str(letter.scope)]
        cells += [str(letter.attempts)] if attempts else []
        table.add_row(*(Text(cell) for cell in cells))
    return table
