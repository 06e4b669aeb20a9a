"""`letopis sync`: sources by name, path and option, plans that write nothing, what is refused."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.letopis.conftest import Cli

SETTINGS = """
[[sources]]
name = "notes"
path = "notes"

[[sources]]
name = "shop"
sql = "env:SHOP_URL"
query = "SELECT id, body AS text, owner AS user_id FROM page"
"""


@pytest.fixture
def place(cli: Cli) -> Path:
    folder = cli.folder
    (folder / "letopis.toml").write_text(SETTINGS)
    (folder / "notes").mkdir()
    for number in range(12):
        (folder / "notes" / f"{number:02}.md").write_text(f"# Note {number}\n\nIt costs {number}.")
    with closing(sqlite3.connect(folder / "shop.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE page (id, body, owner)")
        connection.execute("INSERT INTO page VALUES (1, 'Sold out.', NULL), (2, 'Mine.', 'ann')")
    return folder


def shop(place: Path) -> dict[str, str]:
    return {"SHOP_URL": f"sqlite:///{place / 'shop.sqlite'}"}


def test_a_plan_writes_nothing_and_is_what_happens(cli: Cli, place: Path) -> None:
    url = shop(place)
    plan, table, first, again, found = cli.many(
        ("sync", "--dry-run", "--json", url),
        ("sync", "notes", "--dry-run", url),
        ("sync", "--json", url),
        ("sync", "--json", url),
        ("retrieve", "sold out", "--json"),
    )
    assert (plan.code, table.code, first.code, again.code) == (0, 0, 0, 0)
    notes, rows = plan.json
    assert (notes["name"], notes["seen"], notes["new"]) == ("notes", 12, 12)
    assert (rows["name"], rows["new"], len(rows["steps"])) == ("shop", 2, 2)
    assert {step["scope"] for step in rows["steps"]} == {"global", "user:ann"}
    assert "12 new" in table.out
    assert (first.json["seen"], first.json["new"], first.json["embedded"]) == (14, 14, 14)
    assert (again.json["unchanged"], again.json["embedded"]) == (14, 0)
    assert found.json["hits"][0]["source"] == "shop#1"


def test_a_plan_needs_neither_model_nor_store(cli: Cli, place: Path) -> None:
    done = cli("sync", "notes", "--dry-run", "--json", LETOPIS_EMBEDDER__MODEL="no-such-model")
    assert done.json[0]["new"] == 12
    assert not (cli.folder / "memory" / "store").exists()


def test_most_of_a_source_goes_only_by_force(cli: Cli, place: Path) -> None:
    (first,) = cli.many(("sync", "notes", "--json"))
    assert first.json["new"] == 12
    for number in range(11):
        (place / "notes" / f"{number:02}.md").unlink()
    plan, kept, forced = cli.many(
        ("sync", "notes", "--dry-run", "--json"),
        ("sync", "notes", "--json"),
        ("sync", "notes", "--force", "--json"),
    )
    assert (plan.json[0]["gone"], plan.json[0]["refused"]) == (11, True)
    assert (kept.code, kept.json["kept"], kept.json["removed"]) == (2, 11, 0)
    assert "letopis sync --force" in kept.err
    assert (forced.code, forced.json["removed"]) == (0, 11)


def test_one_source_that_cannot_be_listed_does_not_stop_the_others(cli: Cli, place: Path) -> None:
    (done,) = cli.many(("sync", "nowhere", "notes", "--json"))
    assert (done.code, done.json["new"]) == (1, 12)
    assert "SourceError: nowhere: nowhere: no such file or folder" in done.err


REFUSED = {
    ("sync", "nowhere"): "SourceError: nowhere: no such file or folder",
    ("sync", ""): "InvalidInput: the path is empty",
    ("sync", "notes", "--user", "ann"): "InvalidInput: --user, --session and --chunker go with",
    ("sync", "x", "--session", "s"): "InvalidInput: a session belongs to a user",
    ("sync", "x", "--user", "*"): "InvalidId: user id '*' is a wildcard",
    ("sync", "--sql", "sqlite://"): "InvalidInput: sql and query go together",
    ("sync", "--query", "SELECT 1"): "InvalidInput: write one of path, list, sql and urls",
    ("sync", "--sql", "env:NO_SUCH", "--query", "SELECT 1"): "ConfigError: source '': env:NO_SUCH",
    ("sync", "--sql", "sqlite://", "--query", "DROP TABLE x"): "ConfigError: query: write one",
    ("sync", "--urls", "nowhere"): "SourceError: nowhere: no such file",
    ("sync", "notes/00.md", "--chunker", "none"): "ConfigError: no chunker 'none'; there are fixed",
}


def test_what_names_no_source_is_refused(cli: Cli, place: Path) -> None:
    for done, (args, expected) in zip(cli.many(*REFUSED), REFUSED.items(), strict=True):
        assert done.refused().startswith(expected), args
    (place / "letopis.toml").write_text("[[sources]]\npath = 'a'\nurls = 'b'\n")
    (wrong,) = cli.many(("status",))
    assert wrong.refused().startswith("ConfigError: settings: sources.0: write one of path, list")
    (place / "letopis.toml").unlink()
    (nothing,) = cli.many(("sync",))
    assert nothing.refused().startswith("InvalidInput: nothing to synchronise")
