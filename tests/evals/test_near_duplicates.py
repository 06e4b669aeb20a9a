"""The table of near duplicates: its arithmetic, and files that are no pairs."""

from pathlib import Path

import pytest

from evals.errors import EvalError
from evals.near_duplicates import Judged, Pair, main, mistakes, read_pairs, tables
from indexing.dedup import Verdict

YES, NO = Verdict(True, 0.99, "same"), Verdict(False, 0.9, "numbers differ")


def _judged(merge: bool, change: str, verdict: Verdict, candidate: bool = False) -> Judged:
    return Judged(Pair("tuned", merge, change, "en", "a", "b"), 0.95, verdict, candidate)


def test_precision_and_recall_are_spelled_out() -> None:
    judged = [
        _judged(True, "order", YES, candidate=True),
        _judged(True, "order", NO),
        _judged(True, "synonym", YES),
        _judged(False, "number", NO),
        _judged(False, "number", YES),
    ]
    summary, kinds = tables(judged)
    # 2 of 3 merges are right, 2 of 3 paraphrases were merged, 1 of 3 shares a band
    assert "| tuned | 2 | 1 | 3 | 2 | 0.667 | 0.667 | 0.333 |" in summary
    assert "| keep | number | 1 of 2 |" in kinds
    assert "| merge | order | 1 of 2 |" in kinds
    assert list(mistakes(judged)) == [
        "kept (tuned): a | b: numbers differ",
        "merged (tuned): a | b: same",
    ]


def test_nothing_to_divide_is_a_dash() -> None:
    summary, _ = tables([_judged(False, "number", NO)])
    assert "| tuned | 1 | 0 | 0 | 0 | - | - | - |" in summary


def test_a_line_that_is_no_pair_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(EvalError, match=r"pairs\.jsonl, line 1: not a pair"):
        read_pairs(file)
    with pytest.raises(EvalError, match="cannot be read"):
        read_pairs(tmp_path / "missing.jsonl")


def test_the_command_answers_a_bad_file_without_a_traceback(tmp_path: Path) -> None:
    assert main(["--pairs", str(tmp_path / "missing.jsonl")]) == 2
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert main(["--pairs", str(empty)]) == 2
