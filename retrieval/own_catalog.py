"""Questions about the memory itself: how many messages, sessions, failed tool calls. `OwnCatalog`.

Asked where no declared source can answer. What the caller's tools are called is looked up only
where a question speaks of tools and has a word that nobody knows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from indexing.errors import SqlError
from retrieval.sql.answer import answer
from retrieval.sql.catalog_source import CALLS, TOOL, with_tools
from retrieval.sql.intent import Column, Intent, Understanding
from retrieval.sql.run import Databases
from retrieval.sql.schema import Source
from retrieval.sql.tool_words import MOST
from retrieval.sql.types import Limits
from retrieval.sql.understand import understand
from retrieval.sql.words import gazetteer, mentions


@dataclass(frozen=True, slots=True)
class OwnCatalog:
    """The catalog of `sql.catalog_source`; ``spelt`` returns how it spells a user's id."""

    source: Source
    databases: Databases
    spelt: Callable[[str], str]
    limits: Limits = field(default_factory=Limits)

    def understand(self, question: str, user_id: str | None, now: datetime) -> Understanding:
        """Return what a question asks of the catalog; see `sql.understand`."""
        found = understand(question, (self.source,), now)
        if found.intent or not found.missing or not user_id or not self._speaks_of_tools(question):
            return found
        tools = self._tools(user_id, now)
        if not tools:
            return found
        return understand(question, (with_tools(self.source, tools),), now)

    def _speaks_of_tools(self, question: str) -> bool:
        """Tell whether a word of the question is declared for calls of tools."""
        said = mentions(question, gazetteer((self.source,)))
        return any(meaning.table == CALLS for mention in said for meaning in mention.meanings)

    def _tools(self, user_id: str, now: datetime) -> tuple[str, ...]:
        """Return the tools that the user's calls went to, the most used ones; none on failure."""
        asked = Intent(self.source.name, CALLS, group_by=(Column(CALLS, TOOL),), top=100)
        limits = Limits(MOST, self.limits.timeout)
        try:
            found = answer(
                asked,
                {self.source.name: self.source},
                self.databases,
                user_id=self.spelt(user_id),
                now=now,
                limits=limits,
            )
        except SqlError:
            return ()
        return tuple(name for name, _ in found.rows if isinstance(name, str))
