"""The command line when all is well: help, documents, JSON, explanations, dead letters."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import letopis.cli
from letopis import console
from tests.letopis.conftest import ROOT, Cli

DOCS = (ROOT / "docs" / "cli.md").read_text()


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    yield " ".join(path), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(letopis.cli.app)))
LEAVES = {path: c for path, c in COMMANDS.items() if not hasattr(c, "commands")}
DOING = [path for path, c in COMMANDS.items() if path in LEAVES or c.invoke_without_command]


def section(path: str) -> str:
    """Return the part of docs/cli.md about a command; the head for the options of all."""
    parts = re.split(r"^## ", DOCS, flags=re.MULTILINE)
    if not path:
        return parts[0]
    (found,) = [part for part in parts if re.match(rf"`letopis {path}(`| [A-Z[])", part)]
    return found


def test_the_commands_are_the_ones_that_we_mean() -> None:
    assert set(LEAVES) == {
        *("ingest", "sync", "remember", "retrieve", "status", "demo", "eval run"),
        *("dedup", "reindex", "schedule", "dead-letters list", "dead-letters retry"),
        *(f"memories {name}" for name in ("history", "edit", "pin", "unpin", "delete")),
        *("forget", "receipts list", "receipts show", "receipts verify", "audit"),
        *(f"session {name}" for name in ("new", "append", "show", "digest", "close")),
        *("session context", "session handoff", "export", "import"),
    }


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_parameter_has_help(path: str) -> None:
    assert COMMANDS[path].help
    for parameter in COMMANDS[path].params:
        assert parameter.help, parameter.name


@pytest.mark.parametrize("path", ["", *DOING])
def test_the_page_lists_exactly_the_options_of_a_command(path: str) -> None:
    rows = re.findall(r"^\| (`-.*?) \|", section(path), flags=re.MULTILINE)
    written = [set(re.findall(r"`(-[^`]*)`", row)) for row in rows]
    known = [set(p.opts) for p in COMMANDS[path].params if p.param_type_name == "option"]
    assert sorted(map(sorted, written)) == sorted(map(sorted, [*known, *extra(path)]))


def extra(path: str) -> list[set[str]]:
    return [] if path else [{"--help"}]


def test_the_page_names_every_exit_code() -> None:
    codes = re.findall(r"^\| (\d+) \|", DOCS, flags=re.MULTILINE)
    ours = [0, console.FAILED, console.DEAD, console.INTERRUPTED]
    assert codes == [str(code) for code in ours]


def turn(number: int, **changed: Any) -> str:
    record = {
        "user_id": "ann",
        "session_id": "monday",
        "turn_id": f"t{number}",
        "role": "user",
        "text": f"Turn {number}: the budget is {number}00 euro",
        "at": f"2026-01-05T10:0{number}:00+00:00",
    }
    return json.dumps({k: v for k, v in {**record, **changed}.items() if v is not None})


def fill(folder: Path) -> None:
    """Write good files in several encodings and bad ones of every kind."""
    folder.mkdir()
    (folder / "good.md").write_text("# Refunds\n\nA refund is paid within 14 days.")
    (folder / "cp1251.txt").write_bytes(
        "Служебная записка: пароль от склада хранится у Ивановой.".encode("cp1251")
    )
    (folder / "utf16.txt").write_bytes(
        "Отчёт о поставках: датчик BX-4471-A доставлен в Казань.".encode("utf-16")
    )
    (folder / "empty.md").touch()
    (folder / "junk.md").write_bytes(bytes(range(256)) * 8)
    (folder / "slides.pdf").write_bytes(b"%PDF-1.4")
    lines = [turn(1), turn(2), turn(3)[:-9], turn(4), turn(5)]
    (folder / "chat.jsonl").write_text("\n".join(lines))
    bad = [turn(6, role=None), turn(7, at=None), turn(8, user_id="*"), turn(9)]
    (folder / "turns.jsonl").write_text("\n".join(bad))


DEAD = {
    ("empty.md", ""): "empty file",
    ("junk.md", ""): "binary content",
    ("slides.pdf", ""): "damaged PDF: it cannot be opened",
    ("chat.jsonl", "line 3"): "not JSON: ",
    ("turns.jsonl", "line 1"): "role: missing",
    ("turns.jsonl", "line 2"): "at: missing",
    ("turns.jsonl", "line 3"): "user id '*' is a wildcard",
}


def test_bad_files_and_lines_are_dead_letters_and_the_rest_is_there(cli: Cli) -> None:
    fill(cli.folder / "in")
    first, table, listed, status, *found = cli.many(
        ("ingest", "in", "--json"),
        ("dead-letters", "list"),
        ("dead-letters", "list", "--json"),
        ("status", "--json"),
        ("retrieve", "у кого пароль от склада?", "-k", "1", "--json"),
        ("retrieve", "BX-4471-A", "-k", "1", "--json"),
        ("retrieve", "what is the budget of turn 5", "--user", "ann", "-k", "1", "--json"),
    )
    assert first.code == 2
    assert first.err.endswith("7 could not be indexed; mend and run: letopis dead-letters retry\n")
    report = first.json
    assert (report["seen"], report["indexed"]) == (15, 8)
    dead = {(Path(d["path"]).name, d["place"]): d["reason"] for d in report["dead"]}
    assert dead.keys() == DEAD.keys()
    for place, reason in DEAD.items():
        assert dead[place].startswith(reason)
    assert {(Path(d["path"]).name, d["place"]) for d in listed.json} == DEAD.keys()
    assert {d["attempts"] for d in listed.json} == {1}
    assert (table.code, "slides.pdf" in table.out) == (0, True)
    assert status.json["dead_letters"] == 7
    assert status.json["sources"]["global"]["sources"] == 3
    assert status.json["sources"]["user"] == {"sources": 5, "memories": 5, "tenants": 1}
    sources = [done.json["hits"][0]["source"] for done in found]
    assert sources == ["in/cp1251.txt", "in/utf16.txt", "monday#t5"]

    (cli.folder / "in" / "chat.jsonl").write_text("\n".join(turn(n) for n in range(1, 6)))
    (cli.folder / "in" / "empty.md").write_text("Not empty any more")
    again, listed = cli.many(
        ("dead-letters", "retry", "--json"), ("dead-letters", "list", "--json")
    )
    assert again.code == 2
    assert again.json["indexed"] == 3  # the file, turn 3, and turn 4: another turn is before it
    left = DEAD.keys() - {("empty.md", ""), ("chat.jsonl", "line 3")}
    assert {(Path(d["path"]).name, d["place"]) for d in listed.json} == left
    assert {d["attempts"] for d in listed.json} == {2}


USERS = ("анна", "Анна", "../x")


def test_ids_are_exact_and_explanations_add_up(cli: Cli) -> None:
    until = ("--expires", "2999-01-01T12:00:00+00:00")
    told = [("remember", f"The code is {n}77", "--user", u) for n, u in enumerate(USERS)]
    asked = [("retrieve", "what is the code?", "--user", u, "--json") for u in USERS]
    done = cli.many(
        *told,
        *asked,
        ("remember", "My tea is green", "--user", "анна", "--session", "s1", *until, "--json"),
        ("remember", "My tea is stale", "--user", "анна", "--expires", "2001-01-01T00:00Z"),
        ("retrieve", "my tea", "--user", "анна", "--session", "s1", "--explain"),
        ("retrieve", "what is the code?", "--json"),
    )
    assert {d.code for d in done} == {0}
    answers = done[len(USERS) : 2 * len(USERS)]
    for number, (user, answer) in enumerate(zip(USERS, answers, strict=True)):
        (hit,) = answer.json["hits"]
        assert (hit["text"], hit["scope"]) == (f"The code is {number}77", f"user:{user}")
        shares = [stage["share"] for stage in hit["stages"].values()]
        assert sum(shares) == pytest.approx(hit["score"])
    stored, _, explained, everybody = done[2 * len(USERS) :]
    assert stored.json["scope"] == "session:анна/s1"
    assert stored.json["expires_at"] == "2999-01-01T12:00:00+00:00"
    assert "My tea is green" in explained.out
    assert "stale" not in explained.out
    for word in ("dense #1", "sparse #1", "route vector", "session:анна/s1", "total"):
        assert word in explained.out
    assert everybody.json["hits"] == []
    assert everybody.json.keys() == {"query", "answers", "confidence", "hits", "trace"}


def test_a_wrong_command_line_prints_usage_and_logs_stay_off_stdout(cli: Cli) -> None:
    version, status, *wrong = cli.many(
        ("--version",),
        ("--data-dir", "other", "-v", "status", "--json"),
        *(("no-such-command",), ("ingest",), ("remember", "x"), ("eval", "run", "--no-such")),
    )
    for done in wrong:
        assert (done.code, done.out) == (console.DEAD, "")
        assert done.err.startswith("Usage: letopis ")
    assert version.out == f"letopis {letopis.__version__}\n"
    assert status.json["data_dir"] == "other"
    assert (cli.folder / "other" / "catalog.sqlite").is_file()


def test_the_reranker_that_ships_reads_the_candidates_unless_told_not_to(cli: Cli) -> None:
    asked = ("retrieve", "what does Ann drink?", "--user", "ann", "--json")
    *_, first, plain = cli.many(
        ("remember", "Ann rows a red kayak on Sundays", "--user", "ann"),
        ("remember", "Ann drinks green tea with mint", "--user", "ann"),
        asked,
        (*asked, "--no-rerank"),
    )
    reranked, trace = first.json["hits"], first.json["trace"]
    assert trace["models"]["reranker"].startswith("letopis-rerank/1-")
    assert "rerank" in [stage["name"] for stage in trace["stages"]]
    assert reranked[0]["text"] == "Ann drinks green tea with mint"
    assert reranked[0]["reranked"] > 0.5 > reranked[1]["reranked"]
    assert "reranker" not in plain.json["trace"]["models"]
    assert {hit["reranked"] for hit in plain.json["hits"]} == {None}
