"""RTF -> text, through `striprtf`; the title from its metadata. It has no headings."""

import re
from itertools import groupby

from chunking.types import Document
from indexing.errors import SourceError
from indexing.formats.extra import needs
from indexing.formats.writer import Writer
from indexing.limits import Limits

_TITLE = re.compile(r"\{\\title\s((?:[^{}\\]|\\[^{}])*)\}")


def parse_rtf(data: bytes, limits: Limits) -> Document:
    """Read the text of an RTF file; its own code page is stated in it."""
    with needs("RTF"):
        from striprtf.striprtf import rtf_to_text
    source = data.decode("latin-1")
    limits.check_unpacked(len(source))
    if not source.rstrip("\x00 \r\n").endswith("}"):
        raise SourceError("damaged RTF: it is cut short")
    stated = _TITLE.search(source)
    codepage = re.search(r"\\ansicpg(\d{3,5})", source)
    title = ""
    if stated:
        prefix = f"{{\\rtf1\\ansi{codepage[0] if codepage else ''} "
        title = rtf_to_text(f"{prefix}{stated[1]}}}", errors="replace")
    writer = Writer(limits)
    text = rtf_to_text(source, errors="replace")
    for is_table, lines in groupby(text.split("\n"), key=_is_row):
        if is_table:
            writer.table([line.removesuffix("|").split("|") for line in lines])
        else:
            writer.paragraph("\n".join(lines))
    return writer.document(title)


def _is_row(line: str) -> bool:
    """Tell whether a line is a row of a table: `striprtf` ends each cell with a bar."""
    return line.endswith("|") and line.count("|") > 1
