"""A page -> its visible text, a line a block, with the places of its headings.

A table that names its columns in `th` is written by row, ``Column: value; Column: value``; another
one with its cells joined by " | ".
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from chunking.types import Document, Heading
from indexing.errors import SourceError
from indexing.formats.table import row_lines

_SKIPPED = {"script", "style", "noscript", "template", "head", "svg", "iframe"}
_PARAGRAPHS = {"p", "table", "ul", "ol", "pre", "section", "h1", "h2", "h3", "h4", "h5", "h6"}
_BLOCKS = _PARAGRAPHS | {
    *("address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt"),
    *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "nav"),
    "tr",
}


WIDEST, TALLEST = 100, 1_000
"""The most columns and rows that one cell may span."""


def parse_html(text: str) -> Document:
    """Read the visible text of a page. Raises `SourceError` for a page that shows none."""
    tree = LexborHTMLParser(text)
    page = _Page()
    if tree.body is not None:
        page.walk(tree.body)
    body = "".join(page.parts)
    if not body.strip():
        raise SourceError("a page without visible text")
    title = tree.css_first("title")
    name = " ".join((title.text() if title else "").split())
    name = name or (page.headings[0].text if page.headings else "")
    return Document("", body, name, tuple(page.headings))


def table_rows(table: LexborNode) -> list[list[str]]:
    """Return the cells of a table as text; a cell that spans rows or columns is in each of them."""
    rows: list[list[str]] = []
    spans: dict[int, tuple[int, str]] = {}  # column -> rows still to fill, and with what
    for line in _own_rows(table):
        row: list[str] = []
        for cell in _cells(line):
            _fill(row, spans)
            text = _cell_text(cell)
            down = min(_span(cell, "rowspan"), TALLEST)
            for _ in range(min(_span(cell, "colspan"), WIDEST)):
                if down > 1:
                    spans[len(row)] = (down - 1, text)
                row.append(text)
        _fill(row, spans)
        rows.append(row)
    return rows


def _fill(row: list[str], spans: dict[int, tuple[int, str]]) -> None:
    """Add the cells of earlier rows that reach down to this one."""
    while len(row) in spans:
        left, text = spans.pop(len(row))
        if left > 1:
            spans[len(row)] = (left - 1, text)
        row.append(text)


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or ""
    return max(1, int(value)) if re.fullmatch(r"[0-9]{1,6}", value) else 1


def _cell_text(cell: LexborNode) -> str:
    page = _Page()
    page.walk(cell)
    return " ".join("".join(page.parts).split())


def _named_lines(table: LexborNode) -> Iterator[str]:
    """Yield the rows of a table whose first row names its columns; nothing for another."""
    rows = _own_rows(table)
    cells = _cells(rows[0]) if rows else []
    names = [cell for cell in cells if cell.tag == "th"]
    corner = len(names) == len(cells) - 1 and cells[0].tag == "td"
    if len(rows) < 2 or len(names) < 2 or not (len(names) == len(cells) or corner):
        return
    if table.css_first("table table, pre") is None:
        yield from (_cell_text(child) for child in table.iter() if child.tag == "caption")
        yield from row_lines(table_rows(table), header=True)


def _own_rows(table: LexborNode) -> list[LexborNode]:
    """Return the rows of a table, without those of a table in a cell of it."""
    found: list[LexborNode] = []
    for child in table.iter():
        if child.tag == "tr":
            found.append(child)
        elif child.tag in {"thead", "tbody", "tfoot"}:
            found += [row for row in child.iter() if row.tag == "tr"]
    return found


def _cells(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in row.iter() if cell.tag in {"td", "th"}]


class _Page:
    """The text of a page while its tree is walked; white space folds as in a browser.

    A heading is one line of the text, whatever is inside it.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.headings: list[Heading] = []
        self._length = 0
        self._breaks = 0
        self._heading: LexborNode | None = None
        self._start = self._first = 0

    def walk(self, body: LexborNode) -> None:
        """Add the text below a node; a loop, since pages nest deeper than calls may."""
        todo = [(body, False, False)]
        while todo:
            node, pre, closing = todo.pop()
            tag = node.tag or ""
            if closing:
                self._close(node, tag)
            elif tag == "-text":
                self._write(node.text(deep=False) or "", pre and self._heading is None)
            elif tag == "table" and self._heading is None and (named := list(_named_lines(node))):
                self._rows(named)
            elif tag not in _SKIPPED:
                self._open(node, tag)
                todo.append((node, pre, True))
                children = list(node.iter(include_text=True))
                todo += [(child, pre or tag == "pre", False) for child in reversed(children)]

    def _open(self, node: LexborNode, tag: str) -> None:
        if tag in _BLOCKS or tag == "br":
            self._break(tag)
        elif tag in {"td", "th"} and node.prev is not None and self.parts and not self._breaks:
            self._write(" | ", pre=False)
        if self._heading is None and re.fullmatch(r"h[1-6]", tag):
            self._heading = node
            self._start = self._length + (self._breaks if self.parts else 0)
            self._first = len(self.parts)

    def _close(self, node: LexborNode, tag: str) -> None:
        if node is self._heading:
            self._heading = None
            if name := "".join(self.parts[self._first :]).strip():
                self.headings.append(Heading(self._start, int(tag[1]), name))
        if tag in _BLOCKS:
            self._break(tag)

    def _rows(self, lines: list[str]) -> None:
        for line in lines:
            self._break("table")
            self._write(line, pre=False)
        self._break("table")

    def _break(self, tag: str) -> None:
        if self._heading is not None:
            self._write(" ", pre=False)
        else:
            self._breaks = max(self._breaks, 2 if tag in _PARAGRAPHS else 1)

    def _write(self, text: str, pre: bool) -> None:
        text = text if pre else re.sub(r"\s+", " ", text)
        if self._breaks or not self.parts:
            text = text.lstrip("\n" if pre else " ")
            if not text.strip():
                return
            if self.parts:
                text = "\n" * self._breaks + text
        elif not pre and self.parts[-1][-1].isspace():
            text = text.removeprefix(" ")
        if text:
            self._breaks = 0
            self.parts.append(text)
            self._length += len(text)
