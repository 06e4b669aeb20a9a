"""The product under test: a dataset goes in by its write path, and its retriever answers.

Documents are global (or their ``conv``'s, where they have one), turns are their ``conv``'s; a
query is asked as the user its ``conv`` names. A document ranks where its best chunk does.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from chunking.types import Document, Session
from configs.build import Parts, build, build_reranking
from configs.rerank_settings import RerankSettings
from configs.settings import Settings
from evals.chat import is_turn, sessions
from evals.datasets import Dataset, Entry
from evals.errors import EvalError
from evals.metrics import DEPTH
from evals.passages import paragraphs
from indexing import template
from indexing.dense import Embedder
from indexing.errors import SourceError
from indexing.hashing import digest
from indexing.index import Recipe, Report, Source
from indexing.ingest import Progress, document_source, ingest_chats
from indexing.late import Context
from indexing.mentions import spread
from indexing.types import GLOBAL, Memory, Scope, user_scope
from indexing.write import write
from retrieval.retriever import Retriever
from retrieval.stages import Reranking

ORDER = {
    *("kind", "before", "candidates", "characters", "budget_ms", "max_length", "window", "overlap"),
    *("blend", "weight", "talk", "longest", "least"),
}
"""Settings of a reranker that change an order."""


@contextmanager
def opened(
    settings: Settings, embedder: Embedder, folder: Path, rerank: bool = False
) -> Iterator[Parts]:
    """Open the product with its embedded store in a folder; other settings stay.

    It has the reranker of the settings only with ``rerank``: what is measured is mostly what is
    before it.
    """
    here = {"data_dir": folder, "store": "", "catalog": ""}
    asked = settings.model_copy(update=here)
    built = asked if rerank else asked.model_copy(update={"rerank": RerankSettings(kind="none")})
    parts = build(built, embedder=embedder)
    try:
        yield replace(parts, settings=asked)
    finally:
        parts.close()


@contextmanager
def temporary(settings: Settings, embedder: Embedder, rerank: bool = False) -> Iterator[Parts]:
    """Open an empty product in a folder that is gone afterwards; see `opened`."""
    with (
        tempfile.TemporaryDirectory(prefix="letopis-eval-") as folder,
        opened(settings, embedder, Path(folder), rerank) as parts,
    ):
        yield parts


def fill(parts: Parts, dataset: Dataset, progress: Progress | None = None) -> None:
    """Index the documents of a dataset. Raises `EvalError` where the product refuses one."""
    entries = list(dataset.documents.values())
    turns = [entry for entry in entries if is_turn(entry)]
    rest: dict[Scope, list[Entry]] = {}
    for entry in entries:
        if not is_turn(entry):
            rest.setdefault(user_scope(entry.conv) if entry.conv else GLOBAL, []).append(entry)
    done = 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(f"{dataset.corpus}: index", done, len(entries))

    recipe = parts.index.recipe
    places = _contexts(recipe, dataset)
    for scope, part in rest.items():
        _refused(write(parts.index, scope, _sources(recipe, part, places, step)))
    for conv, held in sessions(turns).items():
        _refused(ingest_chats(parts.index, user_scope(conv), _told(held, step)))


def _told(held: Sequence[Session], step: Callable[[int], None]) -> Iterator[Session]:
    for session in held:
        yield session
        step(len(session.turns))


def _refused(report: Report) -> None:
    for letter in report.dead:
        raise EvalError(f"the product refused {letter.path} {letter.place}: {letter.reason}")


def _contexts(recipe: Recipe, dataset: Dataset) -> dict[str, tuple[Context, int]]:
    """Return what the sentences of a set are read in, and where each starts: its paragraph."""
    late = recipe.chunkers[recipe.documents].late
    found: dict[str, tuple[Context, int]] = {}
    if late is None:
        return found
    for whole in paragraphs(dataset):
        context = late.document(Document("", whole.text))
        found |= {key: (context, start) for key, start in whole.starts.items()}
    return found


def _sources(
    recipe: Recipe,
    entries: Sequence[Entry],
    places: Mapping[str, tuple[Context, int]],
    step: Callable[[int], None],
) -> Iterator[Source]:
    for entry in entries:
        document = Document(entry.id, entry.text, entry.title)
        with suppress(SourceError):  # no text: nothing can find it, and its queries count that
            source = document_source(recipe, document, digest(entry.title, entry.text))
            context, offset = places.get(entry.id, (source.context, source.offset))
            yield replace(source, context=context, offset=offset)
        step(1)


def document_id(memory: Memory) -> str:
    """Return the id that the dataset gave the document or turn of a memory."""
    return memory.turn_id or memory.source_id


def ask(
    parts: Parts,
    dataset: Dataset,
    branches: Sequence[str],
    name: Callable[[Memory], str] = document_id,
    rerank: str = "none",
) -> Iterator[tuple[str, list[str]]]:
    """Yield query id -> document ids, best first, with only these branches asked.

    ``name`` says what a memory is judged as, ``rerank`` is the kind of reranker: the settings' own
    where it is of that kind.
    """
    reranking = _reranking(parts, rerank)
    retriever = replace(only(parts.retriever, branches), reranking=reranking)
    try:
        for query in dataset.queries.values():
            yield query.id, top(retriever, query.text, query.conv or None, DEPTH, name)
    finally:
        if reranking:
            reranking.stage.close()


def _reranking(parts: Parts, kind: str) -> Reranking | None:
    chosen = {"rerank": rerank_settings(parts.settings, kind)}
    return build_reranking(parts.settings.model_copy(update=chosen), parts.index.embedder)


def rerank_settings(settings: Settings, kind: str) -> RerankSettings:
    """Return the settings of a kind of reranker: those given where they are of it, else its own."""
    given = settings.rerank
    return given if given.kind == kind else RerankSettings.model_validate({"kind": kind})


def only(retriever: Retriever, branches: Sequence[str]) -> Retriever:
    """Return the retriever with the weights of other branches set to 0.

    No answer is left empty: the ranking is measured here, "nothing found" is in `evals.nothing`.
    """
    policies = {
        collection: replace(
            policy,
            weights={name: w if name in branches else 0.0 for name, w in policy.weights.items()},
        )
        for collection, policy in retriever.policies.items()
    }
    relevance = replace(retriever.relevance, least=0.0)
    return replace(retriever, policies=policies, relevance=relevance)


def top(
    retriever: Retriever,
    query: str,
    user_id: str | None,
    depth: int,
    name: Callable[[Memory], str] = document_id,
) -> list[str]:
    """Return the best documents, up to ``depth``; asks for more chunks until there are enough."""
    k = depth if user_id else 2 * depth  # a document has several chunks
    while True:
        hits = _deep(retriever, k).retrieve(query, user_id, k=k).hits
        places = (place for hit in hits for place in spread(hit.memory))
        found = list(dict.fromkeys(map(name, places)))
        if len(found) >= depth or len(hits) < k:
            return found[:depth]
        k *= 2


def _deep(retriever: Retriever, k: int) -> Retriever:
    """Return the retriever with branch lists of at least ``k``."""
    if all(policy.limit >= k for policy in retriever.policies.values()):
        return retriever
    policies = {
        name: replace(policy, limit=max(policy.limit, k))
        for name, policy in retriever.policies.items()
    }
    return replace(retriever, policies=policies)


def template_line(settings: Settings) -> str:
    """Say what text the indexes were given, in one line."""
    factors = settings.template
    return (
        f"{template.VERSION}: date and speaker, or title and headings; text [photo: caption]; "
        f"turn before x{factors.dense_before:g} dense, x{factors.sparse_before:g} sparse"
    )


def shown(settings: Settings, embedder: Embedder, rerank: str = "none") -> dict[str, Any]:
    """Return the settings that change a result, without places and keys."""
    parts = {"chunking", "template", "retrieval"}
    found = {"embedder": embedder.name} | settings.model_dump(
        mode="json", by_alias=True, include=parts
    )
    if rerank != "none":
        chosen = rerank_settings(settings, rerank)
        found["rerank"] = chosen.model_dump(mode="json", include=ORDER)
    return found
