"""Feeds that are no folder: patterns, lists, JSONL records, SQL queries, web pages."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from indexing.errors import ConfigError, SourceError
from indexing.feeds.access import Access, WebLimits
from indexing.feeds.files import matches
from indexing.feeds.types import Feed
from indexing.feeds.web import Web, fetch
from indexing.index import Index, Report
from indexing.ingest import retry
from indexing.plan import plan
from indexing.sync import sync
from indexing.types import GLOBAL, Filter, Memory, Scope, user_scope

ANN = user_scope("ann")


def stored(index: Index, scope: Scope = GLOBAL) -> dict[str, Memory]:
    return {m.uri: m for m in index.store.scroll(scope.collection, Filter(scope))}


def counts(report: Report) -> dict[str, int]:
    assert report.seen == report.indexed + report.unchanged + report.duplicate + len(report.dead)
    keys = ("new", "changed", "renamed", "unchanged", "duplicate", "removed", "embedded")
    found = {key: getattr(report, key) for key in keys} | {"dead": len(report.dead)}
    return {key: count for key, count in found.items() if count}


# patterns and lists


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a.md", "*.md", True),
        ("x/a.md", "*.md", False),
        ("x/a.md", "**/*.md", True),
        ("a.md", "**/*.md", True),
        ("x/y/a.md", "x/**", True),
        ("x/y/a.md", "*/a.md", False),
        ("x/A.md", "x/[ab].md", False),
        ("x/y/z/a.md", "x/**/z/?.md", True),
    ],
)
def test_a_pattern_matches_part_by_part(path: str, pattern: str, expected: bool) -> None:
    assert matches(path.split("/"), pattern.split("/")) is expected


def test_a_pattern_takes_what_it_matches(index: Index, tmp_path: Path) -> None:
    for name in ("docs/a.md", "docs/b.txt", "docs/x/c.md", "other/d.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"Text of {name}.")
    (tmp_path / "docs" / "loop").symlink_to(tmp_path / "docs", target_is_directory=True)
    feed = Feed("path", str(tmp_path / "docs" / "**" / "*.md"))
    assert counts(sync(index, feed)) == {"new": 2, "embedded": 2}
    assert set(stored(index)) == {"docs/a.md", "docs/x/c.md"}
    with pytest.raises(SourceError, match="no such file or folder"):
        sync(index, Feed("path", str(tmp_path / "none" / "*.md")))


def test_a_list_names_files_beside_it_and_elsewhere(index: Index, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (far / "b.txt").write_text("A text far away.")
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.md").write_text("A text beside the list.")
    (home / "list").write_text(f"# files\n\na.md\n{far / 'b.txt'}\n./a.md\nmissing.md\n")
    report = sync(index, Feed("list", str(home / "list")))
    assert counts(report) == {"new": 2, "dead": 1, "embedded": 2}
    assert set(stored(index)) == {"a.md", f"{far / 'b.txt'}"}
    assert [letter.reason for letter in report.dead] == ["no such file"]
    with pytest.raises(SourceError, match="nowhere: no such file"):
        sync(index, Feed("list", str(tmp_path / "nowhere")))


# records


def records(*changed: dict[str, Any]) -> str:
    usual = [{"id": n, "text": f"Record {n}.", "title": f"T{n}"} for n in range(3)]
    made = [{**record, **change} for record, change in zip(usual, changed, strict=False)]
    return "\n".join(map(json.dumps, [*made, *usual[len(made) :]]))


def test_lines_of_jsonl_become_documents(index: Index, tmp_path: Path, embedder: Any) -> None:
    file = tmp_path / "kb.jsonl"
    feed = Feed("path", str(tmp_path))
    at = "2026-03-01T10:00:00+03:00"
    file.write_text(records({"user_id": "ann"}, {"url": "https://kb/1", "at": at}))
    assert counts(sync(index, feed)) == {"new": 3, "embedded": 3}
    (mine,) = stored(index, ANN).values()
    assert (mine.text, mine.title) == ("Record 0.", "T0")
    found = stored(index)
    assert set(found) == {"https://kb/1", f"{tmp_path.name}/kb.jsonl#2"}
    assert found["https://kb/1"].at is not None
    file.write_text(records({"user_id": "ann"}, {"text": "Changed."}))
    assert counts(sync(index, feed)) == {"unchanged": 2, "changed": 1, "embedded": 1}
    embedder.embedded.clear()
    file.rename(tmp_path / "base.jsonl")
    assert counts(sync(index, feed)) == {"renamed": 3}
    assert embedder.embedded == []
    (tmp_path / "base.jsonl").write_text(records().split("\n")[2])
    assert counts(sync(index, feed)) == {"unchanged": 1, "removed": 2}
    assert stored(index, ANN) == {}


def test_a_bad_record_says_why_and_the_others_are_read(index: Index, tmp_path: Path) -> None:
    file = tmp_path / "kb.jsonl"
    bad = ["{", '{"id": 7}', '{"id": 8, "text": " "}', '{"id": 2, "text": "again"}', "[]"]
    file.write_text("\n".join([records(), *bad, '{"id": 9, "text": "x", "user_id": "*"}']))
    report = sync(index, Feed("path", str(file)))
    assert counts(report) == {"new": 3, "dead": 6, "embedded": 3}
    reasons = {letter.place: letter.reason for letter in index.catalog.dead(GLOBAL)}
    assert reasons["line 5"] == "text: missing"
    assert reasons["line 6"] == "text: empty"
    assert reasons["line 7"] == "id: there is an earlier record with this id"
    assert reasons["line 9"].startswith("user id '*' is a wildcard")
    file.write_text("{\n" + records().split("\n")[0])
    assert counts(sync(index, Feed("path", str(file)))) == {"unchanged": 1, "dead": 1}
    assert len(stored(index)) == 3, "which record the broken line is nobody knows"
    file.write_text(records())
    assert counts(retry(index)) == {"unchanged": 3}
    assert index.catalog.dead() == []
    file.write_text(records({"user_id": "bob"}))
    report = sync(index, Feed("path", str(file), scope=ANN))
    assert [letter.reason for letter in report.dead] == [
        "user_id: the record belongs to another user than the one named"
    ]


# sql


@pytest.fixture
def database(tmp_path: Path) -> Path:
    file = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE page (id, body, owner, at)")
        rows = [(n, f"Page {n} tells.", "ann" if n == 2 else None, None) for n in range(3)]
        connection.executemany("INSERT INTO page VALUES (?, ?, ?, ?)", rows)
    return file


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


QUERY = "SELECT id, body AS text, owner AS user_id FROM page ORDER BY id"


def test_rows_of_a_query_become_documents(index: Index, database: Path, embedder: Any) -> None:
    feed = Feed("sql", f"sqlite:///{database}", QUERY, name="shop")
    assert plan(index.catalog, feed).counts["new"] == 3
    assert counts(sync(index, feed)) == {"new": 3, "embedded": 3}
    assert set(stored(index)) == {"shop#0", "shop#1"}
    assert set(stored(index, ANN)) == {"shop#2"}
    embedder.embedded.clear()
    change(database, "UPDATE page SET id = 7 WHERE id = 1")
    assert counts(sync(index, replace(feed, query=f"{QUERY};"))) == {"unchanged": 2, "renamed": 1}
    assert embedder.embedded == []
    change(database, "DELETE FROM page WHERE id = 7")
    change(database, "UPDATE page SET body = '' WHERE id = 0")
    report = sync(index, feed)
    assert counts(report) == {"unchanged": 1, "removed": 1, "dead": 1}
    assert [(letter.place, letter.reason) for letter in report.dead] == [("row 1", "text: empty")]
    assert set(stored(index)) == {"shop#0"}, "what was indexed of a broken row stays"


def test_a_query_can_only_read(index: Index, database: Path) -> None:
    place = f"sqlite:///{database}"
    for query in ("DELETE FROM page", "/* x */ UPDATE page SET id = 1", ""):
        with pytest.raises(ConfigError, match="write one SELECT"):
            sync(index, Feed("sql", place, query))
    sneaky = "WITH x AS (SELECT 1) DELETE FROM page"
    (letter,) = sync(index, Feed("sql", place, sneaky)).dead
    assert "readonly" in letter.reason
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM page").fetchone() == (3,)


def test_a_database_that_fails_removes_nothing(index: Index, database: Path) -> None:
    feed = Feed("sql", f"sqlite:///{database}", QUERY, name="shop")
    sync(index, feed)
    for query in ("SELECT id, text FROM nowhere", "SELECT id FROM page"):
        report = sync(index, replace(feed, query=query), force=True)
        assert counts(report) == {"dead": 1}
        assert len(stored(index)) == 2
    assert counts(retry(index)) == {"dead": 1}
    assert counts(sync(index, feed)) == {"unchanged": 3}
    assert index.catalog.dead() == []


def test_a_password_is_shown_nowhere(index: Index) -> None:
    for place in ("nosuch://me:s3cret@host/db", "sqlite://me:s3cret@/x?password=s3cret"):
        feed = Feed("sql", place, QUERY)
        assert "s3cret" not in repr(feed) + feed.label
        with pytest.raises((ConfigError, SourceError)) as error:
            _raise_dead(sync(index, feed))
        assert "s3cret" not in str(error.value)


def _raise_dead(report: Report) -> None:
    raise SourceError(str(report.dead))


# web


class Site(ThreadingHTTPServer):
    """A server of some pages; counts the bytes that it sends."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, tuple[int, str, dict[str, str]]] = {}
        self.sent = 0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        site = self.server
        assert isinstance(site, Site)
        status, body, headers = site.pages.get(self.path, (404, "", {}))
        if headers.get("ETag") and self.headers.get("If-None-Match") == headers["ETag"]:
            status, body = 304, ""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())
        site.sent += len(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def page(text: str, tag: str = "", status: int = 200) -> tuple[int, str, dict[str, str]]:
    headers = {"Content-Type": "text/html; charset=utf-8"} | ({"ETag": tag} if tag else {})
    return status, f"<html><title>{text}</title><p>{text}</p></html>", headers


def test_a_page_that_did_not_change_is_not_downloaded(
    index: Index, site: Site, tmp_path: Path
) -> None:
    site.pages = {"/a": page("Первая страница.", '"1"'), "/b?x=1": page("Second page.")}
    urls = tmp_path / "urls.txt"
    names = [site.url("/a"), site.url("/b?x=1"), site.url("/none")]
    urls.write_text("\n".join(names))
    feed = Feed("urls", str(urls))
    access = Access(web=WebLimits(backoff=0, tries=2))
    report = sync(index, feed, access)
    assert counts(report) == {"new": 2, "dead": 1, "embedded": 2}
    assert [(letter.path, letter.reason) for letter in report.dead] == [(names[2], "HTTP 404")]
    assert stored(index)[names[0]].title == "Первая страница."
    site.sent = 0
    assert counts(sync(index, feed, access)) == {"unchanged": 2, "dead": 1}
    assert site.sent == len(site.pages["/b?x=1"][1]), "the one without an ETag"
    site.pages["/a"] = page("New text.", '"2"')
    site.pages["/none"] = page("Found at last.")
    assert counts(sync(index, feed, access)) == {
        "changed": 1, "new": 1, "unchanged": 1, "embedded": 2
    }  # fmt: skip
    site.pages["/a"] = page("down", status=503)
    report = sync(index, feed, access)
    assert counts(report) == {"unchanged": 2, "dead": 1}
    assert [letter.reason for letter in report.dead] == ["HTTP 503, 2 times"]
    assert names[0] in stored(index), "what was indexed stays"
    site.pages["/a"] = page("New text.", '"2"')
    assert counts(retry(index, access=access)) == {"unchanged": 1}
    urls.write_text(names[1])
    assert counts(sync(index, feed, access)) == {"unchanged": 1, "removed": 2}


def web(handler: Any, **limits: Any) -> tuple[Web, list[float]]:
    waited: list[float] = []
    client = httpx.Client(transport=httpx.MockTransport(handler))
    return Web(client, WebLimits(**limits), waited.append), waited


PUBLIC, PRIVATE = "http://93.184.215.14", "http://10.0.0.7"


def test_what_can_pass_is_tried_again(site: Site) -> None:
    answers = [
        httpx.Response(503, headers={"Retry-After": "7"}),
        httpx.Response(429, headers={"Retry-After": "900"}),
        httpx.Response(200, text="x"),
    ]
    asked, waited = web(lambda request: answers.pop(0))
    assert fetch(asked, PUBLIC).data == b"x"
    assert waited == [7.0, 30.0]
    for status in (403, 404, 410, 501):
        asked, waited = web(lambda request, status=status: httpx.Response(status))
        with pytest.raises(SourceError, match=f"HTTP {status}$"):
            fetch(asked, PUBLIC)
        assert waited == []


def _slow(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("", request=request)


def _moved(place: str) -> Any:
    return lambda request: httpx.Response(302, headers={"Location": place})


@pytest.mark.parametrize(
    ("handler", "limits", "url", "reason"),
    [
        (_slow, {}, PUBLIC, "does not answer in time, 3 times"),
        (lambda r: httpx.Response(200, text="x" * 99), {"bytes": 98}, PUBLIC, "larger than"),
        (_moved("/again"), {"redirects": 4}, PUBLIC, "more than 4 redirects"),
        (_moved(PRIVATE), {}, PUBLIC, "redirected to 10.0.0.7, a private address"),
        (_moved("file:///etc/hosts"), {}, PUBLIC, "not an http or https URL"),
        (_slow, {"private_hosts": False}, PRIVATE, "10.0.0.7 is a private address"),
        (_slow, {}, "ftp://93.184.215.14/x", "not an http or https URL"),
        (_slow, {}, "http://[", "not a URL"),
    ],
)
def test_a_page_is_fetched_within_limits(
    handler: Any, limits: dict[str, Any], url: str, reason: str
) -> None:
    asked, _ = web(handler, **limits)
    with pytest.raises(SourceError, match=reason):
        fetch(asked, url)


def test_a_redirect_within_the_private_network_is_followed() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/":
            return httpx.Response(301, headers={"Location": "http://127.0.0.1/x"})
        return httpx.Response(200, text="there")

    asked, _ = web(answer)
    assert fetch(asked, f"{PRIVATE}/").data == b"there"


def test_a_url_with_a_password_is_refused(index: Index, tmp_path: Path) -> None:
    urls = tmp_path / "urls.txt"
    urls.write_text("https://me:s3cret@host/page\n")
    with pytest.raises(SourceError, match="write it without") as error:
        sync(index, Feed("urls", str(urls)))
    assert "s3cret" not in str(error.value)
