import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from configs.embedders import build_embedder
from configs.rerank_settings import RerankSettings
from configs.settings import Settings, load
from evals import arms, datasets, run
from evals.errors import DataMissing, UnknownArm
from evals.metrics import NAMES
from evals.types import Record

WriteSet = Callable[..., Path]


def test_a_record_says_what_was_run_and_how_it_went(
    library: Path, settings: Settings, embedder: Any
) -> None:
    dataset = datasets.load("library", library)
    chosen = [arm for arm in arms.ARMS if "+" not in arm]
    records = list(run.measure([dataset], chosen, settings, embedder))
    assert [(r["dataset"], r["arm"]) for r in records] == [("library", arm) for arm in chosen]
    hybrid = records[-1]
    assert set(hybrid) == Record.__required_keys__
    assert hybrid["metrics"] == dict.fromkeys(NAMES, 1.0), "three queries, each first"
    assert hybrid["queries"] == 3
    assert hybrid["by_category"] == {}
    assert hybrid["template"].startswith("template-")
    assert hybrid["settings"]["embedder"] == "hash"
    assert hybrid["settings"]["retrieval"]["user"]["sparse"] == settings.retrieval.user.sparse
    assert hybrid["seconds"]["write"] > 0
    assert json.loads(json.dumps(records)) == records
    assert str(settings.cache_dir) not in json.dumps(records)


def test_categories_come_from_the_queries(chats: Path, settings: Settings, embedder: Any) -> None:
    dataset = datasets.load("chats", chats)
    (record,) = run.measure([dataset], ["sparse"], settings, embedder)
    assert set(record["by_category"]) == {"single_hop", "open_domain"}
    assert record["by_category"]["single_hop"]["RR@10"] == 1


def test_both_query_languages_share_one_index(
    write_set: WriteSet, settings: Settings, embedder: Any
) -> None:
    judged = {"1": {"d1": 1}, "2": {"d2": 1}}
    documents = {"d1": "The ferry leaves at noon.", "d2": "Паром отходит в полдень."}
    data = write_set("xquad-en", documents, {"1": "ferry", "2": "паром"}, judged).parent
    write_set("xquad-ru", {"r": "текст"}, {"1": "ferry leaves"}, {"1": {"r": 1}})
    sets = [datasets.load(name, data) for name in ("xquad-en", "xquad-ru-en")]
    records = list(run.measure(sets, ["sparse", "hybrid"], settings, embedder))
    assert embedder.embedded == 2, "each document once"
    assert [(r["dataset"], r["queries"]) for r in records] == [
        ("xquad-en", 2),
        ("xquad-en", 2),
        ("xquad-ru-en", 1),
        ("xquad-ru-en", 1),
    ]
    assert all(record["metrics"]["nDCG@10"] == 1 for record in records)


def test_runs_in_the_order_given_and_reports_progress(
    library: Path, write_set: WriteSet, settings: Settings
) -> None:
    write_set("another", {"d": "one", "e": "two", "f": "three"}, {"q": "one"}, {"q": {"d": 1}})
    told: list[tuple[str, int, int]] = []
    records = run.run(
        ["library", "another", "library"],
        ["bm25"],
        library,
        settings,
        lambda what, done, known: told.append((what, done, known)),
    )
    assert [record["dataset"] for record in records] == ["library", "another"]
    assert told[-1] == ("library: bm25", 3, 3)
    assert ("another: bm25", 1, 1) in told


def test_no_names_run_all_that_is_there(library: Path, settings: Settings) -> None:
    assert [r["dataset"] for r in run.run([], ["bm25"], library, settings)] == ["library"]


def test_every_name_is_checked_before_any_work(library: Path, settings: Settings) -> None:
    told: list[str] = []
    with pytest.raises(DataMissing):
        run.run(
            ["library", "gone"], ["bm25"], library, settings, lambda what, *_: told.append(what)
        )
    with pytest.raises(UnknownArm):
        run.run(["library"], ["bm25", "magic"], library, settings)
    assert told == []


def test_the_real_model_answers_across_languages(write_set: WriteSet) -> None:
    settings = load()
    documents = {
        "boat": "The ferry leaves from pier nine at noon.",
        "tea": "Green tea is brewed at eighty degrees.",
        "rose": "Roses were planted along the garden wall.",
        "bill": "The invoice was paid in March.",
    }
    questions = {
        "1": "При какой температуре заваривают зелёный чай?",
        "2": "Откуда отходит паром?",
        "3": "Когда оплатили счёт?",
    }
    judged = {"1": {"tea": 1}, "2": {"boat": 1}, "3": {"bill": 1}}
    folder = write_set("ru-en", documents, questions, judged)
    dataset = datasets.load("ru-en", folder.parent)
    embedder = build_embedder(settings)
    dense, hybrid = run.measure([dataset], ["dense", "hybrid"], settings, embedder)
    assert dense["metrics"]["RR@10"] == hybrid["metrics"]["RR@10"] == 1


@pytest.mark.parametrize(("arm", "kind"), arms.RERANKERS.items())
def test_a_reranked_arm_says_how_and_asks_no_model_of_the_others(
    arm: str, kind: str, library: Path, settings: Settings
) -> None:
    dataset = datasets.load("library", library)
    real = build_embedder(load())
    cached = load().model_copy(update={"data_dir": settings.data_dir})
    plain, reranked = run.measure([dataset], ["hybrid", arm], cached, real)
    assert "rerank" not in plain["settings"]
    own = RerankSettings.model_validate({"kind": kind})
    told = reranked["settings"]["rerank"]
    assert (told["kind"], told["candidates"]) == (kind, own.candidates)
    assert reranked["metrics"]["RR@10"] == 1
    assert reranked["queries"] == plain["queries"]
