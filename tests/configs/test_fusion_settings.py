from datetime import timedelta

import pytest
from pydantic import ValidationError

from configs.build import build_fusion, scope_policies
from configs.fusion_settings import FusionSettings, build_method, build_reordering
from configs.retrieval_settings import RetrievalSettings
from configs.settings import Settings
from configs.text_settings import TemplateSettings
from retrieval.fuse import METHODS, Ranked, fuse


def test_the_default_spelled_out() -> None:
    """Cosines by their distance from the list's end over .125, BM25 over the best one's."""
    lists = {
        "dense": [Ranked("a", 1, 0.875), Ranked("b", 1, 0.75)],
        "sparse": [Ranked("b", 0.5, 12.0)],
    }
    shares = fuse(lists, build_method(FusionSettings()))
    assert shares["a"] == {"dense": pytest.approx((0.125 + 0.005) / 0.125)}
    assert shares["b"] == {"dense": pytest.approx(0.005 / 0.125), "sparse": 0.5}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_chosen(name: str) -> None:
    assert build_method(FusionSettings(method=name)).name == name  # type: ignore[arg-type]


@pytest.mark.parametrize("norm", ["min-max", "z-score", "three-sigma", "bounds", "width", "none"])
def test_every_normaliser_can_be_chosen_for_all_views_of_a_branch(norm: str) -> None:
    chosen = FusionSettings(dense=norm, sparse=norm)  # type: ignore[arg-type]
    made = build_method(chosen).normalise
    names = {"dense", "dense.own", "sparse", "sparse.own"} if norm != "none" else set()
    assert made.keys() == names


def test_recency_and_variety_are_off_until_asked_for() -> None:
    assert build_reordering(FusionSettings()) is None
    stage = build_reordering(FusionSettings(mmr=0.7, half_life_days={"turn": 90}))
    assert stage is not None
    assert (stage.lambda_, stage.half_lives) == (0.7, {"turn": timedelta(days=90)})


@pytest.mark.parametrize(
    "wrong",
    [{"method": "sum"}, {"k": 0}, {"step": 0}, {"mmr": 1.5}, {"half_life_days": {"turn": 0}}],
)
def test_wrong_values_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FusionSettings(**wrong)  # type: ignore[arg-type]


def test_views_share_the_weight_of_their_branch() -> None:
    fusion = FusionSettings(own=0.25, k_by_scope={"user": 20})
    plain = Settings(retrieval=RetrievalSettings(fusion=fusion))
    assert scope_policies(plain)["user"].weights == {"dense": 1, "sparse": 1}
    assert build_fusion(plain).k_by_scope == {"user": 20}
    views = plain.model_copy(update={"template": TemplateSettings(views=True)})
    policy = scope_policies(views)["user"]
    assert policy.weights == {"dense": 0.75, "sparse": 0.75, "dense.own": 0.25, "sparse.own": 0.25}
    assert policy.thresholds == {"dense": 0.65, "dense.own": 0.65}
