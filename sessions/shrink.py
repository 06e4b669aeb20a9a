"""Groups of turns in the space there is: results of tools are cut first, then turns left out. Pure.

A cut text says that it is one and which turn has all of it. Everything else is word for word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sessions.cache import Lease
from sessions.costs import message_tokens
from sessions.groups import AsMessage, Group, messages_of
from sessions.purpose import purpose
from sessions.truncate import cut
from sessions.types import CountTokens, Cut, LoggedTurn, Message

LEAST = 48
"""Tokens of a text that are worth showing; a longer one is not cut below."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A group as it is shown. ``cuts`` are the tokens left out by ``seq``, ``kinds`` of what."""

    group: Group
    texts: Mapping[int, str]
    messages: tuple[Message, ...]
    tokens: int
    cuts: Mapping[int, int] = field(default_factory=dict)
    kinds: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shrink:
    """How groups are shown and cut: by which counter, with which fields of JSON.

    ``said`` is what the user said last before each turn: a text is cut by its `purpose`, not by
    what is asked now, so its bytes stay from question to question.
    """

    count: CountTokens
    as_message: AsMessage
    lease: Lease
    said: Mapping[int, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()

    def show(self, group: Group) -> Shown:
        """Return a group as it is."""
        return self._shown(group, {}, {}, {})

    def compress(self, shown: Shown, limit: int) -> Shown:
        """Cut the results of tools in a group to a limit of tokens each."""
        return self._cut(shown, {t.seq: limit for t in _results(shown) if self._size(t) > limit})

    def shorten(self, shown: Shown, limit: int) -> Shown | None:
        """Cut the longest texts of a group until it takes ``limit`` tokens; None where it cannot.

        No text is cut below `LEAST`, each to a multiple of it: few cuts differ.
        """
        sizes = sorted((self._size(turn), turn.seq) for turn in shown.group)
        whole = self._shown(shown.group, {}, {}, {})
        left = limit - (whole.tokens - sum(size for size, _ in sizes))
        limits: dict[int, int] = {}
        for place, (size, seq) in enumerate(sizes):
            share = left // (len(sizes) - place)
            if size > share:
                share = share // LEAST * LEAST
                if share < LEAST:
                    return None
                limits[seq] = share
            left -= min(size, share)
        short = self._cut(shown, limits)
        return short if short.tokens <= limit else None

    def most(self, shown: Shown, limit: int) -> int:
        """Return the most that a group takes once it is compressed, without doing it."""
        return shown.tokens - sum(max(0, self._size(t) - limit) for t in _results(shown))

    def keep(self, shown: Sequence[Shown], limit: int, *, newest: bool) -> list[Shown]:
        """Return the groups that fit ``limit`` tokens, from one end, without a hole.

        The group that does not fit whole is shortened where that leaves something to read.
        """
        kept: list[Shown] = []
        for one in reversed(shown) if newest else shown:
            if one.tokens > limit:
                if short := self.shorten(one, limit):
                    kept.append(short)
                break
            kept.append(one)
            limit -= one.tokens
        return kept[::-1] if newest else kept

    def _size(self, turn: LoggedTurn) -> int:
        return self.count(turn.entry.text)

    def _cut(self, shown: Shown, limits: Mapping[int, int]) -> Shown:
        """Cut the whole texts of turns anew, each to its limit."""
        if not limits:
            return shown
        texts, cuts, kinds = {}, dict(shown.cuts), dict(shown.kinds)
        for turn in shown.group:
            texts[turn.seq] = shown.texts[turn.seq]
            if limit := limits.get(turn.seq):
                left = self._cut_text(turn, limit)
                texts[turn.seq] = left.text
                cuts[turn.seq], kinds[turn.seq] = left.dropped, left.kind
        return self._shown(shown.group, texts, cuts, kinds)

    def _cut_text(self, turn: LoggedTurn, limit: int) -> Cut:
        """Cut one text, the same only once."""
        query = purpose(turn.entry, self.said.get(turn.seq, ""))
        text, reference = turn.entry.text, f"turn {turn.seq}"
        return self.lease.cut(
            (text, str(limit), query, reference, *self.fields),
            lambda: cut(
                text, limit, self.count, query=query, fields=self.fields, reference=reference
            ),
        )

    def _shown(
        self,
        group: Group,
        texts: Mapping[int, str],
        cuts: Mapping[int, int],
        kinds: Mapping[int, str],
    ) -> Shown:
        texts = {turn.seq: texts.get(turn.seq, turn.entry.text) for turn in group}
        said = group if not cuts else tuple(_saying(turn, texts[turn.seq]) for turn in group)
        messages = tuple(messages_of(said, self.as_message))
        tokens = sum(message_tokens(message, self.count) for message in messages)
        return Shown(group, texts, messages, tokens, cuts, kinds)


def _saying(turn: LoggedTurn, text: str) -> LoggedTurn:
    return replace(turn, entry=replace(turn.entry, text=text))


def _results(shown: Shown) -> list[LoggedTurn]:
    return [turn for turn in shown.group if turn.entry.role == "tool"]
