"""When a digest is due, which turns it takes up, and what it keeps: `due`, `to_fold`, `fold`. Pure.

A digest keeps sentences word for word. It is made anew from the one before and the lines of the
turns since: what lasts (`lasts`) stays, however often that happens. Only three things take such a
line out: a later line of its own speaker on the same subject, a line that says the same, and for an
open question its answer. Nothing here reads a store or asks a model.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from indexing import subjects
from indexing.dedup import exact_key
from indexing.errors import ConfigError
from indexing.subjects import Subject, subject_of
from sessions.groups import groups, unanswered
from sessions.speech import has_number, lines_since, still_open, topics
from sessions.types import LASTING, CountTokens, Digest, Line, LoggedTurn, Role

Reason = Literal["messages", "tokens", "idle", "close"]
"""Why a digest is due."""


SPEAKERS: tuple[Role, ...] = ("user", "assistant")
"""Whose lines say what a session is about."""


@dataclass(frozen=True, slots=True)
class DigestPolicy:
    """When turns are folded, and how long what is kept of them may be.

    More than ``messages`` turns that no digest has taken up, or more than ``tokens`` of them: all
    but the last ``keep`` are folded, and of those no more than fit in half the tokens stay. After
    ``idle`` without a turn, and at the close, all of them are. ``cap_tokens`` bounds the lines of
    a digest: those that last stay beyond it.
    """

    messages: int = 30
    keep: int = 15
    tokens: int = 8000
    idle: timedelta = timedelta(minutes=30)
    cap_tokens: int = 1500
    topics: int = 8

    def __post_init__(self) -> None:
        if not 0 <= self.keep <= self.messages:
            raise ConfigError(f"keep {self.keep} is not from 0 to messages {self.messages}")
        if min(self.messages, self.tokens, self.cap_tokens) < 1:
            raise ConfigError("messages, tokens and cap_tokens are 1 or more")


def due(
    turns: Sequence[LoggedTurn],
    policy: DigestPolicy,
    now: datetime,
    closing: bool = False,
    written_at: datetime | None = None,
) -> Reason | None:
    """Return why the turns that no digest has taken up are to be folded, None where they are not.

    ``turns`` are in order; ``written_at`` is when the last of them was appended, None: when it was
    said. A reason always comes with turns to fold.
    """
    if not turns:
        return None
    if closing:
        return "close"
    reasons: list[Reason] = []
    if len(turns) > policy.messages:
        reasons.append("messages")
    if sum(turn.tokens for turn in turns) > policy.tokens:
        reasons.append("tokens")
    last = written_at or turns[-1].entry.at
    if last is not None and now - last >= policy.idle:
        reasons.append("idle")
    return next((reason for reason in reasons if to_fold(turns, policy, reason)), None)


def to_fold(
    turns: Sequence[LoggedTurn], policy: DigestPolicy, reason: Reason
) -> tuple[LoggedTurn, ...]:
    """Return the turns that a digest takes up, from the first on.

    Never a call without its results: a group that would be torn stays for the next digest. Calls
    that have no result yet stay too, unless the session is closed.
    """
    if reason == "close":
        return tuple(turns)
    cut = len(turns) - (0 if reason == "idle" else _kept(turns, policy))
    taken: list[LoggedTurn] = []
    for group in groups(turns):
        is_last = group[-1].seq == turns[-1].seq
        if len(taken) + len(group) > cut or (is_last and unanswered(group)):
            break
        taken += group
    return tuple(taken)


def _kept(turns: Sequence[LoggedTurn], policy: DigestPolicy) -> int:
    """Return how many of the last turns stay as they are."""
    kept, tokens = 0, 0
    for turn in reversed(turns):
        tokens += turn.tokens
        if kept == policy.keep or tokens > policy.tokens // 2:
            break
        kept += 1
    return kept


def gather(
    before: Digest | None, turns: Sequence[LoggedTurn], around: Sequence[LoggedTurn] = ()
) -> tuple[Line, ...]:
    """Return the lines of the digest before and of the turns that follow it, each thing once.

    ``around`` are turns before them, in whose light they are read: a "yes" needs its question.
    """
    held = still_open(before.lines, turns) if before else ()
    return merged([*held, *lines_since(turns, around)])


def fold(
    before: Digest | None,
    turns: Sequence[LoggedTurn],
    policy: DigestPolicy,
    count: CountTokens,
    *,
    session_id: str,
    user_id: str,
    lines: Sequence[Line] | None = None,
) -> Digest:
    """Return the digest with these turns, which follow those of the one before.

    ``lines`` are what `gather` found. Raises `ValueError` without turns.
    """
    if not turns:
        raise ValueError("no turns to fold")
    found = gather(before, turns) if lines is None else lines
    kept = within(found, policy.cap_tokens, count)
    said = [turn.entry.at for turn in turns]
    times = [at for at in (*said, *_span(before)) if at]
    return Digest(
        session_id=session_id,
        user_id=user_id,
        number=before.number + 1 if before else 1,
        through=turns[-1].seq,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        topics=topics([line.text for line in kept if line.role in SPEAKERS], policy.topics),
        lines=kept,
    )


def _span(digest: Digest | None) -> tuple[datetime | None, ...]:
    return (digest.started_at, digest.ended_at) if digest else ()


def merged(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return lines in the order of their turns, each thing once and as it was said last.

    A line on a subject (`indexing.subjects`) ends the earlier one of the same kind of speaker on
    it. Of lines that say the same in the same words the first stays; of live data the last, which
    says until when it was so.
    """
    ordered = sorted(lines, key=lambda line: line.seq)
    about = [(line, _subject(line)) for line in ordered]
    once: dict[tuple[str, ...], Line] = {}
    for place, (line, subject) in enumerate(about):
        if subject and any(_ends(later, line, subject) for later in about[place + 1 :]):
            continue
        words = exact_key(line.text) or line.text, exact_key(line.of) or line.of
        name = (line.kind if line.of or line.kind == "outside" else "", *words)
        known = once.setdefault(name, line)
        lasts_now = known.kind not in LASTING and line.kind in LASTING
        if lasts_now or line.kind == "outside":
            once[name] = line
    return tuple(sorted(once.values(), key=lambda line: line.seq))


def _subject(line: Line) -> Subject | None:
    settled = line.kind in ("decision", "fact", "preference", "constraint") and not line.of
    return subject_of(line.text) if settled else None


def _ends(later: tuple[Line, Subject | None], line: Line, subject: Subject) -> bool:
    """Tell whether a later line says something else about what a line is about."""
    other, about = later
    if about is None or (other.role != "user" and other.role != line.role):
        return False
    if about.key == subject.key:
        return (subjects.fold(about.value), about.closes) != (
            subjects.fold(subject.value),
            subject.closes,
        )
    decided = subject.key.startswith("decision.") and about.key.startswith("decision.")
    return decided and bool(about.replaces) and about.replaces == subjects.fold(subject.value)


def within(lines: Sequence[Line], cap: int, count: CountTokens) -> tuple[Line, ...]:
    """Return the lines that fit a cap of tokens, in their order.

    Those that last all stay. Then comes what the user says besides, by weight, then live data, the
    newest first, then the others by weight; of equal weight the newest.
    """
    costs = [cost(line, count) for line in lines]
    kept = {place for place, line in enumerate(lines) if lasts(line)}
    left = cap - sum(costs[place] for place in kept)
    ranked = sorted(
        (place for place in range(len(lines)) if place not in kept),
        key=lambda place: _rank(lines[place]),
    )
    for place in ranked:
        if costs[place] <= left:
            kept.add(place)
            left -= costs[place]
    return tuple(line for place, line in enumerate(lines) if place in kept)


def _rank(line: Line) -> tuple[int, float, int]:
    live = line.kind == "outside"
    place = 0 if line.role == "user" and not live else 1 if live else 2
    return place, 0.0 if live else -line.weight, -line.seq


def lasts(line: Line) -> bool:
    """Tell whether a digest never drops a line: what is decided, and every number of the user."""
    return line.kind in LASTING or (
        line.kind == "other" and line.role == "user" and has_number(line.text)
    )


def over_cap(digest: Digest, policy: DigestPolicy, count: CountTokens) -> int:
    """Return by how many tokens the lines that last pass the cap; 0 where they fit."""
    lasting = sum(cost(line, count) for line in digest.lines if lasts(line))
    return max(0, lasting - policy.cap_tokens)


def cost(line: Line, count: CountTokens) -> int:
    """Return what a line takes: its words, what they are about, and a few for its date."""
    return count(line.text) + (count(line.of) if line.of else 0) + 4
