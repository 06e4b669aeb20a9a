"""`letopis dedup`: what would be merged is shown, then merged, and nobody else's."""

from tests.letopis.conftest import Cli

LATER = {"LETOPIS_DEDUP__AT_WRITE": "false"}
ONE, TWO = "Anna is allergic to peanuts", "By the way, Anna is allergic to peanuts"


def test_a_dry_run_shows_what_is_merged_and_a_second_run_finds_nothing(cli: Cli) -> None:
    told = [("remember", t, "-u", u, LATER) for u in ("ann", "bob") for t in (ONE, TWO)]
    *_, dry, table, done, again, status = cli.many(
        *told,
        ("dedup", "--user", "ann", "--dry-run", "--json"),
        ("dedup", "--user", "ann", "--dry-run"),
        ("dedup", "--user", "ann", "--json"),
        ("dedup", "--user", "ann"),
        ("status", "--json"),
    )
    assert {d.code for d in (dry, table, done, again)} == {0}
    assert dry.json == done.json
    (pair,) = done.json["pairs"]
    assert (done.json["compared"], done.json["merged"], pair["scope"]) == (2, 1, "user:ann")
    assert (pair["kept"]["text"], pair["merged"]["text"]) == (ONE, TWO)
    assert (pair["kind"], pair["reason"]) == ("fact", "the same in other words")
    assert 0.9 <= pair["score"] <= 1
    for word in (
        "kept",
        "merged",
        "source",
        "peanuts",
        "the same in other",
        f"{pair['score']:.3f}",
    ):
        assert word in table.out
    assert table.err == "2 memories compared, 1 would be merged\n"
    assert (again.out, again.err) == ("", "0 memories compared, 0 merged\n")
    assert status.json["sources"]["user"]["sources"] == 4


def test_sessions_go_with_their_user_and_everybody_without_one(cli: Cli) -> None:
    owners = (("-u", "ann", "-s", "s"), ("-u", "bob"))
    told = [("remember", t, *who, LATER) for who in owners for t in (ONE, TWO)]
    *_, other, own, everybody, nobody = cli.many(
        *told,
        ("dedup", "--user", "ann", "--session", "t", "--json"),
        ("dedup", "--user", "ann", "--json", "--dry-run"),
        ("dedup", "--json"),
        ("dedup", "--session", "s"),
    )
    assert other.json == {"compared": 0, "merged": 0, "pairs": []}
    assert [pair["scope"] for pair in own.json["pairs"]] == ["session:ann/s"]
    assert {pair["scope"] for pair in everybody.json["pairs"]} == {"session:ann/s", "user:bob"}
    assert nobody.refused() == "InvalidInput: a session belongs to a user: name the user too"
