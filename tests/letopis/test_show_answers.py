"""What `letopis retrieve` prints, in a terminal of 80 columns."""

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from indexing.types import GLOBAL, Memory
from letopis.show.answers import answer_shown, nothing, result_table
from letopis.show.explain import trace_tree
from retrieval.sql.types import Answer
from retrieval.trace import Dropped, Trace
from retrieval.types import Hit, Result

WORDS = "count of orders, 2026-10-01 to 2026-10-31, user anna"
SQL = 'SELECT COUNT(*) AS "count" FROM "orders" LIMIT 2'


def printed(what: RenderableType) -> list[str]:
    out = StringIO()
    Console(file=out, width=80).print(what)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_words_and_sql_are_not_squeezed_into_the_column_of_a_number() -> None:
    answer = Answer("shop", ("count",), ((6,),), 6, SQL, WORDS, milliseconds=1.0)
    assert printed(answer_shown(answer, explain=False))[0] == WORDS
    assert SQL in printed(answer_shown(answer, explain=True))


def test_no_number_is_shown_as_such() -> None:
    answer = Answer("shop", ("avg_amount",), ((None,),), None, SQL, WORDS)
    assert any("–" in line for line in printed(answer_shown(answer, explain=False)))


def test_what_does_not_fit_the_budget_is_not_called_irrelevant() -> None:
    trace = Trace("vector", "", dropped=(Dropped("m", "user:ann", "budget", "9 tokens, 5 left"),))
    assert nothing(Result("cat", (), trace, confidence=0.97)) == "nothing fits the budget"
    assert "97%" in nothing(Result("cat", (), Trace("vector", ""), confidence=0.97))


def test_the_tree_says_how_sure_it_is() -> None:
    assert "├── confidence: 0.42" in printed(trace_tree(Trace("vector", ""), 0.42))


@pytest.mark.parametrize(("confidence", "told"), [(0.02, True), (0.6, False), (None, False)])
def test_a_doubtful_answer_says_so(confidence: float | None, told: bool) -> None:
    memory = Memory(id="1", scope=GLOBAL, kind="fact", source_id="told", text="cats purr")
    hits = (Hit(memory, 1, 0.5, {}),)
    table = result_table(Result("dog", hits, Trace("vector", ""), confidence=confidence), False)
    shown = "probably no answer among these (confidence 2%)"
    assert table.caption == (shown if told else None)
