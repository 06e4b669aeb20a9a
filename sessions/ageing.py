"""A digest of digests, for a life of many sessions: the older, the shorter. `aged`. Pure.

The last hour stays in full, the last day at one fifth of its tokens, the week at one tenth; of what
is older only decisions and facts are left. Within the week they are the floor: a share never takes
them. Stored digests are not changed: this is one reading of them, the same for the same digests and
time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sessions.digest import cost, merged
from sessions.digest_text import as_text
from sessions.types import CountTokens, Cut, Digest, Line, LineKind

FLOOR: tuple[LineKind, ...] = ("decision", "fact")
"""What is left of a digest at any age."""

_ORDER: tuple[LineKind, ...] = (
    *FLOOR,
    "constraint",
    "preference",
    "rejected",
    "unresolved",
    "promise",
    "error",
    "other",
    "outside",
)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AgeingPolicy:
    """Up to which age what share of a digest's tokens stays; beyond the last only `FLOOR`.

    ``cap_tokens`` bounds the whole.
    """

    bands: tuple[tuple[timedelta, float], ...] = (
        (timedelta(hours=1), 1.0),
        (timedelta(days=1), 0.2),
        (timedelta(days=7), 0.1),
    )
    cap_tokens: int = 1500

    def share(self, age: timedelta) -> float | None:
        """Return the share that stays at an age; None: decisions and facts only."""
        return next((share for until, share in self.bands if age <= until), None)


def aged(digests: Iterable[Digest], now: datetime, policy: AgeingPolicy, count: CountTokens) -> Cut:
    """Return digests of one user's sessions as one text, the oldest first, within the cap.

    What several sessions say stands once; a later session ends what an earlier one said about the
    same subject. Over the cap the oldest digest loses its last lines first. ``dropped`` are the
    tokens that all of them in full would have besides.
    """
    ordered = sorted(digests, key=lambda digest: (digest.ended_at or _EARLIEST, digest.session_id))
    full = sum(count(as_text(digest).text) for digest in ordered)
    shorter = [_at_age(one, now, policy, count) for one in _across(ordered)]
    kept: list[str] = []
    left = policy.cap_tokens
    for digest in reversed(shorter):
        text = as_text(digest, count, left).text if digest.lines or digest.summary else ""
        needed = count(text + "\n\n") if text else 0
        if text and needed <= left:
            kept.append(text)
            left -= needed
    text = "\n\n".join(reversed(kept))
    return Cut(text, "digests", max(0, full - count(text)))


def _across(digests: Sequence[Digest]) -> list[Digest]:
    """Return the digests without lines that another one has, or that a later one ends."""
    placed: list[Line] = []
    owner: list[int] = []
    for number, digest in enumerate(digests):
        for line in digest.lines:
            placed.append(replace(line, seq=len(placed)))
            owner.append(number)
    left: list[list[Line]] = [[] for _ in digests]
    for line in merged(placed):
        number = owner[line.seq]
        first = owner.index(number)
        left[number].append(digests[number].lines[line.seq - first])
    return [
        replace(digest, lines=tuple(lines)) for digest, lines in zip(digests, left, strict=True)
    ]


def _at_age(digest: Digest, now: datetime, policy: AgeingPolicy, count: CountTokens) -> Digest:
    """Return what is left of a digest at its age; without an end it is as old as can be."""
    share = policy.share(now - digest.ended_at) if digest.ended_at else None
    if share == 1:
        return digest
    floor = [line for line in digest.lines if line.kind in FLOOR]
    if share is None:
        return replace(digest, lines=tuple(floor), summary="", topics=())
    room = share * count(as_text(digest).text) - sum(cost(line, count) for line in floor)
    kept = {id(line) for line in floor}
    for line in sorted((line for line in digest.lines if line.kind not in FLOOR), key=_rank):
        if cost(line, count) <= room:
            kept.add(id(line))
            room -= cost(line, count)
    lines = tuple(line for line in digest.lines if id(line) in kept)
    return replace(digest, lines=lines, summary="", topics=digest.topics)


def _rank(line: Line) -> tuple[int, float, int]:
    return _ORDER.index(line.kind), -line.weight, -line.seq
