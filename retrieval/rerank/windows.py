"""Cut what is longer than a reranker reads: a passage into overlapping windows, a query at its end.

Does: lose nothing of a passage, every token of it is in a window. Does not: choose between windows;
a passage's score is that of its best one. Without a tokenizer two characters count as a token:
letters take fewer tokens than that, so a model's limit is kept.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

Span = tuple[int, int]
CHARACTERS = 2
"""Characters that count as one token where the tokenizer is not known."""
ADDED = 4
"""Special tokens around a query and a passage where the tokenizer is not known."""


class Window(NamedTuple):
    """A piece of a passage; ``tokens`` is what the model reads for it."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Ruler:
    """Counts tokens as a model does: by its tokenizer, by characters where there is none."""

    tokenizer: Any = None

    def spans(self, text: str) -> list[Span]:
        """Return the characters ``(start, end)`` of each token, special tokens left out."""
        if self.tokenizer is None:
            ends = range(CHARACTERS, len(text) + CHARACTERS, CHARACTERS)
            return [(end - CHARACTERS, min(end, len(text))) for end in ends]
        found: list[Span] = self.tokenizer.encode(text, add_special_tokens=False).offsets
        return found

    def added(self) -> int:
        """Return how many special tokens go around a query and a passage."""
        return (
            ADDED if self.tokenizer is None else int(self.tokenizer.num_special_tokens_to_add(True))
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """What goes with every window of one question.

    ``query`` fits; ``cut_from`` is how many tokens it had where it did not, else 0. ``around`` is
    tokens of the query and the special ones, ``room`` what is left for a piece of a passage.
    """

    query: str
    cut_from: int
    around: int
    room: int

    def windows(self, passage: str, overlap: int, ruler: Ruler) -> list[Window]:
        """Return a passage's windows; neighbours share ``overlap`` tokens, at most half of one.

        A passage that fits is its own window.
        """
        spans = ruler.spans(passage)
        if len(spans) <= self.room:
            return [Window(passage, len(spans) + self.around)]
        shared = min(overlap, self.room // 2)
        found: list[Window] = []
        start = end = 0
        while end < len(spans):
            piece, end, count = fitting(passage, spans, start, self.room, ruler)
            found.append(Window(piece, count + self.around))
            start = max(start + 1, end - shared)
        return found


def frame(query: str, max_tokens: int, window: int, ruler: Ruler) -> Frame:
    """Return the frame of a question, whose query takes at most half of what the model reads.

    ``window`` is the most tokens of a passage in one window, 0: all that is left.
    """
    inner = max_tokens - ruler.added()
    spans = ruler.spans(query)
    cut_from, count = 0, len(spans)
    if count > inner // 2:
        cut_from = count
        query, _, count = fitting(query, spans, 0, inner // 2, ruler)
    left = inner - count
    return Frame(query, cut_from, max_tokens - left, min(window, left) if window else left)


def fitting(
    text: str, spans: list[Span], start: int, room: int, ruler: Ruler
) -> tuple[str, int, int]:
    """Return the text from token ``start`` on that fits, the token after it, and its own count.

    A piece may have more tokens than it had inside the text (a word cut in two, a mark for its
    beginning), so it is counted again.
    """
    end = min(start + room, len(spans))
    while True:
        piece = text[spans[start][0] : max(right for _, right in spans[start:end])]
        count = len(ruler.spans(piece))
        if count <= room or end == start + 1:
            return piece, end, count
        end = max(start + 1, end - (count - room))
