"""Second person -> third, statements -> questions."""

from random import Random

import pytest

from evals.reranker.asked import about, past, simple


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("What do you do for work?", "What does Ann do for work?"),
        ("so where are you from?", "Where is Ann from?"),
        ("haha ok, have you ever been to Peru?", "Has Ann ever been to Peru?"),
        ("did you sell your car and buy your bike?", "Did Ann sell Ann's car and buy Ann's bike?"),
        ("How many books did you say you read?", "How many books did Ann say they read?"),
        ("what do you think of it?", None),
        ("do you like me?", None),
        ("you?", None),
        ("Is it raining there today?", None),
    ],
)
def test_a_question_to_someone_becomes_one_about_them(said: str, asked: str | None) -> None:
    assert about(said, "Ann", "Tom") == asked


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I visited my aunt yesterday", "When did Ann visit their aunt?"),
        ("We bought a red canoe last summer", "When did Ann buy a red canoe?"),
        ("I quit my job because the boss was rude", "Why did Ann quit their job?"),
        ("I like tea", None),
        ("I told you about the trip", None),
    ],
)
def test_what_happened_is_asked_for(said: str, asked: str | None) -> None:
    class First(Random):
        def random(self) -> float:
            return 0.0

    assert past(said, "Ann", First()) == asked


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("my favorite board game is Azul", "What is Ann's favorite board game?"),
        ("I've never eaten an oyster.", "Has Ann ever eaten an oyster?"),
        ("I love long train rides too!", "How does Ann feel about long train rides?"),
        ("I love that song", None),
        ("Sounds fun", None),
    ],
)
def test_what_is_so_is_asked_for(said: str, asked: str | None) -> None:
    assert simple(said, "Ann") == asked
