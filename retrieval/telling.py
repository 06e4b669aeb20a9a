"""How much a turn of talk looks like one that tells something: what a rank from afar cannot see.

Of two turns about the same thing the one that asks is no answer and the one that tells is; a
question that names somebody is mostly answered by what they said; one that asks when, by a turn
with a time in it. Pure functions of the question and the turn, no model. The weights are fitted on
one half of LoCoMo's conversations (``python -m evals.telling``), in standard deviations of the
fused scores. Measured in docs/rerank.md.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from indexing.sparse import terms

_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_NUMBER = re.compile(r"\d")
_WHEN = re.compile(
    r"\b(?:when|how long|how many (?:days|weeks|months|years)|what (?:year|month|day|date|time)|"
    r"which (?:year|month|day)|когда|как давно|как долго|с каких пор|сколько (?:времени|лет|дней|"
    r"недель|месяцев)|в каком году|в каком месяце|какого числа|в какой день)\b",
    re.I,
)
_TIME = re.compile(
    r"\d|\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weeks?|weekend|months?|years?|days?|"
    r"morning|evening|night|summer|winter|spring|autumn|fall|january|february|march|april|in may|"
    r"june|july|august|september|october|november|december|\w+day|вчера|сегодня|завтра|позавчера|"
    r"назад|прошл\w+|следующ\w+|недел\w+|месяц\w*|год\w*|лет|дн(?:я|ей)|день|утр\w+|вечер\w*|"
    r"ноч\w+|летом|зимой|весной|осенью|январ\w+|феврал\w+|март\w*|апрел\w+|ма[йя]|июн\w+|июл\w+|"
    r"август\w*|сентябр\w+|октябр\w+|ноябр\w+|декабр\w+|понедельник\w*|вторник\w*|сред[уы]|"
    r"четверг\w*|пятниц\w+|суббот\w+|воскресень\w+)\b",
    re.I,
)
STATED = 10
"""Characters that a turn counts as having stated beside its own."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What is known of a turn: who said it, what, and the turn before."""

    speaker: str
    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign counts, in standard deviations of the fused scores.

    ``named``: the speaker is named in the question. ``asking``: the share of the turn that asks.
    ``told``: the logarithm of the characters that it states. ``timed``: the question asks for a
    time and the turn has one. ``number``: it has a digit. ``answers``: the turn before asks.
    """

    named: float = 0.44
    asking: float = -2.38
    told: float = 0.41
    timed: float = 1.9
    number: float = 0.58
    answers: float = 0.65


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for in turns: the question's stems, and whether it asks for a time."""

    stems: frozenset[str]
    when: bool


def asked(query: str) -> Asked:
    """Read a question, once for all turns."""
    return Asked(frozenset(terms(query)), bool(_WHEN.search(query)))


def signs(question: Asked, turn: Turn) -> tuple[float, ...]:
    """Return the signs in the order of `Weights`.

    >>> turn = Turn("Ann", "I moved in May. You?", "Tom: what's new?")
    >>> [round(sign, 2) for sign in signs(asked("When did Ann move?"), turn)]
    [1.0, 0.25, 3.22, 1.0, 0.0, 1.0]
    """
    sentences = _SENTENCE.findall(turn.text)
    whole = sum(map(len, sentences))
    asks = sum(len(each) for each in sentences if each.rstrip().endswith("?"))
    return (
        float(not question.stems.isdisjoint(terms(turn.speaker))),
        asks / whole if whole else 0.0,
        math.log(STATED + whole - asks),
        float(question.when and bool(_TIME.search(turn.text))),
        float(bool(_NUMBER.search(turn.text))),
        float(turn.before.rstrip().endswith("?")),
    )


def telling(query: str, turns: Sequence[Turn | None], weights: Weights) -> NDArray[np.float64]:
    """Return what to add to each fused score in standard deviations; None is no turn, and gets 0.

    The mean over the turns is taken off, so that turns as a whole neither gain nor lose.
    """
    added = np.zeros(len(turns))
    places = [place for place, turn in enumerate(turns) if turn is not None]
    if places:
        question = asked(query)
        rows = np.array([signs(question, turn) for turn in turns if turn is not None])
        values = rows @ np.array(astuple(weights))
        added[places] = values - values.mean()
    return added
