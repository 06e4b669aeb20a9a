"""What `evals.nothing` measures: fit, separation, what a threshold costs, reliability.

Pure functions over cases (`evals.absence`) and their confidences, shape ``(n,)``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evals.absence import OWN, SMALL, Case
from evals.calibration import Bin, Floats, auroc, ece, interval, logistic, reliability
from retrieval.relevance import Evidence, Weights, confidence, lift, strongest

THRESHOLDS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
FITTED = {"locomo": 2.0} | {
    f"xquad-{name}{size}": weight
    for name in ("ru", "en", "ru-en", "en-ru")
    for size, weight in (("", 1.0), (SMALL, 0.5))
}
"""Sets that the weights are fitted on, and what each counts: chat as much as each language."""
HALVES = {True: "fitted", False: "held out"}

Row = dict[str, Any]


def fit(found: Sequence[Case]) -> Weights:
    """Return the weights fitted on the fitted half."""
    used = [case for case in found if case.fitted and case.set in FITTED]
    counts = balanced(used) * np.array([FITTED[case.set] for case in used])
    held = [max(case.evidence, key=lambda each: each.listed) for case in used]
    truth = np.array([float(case.kind == OWN) for case in used])
    usual = round(float(np.average([each.rest for each in held], weights=counts)), 3)
    features = np.array([_features(each, usual) for each in held])
    same = np.array([not each.foreign for each in held])

    def weights(columns: list[int], rows: Floats) -> tuple[float, ...]:
        return tuple(
            round(value, 2)
            for value in logistic(features[rows][:, columns], truth[rows], counts[rows])
        )

    lifted, other, covered, known = range(4)
    everything = np.ones(len(used), bool)
    both = weights([lifted, covered, known], same)
    dense = weights([lifted, other], everything)
    lexical = weights([covered, known], same)
    return Weights(usual, _four(both), _three(dense), _three(lexical))


def _features(found: Evidence, usual: float) -> list[float]:
    return [
        lift(found, usual) or 0.0,
        float(found.foreign),
        found.coverage or 0.0,
        found.known or 0.0,
    ]


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    first, second, last = values
    return first, second, last


def _four(values: Sequence[float]) -> tuple[float, float, float, float]:
    first, second, third, last = values
    return first, second, third, last


def balanced(found: Sequence[Case]) -> Floats:
    """Return weights by which own questions of a set count as much as all others of it together,
    and each kind of the others alike.
    """
    sizes: dict[tuple[str, str], int] = {}
    for case in found:
        sizes[case.set, case.kind] = sizes.get((case.set, case.kind), 0) + 1
    kinds: dict[str, int] = {}
    for name, kind in sizes:
        kinds[name] = kinds.get(name, 0) + (kind != OWN)
    return np.array(
        [
            1 / sizes[case.set, case.kind] / (1 if case.kind == OWN else kinds[case.set])
            for case in found
        ]
    )


def separation(found: Sequence[Case], scores: Floats) -> list[Row]:
    """Return the AUROC of own against each other kind, by half and set, LoCoMo by category too."""
    rows = []
    for fitted, half in HALVES.items():
        for name, category, kind in _parts(found):
            own, other = (
                [
                    (case.group, score)
                    for case, score in zip(found, scores, strict=True)
                    if (case.fitted, case.set, case.kind) == (fitted, name, each)
                    and category in ("", case.category)
                ]
                for each in (OWN, kind)
            )
            if own and other:
                sides = [np.array([score for _, score in side]) for side in (own, other)]
                low, high = interval(own, other)
                rows.append(
                    {
                        "half": half,
                        "set": name,
                        "category": category,
                        "against": kind,
                        "own": len(own),
                        "other": len(other),
                        "auroc": auroc(*sides),
                        "low": low,
                        "high": high,
                    }
                )
    return rows


def _parts(found: Sequence[Case]) -> Iterator[tuple[str, str, str]]:
    """Yield set, category (empty: all) and other kind, in order of appearance."""
    for name in dict.fromkeys(case.set for case in found):
        held = [case for case in found if case.set == name]
        kinds = [kind for kind in dict.fromkeys(case.kind for case in held) if kind != OWN]
        for category in dict.fromkeys(["", *(case.category for case in held)]):
            for kind in kinds:
                yield name, category, kind


def trade(found: Sequence[Case], scores: Floats) -> list[Row]:
    """Return, on the half held out, the share of each set and kind below each threshold."""
    shares: dict[tuple[str, str], list[float]] = {}
    for case, score in zip(found, scores, strict=True):
        if not case.fitted:
            shares.setdefault((case.set, case.kind), []).append(score)
    return [
        {
            "set": name,
            "kind": kind,
            "below": {str(t): float((np.array(held) < t).mean()) for t in THRESHOLDS},
        }
        for (name, kind), held in sorted(shares.items(), key=lambda pair: pair[0][0])
    ]


def calibrated(found: Sequence[Case], scores: Floats) -> dict[str, list[Bin]]:
    """Return set -> what was said and was true on the half held out, own questions being half."""
    held = np.array([not case.fitted for case in found])
    bins = {}
    for name in dict.fromkeys(case.set for case in found):
        here = held & np.array([case.set == name for case in found])
        part = [case for case, chosen in zip(found, here, strict=True) if chosen]
        if part:
            truth = np.array([float(case.kind == OWN) for case in part])
            bins[name] = reliability(scores[here], truth, balanced(part))
    return bins


def report(found: Sequence[Case], weights: Weights) -> Row:
    """Return all measures, as plain data."""
    scores = np.array([confidence(strongest(case.evidence, weights), weights) for case in found])
    bins = calibrated(found, scores)
    return {
        "weights": asdict(weights),
        "separation": separation(found, scores),
        "below": trade(found, scores),
        "reliability": {name: [asdict(each) for each in held] for name, held in bins.items()},
        "ece": {name: ece(held) for name, held in bins.items()},
    }
