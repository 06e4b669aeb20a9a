"""Receipts of what was forgotten, each chained by its hash to the one before. `Receipts`.

A receipt tells who asked and what was done, in counts and times, and names what was forgotten only
by a keyed digest. The chain is a proof against errors and quiet edits: a receipt that is changed,
taken out, moved or cut off the end is found by `Receipts.verify`. Whoever may write the catalog
could make the whole chain anew; a hash that was printed and kept elsewhere shows that too.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select

from indexing.catalog_database import Database
from indexing.catalog_schema import deployment, receipts
from indexing.errors import InvalidInput
from indexing.tombstones import What
from indexing.types import check_time

HEAD = "receipts"
"""The row of `deployment` that says how many receipts there are, and the hash of the last."""

FIRST = "0" * 64
"""What the first receipt has for the hash of the one before."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a forgetting did, before it has its place in the chain.

    ``asked_by`` is the operator who gave the command, never the person who was forgotten (the
    `audit.named` of a scope sees to it); ``subject`` is a keyed digest. ``removed`` is what was
    taken out of each store and ``left`` what a read-back still counted there: ``vectors:user``,
    ``sources``, ``members`` and so on. ``hits`` are the matches that the last scan of the files
    found, ``too_short`` the texts and ids that no scan can look for. ``seconds`` are by phase:
    ``remove``, ``rewrite``, ``scan``.
    """

    asked_by: str
    asked_at: datetime
    done_at: datetime
    what: What
    subject: str
    removed: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    bytes_scanned: int = 0
    hits: int = 0
    too_short: int = 0
    rewrites: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt in its place: its number from 1, the hash of the one before and its own."""

    number: int
    draft: Draft
    previous: str
    hash: str

    @property
    def clean(self) -> bool:
        """Whether the read-back and the scan found nothing left."""
        return not self.draft.hits and not any(self.draft.left.values())


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether the chain holds: how many receipts there are, which is the first bad one and why."""

    ok: bool
    count: int
    first_bad: int | None = None
    reason: str = ""


class Receipts:
    """The table `receipts` of a catalog's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, draft: Draft, connection: Connection | None = None) -> Receipt:
        """Append a receipt; two processes get two numbers, one chained to the other.

        With a ``connection`` the caller's transaction writes the name `HEAD`, and the receipt
        stands when that commits. Times are stored in UTC; naive ones raise `InvalidInput`.
        """
        if connection is not None:
            return _append(connection, draft)
        with self._database.write(HEAD) as writing:
            return _append(writing, draft)

    def all(self) -> list[Receipt]:
        """Return all receipts in order. Raises `InvalidInput` for one that cannot be read."""
        with self._database.read() as connection:
            return [_receipt(row) for row in connection.execute(_IN_ORDER)]

    def get(self, number: int) -> Receipt | None:
        """Return one receipt, None where there is none of that number."""
        with self._database.read() as connection:
            row = connection.execute(_IN_ORDER.where(receipts.c.number == number)).first()
        return None if row is None else _receipt(row)

    def verify(self) -> Verification:
        """Go through the chain, up to the first receipt that is not as it was written."""
        with self._database.read() as connection:
            rows = connection.execute(_IN_ORDER).all()
            known, head = _head(connection)
        last = FIRST
        for place, row in enumerate(rows, 1):
            if reason := _fault(row, place, last):
                return Verification(False, len(rows), place, reason)
            last = row.hash
        if len(rows) < known:
            return Verification(False, len(rows), len(rows) + 1, f"{known} receipts were written")
        if (len(rows), last) != (known, head):
            return Verification(
                False, len(rows), len(rows), "it is not the last one that was written"
            )
        return Verification(True, len(rows))


_IN_ORDER = select(receipts).order_by(receipts.c.number)


def canonical(values: Mapping[str, Any]) -> str:
    """Return JSON with sorted keys and no spaces: equal values, equal bytes."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def chained(previous: str, body: str) -> str:
    """Return the hash of a receipt: hex SHA-256 over the hash before and the body."""
    return hashlib.sha256((previous + body).encode()).hexdigest()


def _append(connection: Connection, draft: Draft) -> Receipt:
    known, previous = _head(connection)
    # What was cut off the end leaves a gap in the numbers, which `verify` finds, not a new chain.
    highest = connection.execute(select(func.max(receipts.c.number))).scalar() or 0
    number = max(known, highest) + 1
    body = canonical({"number": number, "previous": previous, **_values(draft)})
    hashed = chained(previous, body)
    connection.execute(insert(receipts).values(number=number, body=body, hash=hashed))
    connection.execute(delete(deployment).where(deployment.c.name == HEAD))
    head = canonical({"count": number, "hash": hashed})
    connection.execute(insert(deployment).values(name=HEAD, value=head))
    return Receipt(number, draft, previous, hashed)


def _head(connection: Connection) -> tuple[int, str]:
    query = select(deployment.c.value).where(deployment.c.name == HEAD)
    value = connection.execute(query).scalar()
    if value is None:
        return 0, FIRST
    head = json.loads(value)
    return int(head["count"]), str(head["hash"])


def _fault(row: Row[Any], place: int, previous: str) -> str:
    """Return what is wrong with the receipt in a place of the chain; empty: nothing."""
    try:
        body = json.loads(row.body)
        number, before = body["number"], body["previous"]
    except (ValueError, KeyError, TypeError):
        return "its text cannot be read"
    if row.number != place or number != place:
        return "it is not in its place: one was taken out or moved"
    if before != previous:
        return "it does not follow the one before"
    return "" if chained(previous, row.body) == row.hash else "its text was changed"


def _values(draft: Draft) -> dict[str, Any]:
    values = asdict(draft)
    for name in ("asked_at", "done_at"):
        check_time(values[name], name)
        values[name] = values[name].astimezone(UTC).isoformat()
    return values


def _receipt(row: Row[Any]) -> Receipt:
    try:
        body = json.loads(row.body)
        values = {one.name: body[one.name] for one in fields(Draft)}
        for name in ("asked_at", "done_at"):
            values[name] = datetime.fromisoformat(values[name])
        values["notes"] = tuple(values["notes"])
        return Receipt(row.number, Draft(**values), body["previous"], row.hash)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"receipt {row.number} cannot be read: it was changed") from error
