"""The SQL catalog on every database: migrations, rows, dead letters, and two processes at once."""

import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from indexing.catalog import Catalog
from indexing.catalog_database import PAGE
from indexing.catalog_migrations import MIGRATIONS
from indexing.catalog_rows import DeadLetter, SourceRow
from indexing.errors import LetopisError, StoreError, StoreLocked, StoreUnavailable
from indexing.hashing import digest
from indexing.types import GLOBAL, session_scope, user_scope

ANN = user_scope("ann")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.sqlite"


@pytest.fixture
def url(catalog_url: str) -> str:
    return catalog_url


@pytest.fixture
def catalog(url: str) -> Iterator[Catalog]:
    opened = Catalog(url)
    yield opened
    opened.close()


@pytest.fixture
def sqlite_catalog(file: Path) -> Iterator[Catalog]:
    opened = Catalog(f"sqlite:///{file}")
    yield opened
    opened.close()


def rows(*names: str) -> list[SourceRow]:
    return [SourceRow(name, digest(name), 1) for name in names]


def ask(url: str, statement: str) -> list[tuple[object, ...]]:
    engine = create_engine(url)
    with engine.begin() as connection:
        answer = connection.execute(text(statement))
        found = [tuple(row) for row in answer] if answer.returns_rows else []
    engine.dispose()
    return found


# schema


def test_opening_again_migrates_nothing_and_keeps_rows(url: str) -> None:
    for name in ("a", "b", "c"):
        catalog = Catalog(url)
        catalog.commit(ANN, rows(name))
        catalog.close()
    catalog = Catalog(url)
    assert sorted(catalog.sources(ANN)) == ["a", "b", "c"]
    catalog.close()
    versions = ask(url, "SELECT version FROM schema_version ORDER BY version")
    assert versions == [(number,) for number in range(1, len(MIGRATIONS) + 1)]


def test_a_newer_schema_is_refused(catalog: Catalog, url: str) -> None:
    ask(url, "INSERT INTO schema_version VALUES (99)")
    with pytest.raises(StoreError, match="upgrade letopis"):
        Catalog(url)


def test_a_fingerprint_belongs_to_the_first_claim(catalog: Catalog) -> None:
    assert catalog.fingerprint("user") is None
    assert catalog.claim("user", "one") == "one"
    assert catalog.fingerprint("user") == "one"
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


# texts


ODD = st.text(st.one_of(st.sampled_from("\0␛␀\\'%"), st.characters(exclude_categories=["Cs"])))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ODD.filter(str.strip), min_size=1, max_size=4, unique=True))
def test_any_text_comes_back_exactly(catalog: Catalog, names: list[str]) -> None:
    catalog.remove(ANN, list(catalog.sources(ANN)))
    catalog.commit(ANN, rows(*names))
    assert set(catalog.sources(ANN, names)) == set(catalog.sources(ANN)) == set(names)
    for name in names:
        catalog.bury([letter(name, name, name)])
        assert [(d.path, d.place, d.reason) for d in catalog.dead()] == [(name,) * 3]
        assert catalog.revive(ANN, name) == 1


def test_a_very_long_text_and_half_a_pair(catalog: Catalog) -> None:
    long = "путь/\0" * 200_000
    catalog.commit(ANN, rows(long))
    assert list(catalog.sources(ANN)) == [long]
    catalog.bury([letter(long, long, "half a pair: \ud83d")])
    assert [(d.path, d.reason) for d in catalog.dead()] == [(long, "half a pair: \\ud83d")]
    assert catalog.revive(ANN, long) == 1


def test_odd_user_ids_come_back(catalog: Catalog) -> None:
    scope = session_scope(" Ann\0", "№ 5 😀␛␀")
    catalog.bury([letter("f", scope=scope)])
    assert [dead.scope for dead in catalog.dead(scope)] == [scope]


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


def test_a_locked_catalog_names_itself(sqlite_catalog: Catalog, file: Path) -> None:
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
    assert list(sqlite_catalog.sources(ANN)) == ["a"]
    impatient.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="unable to open"):
        Catalog(f"sqlite:///{tmp_path / 'nowhere' / 'c.sqlite'}")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(StoreUnavailable, match="unable to open"):
        Catalog(f"sqlite:///{tmp_path / 'taken' / 'c.sqlite'}")


def test_a_read_only_catalog(sqlite_catalog: Catalog, file: Path) -> None:
    sqlite_catalog.commit(ANN, rows("a"))
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


@pytest.mark.parametrize(
    "url",
    [
        "no-such-engine://user:s3cret@host/db",
        "nosuch://user:s3cret@host/db",
        "mssql+pymssql://user:s3cret@host/db",
        "postgresql:/user:s3cret@host/db",
        "postgresql://user:pw@host:s3cret/db",
        "postgresql+nosuch://user:s3cret@host/db",
    ],
)
def test_a_password_is_not_shown(url: str) -> None:
    with pytest.raises(LetopisError) as error:
        Catalog(url)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("place", ["user:s3cret@127.0.0.1:9/db", "127.0.0.1:9/db?password=s3cret"])
@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_no_server_is_unavailable(scheme: str, place: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1") as error:
        Catalog(f"{scheme}://{place}", busy_timeout=2)
    assert "s3cret" not in str(error.value)


def test_a_missing_driver_names_the_extra() -> None:
    script = """
        import sys
        sys.modules["psycopg"] = None  # as if it were not installed
        from indexing.catalog import Catalog
        from indexing.errors import MissingExtra
        try:
            Catalog("postgresql://user:s3cret@host/db")
        except MissingExtra as error:
            print(error)
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    expected = "psycopg is not installed; install it with: pip install 'letopis[postgres]'\n"
    assert done.stdout == expected


def test_an_error_shows_no_value(catalog: Catalog, url: str) -> None:
    ask(url, "DROP TABLE dead_letters")
    with pytest.raises(StoreError, match="dead_letters") as error:
        catalog.bury([letter("private/path", reason="private reason")])
    assert "private" not in str(error.value)


# two processes

WRITER = textwrap.dedent("""
    import sys
    from indexing.catalog import Catalog
    from indexing.catalog_rows import DeadLetter, SourceRow
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


def test_two_processes_lose_nothing(url: str) -> None:
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


def test_a_source_that_begins_is_known_by_no_content(catalog: Catalog) -> None:
    catalog.commit(ANN, rows("a", "other"))
    catalog.begin(ANN, ["a", "b", "b"])
    begun = {"a": SourceRow("a", "", 1), "b": SourceRow("b", "", 0)}
    assert catalog.sources(ANN) == {**begun, "other": rows("other")[0]}
    assert catalog.counts()["user"] == {"sources": 2, "memories": 2, "tenants": 1}
    catalog.commit(ANN, rows("a", "b"))
    assert catalog.sources(ANN) == {row.source_id: row for row in rows("a", "b", "other")}
    catalog.begin(ANN, [])
