"""One sentence -> its kind by the rules of its language, without its neighbours."""

import re
from functools import cache

from indexing.sparse import normalize
from sessions.small_talk import is_small_talk
from sessions.speech.rules import Language, said
from sessions.speech.sentences import Sentence
from sessions.types import LineKind

_CYRILLIC = re.compile(r"[а-я]")
_LATIN_WORDS = re.compile(r"\b[a-z']{2,} [a-z']{2,} [a-z']{2,}\b")
_VALUE = re.compile(r"\d|#1|@\w|№")
_NAME = re.compile(r"(?<=\w )[\"«“]?[A-ZА-ЯЁ](?:[\w’'-]*\w)?")
_SIZE = re.compile(r"\b(?:size|размер)\b.{0,20}\b(?:x{0,3}[sl]|m)\b")
_CHUNK = re.compile(r"[,.!?;:)(…*_-]+(?: |$)|[^\w\s'°%$€₽/+-]+")
_WORD = re.compile(r"[^\W_]+")
_I = re.compile(r"I(?:['’]\w+)?$")

MIN_WORDS = 3
"""Words of a statement that has nothing but itself to be kept for."""


def languages(text: str) -> tuple[Language, ...]:
    """Return the languages whose rules a normalised text is read by, the main one first."""
    if not _CYRILLIC.search(text):
        return (_english(),)
    return (_russian(), _english()) if _LATIN_WORDS.search(text) else (_russian(),)


@cache
def _english() -> Language:
    from sessions.speech.english import ENGLISH  # compiles its rules: what no command starts with

    return ENGLISH


@cache
def _russian() -> Language:
    from sessions.speech.russian import RUSSIAN  # as above

    return RUSSIAN


def core(sentence: Sentence, language: Language) -> str:
    """Return what a sentence says after its openers ("ok, so …")."""
    return language.opener.sub("", sentence.own, count=1)


def idle(sentence: Sentence) -> bool:
    """Whether a sentence is a greeting, thanks, small talk or filler."""
    chunks = _chunks(sentence)
    for language in languages(sentence.folded):
        if language.filler.match(sentence.own) or all(_says_nothing(c, language) for c in chunks):
            return True
    return is_small_talk(sentence.folded)


def onward(sentence: Sentence) -> bool:
    """Whether a sentence only goes on with the talk: "great, let's continue"."""
    found = languages(sentence.folded)
    chunks = _chunks(sentence)
    return any(one.onward.fullmatch(c) for one in found for c in chunks) and idle(sentence)


def _chunks(sentence: Sentence) -> list[str]:
    return [chunk for part in _CHUNK.split(sentence.folded) if (chunk := part.strip(" '-"))]


def _says_nothing(chunk: str, language: Language) -> bool:
    small = language.small.fullmatch(chunk) or language.onward.fullmatch(chunk)
    return bool(small) or is_small_talk(chunk)


def empty(sentence: Sentence) -> bool:
    """Whether a statement has too few words to be kept for themselves."""
    return len(_WORD.findall(sentence.own)) < MIN_WORDS and not _VALUE.search(sentence.own)


def has_value(sentence: Sentence) -> bool:
    """Whether there is a number, a code, a size or a name."""
    own = sentence.own
    if _VALUE.search(own) or _SIZE.search(own):
        return True
    if any(said(language.number, own) for language in languages(own)):
        return True
    names = _NAME.finditer(sentence.text)
    return any(not _I.match(name.group()) and not _called(sentence.text, name) for name in names)


def has_number(text: str) -> bool:
    """Whether a text has a number, in digits or in words."""
    own = normalize(text)
    return any(map(str.isdigit, own)) or any(said(lang.number, own) for lang in languages(own))


def _called(text: str, name: re.Match[str]) -> bool:
    """Whether a name only says who is spoken to: "Yeah Jon, …"."""
    return len(text[: name.start()].split()) == 1 and text[name.end() : name.end() + 1] in ",!."


def kind_of(sentence: Sentence) -> LineKind | None:
    """Return the kind the rules give a sentence by itself, None where they give none.

    Of a question only the statement before it is read, or the order that it politely gives.
    """
    for language in languages(sentence.own):
        text = core(sentence, language)
        if sentence.asks:
            kind = _asked(sentence, text, language)
        elif sentence.role == "user" and language.choice.match(sentence.own):
            kind = "decision"
        else:
            kind = _ruled(sentence, text, language)
        if kind:
            return kind
    return None


def _asked(sentence: Sentence, text: str, language: Language) -> LineKind | None:
    if order := language.order.match(text):
        kind = _ruled(sentence, text[order.end() :].rstrip("?! "), language)
        return kind if kind == "constraint" else None
    *_, last = [None, *language.inner.finditer(text)]
    if last is None:
        return None
    kind = _ruled(sentence, text[: last.start()], language)
    return kind if kind in ("fact", "constraint", "preference", "error") else None


def _advised(kind: LineKind, sentence: Sentence, text: str, start: int, language: Language) -> bool:
    """Whether a failure or a decision is only one that may come, by what stands before it."""
    if kind == "decision" and said(language.vague, sentence.own):
        return True
    advises = sentence.role == "assistant" and kind in ("error", "decision", "rejected")
    found = language.advice.search(text) if advises else None
    return found is not None and found.start() < start


def _ruled(sentence: Sentence, text: str, language: Language) -> LineKind | None:
    claimed: bool | None = None
    valued: bool | None = None
    for rule in language.rules:
        if rule.who != "anyone" and (rule.who == "user") != (sentence.role == "user"):
            continue
        where = sentence.folded if rule.kind == "error" else text
        found = rule.pattern.search(where)
        if not found or _advised(rule.kind, sentence, where, found.start(), language):
            continue
        if rule.valued:
            valued = has_value(sentence) if valued is None else valued
            if not valued:
                continue
        if rule.kind == "error" and language.supposed.match(text):
            continue
        if rule.claimed and rule.kind not in ("error", "outside"):
            claimed = not said(language.others, text) if claimed is None else claimed
            if not claimed:
                continue
        return rule.kind
    return None
