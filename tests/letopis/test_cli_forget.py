"""`letopis forget` and its receipts: all is gone, proven, and nothing comes back until lifted."""

import os
import pty
import sqlite3
import subprocess

from indexing.catalog import Catalog
from indexing.catalog_rows import DeadLetter, SourceRow
from indexing.types import GLOBAL
from letopis.forgetting import source_ids
from tests.letopis.conftest import LETOPIS, Cli, environment
from tests.letopis.test_cli_loading import loaded
from tests.letopis.test_cli_memories import alone

WORD = "zanzibar"
BACK = f"I am back with {WORD}"


def fill(cli: Cli) -> None:
    """Remember for two users and in a session; index a file for one."""
    (cli.folder / "note.md").write_text(f"# Plan\n\nThe plan is {WORD}.")
    done = cli.many(
        ("remember", f"The word is {WORD}", "--user", "ann"),
        ("remember", f"The key is {WORD}", "--user", "ann", "--session", "s1"),
        ("remember", f"The name is {WORD}", "--user", "bob"),
        ("ingest", "note.md", "--user", "ann"),
    )
    assert {one.code for one in done} == {0}


def hits(cli: Cli, user: str) -> list[str]:
    (done,) = cli.many(("retrieve", WORD, "--user", user, "--session", "s1", "--json"))
    return sorted(hit["text"] for hit in done.json["hits"])


def test_a_user_is_forgotten_with_a_receipt_and_comes_back_only_when_lifted(cli: Cli) -> None:
    fill(cli)
    table, again, blocked, lifted, nothing, back, verified, listed, shown, log = cli.many(
        ("forget", "--user", "ann", "--yes", "--by", "boss", alone(cli)),
        ("forget", "--user", "ann", "--yes", "--json", alone(cli)),
        ("remember", BACK, "--user", "ann"),
        ("forget", "--lift", "--user", "ann", "--json"),
        ("forget", "--lift", "--user", "ann"),
        ("remember", BACK, "--user", "ann"),
        ("receipts", "verify"),
        ("receipts", "list"),
        ("receipts", "show", "1", "--json"),
        ("audit",),
    )
    assert table.code == 0, table.err
    for part in ("vectors:user", "sources", "scopes", "bytes looked through", "asked by boss"):
        assert part in table.out
    assert "receipt 1: a user forgotten, nothing is left" in table.out
    first = shown.json
    assert (first["clean"], first["asked_by"], first["hits"]) == (True, "boss", 0)
    assert (first["removed"]["vectors:user"], first["removed"]["vectors:session"]) == (2, 1)
    assert set(first["left"].values()) == {0}
    assert first["hash"] in table.out
    assert again.json["removed"]["vectors:user"] == 0
    assert again.json["previous"] == first["hash"]
    assert blocked.refused().startswith("Forgotten: this user was forgotten")
    assert lifted.json == {"lifted": 1}
    assert nothing.out.startswith("0 lifted")
    assert back.code == 0
    assert verified.out == "2 receipts, each as it was written\n"
    assert first["hash"][:16] in listed.out
    assert [word for word in ("forget", "lift", "boss") if word not in log.out] == []
    assert hits(cli, "ann") == [BACK]
    assert hits(cli, "bob") == [f"The name is {WORD}"]


def test_a_session_a_file_and_a_memory_are_forgotten_alone(cli: Cli) -> None:
    fill(cli)
    (listed,) = cli.many(("memories", "--user", "ann", "--kind", "fact", "--json"))
    fact = listed.json["memories"][0]["id"]
    session, file, again, memory = cli.many(
        ("forget", "-u", "ann", "-s", "s1", "--yes", "--json", alone(cli)),
        ("forget", "-u", "ann", "--source", "note.md", "--yes", "--json", alone(cli)),
        ("ingest", "note.md", "--user", "ann", "--json"),
        ("forget", "-u", "ann", "--memory", fact, "--yes", "--json", alone(cli)),
    )
    for done, what in ((session, "session"), (file, "source"), (memory, "memory")):
        assert (done.code, done.json["what"], done.json["clean"]) == (0, what, True), done
    assert session.json["removed"]["vectors:session"] == 1
    assert file.json["removed"]["vectors:user"] == memory.json["removed"]["vectors:user"] == 1
    assert again.json["indexed"] == 0
    assert hits(cli, "ann") == []
    (lifted,) = cli.many(("forget", "-u", "ann", "--source", "./note.md", "--lift", "--json"))
    assert lifted.json == {"lifted": 1}
    (back,) = cli.many(("ingest", "note.md", "--user", "ann", "--json"))
    assert back.json["indexed"] == 1
    assert hits(cli, "ann") == [f"# Plan\n\nThe plan is {WORD}."]


def test_global_knowledge_is_forgotten_by_its_source_only(cli: Cli) -> None:
    fill(cli)
    (cli.folder / "all.md").write_text("# All\n\nEverybody may know it.")
    _, done, whole, both, neither = cli.many(
        ("ingest", "all.md"),
        ("forget", "--global", "--source", "all.md", "--yes", "--json", alone(cli)),
        ("forget", "--global", "--yes"),
        ("forget", "--global", "--user", "ann", "--yes"),
        ("forget", "--source", "all.md", "--yes"),
    )
    assert done.json["removed"]["vectors:global"] == 1
    assert whole.refused() == (
        "InvalidInput: name a user, a session, a source or memories to forget"
    )
    for refused in (both, neither):
        assert refused.refused().startswith("InvalidInput: name a user, or --global")


def test_nothing_is_forgotten_without_a_yes(cli: Cli) -> None:
    fill(cli)
    (refused,) = cli.many(("forget", "--user", "ann"))
    assert refused.refused() == (
        "InvalidInput: this cannot be undone and nobody can be asked: add --yes"
    )
    assert asked(cli, "n")[0] == 1
    assert len(hits(cli, "ann")) == 3
    code, shown = asked(cli, "y")
    assert code == 0, shown
    assert hits(cli, "ann") == []


def asked(cli: Cli, answer: str) -> tuple[int, str]:
    """Forget a user at a terminal and answer its question."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*LETOPIS, "forget", "--user", "ann"],
        cwd=cli.folder,
        env=environment(cli.folder, **alone(cli)),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    shown, _ = process.communicate()
    os.close(ours)
    assert "Forget everything of user ann, with all sessions, for good? [y/N]" in shown
    return process.returncode, shown


def test_a_receipt_that_was_changed_is_named(cli: Cli) -> None:
    fill(cli)
    done = cli.many(
        ("forget", "-u", "ann", "-s", "s1", "--yes", alone(cli)),
        ("forget", "-u", "ann", "--yes", alone(cli)),
        ("receipts", "verify", "--json"),
    )
    assert done[-1].json == {"ok": True, "count": 2, "first_bad": None, "reason": ""}
    with sqlite3.connect(cli.folder / "memory" / "catalog.sqlite") as catalog:
        catalog.execute("UPDATE receipts SET body = replace(body, '1', '2') WHERE number = 1")
    catalog.close()
    plain, record = cli.many(("receipts", "verify"), ("receipts", "verify", "--json"))
    assert plain.refused().startswith("receipt 1: ")
    assert (record.code, record.json["ok"], record.json["first_bad"]) == (1, False, 1)


def test_looking_and_forgetting_load_no_model_and_no_prefect(cli: Cli) -> None:
    fill(cli)
    for args in (("audit",), ("receipts", "list"), ("forget", "-u", "ann", "--yes")):
        found = loaded(cli.folder, *args, **alone(cli))
        assert found & {"onnxruntime", "prefect"} == set()


def test_a_source_is_named_by_its_id_or_by_a_path(cli: Cli) -> None:
    there, gone = cli.folder / "there.md", cli.folder / "gone.md"
    there.touch()
    catalog = Catalog(f"sqlite:///{cli.folder / 'catalog.sqlite'}")
    catalog.commit(GLOBAL, [SourceRow("plain", "x", 1), SourceRow(str(gone), "x", 1)])
    bad = str(cli.folder / "bad.pdf")
    catalog.bury([DeadLetter(GLOBAL, bad, "", "broken")])
    names = {
        "plain": "plain",
        "unknown": "unknown",
        str(there): str(there),
        os.path.relpath(there): str(there),
        os.path.relpath(gone): str(gone),
        os.path.relpath(bad): bad,
        "https://example.org/a": "https://example.org/a",
    }
    assert source_ids(catalog, GLOBAL, list(names)) == list(names.values())
    catalog.close()
