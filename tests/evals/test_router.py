"""The router's eval: its arithmetic, its halves, and files that hold no questions."""

import json
from pathlib import Path

import pytest

from evals import fit_router, router
from evals.errors import DataMalformed, DataMissing
from evals.router import Routed, Score, ask, below, scores, spreads, tables
from evals.routing import FILE, MISLABELLED, Question, read
from evals.timing import quantile
from retrieval.route import Label
from retrieval.routing.linear import LinearClassifier, load
from tests.conftest import TinyEmbedder

SEEN, HELD = "c", "a"
"""Two pair ids, one of each half."""


def _routed(label: str, given: Label, pair: str = SEEN, source: str = "pauq_dev") -> Routed:
    return Routed(Question("?", "en", label, source, pair), given, 100.0)


def _data(tmp_path: Path, *lines: str) -> Path:
    (tmp_path / "eval").mkdir()
    (tmp_path / "router").mkdir()
    (tmp_path / FILE).write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "eval"


def _line(text: str, label: str, pair: str, lang: str = "en", source: str = "pauq_dev") -> str:
    return json.dumps({"text": text, "label": label, "pair": pair, "lang": lang, "source": source})


ROWS = (
    _line("How many cats are there?", "analytical", SEEN),
    _line("Сколько всего кошек?", "analytical", SEEN, "ru"),
    _line("Which cats are black?", "structured_lookup", HELD),
    _line("How many legs has the cat Tom?", "structured_lookup", "a2"),
    _line("Why do cats purr?", "factual_text", HELD, source="text"),
)


def test_both_languages_of_a_pair_are_in_one_half() -> None:
    halves = [Question("", lang, "", "", pair).half for pair in (SEEN, HELD) for lang in "er"]
    assert halves == ["seen", "seen", "held", "held"]


def test_macro_f1_is_spelled_out() -> None:
    # analytical: 2 * 6 / (2 * 6 + 3); lookup: 2 * 4 / (2 * 4 + 3)
    assert Score("", "", "", 6, 2, 1, 4).macro_f1 == pytest.approx((12 / 15 + 8 / 11) / 2)
    assert Score("", "", "", 0, 2, 1, 4).macro_f1 == pytest.approx((0 + 8 / 11) / 2)


def test_scores_count_halves_then_both_and_leave_texts_out() -> None:
    found = scores(
        [
            _routed("analytical", "analytical"),
            _routed("structured_lookup", "lookup"),
            _routed("analytical", "lookup", HELD),
            _routed("kb_lookup", "analytical", HELD),
            _routed("no_answer", "factual", HELD),
            _routed("factual_text", "analytical"),
            _routed("boolean", "factual"),
        ]
    )
    assert found == [
        Score("pauq_dev", "en", "seen", 1, 0, 0, 1),
        Score("pauq_dev", "en", "held", 0, 1, 1, 1),
        Score("pauq_dev", "en", "all", 1, 1, 1, 2),
    ]


def test_a_source_of_one_label_has_no_score() -> None:
    assert scores([_routed("kb_lookup", "lookup")]) == []


def test_wrong_labels_are_reported_as_given_and_corrected() -> None:
    pair = min(MISLABELLED)
    source = "qald_9_plus_test_dbpedia"
    found = scores(
        [
            _routed("analytical", "lookup", pair, source),
            _routed("analytical", "analytical", SEEN, source),
            _routed("kb_lookup", "lookup", SEEN, source),
        ]
    )
    by_half = {one.half: one for one in found}
    assert by_half["all"] == Score(source, "en", "all", 1, 1, 0, 1)
    assert by_half["corrected"] == Score(source, "en", "corrected", 1, 0, 0, 2)
    # as given: analytical 2 / 3, lookup 2 / 3, under the bar
    assert below(found) == [by_half["all"]]


def test_spreads_say_what_became_of_a_label() -> None:
    spread = spreads([_routed("kb_lookup", "lookup"), _routed("kb_lookup", "factual")])[0]
    assert (spread.routed, spread.accuracy) == ({"lookup": 1, "factual": 1}, 0.5)


def test_quantiles_are_values_that_were_seen() -> None:
    assert [quantile([3, 1, 2, 4], part) for part in (0, 0.5, 0.99)] == [1, 3, 4]
    assert quantile([], 0.5) == 0


def test_questions_are_read_and_routed(tmp_path: Path) -> None:
    routed = ask(read(_data(tmp_path, *ROWS, "")))
    assert [one.label for one in routed] == [
        "analytical",
        "analytical",
        "lookup",
        "analytical",
        "factual",
    ]
    assert [table.row_count for table in tables(routed)] == [1, 4]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", r":2: not a question"),
        ("[]", r":2: not a question"),
        ('{"text": "?"}', r":2: not a question: KeyError"),
        (_line("?", "poetic", "p"), r":2: the label 'poetic' is unknown"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(DataMalformed, match=why):
        read(_data(tmp_path, ROWS[0], line))


def test_a_missing_file_says_what_it_is_made_of(tmp_path: Path) -> None:
    (tmp_path / "eval").mkdir()
    with pytest.raises(DataMissing, match="PAUQ"):
        read(tmp_path / "eval")
    assert router.main(["--data", str(tmp_path / "eval")]) == 2
    assert fit_router.main([str(tmp_path), "--data", str(tmp_path / "eval")]) == 2


def test_the_command_prints_tables_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(_data(tmp_path, *ROWS))
    assert router.main(["--data", data]) == 0
    printed = capsys.readouterr().out
    assert "processor time of a question" in printed
    assert "below the bar: pauq_dev, en: 0.667" in printed
    assert router.main(["--data", data, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert set(record) == {"scores", "spreads", "microseconds"}
    assert record["scores"][-1]["macro_f1"] == pytest.approx(2 / 3)


def test_a_model_is_fitted_on_the_half_that_was_seen(
    tmp_path: Path, embedder: TinyEmbedder
) -> None:
    asked = [
        Question("count cats", "en", "analytical", "s", SEEN),
        Question("name cats", "en", "kb_lookup", "s", SEEN),
        Question("name cats", "en", "analytical", "s", HELD),
    ]
    fit_router.fitted(asked, embedder).save(tmp_path)
    classifier = LinearClassifier(load(tmp_path), embedder)
    assert [classifier.classify(one.text).label for one in asked[:2]] == ["analytical", "lookup"]
    with pytest.raises(DataMissing, match="fewer than two labels"):
        fit_router.fitted(asked[2:], embedder)
