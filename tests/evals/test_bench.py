import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from evals import bench
from evals.bench_ingest import ingest_overhead
from evals.bench_retrieve import Floor, retrieve_overhead
from evals.bench_sync import resync_share
from evals.datasets import load
from evals.filler import Filler
from evals.product import fill, opened
from evals.synthetic import Speaker, write_world
from evals.timing import Ratio


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


def test_retrieve_is_measured_at_a_size(settings: Settings, embedder: Any) -> None:
    p50, p95 = retrieve_overhead(settings, embedder, size=40, questions=4)
    assert (p50.what, p95.what) == ("retrieve p50, 40 memories", "retrieve p95, 40 memories")
    assert p95.product >= p50.product > 0
    assert p95.floor >= p50.floor > 0
    assert embedder.embedded == 0, "stored vectors are random"


def test_random_vectors_lie_as_close_to_questions_as_a_models(embedder: Any) -> None:
    rows = Filler(embedder).passages(["x"] * 50)
    cosines = rows @ embedder.query("?")[0]
    assert 0.7 < cosines.min() <= cosines.max() < 0.9
    assert (rows[0] != rows[1]).any()


def test_a_ratio_is_product_over_floor() -> None:
    assert Ratio("x", product=3.0, floor=2.0).ratio == 1.5


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

    Console(width=80).print(bench.table([Ratio("x", 3.0, 2.0)]))
    assert "1.5" in capsys.readouterr().out
