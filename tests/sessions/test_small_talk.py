"""Greetings and thanks alone are small talk; what says anything more is not."""

import pytest

from sessions.small_talk import is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "Hi!", "hello there", "Good morning, everyone", "Thanks a lot!!!", "thank you so much :)",
        "Bye, have a nice day", "You’re welcome", "Привет", "Привет! Спасибо большое 🙏",
        "Здравствуйте, всем добрый день.", "Ой, спасибо вам огромное за помощь", "Пока, до встречи",
        "ПОЖАЛУЙСТА", "Отлично, спасибо!", "Hm, interesting.",
        "Just a second, the phone is ringing.",
        "You are welcome. Tell me when you are ready to continue.", "Любопытно.", "Минутку.",
        "Одну минуту, в дверь стучат.", "Не за что. Напишите, когда захотите продолжить.",
    ],
)  # fmt: skip
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "yes", "no, thanks for asking about the budget", "ok", "да", "нет", "Хорошо",
        "thanks, my order is 4471", "hello, where is it?", "спасибо, но размер другой", "все",
        "One moment, the total is wrong", "Tell me when the parcel comes",
        "Секунду, это не тот размер", "Thanks. The blue one.", "Great, let's continue with Kafka",
        "hi, I am Ann", "Привет, я Анна", "thank you for the tickets to Tver", "help", "очень",
        "thanks a lot for the large red box that came to me yesterday evening",
    ],
)  # fmt: skip
def test_more_than_small_talk(text: str) -> None:
    assert not is_small_talk(text)
