"""Policies, materials and what stands in their contexts, for the tests of these."""

from collections.abc import Sequence
from typing import Any

from indexing.types import Memory, user_scope
from retrieval.types import Hit
from sessions.material import Material
from sessions.policies import ContextPolicy
from sessions.types import Context, Digest, Line, LoggedTurn, Note
from tests.sessions.turns import START

ROLE = "You help with travel."

ROOMY = ContextPolicy(budget=100_000, reserve=1000)

NOTES = (
    Note("budget", "40 000 €", seq=3),
    Note("rejected/1f", "include archived projects", "rejected", seq=9, at=START),
)


def policy(budget: int, reserve: int = 0, **fields: Any) -> ContextPolicy:
    return ContextPolicy(budget=budget, reserve=reserve, **fields)


def memory(text: str, **fields: Any) -> Memory:
    made = {"id": text[:40], "scope": user_scope("ann"), "kind": "fact", "source_id": "told"}
    return Memory(**{**made, "text": text, "at": START, **fields})


def hit(text: str, rank: int = 1, **fields: Any) -> Hit:
    return Hit(memory(text, **fields), rank, 1 / rank, {})


def digest(*texts: str, kind: Any = "decision", through: int = 20) -> Digest:
    lines = tuple(Line(kind, text, n, "user", START) for n, text in enumerate(texts, 1))
    return Digest("s", "ann", 1, through, START, START, (), lines)


def material(turns: Sequence[LoggedTurn] = (), **fields: Any) -> Material:
    made = {"question": "What now?", "session_id": "s", "role": ROLE, "now": START}
    return Material(**{**made, "first": tuple(turns), **fields})


def contents(context: Context) -> list[str]:
    return [message["content"] for message in context.messages]


def layer(context: Context, name: str) -> Any:
    return next(each for each in context.layers if each.name == name)
