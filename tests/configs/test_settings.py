"""Settings: who wins, what is refused, what is never printed, and the page about them."""

from pathlib import Path

import pytest

from configs.describe import rewrite, rows
from configs.settings import PRESETS, Settings, load
from indexing.errors import ConfigError
from tests.letopis.conftest import ROOT


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings from outside: an empty working folder and no variables of ours."""
    import os

    for name in [name for name in os.environ if name.startswith("LETOPIS_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_arguments_win_over_variables_over_the_file_over_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert load().busy_timeout == 10
    Path("letopis.toml").write_text("busy_timeout = 3\n[retrieval.global]\nlimit = 7\n")
    assert load().busy_timeout == 3
    monkeypatch.setenv("LETOPIS_BUSY_TIMEOUT", "4")
    assert load().busy_timeout == 4
    assert load(busy_timeout=5).busy_timeout == 5


def test_a_part_of_a_section_leaves_the_rest_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = load().retrieval
    Path("letopis.toml").write_text("[retrieval.global]\nlimit = 7\ndense = 2.0\n")
    monkeypatch.setenv("LETOPIS_RETRIEVAL__GLOBAL__LIMIT", "9")
    chosen = load().retrieval
    assert (chosen.global_.limit, chosen.global_.dense) == (9, 2.0)
    assert chosen.global_.dense_threshold == usual.global_.dense_threshold
    assert (chosen.user, chosen.session) == (usual.user, usual.session)
    assert usual.session.limit != usual.user.limit


def test_a_named_file_is_read_instead_of_the_one_in_the_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("letopis.toml").write_text("busy_timeout = 3\n")
    Path("other.toml").write_text("[ingest.ttl_days]\nsession = 7\n")
    monkeypatch.setenv("LETOPIS_CONFIG", "other.toml")
    assert load().busy_timeout == 10
    assert load().ingest.ttl_days == {"session": 7}


@pytest.mark.parametrize("name", ["laptop", "server"])
def test_a_preset_loads_by_name_and_changes_something(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert (PRESETS / f"{name}.toml").is_file()
    usual = load()
    monkeypatch.setenv("LETOPIS_CONFIG", name)
    assert load() != usual


def test_the_presets_are_the_documented_ones() -> None:
    assert {path.stem for path in PRESETS.glob("*.toml")} == {"laptop", "server"}


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("LETOPIS_", "x", "names no setting"),
        ("LETOPIS_EMBEDDER_KIND", "onnx", "names no setting"),
        ("LETOPIS_STORE__URL", "x", "names no setting"),
        ("LETOPIS_RETRIEVAL__GLOBL__LIMIT", "3", "retrieval.globl: no such setting"),
        ("LETOPIS_RETRIEVAL__GLOBAL__LIMT", "3", "retrieval.global.limt: no such setting"),
        ("LETOPIS_RETRIEVAL__GLOBAL__LIMIT", "0", "retrieval.global.limit: Input should be"),
        ("LETOPIS_CHUNKING", "{", 'settings: error parsing value for field "chunking"'),
        ("LETOPIS_INGEST__TIMEZONE", "Mars/X", "ingest.timezone: 'Mars/X' is no time zone"),
        ("LETOPIS_INGEST__TTL_DAYS__SESION", "3", "ingest.ttl_days.sesion"),
        ("LETOPIS_INGEST__TTL_DAYS__SESSION", "-3", "ingest.ttl_days.session: Input should be"),
        ("LETOPIS_CONFIG", "lap", "no file and no preset (laptop, server)"),
    ],
)
def test_a_bad_variable_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as refused:
        load()
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        b"data_dirr = 'x'",
        b"[embedder]\nnmae = 'x'",
        b"[ingest.ttl_days]\nweek = 1",
        b"a b",
        b"\xff",
    ],
)
def test_a_bad_file_is_refused(text: bytes) -> None:
    Path("letopis.toml").write_bytes(text)
    with pytest.raises(ConfigError, match=r"no such setting|letopis.toml|ttl_days"):
        load()


def test_an_unknown_argument_is_refused() -> None:
    with pytest.raises(ConfigError, match="datadir: no such setting"):
        load(datadir="x")


def test_secrets_are_not_printed() -> None:
    settings = load(
        server={"api_key": "secret-1"},
        embedder={"api_key": "secret-2"},
        catalog="postgresql://me:secret-3@host/db",
    )
    assert "secret" not in f"{settings!r} {settings}"
    assert settings.embedder.api_key == "secret-2"


def test_every_setting_has_a_meaning() -> None:
    table = list(rows())
    assert [key for key, _, meaning in table if not meaning] == []
    assert len(table) == len({key for key, _, _ in table})
    assert {
        key.strip("`").split(".")[0].removesuffix("[]") for key, _, _ in table
    } == Settings.model_fields.keys()


def test_the_page_is_in_step() -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    assert rewrite(page) == page, "run: python -m configs.describe docs/settings.md"


def test_a_page_without_its_marks_is_not_rewritten() -> None:
    with pytest.raises(ValueError, match="end of settings"):
        rewrite("no table here")
