"""Turns -> lines: each sentence by itself, then as an answer, then what stays open."""

from collections.abc import Iterator, Sequence

from sessions.speech.central import centrality
from sessions.speech.classify import empty, idle, kind_of
from sessions.speech.exchange import Exchange, Reading, Talk
from sessions.speech.questions import Readings, answered, open_questions, settled, settling
from sessions.speech.sentences import Sentence, sentences_of
from sessions.types import Line, LineKind, LoggedTurn

FROM_TOOL = 8
"""Lines that one result of a tool can give; its full text stays in the log."""


def read_lines(turns: Sequence[LoggedTurn], weighed: bool = True) -> tuple[Line, ...]:
    """Return the lines of a conversation, in order; every text is a span of its turn.

    Each has its weight, 0 where it is not to be ``weighed``.

    Small talk, code and questions that got an answer are no lines. Of what is not the user's or the
    assistant's (system turns, results of tools) only failures and live data are.
    """
    talk = _talk(turns)
    readings = _readings(talk)
    places = sorted(readings)
    texts = [talk[turn][place].own for turn, place in places]
    weights = centrality(texts) if weighed else [0.0] * len(texts)
    return tuple(
        _line(talk[turn][place], readings[turn, place], weight)
        for (turn, place), weight in zip(places, weights, strict=True)
    )


def still_open(lines: Sequence[Line], turns: Sequence[LoggedTurn]) -> tuple[Line, ...]:
    """Return earlier lines without the unresolved ones that these later turns settle.

    >>> still_open((), ())
    ()
    """
    talk = _talk(turns)
    later = [settling(read, talk[turn][place]) for (turn, place), read in _readings(talk).items()]

    def over(line: Line) -> bool:
        if line.kind != "unresolved":
            return False
        return answered(line.text, line.role, talk) or settled(f"{line.text} {line.of}", later)

    return tuple(line for line in lines if not over(line))


def _talk(turns: Sequence[LoggedTurn]) -> Talk:
    return [list(sentences_of(turn, index)) for index, turn in enumerate(turns)]


def _readings(talk: Talk) -> Readings:
    """Return what each sentence is that is a line, by its place."""
    found: Readings = {}
    exchange = Exchange(talk)
    for turn, sentences in enumerate(talk):
        if not sentences:
            continue
        if sentences[0].role not in ("user", "assistant"):
            found |= {(turn, place): Reading(kind) for place, kind in _data(sentences)}
            continue
        for place, sentence in enumerate(sentences):
            if read := _spoken(exchange, turn, place, sentence):
                found[turn, place] = read
    found |= open_questions(talk, found)
    return _without_settled(talk, found)


def _spoken(exchange: Exchange, turn: int, place: int, sentence: Sentence) -> Reading | None:
    kind = None if idle(sentence) else kind_of(sentence)
    if not sentence.asks and (read := exchange.answer(turn, place, kind)):
        return read
    if kind:
        return Reading(kind)
    if sentence.role == "assistant" and exchange.found(turn, sentence):
        return Reading("outside")
    return None if sentence.asks or idle(sentence) or empty(sentence) else Reading("other")


def _data(sentences: Sequence[Sentence]) -> Iterator[tuple[int, LineKind]]:
    """Yield the failures and the live data of a system turn or of a tool's result."""
    found = 0
    for place, sentence in enumerate(sentences):
        kind = kind_of(sentence)
        if sentence.failed and kind != "error":
            kind = "error" if place == 0 else None
        elif kind not in ("error", "outside"):
            numbers = sentence.role == "tool" and any(sign.isdigit() for sign in sentence.own)
            kind = "outside" if numbers else None
        if kind and found < FROM_TOOL:
            found += 1
            yield place, kind


def _without_settled(talk: Talk, readings: Readings) -> Readings:
    """Drop the open matters that a later sentence settles."""
    open_ = {place: read for place, read in readings.items() if read.kind == "unresolved"}
    if not open_:
        return readings
    said = {at: settling(read, talk[at[0]][at[1]]) for at, read in readings.items()}
    kept = dict(readings)
    for (turn, place), read in open_.items():
        about = f"{talk[turn][place].own} {read.of.own if read.of else ''}"
        if settled(about, (terms for at, terms in said.items() if at > (turn, place))):
            del kept[turn, place]
    return kept


def _line(sentence: Sentence, read: Reading, weight: float) -> Line:
    of = read.of.text if read.of else ""
    return Line(read.kind, sentence.text, sentence.seq, sentence.role, sentence.at, of, weight)
