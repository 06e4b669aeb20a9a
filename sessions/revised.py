"""A value said without its name: "make it 3,100", «пусть будет 3 100», after what names it. Pure.

What it is of has to be named right before: in the sentence itself, in the question that it answers,
earlier in the turn, in the turn that it replies to, or in the user's own turn before a reply that
brings up nothing else. Does not guess: where none is named, several fit or what is asked is another
thing, there is no value. The value is a span of the sentence and has the form of what it is of.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chunking.sentences import sentences
from indexing.subjects.attributes import Attribute
from sessions.named import named
from sessions.slots import (
    END,
    MAX_VALUE_WORDS,
    Slot,
    slots_of,
    value_of,
)
from sessions.speech import AROUND
from sessions.types import Line, LoggedTurn

_LEAD = re.compile(
    r"(?:(?P<firm>no|actually|sorry|wait|rather|better|correction|scratch that|on second thought"
    r"|i changed my mind|нет|лучше|точнее|вернее|вообще(?:-то)?|на самом деле|вс[её]-таки"
    r"|извини(?:те)?|передумала?)|(?:ok(?:ay)?|well|yes|yeah|yep|sure|definitely|absolutely"
    r"|of course|exactly|right|great|thanks|also|so|then|but|and|hmm+|oh|да|ага|конечно|точно|верно"
    r"|спасибо|ну|ок|ладно|хорошо|тогда|ещё|еще|также|а|но|и))\b[,:;.!–—-]*(?:\s+|$)",
    re.IGNORECASE,
)
_NAME = r"[^\W\d_][\w -]{1,40}?"
_CHANGE = re.compile(
    r"(?:(?:please|let's|let us|can (?:we|you)|we can) )*"
    r"(?:make|set|put|raise|lower|increase|reduce|change|switch|move|bump|extend|shift|push) "
    rf"(?:(?:it|that|this)(?: (?:up|down|back))?(?: (?:to|at))?|(?:the |my |our )?(?P<en>{_NAME})"
    r" (?:to|at)) |(?:(?:let's )?go with|it(?:'s| is)(?: now)?|now(?: it's| it is)?|let it be) "
    r"|(?:пусть|пускай)(?: это| он| она| оно)? будет |(?:давай(?:те)? )?(?:сделай|поставь|измени"
    r"|поменяй|увеличь|уменьши|подними|повысь|снизь|перенеси|исправь|сдвинь|замени|смени|поменяем"
    r"|изменим|увеличим|поднимем|перенес[её]м|сделаем|поставим)(?:те)?"
    rf"(?: (?:его|е[её]|это|вс[её])| (?P<ru>{_NAME})(?= (?:на|до) ))?(?: (?:на|до))? "
    r"|давай(?:те)?(?: на)? |(?:теперь|сейчас)(?: это)? ",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"(?P<about>[^,:;.!?—]{3,60})(?::|,|\s[—–-])\s+")
_TAIL = re.compile(r"\s+(?P<now>now|instead|теперь|вместо этого)\b|\s+(?:then|please|пожалуйста)\b")
_REST = re.compile(r"\s*(?:[,.;:!(—–-].*)?", re.DOTALL)
_UNSURE = re.compile(r"\?|\b(?:if|unless|maybe|perhaps|или|or|если|может|бы)\b", re.IGNORECASE)
_BROUGHT_UP = re.compile(r"\d|(?<=[\w,] )(?!I\b)[A-ZА-ЯЁ]")
"""A number or a name: a reply with one may have brought up another thing."""

_DIGIT = re.compile(r"\d")
_NAMES = re.compile(r"(?!I(?:['’]\w+)?$)[A-ZА-ЯЁ]|(?:of|the|and|de|и|на)$")

REACH, NEAR = 3, 4
"""Turns before whose names are known, and sentences of a turn that are looked at for one."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What lines stand in: turns in order, and the values that names have had before them."""

    turns: Sequence[LoggedTurn] = ()
    held: Mapping[str, str] = field(default_factory=dict)

    def slots(self, line: Line) -> tuple[Slot, ...]:
        """Return what a line of the user gives values to: names of its own, or one before it."""
        if named := slots_of(line.text):
            return named
        found = _revision(line, self)
        return (found,) if found else ()

    def before(self, line: Line) -> tuple[str, list[LoggedTurn]]:
        """Return the words of its turn before a line, and turns of people before, latest first."""
        end = bisect_right(self.turns, line.seq, key=lambda turn: turn.seq)
        spoken = [turn for turn in self.turns[max(0, end - AROUND) : end] if _speaks(turn)]
        same = spoken.pop().entry.text if spoken and spoken[-1].seq == line.seq else ""
        return same[: max(0, same.find(line.text))], spoken[::-1]


def _speaks(turn: LoggedTurn) -> bool:
    return turn.entry.role in ("user", "assistant") and bool(turn.entry.text.strip())


def _revision(line: Line, dialogue: Dialogue) -> Slot | None:
    if _UNSURE.search(line.text):
        return None
    about, value, firm = _changed(line.text)
    asked = line.of if line.of.rstrip().endswith("?") else ""
    if not (about or asked or firm):
        return None
    own, earlier = dialogue.before(line)
    known = dict(_said(earlier[:REACH])) | dict(dialogue.held)
    if about or asked:
        return _fitting(about or asked, value, known)
    for text in _contexts(own, earlier):
        if named(text, known):
            return _fitting(text, value, known)
        if text.rstrip().endswith("?") or _BROUGHT_UP.search(text):
            return None
    return None


def _changed(text: str) -> tuple[str, str, bool]:
    """Return what a sentence says it is about, the words from its value on, and if it corrects."""
    firm, start = False, 0
    while lead := _LEAD.match(text, start):
        firm, start = firm or bool(lead["firm"]), lead.end()
    about = ""
    topic = _TOPIC.match(text, start)
    change = _CHANGE.match(text, topic.end()) if topic else None
    if topic and change:
        about = topic["about"]
    else:
        change = _CHANGE.match(text, start)
    if change:
        about = change["en"] or change["ru"] or about
        start = change.end()
    tail = _TAIL.search(text, start)
    return about, text[start:], firm or bool(change) or bool(tail and tail["now"])


def _contexts(own: str, earlier: Sequence[LoggedTurn]) -> Iterator[str]:
    """Yield what may name it, the nearest first; of a turn that asks its last question."""
    yield from reversed(_split(own))
    for number, turn in enumerate(earlier[:2]):
        if turn.entry.role != ("assistant", "user")[number]:
            return
        told = _split(turn.entry.text)[::-1]
        yield from [one for one in told if one.endswith("?")][:1] or told[:NEAR]


def _split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def _said(turns: Sequence[LoggedTurn]) -> Iterator[tuple[str, str]]:
    """Yield the names that a user has given values to, with these."""
    for turn in turns:
        for one in _split(turn.entry.text) if turn.entry.role == "user" else ():
            yield from ((slot.name, slot.value) for slot in slots_of(one))


def _fitting(text: str, words: str, known: Mapping[str, str]) -> Slot | None:
    """Return the one thing that a text names and whose form the beginning of the words has."""
    found = {
        key: value
        for key, of in named(text, known).items()
        if (value := _like(of, words) if isinstance(of, str) else _of_shape(of, words))
    }
    return Slot(*found.popitem()) if len(found) == 1 else None


def _of_shape(of: Attribute, words: str) -> str | None:
    value = value_of(of, words, is_said=True)
    return value if value and _ends(words[len(value) :]) else None


def _like(old: str, words: str) -> str | None:
    """Return the value that words begin with, where it has a number or a name as the old one."""
    tail = _TAIL.search(words)
    stop = re.search(r"[,;:!?(—–.](?!\d)", words)
    value = words[: min(one.start() for one in (tail, stop) if one)] if tail or stop else words
    value = value.strip(END)
    numbers = bool(_DIGIT.search(old)), bool(_DIGIT.search(value))
    short = 0 < len(value.split()) <= MAX_VALUE_WORDS
    is_like = all(numbers) or (not any(numbers) and _is_name(value))
    return value if short and is_like else None


def _is_name(value: str) -> bool:
    """Tell whether a value is a name: in quotes, or of words that begin with a capital."""
    return value[:1] in ("«", '"', "“") or all(map(_NAMES.match, value.split()))


def _ends(rest: str) -> bool:
    """Tell whether no word that belongs to a value comes behind it."""
    tail = _TAIL.match(rest)
    return _REST.fullmatch(rest, tail.end() if tail else 0) is not None
