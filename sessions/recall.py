"""Which of the memories that were found are shown, and in which form, in the space there is. Pure.

What the context shows already is not shown twice: turns of the window, sentences of digest and
facts. The best come first, each as short as it can be read, so that many fit; what room is left
makes the best whole again. One that does not fit is passed over, and a shorter one may fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from retrieval.coverage import content_terms
from retrieval.sql.types import Answer
from retrieval.types import Hit
from sessions.beside import Beside
from sessions.cache import Lease
from sessions.candidates import Candidate, candidates, says_nothing
from sessions.costs import MESSAGE
from sessions.forms import Forms
from sessions.layers import RETRIEVED_HEAD, answer_text, retrieved_text
from sessions.material import Material
from sessions.types import CountTokens
from sessions.visible import Visible


@dataclass(frozen=True, slots=True)
class Recalled:
    """The layer of memories: its text and tokens, and what is not in it.

    ``ids`` are those of the memories shown, ``brought`` the turns of results that came with them.
    Of the hits before the last one shown ``twice`` are in the context already; ``over`` did not
    fit, answers of databases included.
    """

    text: str = ""
    tokens: int = 0
    ids: tuple[str, ...] = ()
    answers: int = 0
    brought: tuple[int, ...] = ()
    twice: int = 0
    over: int = 0


@dataclass(slots=True)
class _Shown:
    """A text in its place; ``of`` is what it is a form of, None for an answer of a database."""

    text: str
    cost: int
    of: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """What may be shown on a question, best first, and how many hits of it at most."""

    found: Sequence[Candidate]
    answers: Sequence[Answer]
    most: int
    count: CountTokens
    forms: Forms
    now: datetime | None = None

    def wanted(self, visible: Visible) -> int:
        """Return about how many tokens all of it takes, each in its short form."""
        sizes = [self.count(answer_text(answer, self.now)) for answer in self.answers]
        frame = self.forms.frame
        hits = 0
        for found in self.found:
            if hits == self.most:
                break
            if found.brings or not visible.shows(found.hit.memory):
                sizes.append(self.forms.size(found) + frame)
                hits += not found.brings
        return self._cost(RETRIEVED_HEAD) + sum(sizes) + len(sizes) if sizes else 0

    def fill(self, limit: int, visible: Visible) -> Recalled:
        """Return the best that fit ``limit`` tokens."""
        shown: list[_Shown] = []
        left = limit - self._cost(RETRIEVED_HEAD)
        for answer in self.answers:
            one = self._made(answer_text(answer, self.now))
            if one.cost <= left:
                shown.append(one)
                left -= one.cost
        over, twice, hits = len(self.answers) - len(shown), 0, 0
        for found in self.found:
            if hits == self.most:
                break
            if self._is_visible(found, visible):
                twice += not found.brings
                continue
            if self.forms.may_fit(found, left):
                one = self._made(self.forms.short(found), found)
                if one.cost <= left:
                    shown.append(one)
                    left -= one.cost
                    hits += not found.brings
                    continue
            over += not found.brings
        self._widen(shown, left, visible)
        tokens = self._tokens(shown)
        while tokens > limit:  # parts may count less than a sum
            last = shown.pop()
            over += last.of is None or not last.of.brings
            tokens = self._tokens(shown)
        of = [one.of for one in shown if one.of]
        return Recalled(
            retrieved_text([one.text for one in shown]) if shown else "",
            tokens,
            tuple(one.hit.memory.id for one in of if not one.brings),
            len(shown) - len(of),
            tuple(one.result.seq for one in of if one.brings and one.result),
            twice,
            over,
        )

    def _widen(self, shown: Sequence[_Shown], left: int, visible: Visible) -> None:
        """Make what is shown as whole as there is room, the best first."""
        for one in shown:
            for text in self.forms.whole(one.of, visible) if one.of else ():
                if text == one.text:
                    break
                wide = self._made(text, one.of)
                if wide.cost - one.cost <= left:
                    left -= wide.cost - one.cost
                    one.text, one.cost = wide.text, wide.cost
                    break

    def _is_visible(self, found: Candidate, visible: Visible) -> bool:
        if found.brings and found.result:
            entry = found.result.entry
            return visible.has_result(entry.turn_id, entry.text)
        return visible.has(found.hit)

    def _made(self, text: str, of: Candidate | None = None) -> _Shown:
        return _Shown(text, self.count(text) + 1, of)

    def _tokens(self, shown: Sequence[_Shown]) -> int:
        return self._cost(retrieved_text([one.text for one in shown])) if shown else 0

    def _cost(self, text: str) -> int:
        return MESSAGE + self.count(text)


def recall(
    material: Material,
    hits: Sequence[Hit],
    answers: Sequence[Answer],
    beside: Beside,
    most: int,
    count: CountTokens,
    lease: Lease,
) -> Recall:
    """Return what of the hits may be shown in the session of a material."""
    found = candidates(
        hits,
        material.session_id,
        beside,
        material.replaced,
        lambda text: lease.judged(text, says_nothing),
    )
    words = content_terms(material.question)
    forms = Forms(material.question, material.session_id, words, count, lease)
    return Recall(found, answers, most, count, forms, material.now)
