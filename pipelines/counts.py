"""The counts of any report, for a page, a table or JSON: `counts_of`."""

from dataclasses import fields
from typing import Any


def counts_of(report: Any) -> dict[str, int]:
    """Return the counts of a report, a dataclass, by name.

    A mapping of numbers gives one count each; what is listed otherwise counts as its length.
    """
    counts: dict[str, int] = {}
    for one in fields(report):
        value = getattr(report, one.name)
        if isinstance(value, dict) and value and all(map(_is_number, value.values())):
            counts |= {f"{one.name} {key}": number for key, number in value.items()}
        else:
            counts[one.name] = int(value) if isinstance(value, int) else len(value)
    return counts


def _is_number(value: Any) -> bool:
    return isinstance(value, int)
