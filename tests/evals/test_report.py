import io
from datetime import date
from pathlib import Path

import pytest
from rich.console import Console

from evals import report
from evals.errors import EvalError
from evals.metrics import NAMES
from evals.published import CATEGORIES
from evals.types import Record

DAY = date(2026, 3, 1)


def record(dataset: str, arm: str, value: float, categories: tuple[str, ...] = ()) -> Record:
    return {
        "dataset": dataset,
        "arm": arm,
        "metrics": dict.fromkeys(NAMES, value),
        "by_category": {name: dict.fromkeys(NAMES, value / 2) for name in categories},
        "template": "template-x",
        "settings": {"embedder": "hash", "note": r"a\1b"},
        "queries": 12,
        "seconds": {"write": 3.0, "read": 1.5},
    }


def printed(records: list[Record]) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(report.table(records))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_the_table_has_ours_and_what_others_published() -> None:
    text = printed([record("xquad-ru", "hybrid", 0.91234), record("mine", "bm25", 0.5)])
    assert "91.23" in text
    assert "xquad-ru, 12 queries" in text
    assert "BM25 (lemmas)" in text
    assert "96.19" in text
    assert "by category" not in text


def test_the_table_breaks_locomo_down() -> None:
    text = printed([record("locomo", "hybrid", 0.5, CATEGORIES)])
    assert "temporal_reasoning" in text
    assert "25.00" in text
    assert "56.4" in text, "BM25, published"


def test_a_section_says_how_it_came_about(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "results.md"
    records = [record("locomo", arm, 0.5, CATEGORIES) for arm in ("bm25", "hybrid")]
    report.write(records, path, DAY)
    text = path.read_text(encoding="utf-8")
    assert "2026-03-01, `letopis eval run locomo --arm bm25 --arm hybrid`, 12 queries" in text
    assert "| **hybrid** | 50.00 | 50.00 | 50.00 | 50.00 | 50.00 |" in text
    assert "| *BM25* | 48.1 | 54.2 | 61.6 |  |  |" in text
    assert "| *BM25* | 54.2 | 26.7 | 56.4 | 24.5 | 49.0 |" in text
    assert "bm25, hybrid: template `template-x`; settings `" in text
    assert "MTEB results repository, LMEB" in text


def test_a_run_replaces_its_own_section_only(tmp_path: Path) -> None:
    path = tmp_path / "results.md"
    path.write_text("# Ours\n\nBefore.\n", encoding="utf-8")
    report.write([record("one", "hybrid", 0.1), record("two", "hybrid", 0.2)], path, DAY)
    path.write_text(path.read_text(encoding="utf-8") + "\nAfter.\n", encoding="utf-8")
    report.write([record("one", "hybrid", 0.9)], path, DAY)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Ours\n\nBefore.\n")
    assert text.endswith("\nAfter.\n")
    assert "**hybrid** | 90.00" in text
    assert "**hybrid** | 20.00" in text
    assert "**hybrid** | 10.00" not in text
    assert text.count("## one") == text.count("## two") == 1


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results.md"
    report.write([record("one", "hybrid", 0.1)], path, DAY)
    before = path.read_text(encoding="utf-8")
    report.write([record("one", "hybrid", 0.1)], path, DAY)
    assert path.read_text(encoding="utf-8") == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_section_without_its_end_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.md"
    path.write_text("<!-- eval:one:begin -->\nsomeone's words\n", encoding="utf-8")
    with pytest.raises(EvalError, match="eval:one:end"):
        report.write([record("one", "hybrid", 0.1)], path, DAY)
    assert path.read_text(encoding="utf-8") == "<!-- eval:one:begin -->\nsomeone's words\n"
