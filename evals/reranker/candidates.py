"""What a reranker would be asked on the evaluation sets: each question with its fused candidates.

Does: index a set as the product does, fuse, keep ids, scores and the texts that are read, in a
file. Does not: score. With the file a checkpoint is measured without index and embedder.
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from configs.build import build_fusion, scope_policies
from configs.settings import Settings
from evals import datasets, product
from evals.absence import thinned
from evals.datasets import Dataset
from evals.lists import DOCUMENTS, collect
from evals.mixed import mix
from indexing.dense import Embedder
from indexing.ingest import Progress
from indexing.types import GLOBAL, Filter, user_scope
from retrieval.rank import fuse
from retrieval.stages import read_as
from retrieval.trace import Log
from retrieval.types import Hit

MIXED, EVERY = "xquad-r-mixed", 4
"""Sentences of which each is in one of two languages, asked in both; one of so many questions."""
DEEP = 100
"""Candidates of a question that are kept."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate: the documents it stands for, its score, what a reranker reads of it.

    ``said`` is its own text, without who and when.
    """

    documents: list[str]
    score: float
    text: str
    speaker: str = ""
    said: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its candidates, best first, and the group it is drawn with."""

    id: str
    text: str
    conv: str
    category: str
    candidates: list[Candidate]


def loaded(name: str, data: Path | None) -> Dataset:
    """Return a set by its name, `MIXED` too."""
    if name != MIXED:
        return datasets.load(name, data)
    russian, english = (datasets.load(f"xquad-r-{lang}", data) for lang in ("ru", "en"))
    return thinned(replace(mix(russian, english), name=MIXED, corpus=MIXED), EVERY)


def kept(
    folder: Path,
    name: str,
    data: Path | None,
    settings: Settings,
    embedder: Embedder,
    progress: Progress,
) -> list[Question]:
    """Return a set's questions from the folder, made and written there first where it has none."""
    file = folder / f"{name}.jsonl"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write(file, make(name, data, settings, embedder, progress))
    return read(file)


def make(
    name: str, data: Path | None, settings: Settings, embedder: Embedder, progress: Progress
) -> list[Question]:
    """Ask a set's questions; candidates are in the order that a reranker gets them, with the
    scores of the stage before it."""
    dataset = loaded(name, data)
    with product.temporary(settings, embedder) as parts:
        product.fill(parts, dataset, progress)
        lists = collect(parts, dataset, limit=2 * DOCUMENTS)
        store, now = parts.retriever.store, parts.retriever.clock()
        scopes = {user_scope(q.conv) for q in dataset.queries.values() if q.conv} | {GLOBAL}
        memories = {
            memory.id: memory
            for scope in scopes
            for memory in store.scroll(scope.collection, Filter(scope, now=now))
        }
        told = parts.retriever.telling
    policies, how = scope_policies(settings), build_fusion(settings)
    found = []
    for key, query in dataset.queries.items():
        if key not in dataset.qrels:
            continue
        order = fuse(query.text, lists.answers[key], policies, how).order[:DEEP]
        hits = [Hit(memories[name], 0, score, {}) for name, score in order]
        if told:
            hits = told(query.text, hits, Log())
        candidates = [_candidate(hit, lists.names[hit.memory.id]) for hit in hits]
        category = str(query.extra.get("category") or "")
        found.append(Question(key, query.text, query.conv, category, candidates))
    return found


def _candidate(hit: Hit, documents: list[str]) -> Candidate:
    memory = hit.memory
    who = memory.speaker or memory.role
    return Candidate(documents, hit.score, read_as(memory), who, memory.text, memory.before)


def write(file: Path, questions: list[Question]) -> None:
    """Write a set's questions."""
    with file.open("w", encoding="utf-8") as stream:
        for question in questions:
            stream.write(json.dumps(asdict(question), ensure_ascii=False) + "\n")


def read(file: Path) -> list[Question]:
    """Read a set's questions."""
    found = []
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            held = [Candidate(**one) for one in row.pop("candidates")]
            found.append(Question(**row, candidates=held))
    return found
