"""What training data is made of: passages that stand together, and what is asked of them.

Does: hold and render them. Does not: read, make or choose any.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, time
from random import Random
from typing import Any

from indexing.template import day
from retrieval.stages import with_before

BEFORE, BARE = 0.15, 0.1
"""Shares of turns that are rendered with the turn before, and of passages without a header."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A turn (``speaker``, ``at``, the turn ``before``) or a piece of a document (``title``)."""

    text: str
    speaker: str = ""
    at: date | None = None
    before: str = ""
    title: str = ""

    def shown(self, header: bool = True, before: bool = False) -> str:
        """Return what a reranker reads: `retrieval.stages.read_as`, and maybe the turn before.

        >>> Passage("no", "Ann", date(2026, 5, 8), "Tom: tea?").shown(before=True)
        '8 May 2026 Ann: no Tom: tea?'
        """
        when = day(datetime.combine(self.at, time()), self.text) if self.at else ""
        parts = " ".join(filter(None, (when, self.speaker))) or self.title
        text = f"{parts}: {self.text}" if header and parts else self.text
        return with_before(text, self.before) if before else text

    def varied(self, chance: Random) -> str:
        """Return one of the ways to render it, mostly the product's own."""
        draw = chance.random()
        if draw < BARE:
            return self.shown(header=False)
        return self.shown(before=draw < BARE + BEFORE)


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, the place of the passage that answers it, and places that may answer it too."""

    query: str
    answer: int
    also: tuple[int, ...] = ()


@dataclass(slots=True)
class Pool:
    """Passages that are candidates together: one memory, or the documents of one source."""

    source: str
    lang: str
    passages: list[Passage] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)


def as_json(passage: Passage) -> dict[str, Any]:
    """Return a passage as it is written to a file, empty fields left out."""
    fields = {
        "text": passage.text,
        "speaker": passage.speaker,
        "at": passage.at.isoformat() if passage.at else "",
        "before": passage.before,
        "title": passage.title,
    }
    return {name: value for name, value in fields.items() if value}


def of_json(row: dict[str, Any]) -> Passage:
    """Return the passage of a file's row."""
    at = row.get("at")
    rest = {name: row[name] for name in ("text", "speaker", "before", "title") if name in row}
    return Passage(at=date.fromisoformat(at) if at else None, **rest)
