"""Receipts of what was forgotten, and the audit log, as records and as tables."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from indexing.audit import Event
from indexing.receipts import Receipt


def receipt_record(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as a record; times are ISO 8601."""
    draft = receipt.draft
    times = {name: getattr(draft, name).isoformat() for name in ("asked_at", "done_at")}
    return {
        "number": receipt.number,
        "clean": receipt.clean,
        **asdict(draft),
        **times,
        "previous": receipt.previous,
        "hash": receipt.hash,
    }


def receipt_view(receipt: Receipt) -> Group:
    """Return a receipt for a person: what was removed and what is left of it, a row a store."""
    draft = receipt.draft
    verdict = "nothing is left" if receipt.clean else "NOT ALL IS GONE"
    table = Table("store")
    for name in ("removed", "left"):
        table.add_column(name, justify="right")
    for name in dict.fromkeys((*draft.removed, *draft.left)):
        table.add_row(Text(name), str(draft.removed.get(name, 0)), str(draft.left.get(name, 0)))
    table.add_row("files", "", str(draft.hits))
    lines = [
        f"receipt {receipt.number}: a {draft.what} forgotten, {verdict}",
        f"asked by {draft.asked_by} at {draft.asked_at:%Y-%m-%d %H:%M:%S %Z}",
        f"{draft.files} files and {draft.bytes_scanned:,} bytes looked through after "
        f"{draft.rewrites} rewrites; {draft.too_short} texts or ids too short to look for",
        ", ".join(f"{name} {spent:.2f} s" for name, spent in draft.seconds.items()),
        *draft.notes,
        f"hash {receipt.hash}",
    ]
    return Group(table, *(Text(line) for line in lines))


def receipts_table(receipts: Sequence[Receipt]) -> Table:
    """Return receipts as a table, a row each."""
    table = Table()
    for name in ("number", "when", "what", "asked by", "removed", "left", "hash"):
        table.add_column(name, overflow="fold")
    for receipt in receipts:
        draft = receipt.draft
        left = draft.hits + sum(draft.left.values())
        cells = (f"{draft.done_at:%Y-%m-%d %H:%M}", draft.what, draft.asked_by)
        counts = (str(sum(draft.removed.values())), str(left))
        row = (str(receipt.number), *cells, *counts, receipt.hash[:16])
        table.add_row(*(Text(cell) for cell in row))
    return table


def event_record(event: Event) -> dict[str, Any]:
    """Return an event as a record."""
    return {**asdict(event), "at": event.at.isoformat()}


def events_table(events: Sequence[Event]) -> Table:
    """Return events as a table; scopes and memories are the beginnings of their digests."""
    table = Table("number", "when", "who", "what", "scope", "memory", "receipt")
    for event in events:
        when, receipt = f"{event.at:%Y-%m-%d %H:%M:%S}", event.receipt
        cells = (str(event.number), when, event.actor, event.action)
        digests = (event.scope[:12], event.memory[:12], "" if receipt is None else str(receipt))
        table.add_row(*(Text(cell) for cell in (*cells, *digests)))
    return table
