import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import ConfigError, InvalidId, InvalidInput, SourceError
from indexing.portable import (
    Foreign,
    Refused,
    read_foreign,
    read_foreign_file,
    sniff,
    sniff_file,
)
from indexing.portable.rendering import text_of

MEM0_LIBRARY = {
    "results": [
        {
            "id": "3b0e8f1c-6a52-4c69-9d5a-0f6c2f1f8a01",
            "memory": "Анна живёт в Казани",
            "hash": "1d3b6f",
            "created_at": "2024-05-17T02:30:00.120045-07:00",
            "updated_at": "2026-02-20T13:00:00+03:00",
            "user_id": "anna",
            "agent_id": "concierge",
            "run_id": "s-17",
            "role": "user",
            "metadata": {"source": "chat"},
        },
        {
            "id": "3b0e8f1c-6a52-4c69-9d5a-0f6c2f1f8a02",
            "memory": "Takes the 7:40 train on weekdays",
            "hash": "77aa01",
            "created_at": "2026-01-05T08:00:00Z",
            "updated_at": None,
            "user_id": "anna",
            "expiration_date": "2026-06-30",
        },
    ],
    "relations": [
        {"source": "anna", "relationship": "lives_in", "target": "kazan"},
        {"source": "anna", "relationship": "takes", "target": "train"},
    ],
}

MEM0_PLATFORM = {
    "count": 3,
    "next": "https://api.example.org/v2/memories/?page=2",
    "previous": None,
    "results": [
        {
            "id": "a1",
            "memory": "Prefers tea to coffee",
            "user_id": "anna",
            "metadata": None,
            "categories": ["food", "preferences"],
            "created_at": "2026-01-05T08:00:00Z",
            "updated_at": "2026-01-06T08:00:00Z",
            "expiration_date": None,
            "immutable": False,
            "structured_attributes": {"day": 5, "month": 1},
            "entities": [{"id": "e1", "name": "tea"}],
            "relations": [{"source": "e0", "target": "e1", "relationship": "prefers"}],
        }
    ],
}

LANGGRAPH = {
    "items": [
        {
            "namespace": ["memories", "anna"],
            "key": "k1",
            "value": {"kind": "Memory", "content": {"content": "Анна не ест мясо"}},
            "created_at": "2026-01-05T08:00:00+00:00",
            "updated_at": "2026-01-06T11:00:00+03:00",
            "score": None,
        },
        {
            "namespace": "memories.anna",
            "key": "k2",
            "value": {"data": "Her dog is called Rex", "source": "chat"},
            "created_at": "2026-01-05T08:00:00+00:00",
            "updated_at": "2026-01-05T08:00:00+00:00",
        },
    ]
}


def read(data: object, *args: Any, **given: Any) -> Any:
    return read_foreign(json.dumps(data, ensure_ascii=False), *args, **given)


def mem0(**given: Any) -> dict[str, Any]:
    made = {"id": "m1", "memory": "Anna lives in Tver", "user_id": "anna", **given}
    return {name: value for name, value in made.items() if value != "absent"}


def stored(**given: Any) -> dict[str, Any]:
    made = {"namespace": ["memories", "anna"], "key": "k", "value": {"text": "Tea"}, **given}
    return {name: value for name, value in made.items() if value != "absent"}


# mem0


def test_what_the_library_of_mem0_answers() -> None:
    export = read(MEM0_LIBRARY, "anna")
    assert export.system == "mem0"
    assert export.items == [
        Foreign(
            system="mem0",
            id="3b0e8f1c-6a52-4c69-9d5a-0f6c2f1f8a01",
            place="item 1",
            text="Анна живёт в Казани",
            user_id="anna",
            session_id="s-17",
            agent_id="concierge",
            role="user",
            at=datetime(2026, 2, 20, 10, tzinfo=UTC),
            left_out=("metadata",),
        ),
        Foreign(
            system="mem0",
            id="3b0e8f1c-6a52-4c69-9d5a-0f6c2f1f8a02",
            place="item 2",
            text="Takes the 7:40 train on weekdays",
            user_id="anna",
            at=datetime(2026, 1, 5, 8, tzinfo=UTC),
            expires_at=datetime(2026, 7, 1, tzinfo=UTC),
        ),
    ]
    assert export.items[0].at.utcoffset() == timedelta(hours=3)
    assert export.items[0].source_id == "mem0:3b0e8f1c-6a52-4c69-9d5a-0f6c2f1f8a01"
    assert {(item.kind, item.subject) for item in export.items} == {("fact", "")}
    assert (export.refused, export.notes) == ([], [])
    assert export.left_out == {"metadata": 1, "relations": 2}


def test_what_the_platform_of_mem0_answers() -> None:
    export = read(MEM0_PLATFORM)
    assert [(item.id, item.user_id) for item in export.items] == [("a1", "anna")]
    assert export.items[0].expires_at is None
    assert export.left_out == {"categories": 1, "entities": 1, "relations": 1}
    assert export.notes == [
        "this is one page of several: `next` is set",
        "the file counts 3 memories and holds 1",
    ]


@pytest.mark.parametrize(
    "data",
    [
        [mem0()],
        {"memories": [mem0()]},
        {"data": {"memories": [mem0()]}, "status": "completed"},
        {"results": [mem0()], "relations": []},
        mem0(),
        [mem0(memory="absent", text="Anna lives in Tver", hash="1d3b6f")],
        [mem0(memory="absent", data="Anna lives in Tver")],
        [mem0(user_id="absent", userId="anna", runId=None, createdAt=None)],
    ],
)
def test_the_shapes_of_mem0(data: object) -> None:
    export = read(data)
    assert [(i.id, i.text, i.user_id) for i in export.items] == [
        ("m1", "Anna lives in Tver", "anna")
    ]
    assert (export.refused, export.notes, dict(export.left_out)) == ([], [], {})


def test_an_item_is_not_taken_for_an_answer_because_of_its_other_fields() -> None:
    export = read(mem0(data={"memory": "something else", "user_id": "anna"}))
    assert [i.text for i in export.items] == ["Anna lives in Tver"]
    assert export.left_out == {"data": 1}


def test_an_item_of_another_user_is_refused_where_one_is_named() -> None:
    data = [mem0(), mem0(id="m2", user_id="boris"), mem0(id="m3", user_id="absent", agent_id="a")]
    export = read(data, "anna")
    assert [(i.id, i.user_id) for i in export.items] == [("m1", "anna"), ("m3", "anna")]
    reason = "user_id: the item is of another user than the one named"
    assert export.refused == [Refused("item 2", reason)]
    export = read(data)
    assert [(i.id, i.user_id) for i in export.items] == [("m1", "anna"), ("m2", "boris")]
    reason = "user_id: the item names no user, and none was named"
    assert export.refused == [Refused("item 3", reason)]


def test_one_id_of_two_users_is_two_items() -> None:
    assert len(read([mem0(), mem0(user_id="boris")]).items) == 2


def test_an_item_without_an_id_is_named_by_its_text() -> None:
    one, other, again = (
        read([mem0(id="absent", memory=text)]).items[0] for text in ("Tea", "Dogs", "Tea")
    )
    assert one.source_id == again.source_id != other.source_id
    assert re.fullmatch(r"mem0:[0-9a-f]{32}", one.source_id)


@pytest.mark.parametrize(
    ("day", "end"),
    [
        ("2028-02-28", datetime(2028, 2, 29, tzinfo=UTC)),
        ("2026-06-30T12:00:00", datetime(2026, 6, 30, 12, tzinfo=UTC)),
        ("2026-06-30T12:00:00+03:00", datetime(2026, 6, 30, 9, tzinfo=UTC)),
        ("9999-12-31", datetime(9999, 12, 31, tzinfo=UTC)),
        ("", None),
        (None, None),
    ],
)
def test_a_mem0_memory_expires_after_its_day(day: object, end: datetime | None) -> None:
    assert read([mem0(expiration_date=day)]).items[0].expires_at == end


def test_a_time_without_a_zone_is_read_in_the_zone_that_is_named() -> None:
    data = [mem0(created_at="2026-01-05 08:00:00.5")]
    assert read(data).refused[0].reason.startswith("at: a time without a zone")
    at = read(data, timezone="Europe/Moscow").items[0].at
    assert at == datetime(2026, 1, 5, 5, 0, 0, 500000, tzinfo=UTC)
    with pytest.raises(ConfigError, match="names no time zone"):
        read(data, timezone="Europe/Atlantis")


REFUSED_MEM0: dict[str, tuple[object, str]] = {
    "no text": (mem0(memory="absent"), "memory: missing"),
    "a blank text": (mem0(memory=" \n"), "memory: empty"),
    "a text of numbers": (mem0(memory=7), "memory: Input should be a valid string"),
    "no object": ("Anna", "line: not a JSON object"),
    "no date": (mem0(expiration_date="next June!"), "expiration_date: not a"),
    "no such day": (mem0(expiration_date="2026-06-31"), "expiration_date: not a date"),
    "a wrong day": (mem0(expiration_date={"day": 1}), "expiration_date: Input should be"),
    "no time": (mem0(updated_at="just now"), "updated_at: not a time"),
    "the first year": (mem0(created_at="0001-01-01T00:00:00+03:00"), "at is out of range"),
    "a user of every name": (mem0(user_id="*"), "user_id '*' is a wildcard"),
    "a run of every name": (mem0(run_id="**"), "run_id '**' is a wildcard"),
    "a long id": (mem0(id="x" * 2000), "id has 2005 characters"),
    "a lone surrogate": (mem0(memory="Anna \ud800"), "not valid Unicode"),
    "infinity": (mem0(metadata={"weight": float("inf")}), "a number is NaN or infinite"),
}


@pytest.mark.parametrize("name", REFUSED_MEM0)
def test_a_wrong_mem0_item_is_refused_and_the_others_are_read(name: str) -> None:
    item, reason = REFUSED_MEM0[name]
    export = read_foreign(json.dumps([mem0(id="first"), item, mem0(id="last")]))
    assert [i.id for i in export.items] == ["first", "last"]
    (refused,) = export.refused
    assert refused.place == "item 2"
    assert refused.reason.startswith(reason)
    assert not re.search("Anna|June|just now", refused.reason)


def test_an_id_that_comes_twice_is_refused() -> None:
    export = read([mem0(), mem0(memory="Anna lives in Kazan")])
    assert [i.text for i in export.items] == ["Anna lives in Tver"]
    assert export.refused == [Refused("item 2", "id: there is an earlier item with this id")]


# JSONL


def test_items_a_line_each() -> None:
    text = "\n".join(
        [json.dumps(mem0(id=1)), "", "{broken", json.dumps(mem0(id="2", memory="Тверь\u2028!"))]
    )
    export = read_foreign(text)
    assert [(i.place, i.id) for i in export.items] == [("line 1", "1"), ("line 4", "2")]
    (refused,) = export.refused
    assert (refused.place, refused.reason[:9]) == ("line 3", "not JSON:")


def test_answers_a_line_each() -> None:
    pages = [{"results": [mem0(id=str(n))], "next": None, "relations": [{}]} for n in range(3)]
    export = read_foreign("\n".join(map(json.dumps, pages)) + "\n")
    assert [i.place for i in export.items] == [f"line {n}, item 1" for n in (1, 2, 3)]
    assert export.left_out == {"relations": 3}


# LangGraph Store


def test_what_a_store_of_langgraph_answers() -> None:
    export = read(LANGGRAPH, "anna-7")
    assert export.items == [
        Foreign(
            system="langgraph",
            id="memories/anna/k1",
            place="item 1",
            text="Анна не ест мясо",
            user_id="anna-7",
            at=datetime(2026, 1, 6, 11, tzinfo=timezone(timedelta(hours=3))),
        ),
        Foreign(
            system="langgraph",
            id="memories/anna/k2",
            place="item 2",
            text="Her dog is called Rex",
            user_id="anna-7",
            at=datetime(2026, 1, 5, 8, tzinfo=UTC),
            left_out=("value.source",),
        ),
    ]
    assert export.items[0].source_id == "langgraph:memories/anna/k1"
    assert (export.refused, export.namespaces) == ([], ("memories.anna",))
    assert export.left_out == {"value.source": 1}


def test_a_row_of_the_table_of_langgraph() -> None:
    row = {
        "prefix": "memories.anna",
        "key": "k1",
        "value": {"content": "Tea"},
        "created_at": "2026-01-05 08:00:00.25+00",
        "updated_at": "2026-01-05 08:00:00.25+00",
        "expires_at": "2026-02-05 08:00:00+00",
        "ttl_minutes": 44640,
    }
    (item,) = read_foreign(json.dumps(row), "anna").items
    assert item.at == datetime(2026, 1, 5, 8, 0, 0, 250000, tzinfo=UTC)
    assert item.expires_at == datetime(2026, 2, 5, 8, tzinfo=UTC)
    assert (item.id, item.left_out) == ("memories/anna/k1", ())


def test_langgraph_items_are_nobodys_until_a_user_is_named() -> None:
    with pytest.raises(InvalidInput, match="say whose they are"):
        read(LANGGRAPH)
    with pytest.raises(InvalidId, match="wildcard"):
        read(LANGGRAPH, "*")


def test_items_of_several_namespaces_are_read_only_where_they_are_named() -> None:
    spaces = ["memories.anna", "memories.anna.food", "memories.annabel", "profile.anna"]
    data = [stored(namespace=space, key=str(n)) for n, space in enumerate(spaces)]
    with pytest.raises(InvalidInput, match=r"4 namespaces.*: memories\.anna, memories\.anna\.food"):
        read(data, "anna")
    export = read(data, "anna", namespaces=["memories.anna"])
    assert [item.id for item in export.items] == ["memories/anna/0", "memories/anna/food/1"]
    assert export.namespaces == ("memories.anna", "memories.anna.food")
    assert export.left_out == {"items of other namespaces": 2}
    both = read(data, "anna", namespaces=["memories.anna", "profile"])
    assert [item.place for item in both.items] == ["item 1", "item 2", "item 4"]


def test_a_slash_in_a_key_makes_no_other_namespace() -> None:
    one = read([stored(namespace=["a"], key="b/c")], "anna").items[0].source_id
    two = read([stored(namespace=["a", "b"], key="c")], "anna").items[0].source_id
    three = read([stored(namespace=["a"], key="b%2Fc")], "anna").items[0].source_id
    assert len({one, two, three}) == 3


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (stored(key=""), "key: empty"),
        (stored(key="absent"), "key: missing"),
        (stored(namespace=[]), "namespace: neither a list"),
        (stored(namespace="memories..anna"), "namespace: a label is empty"),
        (stored(namespace=[["anna"]]), "namespace: a label is empty or no text"),
        (stored(namespace="absent"), "namespace: missing"),
        (stored(value="Anna"), "value: Input should be a valid dictionary"),
        (stored(value={}), "value: nothing in it to read"),
        (stored(value={"text": " ", "tags": [], "note": None}), "value: nothing in it to read"),
        (stored(expires_at="soon, Anna"), "expires_at: not a time"),
        (["Anna"], "line: not a JSON object"),
    ],
)
def test_a_wrong_langgraph_item_is_refused_and_the_others_are_read(
    item: object, reason: str
) -> None:
    export = read([stored(key="first"), item, stored(key="last")], "anna")
    assert [i.place for i in export.items] == ["item 1", "item 3"]
    (refused,) = export.refused
    assert refused.reason.startswith(reason)
    assert "Anna" not in refused.reason


# What a value says


@pytest.mark.parametrize(
    ("value", "text", "unread"),
    [
        ({"content": "Tea"}, "Tea", ()),
        ({"text": "Tea"}, "Tea", ()),
        ({"data": "Tea", "page": None, "tags": []}, "Tea", ()),
        ({"memory": "Tea", "context": "at breakfast"}, "Tea", ("value.context",)),
        ({"kind": "Memory", "content": "Tea"}, "Tea", ()),
        ({"kind": "Memory", "content": {"content": "Tea"}}, "Tea", ()),
        ({"kind": "Rule", "content": {"content": "Tea"}}, "Tea", ("value.kind",)),
        ({"kind": "Memory", "content": {"content": "Tea"}, "n": 1}, "Tea", ("value.n",)),
        ({"content": {"text": "Tea"}}, "Tea", ()),
        ({"city": "Тверь", "age": 31, "vip": True}, "age: 31\ncity: Тверь\nvip: true", ()),
        ({"kind": "Diet", "content": {"no": ["мясо", 5]}}, "kind: Diet\nno: мясо, 5", ()),
        ({"pets": [{"name": "Rex"}, {"name": "Кот"}]}, "pets.1.name: Rex\npets.2.name: Кот", ()),
        ({"a": {"b": {"c": 0.5}}, "d": None, "e": {}}, "a.b.c: 0.5", ()),
        ({"city": "Tver", "vector": [0.5] * 32}, "city: Tver", ("value.vector",)),
        ({"scores": [1] * 31}, "scores: " + ", ".join("1" * 31), ()),
    ],
)
def test_what_a_value_says(value: dict[str, object], text: str, unread: tuple[str, ...]) -> None:
    assert text_of(value) == (text, unread)


def test_the_rendering_of_the_guide() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
    given, _, shown = guide.split('\n\n    {"kind"')[1].partition("\n\n")
    lines = re.findall(r"^    (.+)$", shown.split("\n\nNull")[0], re.MULTILINE)
    assert text_of(json.loads('{"kind"' + given)) == ("\n".join(lines), ())
    assert len(lines) == 4


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), json_values))
def test_any_value_is_read_or_refused_and_its_order_does_not_matter(
    value: dict[str, object],
) -> None:
    backward = dict(reversed(value.items()))
    try:
        text, unread = text_of(value)
    except InvalidInput:
        with pytest.raises(InvalidInput):
            text_of(backward)
    else:
        assert text.strip()
        assert text_of(backward) == (text, unread)


# Whose it is


@pytest.mark.parametrize(
    ("data", "whose"),
    [
        ({"results": []}, "mem0"),
        ({"memories": []}, "mem0"),
        ({"items": []}, "langgraph"),
        ([None, mem0()], "mem0"),
        ([stored()], "langgraph"),
        (stored(), "langgraph"),
        ([{"id": "1", "text": "x", "metadata": {}}], "mem0"),
        ([{**stored(), "memory": "both"}], "langgraph"),
    ],
)
def test_whose_an_export_is(data: object, whose: str) -> None:
    assert sniff(json.dumps(data)) == whose
    assert sniff(json.dumps(data, indent=2)) == whose


@pytest.mark.parametrize(
    "data",
    [
        [],
        {},
        7,
        "letopis-memories",
        [{"id": "1", "text": "a document"}],
        {"full_name": "Anna", "company": "Acme"},
        {"data": {"full_name": "Anna"}},
    ],
)
def test_what_is_nobodys_export_is_refused_with_what_was_looked_for(data: object) -> None:
    with pytest.raises(InvalidInput, match=r"letopis-memories.*mem0.*LangGraph") as caught:
        sniff(json.dumps(data))
    assert "Anna" not in str(caught.value)


def test_what_is_not_json_is_refused() -> None:
    for text in ("", "Anna lives in Tver", '{"memory": "Anna', "[" * 100_000):
        with pytest.raises(InvalidInput, match="not JSON") as caught:
            sniff(text)
        assert "Anna" not in str(caught.value)


def test_an_export_of_our_own_is_not_foreign() -> None:
    with pytest.raises(InvalidInput, match="of this system"):
        read_foreign('{"format": "letopis-memories", "version": 1}\n')


def test_a_nest_of_arrays_is_refused_not_a_crash() -> None:
    deep: object = "Tea"
    for _ in range(700):
        deep = {"a": deep}
    export = read([stored(key="1", value={"deep": deep}), stored(key="2")], "anna")
    assert len(export.items) + len(export.refused) == 2
    assert export.items[-1].place == "item 2"


# Files


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_in_any_usual_encoding(tmp_path: Path, encoding: str, indent: int | None) -> None:
    file = tmp_path / "export.json"
    text = json.dumps(MEM0_LIBRARY, ensure_ascii=False, indent=indent)
    file.write_bytes(text.encode(encoding))
    assert sniff_file(file) == "mem0"
    assert read_foreign_file(file, "anna").items == read(MEM0_LIBRARY, "anna").items


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"export\.json: No such file"):
        read_foreign_file(tmp_path / "export.json")
    with pytest.raises(InvalidInput, match="Is a directory"):
        sniff_file(tmp_path)
    empty = tmp_path / "empty.json"
    empty.touch()
    with pytest.raises(SourceError, match="empty file"):
        sniff_file(empty)
