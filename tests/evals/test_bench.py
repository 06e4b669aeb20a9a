import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from evals import bench
from evals.bench_context import context_overhead
from evals.bench_ingest import ingest_overhead
from evals.bench_local import against_local_mode
from evals.bench_retrieve import Floor, retrieve_overhead
from evals.bench_sync import resync_share
from evals.bench_threads import foreign, many_callers
from evals.datasets import load
from evals.filler import Filler
from evals.product import fill, opened
from evals.synthetic import Speaker, write_world
from evals.timing import Ratio
from indexing.types import user_scope


def test_the_floor_asks_the_engine_for_what_the_product_asks(
    settings: Settings, embedder: Any, library: Path, chats: Path, tmp_path: Path
) -> None:
    with opened(settings, embedder, tmp_path / "data") as parts:
        for name in ("library", "chats"):
            fill(parts, load(name, library))
    shutil.copytree(tmp_path / "data" / "store", tmp_path / "copy")
    with opened(settings, embedder, tmp_path / "data") as parts:
        floor = Floor(parts, tmp_path / "copy")
        for query in ("locker code", "архив заказов", "полдень"):
            trace = parts.retriever.retrieve(query, "a").trace
            asked = sum(sum(scope.candidates.values()) for scope in trace.scopes)
            calls = floor.calls(query, "a")
            assert {str(call.where.scope) for call in calls} == {"global", "user:a"}
            assert floor.ask(query, calls) == asked > 0
        floor.close()


def test_ingest_is_set_against_the_texts_it_embedded(settings: Settings, embedder: Any) -> None:
    (row,) = ingest_overhead(settings, embedder, documents=1, turns=2, tries=1)
    assert row.floor > 0
    assert row.product > row.floor, "the hash embedder costs less than the rest of the write path"
    texts = int(row.what.split(", ")[2].split()[0])
    assert 2 * texts < embedder.embedded <= 2 * texts + 20, "the floor, the product, a warm-up"


def test_a_resync_is_set_against_the_first_sync(settings: Settings, embedder: Any) -> None:
    rows = resync_share(settings, embedder, documents=4, turns=6)
    assert [row.what.split(", ")[-1] for row in rows] == ["by stamps / first", "by bytes / first"]
    assert all(row.product > 0 for row in rows)
    assert rows[0].floor == rows[1].floor > 0
    assert embedder.embedded > 0, "a sample is embedded for its rate"


def test_retrieve_is_measured_at_sizes(settings: Settings, embedder: Any) -> None:
    rows = retrieve_overhead(settings, embedder, sizes=(20, 40), questions=4)
    assert [row.what for row in rows] == [
        "retrieve p50, 20 memories",
        "retrieve p95, 20 memories",
        "retrieve p50, 40 memories",
        "retrieve p95, 40 memories",
        "retrieve p50, 40 memories / 20",
    ]
    p50, p95, *_, growth = rows
    assert p95.product >= p50.product > 0
    assert p95.floor >= p50.floor > 0
    assert (growth.product, growth.floor) == (rows[2].product, p50.product)
    assert (p50.most, p95.most, growth.most) == (1.2, None, 2.0)
    assert embedder.embedded == 0, "stored vectors are random"


def test_a_context_is_set_against_the_search_inside_it(settings: Settings, embedder: Any) -> None:
    p50, p95 = context_overhead(settings, embedder, size=20, turns=60, questions=4)
    assert "60 turns" in p50.what
    assert p50.product > p50.floor > 0, "the search is part of it"
    assert (p50.most, p95.most) == (1.3, None)
    assert p95.product >= p50.product


def test_many_callers_get_only_what_is_theirs(settings: Settings, embedder: Any) -> None:
    load = many_callers(settings, embedder, seconds=1.2, size=40, callers=3, rounds=1)
    assert load.clean, load.shown()
    assert load.written > 0
    assert load.answers.product > 0 < load.answers.floor
    assert load.answers.least == 1.5
    assert "0 errors, 0 wrong-tenant hits" in load.shown()


def test_a_hit_of_another_user_is_counted(
    settings: Settings, embedder: Any, chats: Path, tmp_path: Path
) -> None:
    with opened(settings, embedder, tmp_path / "data") as parts:
        fill(parts, load("chats", chats))
        result = parts.retriever.retrieve("What is the locker code?", "a")
    own = [hit for hit in result.hits if hit.memory.scope == user_scope("a")]
    assert own
    assert foreign(result, "a") == 0
    assert foreign(result, "b") == len(own)


def test_an_error_of_a_caller_is_counted_by_name(settings: Settings, embedder: Any) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(embedder, name)

        def query(self, text: str) -> Any:
            if text == "?" or len(text) < 5:  # what the filler and the shape ask
                return embedder.query(text)
            raise ValueError(text)

    load = many_callers(settings, Broken(), seconds=0.2, size=20, callers=2, rounds=1)  # type: ignore[arg-type]
    assert not load.clean
    assert list(load.errors) == ["ValueError"]
    assert "x ValueError" in load.shown()


def test_local_mode_finds_what_the_embedded_store_finds(settings: Settings, embedder: Any) -> None:
    row = against_local_mode(settings, embedder, size=30, questions=2)
    assert "30 memories" in row.what
    assert row.least == 100
    assert row.product > 0 < row.floor


def test_random_vectors_lie_as_close_to_questions_as_a_models(embedder: Any) -> None:
    rows = Filler(embedder).passages(["x"] * 50)
    cosines = rows @ embedder.query("?")[0]
    assert 0.7 < cosines.min() <= cosines.max() < 0.9
    assert (rows[0] != rows[1]).any()


def test_a_ratio_is_product_over_floor() -> None:
    assert Ratio("x", product=3.0, floor=2.0).ratio == 1.5


@pytest.mark.parametrize(
    ("row", "bar", "kept"),
    [
        (Ratio("x", 3.0, 2.0), "", True),
        (Ratio("x", 3.0, 2.0, most=1.5), "<= 1.5", True),
        (Ratio("x", 3.0, 2.0, most=1.4), "<= 1.4", False),
        (Ratio("x", 3.0, 2.0, least=1.5), ">= 1.5", True),
        (Ratio("x", 3.0, 2.0, least=1.6), ">= 1.6", False),
    ],
)
def test_a_ratio_keeps_its_bar_or_misses_it(row: Ratio, bar: str, kept: bool) -> None:
    assert (row.bar, row.kept) == (bar, kept)


def test_only_known_parts_are_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        bench.main(["retrieval"])
    assert stopped.value.code == 2
    assert "there is no retrieval" in capsys.readouterr().err


def test_made_up_text_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_world(tmp_path / name, documents=3, turns=4)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    lines = (tmp_path / "one" / "chat.jsonl").read_text(encoding="utf-8").split("\n")
    assert [json.loads(line)["user_id"] for line in lines] == ["u1"] * 4
    assert Speaker("ru", 1).sentence() != Speaker("ru", 2).sentence()


def test_the_table_shows_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    Console(width=80).print(bench.table([Ratio("x", 3.0, 2.0, most=1.2), Ratio("y", 2.0, 2.0)]))
    shown = capsys.readouterr().out
    assert "1.5" in shown
    assert "<= 1.2 MISSED" in shown
    assert "kept" not in shown
