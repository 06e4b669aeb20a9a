"""What the settings file says of the schedule; see `configs.when`."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from configs.section import Section
from configs.when import when
from configs.write_settings import known_zone


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
        "keep",
        description="what happens to a quiet session's own memories that no log has; the others "
        "end by `session.on_close`",
    )
    workers: int = Field(1, ge=1, description="files that are embedded at once, over all runs")
    threads: int = Field(
        0, ge=0, description="threads of the embedder in a scheduled run; 0: half of the cores"
    )
    nice: int = Field(10, ge=0, le=19, description="how far scheduled runs step back for others")
    port: int = Field(
        0, ge=0, le=65535, description="port of the local Prefect server; 0: 4200, or any free one"
    )

    _zone = field_validator("timezone")(known_zone)
