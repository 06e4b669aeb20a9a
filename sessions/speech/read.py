"""Turns -> lines: each sentence by itself, then as an answer, then what stays open."""

from collections.abc import Sequence

from sessions.speech.central import centrality
from sessions.speech.classify import empty, idle, kind_of
from sessions.speech.exchange import Exchange, Reading, Talk
from sessions.speech.questions import Readings, answered, open_questions, settled, settling
from sessions.speech.results import data_lines, told
from sessions.speech.sentences import Sentence, sentences_of
from sessions.types import Entry, Line, LoggedTurn

AROUND = 8
"""Turns before new ones that these are read with."""


def read_lines(turns: Sequence[LoggedTurn], weighed: bool = True) -> tuple[Line, ...]:
    """Return the lines of a conversation, in order; every text is a span of its turn.

    Each has its weight, 0 where it is not to be ``weighed``.

    Small talk, code and questions that got an answer are no lines. Of what is not the user's or the
    assistant's (system turns, results of tools) only failures and live data are, see
    `sessions.speech.results`.
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


def lines_since(
    turns: Sequence[LoggedTurn], around: Sequence[LoggedTurn] = (), weighed: bool = True
) -> tuple[Line, ...]:
    """Return the lines of new turns, read with those before them: a "yes" needs its question."""
    first = turns[0].seq if turns else 0
    read = read_lines([*(turn for turn in around if turn.seq < first), *turns], weighed)
    return tuple(line for line in read if line.seq >= first)


def still_open(lines: Sequence[Line], turns: Sequence[LoggedTurn]) -> tuple[Line, ...]:
    """Return earlier lines without the unresolved ones that these later turns settle.

    >>> still_open((), ())
    ()
    """
    if not any(line.kind == "unresolved" for line in lines):
        return tuple(lines)
    talk = _talk(turns)
    later = [settling(read, talk[turn][place]) for (turn, place), read in _readings(talk).items()]

    def over(line: Line) -> bool:
        if line.kind != "unresolved":
            return False
        return answered(line.text, line.role, talk) or settled(f"{line.text} {line.of}", later)

    return tuple(line for line in lines if not over(line))


def is_question(text: str) -> bool:
    """Tell whether a text asks and tells nothing: its sentences are questions, or small talk.

    >>> is_question("Is the parka warm?"), is_question("I am allergic to wool, is it warm?")
    (True, False)
    """
    turn = LoggedTurn(1, Entry("user", text), 0)
    said = [one for one in sentences_of(turn) if one.asks or not idle(one)]
    return bool(said) and all(one.asks and kind_of(one) is None for one in said)


def _talk(turns: Sequence[LoggedTurn]) -> Talk:
    return [told(turn, index) for index, turn in enumerate(turns)]


def _readings(talk: Talk) -> Readings:
    """Return what each sentence is that is a line, by its place."""
    found: Readings = {}
    exchange = Exchange(talk)
    for turn, sentences in enumerate(talk):
        if not sentences:
            continue
        if sentences[0].role not in ("user", "assistant"):
            found |= {(turn, place): Reading(kind) for place, kind in data_lines(sentences)}
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
