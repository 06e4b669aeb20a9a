"""The eval of questions about the memory itself: what it counts as sent, and what it prints."""

import json
from pathlib import Path

import pytest

from evals.own_catalog import SETS, analyst, main, planned, table


def _data(folder: Path, *questions: str) -> Path:
    for name in SETS:
        (folder / "eval" / name).mkdir(parents=True)
        lines = [json.dumps({"_id": str(n), "text": q}) for n, q in enumerate(questions)]
        (folder / "eval" / name / "queries.jsonl").write_text("\n".join(lines))
        (folder / "eval" / name / "corpus.jsonl").write_text('{"_id": "d", "text": "x"}')
        scores = "".join(f"{n}\td\t1\n" for n in range(len(questions)))
        (folder / "eval" / name / "qrels.tsv").write_text(f"query\tdocument\tscore\n{scores}")
    (folder / "router").mkdir()
    row = {"text": "how many facts?", "lang": "en", "label": "analytical", "source": "s"}
    (folder / "router" / "questions.jsonl").write_text(json.dumps(row | {"pair": "1"}))
    return folder / "eval"


def test_what_is_sent_is_counted_and_named() -> None:
    asked = ["how many sessions did I have?", "how many children does Mel have?", "who fell?"]
    found = list(planned("set", asked, analyst()))
    assert [one.understood for one in found] == ["count of letopis_sessions", "", ""]
    (row,) = zip(*(column.cells for column in table(found).columns), strict=True)
    assert row[:3] == ("set", "3", "1")


def test_the_tools_words_are_known_to_it() -> None:
    (found,) = planned("set", ["how many times did the search tool fail?"], analyst())
    assert found.understood == "count of letopis_tool_calls"


def test_it_prints_what_was_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = _data(tmp_path, "how many sessions did I have?", "where is the lake?")
    assert main(["--data", str(data), "--json"]) == 0
    sent = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in sent] == [*SETS, "router/s"]
    assert main(["--data", str(data)]) == 0
    assert "locomo: how many sessions did I have? -> count" in capsys.readouterr().out
    assert main(["--data", str(tmp_path / "none")]) == 2
