"""Limits of files, from the settings to the parser."""

from configs.feeds import build_access
from configs.settings import load
from indexing.limits import DEFAULTS, MB, Limits


def test_the_settings_default_to_the_library_s_limits() -> None:
    assert build_access(load()).parser.limits == DEFAULTS


def test_settings_reach_the_parser_and_the_web() -> None:
    chosen = {"size_mb": 7, "pages": 6, "seconds": 5.5, "memory_mb": 640, "unpacked_mb": 30}
    access = build_access(load(ingest={"limits": chosen}))
    assert access.parser.limits == Limits(7 * MB, 6, 5.5, 640 * MB, 30 * MB)
    assert access.web.bytes == 7 * MB
