"""The project as a whole: whose packages these are, who imports whom, what no file may hold."""

import ast
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import letopis

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def test_the_packages_are_the_ones_of_the_design() -> None:
    design = "chunking indexing retrieval sessions configs evals pipelines letopis"
    assert design.split() == PACKAGES
    assert PROJECT["tool"]["importlinter"]["root_packages"] == PACKAGES


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_of_a_common_name_is_ours(name: str) -> None:
    assert importlib.import_module(name).__file__ == str(ROOT / name / "__init__.py")


def test_the_version_is_stated_once() -> None:
    assert letopis.__version__ == PROJECT["project"]["version"]


def test_imports_point_left() -> None:
    process = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "0 broken" in process.stdout


def files() -> list[Path]:
    """Return the files that are, or would be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    found = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [file for file in found if file.is_file()]


def test_no_file_names_a_folder_of_one_machine() -> None:
    forbidden = [f"/{name}/".encode() for name in ("work", "root")]
    listed = files()
    assert ROOT / "pyproject.toml" in listed
    bad = [file for file in listed if any(name in file.read_bytes() for name in forbidden)]
    assert bad == []


def handlers() -> Iterator[tuple[str, ast.ExceptHandler]]:
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ExceptHandler):
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", node


def test_no_error_is_swallowed() -> None:
    """A broad handler ends by raising; a bare one there is not."""
    found = dict(handlers())
    assert len(found) > 20
    assert [place for place, node in found.items() if node.type is None] == []
    broad = {
        place: node
        for place, node in found.items()
        if isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
    }
    swallowed = [place for place, node in broad.items() if not isinstance(node.body[-1], ast.Raise)]
    assert swallowed == []
