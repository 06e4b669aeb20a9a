"""What a sentence owes to the turns before it: yes, no and short answers to what was offered.

A conversation is its turns, each the list of its sentences; a place is a turn and a sentence in it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from indexing.sparse import terms
from sessions.speech.classify import core, has_value, idle, languages, onward
from sessions.speech.rules import said
from sessions.speech.sentences import Sentence
from sessions.types import LineKind

Talk = Sequence[Sequence[Sentence]]

REACH = 2
"""Turns of user and assistant that a "no" looks back for the idea it turns down."""

BRIEF = 6
"""Words of an answer that has no sense without its question."""

SHORT = 3
"""Words after a "no" that can only explain it."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_NUMBER = re.compile(r"\d+")
_PERSON = re.compile(
    r"(?:i|it|that|this|you|he|she|they|there|we|my|what|how|why|with|я|это|ты|вы|он|она|они|мне|у|как|что)\b"
)
_APART = re.compile(r"[ ,.!;:-]*(?:$|(?<=[,.!;:-]) ?)")
_POINTS = re.compile(r"\b(?:it|that|this|so|them|those|these|так|это|этого|их|его|ее|такой)\b")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence is in its place, and the sentence it is about, if another says it."""

    kind: LineKind
    of: Sentence | None = None


@dataclass(slots=True)
class Exchange:
    """The talk so far; an idea or question is answered once."""

    talk: Talk
    _done: set[int] = field(default_factory=set)

    def answer(self, turn: int, place: int, kind: LineKind | None) -> Reading | None:
        """Return what a statement is as an answer, None where it answers nothing.

        ``kind`` is what it is by itself. Places are to be asked for in their order.
        """
        sentence = self.talk[turn][place]
        opens = all(idle(one) for one in self.talk[turn][:place])
        if sentence.role == "assistant" and not opens:
            return None
        if onward(sentence):
            return None
        stance = _stance(sentence, kind)
        if stance == "no":
            return self._refused(turn, place, kind, opens)
        if sentence.role != "user" or not opens:
            return None
        asked = self._asked(turn)
        if stance == "yes":
            return self._confirmed(turn, kind, asked, _orders(sentence))
        brief = len(_WORD.findall(sentence.own)) <= BRIEF and not idle(sentence)
        if asked and brief and (kind == "fact" or (kind is None and _fits(sentence, asked))):
            return self._about(asked, "decision" if _proposes(asked) else _sought(asked))
        return None

    def found(self, turn: int, sentence: Sentence) -> bool:
        """Whether a number of the sentence comes from a tool's result since the user spoke."""
        numbers = set(_NUMBER.findall(sentence.own))
        for earlier in reversed(self.talk[:turn] if numbers else ()):
            if earlier and earlier[0].role == "user":
                return False
            if any(
                one.role == "tool" and numbers & set(_NUMBER.findall(one.own)) for one in earlier
            ):
                return True
        return False

    def _refused(self, turn: int, place: int, kind: LineKind | None, opens: bool) -> Reading | None:
        sentence = self.talk[turn][place]
        idea = next(self._ideas(turn, place), None)
        if idea and sentence.role == "assistant" and idea.role == "assistant":
            return None
        if idea and self._turns_down(sentence, idea, kind, opens):
            return self._about(idea, "rejected")
        if _names(sentence):
            return None
        if kind not in (None, "rejected") or sentence.role == "assistant" or not opens:
            return None
        if kind is None and (asked := self._asked(turn)):
            return self._about(asked, _sought(asked))
        before = [one for one in self._before(turn) if not idle(one) and not one.asks]
        clear = len(_WORD.findall(sentence.own)) > 1
        if before and (shared(sentence, before[-1]) if kind else clear):
            return self._about(before[-1], "rejected")
        return None

    @staticmethod
    def _turns_down(sentence: Sentence, idea: Sentence, kind: LineKind | None, opens: bool) -> bool:
        """Whether a refusal is about an idea; one that names something else is not."""
        if _names(sentence):
            return bool(_terms(sentence) & set(terms(idea.own)))
        return opens or kind != "rejected" or shared(sentence, idea)

    def _confirmed(
        self, turn: int, kind: LineKind | None, asked: Sentence | None, ordered: bool
    ) -> Reading | None:
        """Read a "yes"; ``ordered``: an order of its own comes with it ("fine, roll it back")."""
        offered = [one for one in self._before(turn) if self._offers(one)]
        if offered and (asked is None or _proposes(asked) or _checks(asked)):
            return self._about(offered[-1], "decision")
        if asked and _checks(asked):
            stated = [one for one in self._before(turn) if not one.asks and not idle(one)]
            return self._about(stated[-1], "decision") if stated else None
        if asked:
            return self._about(asked, _sought(asked)) if kind is None else None
        stated = [one for one in self._before(turn) if not idle(one)]
        return self._about(stated[-1], "decision") if stated and ordered and not kind else None

    def _about(self, of: Sentence, kind: LineKind) -> Reading:
        self._done.add(id(of))
        return Reading(kind, of)

    def _ideas(self, turn: int, place: int) -> Iterator[Sentence]:
        """Yield the ideas before a place that nobody has answered yet, the nearest first."""
        yield from (one for one in reversed(self.talk[turn][:place]) if self._offers(one))
        spoken = (one for one in reversed(self.talk[:turn]) if one and one[0].role != "tool")
        for earlier in islice(spoken, REACH):
            yield from (one for one in reversed(earlier) if self._offers(one))

    def _offers(self, sentence: Sentence) -> bool:
        dialogue = sentence.role in ("user", "assistant")
        return dialogue and id(sentence) not in self._done and _proposes(sentence)

    def _before(self, turn: int) -> Sequence[Sentence]:
        """Return the turn of the other side that this one follows."""
        for earlier in reversed(self.talk[:turn]):
            if earlier and earlier[0].role in ("user", "assistant"):
                return earlier if earlier[0].role != self.talk[turn][0].role else ()
        return ()

    def _asked(self, turn: int) -> Sentence | None:
        """Return the last real question of the turn before."""
        found = [one for one in self._before(turn) if one.asks and not idle(one)]
        return found[-1] if found else None


def shared(one: Sentence, other: Sentence) -> bool:
    """Whether one sentence has a number or a longer term of the other, or points at it."""
    return bool(_terms(one) & set(terms(other.own))) or said(_POINTS, one.own)


def _terms(sentence: Sentence) -> set[str]:
    return {term for term in terms(sentence.own) if len(term) > 3 or term.isdigit()}


def _stance(sentence: Sentence, kind: LineKind | None) -> Literal["yes", "no", ""]:
    if sentence.role == "user" and _names(sentence):
        return "no"
    for language in languages(sentence.own):
        text = core(sentence, language)
        if no := language.no.match(sentence.own):
            apart = _APART.match(sentence.own, no.end())
            rest = sentence.own[apart.end() :] if apart else ""
            again = apart and (not rest or language.negative.match(rest))
            short = len(_WORD.findall(rest)) <= SHORT or not apart
            if again or kind == "rejected" or (kind is None and short):
                return "no"
        mine = sentence.role == "user" and not idle(sentence)
        refusable = mine and kind in (None, "rejected", "constraint")
        if refusable and said(language.refusal, sentence.own):
            return "no"
        if language.yes.match(sentence.own) or language.assent.match(text):
            brief = len(_WORD.findall(text)) <= BRIEF
            return "yes" if brief and kind in (None, "decision", "promise") else ""
    return ""


def _fits(sentence: Sentence, question: Sentence) -> bool:
    """Whether a few words without a verb of their own can answer the question."""
    open_ = any(said(language.open, question.own) for language in languages(question.own))
    return has_value(sentence) or (open_ and len(_WORD.findall(sentence.own)) <= BRIEF)


def _orders(sentence: Sentence) -> bool:
    """Whether words of their own, about no person, come after a yes."""
    for language in languages(sentence.own):
        rest = core(sentence, language)
        if rest != sentence.own and rest and not _PERSON.match(rest) and not idle(sentence):
            return len(_WORD.findall(rest)) > 1 or not language.small.fullmatch(rest.strip(" .!"))
    return False


def _proposes(sentence: Sentence) -> bool:
    found = languages(sentence.own)
    asked = sentence.role == "user" and sentence.asks
    if asked and any(language.inquiry.match(sentence.own) for language in found):
        return False
    return any(said(language.proposal, sentence.own) for language in found) and not idle(sentence)


def _names(sentence: Sentence) -> bool:
    """Whether a refusal says itself what it refuses: "no wool for me"."""
    return any(language.named.match(sentence.own) for language in languages(sentence.own))


def _checks(sentence: Sentence) -> bool:
    return any(language.check.match(sentence.own) for language in languages(sentence.own))


def _sought(question: Sentence) -> LineKind:
    """Return what a plain answer to a question is: a requirement or a fact."""
    found = languages(question.own)
    return "constraint" if any(said(each.demand, question.own) for each in found) else "fact"
