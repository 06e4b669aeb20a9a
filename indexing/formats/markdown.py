"""Markdown -> the text as it is written, with the places of its headings; tables by row.

A row of a table becomes ``Column: value; Column: value``; nothing else is rewritten.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chunking.types import Document, Heading
from indexing.formats.table import row_lines

_NEWLINE = re.compile(r"\r\n|\n|\r")
_FRONT = re.compile(
    r"---[ \t]*(?:\r\n|\n|\r)[\w-]+:.*?(?:\r\n|\n|\r)---[ \t]*(?:\r\n|\n|\r|\Z)", re.DOTALL
)
"""Metadata at the front of a Markdown file: to the parser it would be one long heading."""
_TITLE = re.compile(r"[\r\n]title:[ \t]*[\"']?([^\r\n]*[^\s\"'])")

_TAGS = re.compile(
    r"[\r\n]tags:[ \t]*(?:\[([^\]]*)\]|([^\r\n]+)|((?:(?:\r\n|\n|\r)[ \t]*-[ \t][^\r\n]+)+))"
)
"""``tags: [a, b]``, ``tags: a, b``, or a line ``- a`` for each."""

_markdown = MarkdownIt("commonmark").enable("table")


def parse_markdown(text: str) -> Document:
    """Read Markdown; headings and tables come from the parser.

    The title is the one that metadata at the front states, else the first heading; tags are those
    of the metadata.
    """
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text)), len(text)]
    front = _FRONT.match(text)
    skipped = front.end() if front else 0
    tokens = _markdown.parse(text)
    edits = [
        (starts[first], starts[last], lines)
        for first, last, lines in _tables(tokens)
        if starts[first] >= skipped
    ]
    written, moved = _rewritten(text, edits)
    headings = []
    for token, inline in pairwise(tokens):
        if token.type != "heading_open" or not token.map:
            continue
        start, name = starts[token.map[0]], _bare(inline)
        if name and start >= skipped:
            headings.append(Heading(moved(start), int(token.tag[1:]), name))
    stated = _TITLE.search(front[0]) if front else None
    title = stated[1] if stated else headings[0].text if headings else ""
    return Document("", written, title, tuple(headings), tags=_tags(front[0]) if front else ())


def _tags(front: str) -> tuple[str, ...]:
    r"""Return the tags that metadata states.

    >>> _tags("---\ntags: [Plans, 'q3']\n---\n"), _tags("---\ntags:\n- a b\n- c\n---\n")
    (('Plans', 'q3'), ('a b', 'c'))
    """
    found = _TAGS.search(front)
    if not found:
        return ()
    listed, said, lines = found.groups()
    parts = _NEWLINE.split(lines) if lines else (listed or said or "").split(",")
    bare = (re.sub(r"^[ \t]*-[ \t]", "", part) if lines else part for part in parts)
    return tuple(tag for part in bare if (tag := part.strip().strip("\"'").strip()))


def _bare(inline: Token) -> str:
    """Return the text of a heading without its markup."""
    shown = (
        " " if child.type.endswith("break") else child.content
        for child in inline.children or ()
        if child.type != "html_inline"
    )
    return " ".join("".join(shown).split())


def _tables(tokens: list[Token]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the first line of each table, the line after it, and its rows as lines of text."""
    rows: list[list[str]] = []
    lines = (0, 0)
    for token in tokens:
        if token.type == "table_open" and token.map:
            rows, lines = [], (token.map[0], token.map[1])
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token.content)
        elif token.type == "table_close":
            if len(rows) > 1:
                yield *lines, list(row_lines(rows, header=True))
            rows = []


def _rewritten(
    text: str, edits: list[tuple[int, int, list[str]]]
) -> tuple[str, Callable[[int], int]]:
    """Replace spans by lines; return the new text, and where an old position is in it."""
    parts, ends, shifts = [], [0], [0]
    for start, end, lines in edits:
        block = text[start:end]
        tail = block[len(block.rstrip("\r\n")) :]
        made = "\n\n".join(lines) + tail
        parts += [text[ends[-1] : start], made]
        ends.append(end)
        shifts.append(shifts[-1] + len(made) - (end - start))
    parts.append(text[ends[-1] :])
    return "".join(parts), lambda at: at + shifts[bisect_right(ends, at) - 1]
