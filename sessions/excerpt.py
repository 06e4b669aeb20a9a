"""A text in the space of a line or two: the sentences of it that a question asks about. Pure.

What is kept is word for word, in its order; "…" stands for what is not. Does not: cut results of
tools, which are by their kind (`sessions.truncate`).
"""

from textwrap import wrap

from chunking.sentences import sentences
from sessions.types import CountTokens

GAP = "…"

STEP = 200
"""Characters of a sentence that is kept whole or not at all; a longer one is taken in parts."""


def excerpt(text: str, words: frozenset[str], limit: int, count: CountTokens) -> str:
    """Return the sentences that share most with the ``words`` (terms), in ``limit`` tokens.

    Where none shares any they are the first ones. Empty where not even one fits.

    >>> said = "It rained. We left Riga on Friday. The ferry was late."
    >>> excerpt(said, frozenset({"riga", "nice"}), 8, lambda text: len(text.split()))
    '… We left Riga on Friday. …'
    """
    parts = _sentences(text)
    shared = [shares(words, part) for part in parts]
    order = sorted(range(len(parts)), key=lambda number: (-shared[number], number))
    if any(shared):
        order = [number for number in order if shared[number]]
    kept: set[int] = set()
    left = limit * len(text) / max(count(text), 1)  # in characters: a count for each would be slow
    for number in order:
        if (cost := len(parts[number]) + 1) <= left:
            kept.add(number)
            left -= cost
    while kept and count(found := _joined(parts, kept)) > limit:
        kept.remove(next(number for number in reversed(order) if number in kept))
    return found if kept else ""


def shares(words: frozenset[str], text: str) -> int:
    """Return how many of these terms a text has, by the beginnings of its words.

    >>> shares(frozenset({"ferri", "riga"}), "the ferry, they say, leaves Riga")
    2
    """
    folded = text.casefold().replace("ё", "е")
    return sum(word.removesuffix("i") in folded for word in words)


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, long ones in parts; a line feed ends one too."""
    lines = (line.strip() for line in text.splitlines())
    whole = (line[start:end] for line in lines for start, end in sentences(line))
    return [part for one in whole for part in (_parts(one) if len(one) > STEP else (one,))]


def _parts(sentence: str) -> list[str]:
    """Cut a sentence between words only."""
    return wrap(
        sentence,
        STEP,
        replace_whitespace=False,
        expand_tabs=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _joined(parts: list[str], kept: set[int]) -> str:
    found: list[str] = []
    for number, part in enumerate(parts):
        if number in kept:
            found.append(part)
        elif not found or found[-1] != GAP:
            found.append(GAP)
    return " ".join(found)
