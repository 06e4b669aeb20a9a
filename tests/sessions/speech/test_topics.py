"""Topics as they were written."""

from hypothesis import given
from hypothesis import strategies as st

from sessions.speech import topics


def test_forms_of_a_word_are_one_topic() -> None:
    said = ["Отчёт задерживается.", "В отчёте ошибка.", "Пришлю отчёт завтра."]
    assert topics(said, 1) == ("отчёт",)


def test_names_and_codes_come_before_words_as_frequent() -> None:
    found = topics(["we move to Postgres", "the database of order BX-4471-A"], 3)
    assert set(found[:2]) == {"Postgres", "BX-4471-A"}


def test_function_words_numbers_and_code_are_no_topics() -> None:
    assert topics(["and then we will do that with 15 of them", "`index.html` https://a.b/c"]) == ()


def test_keys_names_of_code_and_levels_are_no_topics() -> None:
    said = ['{"rating": 5, "servings": 2}', "WARN step_0 called getRows", "the mill of PostgreSQL"]
    assert set(topics(said)) == {"mill", "PostgreSQL"}


@given(st.lists(st.text(max_size=80), max_size=6), st.integers(0, 5))
def test_topics_are_words_of_the_texts(texts: list[str], n: int) -> None:
    found = topics(texts, n)
    assert len(found) == len(set(found)) <= n
    assert all(any(topic in text for text in texts) for topic in found)
