"""Each scope's lists -> one ranking of ids: languages levelled, branches ranked, lists fused.

Lists of one branch from several scopes are merged by score before they are ranked: cosines are
comparable between collections, so a weak best hit of one scope does not displace a strong one of
another. Scope and branch weights then apply to the merged list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from indexing.sparse import language
from indexing.store import DENSE, SPARSE, base
from indexing.types import Collection, Scope, Scored
from retrieval.balance import STRENGTH, balance
from retrieval.coverage import Covered, content_terms
from retrieval.fuse import Method, Ranked, order
from retrieval.fuse import fuse as fuse_lists
from retrieval.search import ScopeAnswer
from retrieval.types import ScopePolicy, Stage


@dataclass(frozen=True, slots=True)
class Fusion:
    """How lists become one ranking; ``k_by_scope`` is for `rrf`, where a scope's own k differs."""

    method: Method = field(default_factory=Method)
    lexical_coverage: bool = True
    language_balance: float = STRENGTH
    k_by_scope: Mapping[Collection, float] = field(default_factory=dict)

    def shown(self) -> str:
        """Say how, in words."""
        k = f", k {self.method.k:g}" if self.method.name == "rrf" else ""
        weighed = ", lexical hits by coverage" if self.lexical_coverage else ""
        return f"{self.method.name}{k}{weighed}, languages levelled {self.language_balance:g}"


class Placed(NamedTuple):
    """A candidate's place in one branch's merged list."""

    rank: int
    hit: Scored
    shift: float
    coverage: float | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates: ``(id, fused score)`` best first, and where each score came from.

    ``covered`` knows what they have of the question's words.
    """

    order: Sequence[tuple[str, float]]
    owners: Mapping[str, Scope]
    covered: Covered
    _shares: Mapping[str, Mapping[str, float]]
    _places: Mapping[tuple[str, str], Placed]

    def stages(self, id: str) -> dict[str, Stage]:
        """Return the places of a candidate by branch."""
        found = {}
        for branch, share in self._shares[id].items():
            at = self._places[id, branch]
            found[branch] = Stage(at.rank, at.hit.score, share, at.coverage, at.shift)
        return found


def fuse(
    query: str,
    answers: Sequence[ScopeAnswer],
    policies: Mapping[Collection, ScopePolicy],
    fusion: Fusion,
    least: int = 0,
) -> Ranking:
    """Rank each branch over all scopes, at least so many, and fuse the lists."""
    terms = Covered(content_terms(query))
    owners = {hit.id: a.scope for a in answers for hits in a.branches.values() for hit in hits}
    lists: dict[str, list[Ranked]] = {}
    places: dict[tuple[str, str], Placed] = {}
    for branch, ranked in _rank(query, answers, policies, fusion, least).items():
        ranking = lists.setdefault(branch, [])
        lexical = base(branch) == SPARSE
        weights = {name: p.weight * p.weights.get(branch, 0.0) for name, p in policies.items()}
        for rank, (hit, shift) in enumerate(ranked, 1):
            collection = owners[hit.id].collection
            weight = weights[collection]
            covered = terms.share(hit.terms) if lexical else None
            if covered is not None and fusion.lexical_coverage:
                weight *= covered
            k = fusion.k_by_scope.get(collection)
            ranking.append(Ranked(hit.id, weight, hit.score + shift, k))
            places[hit.id, branch] = Placed(rank, hit, shift, covered)
    shares = fuse_lists(lists, fusion.method)
    return Ranking(order(shares), owners, terms, shares, places)


def _rank(
    query: str,
    answers: Sequence[ScopeAnswer],
    policies: Mapping[Collection, ScopePolicy],
    fusion: Fusion,
    least: int,
) -> dict[str, list[tuple[Scored, float]]]:
    """Return each branch's best hits of all scopes, with what shifted each score."""
    found: dict[str, list[Scored]] = {}
    for answer in answers:
        for branch, hits in answer.branches.items():
            found.setdefault(branch, []).extend(hits)
    depth = max(least, *(policies[answer.scope.collection].limit for answer in answers))
    ranked: dict[str, list[tuple[Scored, float]]] = {}
    for branch, hits in found.items():
        if base(branch) == DENSE:
            ranked[branch] = balance(hits, language(query), fusion.language_balance)[:depth]
        else:
            best = sorted(hits, key=lambda scored: (-scored.score, scored.id))[:depth]
            ranked[branch] = [(scored, 0.0) for scored in best]
    return ranked
