from math import log

import pytest

from evals.bm25 import Ranker, document_text, language, words
from evals.datasets import Entry


def test_words_are_stemmed_in_the_language_of_the_text() -> None:
    assert words("Orders were shipped") == ["order", "were", "ship"]
    assert words("Заказы заказов") == ["заказ", "заказ"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Где заказ?", "ru"), ("Where is it?", "en"), ("Счёт BX-1 оплачен", "ru"), ("12345", "en")],
)
def test_language_is_that_of_most_letters(text: str, expected: str) -> None:
    assert language(text) == expected


def test_the_text_has_time_speaker_title_and_caption() -> None:
    extra = {"speaker": "Ann", "session_date_time": "8 May, 2023", "blip_caption": "a dog"}
    entry = Entry("1", "Look!", "Pets", extra)
    assert document_text(entry) == "8 May, 2023 Ann Pets Look! [photo: a dog]"


def test_ranks_by_okapi_bm25() -> None:
    texts = ["red red apple", "red apple pie and tea", "green tea", "black tea", "white tea"]
    ranker = Ranker([Entry(str(number), text) for number, text in enumerate(texts)])
    assert ranker.top("red", 10) == ["0", "1"], "twice in a shorter text"
    assert ranker.top("red pie", 1) == ["1"], "both words"
    # idf(tea) = log((5 - 4 + .5) / (4 + .5)) < 0: Okapi replaces it by a quarter of the mean idf
    assert log((5 - 4 + 0.5) / (4 + 0.5)) < 0
    assert ranker.top("tea", 10) == ["2", "3", "4", "1"], "equal scores keep the corpus order"


def test_finds_other_forms_of_a_russian_word() -> None:
    texts = ["архив заказов", "чай с лимоном", "пароход у причала"]
    ranker = Ranker([Entry(str(number), text) for number, text in enumerate(texts)])
    assert ranker.top("Какие заказы?", 10) == ["0"]


@pytest.mark.parametrize("texts", [[], ["", "!!!"], ["one two", "three", "four"]])
def test_nothing_in_common_finds_nothing(texts: list[str]) -> None:
    assert Ranker([Entry(str(n), text) for n, text in enumerate(texts)]).top("zebra", 10) == []
