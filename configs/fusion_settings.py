"""How the read side makes one ranking of its lists: `[retrieval.fusion]`, and what it is built to.

Which method and why: docs/decisions/0012-fusion-methods.md.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from configs.section import Section
from indexing.store import DENSE, OWN, SPARSE
from indexing.types import Collection, Kind
from retrieval.fuse import Method
from retrieval.normalise import NORMALISERS, Normaliser, bounds, width
from retrieval.reorder import Reordering

Norm = Literal["min-max", "z-score", "three-sigma", "bounds", "width", "none"]
HalfLife = Annotated[float, Field(gt=0)]


class FusionSettings(Section):
    """How the lists of the branches become one ranking.

    Weights mean another thing to each method: with `rrf`, chat wants dense 0.4 and sparse 1.6.
    """

    method: Literal["rrf", "dbsf", "convex"] = Field(
        "convex",
        description="`rrf`: ranks; `dbsf`: scores by their deviation; `convex`: normalised scores",
    )
    k: float = Field(10.0, gt=0, description="k of `rrf`")
    k_by_scope: Mapping[Collection, Annotated[float, Field(gt=0)]] = Field(
        {}, description="the same for single scopes, as `{user = 20}`"
    )
    dense: Norm = Field("width", description="how `convex` normalises cosines")
    sparse: Norm = Field("bounds", description="how `convex` normalises BM25 scores")
    step: float = Field(
        0.125,
        gt=0,
        description="`width`: the difference of cosines that counts 1; E5's lie close together, "
        "a model that uses the whole range wants more",
    )
    margin: float = Field(
        0.005, ge=0, description="`width`: how far below a list's end stands what it lacks"
    )
    own: float = Field(
        0.5,
        ge=0,
        lt=1,
        description="share of a branch's weight for its view without the turn "
        "before, where `template.views` stores it",
    )
    mmr: float | None = Field(
        None,
        ge=0,
        le=1,
        description="lambda of maximal marginal relevance, 1: relevance only; none: off",
    )
    half_life_days: Mapping[Kind, HalfLife] = Field(
        {}, description="days after which a memory of a kind counts half, as `{turn = 90}`"
    )


def build_method(chosen: FusionSettings) -> Method:
    """Return the fusion method; one normaliser for every view of a branch."""
    norms = {DENSE: chosen.dense, SPARSE: chosen.sparse}
    made = {name: normaliser(norm, chosen) for name, norm in norms.items() if norm != "none"}
    views = {name + OWN: normalise for name, normalise in made.items()}
    return Method(chosen.method, chosen.k, made | views)


def build_reordering(chosen: FusionSettings) -> Reordering | None:
    """Return the stage of recency and variety, None where both are off."""
    if chosen.mmr is None and not chosen.half_life_days:
        return None
    lives = {kind: timedelta(days=days) for kind, days in chosen.half_life_days.items()}
    return Reordering(lives, chosen.mmr)


def normaliser(name: Norm, chosen: FusionSettings) -> Normaliser:
    """Return a normaliser by its name; BM25 and cosines are bounded by 0."""
    made = {"bounds": bounds(0.0), "width": width(chosen.step, chosen.margin)}
    return (NORMALISERS | made)[name]
