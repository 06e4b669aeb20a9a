"""How much of a question's vocabulary a memory has: what a lexical rank is worth.

An English question against Russian text still gets a full lexical list: documents that share one
stray "the". Their ranks say nothing. So each lexical hit counts by its coverage, the share of the
question's content words that it has; words of the turn before count half. Measured in
docs/decisions/0004-fusion.md.
"""

from collections.abc import Collection
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
    if not wanted:
        return 0.0
    own_end = lexicon.find("\t")
    found = 0.0
    for term in wanted:
        at = lexicon.find(f" {term} ")
        if at >= 0:
            found += 1 if at < own_end else BEFORE
    return found / len(wanted)
