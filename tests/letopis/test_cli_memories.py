"""`letopis memories`: what is remembered is listed in pages, corrected, pinned, deleted."""

from typing import Any

from indexing.needles import text_needle
from indexing.scan import scan
from tests.letopis.conftest import Cli

HOME = ("--subject", "user.home")
CODE = "5f0e7731c2d94ab8"
BERLIN = {"LETOPIS_INGEST__TIMEZONE": "Europe/Berlin"}


def alone(cli: Cli) -> dict[str, str]:
    """Return an environment in which no records of flow runs of others are looked at."""
    return {"PREFECT_HOME": str(cli.folder / "prefect")}


def told(*rest: str, user: str = "ann") -> tuple[str, ...]:
    return ("remember", *rest, "--user", user, "--json")


def test_memories_are_listed_in_pages_with_kind_time_source_and_expiry(cli: Cli) -> None:
    (cli.folder / "note.md").write_text("# Tea\n\nThe tea is in the blue box.")
    end = ("--expires", "2999-01-01T12:00Z")
    *made, _, table, first, second, own, facts, bob = cli.many(
        told("My tea is green", *end),
        told("I live in Perm", *HOME, "--at", "2026-01-05T10:00+03:00"),
        told("First press the red button", "--kind", "procedure"),
        told("My cup is red", "--session", "a b"),
        told("The number of Bob", user="bob"),
        ("ingest", "note.md", "--user", "ann"),
        ("memories", "--user", "ann", "--all-sessions"),
        ("memories", "--user", "ann", "--limit", "3", "--json"),
        ("memories", "--user", "ann", "--all-sessions", "--limit", "3"),
        ("memories", "--user", "ann", "--session", "a b", "--json"),
        ("memories", "--user", "ann", "--kind", "fact", "--kind", "procedure", "--json"),
        ("memories", "--user", "bob", "--json"),
    )
    assert {done.code for done in made} == {table.code} == {0}
    assert table.err == "5 of 5 memories\n"
    cells = " ".join(table.out.split())
    for word in ("My tea is green", "2999-01-01", "user.home", "2026-01-05", "procedure"):
        assert word in cells
    for word in ("note.md § Tea", "told", "session:ann", made[0].json["id"]):
        assert word in cells
    assert "Bob" not in table.out
    page = first.json
    assert (page["total"], len(page["memories"])) == (4, 3)
    assert page["after"] == page["memories"][-1]["id"]
    assert second.err == f"3 of 5 memories; go on with: --after {page['after']}\n"
    assert [m["text"] for m in own.json["memories"]] == ["My cup is red"]
    assert (own.json["total"], own.json["after"]) == (1, None)
    assert sorted(m["kind"] for m in facts.json["memories"]) == ["fact", "fact", "procedure"]
    assert [m["text"] for m in bob.json["memories"]] == ["The number of Bob"]
    (last,) = cli.many(
        ("memories", "-u", "ann", "--all-sessions", "--after", page["after"], "--json")
    )
    shown = [memory["id"] for memory in page["memories"] + last.json["memories"]]
    assert len(set(shown)) == len(shown) == 5
    assert last.json["memories"][-1]["scope"] == "session:ann/a b"


def test_what_was_superseded_is_history_and_answers_for_its_time(cli: Cli) -> None:
    *_, now, both, line, table, answer, then = cli.many(
        told("I live in Perm", *HOME, "--at", "2026-01-05T10:00", BERLIN),
        told("I live in Kazan", *HOME, "--at", "2026-03-05T10:00+01:00"),
        ("memories", "--user", "ann", "--json"),
        ("memories", "--user", "ann", "--history", "--json"),
        ("memories", "history", "user.home", "--user", "ann", "--json"),
        ("memories", "--user", "ann", "history", "user.home"),
        ("retrieve", "where do I live?", "--user", "ann", "--json"),
        (
            "retrieve",
            "where do I live?",
            "--user",
            "ann",
            "--as-of",
            "2026-02-01",
            "--json",
            BERLIN,
        ),
    )
    assert [m["text"] for m in now.json["memories"]] == ["I live in Kazan"]
    assert both.json["total"] == 2
    perm, kazan = line.json
    assert (perm["text"], perm["valid_from"]) == ("I live in Perm", "2026-01-05T09:00:00+00:00")
    assert perm["valid_to"] == kazan["valid_from"] == "2026-03-05T09:00:00+00:00"
    assert (perm["superseded_by"], kazan["superseded_by"]) == (kazan["id"], None)
    assert " ".join(table.out.split()).find("held until") > 0
    assert [hit["text"] for hit in answer.json["hits"]] == ["I live in Kazan"]
    assert [hit["text"] for hit in then.json["hits"]] == ["I live in Perm"]


def test_a_memory_is_corrected_pinned_and_deleted_and_each_is_an_event(cli: Cli) -> None:
    (made,) = cli.many(told(f"The code of the vault is {CODE}"))
    old = made.json["id"]
    (done,) = cli.many(
        ("memories", "edit", old, "The code of the vault is secret", "-u", "ann", "--by", "boss")
    )
    assert done.out.startswith("corrected ")
    assert done.out.endswith(" in user:ann\n")
    new = done.out.split()[1]
    assert scan(cli.folder / "memory", [text_needle(CODE)]).hits == ()
    pinned, table, free, refused, gone, again, log, other, receipts = cli.many(
        ("memories", "pin", new, "--user", "ann", "--json"),
        ("memories", "--user", "ann"),
        ("memories", "--user", "ann", "unpin", new, "--json"),
        ("memories", "delete", new, "--user", "ann"),
        ("memories", "delete", new, "--user", "ann", "--yes", "--by", "boss", alone(cli)),
        ("memories", "delete", new, "--user", "ann", "--yes"),
        ("audit", "--user", "ann", "--json"),
        ("audit", "--user", "bob", "--json"),
        ("receipts", "list", "--json"),
    )
    assert (pinned.json["pinned"], free.json["pinned"]) == (True, False)
    assert "pinned" in table.out
    assert refused.refused().endswith("nobody can be asked: add --yes")
    assert gone.code == 0
    assert "a memory forgotten, nothing is left" in gone.out
    assert again.refused() == f"UnknownMemory: user:ann has no memory {new}"
    actions = [(event["action"], event["actor"]) for event in log.json]
    assert actions[:2] == [("delete", "boss"), ("forget", "boss")]
    assert [action for action, _ in actions[2:]] == ["unpin", "pin", "edit"]
    assert (log.json[0]["receipt"], other.json) == (1, [])
    (receipt,) = receipts.json
    assert (receipt["what"], receipt["removed"]["vectors:user"]) == ("memory", 1)
    everything = log.out + receipts.out
    assert not [word for word in ("vault", '"ann"', new) if word in everything]


def test_what_names_nothing_is_refused_by_name(cli: Cli) -> None:
    unknown = "00000000-0000-5000-8000-000000000000"
    answers: dict[tuple[Any, ...], str] = {
        ("memories", "--user", "*"): "InvalidId: user id '*' is a wildcard",
        ("memories", "-u", "ann", "--limit", "0"): "InvalidInput: a page holds 1 to 10000",
        ("memories", "-u", "ann", "--after", "x"): "InvalidInput: a memory id is a lower-case",
        ("memories", "-u", "ann", "--kind", "x"): "InvalidInput: kind 'x' is none of document,",
        ("memories", "pin", unknown, "-u", "ann"): "UnknownMemory: user:ann has no memory 0000",
        ("memories", "unpin", "x", "-u", "ann"): "InvalidInput: a memory id is a lower-case UUID",
        (
            "memories",
            "edit",
            unknown,
            "new",
            "-u",
            "ann",
            "-s",
            "m",
        ): "UnknownMemory: session:ann/m",
        (
            "memories",
            "edit",
            unknown,
            "",
            "-u",
            "ann",
        ): "InvalidInput: there is nothing to remember",
        ("memories", "delete", unknown, "-u", ""): "InvalidId: user id is empty",
        ("remember", "x", "-u", "ann", "--at", "now"): "InvalidInput: --at 'now' is no time",
        ("remember", "x", "-u", "ann", "--kind", "x"): "InvalidInput: kind 'x' is none of",
        (*told("x", *HOME), "--kind", "procedure"): "InvalidInput: only a fact has a subject",
        ("retrieve", "x", "--as-of", "2026-01-01"): "InvalidInput: --as-of '2026-01-01' has no",
        ("audit", "--session", "s"): "InvalidInput: a session belongs to a user",
        ("audit", "--limit", "0"): "InvalidInput: a page of 0 events",
        ("receipts", "show", "7"): "InvalidInput: there is no receipt 7",
    }
    for done, (args, expected) in zip(cli.many(*answers), answers.items(), strict=True):
        assert done.refused().startswith(expected), args
    wrong = cli.many(("memories",), ("memories", "pin", unknown), ("receipts", "show", "x"))
    for done in wrong:
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("Usage: letopis ")


def test_tags_are_given_shown_and_refused(cli: Cli) -> None:
    (cli.folder / "note.md").write_text("---\ntags: [Own]\n---\n\n# Tea\n\nThe tea is blue.")
    (cli.folder / "letopis.toml").write_text(
        '[[sources]]\nname = "notes"\npath = "note.md"\nuser = "bob"\ntags = ["Filed"]\n'
    )
    fact, note, table, listed, synced, bobs, bad = cli.many(
        told("My tea is green", "--tag", "Чай ", "--tag", "q3"),
        ("ingest", "note.md", "--user", "ann", "--tag", "house"),
        ("memories", "--user", "ann"),
        ("memories", "--user", "ann", "--kind", "document", "--json"),
        ("sync", "notes"),
        ("memories", "--user", "bob", "--json"),
        ("remember", "My cup is red", "--user", "ann", "--tag", "x" * 65),
    )
    assert fact.json["tags"] == ["q3", "чай"]
    assert {done.code for done in (note, synced)} == {0}
    assert "#q3 #чай" in " ".join(table.out.split())
    assert {tuple(m["tags"]) for m in listed.json["memories"]} == {("house", "own")}
    assert {tuple(m["tags"]) for m in bobs.json["memories"]} == {("filed", "own")}
    assert bad.code == 1
    assert bad.err == "InvalidInput: a tag has 1 to 64 characters, not 65\n"
