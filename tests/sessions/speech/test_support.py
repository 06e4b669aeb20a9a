"""What of a model's text its sources do not say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.speech import supported


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("The budget is 1500.", "budget: 1 500"),
        ("The budget is 1,500.", "budget: 1500"),
        ("The budget is 1 500,00.", "budget: 1,500.00"),
        ("Бюджет 300 тыс. рублей", "бюджет 300 000"),
        ("Budget 1.5 million", "1 500 000 in all"),
        ("Длина 2,7 м", "потолки 2.7"),
        ("5 people", "five people came"),
        ("5 человек", "пять человек"),
        ("На 43-й размер", "размер 43"),
        ("It is 20% off", "20 percent off"),
        ("Пишем Анне", "Анна просила"),
        ("Встреча с Павлом", "Павел придёт"),
        ("The plan of Maria's team", "Maria wrote"),
        ("Order BX-4471-A is late", "order bx-4471-a"),
        ("Runs v2.18.3 since then", "we run v2.18.3"),
        ("We chose Postgres.", "let's go with Postgres"),
        ("User prefers short answers.", "keep it short"),
        ("It starts at 18:00", "see you at 18:00"),
        ("", "anything"),
        ("nothing to check here", ""),
    ],
)
def test_what_is_written_otherwise_is_supported(text: str, source: str) -> None:
    assert supported(text, [source]) == ()


@pytest.mark.parametrize(
    ("text", "source", "missing"),
    [
        ("The budget is 1600.", "budget 1 500", ("1600",)),
        ("Бюджет 15 000", "бюджет 1 500", ("15 000",)),
        ("Length 2,7", "length 27", ("2,7",)),
        ("Order BX-4471-B is late", "order BX-4471-A", ("BX-4471-B",)),
        ("Runs v2.18.4 now", "v2.18.3", ("v2.18.4",)),
        ("Пишем Борису", "Анна просила", ("Борису",)),
        ("Мария просила отчёт", "Марина просила отчёт", ("Мария",)),
        ("Boris promised a draft", "Anna promised a draft", ("Boris",)),
        ("mail anna@x.org now", "mail anna@y.org now", ("anna@x.org",)),
        ("At 18:30 with Anna", "Anna at 18:00", ("18:30",)),
        ("We chose MySQL.", "we chose Postgres", ("MySQL",)),
    ],
)
def test_what_no_source_says_is_named(text: str, source: str, missing: tuple[str, ...]) -> None:
    assert supported(text, [source]) == missing


def test_sources_count_together_and_each_claim_once() -> None:
    assert supported("Anna has 3, Boris 4.", ["Anna 3", "Boris 4"]) == ()
    assert supported("7 and 7 again", []) == ("7",)


@given(st.text(max_size=200))
def test_a_text_supports_itself(text: str) -> None:
    assert supported(text, [text]) == ()
