"""Receipts: what they hold, and every way in which the chain can be tampered with."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, select, text, update

from indexing.catalog import Catalog
from indexing.catalog_database import Database
from indexing.catalog_schema import deployment, receipts
from indexing.errors import InvalidInput
from indexing.receipts import FIRST, HEAD, Draft, Receipts, Verification, canonical, chained

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
DRAFT = Draft(
    asked_by="operator",
    asked_at=NOW,
    done_at=NOW + timedelta(seconds=2.5),
    what="user",
    subject="5" * 64,
    removed={"vectors:user": 12, "sources": 3},
    left={"vectors:user": 0, "sources": 0},
    files=40,
    bytes_scanned=123_456_789,
    too_short=1,
    rewrites=1,
    seconds={"remove": 0.1, "rewrite": 2.0, "scan": 0.4},
    notes=("a server keeps its log",),
)


@pytest.fixture
def chain(database: Database) -> Receipts:
    """Four receipts."""
    made = Receipts(database)
    for number in range(4):
        made.add(replace(DRAFT, files=number))
    return made


def test_a_receipt_comes_back_as_it_was_given(database: Database) -> None:
    made = Receipts(database)
    local = NOW.astimezone(timezone(timedelta(hours=3)))
    one, two = made.add(replace(DRAFT, asked_at=local)), made.add(DRAFT)
    assert (one.number, one.previous, two.number, two.previous) == (1, FIRST, 2, one.hash)
    assert made.all() == [one, two]
    assert made.get(1) == one
    assert made.get(1).draft.asked_at.utcoffset() == timedelta(0)  # type: ignore[union-attr]
    assert made.get(3) is None
    assert made.verify() == Verification(True, 2)


def test_a_hash_can_be_made_again_by_hand(chain: Receipts, database: Database) -> None:
    with database.read() as connection:
        rows = connection.execute(select(receipts).order_by(receipts.c.number)).all()
    assert rows[0].hash == chained(FIRST, rows[0].body)
    assert rows[1].hash == chained(rows[0].hash, rows[1].body)
    assert rows[1].body == canonical(json.loads(rows[1].body))


def test_it_is_clean_when_nothing_is_left_and_nothing_found(chain: Receipts) -> None:
    (one, *_) = chain.all()
    assert one.clean
    assert not replace(one, draft=replace(DRAFT, hits=1)).clean
    assert not replace(one, draft=replace(DRAFT, left={"sources": 1})).clean


def test_an_empty_chain_holds(database: Database) -> None:
    assert Receipts(database).verify() == Verification(True, 0)
    assert Receipts(database).all() == []


def test_a_naive_time_is_refused(database: Database) -> None:
    with pytest.raises(InvalidInput, match="asked_at"):
        Receipts(database).add(replace(DRAFT, asked_at=NOW.replace(tzinfo=None)))
    assert Receipts(database).verify() == Verification(True, 0)


def _swap(first: int, second: int) -> list[str]:
    move = "UPDATE receipts SET number = {} WHERE number = {}"
    return [move.format(99, first), move.format(first, second), move.format(second, 99)]


@pytest.mark.parametrize(
    ("statements", "first_bad"),
    [
        (["UPDATE receipts SET body = replace(body, 'operator', 'nobody') WHERE number = 2"], 2),
        (["UPDATE receipts SET body = '{}' WHERE number = 3"], 3),
        (["UPDATE receipts SET body = 'x' WHERE number = 1"], 1),
        (["UPDATE receipts SET hash = previous FROM (SELECT hash AS previous FROM receipts "
          "WHERE number = 1) AS one WHERE number = 4"], 4),
        (["DELETE FROM receipts WHERE number = 2"], 2),
        (["DELETE FROM receipts WHERE number = 1"], 1),
        (_swap(2, 3), 2),
        (["DELETE FROM receipts WHERE number = 4"], 4),
        (["DELETE FROM receipts WHERE number > 1"], 2),
        (["DELETE FROM receipts"], 1),
        (["DELETE FROM deployment WHERE name = 'receipts'"], 4),
    ],
    ids=[
        "changed", "emptied", "unreadable", "hash", "out of the middle", "the first",
        "moved", "the last", "the end", "all", "the head",
    ],
)  # fmt: skip
def test_tampering_is_found(
    chain: Receipts, database: Database, statements: list[str], first_bad: int
) -> None:
    with database.write(HEAD) as connection:
        for statement in statements:
            connection.execute(text(statement))
    verdict = chain.verify()
    assert (verdict.ok, verdict.first_bad) == (False, first_bad)
    assert verdict.reason


def test_a_receipt_after_a_cut_does_not_hide_it(chain: Receipts, database: Database) -> None:
    with database.write(HEAD) as connection:
        connection.execute(delete(receipts).where(receipts.c.number == 4))
    assert chain.add(DRAFT).number == 5
    assert chain.verify().first_bad == 4


def test_a_new_end_forged_with_its_hash_is_found_by_the_head(
    chain: Receipts, database: Database
) -> None:
    with database.write(HEAD) as connection:
        row = connection.execute(select(receipts).where(receipts.c.number == 4)).one()
        body = row.body.replace("operator", "nobody")
        forged = {"body": body, "hash": chained(json.loads(body)["previous"], body)}
        connection.execute(update(receipts).where(receipts.c.number == 4).values(forged))
    assert chain.verify().first_bad == 4


def test_a_changed_receipt_is_not_shown_as_a_whole_one(chain: Receipts, database: Database) -> None:
    with database.write(HEAD) as connection:
        where = receipts.c.number == 2
        connection.execute(update(receipts).where(where).values(body="{}"))
    with pytest.raises(InvalidInput, match="receipt 2"):
        chain.get(2)


def test_processes_at_once_make_one_chain(database: Database, catalog_url: str) -> None:
    opened = [Catalog(catalog_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda c: Receipts(c.database).add(DRAFT).number, opened * 5))
    assert sorted(made) == list(range(1, 21))
    assert Receipts(database).verify() == Verification(True, 20)
    for one in opened:
        one.close()


def test_a_receipt_stands_when_its_transaction_does(database: Database) -> None:
    def fail() -> None:
        with database.write(HEAD) as connection:
            Receipts(database).add(DRAFT, connection)
            raise InvalidInput("stop")

    with pytest.raises(InvalidInput):
        fail()
    assert Receipts(database).verify() == Verification(True, 0)
    with database.read() as connection:
        head = select(deployment.c.value).where(deployment.c.name == HEAD)
        assert connection.execute(head).scalar() is None


@given(st.dictionaries(st.text(max_size=4), st.integers(), max_size=4))
def test_equal_values_are_equal_bytes_in_any_order(values: dict[str, int]) -> None:
    assert canonical(values) == canonical(dict(reversed(values.items())))
    assert json.loads(canonical(values)) == values
