"""Which questions of a conversation stay open, and which open matters are settled later."""

import re
from collections.abc import Iterable, Mapping, Sequence

from sessions.speech.classify import idle, languages
from sessions.speech.exchange import Reading, Talk
from sessions.speech.rules import said
from sessions.speech.sentences import Sentence
from sessions.speech.words import content
from sessions.types import LineKind

Place = tuple[int, int]
Readings = dict[Place, Reading]

SETTLING: frozenset[LineKind] = frozenset(
    ("decision", "rejected", "fact", "constraint", "preference")
)
"""Kinds of sentence that can settle an open matter."""

OVERLAP = 1 / 3
"""Part of the terms of an open matter that a sentence has to share to settle it."""

_ASKS = re.compile(r"\?[\s)\"»”]*$")


def open_questions(talk: Talk, readings: Mapping[Place, Reading]) -> Readings:
    """Return the readings of what is asked and not answered.

    A reply that puts the question off is the open matter, about the question; a question without
    a reply is itself.
    """
    found: Readings = {}
    taken = {id(one.of) for one in readings.values() if one.of}
    for turn, sentences in enumerate(talk):
        for place, question in enumerate(sentences):
            asks = question.asks and question.role in ("user", "assistant")
            if not asks or idle(question) or (turn, place) in readings or id(question) in taken:
                continue
            if any(language.check.match(question.own) for language in languages(question.own)):
                continue
            reply = _reply(talk, turn)
            if reply is None:
                found[turn, place] = Reading("unresolved")
            elif reply not in found and _defers(talk[reply[0]][reply[1]]):
                read = readings.get(reply)
                if read is None or read.kind in ("other", "unresolved"):
                    found[reply] = Reading("unresolved", question)
                elif read.kind == "promise":
                    found[turn, place] = Reading("unresolved")
    return found


def _reply(talk: Talk, turn: int) -> Place | None:
    """Return the first statement of the other side after a turn."""
    role = talk[turn][0].role
    other = "assistant" if role == "user" else "user"
    for later in range(turn + 1, len(talk)):
        for place, sentence in enumerate(talk[later]):
            if sentence.role == other and not sentence.asks:
                return later, place
    return None


def _defers(sentence: Sentence) -> bool:
    return any(said(language.deferral, sentence.own) for language in languages(sentence.own))


def settling(read: Reading, sentence: Sentence) -> frozenset[str]:
    """Return the terms of what a sentence can settle; none where it settles nothing."""
    return content(sentence.own) if read.kind in SETTLING else frozenset()


def settled(open_: str, later: Iterable[frozenset[str]]) -> bool:
    """Whether later sentences, by their `settling` terms, are about the same as an open matter."""
    mine = content(open_)
    return bool(mine) and any(len(mine & theirs) >= OVERLAP * len(mine) for theirs in later)


def answered(question: str, role: str, talk: Sequence[Sequence[Sentence]]) -> bool:
    """Whether the other side says something to a question that ended an earlier conversation."""
    if not _ASKS.search(question):
        return False
    other = "assistant" if role == "user" else "user"
    statements = (one for turn in talk for one in turn if one.role == other and not one.asks)
    first = next(statements, None)
    return first is not None and not _defers(first)
