"""Ideas that were turned down, and whether a text takes one up again: `rejections`, `restates`.

By content words, so in other words of the same stems too; not by meaning: a synonym is another
word. A text that denies the idea ("leave out archived projects") does not take it up. Pure.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexing.sparse import normalize, terms
from sessions.types import Line

_COMMON = frozenset(
    terms(
        """
a an the and or but if so then than too also as at by for from in into of on onto to up with
about it its this that these those there here i me my we us our you your he she they them is are
was were be been being am do does did done have has had having will would can could should shall
may might must let lets what which who whom whose when where why how not no yes ok okay well
just maybe perhaps please still now all any some each every other another more use add include
put take make give get show try consider want like need go keep instead after idea option what's
let's it's we'd i'd и или но а да нет не ни если то же ли бы ведь вот уж ну что чтобы как так
это этот эта эти тот та те там тут здесь в во на по с со у к ко о об от до из за под при для без
через над между мы нас нам нами я меня мне мной ты тебя тебе вы вас вам он она они его ее их им
наш ваш мой твой быть есть был была были будет будем можно нужно надо давай давайте может пусть
еще уже тоже также только просто весь все всех всё какой который кто где когда зачем почему
сколько включить включим включать добавить добавим добавлять взять возьмем использовать сделать
сделаем делать попробовать показать поставить хотеть хочу идея вариант вместо лучше
"""
    )
)
"""Stems that carry no idea of their own: function words, and verbs that any proposal has."""

_DENIES = re.compile(
    r"\b(?:no|not|never|without|exclud\w+|except|omit\w*|skip\w*|leave out|left out"
    r"|out of scope|(?:is|are|stays?) out|drop\w*"
    r"|avoid\w*|reject\w*|ruled? out|turned down|instead of|rather than|\w+n['’]t"
    r"|не|нет|ни|без|кроме|исключ\w+|убра\w+|отказ\w+|отклон\w+|отверг\w+|вместо)\b",
    re.IGNORECASE,
)
_NOT_ONLY = re.compile(r"\b(?:not (?:only|just)|не только|не просто)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:.!?…]\s|\s[—–-]\s|\b(?:but|но|а)\b")
_WORD = re.compile(r"[^\W_]+(?:[-./][^\W_]+)*")
_SHARED, _SHARE = 5, 0.6
"""With so many letters, and such a share of the longer one, two words of one root begin alike."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """An idea in its words, the turn that turned it down, and which words are the point of it.

    These are what the refusal names, else what the user had not spoken of before: "archived
    projects in the report?" – "no archived ones" leaves reports and projects wanted.
    """

    words: frozenset[str]
    seq: int
    point: frozenset[str] = frozenset()


def content(text: str) -> frozenset[str]:
    """Return the words of a text that carry its idea.

    >>> sorted(content("What if we include archived projects?"))
    ['archived', 'projects']
    """
    found = _WORD.findall(normalize(text))
    return frozenset(
        word for word in found if len(word) > 1 and not _COMMON.issuperset(terms(word))
    )


def rejections(lines: Sequence[Line]) -> tuple[Rejection, ...]:
    """Return the ideas that lines turn down, but those that the user decided for later on."""
    found = []
    for line in lines:
        if line.kind != "rejected":
            continue
        words = content(line.of) or content(line.text)
        if words and not _taken_up_again(words, line.seq, lines):
            found.append(Rejection(words, line.seq, _point(words, line, lines)))
    return tuple(found)


def _point(words: frozenset[str], refusal: Line, lines: Iterable[Line]) -> frozenset[str]:
    """Return which words of an idea are refused; none where all are as good."""
    if refusal.of and (named := _shared(words, content(refusal.text))):
        return named
    spoken = (line for line in lines if line.role == "user" and line.seq < refusal.seq)
    before = frozenset(word for line in spoken for word in content(line.text))
    return words - _shared(words, before)


def _shared(words: frozenset[str], by: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(_same(word, other) for other in by))


def _taken_up_again(words: frozenset[str], seq: int, lines: Iterable[Line]) -> bool:
    return any(
        line.kind == "decision"
        and line.role == "user"
        and line.seq > seq
        and not denies(line.text)
        and _covered(words, content(f"{line.of} {line.text}")) == 1
        for line in lines
    )


def restates(text: str, turned_down: Iterable[Rejection]) -> bool:
    """Tell whether a text takes up a rejected idea: it has its words and does not deny them.

    It has the point of the idea and half of its words. Where all of them are the point: all, or at
    least half of them, two or more, and nothing of its own.

    >>> idea = (Rejection(content("include archived projects?"), 4),)
    >>> restates("Projects from the archive are part of it", idea)
    True
    >>> restates("Active projects", idea), restates("No archived projects", idea)
    (False, False)
    """
    own = content(text)
    return bool(own) and any(_takes_up(text, own, idea) for idea in turned_down)


def _takes_up(text: str, own: frozenset[str], idea: Rejection) -> bool:
    share = _covered(idea.words, own)
    if idea.point < idea.words and idea.point:
        taken = share >= 0.5 and _covered(idea.point, own) == 1
    else:
        taken = share == 1 or (share >= 0.5 and len(own) > 1 and _covered(own, idea.words) == 1)
    if not taken:
        return False
    clauses = [part for part in _CLAUSE.split(text) if _covered(idea.words, content(part)) >= 0.5]
    return not all(denies(part) for part in clauses or [text])


def barred(line: Line, turned_down: Sequence[Rejection]) -> bool:
    """Tell whether a line takes up a rejected idea; a fact may have the one word of an idea."""
    if line.kind in ("fact", "other"):
        turned_down = [idea for idea in turned_down if len(idea.words) > 1]
    return restates(f"{line.of} {line.text}", turned_down)


def denies(text: str) -> bool:
    """Tell whether a text says no to something."""
    return bool(_DENIES.search(_NOT_ONLY.sub("", text)))


def _covered(words: frozenset[str], by: frozenset[str]) -> float:
    """Return the share of words that others have, the same or of the same root."""
    return len(_shared(words, by)) / len(words)


def _same(one: str, other: str) -> bool:
    if one == other or terms(one) == terms(other):
        return True
    pairs = zip(one, other, strict=False)
    alike = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    return alike >= _SHARED and alike >= _SHARE * max(len(one), len(other))
