"""The longest rendering of a plan that is within a limit of tokens: `fit`.

Asks for few counts, whatever the text: it goes where tokens and characters are in proportion, then
halves what is left between what fits and what does not. What it returns was counted.
"""

from dataclasses import dataclass

from sessions.truncate.plan import Plan
from sessions.types import CountTokens

CLOSE = 12
"""Characters that are not searched for."""

NEAR = 64
"""The part of a limit that may be left unused."""

GUESSES = 4
"""Renderings at which proportion is asked; then the middle is."""

TRIES = 40
"""Renderings at most; a text of a million characters takes some twenty."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a cut leaves: its text and tokens, of ``total`` tokens; ``unit`` is what they are."""

    total: int
    reference: str
    unit: str

    def note(self, dropped: int) -> str:
        """Return the line that tells what is left out.

        >>> Left(3400, "turn:abc", "tokens").note(3120)
        '[cut: 3,120 of 3,400 tokens; all of it: turn:abc]'
        """
        where = f"; all of it: {self.reference}" if self.reference else ""
        return f"[cut: {dropped:,} of {self.total:,} {self.unit}{where}]"


@dataclass(frozen=True, slots=True)
class _Tried:
    """A rendering in so many characters, and its tokens."""

    size: int
    tokens: int
    text: str

    def towards(self, over: "_Tried", limit: int) -> int:
        """Return the size between this one and one that is over where the limit would be."""
        share = (limit - self.tokens) / (over.tokens - self.tokens)
        guess = self.size + int((over.size - self.size) * share)
        return min(max(guess, self.size + 1), over.size - 1)


def fit(plan: Plan, limit: int, count: CountTokens, left: Left) -> tuple[str, int]:
    """Return the longest rendering in ``limit`` tokens, and how many tokens it leaves out.

    The note is there where it fits, shortened where it must be; "" where nothing fits at all.
    """
    widest = left.note(left.total)
    low, high = _Tried(-1, 0, ""), _Tried(plan.size + 1, max(left.total, limit + 1), "")
    guess, failed = low.towards(high, limit), False
    for number in range(TRIES):
        text = plan.render(guess, widest)
        tokens = low.tokens if text == low.text else count(text)
        tried = _Tried(guess, tokens, text)
        low, high = (tried, high) if tokens <= limit else (low, tried)
        failed = failed or tokens > limit
        near = low.size >= 0 and limit - low.tokens <= limit // NEAR
        if near or high.size - low.size <= (CLOSE if failed and low.size >= 0 else 1):
            break
        if failed and number >= GUESSES:
            guess = (low.size + high.size) // 2
        else:
            guess = low.towards(high, limit)
            guess = guess if failed else min(max(guess, 2 * low.size + 64), plan.size)
    if low.size < 0:
        return _bare(plan, limit, count, left)
    dropped = max(1, left.total - low.tokens)
    told = plan.render(low.size, left.note(dropped))
    return (told, dropped) if count(told) <= limit else (low.text, dropped)


def _bare(plan: Plan, limit: int, count: CountTokens, left: Left) -> tuple[str, int]:
    """Return the note alone, or as much of one as fits."""
    short = Left(left.total, "", left.unit).note(left.total)
    for note in (left.note(left.total), short, "[cut]", "…", ""):
        text = plan.render(0, note)
        if count(text) <= limit:
            return text, left.total
    return "", left.total
