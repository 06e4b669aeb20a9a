"""From settings to objects: what contradicts is refused, what a store was built with is kept."""

from pathlib import Path
from typing import Any

import pytest

from configs.embedders import EMBEDDERS, build_embedder
from configs.feeds import build_access
from configs.recipe import CHUNKERS
from configs.rerank_settings import RerankSettings
from configs.settings import Settings
from configs.stores import build_catalog, build_store
from configs.text_settings import ChunkingSettings, EmbedderSettings, TemplateSettings
from indexing.errors import ConfigError, ModelError, SchemaMismatch, StoreError
from indexing.store import VectorStore
from indexing.types import GLOBAL, Filter
from tests.conftest import PartsMaker, TinyEmbedder
from tests.readers import ReadingEmbedder


class OtherEmbedder(TinyEmbedder):
    """Another model, as far as a store can tell."""

    name = "other"


CHANGES: dict[str, dict[str, Any]] = {
    "embedder was 'tiny' and is 'other'": {"embedder": OtherEmbedder()},
    "chunking.documents was 'fixed' and is 'semantic'": {
        "chunking": ChunkingSettings(documents="semantic")
    },
    "chunking.size was '256' and is '128'": {"chunking": ChunkingSettings(size=128)},
    "template.dense_before was '0.5' and is '0.25'": {
        "template": TemplateSettings(dense_before=0.25)
    },
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_is_stored_is_named_with_the_way_out(
    make_parts: PartsMaker, change: str
) -> None:
    make_parts()
    with pytest.raises(SchemaMismatch) as refused:
        make_parts(**CHANGES[change])
    assert f"built otherwise: {change}. " in str(refused.value)
    assert "letopis reindex" in str(refused.value)


def test_what_does_not_change_what_is_stored_may_change(make_parts: PartsMaker) -> None:
    make_parts()
    assert make_parts(busy_timeout=7.0).settings.busy_timeout == 7


@pytest.mark.parametrize(
    ("chunking", "reason"),
    [
        ({"size": 64, "overlap": 64}, "chunking.overlap 64 is not below size 64"),
        (
            {"size": 400},
            "chunking.size 400 or before 64 with its header needs 480 tokens; tiny reads 400",
        ),
    ],
)
def test_contradicting_sizes_are_refused(
    make_parts: PartsMaker, chunking: dict[str, int], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        make_parts(chunking=ChunkingSettings.model_validate(chunking))


def test_a_refused_reader_lets_go_of_the_store(
    make_parts: PartsMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[VectorStore] = []

    def watched(*args: Any) -> VectorStore:
        opened.append(build_store(*args))
        return opened[-1]

    monkeypatch.setattr("configs.build.build_store", watched)
    with pytest.raises(ConfigError, match=r"rerank\.url"):
        make_parts(rerank=RerankSettings(kind="endpoint"))
    with pytest.raises(StoreError, match="is closed"):
        opened[0].count("global", Filter(GLOBAL))


@pytest.mark.parametrize("documents", CHUNKERS)
def test_every_chunker_of_the_settings_is_built(make_parts: PartsMaker, documents: Any) -> None:
    parts = make_parts(chunking=ChunkingSettings(documents=documents))
    assert parts.index.recipe.fact_tokens == 256


def test_every_way_to_cut_documents_is_offered_to_their_sources(make_parts: PartsMaker) -> None:
    ways = ChunkingSettings.model_fields["documents"].annotation
    cutters = make_parts(embedder=ReadingEmbedder()).index.recipe.chunkers
    assert set(cutters) == set(ways.__args__)  # type: ignore[union-attr]
    assert [name for name, cutter in cutters.items() if cutter.late] == [
        "fixed+late",
        "semantic+late",
    ]


def test_every_kind_of_the_settings_has_a_maker() -> None:
    kinds = EmbedderSettings.model_fields["kind"].annotation
    assert set(EMBEDDERS) == set(kinds.__args__)  # type: ignore[union-attr]


@pytest.mark.parametrize("place", ["redis://x", "edge:", "http://", "http://host:port"])
def test_a_store_that_is_no_place_is_refused(place: str) -> None:
    with pytest.raises(ConfigError):
        build_store(Settings.model_construct(store=place))


def test_a_database_without_its_driver_is_named() -> None:
    with pytest.raises(StoreError, match="No module named 'oracledb'"):
        build_catalog(Settings.model_construct(catalog="oracle://host/db"))


def test_an_onnx_folder_without_a_model_is_named() -> None:
    settings = Settings.model_construct(embedder=EmbedderSettings(kind="onnx", model="nowhere"))
    with pytest.raises(ModelError, match=r"nowhere has no model\.onnx"):
        build_embedder(settings)


def test_no_generation_of_the_store_is_ever_a_source(tmp_path: Path) -> None:
    (tmp_path / "memory@1a2b3c4d").mkdir()
    settings = Settings.model_construct(
        data_dir=tmp_path / "data", store=f"edge:{tmp_path / 'memory'}"
    )
    access = build_access(settings)
    access.parser.close()
    assert {tmp_path / "data", tmp_path / "memory", tmp_path / "memory@1a2b3c4d"} <= set(access.own)
