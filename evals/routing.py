"""The router's questions, and what is expected of them: `evals.router` scores, `fit_router` fits.

``router/questions.jsonl`` beside the eval sets has a label a question, made from its gold SQL or
SPARQL. The questions are halved by the hash of their pair id: the rules were written with the half
``seen``, the half ``held`` is only ever scored.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from evals.datasets import data_folder
from evals.errors import DataMalformed, DataMissing
from retrieval.route import Label

FILE = "router/questions.jsonl"

EXPECTED: dict[str, Label] = {
    "analytical": "analytical",
    "structured_lookup": "lookup",
    "kb_lookup": "lookup",
    "no_answer": "lookup",
    "boolean": "factual",
    "factual_text": "factual",
}
"""The dataset's label -> ours. A question without an answer is asked as a lookup is."""

MISLABELLED = frozenset(
    f"qald_9_plus_test_dbpedia_{number}"
    for number in (7, 13, 29, 38, 44, 68, 102, 113, 137, 138, 139, 157, 159, 181, 199, 213, 214)
)
"""Pairs labelled analytical whose question asks for nothing computed: a name or a list, with a
country or a nationality in it (or Count Dracula). It seems that COUNT was looked for in the gold
SPARQL, where ``dbo:country`` has it too; that of 44 has ``dbc:Countries_in_Europe``.
"""

HALVES = ("seen", "held")


@dataclass(frozen=True, slots=True)
class Question:
    """A question; ``label`` is the dataset's, ``pair`` is one for both languages."""

    text: str
    lang: str
    label: str
    source: str
    pair: str

    @property
    def half(self) -> str:
        """Return "seen" or "held"; both languages of a pair are in one half."""
        return HALVES[hashlib.blake2s(self.pair.encode(), digest_size=8).digest()[0] % 2]


def read(data: Path | None = None) -> list[Question]:
    """Read the questions. Raises `DataMissing` or `DataMalformed`."""
    file = data_folder(data).parent / FILE
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise DataMissing(
            f"cannot read {file}: {error.strerror}; it is made from PAUQ, QALD-9-plus, RuBQ 1.0 "
            "and XQuAD, a JSON object a line with text, lang, label, source and pair"
        ) from error
    return [_question(file, n, line) for n, line in enumerate(lines, 1) if line.strip()]


def _question(file: Path, number: int, line: str) -> Question:
    try:
        row = json.loads(line)
        found = Question(*(str(row[k]) for k in ("text", "lang", "label", "source", "pair")))
    except (ValueError, KeyError, TypeError) as error:
        raise DataMalformed(f"{file}:{number}: not a question: {error!r}") from error
    if found.label not in EXPECTED:
        raise DataMalformed(f"{file}:{number}: the label {found.label!r} is unknown")
    return found
