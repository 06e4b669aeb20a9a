"""The arms: how much of a session's layers a context is given, and what it says then.

All but `EVERYTHING` have the same budget. An arm leaves out material before the context is
assembled; reading, searching and assembling are the product's.
"""

from dataclasses import replace

from evals.errors import UnknownArm
from evals.sessions.score import Assembled
from indexing.errors import BudgetTooSmall
from retrieval.retriever import Retriever
from sessions.context import drafted, finished
from sessions.gather import context_of, material_of
from sessions.log import TurnLog
from sessions.policies import ContextPolicy
from sessions.types import Context, Message

EVERYTHING = "everything"
"""The whole transcript, of all sessions: the ceiling."""

LAYERS: dict[str, frozenset[str]] = {
    "window": frozenset(),
    "window+pinning": frozenset({"pinned"}),
    "+digest": frozenset({"pinned", "digest"}),
    "+facts": frozenset({"pinned", "digest", "facts"}),
    "+retrieval": frozenset({"pinned", "digest", "facts", "retrieved"}),
}
"""What each arm has beside role, recent turns and question."""

ALL = "+retrieval"
"""The arm with all layers: the product as it is."""

ARMS = (*LAYERS, EVERYTHING)


def check(arms: tuple[str, ...]) -> None:
    """Raise `UnknownArm` for a name that is no arm."""
    for arm in arms:
        if arm not in ARMS:
            raise UnknownArm(f"there is no arm {arm!r}; the arms are {', '.join(ARMS)}")


def assembled(
    arm: str,
    log: TurnLog,
    retriever: Retriever,
    asker: tuple[str, str],
    question: str,
    policy: ContextPolicy,
) -> Assembled:
    """Return the context of an arm that is not `EVERYTHING`; ``asker``: user and session.

    It is empty where the product says that none fits the budget.
    """
    try:
        context = _context(arm, log, retriever, asker, question, policy)
    except BudgetTooSmall:
        return Assembled("", 0)
    return Assembled("\n".join(map(said, context)), context.tokens)


def _context(
    arm: str,
    log: TurnLog,
    retriever: Retriever,
    asker: tuple[str, str],
    question: str,
    policy: ContextPolicy,
) -> Context:
    if arm == ALL:
        return context_of(log, retriever, *asker, question, policy)
    layers = LAYERS[arm]
    if "pinned" not in layers:
        policy = replace(policy, window=replace(policy.window, pinned=0))
    material = material_of(log, *asker, question, policy)
    if "digest" not in layers:
        material = replace(material, digest=None)
    if "facts" not in layers:
        material = replace(material, notes=(), facts=(), more_facts=0)
    return finished(drafted(material, policy, log.count_tokens))


def said(message: Message) -> str:
    """Return the text of a message, with the arguments of its calls."""
    calls = message.get("tool_calls") or ()
    asked = (str(call["function"]["arguments"]) for call in calls)
    return "\n".join((str(message.get("content") or ""), *asked))
