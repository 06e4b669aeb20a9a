"""Datasets in BEIR layout, read from a folder outside the project; none of their text is in it.

A set is a folder with ``corpus.jsonl`` and ``queries.jsonl`` (``_id``, ``text``, ``title``?, more
fields) and ``qrels.tsv`` or ``qrels/test.tsv`` (query, document, score; one header line). A
cross-lingual set asks one folder's queries of another's corpus: their query ids are parallel.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evals.errors import DataMalformed, DataMissing
from evals.types import Qrels

VARIABLE = "LETOPIS_EVAL_DATA"
DEFAULT = Path("../shared/datasets/eval")


@dataclass(frozen=True, slots=True)
class Entry:
    """A document or a query; ``extra`` holds the fields that BEIR does not know."""

    id: str
    text: str
    title: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def conv(self) -> str:
        """The conversation it belongs to, empty for none: one conversation is one user."""
        return str(self.extra.get("conv") or "")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents and the queries that have judgements. ``corpus`` names the documents' folder."""

    name: str
    corpus: str
    documents: dict[str, Entry]
    queries: dict[str, Entry]
    qrels: Qrels


@dataclass(frozen=True, slots=True)
class Origin:
    """Which folders a known set is made of, and where they come from."""

    corpus: str
    queries: str
    source: str


_XQUAD = "https://github.com/google-deepmind/xquad (CC BY-SA 4.0)"
_LAREQA = "XQuAD-R, https://github.com/google-research-datasets/lareqa (CC BY-SA 4.0)"

KNOWN: dict[str, Origin] = {
    "locomo": Origin(
        "locomo",
        "locomo",
        "data/locomo10.json of https://github.com/snap-research/LoCoMo (CC BY-NC 4.0)",
    ),
    "xquad-ru": Origin("xquad-ru", "xquad-ru", _XQUAD),
    "xquad-en": Origin("xquad-en", "xquad-en", _XQUAD),
    "xquad-ru-en": Origin("xquad-en", "xquad-ru", _XQUAD),
    "xquad-en-ru": Origin("xquad-ru", "xquad-en", _XQUAD),
    "xquad-r-ru": Origin("xquad-r-ru", "xquad-r-ru", _LAREQA),
    "xquad-r-en": Origin("xquad-r-en", "xquad-r-en", _LAREQA),
    "scifact": Origin("scifact", "scifact", "https://github.com/allenai/scifact"),
}


def data_folder(given: Path | None = None) -> Path:
    """Return the folder of the sets: the one given, else the variable's, else the default's.

    Raises `DataMissing` where that is no folder.
    """
    named = os.environ.get(VARIABLE)
    folder = given or (Path(named) if named else DEFAULT)
    if not folder.expanduser().is_dir():
        sources = "; ".join(dict.fromkeys(origin.source for origin in KNOWN.values()))
        raise DataMissing(
            f"there is no data folder {folder}: name one with --data or {VARIABLE}, with one "
            "folder a set in BEIR layout (corpus.jsonl, queries.jsonl, qrels.tsv), made from "
            f"{sources}"
        )
    return folder.expanduser()


def names(data: Path | None = None) -> list[str]:
    """Return the sets that can be run from the folder: the known ones, then any other, by name."""
    folder = data_folder(data)
    found = {path.parent.name for path in folder.glob("*/corpus.jsonl")}
    known = [name for name, o in KNOWN.items() if {o.corpus, o.queries} <= found]
    return known + sorted(found - KNOWN.keys())


def load(name: str, data: Path | None = None) -> Dataset:
    """Read a set. Raises `DataMissing` (with where to get it) or `DataMalformed`."""
    folder = data_folder(data)
    origin = KNOWN.get(name) or Origin(name, name, "")
    there = {path.name for path in folder.iterdir() if path.is_dir()}
    for part in (origin.corpus, origin.queries):
        if part not in there:
            where = f"get it from {origin.source}" if origin.source else f"known: {_list(folder)}"
            raise DataMissing(f"there is no set {part!r} in {folder}; {where}")
    corpus, asked = folder / origin.corpus, folder / origin.queries
    documents = _entries(corpus / "corpus.jsonl")
    queries = _entries(asked / "queries.jsonl")
    file = corpus / "qrels.tsv"
    qrels = _qrels(file if file.exists() else corpus / "qrels" / "test.tsv")
    unknown = qrels.keys() - queries.keys()
    if unknown and corpus == asked:
        raise DataMalformed(
            f"{corpus / 'queries.jsonl'}: lacks {len(unknown)} judged queries, "
            f"such as {min(unknown)!r}"
        )
    judged = {key: query for key, query in queries.items() if key in qrels}
    return Dataset(name, origin.corpus, documents, judged, {key: qrels[key] for key in judged})


def conversations(dataset: Dataset, count: int) -> Dataset:
    """Return the set with its first conversations only."""
    kept = list(dict.fromkeys(query.conv for query in dataset.queries.values()))[:count]
    documents = {key: entry for key, entry in dataset.documents.items() if entry.conv in kept}
    asked = [key for key, query in dataset.queries.items() if query.conv in kept]
    return _part(dataset, documents, asked)


def head(dataset: Dataset, count: int) -> Dataset:
    """Return the first documents, and the queries whose relevant documents are all among them."""
    documents = dict(list(dataset.documents.items())[:count])
    asked = [key for key, held in dataset.qrels.items() if held.keys() <= documents.keys()]
    return _part(dataset, documents, asked)


def _part(dataset: Dataset, documents: dict[str, Entry], asked: list[str]) -> Dataset:
    return replace(
        dataset,
        documents=documents,
        queries={key: dataset.queries[key] for key in asked},
        qrels={key: dataset.qrels[key] for key in asked},
    )


def _list(folder: Path) -> str:
    return ", ".join(names(folder)) or "none"


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataMissing(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataMalformed(f"{file}: not UTF-8: {error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")


def _entries(file: Path) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for number, line in _lines(file):
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataMalformed(f"{file}:{number}: not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise DataMalformed(f"{file}:{number}: not a JSON object")
        key, text, title = (fields.pop(name, None) for name in ("_id", "text", "title"))
        if not isinstance(key, str | int) or isinstance(key, bool) or key == "":
            raise DataMalformed(f"{file}:{number}: _id is missing or no text")
        if not isinstance(text, str) or not isinstance(title, str | None):
            raise DataMalformed(f"{file}:{number}: text or title is missing or no text")
        if str(key) in found:
            raise DataMalformed(f"{file}:{number}: _id {key!r} is there twice")
        found[str(key)] = Entry(str(key), text, title or "", fields)
    if not found:
        raise DataMalformed(f"{file}: is empty")
    return found


def _qrels(file: Path) -> Qrels:
    found: Qrels = {}
    for number, line in _lines(file):
        cells = line.split("\t")
        if len(cells) != 3:
            raise DataMalformed(f"{file}:{number}: {len(cells)} columns, not 3 between tabs")
        query, document, score = cells
        if number == 1:
            if score.lstrip("-").isdigit():
                raise DataMalformed(f"{file}:1: a judgement; the first line is the header")
            continue
        try:
            found.setdefault(query, {})[document] = int(score)
        except ValueError as error:
            raise DataMalformed(f"{file}:{number}: the score {score!r} is no integer") from error
    if not found:
        raise DataMalformed(f"{file}: has no judgements")
    return found
