"""What the parts of a dataset are parts of: sentences of paragraphs, paragraphs of articles.

XQuAD-R names a sentence by article, paragraph and place ("0_1_4"); XQuAD has five paragraphs an
article, in order. Sentences are joined by a space, paragraphs by a blank line.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from evals.datasets import Dataset, Entry

PARTED = ("xquad-r-ru", "xquad-r-en")
"""Corpora of sentences."""

PARAGRAPHS = 5
"""Paragraphs of an XQuAD article."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Parts joined to one text: the id of each and where it starts."""

    text: str
    starts: dict[str, int]

    def part(self, start: int, end: int) -> str:
        """Return the id of the part that most of a span is in.

        >>> Whole("One. Two.", {"a": 0, "b": 5}).part(3, 9)
        'b'
        """
        starts = list(self.starts.values())
        bounds = pairwise([*starts, len(self.text)])
        shared = [min(end, stop) - max(start, begin) for begin, stop in bounds]
        return list(self.starts)[shared.index(max(shared))]


def join(entries: Iterable[Entry], between: str) -> Whole:
    """Join parts in order."""
    starts: dict[str, int] = {}
    text = ""
    for entry in entries:
        text += between if text else ""
        starts[entry.id] = len(text)
        text += entry.text
    return Whole(text, starts)


def paragraphs(dataset: Dataset) -> list[Whole]:
    """Return the paragraphs of a corpus of sentences; none for any other corpus."""
    if dataset.corpus not in PARTED:
        return []
    entries = dataset.documents.values()
    held = groupby(entries, key=lambda entry: entry.id.rpartition("_")[0])
    return [join(part, " ") for _, part in held]


def articles(dataset: Dataset) -> tuple[Dataset, dict[str, Whole]]:
    """Return an XQuAD set with articles as its documents, and what each is made of, by its id.

    Queries and judgements are the set's own: they ask for paragraphs.
    """
    entries = list(dataset.documents.values())
    wholes = {
        f"article {start // PARAGRAPHS}": join(entries[start : start + PARAGRAPHS], "\n\n")
        for start in range(0, len(entries), PARAGRAPHS)
    }
    documents = {key: Entry(key, whole.text) for key, whole in wholes.items()}
    name = f"{dataset.name} articles"
    return replace(dataset, name=name, corpus=name, documents=documents), wholes
