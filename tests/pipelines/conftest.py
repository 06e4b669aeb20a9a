"""The flows are tested through the command line too."""

from pathlib import Path

import pytest

from tests.letopis.conftest import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)
