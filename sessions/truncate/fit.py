"""The longest rendering of a plan that is within a limit of tokens: `fit`.

Asks for few counts, whatever the text: a bisection over the characters that are kept, which starts
where tokens and characters are in proportion. What it returns was counted.
"""

from dataclasses import dataclass

from sessions.truncate.plan import Plan
from sessions.types import CountTokens

CLOSE = 12
"""Characters that are not searched for."""

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


def fit(plan: Plan, limit: int, count: CountTokens, left: Left) -> tuple[str, int]:
    """Return the longest rendering in ``limit`` tokens, and how many tokens it leaves out.

    The note is there where it fits, shortened where it must be; "" where nothing fits at all.
    """
    widest = left.note(left.total)
    best, low = "", -1
    high = plan.size
    guess = min(high, limit * high // max(left.total, 1))
    failed = False
    for _ in range(TRIES):
        text = plan.render(guess, widest)
        if count(text) <= limit:
            best, low = text, guess
        else:
            high, failed = guess - 1, True
        if high - low <= (CLOSE if low >= 0 else -1):
            break
        guess = (low + high + 1) // 2 if failed else min(high, 2 * guess + 64)
    if low < 0:
        return _bare(plan, limit, count, left)
    dropped = max(1, left.total - count(best))
    told = plan.render(low, left.note(dropped))
    return (told, dropped) if count(told) <= limit else (best, dropped)


def _bare(plan: Plan, limit: int, count: CountTokens, left: Left) -> tuple[str, int]:
    """Return the note alone, or as much of one as fits."""
    short = Left(left.total, "", left.unit).note(left.total)
    for note in (left.note(left.total), short, "[cut]", "…", ""):
        text = plan.render(0, note)
        if count(text) <= limit:
            return text, left.total
    return "", left.total
