"""Cut a document where its own structure, and on request its topic, changes.

Does: sections, then paragraphs, then sentences, packed into chunks that never cross into a section
with a text of its own.
Does not: overlap, find headings, embed (the caller hands an `Encode`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chunking.drift import topic_cuts
from chunking.errors import ChunkingError
from chunking.outline import Path, document_chunk, sections
from chunking.types import Chunk, Document, Encode, TokenSpans
from chunking.units import Unit, units
from chunking.windows import Tokenised, check, tokenise, windows

TINY = 8
"""A section under ``size / TINY`` tokens joins the next; a topic cut leaves at least as much."""


@dataclass(frozen=True, slots=True)
class Part:
    """The units of one section, or of tiny ones joined."""

    level: int
    path: Path
    units: tuple[Unit, ...]


def semantic(
    document: Document,
    spans: TokenSpans,
    size: int = 256,
    encode: Encode | None = None,
    drift: float = 1.0,
) -> list[Chunk]:
    """Return chunks of at most `size` tokens, counted on each chunk's own text, without overlap.

    A section is cut only when it is longer than `size`: between paragraphs, inside a long paragraph
    between sentences, inside a long sentence, code block or table as `fixed` does; its chunks are
    about equally long. A heading stays with the text after it. A section under an eighth of `size`
    joins the next one below the same parent while both fit; ``headings`` is then what their paths
    share.

    With `encode`, a section is cut between sentences too where the topic drifts: where the cosine
    of the three sentences before and the three after is below the document's mean by more than
    `drift` standard deviations, and lowest among its neighbours (`drift.topic_cuts`).

    Raises `ChunkingError` unless ``size >= 1`` and ``drift >= 0``, or where `encode` returns a
    wrong number of vectors.
    """
    check(size)
    if not drift >= 0:
        raise ChunkingError(f"drift must be at least 0 standard deviations, got {drift}")
    tokens = tokenise(document.text, spans)
    parts = _parts(tokens, document, size, encode is not None)
    cuts = _cuts(document.text, parts, encode, drift) if encode else [[] for _ in parts]
    found = [
        (span, part.path)
        for part, at in zip(parts, cuts, strict=True)
        for run in _runs(tokens, part.units, at, size)
        for span in _pack(tokens, run, size)
    ]
    return [document_chunk(document, i, span, path) for i, (span, path) in enumerate(found)]


def _parts(tokens: Tokenised, document: Document, size: int, by_sentence: bool) -> list[Part]:
    parts: list[Part] = []
    for section in sections(document):
        split = tuple(units(tokens, section, size, by_sentence))
        if not split:
            continue
        part = Part(section.level, section.path, split)
        if parts and _joins(tokens, parts[-1], part, size):
            part = _joined(parts.pop(), part)
        parts.append(part)
    return parts


def _joins(tokens: Tokenised, part: Part, following: Part, size: int) -> bool:
    start = part.units[0].start
    return (
        following.level >= part.level
        and tokens.near(start, part.units[-1].end) * TINY < size
        and tokens.near(start, following.units[-1].end) <= size
    )


def _joined(part: Part, following: Part) -> Part:
    # What stands before the first heading has no path of its own.
    path = _shared(part.path, following.path) if part.level else following.path
    return Part(part.level or following.level, path, part.units + following.units)


def _shared(a: Path, b: Path) -> Path:
    return tuple(x for i, x in enumerate(a) if a[: i + 1] == b[: i + 1])


def _cuts(text: str, parts: Sequence[Part], encode: Encode, drift: float) -> list[list[int]]:
    texts = [text[unit.start : unit.end] for part in parts for unit in part.units]
    if len(texts) < 2:
        return [[] for _ in parts]
    vectors = np.asarray(encode(texts), np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise ChunkingError(f"encode got {len(texts)} texts and returned shape {vectors.shape}")
    return topic_cuts(vectors, [len(part.units) for part in parts], drift)


def _runs(
    tokens: Tokenised, split: Sequence[Unit], cuts: Sequence[int], size: int
) -> Iterator[Sequence[Unit]]:
    """Yield the units between cuts, without the cuts that would leave a tiny chunk."""
    start = 0
    for cut in cuts:
        before = tokens.near(split[start].start, split[cut - 1].end)
        after = tokens.near(split[cut].start, split[-1].end)
        if min(before, after) * TINY >= size:
            yield split[start:cut]
            start = cut
    yield split[start:]


def _pack(tokens: Tokenised, run: Sequence[Unit], size: int) -> Iterator[tuple[int, int]]:
    """Yield spans of neighbouring units, as few as fit, about equally long."""
    i = 0
    while i < len(run):
        start = run[i].start
        left = tokens.near(start, run[-1].end)
        goal = -(-left // -(-left // size)) if left else 0
        j = i + 1
        while (
            j < len(run)
            and tokens.near(start, run[j - 1].end) < goal
            and tokens.near(start, run[j].end) <= size
        ):
            j += 1
        while j > i + 1 and tokens.over(start, run[j - 1].end, size) is not None:
            j -= 1
        if j == i + 1:
            yield from windows(tokens, size, 0, start, run[i].end, keep=run[i].body)
        else:
            yield start, run[j - 1].end
        i = j
