"""Which part of a question goes to SQL, which to the vectors, and what is said of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from retrieval.route import Route, Vocabulary, vocabulary
from retrieval.routing.plan import NO_SOURCE, SURE, Plan, plan
from retrieval.sql.intent import Column, Intent, Period, Understanding
from retrieval.sql.schema import Measure, Source, Table

ORDERS = Table(
    "orders", ("заказ",), measures=(Measure("revenue", "amount", ("выручка", "revenue")),)
)
KNOWN = vocabulary([Source("shop", "sqlite://", (ORDERS,))])

APRIL = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC), "April")
ROWS = Intent("shop", "orders", periods=(APRIL,))
ALL_TIME = Intent("shop", "orders")
REVENUE = Intent("shop", "orders", "sum", Column("orders", "revenue"))
LARGEST = Intent("shop", "orders", group_by=(Column("orders", "shop"),), top=1)


class Words:
    """Understands the questions it is given and misses the words of every other; keeps both."""

    def __init__(self, known: dict[str, Intent], confidence: float = 0.95) -> None:
        self.known = known
        self.confidence = confidence
        self.asked: list[str] = []

    def __call__(self, question: str) -> Understanding:
        self.asked.append(question)
        intent = self.known.get(question)
        if intent is None:
            return Understanding(None, "no intent", ("complain",))
        return Understanding(intent, "every word is understood", (), self.confidence)


def _gone(found: Plan) -> list[tuple[str, str]]:
    return [(part.text, part.destination) for part in found.parts]


def _plan(question: str, known: dict[str, Intent], sure: float = 0.95) -> Plan:
    return plan(question, KNOWN, Words(known, sure))


def test_without_a_source_everything_goes_to_the_vectors_and_nothing_is_understood() -> None:
    words = Words({})
    found = plan("How many orders in April, and what did I complain about?", None, words)
    assert [part.reason for part in found.parts] == [NO_SOURCE]
    assert found.parts[0].route.label == "factual"
    assert (len(found.to("vector")), words.asked) == (1, [])


def test_a_number_over_declared_words_goes_to_sql() -> None:
    question = "How many orders in April?"
    part = _plan(question, {question: ROWS}).parts[0]
    assert (part.destination, part.understanding and part.understanding.intent) == ("sql", ROWS)
    assert part.reason == "counts: «how many orders»; registered: «orders»; a full intent"


def test_what_is_not_understood_is_not_guessed() -> None:
    part = _plan("How many complaints in April?", {}).parts[0]
    assert part.destination == "vector"
    assert part.reason.endswith("not understood: «complain»")


def test_an_intent_with_a_missed_word_is_no_intent() -> None:
    def half(question: str) -> Understanding:
        return Understanding(ROWS, "a word is left", ("blue",), 0.9)

    assert _gone(plan("How many blue orders?", KNOWN, half)) == [
        ("How many blue orders?", "vector")
    ]


@pytest.mark.parametrize(
    ("question", "intent", "destination"),
    [
        ("What is my last order?", ALL_TIME, "vector"),  # the number of orders is no answer
        ("Which order was the largest?", ALL_TIME, "vector"),
        ("Which shop was the largest?", LARGEST, "sql"),
        ("my orders in April", ROWS, "vector"),  # a list of them, perhaps: no number is asked
        ("revenue in April?", REVENUE, "sql"),
        ("выручка за апрель", REVENUE, "sql"),
        ("orders in April against March", Intent("s", "o", periods=(APRIL, APRIL)), "sql"),
        ("Why is the revenue of orders so low?", REVENUE, "vector"),
        ("о чём были мои заказы?", ALL_TIME, "vector"),
    ],
)
def test_cues_and_intents_have_to_agree(question: str, intent: Intent, destination: str) -> None:
    assert _gone(_plan(question, {question: intent})) == [(question, destination)]


def test_without_cues_an_intent_has_to_be_sure() -> None:
    question = "revenue in April"
    assert _plan(question, {question: REVENUE}, SURE).parts[0].destination == "sql"
    part = _plan(question, {question: REVENUE}, SURE - 0.01).parts[0]
    assert part.destination == "vector"
    assert part.reason.endswith("not sure enough (0.79)")


def test_a_mixed_question_is_answered_from_both() -> None:
    first = "How many orders in April"
    found = _plan(f"{first}, and what did I complain about?", {first: ROWS})
    assert _gone(found) == [(first, "sql"), ("what did I complain about?", "vector")]
    assert [part.route.label for part in found.parts] == ["analytical", "factual"]


def test_a_mixed_question_in_russian_is_answered_from_both() -> None:
    first = "Сколько заказов было в мае"
    found = _plan(f"{first} и что я писал про доставку?", {first: ROWS})
    assert _gone(found) == [(first, "sql"), ("что я писал про доставку?", "vector")]


def test_a_clause_does_not_inherit_a_period_and_says_so() -> None:
    last = "how many orders do I have?"
    found = _plan(f"What did I complain about in April, and {last}", {last: ALL_TIME})
    assert _gone(found) == [("What did I complain about in April", "vector"), (last, "sql")]
    assert found.parts[1].reason.endswith("no period of its own, so all time")


def test_a_question_that_sql_can_answer_whole_is_not_cut() -> None:
    question = "How many orders in April, and what is the revenue?"
    assert _gone(_plan(question, {question: REVENUE})) == [(question, "sql")]


def test_clauses_of_the_vectors_stay_one_question() -> None:
    question = "What did I say in May, and what did Anna promise?"
    assert _gone(_plan(question, {})) == [(question, "vector")]


def test_neighbours_of_the_vectors_stay_together() -> None:
    first = "How many orders in April?"
    rest = "What did I say in May, and what did Anna promise?"
    found = _plan(f"{first} {rest}", {first: ROWS})
    assert _gone(found) == [(first, "sql"), (rest, "vector")]


def test_two_numbers_are_two_only_if_each_names_its_period() -> None:
    first, last = "How many orders in April", "how many orders in May?"
    question = f"{first}, and {last}"
    assert _gone(_plan(question, {first: ROWS, last: ROWS})) == [(first, "sql"), (last, "sql")]
    assert _gone(_plan(question, {first: ROWS, last: ALL_TIME})) == [(question, "vector")]


def test_a_measure_alone_is_asked_of_the_rows_before() -> None:
    first, more = "How many orders in April", "for what revenue?"
    asked: list[tuple[str, Intent]] = []

    def follow_up(text: str, before: Intent) -> Intent | None:
        asked.append((text, before))
        return replace(before, measure=Column("orders", "revenue")) if text == more else None

    found = plan(f"{first}, and {more}", KNOWN, Words({first: ROWS}), follow_up=follow_up)
    assert _gone(found) == [(first, "sql"), (more, "sql")]
    assert [part.follows for part in found.parts] == [False, True]
    assert asked == [(more, ROWS)]
    assert found.parts[1].reason.endswith(f"of the rows of «{first}»")
    # a head of all time is enough where all others follow it
    found = plan(f"{first}, and {more}", KNOWN, Words({first: ALL_TIME}), follow_up=follow_up)
    assert _gone(found) == [(first, "sql"), (more, "sql")]
    # what was said is still for the vectors
    said = "what did I complain about?"
    found = plan(f"{first}, and {said}", KNOWN, Words({first: ROWS}), follow_up=follow_up)
    assert _gone(found) == [(first, "sql"), (said, "vector")]


def test_a_classifier_labels_in_the_rules_place() -> None:
    class Always:
        def classify(self, question: str, vocabulary: Vocabulary | None = None) -> Route:
            assert vocabulary is KNOWN
            return Route("analytical", 1, "because")

    question = "my orders in April"
    found = plan(question, KNOWN, Words({question: ROWS}), Always())
    assert [(part.destination, part.reason) for part in found.parts] == [
        ("sql", "because; a full intent")
    ]


def test_parts_keep_the_order_of_the_question() -> None:
    number = "how many orders in April?"
    question = f"What did I say? And {number} What did Anna say?"
    texts: Sequence[str] = [part.text for part in _plan(question, {number: ROWS}).parts]
    assert texts == ["What did I say?", number, "What did Anna say?"]
