"""What a reranker adds: ``python -m evals.reranker.measure late|STEP.pt --candidates DIR``.

Does: score the first candidates by late interaction, or by the graph that a checkpoint is exported
as; add both scores at several weights; print nDCG@10 and R@10 with a paired randomisation test
against the order before. Candidates that the folder lacks are asked for first.
Does not: change settings. LoCoMo's first five conversations are for choosing; ``--all`` measures
every question.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from chunking.errors import LetopisError
from evals import datasets
from evals.command import measuring, options, refused
from evals.metrics import by_query, mean
from evals.reranker.candidates import Question, kept
from evals.reranker.cross_encoder import trained_reranker
from evals.significance import chance_of
from evals.types import Means, Qrels, ranked
from indexing import e5
from indexing.dense import Embedder, token_embedder
from retrieval.rerank.late import LateInteraction
from retrieval.rerank.order import combined
from retrieval.rerank.types import Reranker
from retrieval.stages import with_before

WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.5)
SETS = ("locomo", "xquad-r-ru", "xquad-r-en")

Scores = Mapping[str, Sequence[float]]
"""Query id -> scores of its first candidates, 0 to 1."""


def scored(reranker: Reranker, questions: Sequence[Question], top: int, before: bool) -> Scores:
    """Return the scores of each question's first candidates; ``before``: read with the turn
    before."""
    found = {}
    for question in questions:
        texts = [
            with_before(one.text, one.before) if before else one.text
            for one in question.candidates[:top]
        ]
        found[question.id] = [float(score) for score in reranker.scores(question.text, texts)]
    return found


def order(question: Question, scores: Sequence[float], weight: float) -> list[str]:
    """Return the documents, best first, as the product orders them."""
    held = question.candidates
    left = [None] * (len(held) - len(scores))
    places = combined([one.score for one in held], [*scores, *left], weight)
    return [document for at, _ in places for document in held[at].documents]


def judged(
    questions: Sequence[Question], scores: Scores, weight: float, qrels: Qrels
) -> list[Means]:
    """Return each question's measures, in their order."""
    run = {q.id: ranked(order(q, scores[q.id], weight)) for q in questions}
    found = by_query({q.id: qrels[q.id] for q in questions}, run)
    return [found[q.id] for q in questions]


def rows(
    name: str, questions: Sequence[Question], scores: Scores, qrels: Qrels
) -> Iterator[tuple[str, ...]]:
    """Yield a line a weight: set, weight, questions, nDCG@10, R@10, and p against weight 0."""
    base = [row["nDCG@10"] for row in judged(questions, scores, 0.0, qrels)]
    for weight in WEIGHTS:
        values = judged(questions, scores, weight, qrels)
        means, own = mean(values), [row["nDCG@10"] for row in values]
        p = f"{chance_of(own, base):.4f}" if weight else ""
        cells = (f"{100 * means[measure]:.2f}" for measure in ("nDCG@10", "R@10"))
        yield name, f"{weight:g}", str(len(questions)), *cells, p


def first_half(questions: Sequence[Question]) -> list[Question]:
    """Return the questions of the first half of the conversations; all where there are none."""
    convs = list(dict.fromkeys(question.conv for question in questions))
    chosen = set(convs[: max(1, len(convs) // 2)])
    return [question for question in questions if question.conv in chosen]


def opened(model: str, embedder: Embedder, folder: Path, threads: int) -> Reranker:
    """Return late interaction of the embedder, or what a checkpoint would be exported as."""
    if model == "late":
        return LateInteraction(token_embedder(embedder))
    from evals.reranker.export import exported

    return trained_reranker(exported(Path(model), 1.0, 0.0, {}), folder, threads, e5.MAX_TOKENS)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return the exit status."""
    parser = options("evals.reranker.measure", __doc__)
    parser.add_argument("model", help="`late`, or a checkpoint")
    parser.add_argument("--candidates", type=Path, required=True, help="folder they are kept in")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--top", type=int, default=30)
    parser.add_argument("--queries", type=int, default=0, help="so many, drawn; 0: all")
    parser.add_argument("--all", action="store_true", help="both halves of LoCoMo")
    parser.add_argument("--before", action="store_true", help="with the turn before")
    parser.add_argument("--threads", type=int, default=0)
    chosen = parser.parse_args(arguments)
    try:
        with measuring() as (settings, embedder, progress), tempfile.TemporaryDirectory() as folder:
            reranker = opened(chosen.model, embedder, Path(folder), chosen.threads)
            for name in chosen.sets:
                made = kept(chosen.candidates, name, chosen.data, settings, embedder, progress)
                questions = made if chosen.all else first_half(made)
                if chosen.queries and len(questions) > chosen.queries:
                    questions = Random(3).sample(questions, chosen.queries)  # noqa: S311
                scores = scored(reranker, questions, chosen.top, chosen.before)
                qrels = datasets.load(name, chosen.data).qrels
                for row in rows(name, questions, scores, qrels):
                    print(*row, sep="\t", flush=True)  # noqa: T201
    except LetopisError as error:
        return refused(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
