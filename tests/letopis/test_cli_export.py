"""`letopis export` and `letopis import`, as a user runs them."""

import json

from tests.letopis.conftest import Cli
from tests.letopis.test_cli_loading import MODEL, loaded

OTHER = {"LETOPIS_DATA_DIR": "other"}


def test_out_of_one_memory_into_another_and_out_again(cli: Cli) -> None:
    done = cli.many(
        ("remember", "Я живу в Твери", "--user", "ann"),
        ("remember", "Я живу в Казани", "--user", "ann"),
        ("remember", "the code is 4471", "--user", "ann", "--session", "mon"),
        ("export", "--user", "ann", "--out", "ann.jsonl"),
        ("export", "--user", "ann", "--out", "ann.jsonl"),
        ("import", "ann.jsonl", "--user", "ann", "--dry-run", "--json", OTHER),
        ("import", "ann.jsonl", "--user", "ann", "--json", OTHER),
        ("import", "ann.jsonl", "--user", "ann", OTHER),
        ("export", "--user", "ann", OTHER),
        ("import", "ann.jsonl", "--user", "bob", "--json", OTHER),
    )
    *_, out, twice, dry, first, again, printed, copied = done
    assert (out.code, out.err) == (0, "3 memories of the user exported\n")
    assert (cli.folder / "ann.jsonl").stat().st_mode & 0o777 == 0o600
    assert twice.refused().startswith("InvalidInput: ann.jsonl is there already")
    assert (dry.json["new"], dry.json["dry_run"]) == (3, True)
    assert first.json == {**dry.json, "dry_run": False, "embedded": 3}
    assert "unchanged │ 3" in again.out
    text = (cli.folder / "ann.jsonl").read_text()
    assert printed.out.splitlines()[1:] == text.splitlines()[1:]
    assert copied.json["new"] == 3


def test_an_export_loads_no_model_and_makes_no_store(cli: Cli) -> None:
    found = loaded(cli.folder, "export", "--user", "ann")
    assert found & (MODEL | {"onnx", "prefect", "httpx"}) == set()
    done = cli("export", "--user", "ann")
    (head,) = done.out.splitlines()
    assert (done.code, json.loads(head)["memories"]) == (0, 0)
    assert not (cli.folder / "memory" / "store" / "user").exists()


def test_what_is_not_imported_is_listed_and_ends_with_2(cli: Cli) -> None:
    items = [
        {"id": "a", "memory": "likes tea", "user_id": "ann", "run_id": "mon"},
        {"id": "b", "memory": "likes gin", "user_id": "bob"},
    ]
    (cli.folder / "mem0.json").write_text(json.dumps({"results": items, "relations": [{}]}))
    (cli.folder / "note.txt").write_text("hello")
    table, again, runs, missing, wrong, blank = cli.many(
        ("import", "mem0.json", "--user", "ann"),
        ("import", "mem0.json", "--user", "ann", "--json"),
        ("import", "mem0.json", "--user", "ann", "--by-run", "--json"),
        ("import", "nothing.json", "--user", "ann"),
        ("import", "note.txt", "--user", "ann"),
        ("import", "mem0.json", "--user", " "),
    )
    assert table.code == again.code == runs.code == 2
    assert "item 2" in table.err
    assert "gin" not in table.out + table.err
    assert "relations 1" in table.out
    assert (again.json["unchanged"], again.json["new"]) == (1, 0)
    assert [one["place"] for one in again.json["refused"]] == ["item 2"]
    assert again.json["left_out"] == {"relations": 1}
    assert runs.json["new"] == 1
    assert missing.refused() == "InvalidInput: nothing.json: No such file or directory"
    assert wrong.refused().startswith("InvalidInput: not JSON")
    assert blank.refused().startswith("InvalidId: ")
