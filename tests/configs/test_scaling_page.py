"""`docs/scaling.md` and the server preset: every setting that they name exists and is accepted."""

import re
import tomllib
from pathlib import Path

from configs.describe import rows
from configs.server_settings import ServerSettings
from configs.settings import Settings
from indexing.server_options import ServerOptions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scaling.md").read_text()
KEYS = {key.strip("`") for key, _, _ in rows()}
NOT_SETTINGS = {"LETOPIS_CONFIG", "LETOPIS_TEST_POSTGRES"}


def test_every_setting_that_it_names_exists() -> None:
    sections = {key.split(".")[0] for key in KEYS if "." in key}
    named = set(re.findall(rf"`((?:{'|'.join(map(re.escape, sections))})\.[a-z_0-9.]+)", PAGE))
    assert {"server.prefix", "embedder.threads"} <= named
    assert named - KEYS - {"server.on_disk_"} == set()
    assert {"server.on_disk_vectors", "server.on_disk_hnsw", "server.on_disk_payload"} <= KEYS


def test_every_variable_that_it_names_exists() -> None:
    named = set(re.findall(r"LETOPIS_[A-Z_]+", PAGE)) - NOT_SETTINGS
    assert "LETOPIS_SERVER__API_KEY" in named
    assert {name.removeprefix("LETOPIS_").lower().replace("__", ".") for name in named} <= KEYS


def test_its_settings_files_and_the_preset_are_accepted() -> None:
    files = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(files) == 1
    for text in (*files, (ROOT / "configs" / "server.toml").read_text()):
        chosen = Settings.model_validate(tomllib.loads(text))
        assert ServerOptions(**chosen.server.model_dump()).quantization == "int8"


def test_every_page_and_test_that_it_names_is_there() -> None:
    links = re.findall(r"\]\(((?!https?:)[^)#]+)", PAGE)
    tests = re.findall(r"tests/[a-z_/]+\.py", PAGE)
    assert len(links) >= 2
    assert len(tests) >= 4
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
    assert [name for name in tests if not (ROOT / name).exists()] == []


def test_options_and_settings_have_the_same_names_and_defaults() -> None:
    section = ServerSettings().model_dump()
    assert ServerOptions(**section) == ServerOptions()
    assert section.keys() == set(ServerOptions.__slots__)
