"""Format -> reader: the one list of what can be read.

A reader gets bytes and `Limits`, returns a `Document` without a source id, and raises `SourceError`
for what it cannot read.
"""

from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath

from chunking.types import Document
from indexing.decode import decode, stated_charset
from indexing.errors import SourceError
from indexing.formats.delimited import parse_csv
from indexing.formats.epub import parse_epub
from indexing.formats.html import parse_html
from indexing.formats.mail import parse_mail
from indexing.formats.markdown import parse_markdown
from indexing.formats.odt import parse_odt
from indexing.formats.office import parse_docx, parse_pptx
from indexing.formats.pdf import parse_pdf
from indexing.formats.rtf import parse_rtf
from indexing.formats.spreadsheet import parse_spreadsheet
from indexing.formats.text import parse_text
from indexing.limits import DEFAULTS, Limits
from indexing.sniff import sniff

DEEPEST = 3
"""Files in files (an attachment of an attached mail) that are opened."""

BINARY: dict[str, Callable[[bytes, Limits], Document]] = {
    "pdf": parse_pdf,
    "docx": parse_docx,
    "pptx": parse_pptx,
    "xlsx": parse_spreadsheet,
    "odt": parse_odt,
    "rtf": parse_rtf,
    "epub": parse_epub,
}
TEXT: dict[str, Callable[[str, Limits], Document]] = {
    "text": lambda text, limits: parse_text(text),
    "markdown": lambda text, limits: parse_markdown(text),
    "html": lambda text, limits: parse_html(text),
    "csv": parse_csv,
}
LIBRARIES = {
    "pdf": "pypdfium2",
    "docx": "unstructured.partition.docx",
    "pptx": "unstructured.partition.pptx",
    "xlsx": "python_calamine",
    "rtf": "striprtf.striprtf",
}
"""What a reader imports at its first file."""
LIGHT = frozenset(TEXT)
"""Formats whose readers are safe to run in this process on a small file."""


def read(
    data: bytes, suffix: str, media_type: str = "", limits: Limits = DEFAULTS, depth: int = 0
) -> Document:
    """Read a file by what it is; ``suffix`` and ``media_type`` decide only where bytes do not."""
    if not data.strip():
        raise SourceError("empty file")
    kind = sniff(data, suffix, media_type)
    if kind in TEXT:
        return TEXT[kind](decode(data, stated_charset(data, media_type)), limits)
    if kind == "email":
        return parse_mail(data, limits, partial(_part, limits, depth + 1))
    return BINARY[kind](data, limits)


def _part(limits: Limits, depth: int, data: bytes, name: str, media_type: str) -> Document:
    if depth > DEEPEST:
        raise SourceError(f"more than {DEEPEST} mails inside each other")
    return read(data, PurePosixPath(name).suffix, media_type, limits, depth)
