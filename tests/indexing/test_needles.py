"""Needles: which bytes of a text and of an id are looked for, and that every one is counted."""

import json
from collections import Counter
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.needles import (
    ANCHOR,
    LONGEST_TEXT,
    Finder,
    Needle,
    id_needles,
    scope_needles,
    text_needle,
)
from indexing.types import GLOBAL, Scope, session_scope


def naive(needles: list[Needle], data: bytes, seen: int = 0) -> Counter[int]:
    """Count every place at which a needle stands."""
    found = Counter[int]()
    for number, needle in enumerate(needles):
        length = len(needle.data)
        places = range(max(0, seen - length + 1), len(data) - length + 1)
        times = sum(data.startswith(needle.data, place) for place in places)
        if length >= ANCHOR and times:
            found[number] = times
    return found


FEW = st.binary(max_size=40).map(lambda data: bytes(byte % 3 for byte in data))
"""Bytes of three kinds only: needles overlap, share their beginnings and are in each other."""


@given(st.lists(FEW, max_size=8), st.lists(FEW, max_size=12), st.integers(0, 60))
def test_the_finder_counts_as_a_plain_search_does(
    needles: list[bytes], pieces: list[bytes], seen: int
) -> None:
    data = b"".join(pieces + needles[::2])
    wanted = [Needle(needle) for needle in needles]
    assert Finder(wanted).count(data, min(seen, len(data))) == naive(
        wanted, data, min(seen, len(data))
    )


def test_thousands_of_needles_among_random_bytes() -> None:
    rng = np.random.default_rng(4)
    data = rng.bytes(1 << 16)
    inside = [Needle(data[place : place + 8 + place % 50]) for place in range(0, 60_000, 60)]
    outside = [Needle(rng.bytes(24)) for _ in range(4000)]
    counts = {number: data.count(needle.data) for number, needle in enumerate(inside)}
    assert Finder(inside + outside).count(data) == counts


def test_equal_needles_each_count_and_short_ones_are_told() -> None:
    finder = Finder([Needle(b"equal needles"), Needle(b"short"), Needle(b"equal needles", "id")])
    assert finder.count(b"two equal needles, equal needles") == {0: 2, 2: 2}
    assert finder.too_short == 1
    assert Finder([]).count(b"anything at all") == {}


@given(st.text(max_size=200))
def test_a_text_is_looked_for_by_what_json_writes_as_it_is(text: str) -> None:
    data = text_needle(text).data
    assert len(data) <= LONGEST_TEXT
    assert data.decode() in json.dumps(text, ensure_ascii=False)
    assert data.decode() in text


def test_a_text_is_looked_for_by_the_middle_of_its_longest_run() -> None:
    assert text_needle('a "quoted" beginning\nand a longer line').data == b"and a longer line"
    long = text_needle("Пользователь сказал: " + "в" * 10 + "ц" * 100 + " конец").data
    assert set(long.decode()) <= set("вц")
    assert 62 <= len(long) <= 64
    assert text_needle("").data == b""


@given(st.text(min_size=1, max_size=30))
def test_an_id_is_looked_for_as_a_text_and_as_in_json(name: str) -> None:
    found = {needle.data for needle in id_needles(name)}
    assert name.encode() in found
    assert json.dumps(name, ensure_ascii=False)[1:-1].encode() in found


def test_a_uuid_is_looked_for_in_both_orders_of_bytes() -> None:
    name = str(uuid4())
    found = {needle.data for needle in id_needles(name)}
    assert found == {name.encode(), UUID(name).bytes, UUID(name).bytes[::-1]}


@pytest.mark.parametrize(
    ("scope", "names"),
    [(GLOBAL, []), (session_scope("ann", "monday"), ["ann", "monday"])],
    ids=["global", "session"],
)
def test_a_scope_is_looked_for_by_its_tenant_and_ids(scope: Scope, names: list[str]) -> None:
    wanted = [scope.tenant, *names]
    assert [n.data.decode() for n in scope_needles(scope)] == wanted
