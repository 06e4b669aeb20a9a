"""A digest for a reader: a dated text for a context, and JSON for code. Pure.

The same digest gives the same bytes. Sentences are word for word; only the labels are ours, in the
language of the sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from indexing.sparse import language
from indexing.template import day
from sessions.digest import lasts
from sessions.types import CountTokens, Cut, Digest, Line, LineKind

LABELS: dict[LineKind, tuple[str, str]] = {
    "decision": ("Decisions", "Решения"),
    "fact": ("Facts", "Факты"),
    "constraint": ("Requirements", "Требования"),
    "preference": ("Preferences", "Предпочтения"),
    "rejected": ("Rejected", "Отклонено"),
    "promise": ("Promises", "Обещания"),
    "unresolved": ("Open questions", "Открытые вопросы"),
    "error": ("Errors", "Ошибки"),
    "outside": ("Live data of that day", "Данные на тот день"),
    "other": ("Also said", "Также сказано"),
}
"""Kinds in the order they are shown in, each with its label in English and Russian."""


def said(line: Line) -> str:
    """Return a line with what it is about: "include archived projects? — no"."""
    return f"{line.of} — {line.text}" if line.of else line.text


def as_text(digest: Digest, count: CountTokens | None = None, limit: int | None = None) -> Cut:
    """Return a digest as a text, no longer than ``limit`` tokens by ``count``.

    Left out are first the summary and the ``other`` lines, the lightest first, then live data, then
    the oldest of the rest; the last line of the text says how many are. An empty text is all that
    fits where the limit is below its heading.
    """
    whole = _text(digest, 0)
    if count is None or limit is None or count(whole) <= limit:
        return Cut(whole, "digest")
    order = _leaving(digest)
    bare = replace(digest, summary="")
    total = count(whole)
    guess = _guess(bare, order, len(whole) * (total - limit) // total)
    gone = _fewest(lambda n: count(_without(bare, order[:n])) <= limit, guess, len(order))
    text = _without(bare, order[:gone])
    if count(text) > limit:
        text = ""
    return Cut(text, "digest", max(1, total - count(text)))


def _guess(digest: Digest, order: Sequence[int], excess: int) -> int:
    """Return how many lines are as long as what is too much, in characters."""
    for number, place in enumerate(order):
        if excess <= 0:
            return number
        excess -= len(said(digest.lines[place])) + len("- []\n")
    return len(order)


def _fewest(fits: Callable[[int], bool], guess: int, most: int) -> int:
    """Return the least number that fits, ``most`` where none does, looked for around a guess."""
    low, high, step, at = 0, most, 1, min(guess, most - 1)
    while low < high:
        if fits(at):
            high = at
            at = max((low + high) // 2, high - step)
        else:
            low = at + 1
            at = min((low + high) // 2, low + step - 1)
        step *= 2
    return low


def _leaving(digest: Digest) -> list[int]:
    """Return the places of the lines in the order in which they are left out."""

    def rank(place: int) -> tuple[bool, bool, float, int]:
        line = digest.lines[place]
        light = line.kind == "other" and not lasts(line)
        return lasts(line), not light, line.weight if light else 0.0, line.seq

    return sorted(range(len(digest.lines)), key=rank)


def _without(digest: Digest, places: Sequence[int]) -> str:
    gone = set(places)
    left = tuple(line for place, line in enumerate(digest.lines) if place not in gone)
    return _text(replace(digest, lines=left), len(gone))


def _text(digest: Digest, missing: int) -> str:
    words = " ".join([*(line.text for line in digest.lines), *digest.topics, digest.summary])
    ru = language(words) == "ru"
    start, end = (_day(at, ru) for at in (digest.started_at, digest.ended_at))
    days = start != end
    when = " – ".join(filter(None, (start, end))) if days else start
    name = f"Сводка реплик 1–{digest.through}" if ru else f"Digest of turns 1–{digest.through}"
    parts = [f"{name}, {when}" if when else name]
    if digest.topics:
        parts.append(f"{'Темы' if ru else 'Topics'}: {', '.join(digest.topics)}")
    if digest.summary:
        parts.append(f"{'Кратко' if ru else 'Summary'}: {digest.summary}")
    for kind, labels in LABELS.items():
        if lines := digest.of(kind):
            parts += [f"{labels[ru]}:", *(f"- {_dated(line, ru, days)}" for line in lines)]
    if missing:
        more = f"ещё строк не показано: {missing}" if ru else f"{missing} more lines are left out"
        parts.append(f"({more})")
    return "\n".join(parts)


def _day(at: datetime | None, ru: bool) -> str:
    return day(at, "я" if ru else "a") if at else ""


def _dated(line: Line, ru: bool, days: bool) -> str:
    """Return a line with its day, where the digest is of more than one."""
    when = _day(line.at, ru) if days else ""
    return f"[{when}] {said(line)}" if when else said(line)


def as_json(digest: Digest) -> dict[str, Any]:
    """Return a digest as JSON values; where no model wrote a summary, it is what was also said."""
    found = {kind: [said(line) for line in digest.of(kind)] for kind in LABELS}
    return {
        "session_id": digest.session_id,
        "user_id": digest.user_id,
        "started_at": digest.started_at.isoformat() if digest.started_at else None,
        "ended_at": digest.ended_at.isoformat() if digest.ended_at else None,
        "summary": digest.summary or " ".join(found["other"]),
        "topics": list(digest.topics),
        "decisions": found["decision"],
        "unresolved": found["unresolved"],
        "facts": found["fact"],
        "preferences": found["preference"],
        "constraints": found["constraint"],
        "rejected": found["rejected"],
        "promises": found["promise"],
        "errors": found["error"],
        "outside": found["outside"],
    }
