import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import InvalidId, InvalidInput
from indexing.mentions import mention_of
from indexing.payload import from_payload, to_payload
from indexing.portable import check, dump, header_of, lines_of, load, sniff, sniff_file
from indexing.portable.record import MEMORY_FIELDS, PLACE_FIELDS
from indexing.types import GLOBAL, Memory, Mention, session_scope, user_scope

EXPORTED = datetime(2026, 3, 2, 8, tzinfo=UTC)
GUIDE = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
EXAMPLE = re.findall(r"```jsonl\n(.*?)```", GUIDE, re.DOTALL)[0]
LINES = EXAMPLE.splitlines(keepends=True)

MADE_ANEW = {"terms", "lang", "embed_hash"}


def export(memories: list[Memory], user_id: str = "anna") -> str:
    return "".join(dump(memories, header_of(user_id, memories, EXPORTED)))


def lines(text: str) -> list[str]:
    return re.findall(r".*\n|.+", text)


def memory(number: int, **given: Any) -> Memory:
    made = Memory(
        id=str(UUID(int=number)),
        scope=user_scope("anna"),
        kind="fact",
        text="Анна живёт в Твери",
        source_id="notes.md",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return replace(made, **given)


# The guide


def test_the_example_of_the_guide_is_what_dump_writes() -> None:
    memories = list(load(LINES))
    assert export(memories) == EXAMPLE
    assert check(LINES) == header_of("anna", memories, EXPORTED)
    assert sniff(EXAMPLE) == "letopis"


def test_the_example_says_what_the_guide_says() -> None:
    turn, old, new = load(LINES)
    assert turn.scope == session_scope("anna", "s-17")
    assert turn.at == datetime(2026, 3, 1, 21, 14, 5, tzinfo=timezone(timedelta(hours=3)))
    assert turn.at.utcoffset() == timedelta(hours=3)
    assert (old.superseded_by, old.valid_to) == (new.id, new.valid_from)
    assert (old.headings, new.pinned) == (("Home",), True)
    assert new.sources == ("chat/feb.jsonl", "letter.eml")
    assert new.also[0].text == "i moved to kazan!"


def test_every_field_is_in_the_guide() -> None:
    table = GUIDE.split("**Memory.**")[1].split("Not in the file")[0]
    assert [name for name in MEMORY_FIELDS if f"`{name}`" not in table] == []


def test_every_field_of_a_memory_is_in_the_file_or_is_made_anew() -> None:
    ours = {field.name for field in fields(Memory)} - {"scope"} | {"collection", "session_id"}
    assert set(MEMORY_FIELDS) == ours - MADE_ANEW
    assert set(PLACE_FIELDS) == {field.name for field in fields(Mention)} - MADE_ANEW


# Round trips

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
said = words.filter(str.strip)
offsets = st.integers(-86399, 86399).map(lambda s: timezone(timedelta(seconds=s)))
times = st.datetimes(datetime(1900, 1, 2), datetime(2999, 12, 30), timezones=st.just(UTC) | offsets)
numbers = st.integers(0, 2**53 - 1)
places: dict[str, st.SearchStrategy[Any]] = {
    "text": said,
    "source_id": said,
    **dict.fromkeys(("uri", "title", "speaker", "role", "before"), words),
    **dict.fromkeys(("conversation_id", "turn_id"), words),
    "headings": st.lists(words, max_size=3).map(tuple),
    **dict.fromkeys(("page", "ordinal", "start"), numbers),
    "end": st.just(2**53 - 1),
    **dict.fromkeys(("at", "created_at", "expires_at"), st.none() | times),
}
mentions = st.builds(Mention, **places)
ids = st.uuids().map(str)
held = st.tuples(st.none() | times, st.none() | times).filter(
    lambda pair: not all(pair) or pair[0] <= pair[1]
)
scopes = st.just(user_scope("u")) | said.filter(lambda s: not re.fullmatch(r"[*%?\s]+", s)).map(
    lambda name: session_scope("u", name)
)
kinds = st.sampled_from(["document", "turn", "digest", "fact", "tool_result", "procedure"])


@st.composite
def any_memories(draw: st.DrawFn) -> list[Memory]:
    made = []
    for name in draw(st.lists(ids, max_size=5, unique=True)):
        since, until = draw(held)
        one = Memory(
            id=name,
            scope=draw(scopes),
            kind=draw(kinds),
            **{field: draw(strategy) for field, strategy in places.items()},
            key=draw(words),
            also=tuple(draw(st.lists(mentions, max_size=2))),
            subject=draw(words),
            value=draw(words),
            closes=draw(st.booleans()),
            valid_from=since,
            valid_to=until,
            superseded_by=draw(st.just("") | ids.filter(lambda other, own=name: other != own)),
            pinned=draw(st.booleans()),
        )
        made.append(one)
    return made


@given(any_memories())
def test_what_is_dumped_is_loaded_and_dumped_again_to_the_same_byte(made: list[Memory]) -> None:
    text = export(made, "u")
    assert len(text.splitlines()) == len(made) + 1
    read = list(load(lines(text)))
    assert sorted(read, key=lambda m: m.id) == sorted(made, key=lambda m: m.id)
    assert [offsets_of(m) for m in read] == [
        offsets_of(m) for r in read for m in made if m.id == r.id
    ]
    assert export(read[::-1], "u") == text


def offsets_of(made: Memory) -> list[Any]:
    return [
        moment.utcoffset() if isinstance(moment, datetime) else moment
        for place in (made, *made.also)
        for moment in (place.at, place.created_at, place.expires_at)
    ]


def test_what_the_recipe_makes_of_a_text_stays_behind() -> None:
    place = replace(mention_of(memory(1)), embed_hash="cd", source_id="letter.eml")
    made = memory(1, terms="анн жив твер", lang="ru", embed_hash="ab", also=(place,))
    (read,) = load(lines(export([made])))
    assert (read.terms, read.lang, read.embed_hash, read.also[0].embed_hash) == ("", "", "", "")


def test_what_a_store_gives_back_makes_the_same_file() -> None:
    made = list(load(LINES))
    stored = [from_payload(m.scope.collection, m.id, to_payload(m)) for m in made]
    assert export(stored) == EXAMPLE


def test_memories_are_in_the_order_of_scope_time_and_id() -> None:
    later = datetime(2026, 1, 1, 5, tzinfo=timezone(timedelta(hours=3)))
    made = [
        memory(3),
        memory(2),
        memory(9, created_at=None),
        memory(1, created_at=later),
        memory(8, scope=session_scope("anna", "b")),
        memory(7, scope=session_scope("anna", "a"), created_at=later),
    ]
    order = [UUID(m.id).int for m in load(lines(export(made)))]
    assert order == [7, 8, 9, 2, 3, 1]


def test_what_some_take_for_a_line_end_stays_within_its_line() -> None:
    text = "раз\u2028два\u2029три\x85четыре\r\nпять"
    written = export([memory(1, text=text)])
    assert len(written.splitlines()) == 2
    assert next(load(lines(written))).text == text


def test_an_export_of_nothing_is_a_header() -> None:
    written = export([])
    assert json.loads(written) == {
        "format": "letopis-memories",
        "version": 1,
        "user_id": "anna",
        "exported_at": "2026-03-02T08:00:00+00:00",
        "memories": 0,
        "scopes": [],
    }
    assert list(load(lines(written))) == []


def test_a_file_becomes_another_users() -> None:
    assert "anna" not in "".join(LINES[1:])
    read = list(load(LINES, user_id="boris"))
    assert {m.scope.user_id for m in read} == {"boris"}
    assert [m.id for m in read] == [m.id for m in load(LINES)]


# What is not exported


@pytest.mark.parametrize("scope", [GLOBAL, user_scope("Anna"), session_scope("boris", "s")])
def test_a_memory_of_somebody_else_is_never_exported(scope: Any) -> None:
    with pytest.raises(InvalidInput, match="not one of the user's"):
        export([memory(1), memory(2, scope=scope)])


def test_a_header_of_other_memories_is_refused() -> None:
    header = header_of("anna", [memory(1)], EXPORTED)
    with pytest.raises(InvalidInput, match="does not count"):
        list(dump([memory(1), memory(2)], header))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"text": "Тверь \ud800"}, "lone surrogate"),
        ({"at": datetime(2026, 1, 1)}, "at: the time has no time zone"),
        ({"kind": "rumour"}, "kind:"),
        ({"id": "7"}, "id: not a lower-case UUID"),
    ],
)
def test_what_could_not_be_loaded_is_not_dumped(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as caught:
        export([memory(1, **wrong)])
    assert "Тверь" not in str(caught.value)


def test_an_id_is_dumped_once() -> None:
    with pytest.raises(InvalidInput, match="earlier memory"):
        export([memory(1), memory(1, text="Другое")])


# What is not imported


def changed(number: int, **given: Any) -> list[str]:
    """The example with fields of a line changed; None takes a field away."""
    made = {**json.loads(LINES[number - 1]), **given}
    kept = {name: value for name, value in made.items() if value is not None}
    return [*LINES[: number - 1], json.dumps(kept) + "\n", *LINES[number:]]


def also(**given: Any) -> list[str]:
    return changed(4, also=[{"text": "x", "source_id": "s", **given}])


FIRST = json.loads(LINES[1])["id"]

REFUSED: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "line 1: not JSON"),
    "another file": (['{"id": "1", "text": "x"}\n'], "line 1: not an export of memories"),
    "a list": (["[]\n"], "line 1: not an export of memories"),
    "another format": (changed(1, format="letters"), "line 1: not an export of memories"),
    "a later version": (changed(1, version=3), "line 1: not version 1"),
    "a version of words": (changed(1, version="1"), "line 1: not version 1"),
    "no user": (changed(1, user_id=None), "line 1: user_id: missing"),
    "an empty user": (changed(1, user_id=" "), "line 1: user_id: the id is empty"),
    "every user": (changed(1, user_id="*"), "line 1: user_id: .* wildcard"),
    "a naive export": (changed(1, exported_at="2026-03-02T08:00:00"), "line 1: exported_at:"),
    "sums": (changed(1, memories=4), "line 1: .*do not add up"),
    "a scope twice": (
        changed(1, memories=2, scopes=[{"collection": "user", "memories": 1}] * 2),
        "line 1: .*counted twice",
    ),
    "a user's session": (
        changed(1, scopes=[{"collection": "user", "session_id": "s", "memories": 3}]),
        "line 1: .*only a session",
    ),
    "a field of the header": (changed(1, owner="anna"), "line 1: owner: Extra"),
    "cut between lines": (LINES[:2], "cut short: 2 of the 3 memories"),
    "cut within a line": ([*LINES[:3], LINES[3][:200]], "line 4: not JSON"),
    "a line too many": (
        [*LINES, *changed(4, id="b8f1e2d3-4c5a-5e6f-9b70-000000000000")[3:]],
        "line 5: more memories of this scope",
    ),
    "a scope that is not counted": (
        changed(2, session_id="s-18"),
        "line 2: more memories of this scope",
    ),
    "a blank line": ([*LINES[:2], "\n", *LINES[2:]], "line 3: not JSON"),
    "an id twice": (changed(3, id=FIRST), "line 3: id: there is an earlier memory"),
    "no uuid": (changed(3, id="memory-3"), "line 3: id: not a lower-case UUID"),
    "an upper-case uuid": (changed(3, id=FIRST.upper()), "line 3: id: not a lower-case UUID"),
    "no successor": (changed(3, superseded_by="later"), "line 3: superseded_by: not a"),
    "its own successor": (changed(3, superseded_by=json.loads(LINES[2])["id"]), "line 3: .*itself"),
    "an unknown kind": (changed(3, kind="rumour"), "line 3: kind: Input should be 'document'"),
    "no text": (changed(3, text=None), "line 3: text: missing"),
    "a blank text": (changed(3, text=" \n"), "line 3: text: empty"),
    "a text of numbers": (changed(3, text=5), "line 3: text: Input should be a valid string"),
    "an unknown field": (changed(3, vector="AAAA"), "line 3: vector: Extra"),
    "a truth of words": (changed(3, pinned="true"), "line 3: pinned: "),
    "a number of words": (changed(3, start="40"), "line 3: start: "),
    "a negative number": (changed(3, page=-1), "line 3: page: "),
    "a backward span": (changed(3, start=60), "line 3: .*end is before start"),
    "a naive time": (changed(3, at="2024-05-17T09:30:00"), "line 3: at: .* no time zone"),
    "a date": (changed(3, at="2024-05-17"), "line 3: at: not a time"),
    "no time": (changed(3, at="yesterday, T"), "line 3: at: not a time"),
    "seconds": (changed(3, at=1715927400), "line 3: at: not a time"),
    "before all times": (changed(3, at="0001-01-01T00:00:00+03:00"), "line 3: at: .*range"),
    "held backward": (changed(3, valid_to="2020-01-01T00:00:00Z"), "line 3: .*before valid_from"),
    "the global scope": (changed(3, collection="global"), "line 3: collection: "),
    "a session of no name": (changed(2, session_id=None), "line 2: .*has a session_id"),
    "a place of no source": (also(source_id=""), r"line 4: also\.0\.source_id: empty"),
    "a naive place": (also(at="2026-01-01T00:00:00"), r"line 4: also\.0\.at: .*zone"),
    "a pinned place": (also(pinned=True), r"line 4: also\.0\.pinned: Extra"),
    "a lone surrogate": (changed(3, title="\udc00"), "line 3: not valid Unicode"),
    "not a number": (changed(3, page=float("nan")), "line 3: a number is NaN"),
    "infinity": (
        [*LINES[:2], LINES[2].replace('"start": 40', '"start": 1e999'), LINES[3]],
        "line 3: a number is NaN or infinite",
    ),
    "a field twice": (
        [*LINES[:2], LINES[2].replace('"kind"', '"text": "x", "kind"'), LINES[3]],
        "line 3: an object names one field twice",
    ),
    "digits": ([*LINES[:2], '{"page": ' + "9" * 5000 + "}\n"], "line 3: not JSON: .*digits"),
    "depth": ([*LINES[:2], "[" * 100_000 + "\n"], "line 3: not JSON: nested too deep"),
    "an array": ([*LINES[:2], "[]\n"], "line 3: line: not a JSON object"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("read", [check, lambda lines: list(load(lines))])
def test_a_wrong_file_is_refused_with_line_and_reason(
    name: str, read: Callable[[list[str]], object]
) -> None:
    given, reason = REFUSED[name]
    with pytest.raises(InvalidInput, match=f"^{reason}") as caught:
        read(given)
    assert not re.search("Tver|Kazan|yesterday|rumour", str(caught.value))


def test_a_bad_user_to_import_for_is_refused() -> None:
    with pytest.raises(InvalidId, match="wildcard"):
        list(load(LINES, user_id="*"))


@given(st.integers(0, len(EXAMPLE) - 2), st.characters(exclude_categories=["Cs"]))
def test_a_damaged_file_is_refused_by_name_or_read(position: int, instead: str) -> None:
    damaged = EXAMPLE[:position] + instead + EXAMPLE[position + 1 :]
    said = ""
    try:
        said = f"{len(list(load(lines(damaged))))} memories"
    except InvalidInput as error:
        said = str(error)
    assert re.match(r"line \d|cut short|3 memories", said)


# Files


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "anna.jsonl"
    file.write_bytes(EXAMPLE.encode())
    assert list(lines_of(file)) == LINES
    file.write_bytes("\ufeff".encode() + EXAMPLE.replace("\n", "\r\n").encode())
    assert list(load(lines_of(file))) == list(load(LINES))
    assert sniff_file(file) == "letopis"


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "anna.jsonl"
    file.write_bytes(LINES[0].encode() + "Тверь\n".encode("cp1251"))
    with pytest.raises(InvalidInput, match="line 2: not UTF-8"):
        check(lines_of(file))
    with pytest.raises(InvalidInput, match=r"boris\.jsonl: No such file"):
        check(lines_of(tmp_path / "boris.jsonl"))
