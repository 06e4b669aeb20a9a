"""Cut a range of a text into windows of at most `size` tokens.

Does: the one loop that `fixed`, `semantic` and `turns` share; every window is tokenised again on
its own and shrunk until it holds.
Does not: make chunks, know documents.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from chunking.cuts import best_break, line_end, solid, trimmed, whole, word_end, word_start
from chunking.errors import ChunkingError
from chunking.types import TokenSpans

TRIES = 4
"""Times that a window is shrunk by tokens, before it is cut to `size` characters."""


def check(size: int, overlap: int = 0) -> None:
    """Raise `ChunkingError` where windows cannot be cut so."""
    if size < 1:
        raise ChunkingError(f"size must be at least 1 token, got {size}")
    if not 0 <= overlap < size:
        raise ChunkingError(f"overlap must be from 0 to size - 1 = {size - 1}, got {overlap}")


@dataclass(frozen=True, slots=True)
class Tokenised:
    """A text with the start of each of its tokens, found once.

    ``text[start:end]`` is all of it but the white space around; empty for a blank text.
    """

    text: str
    spans: TokenSpans
    starts: list[int]
    start: int
    end: int

    def first(self, start: int) -> int:
        """Return the index of the token at `start`, or of the last one before it."""
        return max(bisect_right(self.starts, start) - 1, 0)

    def near(self, start: int, end: int) -> int:
        """Count the text's tokens in a range; a slice tokenised alone can differ by a few."""
        return bisect_left(self.starts, end) - self.first(start)

    def over(self, start: int, end: int, size: int) -> int | None:
        """Tokenise a range alone; return where its token number `size` starts, None if it holds.

        A token is at least one character long, hence what needs no look.
        """
        if end - start <= size:
            return None
        if (start, end) == (self.start, self.end):
            return self.starts[size] if len(self.starts) > size else None
        found = self.spans(self.text[start:end])
        return start + found[size][0] if len(found) > size else None


def tokenise(text: str, spans: TokenSpans) -> Tokenised:
    """Tokenise a text, once for all that is cut from it."""
    start, end = solid(text, 0), trimmed(text, 0, len(text))
    if start >= end:
        return Tokenised(text, spans, [], 0, 0)
    starts = [start + at for at, _ in spans(text[start:end])]
    return Tokenised(text, spans, starts, start, end)


def windows(
    tokens: Tokenised,
    size: int,
    overlap: int = 0,
    start: int = 0,
    end: int | None = None,
    keep: int = 0,
) -> list[tuple[int, int]]:
    """Return windows over ``text[start:end]`` that cover all of it but white space.

    A window ends at a paragraph, sentence or line in its last quarter, else at a line or word
    in its second half, else between characters. The first ends after `keep` where `size` allows.
    Each starts and ends later than the one before; overlaps start at a word.
    """
    text = tokens.text
    stop = trimmed(text, start, len(text) if end is None else end)
    at = uncovered = solid(text, start)
    found: list[tuple[int, int]] = []
    while uncovered < stop:
        cut = _cut(tokens, at, stop, max(uncovered, keep), size)
        if cut <= uncovered:  # nothing new fits behind the overlap
            at = uncovered
            continue
        found.append((at, cut))
        uncovered = solid(text, cut)
        at = _step_back(tokens, at, cut, overlap) if overlap else uncovered
    return found


def _cut(tokens: Tokenised, at: int, stop: int, floor: int, size: int) -> int:
    """Return the end of the window that starts at `at`; after `floor` where `size` allows."""
    last = tokens.first(at) + size
    high = min(tokens.starts[last], stop) if last < len(tokens.starts) else stop
    for _ in range(TRIES):
        end = high if high == stop else _end(tokens.text, at, high, floor)
        end = trimmed(tokens.text, at, end)
        over = tokens.over(at, end, size)
        if over is None:
            return end
        high = over
    return trimmed(tokens.text, at, whole(tokens.text, at + size, at))


def _end(text: str, at: int, high: int, floor: int) -> int:
    length = high - at
    low = max(high - length // 4, floor + 1)
    found = best_break(text, low, high) if low < high else None
    if found is None:
        low = max(high - length // 2, floor + 1)
        found = (line_end(text, low, high) or word_end(text, low, high)) if low < high else None
    return whole(text, high, at) if found is None else found


def _step_back(tokens: Tokenised, at: int, cut: int, overlap: int) -> int:
    """Return where the next window starts: at most `overlap` tokens before `cut`, after `at`."""
    index = bisect_left(tokens.starts, cut) - overlap
    start = word_start(tokens.text, max(tokens.starts[max(index, 0)], at + 1), cut)
    return solid(tokens.text, start)
