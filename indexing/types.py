"""Scopes, memories, filters and scored memories: the nouns of both sides.

A scope picks one of three collections and the tenant inside it; the tenant key is a digest of the
exact ids, so no id is a prefix, a pattern or a path, whatever characters it has.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexing.errors import InvalidId, InvalidInput

Vector = NDArray[np.float32]
"""A dense vector, shape ``(dim,)``, L2-normalised."""

Collection = Literal["global", "user", "session"]
COLLECTIONS: tuple[Collection, ...] = ("global", "user", "session")

Kind = Literal["document", "turn", "digest", "fact", "tool_result", "procedure"]

MAX_ID_CHARS = 1024


def check_id(value: str, what: str) -> str:
    """Return the id unchanged, or raise `InvalidId`.

    Any Unicode text of 1 to 1,024 characters is an id and is compared exactly: case, Unicode form
    and white space all count. Refused: blank ids, pure wildcards, lone surrogates.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidId(f"{what} is empty; give the exact id")
    if re.fullmatch(r"[*%?\s]+", value):
        raise InvalidId(f"{what} {value[:20]!r} is a wildcard; an id names exactly one {what}")
    if len(value) > MAX_ID_CHARS:
        raise InvalidId(f"{what} has {len(value)} characters; the limit is {MAX_ID_CHARS}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidId(f"{what} is not valid Unicode: {error}") from error
    return value


def is_unicode(text: str) -> bool:
    """Tell whether a text has an encoding; one with a lone surrogate has none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_time(moment: datetime, what: str) -> None:
    """Raise `InvalidInput` for a time without a zone, or one that no stored time can be."""
    if moment.utcoffset() is None:
        raise InvalidInput(f"{what} has no time zone")
    try:
        datetime.fromtimestamp(moment.timestamp(), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"{what} is out of range: {error}") from error


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose knowledge it is. Make one with `global_scope`, `user_scope` or `session_scope`."""

    collection: Collection
    user_id: str = ""
    session_id: str = ""

    def __post_init__(self) -> None:
        if self.collection != "global":
            check_id(self.user_id, "user id")
        if self.collection == "session":
            check_id(self.session_id, "session id")

    @property
    def tenant(self) -> str:
        """The value of the tenant key: equal only for exactly equal ids (SHA-256, 32 hex)."""
        return _tenant(self.collection, self.user_id, self.session_id)

    def __str__(self) -> str:
        if self.collection == "global":
            return "global"
        if self.collection == "user":
            return f"user:{self.user_id}"
        return f"session:{self.user_id}/{self.session_id}"


@lru_cache(maxsize=4096)
def _tenant(*parts: str) -> str:
    framed = b"".join(len(p.encode()).to_bytes(4, "big") + p.encode() for p in parts)
    return hashlib.sha256(framed).hexdigest()[:32]


GLOBAL = Scope("global")


def user_scope(user_id: str) -> Scope:
    """Return the scope of one user's own memories."""
    return Scope("user", user_id)


def session_scope(user_id: str, session_id: str) -> Scope:
    """Return the scope of one session's working memory."""
    return Scope("session", user_id, session_id)


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids (unsigned 32-bit, unique) and their weights, same length."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One place that says what a memory says: a span of a source.

    ``text`` is in that place's own spelling. Times are aware, ``at`` in the zone it was given in,
    the others in UTC: ``at`` is when it was said or written, ``created_at`` when it was stored,
    ``expires_at`` when it stops counting (None: never). ``before`` is the turn before; ``page``
    counts from 1 (0: no pages); ``embed_hash`` names what the embedder was given, so equal input is
    never embedded twice. ``tags`` are as `tags.tags_of` returns them.
    """

    source_id: str
    text: str
    start: int = 0
    end: int = 0
    ordinal: int = 0
    uri: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    page: int = 0
    speaker: str = ""
    role: str = ""
    before: str = ""
    conversation_id: str = ""
    turn_id: str = ""
    embed_hash: str = ""
    at: datetime | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Mention):
    """A chunk with its scope, times and id: what a collection stores and a hit shows.

    It is the place that lives longest of all that say it; ``also`` are the others, each of which
    keeps it alive. ``key`` names what it says: in one scope there is one visible memory of a key.
    ``terms`` is its `sparse.lexicon`, ``lang`` its `sparse.language`.

    A statement about a ``subject`` says that it is ``value`` (folded), or with ``closes`` that it
    is so no longer; it holds from ``valid_from`` until ``valid_to`` (None: to this day), when
    ``superseded_by``, the id of another memory, took its place. What is ``pinned`` does not expire.
    """

    id: str
    scope: Scope
    kind: Kind
    terms: str = ""
    lang: str = ""
    key: str = ""
    also: tuple[Mention, ...] = ()
    subject: str = ""
    value: str = ""
    closes: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str = ""
    pinned: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of all sources that say it, each once, its own first."""
        return tuple(dict.fromkeys((self.source_id, *(m.source_id for m in self.also))))

    @property
    def all_tags(self) -> tuple[str, ...]:
        """The tags of all its places, each once, in order."""
        return tuple(sorted({*self.tags, *(tag for place in self.also for tag in place.tags)}))

    @property
    def since(self) -> datetime | None:
        """From when on it is there for ``as_of``: a statement holds from then, anything else was
        first said then. None where a place does not say when it said it."""
        if self.subject:
            return self.valid_from
        said = [self.at, *(place.at for place in self.also)]
        times = [at.astimezone(UTC) for at in said if at]
        return min(times) if len(times) == len(said) else None

    @property
    def source(self) -> str:
        """Where it comes from, for a reader: path or session, with turn, or page and heading."""
        if self.conversation_id:
            return f"{self.conversation_id}#{self.turn_id}"
        where = self.uri or self.source_id
        if self.page:
            where = f"{where}, p. {self.page}"
        return f"{where} § {' › '.join(self.headings)}" if self.headings else where


@dataclass(frozen=True, slots=True)
class Point:
    """A memory with the vectors it is found by, keyed by vector name."""

    memory: Memory
    dense: Mapping[str, Vector]
    sparse: Mapping[str, SparseVector]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a source, by the numbers of its chunks, or of a conversation, by when it was said.

    ``ordinals`` and ``said`` are half-open, ``(first, end)``; None: all of it.
    """

    source_id: str = ""
    conversation_id: str = ""
    ordinals: tuple[int, int] | None = None
    said: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a call may touch. Every field that is set must hold; the tenant always must.

    None means "any"; an empty tuple matches nothing, so a selection that came out empty never
    reads or deletes everything. ``now`` hides what has expired or was superseded by then; None
    shows those memories too (sweeps, counts). With ``as_of`` the statements that held at that time
    are shown instead of today's, and nothing that was said later; with ``superseded`` those of all
    times. ``successors`` finds a memory by the id of the one that superseded it.

    A memory is found by each of its places: by any of ``source_ids``, ``uris`` (exactly), ``tags``,
    ``stretches``, and by when it was said, ``said_from <= at < said_to``: what does not say when is
    not found by time. Two of these may hold for two different places.
    Built only by the functions of this project, from a `Scope`: there is no "all tenants".
    """

    scope: Scope
    now: datetime | None = None
    kinds: tuple[Kind, ...] | None = None
    source_ids: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    langs: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None
    successors: tuple[str, ...] | None = None
    as_of: datetime | None = None
    superseded: bool = False
    uris: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    said_from: datetime | None = None
    said_to: datetime | None = None
    stretches: tuple[Stretch, ...] | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One ranked list to ask of a collection: which vector, how many, above which score.

    ``lang`` narrows the list to memories of one language.
    """

    name: str
    vector: Vector | SparseVector
    limit: int
    threshold: float | None = None
    lang: str | None = None


class Scored(NamedTuple):
    """A memory's id and its score in one branch; higher is better.

    Whole memories are read only for the few that an answer shows. ``lang`` is the branch's
    language; ``terms`` is the memory's `sparse.lexicon`, filled in sparse branches only.
    """

    id: str
    score: float
    lang: str = ""
    terms: str = ""


@dataclass(frozen=True, slots=True)
class VectorNames:
    """The vectors of a collection: dense name -> dimension, and the sparse names."""

    dense: Mapping[str, int]
    sparse: Sequence[str] = field(default_factory=tuple)
