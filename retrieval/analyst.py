"""The analytical half of a question: which parts are for a database, and their answers.

A part that cannot be answered (not understood, refused, too slow, no such user) goes to the
vectors, and the log says why: it is never lost, and nothing is guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from indexing.errors import LetopisError, ModelError, SqlError
from retrieval.route import Classifier
from retrieval.route import Vocabulary as Known
from retrieval.route import vocabulary as known_words
from retrieval.routing.plan import Part, Plan, plan
from retrieval.sql.answer import Answer, Limits, answer, answer_statement
from retrieval.sql.run import Databases
from retrieval.sql.schema import Source
from retrieval.sql.understand import understand
from retrieval.sql.words import vocabulary
from retrieval.sql.writer import SqlWriter
from retrieval.trace import Log, PartTrace

CallerOf = Callable[[str], str]
"""A user's id -> how a source spells it."""


@dataclass(frozen=True, slots=True)
class Analyst:
    """Answers what the registered sources can. Thread-safe.

    ``spelt`` is for a source whose tenant columns do not hold ids as they are. ``writer`` is asked
    for SQL where the rules see an analytical question that they do not understand.
    """

    sources: Mapping[str, Source]
    databases: Databases
    limits: Limits = field(default_factory=Limits)
    classifier: Classifier | None = None
    writer: SqlWriter | None = None
    spelt: Mapping[str, CallerOf] = field(default_factory=dict)
    known: Known | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", known_words(tuple(self.sources.values())))

    def plan(self, question: str, now: datetime) -> Plan:
        """Return which parts of a question go where; microseconds, without a database."""
        words = vocabulary(tuple(self.sources.values()))
        return plan(question, self.known, lambda q: understand(q, words, now), self.classifier)

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
        """Close the connections."""
        self.databases.close()

    def _answer(self, part: Part, user_id: str | None, now: datetime, log: Log) -> Answer | None:
        """Answer one part, None where a database does not."""
        intent = part.understanding.intent if part.understanding else None
        try:
            if part.destination == "sql" and intent is not None:
                return answer(
                    intent,
                    self.sources,
                    self.databases,
                    user_id=self._caller(intent.source, user_id),
                    now=now,
                    limits=self.limits,
                )
            if self.writer and part.route.label == "analytical" and self.sources:
                return self._written(part.text, user_id, now)
        except LetopisError as error:
            if not isinstance(error, SqlError | ModelError):
                raise
            log.notes.append(f"not answered from a database: {error}")
        return None

    def _written(self, question: str, user_id: str | None, now: datetime) -> Answer | None:
        """Ask the model for a statement, source by source, and run the first one it writes."""
        if self.writer is None:
            return None
        for source in self.sources.values():
            statement = self.writer.write(question, source, now)
            if statement:
                words = f"what a model wrote for it, user {user_id}"
                caller = self._caller(source.name, user_id)
                return answer_statement(
                    statement, source, self.databases, words, user_id=caller, limits=self.limits
                )
        return None

    def _caller(self, source: str, user_id: str | None) -> str | None:
        spell = self.spelt.get(source)
        return spell(user_id) if spell and user_id is not None else user_id


def why(parts: Sequence[PartTrace]) -> str:
    """Say in one line where a question went and why.

    >>> why([PartTrace("how many?", "sql", "analytical", 0.9, "counts: «how many»")])
    'counts: «how many»'
    """
    return "; ".join(dict.fromkeys(part.reason for part in parts))
