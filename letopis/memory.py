"""The front door for code: one object that writes, reads, corrects and forgets."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from configs.build import Parts, build
from configs.embedders import Progress
from configs.forgetting import places
from configs.settings import Settings, load
from indexing import ingest as files
from indexing import remember as facts
from indexing.audit import Audit
from indexing.corrections import edit, found, pin, unpin
from indexing.duplicates import DuplicatesReport, merge_duplicates
from indexing.erasing import Erase
from indexing.errors import InvalidInput
from indexing.feeds.types import Feed
from indexing.forget import Progress as ForgetProgress
from indexing.forget import forget, lift
from indexing.index import Report
from indexing.listing import PAGE, Page, listing
from indexing.receipts import Receipt
from indexing.sync import sync
from indexing.tags import tags_of
from indexing.traces import memory_target
from indexing.transfer.export import export_user
from indexing.transfer.read import import_file
from indexing.transfer.types import ImportReport
from indexing.types import Kind, Memory
from letopis.conversations import Conversations
from letopis.targets import given_path, given_scope, scope_for, target_for
from retrieval.types import Narrow, Result

Item = TypeVar("Item")


class LongTermMemory(Conversations):
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
        k: int | None = None,
        kinds: Sequence[Kind] | None = None,
        as_of: datetime | None = None,
        *,
        sources: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        languages: Sequence[str] | None = None,
        said_from: datetime | None = None,
        said_to: datetime | None = None,
        budget: int | None = None,
        rerank: bool = True,
        rerank_budget_ms: float | None = None,
        neighbours: bool | None = None,
        explain: bool = False,
    ) -> Result:
        """Return the k memories (8) that answer best: global ones, the user's, the session's.

        With a ``budget`` of tokens as many as fit; where all that may be seen fits, all of it, in
        reading order. ``kinds``, ``sources`` (exact ids), ``tags``, ``languages`` (``ru``,
        ``en``) and ``said_from <= said < said_to`` narrow the answer; with ``as_of`` facts are
        those that held then. ``rerank_budget_ms`` is the reranker's time for this
        call, and ``rerank=False`` leaves it out. With ``neighbours`` a hit brings what stands
        around it (`Hit.passage`). ``explain`` also counts what is hidden, at
        the cost of more queries.
        Raises `InvalidInput`, `InvalidId`, `StoreError`, `ModelError`.
        """
        narrow = Narrow(
            _fixed("kinds", kinds),
            _fixed("sources", sources),
            _fixed("tags", tags),
            _fixed("languages", languages),
            said_from=said_from,
            said_to=said_to,
            as_of=as_of,
        )
        return self.parts.retriever.retrieve(
            query,
            user_id,
            session_id,
            k,
            narrow,
            budget,
            rerank=rerank,
            rerank_budget_ms=rerank_budget_ms,
            neighbours=neighbours,
            explain=explain,
        )

    def remember(
        self,
        user_id: str,
        text: str,
        kind: Kind = "fact",
        session_id: str | None = None,
        at: datetime | None = None,
        expires_at: datetime | None = None,
        subject: str | None = None,
        tags: Sequence[str] = (),
    ) -> Memory:
        """Store one fact about a user, or for one session only; durable when it returns.

        A fact about a ``subject`` takes the place of the one before; see `indexing.remember`.
        """
        scope = scope_for(user_id, session_id)
        return facts.remember(self.parts.index, scope, text, kind, at, expires_at, subject, tags)

    def history(self, user_id: str, subject: str, session_id: str | None = None) -> list[Memory]:
        """Return all that was said about a subject, in the order in which it held."""
        return facts.history(self.parts.index, scope_for(user_id, session_id), subject)

    def memories(
        self,
        user_id: str,
        session_id: str | None = None,
        limit: int = PAGE,
        after: str = "",
        kinds: Sequence[Kind] | None = None,
        *,
        superseded: bool = False,
        all_sessions: bool = False,
    ) -> Page:
        """Return a page of what is remembered of a user or one session; see `indexing.listing`.

        ``after`` is the `Page.after` of the page before. With ``all_sessions`` the user's sessions
        follow the user's own memories.
        """
        scopes = [scope_for(user_id, session_id)]
        if all_sessions:
            scopes += self.parts.index.catalog.scopes(user_id)
        return listing(self.parts.index, scopes, limit, after, kinds, superseded=superseded)

    def edit(
        self,
        user_id: str,
        memory_id: str,
        text: str,
        session_id: str | None = None,
        asked_by: str = "",
    ) -> Memory:
        """Correct a fact: it says the new text from the beginning, the old one is nowhere.

        Return it; its id is another one then. See `indexing.corrections`.
        """
        index, scope = self.parts.index, scope_for(user_id, session_id)
        with places(self.parts.settings, index.catalog, index.store) as known:
            edited = edit(index, scope, memory_id, text, asked_by, known.others)
        self.parts.clear()
        return edited

    def pin(
        self, user_id: str, memory_id: str, session_id: str | None = None, asked_by: str = ""
    ) -> Memory:
        """Keep a memory until it is unpinned, whatever its life was."""
        return pin(self.parts.index, scope_for(user_id, session_id), memory_id, asked_by)

    def unpin(
        self, user_id: str, memory_id: str, session_id: str | None = None, asked_by: str = ""
    ) -> Memory:
        """Let the usual life of its kind begin for a pinned memory."""
        return unpin(self.parts.index, scope_for(user_id, session_id), memory_id, asked_by)

    def delete(
        self,
        user_id: str,
        memory_id: str,
        session_id: str | None = None,
        asked_by: str = "",
        progress: ForgetProgress | None = None,
        erasers: Sequence[Erase] = (),
    ) -> Receipt:
        """Forget one memory that is there; raises `UnknownMemory` where there is none."""
        index, scope = self.parts.index, scope_for(user_id, session_id)
        found(index, scope, memory_id)
        with places(self.parts.settings, index.catalog, index.store, erasers) as known:
            receipt = forget(index, memory_target(scope, [memory_id]), asked_by, known, progress)
        self.parts.clear()
        audit = Audit(index.catalog.database)
        audit.note(
            "delete",
            scope,
            memory_id,
            actor=asked_by,
            now=index.clock(),
            receipt=receipt.number,
        )
        return receipt

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
            receipt = forget(index, target, asked_by, known, progress)
        self.parts.clear()
        return receipt

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

    def ingest(
        self,
        path: str | Path,
        user_id: str | None = None,
        session_id: str | None = None,
        progress: files.Progress | None = None,
        *,
        force: bool = False,
        tags: Sequence[str] = (),
    ) -> Report:
        """Index a file, folder or pattern: for one user (or session) when named.

        With nobody named, documents become global and each chat turn goes to the user it names.
        All of it has these ``tags`` then, beside those of its own, and none of an earlier call.
        """
        scope = given_scope(user_id, session_id)
        feed = Feed("path", str(given_path(path)), scope=scope, tags=tags_of(tags))
        return self.sync(feed, progress, force=force)

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

    def export(self, user_id: str, progress: files.Progress | None = None) -> Iterator[str]:
        """Yield the lines of all that is kept of a user, with its history: docs/export.md."""
        index = self.parts.index
        return export_user(index.catalog, index.store, user_id, index.clock(), progress)

    def import_memories(
        self,
        path: str | Path,
        user_id: str,
        session_id: str | None = None,
        namespaces: Sequence[str] = (),
        progress: files.Progress | None = None,
        *,
        by_run: bool = False,
        dry_run: bool = False,
    ) -> ImportReport:
        """Make an export of ours, of mem0 or of LangGraph Store memories of a user.

        A session and ``by_run`` (a session for each of mem0's runs) are for other systems' files;
        ``namespaces`` are the user's own of a LangGraph Store. Raises `InvalidInput`, `InvalidId`,
        `SourceError`, `Forgotten`, `StoreError`.
        """
        return import_file(
            self.parts.index,
            given_path(path),
            scope_for(user_id, session_id),
            progress,
            timezone=self.parts.access.timezone,
            namespaces=namespaces,
            by_run=by_run,
            dry_run=dry_run,
        )

    def close(self) -> None:
        """Flush and let go of the store."""
        self.parts.close()


def _fixed(name: str, values: Sequence[Item] | None) -> tuple[Item, ...] | None:
    if isinstance(values, str):  # a sequence too, of its letters
        raise InvalidInput(f"{name} is a text; give a list of them")
    return None if values is None else tuple(values)


def open_memory(
    settings: Settings | None = None, progress: Progress | None = None, **overrides: Any
) -> LongTermMemory:
    """Open a memory with the settings in force, with given ones, or with some overridden.

    >>> memory = open_memory(data_dir="./memory")
    """
    return LongTermMemory(build(settings or load(**overrides), progress))
