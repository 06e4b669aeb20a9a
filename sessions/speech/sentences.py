"""Turns -> sentences with the text that rules see. Code and URLs are neither split nor read.

A sentence is a span of its turn. A newline ends one unless the next line goes on in small letters;
lines quoted with ">" are not the speaker's and are left out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from chunking.sentences import FINAL, OPEN, sentences
from indexing.sparse import normalize
from sessions.types import LoggedTurn, Role

Span = tuple[int, int]

ABBREVIATIONS = OPEN | FINAL

LONGEST = 600
LONGEST_DATA = 240
"""Characters of a sentence, and of a piece of a tool's result; longer ones are split at commas."""

_FENCE = re.compile(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)")
_LINE = re.compile(r"[^\r\n]+")
_MARK = re.compile(r"(?:[-*+•–—]|\d{1,2}[.)]|#{1,6})[ \t]+")
_WHOLE = re.compile(
    r"(?P<url>\bhttps?://[^\s<>\"»)]{1,2000})|(?P<code>`[^`\n]{1,300}`)"
    r"|(?P<quote>«[^»\n]{1,600}»|“[^”\n]{1,600}”|\"[^\"\n]{1,600}\")"
)
_SEPARATOR = re.compile(r"[,;|}\]](?=[\s\"{\[])\s*")
_SMALL_START = re.compile(r"(?<![^\W_])(?P<word>[^\W_]{3,})[.!?]\s+(?=[^\W\d_])")
_SPACES = re.compile(r"\s+")
_FOLDED = str.maketrans("’‘“”„—–‑−", '\'\'"""----')
_QUESTION = re.compile(r"\?\W{0,8}$")

SEEN = 400
"""Characters of a sentence that rules see: who says more in one breath has said it by then."""

QUOTED = 4
"""Words from which a quotation is somebody's speech, not a title."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in its place, and its text as rules see it.

    ``turn`` is the index of its turn among those read. ``folded`` is normalised, on one line,
    without code and URLs; ``own`` is that without what it quotes. One that ``failed`` is of a call
    that did; one that is ``mute`` is of a result that is no prose and gives no line.
    """

    text: str
    turn: int
    seq: int
    role: Role
    at: datetime | None
    folded: str
    own: str
    failed: bool = False
    mute: bool = False

    @property
    def asks(self) -> bool:
        """Whether it ends as a question."""
        return _QUESTION.search(self.text, max(0, len(self.text) - 12)) is not None


def sentences_of(turn: LoggedTurn, index: int = 0) -> Iterator[Sentence]:
    """Yield the sentences of a turn, in order."""
    entry = turn.entry
    failed = entry.role == "tool" and entry.status == "error"
    for start, end in _spans(entry.text, entry.role == "tool"):
        text = entry.text[start:end]
        folded, own = seen(text)
        if folded:
            yield Sentence(text, index, turn.seq, entry.role, entry.at, folded, own, failed)


def readable(text: str) -> str:
    """Return a text without code blocks, code and URLs."""
    whole = _FENCE.sub(" ", text)
    return _WHOLE.sub(lambda match: match.group() if match["quote"] else " ", whole)


def _spans(text: str, short: bool) -> Iterator[Span]:
    for start, end in _paragraphs(text):
        found = sentences(text[start:end])
        spoken = found if short else _small(text[start:end], found)
        for span in _kept_whole(text, start, spoken):
            yield from _pieces(text, *span, LONGEST_DATA if short else LONGEST)


def _small(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Split sentences that go on in small letters, as people type: "ok. let's go"."""
    for start, end in spans:
        for stop in _SMALL_START.finditer(text, start, end):
            if stop["word"].casefold() not in ABBREVIATIONS:
                yield start, stop.end("word") + 1
                start = stop.end()
        yield start, end


def _paragraphs(text: str) -> Iterator[Span]:
    """Yield runs of lines that go on into each other, without code blocks and quoted lines."""
    at = 0
    for fence in [*_FENCE.finditer(text), None]:
        stop = fence.start() if fence else len(text)
        yield from _joined(text, _LINE.finditer(text, at, stop))
        at = fence.end() if fence else stop


def _joined(text: str, lines: Iterable[re.Match[str]]) -> Iterator[Span]:
    start = end = -1
    for line in lines:
        said = line.group().lstrip()
        head = line.end() - len(said)
        goes_on = start >= 0 and said[:1].islower() and line.start() - end <= 2
        if goes_on and text[:end].rstrip(" \t")[-1:] not in ".!?…:;":
            end = line.end()
            continue
        if start >= 0:
            yield start, end
        start = end = -1
        if said and not said.startswith(">"):
            mark = _MARK.match(said)
            start, end = head + (mark.end() if mark else 0), line.end()
    if start >= 0:
        yield start, end


def _kept_whole(text: str, offset: int, spans: Iterable[Span]) -> Iterator[Span]:
    """Join spans whose border is inside code, a URL or quoted speech."""
    found = [(offset + start, offset + end) for start, end in spans]
    if not found:
        return
    inside = [
        match.span()
        for match in _WHOLE.finditer(text, found[0][0], found[-1][1])
        if match["quote"] is None or len(match["quote"].split()) >= QUOTED
    ]
    start, end = found[0]
    for after in found[1:]:
        if any(a < end < b - 1 for a, b in inside):
            end = after[1]
            continue
        yield start, end
        start, end = after
    yield start, end


def _pieces(text: str, start: int, end: int, longest: int) -> Iterator[Span]:
    """Split what is too long at its separators, so that a piece can be quoted."""
    while end - start > longest:
        cuts = [m.end() for m in _SEPARATOR.finditer(text, start + 1, start + longest)]
        cut = cuts[-1] if cuts else start + longest
        yield start, start + len(text[start:cut].rstrip())
        start = cut
    if text[start:end].strip():
        yield start, end


def seen(text: str) -> tuple[str, str]:
    """Return the text as rules see it, with and without what it quotes."""
    if not any(mark in text for mark in '`«“"/'):
        plain = _plain(text)
        return plain, plain
    read = _WHOLE.sub(
        lambda m: m.group() if m["quote"] else (" url " if m["url"] else " #1 "), text
    )
    own = _WHOLE.sub(lambda m: " " if len(m.group().split()) >= QUOTED else m.group(), read)
    return _plain(read), _plain(own)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", normalize(text[: 2 * SEEN]).translate(_FOLDED)).strip()[:SEEN]
