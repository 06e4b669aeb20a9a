"""Published results that are shown beside ours, as their sources print them (percent).

A number here was measured by its authors with their text template; ours is in each record.
"""

from dataclasses import dataclass, field

LMEB = "MTEB results repository, LMEB"
RUSBEIR = "rusBEIR, arXiv 2504.12879, table 3"
MTEB = "MTEB results repository"


@dataclass(frozen=True, slots=True)
class Published:
    """One system's numbers: measure -> percent, and nDCG@10 by category where there are some."""

    system: str
    source: str
    metrics: dict[str, float]
    by_category: dict[str, float] = field(default_factory=dict)


CATEGORIES = ("single_hop", "multi_hop", "temporal_reasoning", "open_domain", "adversarial")


def _locomo(
    system: str, categories: tuple[float, ...], means: tuple[float, float, float]
) -> Published:
    metrics = dict(zip(("nDCG@10", "R@5", "R@10"), means, strict=True))
    return Published(system, LMEB, metrics, dict(zip(CATEGORIES, categories, strict=True)))


def _ndcg(source: str, **systems: float) -> tuple[Published, ...]:
    return tuple(
        Published(NAMES[name], source, {"nDCG@10": value}) for name, value in systems.items()
    )


NAMES = {
    "bm25": "BM25",
    "bm25_lemmas": "BM25 (lemmas)",
    "e5_small": "multilingual-e5-small",
    "e5_base": "multilingual-e5-base",
    "e5_large": "multilingual-e5-large",
    "bge_m3": "BGE-M3",
    "bm25_rr": "BM25 + bge-reranker-v2-m3",
    "e5_large_rr": "multilingual-e5-large + bge-reranker-v2-m3",
}

PUBLISHED: dict[str, tuple[Published, ...]] = {
    "locomo": (
        _locomo("BM25", (54.2, 26.7, 56.4, 24.5, 49.0), (48.1, 54.2, 61.6)),
        _locomo("multilingual-e5-small", (48.0, 29.1, 54.9, 23.7, 26.4), (40.5, 46.2, 54.7)),
        _locomo("multilingual-e5-large", (62.1, 40.5, 64.8, 34.6, 37.1), (52.6, 58.2, 67.6)),
        _locomo("bge-m3", (54.3, 34.1, 60.2, 27.4, 33.1), (46.4, 52.4, 62.0)),
        _locomo("best of 89 (8B parameters)", (73.2, 50.6, 72.9, 38.3, 47.5), (62.6, 70.3, 77.7)),
    ),
    "xquad-ru": _ndcg(
        RUSBEIR,
        bm25_lemmas=96.19,
        e5_small=95.66,
        e5_large=97.33,
        bge_m3=95.97,
        bm25_rr=98.85,
        e5_large_rr=98.97,
    ),
    "xquad-r-ru": _ndcg(
        RUSBEIR,
        bm25_lemmas=82.36,
        e5_small=85.41,
        e5_large=88.84,
        bge_m3=86.91,
        bm25_rr=89.93,
        e5_large_rr=92.08,
    ),
    "xquad-en": _ndcg(MTEB, bm25=96.5, e5_base=98.0, e5_large=98.4),
    "scifact": _ndcg(MTEB, bm25=68.7, e5_small=67.6, e5_large=70.2),
}
