"""The front door for code: one object that writes and reads, and the same with default settings.

The module-level `retrieve` and `remember` open one memory with the default settings at first use
and keep it for the life of the process.
"""

import atexit
import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from configs.build import Parts, build
from configs.embedders import Progress
from configs.forgetting import places
from configs.settings import Settings, load
from indexing import ingest as files
from indexing import remember as facts
from indexing.closing import Closed, Ending, close_session
from indexing.duplicates import DuplicatesReport, merge_duplicates
from indexing.errors import InvalidInput
from indexing.feeds.types import Feed
from indexing.forget import Erase, forget, lift
from indexing.forget import Progress as ForgetProgress
from indexing.index import Report
from indexing.receipts import Receipt
from indexing.sync import sync
from indexing.traces import (
    Target,
    memory_target,
    session_target,
    source_target,
    user_target,
)
from indexing.types import GLOBAL, Kind, Memory, Scope, session_scope, user_scope
from retrieval.types import Result


class LongTermMemory:
    """An open memory. Thread-safe; use it as a context manager, or call `close`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def __enter__(self) -> "LongTermMemory":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def retrieve(
        self,
        query: str,
        user_id: str | None,
        session_id: str | None = None,
        k: int = 8,
        kinds: Sequence[Kind] | None = None,
        as_of: datetime | None = None,
    ) -> Result:
        """Return the k memories that answer best: global ones, the user's, the session's.

        With ``as_of`` the facts are those that held then. Raises `InvalidInput`, `InvalidId`,
        `StoreError`, `ModelError`.
        """
        return self.parts.retriever.retrieve(query, user_id, session_id, k, kinds, as_of)

    def remember(
        self,
        user_id: str,
        text: str,
        kind: Kind = "fact",
        session_id: str | None = None,
        at: datetime | None = None,
        expires_at: datetime | None = None,
        subject: str | None = None,
    ) -> Memory:
        """Store one fact about a user, or for one session only; durable when it returns.

        A fact about a ``subject`` takes the place of the one before; see `indexing.remember`.
        """
        scope = scope_for(user_id, session_id)
        return facts.remember(self.parts.index, scope, text, kind, at, expires_at, subject)

    def history(self, user_id: str, subject: str, session_id: str | None = None) -> list[Memory]:
        """Return all that was said about a subject, in the order in which it held."""
        return facts.history(self.parts.index, scope_for(user_id, session_id), subject)

    def forget(
        self,
        user_id: str | None = None,
        session_id: str | None = None,
        source: str | Sequence[str] = (),
        memory_ids: Sequence[str] = (),
        asked_by: str = "",
        progress: ForgetProgress | None = None,
        erasers: Sequence[Erase] = (),
    ) -> Receipt:
        """Remove a user, a session, sources or memories from every store; return the receipt.

        With a ``source`` or ``memory_ids`` only these go, from the scope that is named, or from
        global knowledge. Whatever went may not be written again until `lift`. Raises
        `InvalidInput`, `InvalidId`, `StoreError`.
        """
        target = target_for(user_id, session_id, source, memory_ids)
        index = self.parts.index
        with places(self.parts.settings, index.catalog, index.store, erasers) as known:
            return forget(index, target, asked_by, known, progress)

    def lift(
        self,
        user_id: str | None = None,
        session_id: str | None = None,
        source: str | Sequence[str] = (),
        memory_ids: Sequence[str] = (),
        asked_by: str = "",
    ) -> int:
        """Let what was forgotten be written again; return how many tombstones there were."""
        target = target_for(user_id, session_id, source, memory_ids)
        return lift(self.parts.index, target, asked_by)

    def close_session(self, user_id: str, session_id: str, ending: Ending = "archive") -> Closed:
        """Take a session's own memories out of every answer: archived, or cleared for good."""
        return close_session(self.parts.index, user_id, session_id, ending)

    def ingest(
        self,
        path: str | Path,
        user_id: str | None = None,
        session_id: str | None = None,
        progress: files.Progress | None = None,
        *,
        force: bool = False,
    ) -> Report:
        """Index a file, folder or pattern: for one user (or session) when named.

        With nobody named, documents become global and each chat turn goes to the user it names.
        """
        scope = given_scope(user_id, session_id)
        return self.sync(Feed("path", str(given_path(path)), scope=scope), progress, force=force)

    def sync(
        self, feed: Feed, progress: files.Progress | None = None, *, force: bool = False
    ) -> Report:
        """Bring the index in step with a feed (`configs.feeds.build_feed` makes one).

        With ``force`` even most of it may go. Raises `SourceError`, `ConfigError`.
        """
        parts = self.parts
        share = parts.settings.ingest.max_removed
        return sync(parts.index, feed, parts.access, progress, force=force, max_removed=share)

    def retry(self, progress: files.Progress | None = None) -> Report:
        """Index again every path that has a dead letter; what works now leaves the table."""
        return files.retry(self.parts.index, progress, self.parts.access)

    def merge_duplicates(
        self,
        user_id: str | None = None,
        session_id: str | None = None,
        progress: files.Progress | None = None,
        *,
        dry_run: bool = False,
    ) -> DuplicatesReport:
        """Merge what says the same in other words: of a user, one session, or of everybody.

        A user's are the user's own and those of all sessions. A dry run writes nothing.
        """
        index, scopes = self.parts.index, None
        if user_id is not None and session_id is None:
            scopes = index.catalog.scopes(user_id)
        elif scope := given_scope(user_id, session_id):
            scopes = [scope]
        return merge_duplicates(index, progress, dry_run, scopes)

    def close(self) -> None:
        """Flush and let go of the store."""
        self.parts.close()


def scope_for(user_id: str, session_id: str | None) -> Scope:
    """Return the user's scope, or that of one of the user's sessions."""
    return user_scope(user_id) if session_id is None else session_scope(user_id, session_id)


def target_for(
    user_id: str | None,
    session_id: str | None = None,
    source: str | Sequence[str] = (),
    memory_ids: Sequence[str] = (),
) -> Target:
    """Return what is to be forgotten. Raises `InvalidInput` when that is nothing, or two things."""
    scope = given_scope(user_id, session_id) or GLOBAL
    names = (source,) if isinstance(source, str) else tuple(source)
    if names and memory_ids:
        raise InvalidInput("name sources or memories, not both")
    if names:
        return source_target(scope, names)
    if memory_ids:
        return memory_target(scope, memory_ids)
    if scope.collection == "global":
        raise InvalidInput("name a user, a session, a source or memories to forget")
    if scope.collection == "session":
        return session_target(scope.user_id, scope.session_id)
    return user_target(scope.user_id)


def given_scope(user_id: str | None, session_id: str | None) -> Scope | None:
    """Return the scope that is named; None when nobody is."""
    if user_id is None:
        if session_id is not None:
            raise InvalidInput("a session belongs to a user: name the user too")
        return None
    return scope_for(user_id, session_id)


def given_path(path: str | Path) -> Path:
    """Return the path; an empty one is refused, since it would mean the working folder."""
    if not str(path).strip():
        raise InvalidInput("the path is empty")
    return Path(path)


def open_memory(
    settings: Settings | None = None, progress: Progress | None = None, **overrides: Any
) -> LongTermMemory:
    """Open a memory with the settings in force, with given ones, or with some overridden.

    >>> memory = open_memory(data_dir="./memory")
    """
    return LongTermMemory(build(settings or load(**overrides), progress))


_lock = threading.Lock()
_default: LongTermMemory | None = None


def _memory() -> LongTermMemory:
    global _default
    with _lock:
        if _default is None:
            _default = open_memory()
            atexit.register(close)
        return _default


def close() -> None:
    """Close the memory that `retrieve` and `remember` opened; the next call opens it again."""
    global _default
    with _lock:
        if _default is not None:
            _default.close()
            _default = None


def retrieve(query: str, user_id: str | None, session_id: str | None = None, k: int = 8) -> Result:
    """Return the k best memories for a question; see `LongTermMemory.retrieve`."""
    return _memory().retrieve(query, user_id, session_id, k)


def remember(user_id: str, text: str, kind: Kind = "fact") -> Memory:
    """Store one fact about a user; see `LongTermMemory.remember`."""
    return _memory().remember(user_id, text, kind)
