"""The part of the front door that is about conversations: sessions, contexts, handoffs, skills.

What it needs is loaded by the call that needs it: most commands are about something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from indexing.types import GLOBAL, Memory, user_scope

if TYPE_CHECKING:
    from configs.build import Parts
    from indexing.closing import Ending
    from sessions.episodes import Episode
    from sessions.handoff import Accepted, Handoff
    from sessions.listing import LoggedSession
    from sessions.procedures import Found, Procedure
    from sessions.session import Ended, Session
    from sessions.types import Context, Cut


class Conversations:
    """What an open memory does with conversations; `letopis.memory.LongTermMemory` is one."""

    parts: Parts

    def session(self, user_id: str, session_id: str) -> Session:
        """Return a session, new or known: append to it, read its facts, ask for its context.

        >>> session = memory.session("ann", "2026-11-30")  # doctest: +SKIP
        >>> session.append({"role": "user", "content": "My size is L."})  # doctest: +SKIP
        >>> session.facts["size"]  # doctest: +SKIP
        'L'
        """
        from sessions.session import Session

        return Session(self.parts.desk, user_id, session_id)

    def sessions(self, user_id: str) -> list[LoggedSession]:
        """Return the sessions of a user that have turns in the log, the oldest first."""
        return self.parts.desk.log.sessions(user_id)

    def build_context(
        self,
        user_id: str,
        session_id: str,
        query: str,
        budget: int | None = None,
        *,
        reserve: int | None = None,
        role: str | None = None,
        rerank: bool = True,
    ) -> Context:
        """Return the messages with which a model answers ``query`` in a session.

        Role, facts, digest, retrieved memories, pinned and recent turns, the question last, in a
        hard ``budget`` of tokens of which ``reserve`` stays for the answer. Raises `InvalidInput`,
        `BudgetTooSmall`, `InvalidId`, `StoreError`, `ModelError`.
        """
        session = self.session(user_id, session_id)
        return session.context(query, budget, reserve=reserve, role=role, rerank=rerank)

    def close_session(self, user_id: str, session_id: str, ending: Ending | None = None) -> Ended:
        """End a session: its digest and facts go to the user, its own memories leave every answer.

        They are archived or, with ``clear``, deleted for good with the log; None is what the
        settings say.
        """
        return self.session(user_id, session_id).close(ending)

    def episodes(self, user_id: str, query: str, k: int = 3) -> tuple[Episode, ...]:
        """Return the k closed sessions of a user that a question is about, whole and dated."""
        from sessions.episodes import episodes

        return episodes(self.parts.retriever, query, user_id, k)

    def life(self, user_id: str) -> Cut:
        """Return the digest of the digests of a user's sessions: the older, the shorter."""
        from sessions.ageing import aged
        from sessions.kept import read_digest

        desk = self.parts.desk
        named = (read_digest(desk.index, user_id, one.session_id) for one in self.sessions(user_id))
        found = [digest for digest in named if digest]
        return aged(found, desk.index.clock(), desk.policy.ageing, desk.log.count_tokens)

    def make_handoff(self, user_id: str, session_id: str, task: str) -> Handoff:
        """Return the packet for an agent that takes over a task, without the transcript."""
        return self.session(user_id, session_id).handoff(task)

    def accept_handoff(
        self, user_id: str, session_id: str, packet: Handoff | str | bytes | Mapping[str, Any]
    ) -> Accepted:
        """Begin a session from another agent's packet. Raises `InvalidPacket`."""
        return self.session(user_id, session_id).accept(packet)

    def remember_procedure(self, procedure: Procedure, user_id: str | None = None) -> Memory:
        """Keep how a task is done, for a user or for everybody; the same name again replaces it."""
        from sessions.procedures import remember_procedure

        scope = GLOBAL if user_id is None else user_scope(user_id)
        return remember_procedure(self.parts.index, scope, procedure)

    def retrieve_procedures(
        self, task: str, user_id: str | None = None, tags: Sequence[str] = (), k: int = 3
    ) -> tuple[Found, ...]:
        """Return the k procedures for a task, the best first: everybody's and the user's."""
        from sessions.procedures import retrieve_procedures

        return retrieve_procedures(self.parts.retriever, task, user_id, tags, k)
