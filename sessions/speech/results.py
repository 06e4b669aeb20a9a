"""What a turn of a tool, or of the system, gives as lines: failures and live data, few of them.

Only what is written as prose does: rows, entries of a log, code and fields of JSON stay in the log
of turns. A flat small object gives the one value that is prose; a stack trace gives its error.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sessions.speech.classify import kind_of
from sessions.speech.sentences import LONGEST, Sentence, seen, sentences_of
from sessions.truncate.detect import Kind, detect
from sessions.truncate.frames import PYTHON, marked
from sessions.types import LineKind, LoggedTurn

MOST = 2
"""Lines that one result can give."""

SHORT = 240
"""Characters of a result that is no failure and still gives lines."""

PROSE_WORDS = 4
"""Words from which a value of an object is prose."""

STRUCTURED: frozenset[Kind] = frozenset(("json", "log", "table", "code", "html"))

_CONNECTS = ("Traceback (", "During handling of", "The above exception was", "goroutine ")
"""How lines between errors begin that say nothing about them."""


def told(turn: LoggedTurn, index: int = 0) -> list[Sentence]:
    """Return the sentences of a turn; those of a result that are to give no line are mute.

    Of a trace, and of an object with a value in prose, there is the one that gives a line.
    """
    found = list(sentences_of(turn, index))
    if not found or turn.entry.role != "tool":
        return found
    text, first = turn.entry.text, found[0]
    kind = detect(text)
    if kind == "trace" and (error := _head(text)):
        folded, own = seen(error)
        return [replace(first, text=error, folded=folded, own=own, failed=True)]
    if kind == "json" and (value := _prose_value(text)):
        own = " ".join((seen(value)[1], *(one.own for one in found)))
        return [replace(first, text=value, own=own)]
    if kind in STRUCTURED or (len(text) > SHORT and not first.failed):
        return [replace(one, mute=True) for one in found]
    return found


def data_lines(sentences: Sequence[Sentence]) -> Iterator[tuple[int, LineKind]]:
    """Yield place and kind of what is a line of a tool's or the system's turn.

    Of a call that failed that is one, the first thing it says.
    """
    if sentences[0].mute:
        return
    if sentences[0].failed:
        yield 0, "error"
        return
    found = 0
    for place, sentence in enumerate(sentences):
        kind = kind_of(sentence)
        if kind not in ("error", "outside"):
            numbers = sentence.role == "tool" and any(sign.isdigit() for sign in sentence.own)
            kind = "outside" if numbers else None
        if kind and found < MOST:
            found += 1
            yield place, kind


def _head(text: str) -> str:
    """Return the line of a trace with its error: Python's last, the first of others."""
    lines = text.splitlines()
    errors = [line for line, mark in zip(lines, marked(lines), strict=True) if mark == "error"]
    named = [one for line in errors if not (one := line.strip()).startswith(_CONNECTS)]
    if not named:
        return ""
    return named[-1 if any(PYTHON.match(line) for line in lines) else 0][:LONGEST]


def _prose_value(text: str) -> str:
    """Return the longest value in prose of a flat small object, as it is written there."""
    if len(text) > SHORT:
        return ""
    try:
        value = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(value, dict) or any(isinstance(one, dict | list) for one in value.values()):
        return ""
    said = [one for one in value.values() if isinstance(one, str) and one in text]
    prose = [one for one in said if len(one.split()) >= PROSE_WORDS]
    return max(prose, key=len, default="")
