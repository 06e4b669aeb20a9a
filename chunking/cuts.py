"""Choose a position at which a text may be cut.

Does: the best break in a range (paragraph, sentence, line, word), and the nearest position that
splits no character cluster.
Does not: count tokens, or implement all of Unicode's segmentation (UAX 29): it knows CR LF,
combining marks, joiners, emoji modifiers and flags.
"""

import re
import unicodedata

from chunking.sentences import BLANK_LINE, sentences

_LAST_SPACE = re.compile(r"\s(?=\S*\Z)")
_WORD = re.compile(r"(?<!\S)\S")
_SOLID = re.compile(r"\S")
_INDICATORS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Regional indicators; two of them make a flag."""
_LOOK_AHEAD = 8
_FLAGS = 10_000


def solid(text: str, at: int) -> int:
    """Return the first position from `at` on that is not white space; the length where none is."""
    found = _SOLID.search(text, at)
    return found.start() if found else len(text)


def trimmed(text: str, start: int, end: int) -> int:
    """Return `end` moved back over white space, not before `start`."""
    return start + len(text[start:end].rstrip())


def best_break(text: str, low: int, high: int) -> int | None:
    """Return where the last paragraph, else sentence, else line in ``(low, high]`` ends."""
    ends = [match.start() for match in BLANK_LINE.finditer(text, low, high + 2)]
    if not ends:
        ends = [low + end for _, end in sentences(text[low : high + _LOOK_AHEAD])[:-1]]
    if not ends:
        return line_end(text, low, high)
    return max((end for end in ends if low < end <= high), default=None)


def line_end(text: str, low: int, high: int) -> int | None:
    """Return where the last line in ``(low, high]`` ends."""
    found = text.rfind("\n", low + 1, high + 1)
    return found if found > 0 else None


def word_end(text: str, low: int, high: int) -> int | None:
    """Return the last position in ``(low, high]`` with white space after it."""
    found = _LAST_SPACE.search(text, low + 1, high + 1)
    return found.start() if found else None


def word_start(text: str, at: int, end: int) -> int:
    """Return where a word starts in the first half of the range, else the first cluster in it.

    `end` where neither does.
    """
    found = _WORD.search(text, at, at + (end - at) // 2 + 1)
    if found:
        return found.start()
    while at < end and _inside(text, at):
        at += 1
    return at


def whole(text: str, at: int, floor: int) -> int:
    r"""Return the last position in ``(floor, at]`` that splits no cluster; `at` where none is.

    >>> whole("no\r\nyes", 3, 0), whole("и\u0306", 1, 0)
    (2, 1)
    """
    back = at
    while back > floor and _inside(text, back):
        back -= 1
    return back if back > floor else at


def _inside(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return after == "\n" and before == "\r"
    if before == "\u200d" or after == "\u200d" or unicodedata.category(after)[0] == "M":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    return after in _INDICATORS and _indicators_before(text, at) % 2 == 1


def _indicators_before(text: str, at: int) -> int:
    before = text[max(0, at - _FLAGS) : at]
    return len(before) - len(before.rstrip(_INDICATORS))
