"""What the log has beside the hits of a question: results of their tools, and newer ones.

A question and an answer are found by their words, the result between them often is not: it is read
from the log. Turns of one session only, a few around each hit.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Row,
    bindparam,
    case,
    func,
    select,
)

from indexing.index import Index
from indexing.session_schema import turns
from indexing.types import session_scope
from retrieval.types import Hit
from sessions.log_rows import TURN, same_call, turn_of
from sessions.types import LoggedTurn

REACH = 5
"""Turns on either side of a hit in which its group is looked for."""

MOST = 2
"""Results that one hit brings: those that are nearest."""

HOW = frozenset(
    ("fresh", "refresh", "force", "force_refresh", "reload", "cache", "cached", "use_cache",
     "no_cache", "nocache", "bypass_cache", "skip_cache")
)  # fmt: skip
"""Arguments that say how to fetch and not what: calls that differ in them ask for the same."""

TAIL = 300
"""Turns at the end of a session that are known before the search is done."""

LONGEST = 500
"""Characters of arguments that are compared; a call with longer ones is like no other."""

_TENANT: BindParameter[str] = bindparam("tenant")
_NAMES: BindParameter[str] = bindparam("names", expanding=True)
_KEYS: BindParameter[str] = bindparam("keys", expanding=True)
_SEQS: BindParameter[int] = bindparam("seqs", expanding=True)

_hit, _near = turns.alias("hit"), turns.alias("near")


def _columns(of: FromClause) -> tuple[ColumnElement[Any], ...]:
    short = case((func.length(of.c.arguments) <= LONGEST, of.c.arguments), else_="")
    named = (of.c.seq, of.c.turn_id, of.c.role, of.c.tool, of.c.status, of.c.call_key)
    return (*named, short.label("arguments"))


_TAIL = (
    select(*_columns(turns)).where(turns.c.tenant == _TENANT).order_by(turns.c.seq.desc())
).limit(TAIL)
_AROUND = (
    select(*_columns(_near))
    .join(_hit, _near.c.tenant == _hit.c.tenant)
    .where(
        _hit.c.tenant == _TENANT,
        _hit.c.source_id.in_(_NAMES),
        _near.c.seq.between(_hit.c.seq - REACH, _hit.c.seq + REACH),
    )
    .distinct()
)
_NEWEST = (
    select(turns.c.call_key, func.max(turns.c.seq).label("newest"))
    .where(turns.c.tenant == _TENANT, turns.c.call_key.in_(_KEYS), turns.c.status != "error")
    .group_by(turns.c.call_key)
)
_READ = select(*TURN).where(turns.c.tenant == _TENANT, turns.c.seq.in_(_SEQS))

Near = Row[*tuple[Any, ...]]
"""What is known of a turn without its text."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Where hits stand in the log, by their turns' ids, and what belongs to them.

    ``groups`` are by a turn's ``seq`` the results of its question, nearest first; ``latest`` is by
    a result's ``seq`` the one that the same call had last; ``results`` has the turns of both, and
    ``asked`` by a result's ``seq`` what the user said before it.
    """

    seqs: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    latest: Mapping[int, int] = field(default_factory=dict)
    results: Mapping[int, LoggedTurn] = field(default_factory=dict)
    asked: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tail:
    """What is known of some turns without their texts: ``rows`` by ``seq``, numbers by ids.

    ``latest`` is as in `Beside`.
    """

    rows: Mapping[int, Near] = field(default_factory=dict)
    seqs: Mapping[str, int] = field(default_factory=dict)
    latest: Mapping[int, int] = field(default_factory=dict)

    def is_outdated(self, seq: int) -> bool:
        """Tell whether the same calls have returned anew what a turn has from tools.

        A turn of the assistant has it from the results since the user's last word.
        """
        found: list[int] = []
        while seq in self.rows and self.rows[seq].role != "user":
            found += [seq] if seq in self.latest else []
            if self.rows[seq].role == "tool":
                break
            seq -= 1
        return bool(found) and all(self.latest[one] != one for one in found)


def read_tail(connection: Connection, tenant: str) -> Tail:
    """Return what is known of the last turns of a session."""
    return _tail(connection.execute(_TAIL, {"tenant": tenant}), {})


def read_beside(
    index: Index, user_id: str, session_id: str, hits: Sequence[Hit], tail: Tail | None = None
) -> Beside:
    """Read what belongs to the hits that are turns of a session. Raises `StoreError`.

    Where all of them are in its ``tail``, only the texts of results are read.
    """
    scope = session_scope(user_id, session_id)
    mine = [hit.memory for hit in hits if hit.memory.scope == scope]
    if not mine:
        return Beside()
    key: dict[str, Any] = {"tenant": scope.tenant}
    known = tail or Tail()
    with index.catalog.database.read() as connection:
        if any(memory.turn_id not in known.seqs for memory in mine):
            names = [memory.source_id for memory in mine]
            around = connection.execute(_AROUND, key | {"names": names}).all()
            keys = [row.call_key for row in around if row.role == "tool"]
            again = connection.execute(_NEWEST, key | {"keys": keys}) if keys else ()
            known = _tail(around, {row.call_key: row.newest for row in again})
        here = (memory.turn_id for memory in mine if memory.turn_id in known.seqs)
        seqs = {name: known.seqs[name] for name in here}
        groups, askers = _groups(seqs.values(), known)
        wanted = {one for group in groups.values() for one in group}
        wanted.update(known.latest[seq] for seq in seqs.values() if seq in known.latest)
        asked = {askers[one] for one in wanted if one in askers}
        texts = connection.execute(_READ, key | {"seqs": sorted(wanted | asked)}) if wanted else ()
        read = {row.seq: turn_of(row) for row in texts}
    results = {one: read[one] for one in wanted if one in read}
    said = {one: read[askers[one]].entry.text for one in results if askers.get(one) in read}
    return Beside(seqs, groups, known.latest, results, said)


def _tail(rows: Iterable[Near], newest: Mapping[str, int]) -> Tail:
    """Return what turns are known by; ``newest`` results of calls may be others."""
    by_seq = {row.seq: row for row in rows}
    seqs = {row.turn_id: seq for seq, row in by_seq.items()}
    return Tail(by_seq, seqs, _latest(by_seq, newest))


def _groups(hits: Iterable[int], known: Tail) -> tuple[dict[int, tuple[int, ...]], dict[int, int]]:
    """Return by hit the last results between its user's word and the next, and who asked them."""
    groups: dict[int, tuple[int, ...]] = {}
    askers: dict[int, int] = {}
    rows, latest = known.rows, known.latest
    for seq in hits:
        start = end = seq
        while start in rows and rows[start].role != "user" and start > seq - REACH:
            start -= 1
        while (end := end + 1) <= seq + REACH and end in rows and rows[end].role != "user":
            pass
        found = [one for one in range(start, end) if one in latest]
        if start in rows and rows[start].role == "user":
            askers |= {latest[one]: start for one in found}
        if found and seq not in latest:
            found.sort(key=lambda one: abs(one - seq))
            groups[seq] = tuple(dict.fromkeys(latest[one] for one in found))[:MOST]
    return groups, askers


def _latest(rows: Mapping[int, Near], newest: Mapping[str, int]) -> dict[int, int]:
    """Return by each good result the number of the last one of the same call."""
    good = {seq: row for seq, row in rows.items() if row.role == "tool" and row.status != "error"}
    about = {seq: _about(row) for seq, row in good.items()}
    last: dict[str, int] = {}
    for seq, row in good.items():
        last[about[seq]] = max(last.get(about[seq], 0), newest.get(row.call_key, seq))
    return {seq: last[what] for seq, what in about.items()}


def _about(row: Near) -> str:
    """Return what calls for the same thing have in common, however it is to be fetched."""
    key: str = row.call_key
    if not any(f'"{name}"' in row.arguments for name in HOW):
        return key
    try:
        given = json.loads(row.arguments)
    except (ValueError, RecursionError):
        return key
    if not isinstance(given, dict):
        return key
    return same_call(row.tool, {name: value for name, value in given.items() if name not in HOW})
