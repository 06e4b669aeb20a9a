"""Several processes tell about one subject, or are killed while they do: one value holds."""

import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import text

from indexing.remember import history
from indexing.types import Filter, Memory
from tests.indexing.tellers import ANN, CONTEXT, SUBJECT, at_once, opened, without_end

KILLS = 6


def held(folder: Path) -> list[Memory]:
    """Return the chain, and check that its intervals follow each other."""
    parts = opened(folder)
    found = history(parts.index, ANN, SUBJECT)
    shown = list(parts.index.store.scroll("user", Filter(ANN, parts.index.clock())))
    rows = parts.index.catalog.sources(ANN)
    parts.close()
    assert [m.id for m in shown] == [m.id for m in found if m.valid_to is None]
    assert len(shown) == 1
    for one, other in pairwise(found):
        assert one.valid_to == other.valid_from
        assert one.superseded_by == other.id
    assert {source for m in found for source in m.sources} <= rows.keys()
    return found


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_that_supersede_at_once_leave_one_value(
    memory_folder: Path, processes: int
) -> None:
    opened(memory_folder).close()
    barrier, times = CONTEXT.Barrier(processes), 4
    workers = [
        CONTEXT.Process(target=at_once, args=(memory_folder, barrier, number, times))
        for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * processes
    told = {f"employer {number}-{turn}" for number in range(processes) for turn in range(times)}
    found = held(memory_folder)
    assert {memory.text for memory in found} == told
    assert len(found) == len(told)


def test_what_a_killed_process_was_told_follows_in_order(memory_folder: Path) -> None:
    acknowledged: set[tuple[str, datetime]] = set()
    for kill in range(KILLS):
        reader, writer = CONTEXT.Pipe(duplex=False)
        worker = CONTEXT.Process(target=without_end, args=(memory_folder, writer, kill))
        worker.start()
        writer.close()
        acknowledged.add(reader.recv())
        until = time.monotonic() + 0.05 + 0.043 * kill
        while time.monotonic() < until:
            if reader.poll(0.002):
                acknowledged.add(reader.recv())
        worker.kill()
        worker.join()
        try:
            while True:
                acknowledged.add(reader.recv())
        except EOFError:
            reader.close()
        found = held(memory_folder)
        for value, at in acknowledged:
            (then,) = [m for m in found if m.valid_from and m.valid_from <= at and _ends(m, at)]
            assert then.value == value
    parts = opened(memory_folder)
    with parts.index.catalog.database.read() as connection:
        plan = "EXPLAIN QUERY PLAN SELECT tenant FROM sources WHERE content_hash = ''"
        (row,) = connection.execute(text(plan)).all()
        begun = connection.execute(text("SELECT count(*) FROM sources WHERE content_hash = ''"))
        left = begun.scalar()
    parts.close()
    assert "sources_unfinished" in row[-1]
    assert left is not None
    assert left <= KILLS, "only rows of which nothing was stored wait for their time"


def _ends(memory: Memory, moment: datetime) -> bool:
    return memory.valid_to is None or moment < memory.valid_to
