"""Settings -> stage."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from configs.rerank_settings import BEST, RerankSettings
from configs.rerankers import RERANKERS, Given, build_reranker
from configs.settings import load
from indexing.errors import ConfigError
from retrieval.rerank.stage import RerankLimits
from tests.conftest import TinyEmbedder
from tests.retrieval.rerank.conftest import by_hand

GIVEN = Given(Path("no-model-is-made-here"), TinyEmbedder())


def test_the_one_that_ships_is_the_default_and_none_is_none() -> None:
    assert RerankSettings() == RerankSettings(kind="built-in")
    assert build_reranker(RerankSettings(), GIVEN) is not None
    assert build_reranker(RerankSettings(kind="none"), GIVEN) is None


def test_every_kind_has_a_maker_and_every_setting_says_what_it_is() -> None:
    kinds = RerankSettings.model_json_schema()["properties"]["kind"]["enum"]
    assert set(kinds) == {"none", *RERANKERS}
    assert all(field.description for field in RerankSettings.model_fields.values())


def test_the_limits_are_the_settings() -> None:
    defaults = RerankSettings(kind="onnx")
    assert RerankLimits() == RerankLimits(
        **{name: getattr(defaults, name) for name in RerankLimits.__slots__}
    )
    stage = build_reranker(
        RerankSettings(
            kind="endpoint",
            url="http://x/v2",
            model="m",
            candidates=7,
            budget_ms=120,
            timeout=2,
            window=128,
            overlap=32,
            cache=5,
            characters=900,
        ),
        GIVEN,
    )
    assert stage is not None
    assert stage.limits == RerankLimits(7, 120, 2, 128, 32, 5, 900)


@pytest.mark.parametrize("kind", BEST)
def test_what_a_kind_is_best_with_gives_way_to_what_is_said(kind: str) -> None:
    chosen = RerankSettings.model_validate({"kind": kind})
    assert {name: getattr(chosen, name) for name in BEST[kind]} == BEST[kind]
    said = RerankSettings.model_validate({"kind": kind, "weight": 0, "candidates": 9})
    assert (said.weight, said.candidates) == (0, 9)
    blended = RerankSettings.model_validate({"kind": kind, "blend": 0.5})
    assert (blended.blend, blended.weight, blended.talk) == (0.5, 0, 0)


@pytest.mark.parametrize("kind", BEST)
def test_settings_of_the_environment_and_of_a_file_say_the_same(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_RERANK__KIND", kind)
    monkeypatch.setenv("LETOPIS_RERANK__WEIGHT", "0")
    assert load().rerank == RerankSettings.model_validate({"kind": kind, "weight": 0})
    monkeypatch.delenv("LETOPIS_RERANK__KIND")
    monkeypatch.delenv("LETOPIS_RERANK__WEIGHT")
    file = tmp_path / "letopis.toml"
    file.write_text(f'[rerank]\nkind = "{kind}"\nblend = 0.25\n')
    monkeypatch.chdir(tmp_path)
    assert load().rerank == RerankSettings.model_validate({"kind": kind, "blend": 0.25})


def test_a_setting_says_what_each_kind_has() -> None:
    for kind, best in BEST.items():
        for name, value in best.items():
            shown = str(value).lower() if isinstance(value, bool) else f"{value:g}"
            assert f"`{kind}` {shown}" in (RerankSettings.model_fields[name].description or "")


@pytest.mark.parametrize("wrong", [7, ["built-in"], None])
def test_a_kind_that_is_no_name_is_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        RerankSettings.model_validate({"kind": wrong})


def test_a_folder_is_loaded_at_its_first_question(folder: Path) -> None:
    stage = build_reranker(RerankSettings(kind="onnx", folder=folder, threads=1), GIVEN)
    assert stage is not None
    assert not stage.loaded
    found = stage.rerank("dog", ["кот", "cat"])
    assert stage.loaded
    assert found.scores == pytest.approx(
        tuple(by_hand("dog", text) for text in ("кот", "cat")), abs=1e-5
    )


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("onnx", r"rerank\.folder"),
        ("fastembed", r"rerank\.model"),
        ("sentence-transformers", r"rerank\.model or rerank\.folder"),
        ("endpoint", r"rerank\.url"),
    ],
)
def test_a_missing_setting_is_named(kind: str, wanted: str) -> None:
    with pytest.raises(ConfigError, match=f"rerank.kind = {kind} needs {wanted}"):
        build_reranker(RerankSettings.model_validate({"kind": kind}), GIVEN)


def test_an_absent_folder_is_no_error_before_the_first_question(tmp_path: Path) -> None:
    stage = build_reranker(RerankSettings(kind="onnx", folder=tmp_path / "none"), GIVEN)
    assert stage is not None
    assert "has no model.onnx" in stage.rerank("q", ["a"]).note


@pytest.mark.parametrize(
    "wrong", [{"blend": 1.5}, {"budget_ms": 0}, {"candidates": 0}, {"style": "x"}, {"unknown": 1}]
)
def test_a_wrong_setting_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RerankSettings.model_validate(wrong)


def test_the_key_is_not_shown() -> None:
    assert "hidden" not in repr(RerankSettings(api_key="hidden"))
