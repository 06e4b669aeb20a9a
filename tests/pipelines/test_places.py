"""Where records of runs are looked for: what is set counts, and what is not there is left out."""

import subprocess
import sys
from pathlib import Path

import pytest

from configs.settings import Settings
from pipelines.errors import FlowUnavailable
from pipelines.places import Places, places_of
from pipelines.residue import holds, mask
from tests.letopis.conftest import environment

NAMES = (
    "PREFECT_API_URL",
    "PREFECT_PROFILES_PATH",
    "PREFECT_SERVER_DATABASE_CONNECTION_URL",
    "PREFECT_API_DATABASE_CONNECTION_URL",
)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for folder in ("home", "memory/prefect"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "prefect.db").touch()
    return Settings.model_construct(data_dir=tmp_path / "memory")


def test_both_folders_are_looked_at_and_no_server(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "memory" / "prefect" / "server.log").touch()
    assert places_of(settings) == Places(
        (tmp_path / "memory/prefect/prefect.db", tmp_path / "home/prefect.db"),
        (tmp_path / "memory/prefect/server.log",),
        (),
    )


def test_one_folder_is_looked_at_once(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "memory" / "prefect"))
    assert places_of(settings).files == (tmp_path / "memory/prefect/prefect.db",)


def test_where_nothing_is_nothing_is_looked_at(tmp_path: Path, settings: Settings) -> None:
    for file in tmp_path.rglob("prefect.db"):
        file.unlink()
    assert places_of(settings) == Places((), (), ())


@pytest.mark.parametrize(
    ("url", "servers", "more"),
    [
        ("sqlite+aiosqlite:///$PREFECT_HOME/own.db", (), ("home/own.db",)),
        ("sqlite+aiosqlite:///:memory:", (), ()),
        ("postgresql+asyncpg://u:p@host/prefect", ("",), ()),
    ],
)
def test_a_database_of_ones_own(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    servers: tuple[str, ...],
    more: tuple[str, ...],
) -> None:
    (tmp_path / "home" / "own.db").touch()
    monkeypatch.setenv("PREFECT_SERVER_DATABASE_CONNECTION_URL", url)
    found = places_of(settings)
    assert found.servers == servers
    assert found.files[2:] == tuple(tmp_path / name for name in more)


def test_a_database_url_that_is_none_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_SERVER_DATABASE_CONNECTION_URL", "my secret")
    with pytest.raises(FlowUnavailable, match="CONNECTION_URL is no database URL") as caught:
        places_of(settings)
    assert "secret" not in str(caught.value)


SERVERS = """
import os
from pathlib import Path
from configs.settings import Settings
from pipelines.places import places_of
settings = Settings.model_construct(data_dir=Path("memory"))
print(*places_of(settings).servers)
os.environ["PREFECT_API_URL"] = "http://set.example/api"
print(*places_of(settings).servers)
"""


def test_a_server_is_found_where_a_file_names_it_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / "prefect.toml").write_text('[api]\nurl = "http://file.example/api"\n')
    process = subprocess.run(
        [sys.executable, "-c", SERVERS],
        cwd=tmp_path,
        env=environment(tmp_path, PREFECT_HOME=str(tmp_path / "home")),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == ["http://file.example/api", "http://set.example/api"]


def test_a_name_is_found_in_any_spelling_and_masked_where_it_stands_alone(tmp_path: Path) -> None:
    log, empty = tmp_path / "a.log", tmp_path / "empty.log"
    empty.touch()
    log.write_text('user "анна" or "\\u0430\\u043d\\u043d\\u0430", of анна-2 and суанна\n')
    assert holds([empty, log], ["анна"])
    assert not holds([empty, log, tmp_path / "none.log"], ["анна-3", ""])
    size = log.stat().st_size
    assert (mask(log, ["анна"]), mask(log, ["анна"]), mask(empty, ["анна"])) == (2, 0, 0)
    assert log.read_text() == f'user "{"x" * 8}" or "{"x" * 24}", of анна-2 and суанна\n'
    assert log.stat().st_size == size
