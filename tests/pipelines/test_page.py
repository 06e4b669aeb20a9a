"""What a run shows: its page, the keys of pages, and errors that quote nothing."""

import re
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.catalog_rows import DeadLetter
from indexing.errors import StoreLocked
from indexing.types import GLOBAL, user_scope
from pipelines.counts import counts_of
from pipelines.errors import StepFailed, fit_to_store
from pipelines.page import MOST_SHOWN, Page, key_of, strike


def test_a_page_has_counts_times_dead_letters_and_failures() -> None:
    page = Page("ingest documents: notes", {"new": 3, "removed": 0}, seconds={"index": 1.25})
    page.dead = [DeadLetter(GLOBAL, "/d/a|b.md", "line 3", "id: <b>empty</b>\nsecond", 2)]
    page.failed["c.md"] = "KeyError in parse.py:7"
    lines = page.markdown().splitlines()
    assert lines[0] == "# ingest documents: notes"
    for line in (
        "| new | 3 |",
        "| index | 1.2 |",
        r"| /d/a\|b.md | line 3 | id: \<b\>empty\</b\> second | global | 2 |",
        "- c.md: KeyError in parse.py:7",
    ):
        assert line in lines


def test_a_page_of_very_many_dead_letters_says_how_many_more() -> None:
    dead = [DeadLetter(GLOBAL, f"{n}.md", "", "empty") for n in range(MOST_SHOWN + 7)]
    assert "and 7 more: `letopis dead-letters list`" in Page("x", dead=dead).markdown()
    assert "more:" not in Page("x", dead=dead[:MOST_SHOWN]).markdown()


CELL = st.text("ab|\\\\*`<# :_é\n", max_size=8)
ROWS = st.lists(st.tuples(CELL, CELL, st.sampled_from("uv")), min_size=1, max_size=5)


@given(ROWS, st.data())
def test_exactly_the_lines_on_what_is_named_are_struck(
    rows: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    def page(*rows: tuple[str, str, str]) -> list[str]:
        dead = [DeadLetter(user_scope(row[2]), row[0], row[1], "a|b: \\| c") for row in rows]
        return Page("x", {"new": 3}, dead, {"index": 1.25}).markdown().split("\n")

    row = data.draw(st.sampled_from(rows))
    cells = tuple(" ".join(cell.split()) for cell in (*row[:2], f"user:{row[2]}"))
    struck = strike("\n".join(page(*rows)), lambda *named: named == cells)
    line = page(row)[-2]
    assert struck.split("\n") == [other for other in page(*rows) if other != line]


def test_a_step_that_failed_is_struck_by_its_place() -> None:
    page = Page("x", failed={"a: b.md": "KeyError in parse.py: 7", "c.md": "a: b.md is locked"})
    struck = strike(page.markdown(), lambda where, *_: where == "a: b.md")
    assert "KeyError" not in struck
    assert "- c.md: a: b.md is locked" in struck


def test_time_spent_twice_in_a_step_adds_up() -> None:
    page = Page("x", seconds={"index": 100.0})
    with page.timed("index"):
        pass
    assert page.seconds["index"] >= 100.0


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_a_key_is_plain_and_one_a_name(first: str, second: str) -> None:
    one, other = key_of("expire", first), key_of("expire", second)
    assert re.fullmatch(r"[a-z0-9-]+", one)
    assert (one == other) == (first == second)


def test_named_errors_keep_their_words_and_lose_their_cause() -> None:
    with pytest.raises(StoreLocked, match="held by 7") as caught, fit_to_store():
        raise StoreLocked("held by 7") from ValueError("secret text")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_unnamed_error_keeps_only_its_type_and_place() -> None:
    with pytest.raises(StepFailed) as caught, fit_to_store():
        raise KeyError("secret text")
    assert re.fullmatch(r"KeyError in test_page\.py:\d+", str(caught.value))
    assert caught.value.__suppress_context__


def test_the_counts_of_a_report() -> None:
    @dataclass
    class Some:
        seen: int = 4
        dead: list[str] = field(default_factory=lambda: ["a", "b"])
        removed: dict[str, int] = field(default_factory=lambda: {"user": 2})
        changes: dict[str, tuple[str, str]] = field(default_factory=lambda: {"model": ("a", "b")})

    assert counts_of(Some()) == {"seen": 4, "dead": 2, "removed user": 2, "changes": 1}
