"""Late vectors: what chunks read like inside their document or session.

The whole text goes through the embedder in the windows of `chunking.late`, a few at a time: of a
text of any length only these are held. A memory's stored vector is the mix of its own vector and
its late one, by `Share`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chunking.cuts import whole
from chunking.late import Window, covering, plan, pool
from chunking.types import Chunker, Document, Session, TokenSpans
from indexing.dense import Matrix, PassageTooLong, TokenEmbedder, Tokens, normalize
from indexing.hashing import digest

GROUP = 32_768
"""Characters that are read before their token vectors are pooled and let go."""


@dataclass(frozen=True, slots=True)
class Share:
    """How much of a vector is late: ``part``, 0 (none) to 1 (all), in a chunk of ``length`` tokens.

    Shorter chunks lean on their context more, longer ones less: late to own is as
    ``part / (1 - part) * length / tokens``. A ``length`` of 0 makes it ``part`` for all.
    """

    part: float
    length: int = 0

    def of(self, tokens: float) -> float:
        """Return the late share of a chunk of so many tokens.

        >>> [Share(0.5, 80).of(tokens) for tokens in (20, 80, 240)], Share(0.5).of(20)
        ([0.8, 0.5, 0.25], 0.5)
        """
        if not self.length or self.part in (0, 1):
            return self.part
        late = self.part * self.length
        return late / (late + (1 - self.part) * tokens)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """A whole text, planned once, that chunks are read in, and how much that counts."""

    text: str
    windows: tuple[Window, ...]
    share: Share

    def key(self, start: int, end: int) -> str:
        """Name all that the late vector of a span depends on: its windows, its place in them."""
        parts = [f"{self.share.part:g} {self.share.length}"]
        for window in covering(self.windows, start, end):
            at = (start, end, window.end, window.rise, window.fall)
            parts.append(" ".join(str(place - window.start) for place in at))
            parts.append(self.text[window.start : window.end])
        return digest(*parts)


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk's characters in its context."""

    context: Context
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Late:
    """How texts are read whole: windows of ``size`` tokens that share ``overlap`` of them."""

    spans: TokenSpans
    size: int
    overlap: int
    share: Share

    def document(self, document: Document) -> Context:
        """Plan a document."""
        return self._context(document.text)

    def session(self, session: Session) -> tuple[Context, dict[str, int]]:
        """Plan a session, one line a turn, "Anna: where is it?"; and where each turn's text starts.

        A turn without a speaker goes by its role.
        """
        lines: list[str] = []
        places: dict[str, int] = {}
        at = 0
        for turn in session.turns:
            said = f"{turn.speaker or turn.role}: "
            places[turn.turn_id] = at + len(said)
            lines.append(f"{said}{turn.text}\n")
            at += len(lines[-1])
        return self._context("".join(lines)), places

    def _context(self, text: str) -> Context:
        return Context(text, plan(text, self.spans, self.size, self.overlap), self.share)


@dataclass(frozen=True, slots=True)
class Cutter:
    """A way to cut documents; with ``late``, their chunks are also read in the whole text."""

    chunk: Chunker
    late: Late | None = None


@dataclass(frozen=True, slots=True)
class LateVectors:
    """The late vector of each place, shape ``(n, dim)``, its share, and how many windows it took.

    A span without tokens has a zero row, and no share.
    """

    rows: Matrix
    shares: list[float]
    windows: int


def late_vectors(embedder: TokenEmbedder, places: Sequence[Place]) -> LateVectors:
    """Read the windows that the places need, each once, and pool each place's tokens."""
    sums = np.zeros((len(places), embedder.dim), np.float32)
    tokens = np.zeros(len(places), np.float32)
    spans = np.array([(place.start, place.end) for place in places], np.int64).reshape(-1, 2)
    windows = 0
    for group in _groups(_reads(places)):
        texts = [context.text[window.start : window.end] for context, window, _ in group]
        for (_, window, rows), read in zip(group, _tokens(embedder, texts), strict=True):
            here = window.start + read.spans
            added, count = pool(window, here, read.vectors, spans[rows])
            sums[rows] += added
            tokens[rows] += count
        windows += len(group)
    shares = [
        place.context.share.of(float(count)) if count else 0.0
        for place, count in zip(places, tokens, strict=True)
    ]
    return LateVectors(normalize(sums), shares, windows)


_Read = tuple[Context, Window, list[int]]
"""A window to be read, and the rows of the places that it adds to."""


def _reads(places: Sequence[Place]) -> Iterator[_Read]:
    """Yield each window that is needed, once, context by context."""
    held: dict[int, list[int]] = {}
    for row, place in enumerate(places):
        held.setdefault(id(place.context), []).append(row)
    for rows in held.values():
        context = places[rows[0]].context
        needed: dict[Window, list[int]] = {}
        for row in rows:
            for window in covering(context.windows, places[row].start, places[row].end):
                needed.setdefault(window, []).append(row)
        for window, inside in needed.items():
            yield context, window, inside


def _groups(reads: Iterator[_Read]) -> Iterator[list[_Read]]:
    group: list[_Read] = []
    size = 0
    for read in reads:
        group.append(read)
        size += read[1].end - read[1].start
        if size >= GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _tokens(embedder: TokenEmbedder, texts: Sequence[str]) -> list[Tokens]:
    """Read texts; one that the model counts longer than it was planned is read in halves.

    So are rare characters that are several tokens each.
    """
    try:
        return embedder.tokens(texts)
    except PassageTooLong:
        if len(texts) > 1:
            return [read for text in texts for read in _tokens(embedder, [text])]
        (text,) = texts
        if len(text) < 2:
            raise
        middle = whole(text, len(text) // 2, 0)
        left, right = _tokens(embedder, [text[:middle], text[middle:]])
        spans = np.concatenate([left.spans, right.spans + middle])
        return [Tokens(spans, np.concatenate([left.vectors, right.vectors]))]
