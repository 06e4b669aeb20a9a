"""The analytical half of a question: which parts are for a database, and their answers.

A part that cannot be answered (not understood, refused, too slow, no such user) goes to the
vectors, and the log says why: it is never lost, and nothing is guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from indexing.errors import ConfigError, LetopisError, ModelError, SqlError
from retrieval.own_catalog import OwnCatalog
from retrieval.route import Classifier, Vocabulary, vocabulary
from retrieval.routing.plan import Part, Plan, plan
from retrieval.sql.answer import answer, answer_statement
from retrieval.sql.intent import Intent, Understanding
from retrieval.sql.run import Databases
from retrieval.sql.schema import Source
from retrieval.sql.types import Answer, Limits
from retrieval.sql.understand import follow_up, understand
from retrieval.sql.wording import understood
from retrieval.sql.writer import SqlWriter
from retrieval.trace import Log, PartTrace

Check = Callable[[Source], bool]
"""Whether a source is what it declares; False where it cannot be reached. Raises `ConfigError`."""


@runtime_checkable
class Closing(Protocol):
    """Whatever has connections of its own."""

    def close(self) -> None:
        """Close them."""


CallerOf = Callable[[str], str]
"""A user's id -> how a source spells it."""


@dataclass(frozen=True, slots=True)
class Analyst:
    """Answers what the registered sources can. Thread-safe.

    ``spelt`` is for a source whose tenant columns do not hold ids as they are. ``writer`` is asked
    for SQL where the rules see an analytical question that they do not understand. ``own`` is the
    memory's own catalog, asked where no other source can answer. ``check`` compares what a source
    declares with its database, before it is asked for the first time; ``sound`` are those that are.
    """

    sources: Mapping[str, Source]
    databases: Databases
    limits: Limits = field(default_factory=Limits)
    classifier: Classifier | None = None
    writer: SqlWriter | None = None
    spelt: Mapping[str, CallerOf] = field(default_factory=dict)
    own: OwnCatalog | None = None
    check: Check | None = None
    sound: set[str] = field(default_factory=set)
    known: Vocabulary | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", vocabulary(tuple(self._all.values())))

    def plan(self, question: str, now: datetime, user_id: str | None = None) -> Plan:
        """Return which parts of a question go where, in less than a millisecond.

        No database is asked but the memory's own, for the names of the user's tools, where a
        question speaks of tools.
        """
        sources = tuple(self.sources.values())

        def understand_it(text: str) -> Understanding:
            found = understand(text, sources, now) if sources else None
            if self.own is None or (found and found.intent):
                return found or Understanding(None, "no source is declared")
            mine = self.own.understand(text, user_id, now)
            return mine if mine.intent or found is None else found

        def more(text: str, before: Intent) -> Intent | None:
            source = self.sources.get(before.source)
            return follow_up(text, before, source, now) if source else None

        return plan(question, self.known, understand_it, self.classifier, more)

    @property
    def _all(self) -> dict[str, Source]:
        mine = {self.own.source.name: self.own.source} if self.own else {}
        return {**self.sources, **mine}

    def answers(
        self, found: Plan, user_id: str | None, now: datetime, log: Log
    ) -> tuple[tuple[Answer, ...], str]:
        """Return the answers of a plan, and the question that is left for the vectors."""
        answers: list[Answer] = []
        left: list[str] = []
        for part in found.parts:
            got = self._answer(part, user_id, now, log)
            went: Literal["sql", "vector"] = "vector" if got is None else "sql"
            label, sure = part.route.label, part.route.confidence
            log.parts.append(PartTrace(part.text, went, label, sure, part.reason))
            if got is None:
                left.append(part.text)
            else:
                answers.append(got)
        return tuple(answers), " ".join(left)

    def close(self) -> None:
        """Close the connections, those to models too."""
        self.databases.close()
        for client in (self.classifier, self.writer):
            if isinstance(client, Closing):
                client.close()

    def _answer(self, part: Part, user_id: str | None, now: datetime, log: Log) -> Answer | None:
        """Answer one part, None where a database does not."""
        intent = part.understanding.intent if part.understanding else None
        try:
            if part.destination == "sql" and intent is not None:
                return self._computed(intent, user_id, now)
            if self.writer and part.route.label == "analytical" and self.sources:
                return self._written(part.text, user_id, now)
        except LetopisError as error:
            if not isinstance(error, SqlError | ModelError | ConfigError):
                raise
            log.notes.append(f"not answered from a database: {error}")
        return None

    def _computed(self, intent: Intent, user_id: str | None, now: datetime) -> Answer:
        """Answer an intent; its words name the user as the caller did."""
        self._compare(self._all[intent.source])
        found = answer(
            intent,
            self._all,
            self.databases,
            user_id=self._caller(intent.source, user_id),
            now=now,
            limits=self.limits,
        )
        return replace(found, understood=understood(intent, self._all[intent.source], user_id))

    def _written(self, question: str, user_id: str | None, now: datetime) -> Answer | None:
        """Ask the model for a statement, source by source, and run the first that may run.

        Raises the last `SqlError` where it wrote only what may not.
        """
        if self.writer is None:
            return None
        refused: SqlError | None = None
        for source in self.sources.values():
            self._compare(source)
            statement = self.writer.write(question, source, now)
            if statement:
                whose = "" if user_id is None else f", user {user_id}"
                words = f"what a model wrote for it{whose}"
                caller = self._caller(source.name, user_id)
                try:
                    return answer_statement(
                        statement, source, self.databases, words, user_id=caller, limits=self.limits
                    )
                except SqlError as error:
                    refused = error
        if refused is not None:
            raise refused
        return None

    def _compare(self, source: Source) -> None:
        """Compare a source with its database, until it was there once. Raises `ConfigError`."""
        ours = source.name not in self.sources
        if self.check and not ours and source.name not in self.sound and self.check(source):
            self.sound.add(source.name)

    def _caller(self, source: str, user_id: str | None) -> str | None:
        spell = self.spelt.get(source)
        if self.own and source == self.own.source.name:
            spell = self.own.spelt
        return spell(user_id) if spell and user_id is not None else user_id


def why(parts: Sequence[PartTrace]) -> str:
    """Say in one line where a question went and why.

    >>> why([PartTrace("how many?", "sql", "analytical", 0.9, "counts: «how many»")])
    'counts: «how many»'
    """
    return "; ".join(dict.fromkeys(part.reason for part in parts))
