"""Lists that are asked once give what the product gives; the grid is of valid settings."""

from dataclasses import replace
from pathlib import Path

import pytest

from configs.build import build_fusion, scope_policies
from configs.settings import Settings
from evals import datasets, product, run
from evals.ablations import changed
from evals.apart import apart
from evals.lists import collect, judged, part
from evals.metrics import mean
from evals.tune import AROUND, METHODS, VIEWS, cells, opening, said, score, tuned
from tests.evals.conftest import HashEmbedder


@pytest.mark.parametrize("change", [AROUND["RRF, k=10, chat 0.4 to 1.6"], {}])
@pytest.mark.parametrize("name", ["library", "chats"])
def test_lists_asked_once_are_judged_as_the_product_is(
    name: str,
    change: dict,
    settings: Settings,
    embedder: HashEmbedder,
    request: pytest.FixtureRequest,  # type: ignore[type-arg]
) -> None:
    data: Path = request.getfixturevalue(name)
    chosen = changed(settings, change)
    dataset = datasets.load(name, data)
    with product.temporary(chosen, embedder) as parts:
        product.fill(parts, dataset)
        record = run.record(dataset, "hybrid", parts)
        lists = collect(parts, dataset)
    found = judged(lists, scope_policies(chosen), build_fusion(chosen))
    assert mean(found.values()) == pytest.approx(record["metrics"])


def test_limits_thresholds_and_weights_cut_what_was_asked(
    settings: Settings, embedder: HashEmbedder, library: Path
) -> None:
    dataset = datasets.load("library", library)
    with product.temporary(settings, embedder) as parts:
        product.fill(parts, dataset)
        lists = collect(parts, dataset)
    policies, fusion = scope_policies(settings), build_fusion(settings)
    everywhere = mean(judged(lists, policies, fusion).values())["R@50"]
    strict = {name: replace(p, thresholds={"dense": 2.0}) for name, p in policies.items()}
    alone = {
        name: replace(p, weights={"dense": 0.0, "sparse": 1.0}) for name, p in policies.items()
    }
    assert judged(lists, strict, fusion) == judged(lists, alone, fusion)
    nothing = {
        name: replace(p, weights={"dense": 0.0, "sparse": 0.0}) for name, p in policies.items()
    }
    assert mean(judged(lists, nothing, fusion).values())["R@50"] == 0 < everywhere


def test_halves_are_conversations(settings: Settings, embedder: HashEmbedder, chats: Path) -> None:
    dataset = datasets.load("chats", chats)
    with product.temporary(settings, embedder) as parts:
        product.fill(parts, dataset)
        lists = collect(parts, dataset)
    assert opening(lists) == {"a"}
    found = score(settings, lists, [lists])
    first = part(lists, {"qa", "qc"})
    assert first.dataset.queries.keys() == first.answers.keys() == {"qa", "qc"}
    values = judged(first, scope_policies(settings), build_fusion(settings))
    assert found.halves[0] == mean(values.values())
    assert len(cells(found)) == 5
    table = tuned(settings, lists, [lists]).split("\n")
    assert len(table) == 2 + len(METHODS)
    assert {line.count("|") for line in table} == {table[0].count("|")}


def test_a_session_apart_is_a_user_of_its_own(chats: Path) -> None:
    chat = datasets.load("chats", chats)
    small = apart(chat)
    assert len({entry.conv for entry in small.documents.values()}) == 3
    assert small.documents["a1"].conv == small.documents["a2"].conv != small.documents["a3"].conv
    assert {key: query.conv for key, query in small.queries.items()} == {
        "qa": small.documents["a1"].conv,
        "qb": small.documents["b1"].conv,
        "qc": small.documents["a3"].conv,
    }
    wide = replace(chat, qrels={"qa": {"a1": 1, "a3": 1}})
    assert apart(wide).queries == {}


def test_every_point_is_a_valid_setting(tmp_path: Path) -> None:
    plain = Settings(data_dir=tmp_path)
    for changes in (*METHODS.values(), list(AROUND.values()), list(VIEWS.values())):
        made = [changed(plain, change) for change in changes]
        assert len({settings.model_dump_json() for settings in made}) == len(made)
    assert [changed(plain, change) for change in AROUND.values()].count(plain) == 1
    for changes in METHODS.values():
        assert len(set(map(said, changes))) == len(changes)
