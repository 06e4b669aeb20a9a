"""A page -> its visible text, a line a block, with the places of its headings."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from chunking.types import Document, Heading
from indexing.errors import SourceError

_SKIPPED = {"script", "style", "noscript", "template", "head", "svg", "iframe"}
_PARAGRAPHS = {"p", "table", "ul", "ol", "pre", "section", "h1", "h2", "h3", "h4", "h5", "h6"}
_BLOCKS = _PARAGRAPHS | {
    *("address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt"),
    *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "nav"),
    "tr",
}


def parse_html(text: str, source_id: str, uri: str) -> Document:
    """Read the visible text of a page: a line a block, table cells joined by " | "."""
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
    return Document(source_id, body, name, tuple(page.headings), uri)


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
            elif tag not in _SKIPPED:
                self._open(node, tag)
                todo.append((node, pre, True))
                children = list(node.iter(include_text=True))
                todo += [(child, pre or tag == "pre", False) for child in reversed(children)]

    def _open(self, node: LexborNode, tag: str) -> None:
        if tag in _BLOCKS or tag == "br":
            self._break(tag)
        elif tag in {"td", "th"} and node.prev is not None and not self._breaks:
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
