"""One session as an agent uses it: `Session`. Appends, folds, remembers, answers with a context.

Each step is a function of a module of its own; here is only their order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import Any

from indexing.closing import Closed, Ending, close_session
from indexing.errors import InvalidInput, StoreError
from indexing.index import Index
from indexing.types import session_scope
from retrieval.retriever import Retriever
from sessions.ageing import AgeingPolicy
from sessions.cache import ContextCache
from sessions.calls import CallLog, ModelCall, Spent
from sessions.digest import DigestPolicy
from sessions.digesting import TRIES, Digested, make_digest
from sessions.episodes import write_episode
from sessions.gather import context_of
from sessions.handoff import Accepted, Handoff, accept, make_handoff
from sessions.kept import put_notes, read_digest, read_notes
from sessions.log import Appended, TurnLog
from sessions.loops import EarlierResult, find_tool_result
from sessions.messages import listed, read_messages
from sessions.model_digest import ModelDigest
from sessions.notebook import NotebookReport, write_notebook
from sessions.notes import OUTSIDE_TTL, SessionFacts, note_turns
from sessions.policies import ContextPolicy
from sessions.speech import AROUND, lines_since, still_open
from sessions.state import SessionState, read_state, update_state
from sessions.types import Context, Digest, Line, LoggedTurn, Note


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """How sessions are kept: when they are folded, what a context holds, how they end.

    ``automatic``: a digest is made as soon as appending makes one due. ``outside_ttl`` is how long
    live data of the world counts.
    """

    digest: DigestPolicy = field(default_factory=DigestPolicy)
    context: ContextPolicy = field(default_factory=ContextPolicy)
    ageing: AgeingPolicy = field(default_factory=AgeingPolicy)
    ending: Ending = "archive"
    automatic: bool = True
    outside_ttl: timedelta = OUTSIDE_TTL


@dataclass(frozen=True, slots=True)
class Desk:
    """What all sessions of a deployment share, put together once by `configs.build`.

    ``cache`` holds texts of contexts: clear it when something was forgotten.
    """

    log: TurnLog
    calls: CallLog
    retriever: Retriever
    policy: SessionPolicy = field(default_factory=SessionPolicy)
    wording: ModelDigest | None = None
    cache: ContextCache = field(default_factory=ContextCache)

    @property
    def index(self) -> Index:
        """The open index."""
        return self.log.index

    def close(self) -> None:
        """Let go of the model that words digests."""
        if self.wording:
            self.wording.chat.close()


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a session that was closed.

    ``episode`` tells whether its digest was written to the user's memory; ``notebook`` counts the
    facts there, ``closed`` the session's own memories.
    """

    digest: Digest | None
    episode: bool
    notebook: NotebookReport
    closed: Closed


class Session:
    """A session of one user. Holds nothing itself: any number of objects may stand for it."""

    def __init__(self, desk: Desk, user_id: str, session_id: str) -> None:
        session_scope(user_id, session_id)  # refuses ids that are none
        self.user_id, self.session_id = user_id, session_id
        self._desk = desk
        self._me = (user_id, session_id)

    @property
    def facts(self) -> SessionFacts:
        """The critical facts, by name: read, set and delete them as in a dict."""
        return SessionFacts(self._desk.index, *self._me)

    @property
    def state(self) -> SessionState:
        """The role text, the task, the ceilings and the packet that it began with."""
        return read_state(self._desk.index, *self._me)

    def configure(self, **changes: Any) -> SessionState:
        """Change fields of the `SessionState`: ``role``, ``task``, ``token_ceiling``…

        ``details`` join those that are there. Raises `InvalidInput` for what is no field.
        """
        if unknown := changes.keys() - {field.name for field in fields(SessionState)}:
            raise InvalidInput(f"a session has no {', '.join(sorted(unknown))}")
        return update_state(self._desk.index, *self._me, lambda state: changed(state, changes))

    def append(self, messages: object, *, whole: bool = False) -> Appended:
        """Add turns: an `Entry`, a message of OpenAI's or LangChain's form, or a list of them.

        They are durable and can be found when it returns, what they give a value to is among the
        facts, and what is due is in the digest. With ``whole`` the messages are the conversation
        from its start: what is known already is not added again. Raises `InvalidInput` (nothing is
        added), `TurnConflict`, `Forgotten`, `StoreError`, `ModelError`.
        """
        entries = read_messages(listed(messages))
        done = self._desk.log.append(*self._me, entries, whole=whole)
        if done.new:
            note_turns(self._desk.log, *self._me, self._desk.policy.outside_ttl)
            if self._desk.policy.automatic:
                self.digest()
        return done

    def turns(self, last: int | None = None) -> list[LoggedTurn]:
        """Return the turns of its log, or the last of them."""
        return self._desk.log.read(*self._me, last=last)

    def count(self) -> int:
        """Return how many turns its log has."""
        return self._desk.log.count(*self._me)

    def notes(self) -> tuple[Note, ...]:
        """Return all that is noted: facts, live data and rejected ideas, with turns and times."""
        return read_notes(self._desk.index, *self._me)

    def kept_digest(self) -> Digest | None:
        """Return the digest in force, None where nothing was folded yet."""
        return read_digest(self._desk.index, *self._me)

    def digest(self, *, now: bool = False) -> Digested:
        """Fold the turns that are due into the digest, or ``now`` all but the newest that stay."""
        desk = self._desk
        return make_digest(
            desk.log,
            *self._me,
            desk.policy.digest,
            wording=desk.wording,
            reason="messages" if now else None,
        )

    def context(
        self,
        question: str,
        budget: int | None = None,
        *,
        reserve: int | None = None,
        role: str | None = None,
        rerank: bool = True,
    ) -> Context:
        """Return the messages for a model that is to answer a question; see `context_of`.

        ``budget`` is in tokens, ``reserve`` what of it is kept for the answer; where only the
        budget is given its usual share is. ``role`` stands in for the session's own.
        """
        policy = resized(self._desk.policy.context, budget, reserve)
        desk = self._desk
        return context_of(
            desk.log,
            desk.retriever,
            *self._me,
            question,
            policy,
            role=role,
            rerank=rerank,
            cache=desk.cache,
        )

    def lines(self) -> tuple[Line, ...]:
        """Return what its turns say: the digest's lines, and those of the turns since."""
        log = self._desk.log
        digest = read_digest(self._desk.index, *self._me)
        through = digest.through if digest else 0
        since = log.read(*self._me, after=through)
        around = log.read(*self._me, through=through, last=AROUND) if through else []
        held = still_open(digest.lines, since) if digest else ()
        return (*held, *lines_since(since, around))

    def close(self, ending: Ending | None = None) -> Ended:
        """End it: its digest and facts go to the user's memory, its own leave every answer.

        Archived ones are kept for the past, cleared ones deleted with the log. Turns that arrive
        meanwhile are taken in too. Closing again adds only what is new. Raises `StoreError`,
        `ModelError`: then it is open still.
        """
        desk, new, episode = self._desk, 0, False
        for _ in range(TRIES):
            last = desk.log.last_seq(*self._me)
            digest, notebook, told = self._leave()
            new, episode = new + notebook.new, episode or told
            closed = close_session(desk.index, *self._me, ending or desk.policy.ending, last)
            if closed.sessions:
                desk.cache.clear()
                return Ended(digest, episode, replace(notebook, new=new), closed)
        raise StoreError("turns of this session keep coming in; try again")

    def _leave(self) -> tuple[Digest | None, NotebookReport, bool]:
        """Put its digest and facts into the user's memory; tell whether the digest was new."""
        desk = self._desk
        note_turns(desk.log, *self._me, desk.policy.outside_ttl)
        made = make_digest(
            desk.log, *self._me, desk.policy.digest, closing=True, wording=desk.wording
        )
        lines = made.digest.lines if made.digest else ()
        kept = read_notes(desk.index, *self._me)
        notebook = write_notebook(desk.index, *self._me, lines, kept, desk.policy.outside_ttl)
        episode = made.digest is not None and write_episode(desk.index, made.digest)
        return made.digest, notebook, episode

    def handoff(self, task: str) -> Handoff:
        """Return the packet for an agent that takes over: no transcript, no rejected idea."""
        return make_handoff(task, self.lines(), read_notes(self._desk.index, *self._me))

    def accept(self, packet: Handoff | str | bytes | Mapping[str, Any]) -> Accepted:
        """Begin from another agent's packet: its facts are facts here, its text joins the role.

        Accepted again it changes nothing. Raises `InvalidPacket` where it is none.
        """
        taken = accept(packet)
        index, told = self._desk.index, taken.packet.as_json()
        if self.state.packet == told:
            return taken
        put_notes(index, *self._me, taken.notes)
        update_state(
            index,
            *self._me,
            lambda state: replace(
                state,
                role="\n\n".join(filter(None, (state.role, taken.system))),
                task=taken.packet.task,
                packet=told,
            ),
        )
        return taken

    def record(self, call: ModelCall) -> Spent:
        """Log a call of a model; return what the session has spent with it."""
        self._desk.calls.record(*self._me, call)
        return self.spent()

    def spent(self) -> Spent:
        """Return what its calls of models took, in tokens and money."""
        return self._desk.calls.spent(*self._me)

    def check(self, tokens: int = 0, cost: float = 0.0) -> Spent:
        """Ask before a call that may take so much. Raises `BudgetExceeded` over a ceiling."""
        return self._desk.calls.check(*self._me, tokens, cost)

    def find_tool_result(
        self,
        tool: str,
        arguments: str | Mapping[str, Any],
        max_age: timedelta | None = None,
    ) -> EarlierResult | None:
        """Return what the same call returned earlier in this session, None where it did not."""
        return find_tool_result(self._desk.log, *self._me, tool, arguments, max_age)


def changed(state: SessionState, changes: Mapping[str, Any]) -> SessionState:
    """Return a state with some fields changed; details are added to those that it has."""
    details = {**state.details, **changes.get("details", {})}
    return replace(state, **{**changes, "details": details})


def resized(policy: ContextPolicy, budget: int | None, reserve: int | None) -> ContextPolicy:
    """Return a policy with another budget; the reserve shrinks with it where it is not given.

    Raises `InvalidInput` for a budget without room beside the reserve.
    """
    whole = policy.budget if budget is None else budget
    if reserve is None:
        reserve = min(policy.reserve, whole * policy.reserve // policy.budget)
    return replace(policy, budget=whole, reserve=reserve)
