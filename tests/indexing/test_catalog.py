"""The SQL catalog: migrations, rows, dead letters, and two processes at once."""

import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.catalog import MIGRATIONS, PAGE, Catalog, DeadLetter, SourceRow, digest
from indexing.errors import StoreError, StoreLocked, StoreUnavailable
from indexing.types import GLOBAL, session_scope, user_scope

ANN = user_scope("ann")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.sqlite"


@pytest.fixture
def catalog(file: Path) -> Iterator[Catalog]:
    opened = Catalog(f"sqlite:///{file}")
    yield opened
    opened.close()


def rows(*names: str) -> list[SourceRow]:
    return [SourceRow(name, digest(name), 1) for name in names]


def ask(file: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


# schema


def test_opening_again_migrates_nothing_and_keeps_rows(file: Path) -> None:
    for name in ("a", "b", "c"):
        catalog = Catalog(f"sqlite:///{file}")
        catalog.commit(ANN, rows(name))
        catalog.close()
    catalog = Catalog(f"sqlite:///{file}")
    assert sorted(catalog.sources(ANN)) == ["a", "b", "c"]
    catalog.close()
    versions = ask(file, "SELECT version FROM schema_version")
    assert versions == [(number,) for number in range(1, len(MIGRATIONS) + 1)]


def test_a_newer_schema_is_refused(catalog: Catalog, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("INSERT INTO schema_version VALUES (99)")
    with pytest.raises(StoreError, match="upgrade letopis"):
        Catalog(f"sqlite:///{file}")


def test_a_fingerprint_belongs_to_the_first_claim(catalog: Catalog) -> None:
    assert catalog.claim("user", "one") == "one"
    assert catalog.claim("user", "two") == "one"
    assert catalog.claim("global", "two") == "two"


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_digests_are_equal_only_for_equal_parts(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


# sources


def test_rows_go_in_and_out(catalog: Catalog) -> None:
    catalog.commit(ANN, [SourceRow("a", "h1", 2), SourceRow("b", "h2", 0)])
    catalog.commit(ANN, [SourceRow("a", "h3", 5)])
    assert catalog.sources(ANN) == {
        "a": SourceRow("a", "h3", 5),
        "b": SourceRow("b", "h2", 0),
    }
    assert list(catalog.sources(ANN, ["b", "nobody"])) == ["b"]
    assert catalog.sources(ANN, []) == {}
    catalog.remove(ANN, ["a", "nobody"])
    assert list(catalog.sources(ANN)) == ["b"]


def test_a_renamed_row_replaces_the_former_one(catalog: Catalog) -> None:
    catalog.commit(ANN, [SourceRow("old", "h", 2), SourceRow("other", "h2", 1)])
    catalog.commit(ANN, [SourceRow("new", "h", 2)], former=["old"])
    assert sorted(catalog.sources(ANN)) == ["new", "other"]


def test_removing_nothing_removes_nothing(catalog: Catalog) -> None:
    catalog.commit(ANN, rows("a"))
    catalog.remove(ANN, [])
    catalog.commit(ANN, [])
    assert list(catalog.sources(ANN)) == ["a"]


def test_more_rows_than_one_statement_takes(catalog: Catalog) -> None:
    names = [f"s{i}" for i in range(2 * PAGE + 1)]
    catalog.commit(ANN, rows(*names))
    catalog.commit(ANN, rows(*names))
    assert set(catalog.sources(ANN, names)) == set(names)
    catalog.remove(ANN, names[1:])
    assert list(catalog.sources(ANN)) == ["s0"]


def test_scopes_do_not_see_each_other(catalog: Catalog) -> None:
    scopes = [GLOBAL, ANN, user_scope("Ann"), session_scope("ann", "1"), session_scope("ann", "10")]
    for number, scope in enumerate(scopes):
        catalog.commit(scope, [SourceRow("same", str(number), 1)])
    for number, scope in enumerate(scopes):
        assert catalog.sources(scope)["same"].content_hash == str(number)
    catalog.remove(ANN, ["same"])
    assert [len(catalog.sources(scope)) for scope in scopes] == [1, 0, 1, 1, 1]


def test_counts_are_by_collection(catalog: Catalog) -> None:
    assert catalog.counts() == {}
    catalog.commit(ANN, [SourceRow("a", "h", 2), SourceRow("b", "h", 3)])
    catalog.commit(user_scope("bob"), [SourceRow("a", "h", 1)])
    catalog.commit(GLOBAL, [SourceRow("d", "h", 4)])
    assert catalog.counts() == {
        "user": {"sources": 3, "memories": 6, "tenants": 2},
        "global": {"sources": 1, "memories": 4, "tenants": 1},
    }


# dead letters


def letter(path: str, place: str = "", reason: str = "bad", scope: object = ANN) -> DeadLetter:
    return DeadLetter(scope, path, place, reason)  # type: ignore[arg-type]


def test_a_repeated_failure_counts_and_keeps_the_last_reason(catalog: Catalog) -> None:
    catalog.bury([letter("f")])
    catalog.bury([letter("f", reason="worse"), letter("f", "line 2")])
    found = {(d.place, d.attempts, d.reason) for d in catalog.dead()}
    assert found == {("", 2, "worse"), ("line 2", 1, "bad")}
    assert all(dead.failed_at > 0 and dead.scope == ANN for dead in catalog.dead())


def test_dead_letters_are_told_apart_by_scope(catalog: Catalog) -> None:
    session = session_scope("ann", "s")
    catalog.bury([letter("f"), letter("f", scope=GLOBAL), letter("f", scope=session)])
    assert [dead.scope for dead in catalog.dead(session)] == [session]
    assert len(catalog.dead()) == 3
    assert catalog.revive(GLOBAL, "f") == 1
    assert {dead.scope for dead in catalog.dead()} == {ANN, session}


def test_reviving_keeps_what_still_fails(catalog: Catalog) -> None:
    catalog.bury([letter("f", f"line {i}") for i in range(4)] + [letter("g", "line 1")])
    assert catalog.revive(ANN, "f", ["line 1", "line 3", "line 9"]) == 2
    assert {(d.path, d.place) for d in catalog.dead()} == {
        ("f", "line 1"),
        ("f", "line 3"),
        ("g", "line 1"),
    }
    assert catalog.revive(ANN, "nothing") == 0


def test_a_file_with_very_many_bad_lines(catalog: Catalog) -> None:
    places = [f"line {i}" for i in range(40_000)]
    catalog.bury([letter("f", place) for place in places[:5]])
    assert catalog.revive(ANN, "f", places) == 0
    assert catalog.revive(ANN, "f", places[4:]) == 4


# failures


def test_a_locked_catalog_names_itself(catalog: Catalog, file: Path) -> None:
    impatient = Catalog(f"sqlite:///{file}", busy_timeout=0.05)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked, match=r"catalog\.sqlite is locked by another process"):
            impatient.commit(ANN, rows("a"))
        with pytest.raises(StoreLocked):
            Catalog(f"sqlite:///{file}", busy_timeout=0.05)
        assert impatient.sources(ANN) == {}  # reading goes on
        other.execute("ROLLBACK")
    impatient.commit(ANN, rows("a"))
    assert list(catalog.sources(ANN)) == ["a"]
    impatient.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="unable to open"):
        Catalog(f"sqlite:///{tmp_path / 'nowhere' / 'c.sqlite'}")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(StoreUnavailable, match="unable to open"):
        Catalog(f"sqlite:///{tmp_path / 'taken' / 'c.sqlite'}")


def test_a_read_only_catalog(catalog: Catalog, file: Path) -> None:
    catalog.commit(ANN, rows("a"))
    frozen = Catalog(f"sqlite:///file:{file}?mode=ro&uri=true")
    with pytest.raises(StoreUnavailable, match="readonly"):
        frozen.commit(ANN, rows("b"))
    assert list(frozen.sources(ANN)) == ["a"]
    frozen.close()


def test_a_file_that_is_no_catalog(file: Path) -> None:
    file.write_bytes(b"not a database, by far" * 100)
    with pytest.raises(StoreError, match="not a database"):
        Catalog(f"sqlite:///{file}")


@pytest.mark.parametrize("url", ["nonsense", "no-such-engine://x", ""])
def test_a_url_that_means_nothing(url: str) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        Catalog(url)


@pytest.mark.parametrize("engine", ["no-such-engine", "nosuch", "mssql+pymssql"])
def test_a_password_is_not_shown(engine: str) -> None:
    with pytest.raises(StoreError, match="cannot be used") as error:
        Catalog(f"{engine}://user:s3cret@host/db")
    assert "s3cret" not in str(error.value)


# two processes

WRITER = textwrap.dedent("""
    import sys
    from indexing.catalog import Catalog, DeadLetter, SourceRow
    from indexing.types import user_scope

    url, name = sys.argv[1:]
    sys.stdin.readline()  # both start together
    catalog = Catalog(url)
    scope = user_scope("ann")
    for i in range(40):
        catalog.commit(scope, [SourceRow(f"{name}-{i}", "h", 1)])
        catalog.bury([DeadLetter(scope, "shared", "", name)])
        assert catalog.claim("user", name) in ("one", "two")
    catalog.close()
""")


def test_two_processes_lose_nothing(file: Path) -> None:
    url = f"sqlite:///{file}"
    command = [sys.executable, "-W", "error", "-c", WRITER, url]
    writers = [
        subprocess.Popen([*command, name], cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    errors = [writer.communicate(timeout=60)[1].decode() for writer in writers]
    assert errors == ["", ""]
    catalog = Catalog(url)
    expected = {f"{name}-{i}" for name in ("one", "two") for i in range(40)}
    assert set(catalog.sources(ANN)) == expected
    assert [dead.attempts for dead in catalog.dead()] == [80]
    catalog.close()
