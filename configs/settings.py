"""Every setting with its default, from arguments, ``LETOPIS_*`` variables and a TOML file.

Order: arguments, environment (``LETOPIS_RETRIEVAL__USER__LIMIT=80``), the file that
``LETOPIS_CONFIG`` names (a path, or a preset of this folder: ``laptop``, ``server``) or
``letopis.toml`` in the working folder, defaults. An unknown key is an error everywhere.
"""

import os
from pathlib import Path
from typing import Any

from pydantic import (
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from configs.rerank_settings import RerankSettings
from configs.retrieval_settings import RetrievalSettings
from configs.router_settings import RouterSettings
from configs.schedule_settings import ScheduleSettings
from configs.section import Section
from configs.server_settings import ServerSettings
from configs.session_settings import SessionSettings
from configs.sql_settings import SqlSettings
from configs.text_settings import ChunkingSettings, EmbedderSettings, TemplateSettings
from configs.write_settings import DedupSettings, IngestSettings, SourceSettings
from indexing.errors import ConfigError

PREFIX = "LETOPIS_"
CONFIG_VARIABLE = "LETOPIS_CONFIG"
OTHER_VARIABLES = {CONFIG_VARIABLE, "LETOPIS_EVAL_DATA", "LETOPIS_TEST_POSTGRES"}
PRESETS = Path(__file__).parent


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
    session: SessionSettings = SessionSettings()
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
