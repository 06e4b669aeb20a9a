"""Near duplicates: the hand-written pairs with real cosines, and rules that hold for any text."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.embedders import build_embedder
from configs.settings import Settings
from evals.near_duplicates import Judged, judge, mistakes, read_pairs
from indexing.dedup import decide
from indexing.dedup.reading import read
from indexing.dedup.values import digits
from indexing.dedup.wording import NEGATION

PAIRS = read_pairs()
PARTS = ("tuned", "held out", "fresh")
TEXTS = sorted({text for pair in PAIRS for text in (pair.a, pair.b)})


@pytest.fixture(scope="session")
def judged() -> list[Judged]:
    """Every pair, decided with the cosine of the default embedder; one batch."""
    return judge(PAIRS, build_embedder(Settings.model_construct()))


def test_the_set_is_large_and_balanced() -> None:
    count = Counter((pair.merge, pair.language) for pair in PAIRS)
    assert min(count[False, "ru"], count[False, "en"]) >= 100
    assert min(count[True, "ru"], count[True, "en"]) >= 40
    assert len({frozenset((pair.a, pair.b)) for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_merged_that_must_be_kept(judged: list[Judged], part: str) -> None:
    kept = [each for each in judged if each.pair.part == part and not each.pair.merge]
    assert list(mistakes(kept)) == []
    assert len(kept) >= 60


@pytest.mark.parametrize("part", PARTS)
def test_most_paraphrases_are_merged(judged: list[Judged], part: str) -> None:
    said_twice = [each for each in judged if each.pair.part == part and each.pair.merge]
    merged = sum(each.verdict.merge for each in said_twice)
    assert merged >= 0.7 * len(said_twice), list(mistakes(said_twice))


def test_the_text_alone_merges_nothing_that_must_be_kept() -> None:
    assert [pair for pair in PAIRS if not pair.merge and decide(pair.a, pair.b).merge] == []


def test_the_order_of_the_two_does_not_matter() -> None:
    turned = [
        pair for pair in PAIRS if decide(pair.a, pair.b).merge != decide(pair.b, pair.a).merge
    ]
    assert turned == []


@given(st.sampled_from(TEXTS), st.data())
def test_a_word_that_says_something_cannot_go(text: str, data: st.DataObject) -> None:
    """Dropping any piece that the reading holds leaves a text that is kept apart."""
    words = text.split()
    at = data.draw(st.integers(0, len(words) - 1))
    rest = " ".join(words[:at] + words[at + 1 :])
    lost = Counter(token.key for token in read(text).tokens)
    lost.subtract(token.key for token in read(rest).tokens)
    if any(lost.values()) and not {key for key, n in lost.items() if n} <= {"я", "мы"}:
        assert not decide(text, rest).merge


@given(st.sampled_from(TEXTS), st.sampled_from(sorted(NEGATION)), st.data())
def test_a_negation_anywhere_keeps_both(text: str, negation: str, data: st.DataObject) -> None:
    words = text.split()
    at = data.draw(st.integers(0, len(words)))
    assert not decide(text, " ".join([*words[:at], negation.replace("~", " "), *words[at:]])).merge


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_are_decided(a: str, b: str) -> None:
    verdict = decide(a, b)
    assert 0 <= verdict.score <= 1
    assert verdict.reason
    assert verdict == decide(a, b)


@pytest.mark.parametrize(
    "piece", ["a_", "_", "a-", "1 ", "1,", "a.", "+1 ", "one ", "don't ", "(("]
)
def test_a_long_run_of_anything_is_read(piece: str) -> None:
    assert not decide(piece * 1000, f"{piece * 1000} more").merge


@pytest.mark.parametrize("text", ["", "?!", "—", " "])
def test_nothing_said_is_never_merged(text: str) -> None:
    assert not decide(text, text, 1.0).merge


def test_a_low_cosine_keeps_what_the_text_allows() -> None:
    one, other = "I live in Prague", "I reside in Prague"
    assert decide(one, other, 0.95).merge
    low = decide(one, other, 0.4)
    assert (low.merge, low.score, low.reason) == (False, 0.4, "cosine 0.40 is under 0.90")
    assert decide(one, other, 0.4, least_cosine=0.3).merge


def test_exact_duplicates_need_no_cosine() -> None:
    assert decide("Чай!", "чай", 0.1).reason == "the same text"


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("У меня двое детей", "У меня трое детей", "numbers differ: 2 and 3"),
        ("Budget: 500 dollars", "Budget: €500", "amounts differ: 500 USD and 500 EUR"),
        ("Due on May 8, 2026", "Due on 2026-05-09", "dates differ: 2026-05-08 and 2026-05-09"),
        ("Call Anna", "Call Boris", "names differ: Anna and Boris"),
        ("I eat fish", "I don't eat fish", "only one says “not”"),
        ("Run it with -v", "Run it with -V", "codes differ: -v and -V"),
        ("The office is open", "Is the office open?", "one is a question"),
        ("Anna owes Boris", "Boris owes Anna", "the order may change who does what"),
        ("I like tea", "I like tea with lemon", "only one says “lemon”"),
    ],
)
def test_the_reason_names_the_difference(one: str, other: str, reason: str) -> None:
    verdict = decide(one, other)
    assert not verdict.merge
    assert verdict.reason == reason


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("двадцать пять", "25"),
        ("сто двадцать тысяч пятьсот", "120500"),
        ("two hundred and five", "205"),
        ("пять шесть дней", "5 6 дней"),
        ("two million three hundred thousand", "2300000"),
        ("third floor", "3-й floor"),
        ("30 seconds", "30 seconds"),
        ("stone", "stone"),
        ("тысяча чертей", "тысяча чертей"),
    ],
)
def test_written_numbers(written: str, read_as: str) -> None:
    assert digits(written) == read_as


def _keys(text: str) -> list[str]:
    return [token.key for token in read(text).tokens]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("8 мая 2026 года", ["2026-05-08"]),
        ("May 8th, 2026", ["2026-05-08"]),
        ("the 8th of May 2026", ["2026-05-08"]),
        ("08.05.2026", ["2026-05-08"]),
        ("05/08/2026", ["05/08/2026"]),
        ("31.13.2026", ["31.13.2026"]),
        ("8 мая", ["--05-08"]),
        ("6:30 pm", ["18:30"]),
        ("12 am", ["00:00"]),
        ("6 вечера", ["18:00"]),
        ("2 ночи", ["02:00"]),
        ("5 тыс. руб.", ["5000 RUB"]),
        ("$1,500.50", ["1500.5 USD"]),
        ("1.500 евро", ["1.500 EUR"]),
        ("1,5 млн", ["1500000"]),
        ("1 200 000 рублей", ["1200000 RUB"]),
        ("twelve percent", ["12%"]),
        ("v2.18.3", ["2.18.3"]),
        ("version 2.18.3", ["2.18.3"]),
        ("BX-4471-A", ["bx-4471-a"]),
        ("--dry-run", ["--dry-run"]),
        ("+7 (912) 555-01-23", ["+79125550123"]),
        ("4kg", ["4", "kg"]),
        ("-5", ["-5"]),
    ],
)
def test_values_have_one_spelling(text: str, keys: list[str]) -> None:
    assert _keys(text) == keys
