"""A sync in portions: what may have changed alone, the rest together, in the feed's order."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from configs.build import Parts
from indexing.feeds.types import Feed
from indexing.index import Report
from indexing.portions import Portion, portions
from indexing.sync import Sync


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in "abcde":
        (folder / f"{name}.md").write_text(f"# {name}\n\nShelf {name} holds boxes.")
    return folder


def start(parts: Parts, notes: Path, later: int = 3600) -> Sync:
    """Return a run that begins an hour after the files were written: their stamps are settled."""
    access = parts.access
    now = access.now

    return Sync(
        parts.index.catalog,
        Feed("path", str(notes)),
        replace(access, now=lambda: now() + later * 1_000_000_000),
    )


def all_of(parts: Parts, run: Sync) -> tuple[list[Portion], Report]:
    found, report = list(portions(run)), Report()
    for portion in found:
        report.add(run.apply(parts.index, portion.ids))
    return found, report


def test_the_first_time_every_file_stands_alone(parts: Parts, notes: Path) -> None:
    found, report = all_of(parts, start(parts, notes))
    assert [portion.place for portion in found] == [f"notes/{name}.md" for name in "abcde"]
    assert not any(portion.still for portion in found)
    assert report.new == 5


def test_files_as_before_are_looked_at_together(parts: Parts, notes: Path) -> None:
    all_of(parts, start(parts, notes))
    (notes / "c.md").write_text("# c\n\nShelf c is empty now, as of today.")
    (notes / "f.md").write_text("# f\n\nA new shelf.")
    found, report = all_of(parts, start(parts, notes))
    assert [(portion.place, portion.still) for portion in found] == [
        ("2 as before", True),
        ("notes/c.md", False),
        ("2 as before", True),
        ("notes/f.md", False),
    ]
    assert [name for portion in found for name in portion.ids] == [
        os.fspath(notes / f"{name}.md") for name in "abcdef"
    ]
    assert (report.unchanged, report.changed, report.new) == (4, 1, 1)


def test_pages_are_asked_for_a_few_together(parts: Parts, tmp_path: Path) -> None:
    urls = tmp_path / "urls.txt"
    urls.write_text("\n".join(f"http://example.invalid/{n}" for n in range(20)))
    run = Sync(parts.index.catalog, Feed("urls", str(urls)), parts.access)
    first, second = portions(run)
    assert (len(first.ids), len(second.ids)) == (16, 4)
    assert first.place == "http://example.invalid/0 and 15 more"
