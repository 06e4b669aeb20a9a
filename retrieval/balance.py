"""Level the languages of a dense list: a multilingual model prefers the question's own language.

A Russian question scores every Russian text some .03 to .05 above an equally good English one, so
the right English passage of a mixed collection comes after dozens of wrong Russian ones. The gap is
read off the question's own answers, the mean of each language's best scores, and most of it is
given to the language behind; where a language has few memories, the model's usual gap stands in
for what cannot be read off. A collection of one language is ranked as before. Measured in
docs/decisions/0004-fusion.md.
"""

from collections.abc import Sequence

from indexing.types import Scored

STRENGTH = 0.85
DEPTH = 20
USUAL_GAP = 0.03
"""By how much multilingual E5 scores texts of the question's own language higher."""


def balance(
    hits: Sequence[Scored], asked: str, strength: float = STRENGTH, depth: int = DEPTH
) -> list[tuple[Scored, float]]:
    """Return hits with the shift of each one's language, best shifted score first.

    ``asked`` is the question's language. With ``known = min(1, hits of the language / depth)``:
    ``shift = strength * (known * (best mean - own mean) + (1 - known) * usual gap)``, means over
    the ``depth`` best scores of a language; the usual gap is 0 for the question's own language. So
    a handful of memories is not lifted to the top of every answer.
    """
    scores: dict[str, list[float]] = {}
    for hit in hits:
        scores.setdefault(hit.lang, []).append(hit.score)
    best = {lang: sorted(found, reverse=True)[:depth] for lang, found in scores.items()}
    means = {lang: sum(top) / len(top) for lang, top in best.items()}
    ahead = max(means.values(), default=0.0)
    if len(means) < 2:
        return sorted(((hit, 0.0) for hit in hits), key=_place)
    shifts = {}
    for lang, mean in means.items():
        known = len(best[lang]) / depth
        usual = 0.0 if lang == asked else USUAL_GAP
        shifts[lang] = strength * (known * (ahead - mean) + (1 - known) * usual)
    return sorted(((hit, shifts[hit.lang]) for hit in hits), key=_place)


def _place(shifted: tuple[Scored, float]) -> tuple[float, str]:
    hit, shift = shifted
    return -hit.score - shift, hit.id
