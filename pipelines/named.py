"""How Prefect's records name what is forgotten, and which of them do: `named_of`. No Prefect here.

A run names a user or session in its parameters, a source in its ``source`` or ``path``; a task is
named by the place of its file; a page has lines on what could not be indexed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from configs.settings import Settings
from configs.write_settings import SourceSettings
from indexing.traces import Traces
from indexing.types import Scope, user_scope

FLOW_NAMES = ("ingest-documents", "ingest-sessions", "ingest-bulk")
"""The flows whose records name users, sessions and sources."""


@dataclass(frozen=True, slots=True)
class Named:
    """What is forgotten, as records may name it.

    ``users`` go with all they have; of others single ``sessions`` (user, session) do. ``places``
    are the spellings of single sources, and ``conversations`` ids, each with the scopes it goes
    from; ``feeds`` the sources of the settings that are for one of them; ``texts`` what may be in
    no file afterwards.
    """

    users: frozenset[str]
    sessions: frozenset[tuple[str, str]]
    places: Mapping[str, frozenset[Scope]]
    conversations: Mapping[str, frozenset[Scope]]
    feeds: tuple[SourceSettings, ...]
    texts: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.users or self.sessions or self.places)

    def owns(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether parameters name a user or session that goes as a whole."""
        user, session = _ids(parameters)
        return user in self.users or (user, session) in self.sessions

    def is_run(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether a run with these parameters worked for it."""
        source, path = (str(parameters.get(name) or "") for name in ("source", "path"))
        if self.owns(parameters) or source in {feed.name for feed in self.feeds} - {""}:
            return True
        return any(self.is_task(_trimmed(place), parameters) for place in (source, path) if place)

    def is_task(self, place: str, parameters: Mapping[str, Any]) -> bool:
        """Tell whether a task on this place is on it, in a run with these parameters.

        A run of another user or session is not: it has its own copy.
        """
        return any(_may_be_of(scope, parameters) for scope in self.places.get(place, ()))

    def is_line(self, where: str, place: str, whose: str) -> bool:
        """Tell whether a page's line is about it, by what its cells show."""
        if whose in {_shown(f"session:{user}/{session}") for user, session in self.sessions}:
            return True
        for user in self.users:
            if whose == _shown(f"user:{user}") or whose.startswith(_shown(f"session:{user}/")):
                return True
        owners = set(self.places.get(where, ()))
        for conversation, scopes in self.conversations.items():
            if place.startswith(_shown(f"session {conversation}, turn")):
                owners |= scopes
        return bool(owners) and whose in {"", "global", *(_shown(str(scope)) for scope in owners)}


def named_of(settings: Settings, traces: Traces) -> Named:
    """Return how records of runs with these settings name it."""
    users = frozenset(scope.user_id for scope in traces.scopes if scope.collection == "user")
    sessions = frozenset(
        (scope.user_id, scope.session_id)
        for scope in traces.scopes
        if scope.collection == "session" and scope.user_id not in users
    )
    places: dict[str, frozenset[Scope]] = {}
    for scope, names in traces.sources.items():
        for name in names:
            for end in _ends(_trimmed(name)):
                for spelling in {end, _shown(end)} - {""}:
                    places[spelling] = places.get(spelling, frozenset()) | {scope}
    conversations: dict[str, frozenset[Scope]] = {}
    told = [*traces.conversations.items(), *((user_scope(user), said) for user, said in sessions)]
    for scope, said in told:
        conversations[said] = conversations.get(said, frozenset()) | {scope}
    feeds = tuple(
        source
        for source in settings.sources
        if source.user in users or (source.user, source.session) in sessions
    )
    texts = {*users, *conversations}
    texts |= {name for names in traces.sources.values() for name in names}
    return Named(users, sessions, places, conversations, feeds, tuple(sorted(texts)))


def _may_be_of(scope: Scope, parameters: Mapping[str, Any]) -> bool:
    """Tell whether a run is for a scope, or says not for whom: then it may have routed to it."""
    user, session = _ids(parameters)
    if user and user != scope.user_id:
        return False
    return not session or not scope.session_id or session == scope.session_id


def _ids(parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return the user and the session that parameters name: a refused run may hold anything."""
    user, session = (parameters.get(name) for name in ("user_id", "session_id"))
    return (user if isinstance(user, str) else "", session if isinstance(session, str) else "")


def _ends(path: str) -> Iterator[str]:
    """Yield a path and each end of it: runs name files as they were given, relative to anywhere.

    >>> list(_ends("/a/b.md"))
    ['/a/b.md', 'a/b.md', 'b.md']
    """
    yield path
    for index, character in enumerate(path):
        if character == "/":
            yield path[index + 1 :]


def _trimmed(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/")


def _shown(text: str) -> str:
    """Return a text as a page's cell shows it."""
    return " ".join(text.split())
