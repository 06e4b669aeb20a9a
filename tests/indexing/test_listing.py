"""Pages of what is remembered: complete, without repetition, whatever changes between two."""

from typing import Any

import pytest

from indexing.errors import InvalidInput
from indexing.index import Index
from indexing.listing import Page, listing
from indexing.remember import remember
from indexing.types import Filter, Scope, session_scope, user_scope

ANN, BOB = user_scope("ann"), user_scope("bob")
SLASH, MONDAY = session_scope("ann", "a/b c"), session_scope("ann", "monday")
ALL = (MONDAY, ANN, SLASH)


def fill(index: Index, number: int, *scopes: Scope) -> list[str]:
    """Store facts in scopes; return their ids in the order of a listing."""
    ordered = sorted(scopes, key=lambda scope: (scope.collection != "user", scope.session_id))
    found: list[str] = []
    for scope in ordered:
        found += sorted(remember(index, scope, f"Fact {n} is so").id for n in range(number))
    return found


def pages(index: Index, limit: int, **asked: Any) -> list[Page]:
    """Turn pages to the end."""
    found = [listing(index, ALL, limit, **asked)]
    while found[-1].after:
        found.append(listing(index, ALL, limit, found[-1].after, **asked))
    return found


@pytest.mark.parametrize("limit", [1, 3, 4, 5, 12, 50])
def test_pages_hold_everything_once_and_in_order(index: Index, limit: int) -> None:
    ids = fill(index, 4, ANN, MONDAY, SLASH)
    fill(index, 2, BOB, session_scope("bob", "monday"))
    found = pages(index, limit)
    assert [memory.id for page in found for memory in page.memories] == ids
    assert {page.total for page in found} == {12}
    assert {len(page.memories) for page in found[:-1]} <= {limit}
    assert len(found) == -(-12 // limit)


def test_a_page_goes_on_where_the_last_one_ended_whatever_is_gone(index: Index) -> None:
    ids = fill(index, 4, ANN, SLASH)
    first = listing(index, ALL, 2)
    index.store.delete("user", Filter(ANN, ids=tuple(ids[:3])))
    assert [m.id for m in listing(index, ALL, 3, first.after).memories] == ids[3:6]
    second = listing(index, ALL, 3, first.after)
    index.store.delete("session", Filter(SLASH))
    assert listing(index, ALL, 3, second.after) == Page((), 1)


def test_kinds_and_times_are_chosen(index: Index, clock: Any) -> None:
    remember(index, ANN, "Press the button", "procedure")
    remember(index, ANN, "I live in Perm", subject="user.home")
    clock.now += (clock.now - clock.now.replace(hour=1)) * 2
    remember(index, ANN, "I live in Kazan", subject="user.home")
    texts = {m.text for m in listing(index, [ANN], kinds=["fact"]).memories}
    assert texts == {"I live in Kazan"}
    page = listing(index, [ANN], superseded=True)
    assert {m.text for m in page.memories} == {
        "Press the button",
        "I live in Perm",
        "I live in Kazan",
    }
    assert page.total == 3


def test_nobody_has_nothing_and_bad_pages_are_refused(index: Index) -> None:
    assert listing(index, [BOB]) == Page((), 0)
    for limit in (0, -1, 10_001):
        with pytest.raises(InvalidInput, match="a page holds 1 to 10000 memories"):
            listing(index, [ANN], limit)
    with pytest.raises(InvalidInput, match="a memory id is a lower-case UUID"):
        listing(index, [ANN], after="nonsense")
