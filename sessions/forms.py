"""A memory for a reader, whole or in few tokens, fenced: `Forms`. Pure.

Word for word either way. A result of a tool is cut by its kind and by what it was fetched for, the
same in every context; where that leaves out words of the question, the first is cut by those.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from retrieval.talk import said
from sessions.cache import Lease
from sessions.candidates import Candidate
from sessions.excerpt import excerpt, shares
from sessions.fence import fence
from sessions.layers import memory_text, result_text
from sessions.purpose import purpose
from sessions.truncate import cut
from sessions.types import CountTokens, Cut
from sessions.visible import Visible

SHORT = 100
"""Tokens of a text that is shown as it is; of a longer one so many are."""

RESULT = 100
"""The same of a tool's result."""

WHOLE = 400
"""Tokens of a result that is shown whole, where there is room."""

FRAME = fence("memory", "", source="turn 100", date="2026-11-01")
"""What is around each text, more or less."""

ANEW = 1
"""Results that are cut by the question: it takes some milliseconds for each."""


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of the candidates for one question; each is made once, when it is asked for.

    ``words`` are the question's content terms.
    """

    question: str
    session_id: str
    words: frozenset[str]
    count: CountTokens
    lease: Lease
    _made: dict[tuple[str, str], str] = field(default_factory=dict, init=False, compare=False)
    _anew: list[int] = field(default_factory=list, init=False, compare=False)

    @property
    def frame(self) -> int:
        """About the tokens of a fence."""
        return self.count(FRAME)

    def size(self, one: Candidate) -> int:
        """Return the tokens of a candidate's text in its short form; of a longer one the most."""
        if one.result:
            return min(one.result.tokens, RESULT)
        return min(self.count(_bare(one)), SHORT)

    def may_fit(self, one: Candidate, left: int) -> bool:
        """Tell without making it whether so many tokens are enough for a candidate's short form.

        Of a long text half its size may do.
        """
        size = self.size(one)
        return self.frame // 2 + (size if size < SHORT else SHORT // 2) <= left

    def short(self, one: Candidate) -> str:
        """Return a candidate in few tokens."""
        return self._once(one, "short", self._result if one.result else self._excerpt)

    def whole(self, one: Candidate, visible: Visible) -> Iterator[str]:
        """Yield it with what stands around it, if none of that is shown yet, and without.

        A long result of a tool is as much of it as is indexed, unless it was cut by the question.
        """
        if one.result:
            if one.result.tokens <= WHOLE:
                yield result_text(one.result, one.result.entry.text)
            elif not one.brings and one.result.seq not in self._anew:
                yield result_text(one.result, one.hit.memory.text)
            return
        around = one.hit.passage.memories if one.hit.passage else ()
        if around and not any(map(visible.shows, around)):
            yield self._once(one, "around", lambda one: self._text(one, one.hit.text))
        yield self._once(one, "whole", lambda one: self._text(one, _bare(one)))

    def _excerpt(self, one: Candidate) -> str:
        text = _bare(one)
        if self.count(text) > SHORT:
            memory = one.hit.memory
            kept = excerpt(memory.text, self.words, SHORT, self.count)
            text = said(memory, kept) if kept else text
        return self._text(one, text)

    def _text(self, one: Candidate, text: str) -> str:
        return memory_text(one.hit.memory, text, self.session_id, one.mark, one.seq)

    def _result(self, one: Candidate) -> str:
        """Return a result cut by its purpose, or by the question where that says more."""
        if one.result is None:
            return ""
        entry, reference = one.result.entry, f"turn {one.result.seq}"
        if one.result.tokens <= RESULT:
            return result_text(one.result, entry.text)

        def made(query: str, kind: str | None = None) -> Cut:
            return cut(entry.text, RESULT, self.count, query, kind=kind, reference=reference)

        query = purpose(entry, one.asked)
        usual = self.lease.cut((entry.text, str(RESULT), query, reference), lambda: made(query))
        text = usual.text
        if len(self._anew) < ANEW and self._is_missing(text, entry.text):
            self._anew.append(one.result.seq)
            text = made(f"{self.question} {purpose(entry, '')}", usual.kind).text
        return result_text(one.result, text)

    def _is_missing(self, kept: str, text: str) -> bool:
        """Tell whether a text has words of the question that what is kept of it has not."""
        return shares(self.words, text) > shares(self.words, kept)

    def _once(self, one: Candidate, form: str, make: Callable[[Candidate], str]) -> str:
        name = f"turn {one.result.seq}" if one.result else one.hit.memory.id
        if (name, form) not in self._made:
            self._made[name, form] = make(one)
        return self._made[name, form]


def _bare(one: Candidate) -> str:
    return said(one.hit.memory, one.hit.memory.text)
