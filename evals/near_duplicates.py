"""How well near duplicates are told apart: ``python -m evals.near_duplicates [--pairs FILE]``.

Hand-written pairs, with the cosines of the default embedder: which are merged, by part and by kind
of change; how many paraphrases MinHash finds as candidates; how long a decision takes. The lists of
words were tuned on one part ("tuned"); one was written before the tuning and looked at after it
("held out"), and one was written after it ("fresh").
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import load
from evals.errors import EvalError
from evals.timing import milliseconds
from indexing.dedup import Verdict, bands, decide, signature
from indexing.dense import Embedder

PAIRS = Path(__file__).parents[1] / "tests" / "indexing" / "near_pairs.jsonl"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts and whether one may stand for both."""

    part: str
    """"tuned", "held out" or "fresh"."""
    merge: bool
    change: str
    """What was changed: "number", "negation"..., or how it was said again: "synonym", "order"..."""
    language: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair, the cosine of its texts, and what was decided."""

    pair: Pair
    cosine: float
    verdict: Verdict
    candidate: bool
    """Whether the two share a band of their MinHash signatures."""


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """Read pairs, one JSON object a line. Raises `EvalError` naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path} cannot be read: {error}") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        try:
            pairs.append(Pair(**json.loads(line)))
        except (TypeError, ValueError) as error:
            raise EvalError(f"{path}, line {number}: not a pair: {error}") from error
    return pairs


def judge(pairs: Sequence[Pair], embedder: Embedder) -> list[Judged]:
    """Decide every pair with the cosine of its passage vectors; one batch."""
    vectors = embedder.passages([text for pair in pairs for text in (pair.a, pair.b)])
    cosines = (vectors[::2] * vectors[1::2]).sum(axis=1)
    return [
        Judged(pair, float(cosine), decide(pair.a, pair.b, float(cosine)), _banded(pair))
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]


def _banded(pair: Pair) -> bool:
    return not set(bands(signature(pair.a))).isdisjoint(bands(signature(pair.b)))


def tables(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield Markdown: a summary by part, then counts by kind of change."""
    parts = list(dict.fromkeys(each.pair.part for each in judged))
    head = ["part", "keep", "of them merged", "merge", "of them merged", "precision", "recall"]
    yield markdown([*head, "MinHash candidates"], [_summary(part, judged) for part in parts])
    kinds = _kinds(judged, parts)
    yield markdown(["must be", "change", *(f"{part}: merged" for part in parts)], kinds)


def _summary(part: str, judged: Sequence[Judged]) -> list[object]:
    keep = [each for each in judged if each.pair.part == part and not each.pair.merge]
    merge = [each for each in judged if each.pair.part == part and each.pair.merge]
    wrong, right = _merged(keep), _merged(merge)
    found = sum(each.candidate for each in merge)
    shares = (right, wrong + right), (right, len(merge)), (found, len(merge))
    return [part, len(keep), wrong, len(merge), right, *(share(*pair) for pair in shares)]


def _kinds(judged: Sequence[Judged], parts: Sequence[str]) -> list[list[object]]:
    rows: list[list[object]] = []
    for merge, change in sorted({(each.pair.merge, each.pair.change) for each in judged}):
        row: list[object] = ["merge" if merge else "keep", change]
        for part in parts:
            kind = (part, merge, change)
            held = [e for e in judged if (e.pair.part, e.pair.merge, e.pair.change) == kind]
            row.append(f"{_merged(held)} of {len(held)}" if held else "")
        rows.append(row)
    return rows


def _merged(judged: Sequence[Judged]) -> int:
    return sum(each.verdict.merge for each in judged)


def mistakes(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield a line for every pair that was not decided as it should be."""
    for each in judged:
        pair, verdict = each.pair, each.verdict
        if pair.merge != verdict.merge:
            what = "merged" if verdict.merge else "kept"
            yield f"{what} ({pair.part}): {pair.a} | {pair.b}: {verdict.reason}"


def times(pairs: Sequence[Pair]) -> str:
    """Return how long a decision takes, in milliseconds; each pair's best of five."""
    calls = [partial(decide, pair.a, pair.b) for pair in pairs]
    taken = [min(milliseconds(call) for _ in range(5)) for call in calls]
    return f"decide(): median {median(taken):.2f} ms, 99% {quantiles(taken, n=100)[98]:.2f} ms"


def share(some: int, of: int) -> str:
    """Return a share with three decimals; of nothing, a dash."""
    return f"{some / of:.3f}" if of else "-"


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables, mistakes and times; 1 when a pair was merged that must be kept."""
    parser = argparse.ArgumentParser(prog="python -m evals.near_duplicates")
    parser.add_argument("--pairs", type=Path, default=PAIRS, help="a JSONL file of pairs")
    parser.add_argument("--part", choices=("tuned", "held out", "fresh"), help="only this part")
    parser.add_argument("--mistakes", action="store_true", help="list wrong decisions")
    chosen = parser.parse_args(arguments)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    try:
        pairs = [pair for pair in read_pairs(chosen.pairs) if chosen.part in (None, pair.part)]
        if not pairs:
            raise EvalError(f"{chosen.pairs} has no pairs to judge")
        judged = judge(pairs, build_embedder(load()))
    except LetopisError as error:
        Console(stderr=True, markup=False).print(str(error))
        return 2
    for text in tables(judged):
        console.print(text)
    if chosen.mistakes:
        for line in mistakes(judged):
            console.print(line)
    least = min((each.cosine for each in judged if each.pair.merge), default=1.0)
    console.print(f"least cosine of a pair to merge: {least:.3f}")
    console.print(times(pairs))
    return int(any(each.verdict.merge and not each.pair.merge for each in judged))


if __name__ == "__main__":
    sys.exit(main())
