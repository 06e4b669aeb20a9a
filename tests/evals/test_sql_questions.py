"""The hand-written questions: that there are enough, that their gold is sound, and the bars."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from evals.sql.__main__ import counts, main, record
from evals.sql.schemas import SOURCES
from evals.sql.score import PARTS, Asked, ask, canonical, load, same
from evals.sql.world import build_duckdb, build_sqlite, gold
from retrieval.sql.schema import Source

QUESTIONS = [one for part in PARTS for one in load(part)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sql")


@pytest.fixture(scope="module")
def sources(folder: Path) -> dict[str, Source]:
    return build_sqlite(folder, SOURCES)


@pytest.fixture(scope="module")
def files(folder: Path, sources: Mapping[str, Source]) -> dict[str, Path]:
    return {name: folder / f"{name}.db" for name in sources}


@pytest.fixture(scope="module")
def asked(sources: Mapping[str, Source], files: Mapping[str, Path]) -> list[Asked]:
    return ask(QUESTIONS, sources, files)


def test_there_are_enough_of_each_kind() -> None:
    assert len(QUESTIONS) >= 160
    assert len({one.text for one in QUESTIONS}) == len(QUESTIONS)
    assert 2 * sum(one.language == "ru" for one in QUESTIONS) >= len(QUESTIONS)
    assert sum(one.sql is None for one in QUESTIONS) >= 30
    assert all((one.type == "refuse") == (one.sql is None) for one in QUESTIONS)


def test_every_gold_has_a_result_that_is_not_nothing(files: Mapping[str, Path]) -> None:
    for one in QUESTIONS:
        if one.sql is None:
            continue
        views = gold(files[one.schema], one.schema)
        rows = views.execute(one.sql).fetchall()
        views.close()
        assert rows, one.text
        assert any(cell not in (None, 0) for row in rows for cell in row), one.text


def test_another_users_rows_would_change_the_numbers(files: Mapping[str, Path]) -> None:
    for name, mine, everybody in (
        ("shop", "my_orders", "orders"),
        ("shop", "my_items", "items"),
        ("ops", "my_calls", "calls"),
        ("ops", "my_alerts", "alerts"),
    ):
        views = gold(files[name], name)
        (some,) = views.execute(f"SELECT count(*) FROM {mine}").fetchone()
        (more,) = views.execute(f"SELECT count(*) FROM {everybody}").fetchone()
        views.close()
        assert 0 < 2 * some < more


@pytest.mark.parametrize("part", PARTS)
def test_the_bars_are_met(asked: list[Asked], part: str) -> None:
    found = counts(one for one in asked if one.question.part == part)
    failures = [f"{o.verdict}: {o.question.text}: {o.why}" for o in asked if not o.right]
    assert found["right"] >= 0.9 * found["questions"], failures
    assert found["wrong"] <= 0.02 * found["questions"], failures


def test_duckdb_answers_the_same(
    folder: Path, files: Mapping[str, Path], asked: list[Asked]
) -> None:
    again = ask(QUESTIONS, build_duckdb(folder, SOURCES), files)
    assert [one.verdict for one in again] == [one.verdict for one in asked]


def test_results_are_compared_by_their_numbers_and_order() -> None:
    assert canonical([(1,), (2,)], "SELECT") == [(1, 2)]
    assert canonical([("b", 1), ("a", 2)], "SELECT") == [("a", 2), ("b", 1)]
    assert canonical([("b", 1), ("a", 2)], "SELECT ORDER BY 2") == [("b", 1), ("a", 2)]
    assert same([("a", 0.1 + 0.2)], [("a", 0.3)])
    assert not same([("a", 1)], [("a", 1.001)])
    assert not same([("a", 1)], [("a", 1), ("b", 1)])
    assert not same([(None,)], [(0,)])


def test_an_answer_to_what_has_none_is_wrong(
    sources: Mapping[str, Source], files: Mapping[str, Path]
) -> None:
    answered = next(one for one in QUESTIONS if one.type == "count")
    (one,) = ask(
        [type(answered)("dev", "shop", "ru", "refuse", "сколько у меня заказов", None)],
        sources,
        files,
    )
    assert one.verdict == "wrong"
    assert one.why == "answered: count of orders, user u1"


def test_the_failures_are_in_the_record(asked: list[Asked]) -> None:
    found = record(asked)
    assert json.loads(json.dumps(found)) == found
    failures = found["failures"]
    assert isinstance(failures, list)
    assert len(failures) == sum(not one.right for one in asked)


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--part", "held_out", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    total = printed["groups"][-1]
    assert (total["part"], total["questions"]) == ("all", 52)
