"""What the signs of a turn are worth, and their weights: ``python -m evals.telling [--fit]``.

Prints LoCoMo's halves with none of the signs, with each left out, and with all. ``--fit`` fits the
weights on the first half's conversations first (softmax over the first candidates of a question,
ridge) and prints them; numbers of that half are then of each conversation by weights fitted on the
others. Fused lists are asked for once (`evals.reranker.candidates`).
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from chunking.errors import LetopisError
from evals import datasets
from evals.ablations import PLAIN, changed
from evals.command import measuring, options, printed, refused
from evals.metrics import by_query, mean
from evals.reranker.candidates import Question, make
from evals.significance import chance_of
from evals.types import Means, Qrels, ranked
from retrieval.rerank.order import levelled
from retrieval.stages import Telling
from retrieval.telling import Turn, Weights, asked, signs

FIRST = Telling().candidates
RIDGE = 1e-3
STEPS = 50
SMALL = 1e-6

Floats = NDArray[np.float64]
NAMES = tuple(field.name for field in fields(Weights))


@dataclass(frozen=True, slots=True)
class Case:
    """A question: its conversation, each candidate's documents, its features and answers.

    ``rows`` has the levelled fused score and the signs of the first candidates.
    """

    id: str
    conv: str
    documents: list[list[str]]
    rows: Floats
    right: Floats


def cases(questions: Sequence[Question], qrels: Qrels) -> list[Case]:
    """Return the questions as cases, in their order."""
    found = []
    for question in questions:
        first = question.candidates[:FIRST]
        sought = asked(question.text)
        told = [signs(sought, Turn(one.speaker, one.said, one.before)) for one in first]
        fused = levelled([one.score for one in first])
        held = qrels[question.id]
        right = [float(any(held.get(name, 0) > 0 for name in one.documents)) for one in first]
        rows = np.hstack([fused[:, None], np.array(told).reshape(len(first), len(NAMES))])
        documents = [one.documents for one in question.candidates]
        found.append(Case(question.id, question.conv, documents, rows, np.array(right)))
    return found


def fit(found: Sequence[Case]) -> Floats:
    """Return weights, the fused score's first, of the most likely answers: Newton's method, a step
    being halved until it is none for the worse."""
    used = [case for case in found if case.right.any()]
    at = np.zeros(1 + len(NAMES))
    loss, slope, curve = _objective(used, at)
    for _ in range(STEPS):
        step = np.linalg.solve(curve, -slope)
        while (tried := _objective(used, at + step))[0] > loss:
            step = step / 2
            if np.abs(step).max() < SMALL:
                return at
        at = at + step
        loss, slope, curve = tried
    return at


def _objective(used: Sequence[Case], at: Floats) -> tuple[float, Floats, Floats]:
    """Return the mean cross-entropy with the ridge, its gradient and its curvature."""
    loss, slope = RIDGE * float(at @ at), 2 * RIDGE * at
    curve = 2 * RIDGE * np.eye(len(at))
    for case in used:
        values = case.rows @ at
        chance = np.exp(values - values.max())
        loss -= float((values - values.max() - np.log(chance.sum())) @ case.right) / (
            case.right.sum() * len(used)
        )
        chance /= chance.sum()
        centred = case.rows - chance @ case.rows
        slope = slope + (chance - case.right / case.right.sum()) @ case.rows / len(used)
        curve = curve + (centred * chance[:, None]).T @ centred / len(used)
    return loss, slope, curve


def judged(found: Sequence[Case], weights: Floats, qrels: Qrels) -> list[Means]:
    """Return each question's measures where the first candidates are ranked with the weights."""
    run = {}
    for case in found:
        order = np.argsort(-(case.rows @ weights), kind="stable").tolist()
        places = [*order, *range(len(order), len(case.documents))]
        run[case.id] = ranked(name for place in places for name in case.documents[place])
    values = by_query({case.id: qrels[case.id] for case in found}, run)
    return [values[case.id] for case in found]


def across(found: Sequence[Case], qrels: Qrels) -> list[Means]:
    """Return the measures of each conversation's questions by weights fitted on the others."""
    values: list[Means] = []
    for conv in dict.fromkeys(case.conv for case in found):
        weights = fit([case for case in found if case.conv != conv])
        values += judged([case for case in found if case.conv == conv], weights, qrels)
    return values


def table(first: Sequence[Case], second: Sequence[Case], weights: Floats, qrels: Qrels) -> str:
    """Return the table: no sign, each left out, all."""
    lines = ["| signs | locomo 1 | R@10 | locomo 2 | R@10 | p of 2 |", "|---|---|---|---|---|---|"]
    none = np.array([1.0, *[0.0] * len(NAMES)])
    base = [row["nDCG@10"] for row in judged(second, none, qrels)]
    for name, used in _ways(weights, none):
        cells = []
        for half in (first, second):
            values = judged(half, used, qrels)
            means = mean(values)
            cells += [f"{100 * means[measure]:.2f}" for measure in ("nDCG@10", "R@10")]
        p = chance_of([row["nDCG@10"] for row in values], base)
        lines.append(f"| {name} | {' | '.join(cells)} | {'' if used is none else f'{p:.4f}'} |")
    return "\n".join(lines)


def _ways(weights: Floats, none: Floats) -> Iterator[tuple[str, Floats]]:
    yield "none", none
    for place, name in enumerate(NAMES, 1):
        less = weights.copy()
        less[place] = 0
        yield f"without `{name}`", less
    yield "all", weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and with ``--fit`` the weights; return the exit status."""
    parser = options("evals.telling", __doc__)
    parser.add_argument("--fit", action="store_true", help="fit the weights first, print them")
    chosen = parser.parse_args(arguments)
    try:
        qrels = datasets.load("locomo", chosen.data).qrels
        with measuring() as (settings, embedder, progress):
            questions = make("locomo", chosen.data, changed(settings, PLAIN), embedder, progress)
    except LetopisError as error:
        return refused(error)
    convs = list(dict.fromkeys(question.conv for question in questions))
    opening = set(convs[: len(convs) // 2])
    found = cases(questions, qrels)
    first = [case for case in found if case.conv in opening]
    second = [case for case in found if case.conv not in opening]
    printed(_report(first, second, qrels, chosen.fit))
    return 0


def _report(
    first: Sequence[Case], second: Sequence[Case], qrels: Qrels, fitted: bool
) -> Iterator[str]:
    weights = np.array([1.0, *(getattr(Weights(), name) for name in NAMES)])
    if fitted:
        weights = fit(first)
        weights /= weights[0]
        said: Mapping[str, float] = dict(zip(NAMES, weights[1:].tolist(), strict=True))
        yield "\n".join(f"{name} = {value:.2f}" for name, value in said.items())
        means = mean(across(first, qrels))
        yield f"first half, across conversations: {100 * means['nDCG@10']:.2f}"
    yield table(first, second, weights, qrels)


if __name__ == "__main__":
    sys.exit(main())
