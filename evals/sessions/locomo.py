"""Is LoCoMo's evidence in the context? One conversation is one user's one long session.

All turns are appended at the times they were said; every question is asked at the end. A turn of
the evidence is recalled when the context has its words; one that the corpus lacks never is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from chunking.types import Turn
from configs.settings import Settings
from evals.chat import sessions
from evals.datasets import Dataset
from evals.sessions.arms import ALL
from evals.sessions.play import opened
from evals.sessions.words import plain, says
from indexing.dense import Embedder
from indexing.ingest import Progress
from sessions.types import Entry

BUDGETS = (1_300, 4_000)
"""Tokens of a context."""

SESSION = "conversation"


@dataclass(frozen=True, slots=True)
class Recall:
    """What contexts of a budget have of the evidence, as means over the questions.

    ``evidence`` is the part of a question's evidence turns that are there; ``complete`` the part of
    the questions of which all are.
    """

    budget: int
    queries: int
    evidence: float
    complete: float
    tokens: float


def measure(
    dataset: Dataset,
    settings: Settings,
    embedder: Embedder,
    budgets: Sequence[int] = BUDGETS,
    progress: Progress | None = None,
) -> list[Recall]:
    """Append every conversation and ask all its questions at each budget."""
    found: dict[int, list[tuple[float, int]]] = {budget: [] for budget in budgets}
    done = 0
    with opened(settings, embedder) as player:
        for conv, told in sessions(dataset.documents.values()).items():
            turns = [turn for session in told for turn in session.turns]
            asked = player.append(conv, SESSION, [_entry(turn) for turn in turns])
            words = {turn.turn_id: plain(turn.text) for turn in turns}
            for query in dataset.queries.values():
                if query.conv != conv:
                    continue
                evidence = [words.get(key) for key in dataset.qrels[query.id]]
                for budget in budgets:
                    given = player.ask(ALL, asked, query.text, budget)
                    held = plain(given.text)
                    share = fmean(bool(turn) and says(held, turn or "") for turn in evidence)
                    found[budget].append((share, given.tokens))
                done += 1
                if progress:
                    progress("sessions: locomo", done, len(dataset.queries))
    return [_recall(budget, held) for budget, held in found.items() if held]


def _entry(turn: Turn) -> Entry:
    """Return a turn of the dataset as one of a session: both speakers are people."""
    return Entry("user", turn.text, turn.turn_id, turn.speaker, turn.at)


def _recall(budget: int, held: Sequence[tuple[float, int]]) -> Recall:
    shares = [share for share, _ in held]
    return Recall(
        budget,
        len(held),
        fmean(shares),
        fmean(share == 1 for share in shares),
        fmean(tokens for _, tokens in held),
    )
