"""Untrusted files -> documents: Markdown, HTML, plain text. Chat exports: `chat`.

Every defect is a `SourceError` with a reason a person can act on.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chunking.types import Document, Heading
from indexing.decode import decode
from indexing.errors import SourceError
from indexing.html import parse_html

MAX_BYTES = 100 * 1024 * 1024

_NEWLINE = re.compile(r"\r\n|\n|\r")


def check_file(path: Path) -> None:
    """Raise `SourceError` for what is no file, or too large a one."""
    try:
        if not path.is_file():
            if path.is_dir():
                raise SourceError("a folder that cannot be opened")
            raise SourceError("not a file" if path.exists() else "no such file")
        if path.stat().st_size > MAX_BYTES:
            raise SourceError(f"larger than {MAX_BYTES // 1024**2} MB")
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from error


def read_text(path: Path) -> str:
    """Return the text of a file. Raises `SourceError` for what `check_file` refuses or no text."""
    check_file(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from error
    return decode(data)


def parse_text(text: str, source_id: str, uri: str) -> Document:
    """Read plain text; it states no title."""
    return Document(source_id, text, uri=uri)


_FRONT = re.compile(
    r"---[ \t]*(?:\r\n|\n|\r)[\w-]+:.*?(?:\r\n|\n|\r)---[ \t]*(?:\r\n|\n|\r|\Z)", re.DOTALL
)
"""Metadata at the front of a Markdown file: to the parser it would be one long heading."""
_TITLE = re.compile(r"[\r\n]title:[ \t]*[\"']?([^\r\n]*[^\s\"'])")

_markdown = MarkdownIt("commonmark").enable("table")


def parse_markdown(text: str, source_id: str, uri: str) -> Document:
    """Read Markdown as it is written; headings come from the parser.

    The title is the one that metadata at the front states, else the first heading.
    """
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    front = _FRONT.match(text)
    headings = []
    for token, inline in pairwise(_markdown.parse(text)):
        if token.type != "heading_open" or not token.map:
            continue
        start, name = starts[token.map[0]], _bare(inline)
        if name and not (front and start < front.end()):
            headings.append(Heading(start, int(token.tag[1:]), name))
    stated = _TITLE.search(front[0]) if front else None
    title = stated[1] if stated else headings[0].text if headings else ""
    return Document(source_id, text, title, tuple(headings), uri)


def _bare(inline: Token) -> str:
    """Return the text of a heading without its markup."""
    shown = (
        " " if child.type.endswith("break") else child.content
        for child in inline.children or ()
        if child.type != "html_inline"
    )
    return " ".join("".join(shown).split())


DOCUMENTS: dict[str, Callable[[str, str, str], Document]] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".html": parse_html,
    ".htm": parse_html,
    ".txt": parse_text,
    ".text": parse_text,
}
