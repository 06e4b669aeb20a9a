"""What the indexes are told about a chunk: who, when, under which heading, and what came before.

Dense: the vector of ``header: text``; for a chat turn the vector of the turn before is added with
a factor and the sum is normalised, so one vector a memory holds both views. Sparse: one BM25F
vector over header, text and the turn before, each with its factor. The file's name, where a
document states no title, is in the sparse header only: a renamed file costs no embedding. Measured
in docs/decisions/0003-text-template.md.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from chunking.types import Chunk, TokenSpans
from indexing.types import Vector

VERSION = "template-2"
"""Changes whenever the same chunk would give other texts: part of the fingerprint."""

HEADER_TOKENS = 64
JOIN_TOKENS = 16
"""Room for the ": " between header and text, and for tokens that merge otherwise there."""

_MONTHS_EN = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_MONTHS_RU = [
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
]
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")


@dataclass(frozen=True, slots=True)
class Factors:
    """How much the turn before counts: in the dense sum, and in the sparse term counts.

    With ``views`` a memory also has the vectors that it would have without the turn before.
    """

    dense_before: float = 0.5
    sparse_before: float = 0.5
    views: bool = False


@dataclass(frozen=True, slots=True)
class Views:
    """The texts of one chunk. ``before`` is empty for documents and first turns."""

    dense: str
    dense_before: str
    header: str
    text: str
    before: str


def views(chunk: Chunk, spans: TokenSpans, name: str = "") -> Views:
    """Render a chunk. The header is cut to 64 tokens; the chunk's own text never is.

    ``name`` stands in for the title of a document that states none, but not in the dense text.
    """
    if chunk.title == name:
        chunk = replace(chunk, title="")
    header = clip(_header(chunk), spans, HEADER_TOKENS)
    named = header if chunk.title or not name else clip(f"{name} {header}", spans, HEADER_TOKENS)
    when = day(chunk.at, chunk.before) if chunk.at and chunk.before else ""
    return Views(
        dense=f"{header}: {chunk.text}" if header else chunk.text,
        dense_before=" ".join(filter(None, (when, chunk.before))),
        header=named,
        text=chunk.text,
        before=chunk.before,
    )


def _header(chunk: Chunk) -> str:
    if chunk.speaker or chunk.role:
        said = f"{chunk.speaker or chunk.role}: {chunk.text}"
        when = day(chunk.at, said) if chunk.at else ""
        return " ".join(filter(None, (when, chunk.speaker or chunk.role)))
    path = [chunk.title, *(h for h in chunk.headings if h != chunk.title)]
    return " › ".join(filter(None, path))


def day(moment: datetime, text: str) -> str:
    """Write a date in the language of the text it goes with, in its own time zone.

    >>> day(datetime(2026, 5, 8), "привет"), day(datetime(2026, 5, 8), "hi")
    ('8 мая 2026', '8 May 2026')
    """
    months = _MONTHS_RU if _CYRILLIC.search(text) else _MONTHS_EN
    return f"{moment.day} {months[moment.month - 1]} {moment.year}"


def clip(text: str, spans: TokenSpans, limit: int) -> str:
    """Return the first ``limit`` tokens of a text."""
    found = spans(text)
    return text if len(found) <= limit else text[: found[limit - 1][1]]


def sparse_fields(view: Views, factors: Factors) -> list[tuple[str, float]]:
    """Return the texts of the sparse vector and how much each counts."""
    fields = [(view.header, 1.0), (view.text, 1.0), (view.before, factors.sparse_before)]
    return [(text, factor) for text, factor in fields if text and factor]


def blend(own: Vector, before: Vector | None, factor: float) -> Vector:
    """Return ``normalize(own + factor * before)``, own where that sum is zero.

    Both are unit vectors of shape ``(dim,)``.
    """
    if before is None or factor == 0:
        return own
    mixed: Vector = own + np.float32(factor) * before
    length = np.float32(np.linalg.norm(mixed))
    return mixed / length if length else own


def mix(own: Vector | None, late: Vector | None, share: float) -> Vector:
    """Return ``normalize((1 - share) * own + share * late)``; one of them where that is all.

    Both are unit vectors of shape ``(dim,)``; at share 0.5 it is their average.
    """
    if own is None or late is None:
        only = late if own is None else own
        if only is None:
            raise ValueError("neither an own vector nor a late one")
        return only
    return late if share == 1 else blend(own, late, share / (1 - share))


def dense_texts(views: Sequence[Views]) -> list[str]:
    """Return every text that has to be embedded for these chunks, each once, in order."""
    wanted = [text for view in views for text in (view.dense_before, view.dense) if text]
    return list(dict.fromkeys(wanted))
