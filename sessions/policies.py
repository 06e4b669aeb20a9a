"""By which numbers a context is put together: `WindowPolicy`, `ContextPolicy`; loads little."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from indexing.errors import InvalidInput
from sessions.types import LayerName

LAYERS: tuple[LayerName, ...] = (
    "role", "facts", "digest", "retrieved", "pinned", "recent", "question",
)  # fmt: skip
"""Layers in the order in which they stand."""

CUT_ORDER: tuple[LayerName, ...] = ("digest", "retrieved", "recent", "pinned")
"""Layers in the order in which they give way, after the tools' results of the turns."""


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """How many turns are kept word for word: the ``pinned`` first and the ``last`` ones.

    A call and its results are never torn apart, so there may be some more. ``tokens`` is how many
    tokens the last ones may take, None for any: fewer are kept then, but the newest always.
    """

    last: int = 20
    pinned: int = 3
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.last < 0 or self.pinned < 0 or (self.tokens is not None and self.tokens < 0):
            raise InvalidInput("a window's numbers of turns and tokens are from 0 on")


def _shares() -> dict[LayerName, float]:
    return {"digest": 0.25, "retrieved": 0.3, "recent": 0.25, "pinned": 0.1, "question": 0.1}


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """How large a context is, and who gives way when it does not fit.

    ``budget`` is in tokens, ``reserve`` is what of it is kept for the answer. ``shares`` are of
    what role and facts leave: no layer is cut below its share, and what a layer does not use the
    others have. A share for the question keeps the others' the same from question to question.

    ``hits`` is how many memories are shown at most, ``facts`` how many of the user's, ``outside``
    how many notes of live data. When turns have to be cut, their tools' results are cut to the
    first of ``tool_tokens`` that makes enough room; ``fields`` are those that are kept of JSON.
    """

    budget: int = 4000
    reserve: int = 1000
    shares: Mapping[LayerName, float] = field(default_factory=_shares)
    window: WindowPolicy = field(default_factory=WindowPolicy)
    hits: int = 24
    facts: int = 50
    tool_tokens: tuple[int, ...] = (400, 200, 100)
    fields: tuple[str, ...] = ()
    outside: int = 8

    def __post_init__(self) -> None:
        if not 0 <= self.reserve < self.budget:
            raise InvalidInput(
                f"a budget of {self.budget} tokens has no room beside a reserve of {self.reserve}"
            )
        for name, share in self.shares.items():
            if name not in (*CUT_ORDER, "question") or not 0 <= share <= 1:
                raise InvalidInput(f"there is no share of {share} for {name}")
        if sum(self.shares.values()) > 1 + 1e-9:
            raise InvalidInput(f"the shares add up to {sum(self.shares.values()):g}, more than 1")
        if min(self.hits, self.facts, self.outside) < 0 or min(self.tool_tokens, default=1) < 1:
            raise InvalidInput("hits, facts and outside are from 0 on, tool_tokens from 1 on")
