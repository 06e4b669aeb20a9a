import pytest

from indexing.sparse import lexicon
from retrieval.coverage import content_terms, coverage


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("какие заказы за апрель?", {"заказ", "апрел"}),
        ("what is the budget of Anna", {"budget", "anna"}),
        ("что это?", {"что", "эт"}),
        ("", set()),
    ],
)
def test_content_terms_leave_function_words_out(query: str, wanted: set[str]) -> None:
    assert content_terms(query) == wanted


@pytest.mark.parametrize(
    ("own", "before", "share"),
    [
        ("заказы пришли в апреле", "", 1.0),
        ("заказ оплачен", "", 0.5),
        ("оплачен", "это заказы за апрель", 0.5),
        ("заказ оплачен", "апрель", 0.75),
        ("ничего", "", 0.0),
    ],
)
def test_coverage_counts_words_of_the_turn_before_half(own: str, before: str, share: float) -> None:
    assert coverage({"заказ", "апрел"}, lexicon(own, before)) == share


def test_a_term_is_matched_whole() -> None:
    assert coverage({"bx-4471-a"}, lexicon("BX-4471-A", "")) == 1
    assert coverage({"bx-4471-a"}, lexicon("BX-4471-B", "")) == 0
    assert coverage({"cat"}, lexicon("concatenate", "")) == 0


def test_nothing_wanted_covers_nothing() -> None:
    assert coverage(frozenset(), lexicon("text", "")) == 0
