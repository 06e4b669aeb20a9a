"""The hits of a question in the order in which they may be shown, with what belongs to them. Pure.

A turn of a tool's group brings the result, once, right behind it. Of the same call the last result
stands in for earlier ones; a turn whose only value was replaced is left out. What only asks, or is
small talk, comes behind all else.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from indexing.types import Memory
from retrieval.types import Hit
from sessions.beside import Beside
from sessions.replaced import Replacements, marks
from sessions.small_talk import MOST, is_small_talk
from sessions.speech import is_question
from sessions.types import LoggedTurn

SMALL = MOST * 12
"""Characters of a text that may be small talk."""

Judge = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hit, or the ``result`` that it ``brings`` in its stead or behind it.

    A hit that is a result of a tool has its turn as ``result``. ``asked`` is the user's word that a
    result was fetched for. ``mark`` says what replaced a value in the hit, ``seq`` which turn of
    this session it is, 0 for none.
    """

    hit: Hit
    result: LoggedTurn | None = None
    brings: bool = False
    asked: str = ""
    mark: str = ""
    seq: int = 0


def says_nothing(text: str) -> bool:
    """Tell whether a turn only asks, or is small talk.

    >>> says_nothing("Is the parka warm?"), says_nothing("The parka is warm.")
    (True, False)
    """
    return ("?" in text and is_question(text)) or (len(text) <= SMALL and is_small_talk(text))


def _may_say_nothing(memory: Memory) -> bool:
    """Tell whether it is worth asking: most turns are neither short nor have a question."""
    return memory.kind == "turn" and (len(memory.text) <= SMALL or "?" in memory.text)


def candidates(
    hits: Sequence[Hit],
    session_id: str,
    beside: Beside,
    replaced: Replacements,
    judge: Judge = says_nothing,
) -> list[Candidate]:
    """Return what may be shown, best first; what ``judge`` finds to say nothing comes last."""
    told: list[Candidate] = []
    idle: list[Candidate] = []
    placed: set[int] = set()
    around = frozenset(_around(hits, session_id))
    for hit in hits:
        seq = beside.seqs.get(hit.memory.turn_id, 0) if is_here(hit.memory, session_id) else 0
        mark = marks(hit.memory.text, replaced[seq]) if seq in replaced else ""
        if mark is None:
            continue
        newest = beside.results.get(beside.latest.get(seq, 0))
        if newest is not None:
            if newest.seq not in placed:
                told.append(_result(hit, newest, seq, beside))
            placed.add(newest.seq)
            continue
        group = [beside.results.get(one) for one in beside.groups.get(seq, ())]
        brought = [one for one in group if one and one.seq not in placed]
        brought = [one for one in brought if one.entry.turn_id not in around]
        placed.update(one.seq for one in brought)
        only_asks = not brought and _may_say_nothing(hit.memory) and judge(hit.memory.text)
        (idle if only_asks else told).append(Candidate(hit, mark=mark, seq=seq))
        told += [_result(hit, one, seq, beside) for one in brought]
    return [*told, *idle]


def _result(hit: Hit, result: LoggedTurn, seq: int, beside: Beside) -> Candidate:
    asked = beside.asked.get(result.seq, "")
    return Candidate(hit, result, result.seq != seq, asked)


def is_here(memory: Memory, session_id: str) -> bool:
    """Tell whether a memory is a turn of this very session."""
    return memory.scope.collection == "session" and memory.conversation_id == session_id


def _around(hits: Sequence[Hit], session_id: str) -> Iterator[str]:
    """Yield the turns that stand around hits already."""
    for hit in hits:
        for memory in hit.passage.memories if hit.passage else ():
            if is_here(memory, session_id):
                yield memory.turn_id
