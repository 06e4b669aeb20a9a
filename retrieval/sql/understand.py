"""A question in Russian or English -> an `Intent` over declared schemas, or why there is none.

Deterministic, without a model: every word must be a declared word, a time, a number, a cue or a
filler. One word that is none of these and there is no intent: a wrong number is worse than none.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo

from retrieval.sql.choose import choose
from retrieval.sql.intent import Intent, Understanding
from retrieval.sql.items import row
from retrieval.sql.parts import NotUnderstood, Reading
from retrieval.sql.reading import read
from retrieval.sql.schema import Source, Table
from retrieval.sql.times import Found, periods
from retrieval.sql.words import LONGEST, Token, folded, found_in, gazetteer, tokens

MOST_WORDS = 60
"""A question with more words is no question about a number."""


def understand(question: str, sources: Sequence[Source], now: datetime) -> Understanding:
    """Return the intent of a question, or None with the reason and the words that were missed.

    ``now`` is aware; months and days are those of the source's time zone. A question that two
    sources could answer has no intent. Text past `LONGEST` characters is not read.
    """
    if len(question) > LONGEST:
        return Understanding(None, "the text is too long for a question about a number")
    words = tokens(folded(question))
    if not words or len(words) > MOST_WORDS:
        return Understanding(None, "no question about a number")
    named = [(len(found_in(words, gazetteer((source,)))), source) for source in sources]
    if named and not any(number for number, _ in named):
        return Understanding(None, "no declared word is in the question")
    named.sort(key=lambda one: -one[0])

    @cache
    def times(zone: str) -> tuple[Found, ...]:
        return periods(question, now, ZoneInfo(zone))

    found = [_for_source(words, source, times(source.timezone)) for _, source in named]
    answers = [one for one in found if one.intent]
    if len(answers) > 1:
        names = ", ".join(one.intent.source for one in answers if one.intent)
        return Understanding(None, f"several sources can answer: {names}")
    if answers:
        return answers[0]
    return found[0] if found else Understanding(None, "no source is declared")


def follow_up(question: str, before: Intent, source: Source, now: datetime) -> Intent | None:
    """Return what a clause asks of the rows of the clause before it: "…, and for what amount?".

    It names one measure of the same table and nothing else: no rows, time, filter or group of its
    own. None where it is no such clause, or where the one before picks among groups.
    """
    if before.top or before.share or before.distinct or len(question) > LONGEST:
        return None
    try:
        times = periods(question, now, ZoneInfo(source.timezone))
        reading = _reading(tokens(folded(question)), source, times)
        if not reading.only_measures():
            return None
        intent = choose(reading, source, before.table)
    except NotUnderstood:
        return None
    return replace(before, aggregate=intent.aggregate, measure=intent.measure)


def _for_source(words: tuple[Token, ...], source: Source, times: Sequence[Found]) -> Understanding:
    try:
        reading = _reading(words, source, times)
        intent = choose(reading, source)
        _check_like(words, source.table(intent.table))
    except NotUnderstood as error:
        return Understanding(None, error.reason, error.missing)
    inferred = not reading.tables
    return Understanding(intent, "every word is understood", (), 0.85 if inferred else 0.95)


def _reading(words: tuple[Token, ...], source: Source, times: Sequence[Found]) -> Reading:
    items = row(words, gazetteer((source,)), times)
    return read(items.items, items.own)


def _check_like(words: Sequence[Token], table: Table) -> None:
    """Refuse words that tell of other things than the rows of the table."""
    missing = [word.text for word in words if word.text in table.unlike]
    if missing:
        raise NotUnderstood(f"{table.name} are not what is meant", missing)
