"""ODT -> document: paragraphs, headings with their levels, lists, tables."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from chunking.types import Document
from indexing.errors import SourceError
from indexing.formats.container import Container
from indexing.formats.writer import Writer
from indexing.limits import Limits

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_BREAKS = {f"{_TEXT}tab": "\t", f"{_TEXT}s": " ", f"{_TEXT}line-break": "\n"}
_SKIPPED = {f"{_OFFICE}annotation", f"{_TEXT}tracked-changes", f"{_TEXT}table-of-content"}
MOST_REPEATS = 100


def parse_odt(data: bytes, limits: Limits) -> Document:
    """Read a text document of LibreOffice."""
    container = Container(data, limits)
    body = container.xml("content.xml").find(f".//{_OFFICE}text")
    if body is None:
        raise SourceError("damaged container: it has no text body")
    writer = Writer(limits)
    for block in _blocks(body):
        if block.tag == f"{_TABLE}table":
            writer.table(_rows(block))
        elif block.tag == f"{_TEXT}h":
            level = block.get(f"{_TEXT}outline-level", "1")
            writer.heading(int(level) if level.isdigit() else 1, _flat(block))
        else:
            writer.paragraph(_flat(block))
    return writer.document(container.title("meta.xml"))


def _blocks(body: Element) -> Iterator[Element]:
    """Yield headings, paragraphs and tables in order, out of sections and lists too."""
    todo = list(reversed(body))
    while todo:
        node = todo.pop()
        if node.tag in {f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table"}:
            yield node
        elif node.tag not in _SKIPPED:
            todo += reversed(node)


def _flat(block: Element) -> str:
    """Return the text of a block; a loop, since elements nest deeper than calls may."""
    parts: list[str] = []
    todo: list[Element | str] = [block]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        parts.append(_BREAKS.get(node.tag, "") + (node.text or ""))
        for child in reversed(node):
            todo.append(child.tail or "")
            if child.tag not in _SKIPPED:
                todo.append(child)
    return "".join(parts)


def _rows(table: Element) -> Iterator[list[str]]:
    for row in table.iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        for cell in row:
            repeats = cell.get(f"{_TABLE}number-columns-repeated", "1")
            times = min(int(repeats), MOST_REPEATS) if repeats.isdigit() else 1
            text = " ".join(_flat(block) for block in _blocks(cell))
            cells += [text] * times
        yield cells
