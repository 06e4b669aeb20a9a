"""Does the memory hold an answer at all? Both branches' lists -> evidence -> a confidence, 0 to 1.

Two things tell an answer from the least bad of a memory that has none: its cosine stands out from
the rest of the list (*lift*), and it has the question's words (*coverage*). Each scope, and each
language in it, is weighed by itself; the best of them counts. The weights are fitted by
``python -m evals.nothing --fit``, which prints them as settings. It asks no engine and reads no
memory: all it needs is in the lists. Measured in docs/decisions/0013-nothing-found.md.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from indexing.sparse import language, terms
from indexing.store import DENSE, SPARSE
from retrieval.coverage import Covered, content_terms, function_words
from retrieval.trace import ScopeTrace

UNKNOWN = 0.5
"""The confidence where the lists say nothing: lexical ones only, and no content word asked for."""

DEPTH = 30
"""Places of a list that are looked at, so that a longer one says the same."""

PRIOR = 10
"""Memories that the usual cosine counts for beside those of the list: a short list has no tail."""

SMALL = 20
"""Memories of a scope below which it is never left out: a few facts say nothing of what is usual,
and "when do I want things delivered?" shares no word with "Anna prefers Thursdays"."""

RERANK = 0.5
"""Share of the log-odds that a reranker's probability has."""


ASKING = (
    "know knows remember recall tell told say said show find remind anything something everything "
    "am myself hi hello please "
    "знаешь знать помнишь помнить вспомни расскажи рассказать скажи сказал сказала говорил "
    "говорила покажи найди напомни что-нибудь что-то всё привет здравствуй пожалуйста"
)
"""Words that ask without saying about what."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Logistic weights: one for each feature in order, then the constant.

    ``both`` is for lift, coverage and known; ``dense`` for lift and another language, where the
    words cannot match; ``lexical`` for coverage and known, where no dense branch was asked.
    ``usual`` is the model's cosine of a question and a text that does not answer it, below 1.
    """

    usual: float
    both: tuple[float, float, float, float]
    dense: tuple[float, float, float]
    lexical: tuple[float, float, float]


E5 = Weights(
    usual=0.761,
    both=(11.99, 7.27, 1.42, -8.18),
    dense=(17.32, 2.09, -4.25),
    lexical=(8.75, 2.49, -6.68),
)
"""Fitted with multilingual E5 on one half of LoCoMo and XQuAD. Another model: fit it again."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one scope's lists say, in one language of its memories (``lang``).

    ``best`` is the highest cosine, ``rest`` the mean of those past the first fifth of the
    ``listed``; ``best`` is None where no dense branch was asked. ``coverage`` is the highest share
    of the question's content words (``words`` of them) that one of the ``matched`` memories has,
    ``known`` the share that any of them has; None where no lexical branch was asked. ``foreign``:
    the question is in another language. ``reranked`` is a reranker's probability for the best hit.
    """

    scope: str = ""
    lang: str = ""
    listed: int = 0
    best: float | None = None
    rest: float = 0.0
    words: int = 0
    matched: int = 0
    coverage: float | None = None
    known: float | None = None
    foreign: bool = False
    reranked: float | None = None

    def facts(self) -> dict[str, str | float | None]:
        """Return all of it by name: `asdict`, which would copy every value."""
        return {name: getattr(self, name) for name in self.__slots__}


def is_small(scope: ScopeTrace) -> bool:
    """Whether a scope has so few memories that its lists hold nearly all of it."""
    return max(map(len, scope.lists.values()), default=0) < SMALL


def names_nothing(query: str) -> bool:
    """Tell whether a question is about nothing in particular, so that everything is an answer.

    >>> names_nothing("что ты обо мне помнишь?"), names_nothing("what is my blood type?")
    (True, False)
    """
    return content_terms(query) <= function_words() | _asking()


@cache
def _asking() -> frozenset[str]:
    return frozenset(terms(ASKING))


def evidence(
    query: str,
    scopes: Sequence[ScopeTrace],
    reranked: float | None = None,
    weights: Weights = E5,
    covered: Covered | None = None,
) -> Evidence:
    """Return the evidence of the scope and language that is most likely to hold an answer."""
    return strongest(gather(query, scopes, reranked, covered), weights)


def gather(
    query: str,
    scopes: Sequence[ScopeTrace],
    reranked: float | None = None,
    covered: Covered | None = None,
) -> list[Evidence]:
    """Return the evidence of every scope that answered, language by language.

    ``covered`` is what is known already of the question's words in the lists.
    """
    asked, known = language(query), covered or Covered(content_terms(query))
    answered = (scope for scope in scopes if not scope.error)
    return [each for scope in answered for each in _of(asked, known, scope, reranked)]


def strongest(found: Sequence[Evidence], weights: Weights = E5) -> Evidence:
    """Return the evidence of the highest confidence; empty evidence of none."""
    return max(found, key=lambda each: confidence(each, weights), default=Evidence())


def confidence(found: Evidence, weights: Weights = E5) -> float:
    """Return the probability that the memory holds an answer, where every second question has one.

    0 for empty lists. Words of another language cannot match, so there they only ever help.
    With a reranker's probability p: ``sigmoid((1 - RERANK) * own log-odds + RERANK * logit(p))``.
    """
    if not found.listed and not found.matched:
        return 0.0
    odds = _log_odds(found, weights)
    if found.reranked is not None:
        p = min(max(found.reranked, 1e-3), 1 - 1e-3)
        odds = (1 - RERANK) * odds + RERANK * math.log(p / (1 - p))
    return sigmoid(odds)


def lift(found: Evidence, usual: float) -> float | None:
    """Return how far the best cosine stands out: its part of the way from the rest to 1.

    ``(best - rest) / (1 - rest)``: the same whether a model's cosines fill 0.7 to 1 or 0 to 1.
    ``rest`` counts as many memories as it is the mean of, and `PRIOR` at ``usual``. 0 where a
    dense list came back empty, all below its threshold; None where none was asked.
    """
    if found.best is None:
        return None
    if not found.listed:
        return 0.0
    tail = found.listed - _head(found.listed)
    rest = (tail * found.rest + PRIOR * usual) / (tail + PRIOR)
    return (found.best - rest) / (1 - rest)


def sigmoid(odds: float) -> float:
    """Return ``1 / (1 + e^-x)``, for any x."""
    return 0.5 * (1 + math.tanh(odds / 2))


def _log_odds(found: Evidence, weights: Weights) -> float:
    lifted = lift(found, weights.usual)
    dense = None
    if lifted is not None:
        dense = _sum(weights.dense, lifted, float(found.foreign))
    if found.coverage is None or found.known is None or not found.words:
        return math.log(UNKNOWN / (1 - UNKNOWN)) if dense is None else dense
    if lifted is None or dense is None:
        return _sum(weights.lexical, found.coverage, found.known)
    both = _sum(weights.both, lifted, found.coverage, found.known)
    return max(both, dense) if found.foreign else both


def _sum(weights: Sequence[float], *features: float) -> float:
    return sum((w * x for w, x in zip(weights, features, strict=False)), weights[-1])


def _of(
    asked: str, covered: Covered, scope: ScopeTrace, reranked: float | None
) -> Iterator[Evidence]:
    """Yield the evidence of the question's language, and of any other in the dense list."""
    lexical = scope.lists.get(SPARSE)
    matched = sorted(lexical or (), key=lambda hit: -hit.score)[:DEPTH]
    best = max((covered.share(hit.terms) for hit in matched), default=0.0)
    known = covered.known(hit.terms for hit in matched)
    words = len(set(covered.wanted) - function_words())
    by_language: dict[str, list[float]] = {asked: []}
    for hit in scope.lists.get(DENSE, ()):
        by_language.setdefault(hit.lang, []).append(hit.score)
    for lang, all_scores in by_language.items():
        scores = sorted(all_scores, reverse=True)[:DEPTH]
        tail = scores[_head(len(scores)) :]
        yield Evidence(
            scope=scope.scope,
            lang=lang,
            listed=len(scores),
            best=(scores[0] if scores else 0.0) if DENSE in scope.lists else None,
            rest=sum(tail) / len(tail) if tail else 0.0,
            words=words,
            matched=len(matched),
            coverage=None if lexical is None else best,
            known=None if lexical is None else known,
            foreign=lang != asked,
            reranked=reranked,
        )


def _head(listed: int) -> int:
    """Return how many of a list may be answers: its first fifth, at least the first."""
    return max(1, listed // 5)
