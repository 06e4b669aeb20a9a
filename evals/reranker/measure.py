"""What reranking adds: ``python -m evals.reranker.measure [built-in|late|STEP.pt] --kept DIR``.

Does: score the first candidates of every question by the model that ships, by late interaction, or
by what a checkpoint would be exported as; add both scores at several weights; print nDCG@10 and
R@10 with a paired randomisation test and a 95 % interval against the order before, and write them
as a section of a Markdown file (``--results``). Candidates and scores are kept in the folder: a run
that was cut off goes on where it was.
Does not: change settings, leave out the long passages that the product does not have read; it reads
512 tokens at once, the product in windows of 256. LoCoMo's first five conversations are for
choosing, the other five tell what that was worth.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from chunking.errors import LetopisError
from evals import report
from evals.command import measuring, options, refused
from evals.metrics import by_query, mean
from evals.reranker.candidates import MIXED, Question, kept, loaded
from evals.significance import chance_of, interval
from evals.types import Means, Qrels, ranked
from indexing import e5
from indexing.dense import Embedder, token_embedder
from indexing.hashing import digest
from indexing.ingest import Progress
from retrieval.rerank.built_in import shipped, trained_reranker
from retrieval.rerank.late import LateInteraction
from retrieval.rerank.order import combined
from retrieval.rerank.types import Reranker
from retrieval.stages import with_before

WEIGHTS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.5)
TOPS = (10, 30, 50, 100)
SETS = (
    "locomo",
    "xquad-r-ru",
    "xquad-r-en",
    "xquad-ru",
    "xquad-en",
    "xquad-ru-en",
    "xquad-en-ru",
    "scifact",
    MIXED,
)
COLUMNS = ("set", "top", "weight", "questions", "nDCG@10", "R@10", "difference", "95 %", "p")

Scores = Mapping[str, Sequence[float]]
"""Query id -> scores of its first candidates, 0 to 1."""
Row = tuple[str, ...]
"""The cells under `COLUMNS`."""


def scored(
    reranker: Reranker,
    questions: Sequence[Question],
    top: int,
    before: bool,
    file: Path | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Return the scores of each question's first candidates; ``before``: read with the turn
    before. With a file what is scored is kept there, and what is there is not scored again."""
    found = _read(file) if file else {}
    for number, question in enumerate(questions, 1):
        wanted = question.candidates[:top]
        if len(found.get(question.id, ())) < len(wanted):
            texts = [with_before(c.text, c.before) if before else c.text for c in wanted]
            found[question.id] = [float(score) for score in reranker.scores(question.text, texts)]
            if file:
                _add(file, question.id, found[question.id])
        if progress:
            progress("rerank", number, len(questions))
    return {question.id: found[question.id][:top] for question in questions}


def _read(file: Path) -> dict[str, list[float]]:
    """Return what is kept; a line cut short by the end of its run is taken out of the file."""
    if not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    return dict(json.loads(line) for line in whole.splitlines())


def _add(file: Path, key: str, scores: Sequence[float]) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps([key, [round(score, 6) for score in scores]]) + "\n")


def candidates_digest(questions: Sequence[Question]) -> str:
    """Return a digest of what is scored: scores of other candidates are no scores of these."""
    parts = (part for q in questions for c in q.candidates for part in (q.id, c.text, c.before))
    return digest(*parts)[:8]


def order(
    question: Question, scores: Sequence[float], weight: float, plain: bool = False
) -> list[str]:
    """Return the documents, best first, as the product orders them."""
    held = question.candidates
    left = [None] * (len(held) - len(scores))
    places = combined([one.score for one in held], [*scores, *left], weight, plain)
    return [document for at, _ in places for document in held[at].documents]


def judged(
    questions: Sequence[Question],
    scores: Scores,
    weight: float,
    qrels: Qrels,
    plain: bool = False,
) -> list[Means]:
    """Return each question's measures, in their order."""
    run = {q.id: ranked(order(q, scores[q.id], weight, plain)) for q in questions}
    found = by_query({q.id: qrels[q.id] for q in questions}, run)
    return [found[q.id] for q in questions]


def rows(
    name: str,
    questions: Sequence[Question],
    scores: Scores,
    qrels: Qrels,
    tops: Sequence[int] = (30,),
    weights: Sequence[float] = WEIGHTS,
    plain: bool = False,
) -> Iterator[Row]:
    """Yield a line of the order before, then one for each length and weight; see `COLUMNS`."""
    first = judged(questions, {q.id: () for q in questions}, 0.0, qrels)
    base = [row["nDCG@10"] for row in first]
    yield name, "", "0", str(len(questions)), *_cells(first), "", "", ""
    for top in tops:
        cut = {key: values[:top] for key, values in scores.items()}
        for weight in weights:
            values = judged(questions, cut, weight, qrels, plain)
            own = [row["nDCG@10"] for row in values]
            low, high = interval(own, base)
            gain = 100 * (sum(own) - sum(base)) / len(own)
            yield (
                name,
                str(top),
                f"{weight:g}",
                str(len(questions)),
                *_cells(values),
                f"{gain:+.2f}",
                f"{100 * low:+.2f} to {100 * high:+.2f}",
                f"{chance_of(own, base):.4f}",
            )


def _cells(values: Sequence[Means]) -> Iterator[str]:
    means = mean(values)
    return (f"{100 * means[measure]:.2f}" for measure in ("nDCG@10", "R@10"))


def groups(name: str, questions: Sequence[Question]) -> Iterator[tuple[str, list[Question]]]:
    """Yield the parts of a set by name, then all of it: the halves of its conversations, else its
    categories where it has some.

    >>> [name for name, _ in groups("locomo", [Question("q", "?", c, "", []) for c in "ab"])]
    ['locomo 1', 'locomo 2', 'locomo']
    """
    convs = list(dict.fromkeys(question.conv for question in questions))
    categories = sorted({question.category for question in questions})
    if len(convs) > 1:
        first = set(convs[: len(convs) // 2])
        yield f"{name} 1", [q for q in questions if q.conv in first]
        yield f"{name} 2", [q for q in questions if q.conv not in first]
    elif len(categories) > 1:
        for category in categories:
            yield f"{name}, {category}", [q for q in questions if q.category == category]
    yield name, list(questions)


def opened(model: str, embedder: Embedder, cache: Path, threads: int) -> Reranker:
    """Return the model that ships, late interaction of the embedder, an exported one, or what a
    checkpoint gives where each weight is rounded by itself, without a calibration."""
    if model == "late":
        return LateInteraction(token_embedder(embedder))
    if model == "built-in":
        data = shipped()
    elif model.endswith(".npz"):
        data = Path(model).read_bytes()
    else:
        from evals.reranker.export import exported

        data = exported(Path(model), 1.0, 0.0, {})
    return trained_reranker(data, cache, threads, max_tokens=e5.MAX_TOKENS)


def section(arguments: Sequence[str], found: Sequence[Row]) -> str:
    """Return the section of a Markdown file about a run with these arguments."""
    command = " ".join(("python -m evals.reranker.measure", *arguments))
    head = f"Reranking by `{command}`; weight 0 is the order before."
    lines = [COLUMNS, ("---",) * len(COLUMNS), *found]
    return "\n".join([head, "", *(f"| {' | '.join(line)} |" for line in lines)])


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return the exit status."""
    parser = options("evals.reranker.measure", __doc__)
    parser.add_argument("model", nargs="?", default="built-in", help="or `late`, FILE.npz, STEP.pt")
    parser.add_argument("--kept", type=Path, required=True, help="folder of candidates and scores")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--tops", nargs="+", type=int, default=TOPS)
    parser.add_argument("--weights", nargs="+", type=float, default=WEIGHTS)
    parser.add_argument("--queries", type=int, default=0, help="so many, drawn; 0: all")
    parser.add_argument("--plain", action="store_true", help="add the probability, as for talk")
    parser.add_argument("--before", action="store_true", help="with the turn before")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--results", type=Path, help="Markdown file whose section is replaced")
    chosen = parser.parse_args(arguments)
    found: list[Row] = []
    try:
        with measuring() as (settings, embedder, progress), tempfile.TemporaryDirectory() as folder:
            reranker = opened(chosen.model, embedder, Path(folder), chosen.threads)
            for name in chosen.sets:
                made = kept(chosen.kept, name, chosen.data, settings, embedder, progress)
                if chosen.queries and len(made) > chosen.queries:
                    made = Random(3).sample(made, chosen.queries)  # noqa: S311
                how = f"{reranker.name}{'+before' if chosen.before else ''}".replace("/", "_")
                file = chosen.kept / f"{name}.{how}.{candidates_digest(made)}.scores"
                scores = scored(reranker, made, max(chosen.tops), chosen.before, file, progress)
                qrels = loaded(name, chosen.data).qrels
                for part, some in groups(name, made):
                    how_much = (chosen.tops, chosen.weights, chosen.plain)
                    for row in rows(part, some, scores, qrels, *how_much):
                        print(*row, sep="\t", flush=True)  # noqa: T201
                        found.append(row)
            if chosen.results:
                told = sys.argv[1:] if arguments is None else arguments
                name = f"rerank-{Path(chosen.model).stem}{'-plain' if chosen.plain else ''}"
                report.replace(chosen.results, name, section(told, found))
    except LetopisError as error:
        return refused(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
