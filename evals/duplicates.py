"""Near duplicates through the product: ``python -m evals.duplicates [--facts N]``.

The pairs of `evals.near_duplicates` by the real ways in, with the default embedder. Both texts of
a pair are remembered in a scope of their own: once with the settings as they are, once without a
look at near duplicates, for the nightly pass to find. Then the time of a pass over the facts of one
user, of which one in twenty is said again in other words.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice, product

from rich.console import Console

from chunking.errors import LetopisError
from chunking.types import Chunk
from configs.embedders import build_embedder
from configs.settings import Settings, load
from evals.near_duplicates import Pair, markdown, read_pairs, share
from evals.product import temporary
from indexing.dense import Embedder
from indexing.duplicates import merge_duplicates
from indexing.hashing import digest
from indexing.index import Index, Source
from indexing.remember import remember
from indexing.types import Filter, Scope, user_scope
from indexing.write import write

AGAIN = 20
"""One fact in so many is said again in other words."""

WHO = ("Anna", "Boris", "Clara", "Dmitry", "Elena", "Felix", "Galina", "Henry", "Irina", "Jonas")
WHAT = (
    *("likes {}", "is allergic to {}", "bought {} in May", "never eats {}", "sells {} to a shop"),
    *("любит {}", "заказывает {} по пятницам", "больше не ест {}", "привозит {} из Казани"),
)
THINGS = (
    *(
        "apples",
        "pears",
        "plums",
        "figs",
        "almonds",
        "peanuts",
        "honey",
        "cheese",
        "salmon",
        "tuna",
    ),
    *("трюфели", "сливы", "груши", "орехи", "изюм", "творог", "сметану", "халву", "рис", "чай"),
)
SINCE = ("", *(f" since {year}" for year in range(1950, 2026)))


def facts(count: int) -> Iterator[str]:
    """Yield facts of which no two say the same, then again one in twenty of them.

    >>> list(facts(20))[:2], list(facts(20))[-1]
    (['Anna likes apples', 'Boris likes apples'], 'By the way, Anna likes apples')
    """
    again = count // AGAIN
    every = (
        f"{who} {what.format(thing)}{since}"
        for since, thing, what, who in product(SINCE, THINGS, WHAT, WHO)
    )
    told = list(islice(every, count - again))
    yield from told
    yield from (f"By the way, {text}" for text in told[:again])


def through(parts_of: Settings, embedder: Embedder, pairs: Sequence[Pair]) -> list[int]:
    """Return how many memories each pair is, of all times: 1 where one stands for both."""
    with temporary(parts_of, embedder) as parts:
        scopes = [user_scope(f"pair {number}") for number in range(len(pairs))]
        for scope, pair in zip(scopes, pairs, strict=True):
            remember(parts.index, scope, pair.a)
            remember(parts.index, scope, pair.b)
        if not parts.index.recipe.dedup.at_write:
            merge_duplicates(parts.index)
        return [parts.index.store.count("user", Filter(scope)) for scope in scopes]


def table(pairs: Sequence[Pair], ways: dict[str, list[int]]) -> str:
    """Return Markdown: of each part and way, how many were merged that must be kept, and merged."""
    rows: list[list[object]] = []
    for part in (*dict.fromkeys(pair.part for pair in pairs), "all"):
        for way, counts in ways.items():
            held = [(p, n) for p, n in zip(pairs, counts, strict=True) if part in (p.part, "all")]
            wrong = sum(n == 1 for p, n in held if not p.merge)
            right = sum(n == 1 for p, n in held if p.merge)
            keep, merge = (sum(p.merge is which for p, _ in held) for which in (False, True))
            shares = share(right, right + wrong), share(right, merge)
            rows.append([part, way, keep, wrong, merge, right, *shares])
    head = ["part", "way", "keep", "of them merged", "merge", "of them merged"]
    return markdown([*head, "precision", "recall"], rows)


def nightly(settings: Settings, embedder: Embedder, count: int) -> Iterator[str]:
    """Yield lines: what a pass over so many facts of one user takes."""
    with temporary(settings, embedder) as parts:
        index, scope = parts.index, user_scope("ann")
        _store(index, scope, facts(count))
        held = index.store.count("user", Filter(scope))
        for what, dry in (("dry run", True), ("pass that merges", False), ("pass after it", False)):
            started = time.perf_counter()
            merged = merge_duplicates(index, dry_run=dry).counts.total
            yield f"{held} facts, {what}: {merged} merged, {time.perf_counter() - started:.1f} s"


def _store(index: Index, scope: Scope, texts: Iterator[str]) -> None:
    """Store facts in batches, as fast as they come."""
    sources = (
        Source(name, "fact", name, [Chunk(name, 0, 0, len(text), text)], told=True)
        for text in texts
        for name in [f"fact:{digest(text)[:32]}"]
    )
    write(index, scope, sources)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the times; 1 when a pair became one memory that must be kept."""
    parser = argparse.ArgumentParser(prog="python -m evals.duplicates")
    parser.add_argument(
        "--facts", type=int, default=10_000, help="facts of the timed pass; 0: none"
    )
    chosen = parser.parse_args(arguments)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    counts: dict[str, list[int]] = {}
    try:
        settings = load()
        later = settings.model_copy(
            update={"dedup": settings.dedup.model_copy(update={"at_write": False})}
        )
        embedder, pairs = build_embedder(settings), read_pairs()
        ways = {"at write": settings, "nightly": later}
        counts = {way: through(wanted, embedder, pairs) for way, wanted in ways.items()}
        console.print(table(pairs, counts))
        if chosen.facts:
            for line in nightly(later, embedder, chosen.facts):
                console.print(line)
    except LetopisError as error:
        Console(stderr=True, markup=False).print(str(error))
        return 2
    merged = [p for c in counts.values() for p, n in zip(pairs, c, strict=True) if n == 1]
    return int(any(not pair.merge for pair in merged))


if __name__ == "__main__":
    sys.exit(main())
