"""Questions asked where their answer is, and where it is not: the cases of `evals.nothing`.

LoCoMo: each question of its own conversation (``own``), of the next one of its half (``other``),
and of that one with its speakers' names in the question (``renamed``): without them a name alone
gives it away. XQuAD: two memories of every second article each; each question of both (``own``,
``other``), and of its own without its paragraph (``removed``): the rest of the article stays. The
same of one article only, where a list is five long: ``own`` and ``other`` of ``…, one article``.
Conversations and articles alternate between the half that is fitted and the half that is not.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from configs.settings import Settings
from evals import product
from evals.chat import is_turn
from evals.datasets import Dataset, load
from evals.errors import EvalError
from evals.mixed import mix
from evals.passages import PARAGRAPHS
from indexing.dense import Embedder
from indexing.ingest import Progress
from retrieval.relevance import Evidence, gather
from retrieval.retriever import Retriever
from retrieval.types import Narrow

OWN = "own"
SMALL = ", one article"
"""Ends the name of a set whose memories are one article each."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """One question of one memory: which set and ``kind``, and the evidence of every scope.

    ``group`` is the conversation or article it is from; ``fitted`` says which half that is in.
    """

    set: str
    kind: str
    group: str
    fitted: bool
    evidence: tuple[Evidence, ...]
    category: str = ""


Ask = Callable[[str, str | None, Narrow | None], tuple[Evidence, ...]]


def cases(
    data: Path | None,
    settings: Settings,
    embedder: Embedder,
    progress: Progress | None = None,
    every: int = 1,
    rerank: bool = False,
) -> Iterator[Case]:
    """Yield the cases of LoCoMo and XQuAD, of one of ``every`` so many questions; with ``rerank``
    the first candidates are reranked. Raises `EvalError`, `LetopisError`."""
    yield from conversations(
        thinned(load("locomo", data), every), settings, embedder, progress, rerank
    )
    sets = {name: load(f"xquad-{name}", data) for name in ("ru", "en", "ru-en", "en-ru")}
    mixed = mix(sets["ru"], sets["en"])
    for held in ((sets["ru"], sets["en-ru"]), (sets["en"], sets["ru-en"]), (mixed,)):
        asked = [thinned(dataset, every) for dataset in held]
        yield from documents(asked, settings, embedder, progress, rerank)


def thinned(dataset: Dataset, every: int) -> Dataset:
    """Return a set with one of so many of its questions."""
    return replace(dataset, queries=dict(list(dataset.queries.items())[::every]))


def conversations(
    dataset: Dataset,
    settings: Settings,
    embedder: Embedder,
    progress: Progress | None = None,
    rerank: bool = False,
) -> Iterator[Case]:
    """Yield the cases of a set of conversations."""
    names = sorted({query.conv for query in dataset.queries.values()})
    others = {**_next(names[::2]), **_next(names[1::2])}
    speakers = _speakers(dataset)
    with product.temporary(settings, embedder, rerank) as parts:
        product.fill(parts, dataset, progress)
        ask = _asker(parts.retriever)
        for number, query in enumerate(dataset.queries.values(), 1):
            conv, other = query.conv, others[query.conv]
            renamed = rename(query.text, speakers[conv], speakers[other])
            for kind, text, whom in (
                (OWN, query.text, conv),
                ("other", query.text, other),
                ("renamed", renamed, other),
            ):
                found = ask(text, whom, None)
                category = str(query.extra.get("category") or "")
                yield Case(dataset.name, kind, conv, conv in names[::2], found, category)
            if progress:
                progress(f"{dataset.name}: ask", number, len(dataset.queries))


def documents(
    asked: Sequence[Dataset],
    settings: Settings,
    embedder: Embedder,
    progress: Progress | None = None,
    rerank: bool = False,
) -> Iterator[Case]:
    """Yield the cases of sets of questions of one corpus of five paragraphs an article."""
    held = asked[0].documents
    article = {name: number // PARAGRAPHS for number, name in enumerate(held)}
    for side in (0, 1):
        part = {name: entry for name, entry in held.items() if article[name] % 2 == side}
        with product.temporary(settings, embedder, rerank) as parts:
            product.fill(parts, replace(asked[0], documents=part))
            ask = _asker(parts.retriever)
            for dataset in asked:
                what = f"{dataset.name}: ask, {side + 1} of 2"
                tell = partial(progress, what) if progress else None
                yield from _side(dataset, article, side, ask, tell)


def _side(
    dataset: Dataset,
    article: Mapping[str, int],
    side: int,
    ask: Ask,
    tell: Callable[[int, int], None] | None,
) -> Iterator[Case]:
    """Yield the cases of one memory: every second article."""
    here = [name for name, number in article.items() if number % 2 == side]
    of: dict[int, list[str]] = {}
    for name in here:
        of.setdefault(article[name], []).append(name)
    others = _next(list(of))
    for number, (key, query) in enumerate(dataset.queries.items(), 1):
        gold = dataset.qrels[key]
        home = article[next(iter(gold))]
        kinds: dict[tuple[str, str], Narrow | None] = {(dataset.name, "other"): None}
        if home in of:
            small = dataset.name + SMALL
            kinds = {
                (dataset.name, OWN): None,
                (dataset.name, "removed"): _only([name for name in here if name not in gold]),
                (small, OWN): _only(of[home]),
                (small, "other"): _only(of[others[home]]),
            }
        for (name, kind), narrow in kinds.items():
            found = ask(query.text, None, narrow)
            yield Case(name, kind, str(home), home // 2 % 2 == 0, found)
        if tell:
            tell(number, len(dataset.queries))


def rename(text: str, mine: Sequence[str], theirs: Sequence[str]) -> str:
    """Return a question with one conversation's speakers named as another's, place by place.

    >>> rename("Did Ann's dog meet Bob?", ["Ann", "Bob"], ["Bob", "Eve"])
    "Did Bob's dog meet Eve?"
    """
    names = dict(zip(mine, theirs, strict=False))
    if not names:
        return text
    pattern = "|".join(rf"\b{re.escape(name)}\b" for name in names)
    return re.sub(pattern, lambda found: names[found[0]], text)


def _asker(retriever: Retriever) -> Ask:
    """Return a function that asks once and returns the evidence of what the branches listed."""

    def ask(query: str, user_id: str | None, narrow: Narrow | None) -> tuple[Evidence, ...]:
        result = retriever.retrieve(query, user_id, k=1, narrow=narrow)
        reranked = result.trace.evidence.get("reranked")
        known = float(reranked) if reranked is not None else None
        return tuple(gather(query, result.trace.scopes, known))

    return ask


def _speakers(dataset: Dataset) -> dict[str, list[str]]:
    """Return conversation -> its speakers, who said most first."""
    said: dict[str, Counter[str]] = {}
    for entry in filter(is_turn, dataset.documents.values()):
        said.setdefault(entry.conv, Counter())[str(entry.extra["speaker"])] += 1
    return {conv: [name for name, _ in counted.most_common()] for conv, counted in said.items()}


def _only(names: Sequence[str]) -> Narrow:
    return Narrow(sources=tuple(names))


def _next(names: Sequence[T]) -> dict[T, T]:
    """Return each name -> another one. Raises `EvalError` where there is no other."""
    if len(names) < 2:
        raise EvalError("too few conversations or articles: a half needs two of each memory")
    return dict(zip(names, [*names[1:], *names[:1]], strict=True))
