"""What a kind of text offers to be cut by: a plan, of pieces in order of their worth.

A piece is verbatim text. A plan renders itself in any number of characters: the pieces that are
worth most are kept whole, in their order, and every gap between them is told. It knows neither
tokens nor the limit: `fit` finds the number of characters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Rank = tuple[float, ...]
"""What a piece is worth: the lower, the earlier it is kept."""

Gap = Callable[[int, int], str]
"""Pieces ``first`` to ``end``, left out -> the text that stands for them, empty for none."""

Note = Callable[[str], str]
"""The note about the whole cut -> how it is written in this kind of text."""

LONGEST_LINE = 500
"""Characters of a line that are shown: its start and its end."""

ELLIPSIS = "…"


class Plan(Protocol):
    """A text that can be rendered shorter. ``size`` is the characters of all that may be kept."""

    @property
    def size(self) -> int:
        """Return the characters of all that may be kept."""

    def render(self, size: int, note: str) -> str:
        """Return what is kept in about ``size`` characters, with the note in its place."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text. ``mark`` is added behind it when it is kept.

    A ``divisible`` piece may be kept in part. What has no ``rank`` is never kept.
    """

    text: str
    rank: Rank | None = (0,)
    mark: str = ""
    divisible: bool = False


@dataclass(frozen=True, slots=True)
class Pieces:
    """A plan of pieces in a row, with ``glue`` between them and gaps told by ``gap``.

    ``tail`` is about the whole text and stands above the note.
    """

    pieces: Sequence[Piece]
    gap: Gap
    glue: str = "\n"
    tail: str = ""
    note: Note = str
    order: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        ranked = [(p.rank, n) for n, p in enumerate(self.pieces) if p.rank is not None]
        object.__setattr__(self, "order", [number for _, number in sorted(ranked)])

    @property
    def size(self) -> int:
        """The characters of all pieces that may be kept."""
        return sum(len(self.pieces[number].text) + len(self.glue) for number in self.order)

    def render(self, size: int, note: str) -> str:
        """Return the best pieces of ``size`` characters, told gaps, tail and note."""
        kept, partial = self._kept(size)
        parts: list[str] = []
        last = -1
        for number in sorted(kept):
            parts += self._between(last + 1, number)
            parts.append(kept[number] + self.pieces[number].mark)
            if number == partial and (number + 1 in kept or number + 1 == len(self.pieces)):
                parts[-1] += ELLIPSIS
            last = number
        if parts:
            parts += self._between(last + 1, len(self.pieces))
        body = self.glue.join(parts)
        return "\n".join(filter(None, (body, self.tail if body else "", note and self.note(note))))

    def _between(self, first: int, end: int) -> list[str]:
        told = self.gap(first, end) if first < end else ""
        return [told] if told else []

    def _kept(self, size: int) -> tuple[dict[int, str], int]:
        """Return the texts that are kept by their numbers, and which of them is only in part.

        The piece that does not fit ends it: what is worth less is not kept in its stead. The first
        one is kept in part at least.
        """
        kept: dict[int, str] = {}
        for number in self.order:
            piece = self.pieces[number]
            cost = len(piece.text) + len(self.glue)
            if cost > size:
                if (piece.divisible or not kept) and (start := head(piece.text, size)):
                    kept[number] = start
                    return kept, number
                break
            kept[number] = piece.text
            size -= cost
        return kept, -1


def head(text: str, size: int) -> str:
    """Return the start of a text in at most ``size`` characters, to the end of a word if it can.

    >>> head("one two three", 9), head("abcdefgh", 3)
    ('one two', 'abc')
    """
    if len(text) <= size:
        return text
    cut = text[:size]
    if not text[size].isspace():
        words = cut[size // 2 :]
        end = max(words.rfind(" "), words.rfind("\n"))
        if end > 0:
            cut = cut[: size // 2 + end]
    return cut.rstrip()


def clipped(line: str, longest: int = LONGEST_LINE) -> str:
    """Return a line, of a long one its start and its end with a count between them.

    >>> clipped("a" * 30, 20)
    'aaaaaaaaaaaaaaa … 10 characters … aaaaa'
    """
    if len(line) <= longest:
        return line
    tail = longest // 4
    left_out = len(line) - longest
    return f"{line[: longest - tail]} … {left_out:,} characters … {line[-tail:]}"


def counted(number: int, what: str) -> str:
    """Return a number with its noun: ``1 line``, ``1,200 lines``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
