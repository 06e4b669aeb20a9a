import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "truncation.md"


def test_the_page_shows_what_is_really_printed() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted > 8
    assert found.failed == 0
