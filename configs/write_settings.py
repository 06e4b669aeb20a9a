"""What the settings file says of the write side: sources, limits of files, life, duplicates."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from configs.section import Section
from indexing.errors import InvalidInput
from indexing.tags import tags_of
from indexing.types import Collection, Kind


def known_zone(name: str) -> str:
    """Return the name of a time zone, or empty. Raises `ValueError` for another."""
    if name:
        try:
            ZoneInfo(name)
        except (LookupError, ValueError, OSError) as error:
            raise ValueError(f"{name!r} is no time zone; write one as Europe/Moscow") from error
    return name


Days = Annotated[float, Field(gt=0)]


class LimitSettings(Section):
    """What one file may cost (`indexing.limits`); one past a limit becomes a dead letter."""

    size_mb: int = Field(100, ge=1, description="size of a file")
    pages: int = Field(5_000, ge=1, description="pages, slides, sheets or chapters of a file")
    seconds: float = Field(60.0, gt=0, description="time that parsing a file may take")
    memory_mb: int = Field(2_048, ge=64, description="memory that parsing a file may take")
    unpacked_mb: int = Field(512, ge=1, description="what a file may unpack to, and its text")


class IngestSettings(Section):
    """The write side."""

    batch: int = Field(128, ge=1, description="chunks that are embedded and flushed together")
    timezone: str = Field("", description="zone of times that name none; empty: refuse them")
    ttl_days: Mapping[Literal[Collection, Kind], Days] = Field(
        {}, description="life by collection or kind, as `{session = 7, tool_result = 30}`"
    )
    max_removed: float = Field(
        0.5, ge=0, le=1, description="share of a source that may be gone at once without `--force`"
    )
    private_hosts: bool = Field(True, description="URLs may lead to hosts of a private network")
    limits: LimitSettings = LimitSettings()

    _zone = field_validator("timezone")(known_zone)


class DedupSettings(Section):
    """Memories that say the same in other words (docs/dedup.md); vectors do not depend on it."""

    at_write: bool = Field(
        True, description="compare what is new with what is stored; else nightly"
    )
    kinds: tuple[Literal["fact", "procedure", "document"], ...] = Field(
        ("fact", "procedure"), description="kinds of which one may stand for another"
    )
    neighbours: int = Field(5, ge=1, le=100, description="how many of the nearest are compared")
    cosine: float = Field(0.9, ge=-1, le=1, description="least cosine of two that are merged")


class SourceSettings(Section):
    """Where documents come from: one of ``path``, ``list``, ``sql``, ``urls``."""

    name: str = Field("", description="what `letopis sync NAME` calls it")
    path: str = Field("", description="a file, a folder or a pattern, as `docs/**/*.md`")
    list: str = Field("", description="a file that names files, one a line")
    sql: str = Field(
        "", repr=False, description="a database's SQLAlchemy URL or `env:VARIABLE`; with `query`"
    )
    query: str = Field(
        "", description="a SELECT of `id`, `text` (`title`, `at`, `uri`, `tags`, `user_id`)"
    )
    urls: str = Field("", description="a file that names URLs, one a line")
    user: str | None = Field(None, description="whose they become; none: everybody's")
    session: str | None = Field(None, description="one session of that user")
    chunker: str = Field("", description="how it is cut; empty: `chunking.documents`")
    tags: tuple[str, ...] = Field((), description="what all that it offers is filed under")

    @field_validator("tags")
    @classmethod
    def _filed(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tags_of(tags)
        except InvalidInput as error:
            raise ValueError(str(error)) from error

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        given = [name for name in ("path", "list", "sql", "urls") if getattr(self, name).strip()]
        if len(given) != 1:
            raise ValueError("write one of path, list, sql and urls")
        if bool(self.query.strip()) != bool(self.sql):
            raise ValueError("sql and query go together")
        if self.session is not None and self.user is None:
            raise ValueError("a session belongs to a user: name the user too")
        return self
