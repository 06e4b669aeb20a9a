"""Sessions that nobody closed: `close_idle`, for a schedule."""

from collections.abc import Callable
from dataclasses import dataclass

from indexing.errors import LetopisError
from sessions.session import Desk, Session

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many sessions are done and how many there are."""


@dataclass(frozen=True, slots=True)
class IdleReport:
    """How many sessions were closed, how many could not be, and what went to their users."""

    closed: int = 0
    failed: int = 0
    episodes: int = 0
    facts: int = 0


def close_idle(desk: Desk, progress: Progress | None = None) -> IdleReport:
    """Close the logged sessions that are idle by the policy; each is whole or open still.

    One that fails does not keep the others; where all fail, the first error is raised. Turns that
    a killed process left unindexed are indexed first. Interrupted, it can be run again.
    """
    desk.log.pending()
    waiting = desk.log.idle(desk.index.clock() - desk.policy.digest.idle)
    closed = episodes = facts = 0
    errors: list[LetopisError] = []
    for number, (user_id, session_id) in enumerate(waiting):
        if progress:
            progress("sessions", number, len(waiting))
        try:
            done = Session(desk, user_id, session_id).close()
        except LetopisError as error:
            errors.append(error)
            continue
        closed += 1
        episodes += done.episode
        facts += done.notebook.new
    if errors and not closed:
        raise errors[0]
    return IdleReport(closed, len(errors), episodes, facts)
