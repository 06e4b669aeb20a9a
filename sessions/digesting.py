"""Make the digest of a stored session anew: `make_digest`. Read, think, write, each on its own.

Nothing is held open while lines are read or a model is asked. What is written counts only if no
other digest and no forgetting came in between: else it is all read again. A turn that arrives
meanwhile waits for the next digest. A killed run leaves the digest before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexing.errors import StoreError
from sessions.digest import DigestPolicy, Reason, due, fold, gather, over_cap, to_fold
from sessions.kept import read_digest, write_digest
from sessions.log import TurnLog
from sessions.model_digest import Told
from sessions.speech import AROUND
from sessions.types import Digest, LoggedTurn

TRIES = 5
"""How often it begins again, where others are faster, before it leaves the session to them."""


Wording = Callable[[Digest, Sequence[LoggedTurn], Digest | None], Told]
"""Words the prose of a digest from its turns and the digest before; unchanged where it cannot."""


@dataclass(frozen=True, slots=True)
class Digested:
    """A session's digest now, and how many turns this run took up (0: none was due).

    ``over`` are the tokens by which what lasts passes the cap: it stays. ``dropped`` counts the
    ``other`` lines and live data that had no place in it. ``details`` are of the model's wording.
    """

    digest: Digest | None
    reason: Reason | None = None
    turns: int = 0
    over: int = 0
    dropped: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)


def make_digest(
    log: TurnLog,
    user_id: str,
    session_id: str,
    policy: DigestPolicy,
    *,
    closing: bool = False,
    wording: Wording | None = None,
    reason: Reason | None = None,
) -> Digested:
    """Fold what is due of a session; with a ``reason`` given, what it takes, due or not.

    Raises `StoreError` where others kept writing
    digests of this session for as long as it tried.
    """
    index = log.index
    for _ in range(TRIES):
        unchanged = log.forgotten(user_id, session_id)
        before = read_digest(index, user_id, session_id)
        done = before.through if before else 0
        waiting = log.read(user_id, session_id, after=done)
        written = log.written_at(user_id, session_id)
        why = reason or due(waiting, policy, index.clock(), closing, written)
        turns = to_fold(waiting, policy, why) if why else ()
        if not turns:
            return Digested(
                before, over=over_cap(before, policy, log.count_tokens) if before else 0
            )
        around = log.read(user_id, session_id, through=done, last=AROUND) if done else []
        lines = gather(before, turns, around)
        owner = {"session_id": session_id, "user_id": user_id}
        made = fold(before, turns, policy, log.count_tokens, **owner, lines=lines)
        told = wording(made, turns, before) if wording else Told(made, {"by": "rules"})
        if write_digest(index, told.digest, forgotten=unchanged):
            return Digested(
                told.digest,
                why,
                len(turns),
                over_cap(told.digest, policy, log.count_tokens),
                len(lines) - len(made.lines),
                told.details,
            )
    raise StoreError("another process keeps writing digests of this session; try again")
