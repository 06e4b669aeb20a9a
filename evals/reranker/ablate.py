"""What each choice of the training is worth: ``python -m evals.reranker.ablate --lists DIR ...``.

Does: train the model again with one thing changed, always as many steps from the same start with
the same seed; rank the first 30 candidates of drawn questions by each; print nDCG@10 and R@10, and
the difference to the first arm with a paired randomisation test and a 95 % interval.
Does not: train as long as what ships was. A run that was cut off goes on where it was.

Scores are added to the fused ones as the product does: the log-odds, in talk the probability.
Pairs are cut at 144 tokens, as in training.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch

from chunking.errors import LetopisError
from evals import report
from evals.command import measuring, options, refused, say
from evals.metrics import mean
from evals.reranker import batches
from evals.reranker.batches import PAIRS, matrices, read
from evals.reranker.candidates import MIXED, Question, kept, loaded
from evals.reranker.measure import Scores, candidates_digest, judged, scored
from evals.reranker.model import CrossEncoder
from evals.reranker.train import SHARES, Plan, Training, held_out, run, start
from evals.significance import chance_of, interval
from evals.types import Means, Qrels
from retrieval.rerank import types
from retrieval.rerank.types import Reranker, sigmoid

BASE = "as shipped"
TALK = ("talks-en", "made-en", "made-ru")
DOCUMENTS = (
    "alchemy_ru-ru",
    "fastapi_docs-en",
    "fastapi_docs-ru",
    "faq-en",
    "faq-ru",
    "help-en",
    "help-ru",
    "koziev_pqa-ru",
    "pubmedqa-en",
    "squad_nqg_test-en",
)
CROSSED = ("made_crossed-mixed", "help_crossed-en", "help_crossed-ru")
ARMS: dict[str, dict[str, Any]] = {
    BASE: {},
    "4 layers": {"layers": tuple(range(4))},
    "12 layers": {"layers": tuple(range(12))},
    "words trained too": {"words": True},
    "without late interaction": {"late": False},
    "answers of other questions as negatives": {"mined": False},
    "without talk": {"left": TALK},
    "without documents": {"left": DOCUMENTS},
    "and lists of both languages": {"left": ()},
}
"""What differs from what ships. ``left``: sources left out, beside `CROSSED` where not named."""
SETS = ("locomo", "xquad-r-ru", "xquad-r-en", MIXED)
ALL = "all"
TOP = 30
TALKED, WRITTEN = 2.0, 1.0
"""Weights of the product: of the probability in talk, of the log-odds elsewhere."""
COLUMNS = ("arm", "set", "questions", "nDCG@10", "R@10", "difference", "95 %", "p")

Measures = Mapping[str, Sequence[Means]]
"""Set -> the measures of its questions."""
Row = tuple[str, ...]
"""The cells under `COLUMNS`."""
Make = Callable[[str, Path], Reranker]
"""Name of an arm, folder of its checkpoints -> its model."""


class Scorer:
    """A model of torch as a reranker."""

    max_tokens, call_tokens, remote = 144, 1, False

    def __init__(self, name: str, model: CrossEncoder, tokenizer: Any) -> None:
        self.name, self.tokenizer, self._model = name, tokenizer, model

    def scores(self, query: str, passages: Sequence[str]) -> types.Scores:
        """Return a probability a passage, in their order, without a calibration."""
        found = self.tokenizer.encode_batch([(query, passage) for passage in passages])
        order = sorted(range(len(found)), key=lambda place: len(found[place].ids))
        logits = torch.empty(len(found))
        with torch.no_grad():
            for at in range(0, len(order), PAIRS):
                places = order[at : at + PAIRS]
                inputs = matrices([found[place] for place in places])
                logits[places] = self._model(*map(torch.from_numpy, inputs))
        return sigmoid(logits.numpy())


def plan_of(arm: Mapping[str, Any], steps: int) -> Plan:
    """Return the plan of an arm; it slows down over the last third."""
    rest = dict(arm)
    left = rest.pop("left", None)
    out = CROSSED if left is None else (*left, *(CROSSED if left else ()))
    return Plan(steps, steps // 3, shares=SHARES | dict.fromkeys(out, 0.0), **rest)


def trained(
    name: str, folder: Path, steps: int, rows: list[batches.Row], held: list[batches.Row]
) -> Scorer:
    """Return the model of an arm, trained until the last step."""
    plan = plan_of(ARMS[name], steps)
    torch.manual_seed(plan.seed)
    model, tokenizer = start(plan.shape)
    training = Training(plan, model)
    training.resume(folder)
    say(f"{name}: at step {training.step} of {plan.steps}")
    if training.step < plan.steps:
        run(training, rows, held, tokenizer, folder, save_every=100, test_every=plan.steps)
    model.load_state_dict(training.mean, strict=False)
    some = Random(1).sample(held, min(len(held), 320))  # noqa: S311
    first = held_out(model, some, tokenizer)["all"]
    say(f"{name}: the answer first in {100 * first:.1f} % of held-out lists")
    return Scorer(name, model, tokenizer)


def lines(name: str, values: Measures, base: Measures | None = None) -> Iterator[Row]:
    """Yield a line a set, then one of all their questions: what an arm measures, and how much more
    that is than what another does."""
    values, base = pooled(values), pooled(base) if base else None
    for dataset, found in values.items():
        means = mean(found)
        cells = (f"{100 * means['nDCG@10']:.2f}", f"{100 * means['R@10']:.2f}")
        more = compared(found, base[dataset]) if base else ("", "", "")
        yield name, dataset, str(len(found)), *cells, *more


def pooled(values: Measures) -> Measures:
    """Return the measures with those of all questions beside, where there are several sets."""
    every = [row for rows in values.values() for row in rows]
    return {**values, ALL: every} if len(values) > 1 else values


def compared(found: Sequence[Means], base: Sequence[Means]) -> tuple[str, str, str]:
    """Return the difference in nDCG@10, its 95 % interval, and p."""
    own, other = ([row["nDCG@10"] for row in rows] for rows in (found, base))
    low, high = interval(own, other)
    gain = 100 * (sum(own) - sum(other)) / len(own)
    return f"{gain:+.2f}", f"{100 * low:+.2f} to {100 * high:+.2f}", f"{chance_of(own, other):.4f}"


@dataclass(frozen=True)
class Sets:
    """Questions by set, with their candidates, and what is right."""

    questions: Mapping[str, Sequence[Question]]
    qrels: Mapping[str, Qrels]

    def measures(self, scorer: Reranker | None = None, folder: Path = Path()) -> Measures:
        """Return each set's measures as a model ranks it, its scores kept in the folder; without
        one as it is ranked before."""
        found = {}
        for name, asked in self.questions.items():
            talk = any(question.conv for question in asked)
            scores: Scores = {question.id: () for question in asked}
            if scorer:
                folder.mkdir(parents=True, exist_ok=True)
                file = folder / f"{name}.{candidates_digest(asked)}.scores"
                scores = scored(scorer, asked, TOP, before=False, file=file)
            weight = TALKED if talk else WRITTEN
            found[name] = judged(asked, scores, weight, self.qrels[name], plain=talk)
        return found


def drawn(chosen: argparse.Namespace) -> Sets:
    """Return the questions that the arms rank."""
    questions = {}
    with measuring() as (settings, embedder, progress):
        for name in chosen.sets:
            made = kept(chosen.kept, name, chosen.data, settings, embedder, progress)
            questions[name] = Random(3).sample(made, min(len(made), chosen.queries))  # noqa: S311
    return Sets(questions, {name: loaded(name, chosen.data).qrels for name in chosen.sets})


def table(sets: Sets, arms: Sequence[str], make: Make, out: Path) -> Iterator[Row]:
    """Yield the lines of the order before, then of each arm; see `COLUMNS`."""
    yield from lines("not reranked", sets.measures())
    base: Measures | None = None
    for arm in arms:
        folder = out / arm.replace(" ", "-")
        found = sets.measures(make(arm, folder), folder)
        yield from lines(arm, found, base)
        base = base or found


def main(arguments: list[str] | None = None) -> int:
    """Train, rank, print; return the exit status."""
    parser = options("evals.reranker.ablate", __doc__)
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--kept", type=Path, required=True, help="folder of candidates")
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoints and scores")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=list(ARMS))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--queries", type=int, default=250, help="of each set, drawn")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, help="Markdown file whose section is replaced")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    found: list[Row] = []
    try:
        rows, held = read(chosen.lists)
        folder = chosen.out / f"{chosen.steps} steps"
        make = partial(trained, steps=chosen.steps, rows=rows, held=held)
        for row in table(drawn(chosen), list(dict.fromkeys(chosen.arms)), make, folder):
            say("\t".join(row))
            found.append(row)
        if chosen.results:
            told = " ".join(sys.argv[1:] if arguments is None else arguments)
            lined = [COLUMNS, ("---",) * len(COLUMNS), *found]
            text = [f"`python -m evals.reranker.ablate {told}`", ""]
            text += [f"| {' | '.join(one)} |" for one in lined]
            report.replace(chosen.results, "rerank-ablations", "\n".join(text))
    except LetopisError as error:
        return refused(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
