"""Tables of any record, and text that fits a cell."""

from typing import Any

from rich.table import Table
from rich.text import Text

SNIPPET = 160


def shorten(text: str, limit: int = SNIPPET) -> str:
    """Return one line of at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def record_table(record: dict[str, Any]) -> Table:
    """Return a record as a two-column table."""
    table = Table(show_header=False)
    for name, value in record.items():
        table.add_row(name.replace("_", " "), Text(str(value)))
    return table


def status_table(record: dict[str, Any]) -> Table:
    """Return what the memory holds as a table: a row a collection, its counts in words."""
    flat = {name: value for name, value in record.items() if not isinstance(value, dict)}
    for collection, counts in record["sources"].items():
        flat[collection] = ", ".join(f"{count} {name}" for name, count in counts.items())
    flat |= {f"database {name}": state for name, state in record["databases"].items()}
    return record_table(flat)
