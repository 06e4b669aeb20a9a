"""Cues: words that say what is asked, whatever the schema: "сколько", "top", "per month".

Every word of a question is a cue, a filler, declared by a schema, a time or a number; a word that
is none of these is not understood, and then nothing is guessed.
"""

from dataclasses import dataclass

from retrieval.sql.cue_words import ADVERBS, EXACT, KEYED, UNITS, Cue
from retrieval.sql.words import Token, folded, key, tokens


@dataclass(frozen=True, slots=True)
class Said:
    """A cue in a question and how many tokens say it; ``unit`` for the cue "unit"."""

    cue: Cue
    length: int
    unit: str = ""


_Phrases = dict[tuple[str, ...], tuple[Cue, str]]


def _compiled() -> tuple[_Phrases, _Phrases]:
    exact: _Phrases = {}
    keyed: _Phrases = {}
    for cue, phrases in EXACT.items():
        for phrase in phrases.split("|"):
            exact.setdefault(tuple(t.text for t in tokens(folded(phrase))), (cue, ""))
    for unit in UNITS:
        for phrase in UNITS[unit].split("|"):
            exact.setdefault((phrase,), ("unit", unit))
        for phrase in ADVERBS[unit].split("|"):
            exact[tuple(phrase.split())] = ("each", unit)
    for cue, phrases in KEYED.items():
        for phrase in phrases.split("|"):
            keyed[tuple(key(word) for word in phrase.split())] = (cue, "")
    exact.pop((), None)
    return exact, keyed


_BY_TEXT, _BY_KEY = _compiled()
_LONGEST = max(map(len, (*_BY_TEXT, *_BY_KEY)))


def cue_at(words: tuple[Token, ...], at: int) -> Said | None:
    """Return the cue that begins at a token, the longest there is; None: no cue."""
    for length in range(min(_LONGEST, len(words) - at), 0, -1):
        part = words[at : at + length]
        found = _BY_TEXT.get(tuple(token.text for token in part))
        found = found or _BY_KEY.get(tuple(token.key for token in part))
        if found:
            return Said(found[0], length, found[1])
    return None
