"""Greetings and thanks that say nothing else: they are logged, and not searched for.

A rule of words, Russian and English. "Yes", "no" and "ok" are none: they answer something.
"""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_SAYS_MORE = re.compile(r"[\d?/@#$€₽]")
"""A number, a question or a code: no small talk, whatever stands around it."""

_PHRASES = (
    "hi, hello, hey, hiya, howdy, greetings, good morning, good afternoon, good evening, good day, "
    "good night, thanks, thank you, thx, ty, cheers, bye, goodbye, bye bye, see you, see ya, "
    "see you later, have a nice day, have a good one, you're welcome, welcome, no problem, "
    "my pleasure, nice, great, awesome, cool, perfect, "
    "привет, приветик, приветствую, здравствуй, здравствуйте, добрый день, доброе утро, "
    "добрый вечер, доброй ночи, спокойной ночи, доброго дня, хай, салют, спасибо, спс, благодарю, "
    "спасибочки, пасибо, пожалуйста, не за что, обращайтесь, обращайся, пока, до свидания, "
    "до встречи, до связи, всего доброго, всего хорошего, хорошего дня, рад помочь, рада помочь, "
    "отлично, супер, класс, здорово, круто, прекрасно"
)

_FILLERS = (
    "so much, very much, a lot, a bunch, many, again, there, all, everyone, everybody, you, for, "
    "your, help, the, everything, so, very, oh, and, всем, вам, тебе, большое, огромное, вас, "
    "тебя, за, помощь, ещё, еще, раз, очень, и, все, всё, ой"
)


def _split(phrases: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in phrases.split(", "))


_KNOWN, _AROUND = _split(_PHRASES), _split(_FILLERS)

MOST = 8
"""Words of the longest small talk."""


def is_small_talk(text: str) -> bool:
    """Tell whether a text is a greeting, a farewell or thanks, and nothing else.

    >>> is_small_talk("Привет! Спасибо большое :)"), is_small_talk("thanks, order 4471 came")
    (True, False)
    """
    if _SAYS_MORE.search(text):
        return False
    words = [word.replace("’", "'") for word in _WORD.findall(text.casefold())]
    if not words or len(words) > MOST:
        return False
    place, greeted = 0, False
    while place < len(words):
        length = _longest(words, place, _KNOWN)
        greeted = greeted or bool(length)
        length = length or _longest(words, place, _AROUND)
        if not length:
            return False
        place += length
    return greeted


def _longest(words: list[str], place: int, phrases: frozenset[tuple[str, ...]]) -> int:
    """Return of how many words the longest of these phrases is that begins there, 0 for none."""
    for length in (4, 3, 2, 1):
        if tuple(words[place : place + length]) in phrases and place + length <= len(words):
            return length
    return 0
