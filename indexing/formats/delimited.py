"""CSV and TSV -> a line a row, ``Column: value; Column: value``.

The separator is found by trying each: the one that gives the most rows of one width wins. Lines
that none cuts are plain text.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator

from chunking.types import Document
from indexing.errors import SourceError
from indexing.formats.table import looks_named
from indexing.formats.writer import Writer
from indexing.limits import Limits

SEPARATORS = ",;\t|"
SAMPLE = 16_384
LONGEST_CELL = 1_000_000


def parse_csv(text: str, limits: Limits) -> Document:
    """Read a table. Its first row names the columns unless a number is in it.

    Raises `SourceError` for a cell of more than a million characters: a quote that never ends.
    """
    separator = find_separator(text[:SAMPLE])
    if not separator:
        return Document("", text)
    writer = Writer(limits)
    header = looks_named([row for row in _rows(text[:SAMPLE], separator) if any(row)][:1])
    writer.table(_rows(text, separator), header)
    return writer.document()


def find_separator(sample: str) -> str:
    """Return the character that cuts a sample of a table most evenly; empty where none does.

    >>> find_separator("код;цена\\nBX-1;10,5\\nBX-2;7,0\\n")
    ';'
    """

    def evenness(separator: str) -> tuple[int, int]:
        widths = Counter(len(row) for row in _rows(sample, separator) if row)
        widths.pop(1, None)
        width, rows = max(widths.items(), key=lambda item: item[1], default=(0, 0))
        return rows, width

    best = max(SEPARATORS, key=evenness)
    lines = sum(1 for row in _rows(sample, best) if row)
    return best if evenness(best)[0] * 2 > lines else ""


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    if len(text) > csv.field_size_limit():  # one for the whole process: leave it where it suffices
        csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise SourceError(f"not a table, line {reader.line_num}: {error}") from error
