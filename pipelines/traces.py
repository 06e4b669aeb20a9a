"""What Prefect's records may name of something forgotten, and which of them do. No Prefect here.

A run names a user or session in its parameters, a source in its ``source`` or ``path``; a task is
named by the place of its file; a page has lines on what could not be indexed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from indexing.errors import InvalidInput
from indexing.types import Scope

FLOW_NAMES = ("ingest-documents", "ingest-sessions", "ingest-bulk")
"""The flows whose records name users, sessions and sources."""


@dataclass(frozen=True, slots=True)
class Traces:
    """What is forgotten: all of a user or session (``whole``), or only sources of a scope.

    ``paths`` are the ids of its sources, and their URIs where these are no ends of the ids. Raises
    `InvalidInput` where that names nothing, or all of the global memory.
    """

    scope: Scope
    paths: frozenset[str] = frozenset()
    whole: bool = True

    def __post_init__(self) -> None:
        if self.whole and not self.scope.user_id:
            raise InvalidInput("everything of a user or session can be forgotten, not everybody's")
        if not self.whole and not self.paths:
            raise InvalidInput("name the sources that are forgotten")


@dataclass(frozen=True, slots=True)
class Named:
    """How records name it: ``places`` are all spellings of the paths, ``feeds`` its settings."""

    scope: Scope
    whole: bool
    paths: tuple[str, ...]
    places: frozenset[str]
    feeds: frozenset[str]

    @property
    def texts(self) -> tuple[str, ...]:
        """The ids and paths that no file may have any longer."""
        ids = (self.scope.session_id or self.scope.user_id,) if self.whole else ()
        return (*ids, *self.paths)

    def may_own(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether a run is not of another user or session."""
        user, session = parameters.get("user_id"), parameters.get("session_id")
        if user is not None and user != self.scope.user_id:
            return False
        return session is None or not self.scope.session_id or session == self.scope.session_id

    def owns(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether parameters name the whole user or session."""
        if not self.whole or parameters.get("user_id") != self.scope.user_id:
            return False
        session = self.scope.session_id
        return not session or parameters.get("session_id") == session

    def is_run(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether a run with these parameters worked on it."""
        if self.owns(parameters):
            return True
        given = [str(parameters.get(name) or "") for name in ("source", "path")]
        if given[0] in self.feeds:
            return True
        is_place = any(_trimmed(place) in self.places for place in given if place)
        return is_place and self.may_own(parameters)

    def is_line(self, where: str, whose: str) -> bool:
        """Tell whether a page's line is about it, by what its cells show."""
        user, session = self.scope.user_id, self.scope.session_id
        if self.whole and whose == _shown(str(self.scope)):
            return True
        if self.whole and not session and whose.startswith(_shown(f"session:{user}/")):
            return True
        return where in self.places and whose in ("", "global", _shown(str(self.scope)))


def named_of(traces: Traces, feeds: Iterable[str] = ()) -> Named:
    """Return how records name it; ``feeds`` are sources of the settings that are its own."""
    ends = {end for path in traces.paths for end in _ends(_trimmed(path)) if end}
    places = frozenset(ends | {_shown(end) for end in ends})
    paths = tuple(sorted(traces.paths))
    return Named(traces.scope, traces.whole, paths, places, frozenset(feeds) - {""})


def _ends(path: str) -> Iterable[str]:
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
    return " ".join(text.split())
