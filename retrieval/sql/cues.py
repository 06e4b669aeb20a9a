"""Cues: words that say what is asked, whatever the schema: "сколько", "top", "per month".

Every word of a question is a cue, a filler, declared by a schema, a time or a number; a word that
is none of these is not understood, and then nothing is guessed.
"""

from dataclasses import dataclass

from retrieval.sql.cue_words import ADVERBS, EXACT, KEYED, UNITS, Cue
from retrieval.sql.intent import Unit
from retrieval.sql.words import Token, folded, key, tokens


@dataclass(frozen=True, slots=True)
class Said:
    """A cue in a question and how many tokens say it; ``per``: the unit of time that it names."""

    cue: Cue
    length: int
    per: Unit | None = None


_Phrases = dict[tuple[str, ...], tuple[Cue, Unit | None]]


def _compiled() -> tuple[_Phrases, _Phrases]:
    exact: _Phrases = {}
    keyed: _Phrases = {}
    for cue, phrases in EXACT.items():
        for phrase in phrases.split("|"):
            exact.setdefault(tuple(t.text for t in tokens(folded(phrase))), (cue, None))
    for unit in UNITS:
        for phrase in UNITS[unit].split("|"):
            exact.setdefault((phrase,), ("unit", unit))
        for phrase in ADVERBS[unit].split("|"):
            exact[tuple(phrase.split())] = ("each", unit)
    for cue, phrases in KEYED.items():
        for phrase in phrases.split("|"):
            keyed[tuple(key(word) for word in phrase.split())] = (cue, None)
    exact.pop((), None)
    return exact, keyed


_BY_TEXT, _BY_KEY = _compiled()
_LONGEST: dict[str, int] = {}
"""First word or its key -> the tokens of the longest phrase that begins with it."""
for _phrase in (*_BY_TEXT, *_BY_KEY):
    _LONGEST[_phrase[0]] = max(_LONGEST.get(_phrase[0], 0), len(_phrase))


def cue_at(words: tuple[Token, ...], at: int) -> Said | None:
    """Return the cue that begins at a token, the longest there is; None: no cue."""
    first = words[at]
    longest = max(_LONGEST.get(first.text, 0), _LONGEST.get(first.key, 0))
    for length in range(min(longest, len(words) - at), 0, -1):
        part = words[at : at + length]
        found = _BY_TEXT.get(tuple(token.text for token in part))
        found = found or _BY_KEY.get(tuple(token.key for token in part))
        if found:
            return Said(found[0], length, found[1])
    return None
