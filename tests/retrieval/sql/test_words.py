"""Keys of words, numbers, units, scales, and where a question meets the declared words."""

import pytest

from retrieval.sql import amounts, units
from retrieval.sql.poles import ends
from retrieval.sql.schema import Dimension, Measure, Source, Table
from retrieval.sql.words import Meaning, folded, gazetteer, key, mentions, tokens

BOOKS = Source(
    "books",
    "sqlite://",
    (
        Table(
            "loans",
            ("выдача", "выдача книг", "loan"),
            measures=(Measure("fine", "fine", ("штраф", "дорогой")),),
            dimensions=(
                Dimension(
                    "genre", "genre", ("жанр",), {"scifi": ("фантастика",), "1": ("первый",)}
                ),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    "forms",
    [
        "покупка покупки покупок покупкам",
        "тренировка тренировок",
        "звонок звонки звонков",
        "отменён отменённых отменены ОТМЕНЕНО",
        "доставлен доставленных доставлено",
        "оплачен оплаченные",
        "заказ заказа заказов заказами",
        "продавец продавцы продавцов",
        "category categories",
        "cancelled canceled",
    ],
)
def test_forms_of_a_word_have_one_key(forms: str) -> None:
    assert len({key(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["заказ закат", "оплата доставка", "order older", "город горе"])
def test_other_words_have_other_keys(pair: str) -> None:
    one, other = pair.split()
    assert key(one) != key(other)


def test_spelling_and_unicode_do_not_matter() -> None:
    decomposed = "Отменe\u0308нный и\u0306од".replace("e\u0308", "е\u0308")
    assert [t.text for t in tokens(folded(decomposed))] == ["отмененный", "йод"]
    assert [t.text for t in tokens(folded("ＴＯＰ‑５ за 1 000 ₽"))] == [
        "top",
        "5",
        "за",
        "1 000",
        "₽",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", 5),
        ("1 000", 1000),
        ("1,000", 1000),
        ("2,5", 2.5),
        ("2.5", 2.5),
        ("5 тысяч", 5000),
        ("5k", 5000),
        ("1,5 млн", 1_500_000),
        ("пять тысяч", 5000),
        ("three", 3),
        ("12,345,678", 12_345_678),
    ],
)
def test_numbers(text: str, expected: float) -> None:
    found = amounts.read(tokens(folded(text)), 0)
    assert found is not None
    assert found[0] == expected


@pytest.mark.parametrize("text", ["заказ", "", "много", "k"])
def test_no_number(text: str) -> None:
    assert amounts.read(tokens(folded(text)), 0) is None


def test_a_letter_of_its_own_is_no_thousand() -> None:
    found = amounts.read(tokens("5 к лету"), 0)
    assert found is not None
    assert found[0] == 5


def test_units_become_each_other_only_within_a_kind() -> None:
    assert units.converted(2, "часа", "min") == 120
    assert units.converted(2, "секунд", "ms") == pytest.approx(2000)
    assert units.converted(7, "", "RUB") == 7
    assert units.converted(100, "$", "RUB") is None
    assert units.converted(5, "минут", "") is None


def test_a_scale_has_two_ends() -> None:
    high, low = ends("дорогие")
    assert "expensive" in high
    assert "cheapest" in low
    assert ends("штраф") == ((), ())


def test_the_longest_phrase_is_meant() -> None:
    (found,) = mentions("Сколько выдач книг?", gazetteer([BOOKS]))
    assert (found.words, found.start, found.end) == ("выдач книг", 1, 3)
    assert found.meanings == (Meaning("books", "loans", "table"),)


def test_both_ends_of_a_declared_scale_are_known() -> None:
    found = mentions("самый дешёвый и самый дорогой", gazetteer([BOOKS]))
    assert [(m.words, m.meanings[0].name, m.meanings[0].pole) for m in found] == [
        ("дешевый", "fine", "low"),
        ("дорогой", "fine", "high"),
    ]


def test_values_and_names_are_words_but_bare_digits_are_not() -> None:
    found = mentions("genre scifi, фантастика, 1, первый", gazetteer([BOOKS]))
    assert [(m.words, m.meanings[0].kind, m.meanings[0].value) for m in found] == [
        ("genre", "dimension", ""),
        ("scifi", "value", "scifi"),
        ("фантастика", "value", "scifi"),
        ("первый", "value", "1"),
    ]


def test_nothing_is_matched_by_likeness() -> None:
    assert mentions("выдавать штрафстоянка фантазия", gazetteer([BOOKS])) == ()


def test_a_gazetteer_is_made_once_for_the_same_sources() -> None:
    assert gazetteer([BOOKS]) is gazetteer((BOOKS,))
    assert gazetteer([BOOKS, BOOKS]) is not gazetteer([BOOKS])
