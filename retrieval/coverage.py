"""How much of a question's vocabulary a memory has: what a lexical rank is worth.

An English question against Russian text still gets a full lexical list: documents that share one
stray "the". Their ranks say nothing. So each lexical hit counts by its coverage, the share of the
question's content words that it has; words of the turn before count half. Measured in
docs/decisions/0004-fusion.md.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cache

from indexing.sparse import terms

BEFORE = 0.5

_ENGLISH = """
a an the of in on at to for from by with as is are was were be been being do does did has have had
i you he she it we they me him her us them my your his its our their this that these those who whom
whose which what when where why how and or but not no if than then so there can could will would
shall should may might must about into over after before between during up down out off any some
"""
_RUSSIAN = """
и в во не на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня о
об из ему когда даже ну ли если или быть был него до вас уж вам ведь там себя ей они тут где есть
ней для мы тебя их чем была сам чтоб без себе под будет тогда кто этот того потому этого какой
какая какие каких какого какую каком ним здесь этом мой чтобы были куда зачем при это эта эти что
сколько который которая которые которого почему мой моя мое мои твой ваш наш
"""


@cache
def function_words() -> frozenset[str]:
    """Return the terms of Russian and English function words."""
    return frozenset(terms(_ENGLISH + _RUSSIAN))


def content_terms(query: str) -> frozenset[str]:
    """Return a question's content terms; all its terms when it has nothing but function words."""
    found = frozenset(terms(query))
    return found - function_words() or found


def coverage(wanted: Collection[str], lexicon: str) -> float:
    """Return the share of the wanted terms that a memory's `sparse.lexicon` has, 0 to 1."""
    return Covered(wanted).share(lexicon)


class Covered:
    """What memories have of one question's content terms; each memory is looked through once.

    Lives as long as the call that it is made for, as do the lexicons it keeps.
    """

    def __init__(self, wanted: Collection[str]) -> None:
        self.wanted = wanted
        self._needles = [f" {term} " for term in wanted]
        self._read: dict[str, tuple[float, list[str]]] = {}

    def share(self, lexicon: str) -> float:
        """Return the `coverage` of one memory."""
        return self._look(lexicon)[0]

    def known(self, lexicons: Iterable[str]) -> float:
        """Return the share of the wanted terms that any of the memories has, 0 to 1."""
        if not self._needles:
            return 0.0
        found: set[str] = set()
        for lexicon in lexicons:
            found.update(self._look(lexicon)[1])
        return len(found) / len(self._needles)

    def _look(self, lexicon: str) -> tuple[float, list[str]]:
        """Return the share of the terms that are there, and which ones."""
        known = self._read.get(lexicon)
        if known is None:
            found = [needle for needle in self._needles if needle in lexicon]
            share = _weighed(found, lexicon) / len(self._needles) if found else 0.0
            known = self._read[lexicon] = (share, found)
        return known


def _weighed(found: Sequence[str], lexicon: str) -> float:
    """Return how much found terms count; those that only the turn before has count half."""
    if lexicon.endswith("\t  "):  # nothing before
        return len(found)
    own_end = lexicon.find("\t")
    own = sum(lexicon.index(needle) < own_end for needle in found)
    return own + BEFORE * (len(found) - own)
