"""The same, of files: any number of lines, or one document of a bounded size."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from indexing.decode import decode
from indexing.errors import InvalidInput
from indexing.limits import MB, in_mb
from indexing.portable.foreign import read_foreign
from indexing.portable.sniff import sniff
from indexing.portable.types import ForeignExport, Format

MAX_LINE = 64 * MB
MAX_DOCUMENT = 512 * MB


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of an export of ours, for `check` and `load`, one at a time.

    Raises `InvalidInput`, with the line's number, for one that is longer than 64 MB or not UTF-8,
    and for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            number = 1
            while raw := file.readline(MAX_LINE + 1):
                yield _decoded(raw, number)
                number += 1
    except OSError as error:
        raise InvalidInput(f"{path.name}: {error.strerror}") from error


def sniff_file(path: Path) -> Format:
    """Tell whose export a file is, by its first line where that is enough.

    Raises `InvalidInput`, and `SourceError` as `read_foreign_file` does.
    """
    try:
        first = "".join(islice(lines_of(path), 1))
        return sniff(first)
    except InvalidInput:
        return sniff(_document(path))


def read_foreign_file(
    path: Path, user_id: str = "", timezone: str = "", namespaces: Sequence[str] = ()
) -> ForeignExport:
    """Read a file of up to 512 MB as `read_foreign` reads its text.

    Raises also `InvalidInput` for a larger file or one that cannot be read, and `SourceError` for
    an empty one or one that is no text.
    """
    return read_foreign(_document(path), user_id, timezone, namespaces)


def _decoded(raw: bytes, number: int) -> str:
    if len(raw) > MAX_LINE:
        raise InvalidInput(f"line {number}: longer than {in_mb(MAX_LINE)}")
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"line {number}: not UTF-8") from error


def _document(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_DOCUMENT + 1)
    except OSError as error:
        raise InvalidInput(f"{path.name}: {error.strerror}") from error
    if len(data) > MAX_DOCUMENT:
        raise InvalidInput(f"{path.name}: larger than {in_mb(MAX_DOCUMENT)}")
    return decode(data)
