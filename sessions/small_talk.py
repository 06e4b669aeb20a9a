"""Greetings, thanks and pauses that say nothing else: they are logged, and not searched for.

A rule of words, Russian and English, over each sentence. "Yes", "no" and "ok" are none: they answer
something. `sessions.speech` takes it for its lines too.
"""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_SAYS_MORE = re.compile(r"[\d?/@#$€₽]")
"""A number, a question or a code: no small talk, whatever stands around it."""

_PHRASES = (
    "hi, hello, hey, hiya, howdy, greetings, good morning, good afternoon, good evening, good day, "
    "good night, thanks, thank you, thx, ty, cheers, bye, goodbye, bye bye, see you, see ya, "
    "see you later, have a nice day, have a good one, you're welcome, welcome, no problem, "
    "my pleasure, nice, great, awesome, cool, perfect, interesting, curious, hm, hmm, "
    "you are welcome, "
    "привет, приветик, приветствую, здравствуй, здравствуйте, добрый день, доброе утро, "
    "добрый вечер, доброй ночи, спокойной ночи, доброго дня, хай, салют, спасибо, спс, благодарю, "
    "спасибочки, пасибо, пожалуйста, не за что, обращайтесь, обращайся, пока, до свидания, "
    "до встречи, до связи, всего доброго, всего хорошего, хорошего дня, хорошего вечера, "
    "рад помочь, рада помочь, "
    "отлично, супер, класс, здорово, круто, прекрасно, интересно, любопытно, хм, хмм"
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
"""Words of the longest greeting or thanks."""

_SENTENCE = re.compile(r"[.!…\n]+")
_PAUSE = re.compile(
    r"(?:(?:just )?(?:one|a) (?:moment|second|sec|minute)|hold on|hang on|brb|be right back)"
    r"(?:,? (?:please|i'll be (?:right )?back|(?:(?:there's |there is )?(?:somebody|someone)) "
    r"(?:is |has )?(?:at the door|knocking|calling|ringing|here)|(?:the )?(?:phone|door|doorbell)"
    r"(?: is|'s)? (?:ringing|rings)))*"
    r"|(?:одну )?(?:секунд\w+|минут\w+|момент|погоди(?:те)?|подожди(?:те)?)"
    r"(?:,? (?:пожалуйста|(?:в дверь )?(?:звонят|стучат)(?: в дверь)?|телефон(?: звонит)?"
    r"|звонит телефон|кто-то (?:пришёл|пришел|звонит|стучит)|(?:я )?сейчас вернусь|отойду))*"
)
_OFFER = re.compile(
    r"(?:just )?(?:tell me|let me know|say|ping me) (?:when|if|once|whenever) (?:there is|you"
    r"(?:'re| are| want| need| would like|'d like)(?: to)?)"
    r"(?: (?:go on|continue|proceed|start|resume|ready|back|anything|else|more|help|to))*"
    r"|(?:скажи|напиши|сообщи|дай знать|дайте знать)(?:те)?,? (?:когда|если|как) (?:будете|будешь"
    r"|захотите|захочешь|сможете|сможешь|понадобится|нужно)"
    r"(?: (?:готов\w{0,2}|продолжить|дальше|помощь|ещё|еще|что-то|начать))*"
)
"""A sentence that asks to wait, and one that offers to go on."""


def is_small_talk(text: str) -> bool:
    """Tell whether a text is a greeting, a farewell or thanks, and nothing else.

    >>> is_small_talk("Привет! Спасибо большое :)"), is_small_talk("thanks, order 4471 came")
    (True, False)
    """
    if _SAYS_MORE.search(text):
        return False
    said = [one for part in _SENTENCE.split(text.casefold()) if (one := part.strip(" ,;:-—–"))]
    said = [one for one in said if _WORD.search(one)]
    return bool(said) and all(_says_nothing(one.replace("’", "'")) for one in said)


def _says_nothing(sentence: str) -> bool:
    if _PAUSE.fullmatch(sentence) or _OFFER.fullmatch(sentence):
        return True
    words = _WORD.findall(sentence)
    if len(words) > MOST:
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
