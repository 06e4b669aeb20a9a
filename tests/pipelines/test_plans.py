"""Settings -> what is scheduled, without Prefect."""

from datetime import timedelta
from typing import Any

import pytest

from configs.schedule_settings import ScheduleSettings
from configs.settings import Settings
from configs.write_settings import SourceSettings
from indexing.errors import ConfigError
from pipelines.plans import Plan, plans


def chosen(*sources: SourceSettings, **schedule: Any) -> list[Plan]:
    return plans(Settings.model_construct(sources=sources, schedule=ScheduleSettings(**schedule)))


def test_upkeep_is_scheduled_without_a_word() -> None:
    assert {plan.label: plan.every for plan in chosen()} == {
        "digest-sessions/all": timedelta(minutes=15),
        "expire/all": timedelta(hours=1),
        "merge-duplicates/all": "0 3 * * *",
        "reindex/all": None,
    }


def test_each_source_has_its_flow_and_its_times() -> None:
    docs = SourceSettings(name="docs", path="docs")
    chats = SourceSettings(name="chats", path="exports/*.jsonl")
    by_hand = SourceSettings(name="архив/2025", list="files.txt")
    first, second, third, *_ = chosen(
        docs,
        chats,
        by_hand,
        by_source={"chats": "5m", "архив/2025": ""},
        sources="0 3 * * *",
        timezone="Europe/Moscow",
    )
    assert first == Plan(
        "ingest_documents", "docs", "0 3 * * *", "Europe/Moscow", {"source": "docs"}
    )
    assert (first.times, second.times, third.times) == (
        "0 3 * * * (Europe/Moscow)",
        "every 0:05:00",
        "by hand",
    )
    assert (second.flow, second.every) == ("ingest_sessions", timedelta(minutes=5))
    assert (third.label, third.parameters) == (
        "ingest-documents/архив_2025",
        {"source": "архив/2025"},
    )


@pytest.mark.parametrize(
    ("sources", "schedule", "message"),
    [
        ([{"path": "docs"}], {}, "number 1 has no name"),
        ([{"name": "a", "path": "x"}, {"name": "a", "path": "y"}], {}, "two are named 'a'"),
        ([], {"by_source": {"docs": "1h"}}, "by_source names 'docs', which no source"),
    ],
)
def test_what_cannot_be_scheduled_is_named(
    sources: list[dict[str, str]], schedule: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        chosen(*(SourceSettings(**source) for source in sources), **schedule)
