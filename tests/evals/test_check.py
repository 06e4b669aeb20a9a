from pathlib import Path

import pytest

from evals import check
from evals.datasets import VARIABLE
from evals.metrics import NAMES
from evals.sessions.script import load as load_scripts
from evals.types import Record

FLOORS = {("one", "hybrid", "nDCG@10"): 50.0, ("one", "hybrid", "R@10"): 70.0}


def record(ndcg: float, recall: float) -> Record:
    return {
        "dataset": "one",
        "arm": "hybrid",
        "metrics": dict.fromkeys(NAMES, 0.0) | {"nDCG@10": ndcg, "R@10": recall},
        "by_category": {},
        "template": "",
        "settings": {},
        "queries": 1,
        "seconds": {},
    }


def test_a_floor_that_is_met_exactly_holds() -> None:
    assert check.below([record(0.5, 0.7)], FLOORS) == []


def test_what_is_below_its_floor_is_named() -> None:
    assert check.below([record(0.499, 0.9)], FLOORS) == [("one", "hybrid", "nDCG@10")]


def test_a_floor_without_a_record_does_not_hold() -> None:
    assert check.below([], FLOORS) == list(FLOORS)


def test_every_floor_is_of_a_part_and_an_arm_that_are_run() -> None:
    for dataset, arm, name in check.FLOORS:
        if dataset == "sessions":
            assert arm == "+retrieval"
            assert name in (check.ANSWERED, check.SAVED)
            continue
        assert dataset in check.PARTS
        assert arm in (*check.ARMS, check.LATE) or (dataset, arm) == check.RERANKED
        assert name in NAMES
    assert all(floor > 0 for floor in check.FLOORS.values())


def test_without_any_data_it_is_skipped_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    assert check.main([]) == 0
    assert capsys.readouterr().err.startswith("skipped: there is no data folder")


def test_a_folder_that_was_named_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main(["--data", str(tmp_path / "gone")]) == 1
    monkeypatch.setenv(VARIABLE, str(tmp_path / "gone"))
    assert check.main([]) == 1
    assert capsys.readouterr().err.count("error: there is no data folder") == 2


def test_a_set_that_is_absent_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["--data", str(tmp_path)]) == 1
    assert "snap-research" in capsys.readouterr().err


def test_the_sessions_that_are_checked_are_there_in_both_languages() -> None:
    names = {script.name for script in load_scripts()}
    assert {f"{lang}-{story}" for lang in ("ru", "en") for story in check.SCRIPTS} <= names
