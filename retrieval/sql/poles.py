"""Words for the two ends of a scale: a measure that declares one end is known by both.

"expensive" declared on a total makes "дороже 1000", "the cheapest" and "самый дешёвый" ask for it.
"""

from functools import lru_cache

from indexing.sparse import terms

_SAID = """
дорогой дороже дорого expensive pricey | дешевый дешевле дешево cheap cheaper cheapest
длинный длиннее долгий дольше долго long longer longest | короткий короче short shorter shortest
крупный крупнее large larger largest big bigger biggest | маленький мельче small smaller smallest
медленный медленнее slow slower slowest | быстрый быстрее fast faster fastest quick quickest
тяжелый тяжелее heavy heavier heaviest | легкий легче light lighter lightest
"""
SCALES = tuple(
    (tuple(high.split()), tuple(low.split()))
    for high, _, low in (line.partition("|") for line in _SAID.split("\n") if line)
)


@lru_cache(maxsize=4096)
def ends(said: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words for the high and the low end of the scale a word is on; none: empty.

    >>> "cheapest" in ends("дорогой")[1], ends("шумный")
    (True, ((), ()))
    """
    stems = terms(said)
    for high, low in SCALES:
        if len(stems) == 1 and any(terms(word) == stems for word in (*high, *low)):
            return high, low
    return (), ()


_FORMS = """
дороже дешевле длиннее дольше короче крупнее мельче медленнее быстрее тяжелее легче pricier
cheaper longer shorter larger bigger smaller slower faster heavier lighter
"""
COMPARATIVES = frozenset(_FORMS.split())
"""The forms that need a number after them: "дешевле 1000"."""

_EXTREMES = """
cheapest longest shortest largest biggest smallest slowest fastest quickest heaviest lightest
"""
SUPERLATIVES = frozenset(_EXTREMES.split())
"""The forms that ask for an extreme by themselves, without "самый" or "most"."""
