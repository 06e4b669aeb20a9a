"""``subject_of``: one plain statement -> its subject. Everything else has none.

The whole text has to be one statement of a known frame; a question, a condition, a plan, a quote, a
second fact or an unknown word around the frame leaves the text without a subject. So a new memory
ends an old one only where a reader would say that both fill the same slot.
"""

import re
import unicodedata
from dataclasses import replace

from indexing.subjects import english, english_choices, russian, russian_attributes, russian_choices
from indexing.subjects.types import Parts, Span, Subject

_ENGLISH = english.FRAMES + english_choices.FRAMES
_ANY = russian.FRAMES + russian_attributes.FRAMES + russian_choices.FRAMES + _ENGLISH

MAX_CHARS = 160
"""A plain statement is short; a longer text says more than one thing."""

_FOLDED = str.maketrans("ёЁ’‘‑\u00a0\u2009\u202f", "еЕ''-   ")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")
_OPENER = re.compile(
    r"(?:(?:hi|hello|hey)(?: there| everyone)?|by the way|btw|fyi|for the record|just so you know"
    r"|actually|ok|okay|well|yes|so|update|note|please note(?: that)?|remember(?: that)?"
    r"|please remember(?: that)?|привет|здравствуйте|добрый день|кстати|к слову|в общем|ну|итак"
    r"|для справки|на всякий случай|учти|имей в виду|запомни(?:те)?|да)"
    r"(?:[,:!.]| [—–-]|(?<=that)) +(?:что )?",
    re.IGNORECASE,
)
_END = re.compile(r"[\s.!…\U0001F300-\U0001FAFF\u2600-\u27BF\ufe0f]+$")
_INNER_END = re.compile(
    r"(?<!\bул)(?<!\bкв)(?<!\bпр)(?<!\bд)(?<!\bг)(?<!\b[DMS]r)(?<!\bSt)(?<!\bэл)"
    r"(?<!\bMrs)[.!;…]\s"
)
_UNSURE = re.compile(
    r"\?|\n|\b(?:if|unless|whether|would|could|should|might|maybe|perhaps|probably|possibly"
    r"|suppose|imagine|pretend|also|too|either|temporarily|for now|until|till|sometimes|tonight"
    r"|this summer|used to|если|бы|может|наверное|возможно|вероятно|допустим|предположим"
    r"|представь|вдруг|тоже|также|еще|временно|пока|иногда|раньше|прежде|бывший|бывшая|этим летом"
    r"|верно|якобы|будто)\b",
    re.IGNORECASE,
)


def subject_of(text: str) -> Subject | None:
    """Return what the text is about, None unless it is one plain statement of a known frame.

    >>> subject_of("I moved to Berlin").key, subject_of("Теперь живу в Берлине").key
    ('user.home', 'user.home')
    >>> subject_of("If I moved to Berlin, …") is None
    True
    """
    if len(text) > MAX_CHARS:
        return None
    raw = _plain(unicodedata.normalize("NFC", text))
    folded = raw.translate(_FOLDED)
    if not raw or _UNSURE.search(folded) or _INNER_END.search(folded):
        return None
    for frame in _ANY if _CYRILLIC.search(folded) else _ENGLISH:
        if match := frame.pattern.fullmatch(folded):
            subject = frame.build(_parts(match, raw))
            if subject:
                return replace(subject, rule=frame.rule)
    return None


def _plain(text: str) -> str:
    """Return the text without greetings, openers and the final punctuation."""
    text = text.strip()
    while opener := _OPENER.match(text):
        text = text[opener.end() :]
    return _END.sub("", text)


def _parts(match: re.Match[str], raw: str) -> Parts:
    def part(name: str) -> Span:
        start, end = match.span(name) if name in match.re.groupindex else (-1, -1)
        if start < 0:
            return Span("", "")
        return Span(raw[start:end].strip(), match.string[start:end].strip())

    return part
