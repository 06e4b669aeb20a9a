"""A feed, what it lists, and what reading an entry of it offers.

A feed is what settings call a source: a folder, a pattern, a list of files, a query, a list of
URLs. "Source" alone is one document or turn, as everywhere.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from chunking.types import Document
from indexing.errors import ConfigError
from indexing.hashing import digest
from indexing.members import Member
from indexing.types import Scope

FeedKind = Literal["path", "list", "sql", "urls"]

_MARK = re.compile(r"#[0-9a-f]{16}\Z")


@dataclass(frozen=True, slots=True)
class Feed:
    """Where documents come from and whose they become.

    ``place`` is a file, folder or pattern (``path``), a file with one path or URL a line (``list``,
    ``urls``) or a database URL (``sql``, with a ``query``). Without a scope documents are global
    and what names a user goes to that user. ``chunker`` cuts its documents; empty: the usual one.
    ``tags``, as `tags_of` returns them, go to all that it offers.
    """

    kind: FeedKind
    place: str = field(repr=False)
    query: str = ""
    scope: Scope | None = None
    name: str = ""
    chunker: str = ""
    tags: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What people see: the name, or the place without its password."""
        if self.name or self.kind != "sql":
            return self.name or self.place
        try:
            plain = make_url(self.place).set(query={})
        except (ArgumentError, ValueError) as error:
            raise ConfigError("sql: not a database URL; write one as sqlite:///FILE") from error
        return plain.render_as_string(hide_password=True)

    @property
    def key(self) -> str:
        """What the members are kept under: files by their place, a query by its name if it has one.

        So a changed query of a named feed is still the same feed, and two names of one folder are.
        """
        place = str(Path(self.place).expanduser().resolve())
        if self.kind == "sql":
            place = self.name or digest(self.label, self.query)
        return digest(self.kind, place, str(self.scope or ""))

    @property
    def handling(self) -> tuple[str, ...]:
        """What else than its bytes makes a document what it becomes; empty where all is usual."""
        return (self.chunker, *self.tags) if self.chunker or self.tags else ()

    def marked(self, stamp: str) -> str:
        """Return a stamp that also changes when documents are to be handled otherwise."""
        return f"{stamp}{self._mark}" if stamp else ""

    def unmarked(self, stamp: str) -> str:
        """Return what was marked; empty where documents are handled otherwise by now."""
        bare = _MARK.sub("", stamp)
        return bare if stamp == self.marked(bare) else ""

    @property
    def _mark(self) -> str:
        return f"#{digest(*self.handling)[:16]}" if self.handling else ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is read in one go: a file (``path``), a web page or a query. ``uri`` is shown."""

    id: str
    uri: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of a feed, in the order in which they are read.

    ``closed`` are prefixes of ids that could not be listed: nothing below them is gone.
    """

    entries: tuple[Entry, ...]
    closed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One document that a feed offers now. ``read`` raises `SourceError`."""

    member: Member
    read: Callable[[], Document]


@dataclass(frozen=True, slots=True)
class Export:
    """A chat export that a feed offers now: many turns. ``read`` raises `SourceError`."""

    member: Member
    read: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be read; ``member.content`` is empty. ``place`` is where in a file.

    Of a record ``record`` is the source id; ``lost`` says that it is not known. What was indexed
    from it stays, so where one is lost no record of the file is taken for gone.
    """

    member: Member
    reason: str
    place: str = ""
    record: str = ""
    lost: bool = False


Offer = Item | Export | Failure

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many sources are done and how many are known."""

Parse = Callable[[bytes, str, str, str], Document]
"""Bytes, source id, uri, media type (may be empty) -> document. Raises `SourceError`."""
