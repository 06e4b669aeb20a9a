"""Level the languages of a dense list: a multilingual model prefers the question's own language.

A Russian question scores every Russian text some .03 to .05 above an equally good English one, so
the right English passage of a mixed collection comes after dozens of wrong Russian ones. The gap is
read off the question's own answers, the mean of each language's best scores, and most of it is
given to the language behind. A collection of one language is ranked as before. Measured in
docs/decisions/0004-fusion.md.
"""

from collections.abc import Sequence

from indexing.types import Scored

STRENGTH = 0.85
DEPTH = 20


def balance(
    hits: Sequence[Scored], strength: float = STRENGTH, depth: int = DEPTH
) -> list[tuple[Scored, float]]:
    """Return hits with the shift of each one's language, best shifted score first.

    ``shift = strength * (best mean - own mean) * min(1, hits of the language / depth)``, means over
    the ``depth`` best scores of a language. The last factor keeps a language with a handful of
    memories from being lifted to the top of every answer.
    """
    scores: dict[str, list[float]] = {}
    for hit in hits:
        scores.setdefault(hit.lang, []).append(hit.score)
    best = {lang: sorted(found, reverse=True)[:depth] for lang, found in scores.items()}
    means = {lang: sum(top) / len(top) for lang, top in best.items()}
    ahead = max(means.values(), default=0.0)
    shifts = {
        lang: strength * (ahead - mean) * len(best[lang]) / depth for lang, mean in means.items()
    }
    shifted = [(hit, shifts[hit.lang]) for hit in hits]
    return sorted(shifted, key=lambda pair: (-pair[0].score - pair[1], pair[0].id))
