"""The normal form of exact duplicates: what falls together, and what never may."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.dedup import exact_key, normal

SIGNS = "абвёЁйЙzZsS019 \t\n.,;:!?-—–−'\"«»()[]{}%€$#+*/\\=<>_@^²½№😊❤\ufe0f\u0301\u0308\u00adﬁßİ"
TEXTS = st.one_of(st.text(max_size=40), st.text(st.sampled_from(SIGNS), max_size=40))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Привет, мир!", "привет мир"),
        ("«Ёлка» уже куплена.", "елка уже куплена"),
        ("  чай\tс\nлимоном ", "Чай с лимоном"),
        ("Note: backups run nightly", "Note — backups run nightly."),
        ("ﬁle", "FILE"),
        ("за\u0301мок", "замок"),
        ("й", "и\u0306"),
        ("don’t", "don't"),
        ("- молоко", "молоко"),
        ("STRASSE", "straße"),
        ("Ты дома??", "ты дома?"),
        ("(см. раздел 3)", "см. раздел 3"),
    ],
)
def test_falls_together(one: str, other: str) -> None:
    assert normal(one) == normal(other)
    assert exact_key(one) == exact_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-5 °C", "5 °C"),
        ("−5", "5"),
        ("5 - 3", "5 3"),
        ("3.14", "314"),
        ("1,5 кг", "15 кг"),
        ("50%", "50"),
        ("$5", "€5"),
        ("v2.18.3", "v2.183"),
        ("BX-4471-A", "BX4471A"),
        ("--dry-run", "dry run"),
        ("-v", "-V"),
        ("https://x.io/Ab", "https://x.io/aB"),
        ("C++", "C#"),
        ("C++", "C"),
        (".env", "env"),
        ("cd ..", "cd ."),
        ("10²", "102"),
        ("👍", "👎"),
        ("ok :)", "ok :("),
        ("Ты дома?", "Ты дома"),
        ("не ем", "ем"),
        ("Казнить, нельзя помиловать", "Казнить нельзя, помиловать"),
        ("resume", "résumé"),
        ("мама", "mama"),
        ("й", "и"),
        ("a != b", "a = b"),
        ('5"', "5"),
        ("SELECT * FROM t", "SELECT FROM t"),
    ],
)
def test_stays_apart(one: str, other: str) -> None:
    assert exact_key(one) is not None
    assert exact_key(one) != exact_key(other)


@pytest.mark.parametrize("text", ["", " \n", "?!", "…", "«—»", "—", "()", "\u00ad\u200b"])
def test_punctuation_alone_is_a_duplicate_of_nothing(text: str) -> None:
    assert normal(text) == ""
    assert exact_key(text) is None


def test_no_letter_is_folded_to_ascii() -> None:
    assert normal("Café Жмыхов ÖÄÜ 東京") == "café жмыхов öäü 東京"


@given(TEXTS)
def test_normal_is_idempotent(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(TEXTS, st.sampled_from([" ", "\n", "\t ", "\u00a0"]))
def test_white_space_around_never_matters(text: str, space: str) -> None:
    assert normal(f"{space}{text}{space}") == normal(text)
