"""Which of the memories that were found are shown, in the space there is. Pure.

What the context shows already is not shown twice: turns of the window, sentences of digest and
facts. The best are shown first; one that does not fit is passed over, and a shorter one may fit.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from indexing.types import Memory, Mention
from retrieval.sql.types import Answer
from retrieval.types import Hit
from sessions.costs import MESSAGE
from sessions.layers import (
    RETRIEVED_HEAD,
    answer_text,
    hit_text,
    plain,
    retrieved_text,
    word_for_word,
)
from sessions.types import CountTokens


@dataclass(frozen=True, slots=True)
class Visible:
    """What a context shows beside memories: all its text, and turns by their ids; `plain`.

    In ``text`` a line feed is between one text and the next.
    """

    session_id: str
    text: str
    turns: Mapping[str, str]
    facts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Recalled:
    """The layer of memories: its text and tokens, and what is not in it.

    ``ids`` are those of the memories shown. Of the hits before the last one shown ``twice`` are in
    the context already; ``over`` did not fit, answers of databases included.
    """

    text: str = ""
    tokens: int = 0
    ids: tuple[str, ...] = ()
    answers: int = 0
    twice: int = 0
    over: int = 0


@dataclass(frozen=True, slots=True)
class Recall:
    """The hits and answers on a question, best first, and how many hits may be shown."""

    hits: Sequence[Hit]
    answers: Sequence[Answer]
    most: int
    count: CountTokens
    now: datetime | None = None
    _shown: dict[tuple[str, bool], str] = field(default_factory=dict, init=False, compare=False)

    def fill(self, limit: int | None, visible: Visible) -> Recalled:
        """Return the best that fit ``limit`` tokens; None is no limit."""
        shown: list[tuple[str, str]] = []  # text, id of the memory or "" for an answer
        left = math.inf if limit is None else limit - self._cost(RETRIEVED_HEAD)
        for text in (answer_text(answer, self.now) for answer in self.answers):
            if (cost := self.count(text) + 1) <= left:
                shown.append((text, ""))
                left -= cost
        over, twice, last = len(self.answers) - len(shown), 0, len(shown) + self.most
        for hit in self.hits:
            if len(shown) == last:
                break
            if _is_visible(hit, visible):
                twice += 1
                continue
            for text in self._forms(hit, visible):
                if (cost := self.count(text) + 1) <= left:
                    shown.append((text, hit.memory.id))
                    left -= cost
                    break
            else:
                over += 1
        while limit is not None and self._tokens(shown) > limit:  # parts may count less than a sum
            shown.pop()
            over += 1
        ids = tuple(name for _, name in shown if name)
        text = retrieved_text([text for text, _ in shown]) if shown else ""
        return Recalled(text, self._tokens(shown), ids, len(shown) - len(ids), twice, over)

    def _forms(self, hit: Hit, visible: Visible) -> Iterator[str]:
        """Yield a hit with what stands around it, if none of that is shown yet, and without."""
        around = hit.passage.memories if hit.passage else ()
        if not any(_is_shown(memory, visible) for memory in around):
            yield self._text(hit, visible.session_id)
        if hit.passage:
            yield self._text(replace(hit, passage=None), visible.session_id)

    def _text(self, hit: Hit, session_id: str) -> str:
        """Return a hit, fenced; the same only once."""
        name = hit.memory.id, hit.passage is None
        if name not in self._shown:
            self._shown[name] = hit_text(hit, session_id)
        return self._shown[name]

    def _tokens(self, shown: Sequence[tuple[str, str]]) -> int:
        return self._cost(retrieved_text([text for text, _ in shown])) if shown else 0

    def _cost(self, text: str) -> int:
        return MESSAGE + self.count(text)


def _is_visible(hit: Hit, visible: Visible) -> bool:
    """Tell whether a context shows what a hit says: its turn, or its text word for word."""
    memory = hit.memory
    if memory.id in visible.facts or any(_is_shown(each, visible) for each in (memory, *hit.also)):
        return True
    return word_for_word(plain(memory.text), visible.text)


def _is_shown(memory: Memory, visible: Visible) -> bool:
    """Tell whether a turn of this session that says it is shown, with the part that says it."""
    places: Iterable[Mention] = (memory, *memory.also)
    here = (place for place in places if place.conversation_id == visible.session_id)
    return any(
        word_for_word(plain(place.text), visible.turns[place.turn_id])
        for place in here
        if place.turn_id in visible.turns
    )
