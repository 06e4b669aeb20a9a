"""A collection in two languages: every second paragraph of XQuAD in Russian, the rest in English.

Each paragraph is there once, and is asked about in both languages: half of the questions have
their answer in the other language, among hundreds of paragraphs in their own.
"""

from dataclasses import replace

from evals.datasets import Dataset

SAME, OTHER = "same language", "other language"


def mix(russian: Dataset, english: Dataset) -> Dataset:
    """Return the mixed set of two sets whose query ids are parallel; ``category`` tells which."""
    kept: dict[str, tuple[str, str]] = {}
    homes: dict[str, tuple[str, str]] = {}
    for query in russian.queries:
        if query not in english.queries:
            continue
        pair = next(iter(russian.qrels[query])), next(iter(english.qrels[query]))
        lang = "ru" if len(kept) % 2 == 0 else "en"
        homes[query] = kept.setdefault(pair[0], (lang, pair[0] if lang == "ru" else pair[1]))
    sides = {"ru": russian, "en": english}
    documents = {
        f"{lang}-{name}": replace(sides[lang].documents[name], id=f"{lang}-{name}")
        for lang, name in kept.values()
    }
    queries, qrels = {}, {}
    for asked, side in sides.items():
        for query, (lang, name) in homes.items():
            label = SAME if lang == asked else OTHER
            entry = side.queries[query]
            extra = {**entry.extra, "category": label}
            key = f"{asked}-{query}"
            queries[key] = replace(entry, id=key, extra=extra)
            qrels[key] = {f"{lang}-{name}": 1}
    return Dataset("xquad-mixed", "xquad-mixed", documents, queries, qrels)
