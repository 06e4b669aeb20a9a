"""Untrusted files -> documents and sessions: Markdown, HTML, plain text, JSONL of chat turns.

Every defect is a `SourceError` with a reason a person can act on; a bad line of a JSONL file is
its own error and the other lines are read. Files are decoded by BOM, then UTF-8, then by
detection; what is not text is refused, never guessed at.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from charset_normalizer import from_bytes
from markdown_it import MarkdownIt
from pydantic import AliasChoices, BaseModel, Field, ValidationError, field_validator
from selectolax.lexbor import LexborHTMLParser, LexborNode

from chunking.types import Document, Heading, Turn
from indexing.catalog import digest
from indexing.errors import LetopisError, SourceError
from indexing.types import check_id

MAX_BYTES = 100 * 1024 * 1024
ENCODINGS = ["cp1251", "koi8_r", "cp866", "cp1252"]

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_NEWLINE = re.compile(r"\r\n|\n|\r")


def read_text(path: Path) -> str:
    """Return the text of a file. Raises `SourceError` for what is missing, too large or no text."""
    try:
        if not path.is_file():
            raise SourceError("not a file" if path.exists() else "no such file")
        if path.stat().st_size > MAX_BYTES:
            raise SourceError(f"larger than {MAX_BYTES // 1024**2} MB")
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from error
    return decode(data)


def decode(data: bytes) -> str:
    """Return the text of bytes in any common encoding of Russian or English.

    Raises `SourceError` for empty input and for what has more control characters than a text.
    """
    text = _decode(data)
    if not text.strip():
        raise SourceError("empty file")
    if len(_CONTROL.findall(text)) > len(text) // 100:
        raise SourceError("binary content, not text")
    return text


def _decode(data: bytes) -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                raise SourceError(f"broken {encoding}: {error.reason}") from error
    if data[:8000].count(0) * 100 > len(data[:8000]):
        return _decode_wide(data)
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    best = from_bytes(data, cp_isolation=ENCODINGS).best()
    if best is None:
        raise SourceError("binary content or an unknown encoding")
    return str(best)


def _decode_wide(data: bytes) -> str:
    """Decode UTF-16 without a BOM: the byte plane with the fewest values is the high one."""
    even, odd = (len(set(data[side:8000:2])) for side in (0, 1))
    if min(even, odd) > 8:
        raise SourceError("binary content, not text")
    try:
        return data.decode("utf-16-be" if even < odd else "utf-16-le")
    except UnicodeDecodeError as error:
        raise SourceError("binary content, not text") from error


def parse_text(text: str, source_id: str, uri: str) -> Document:
    """Read plain text; the title is the file's name."""
    return Document(source_id, text, title=Path(uri).stem, uri=uri)


_markdown = MarkdownIt("commonmark").enable("table")


def parse_markdown(text: str, source_id: str, uri: str) -> Document:
    """Read Markdown as it is written; headings come from the parser, the title is the first."""
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    headings = []
    tokens = _markdown.parse(text)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.map and inline.content.strip():
            name = " ".join(inline.content.split())
            headings.append(Heading(starts[token.map[0]], int(token.tag[1:]), name))
    title = headings[0].text if headings else Path(uri).stem
    return Document(source_id, text, title, tuple(headings), uri)


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
    name = name or (page.headings[0].text if page.headings else Path(uri).stem)
    return Document(source_id, body, name, tuple(page.headings), uri)


class _Page:
    """The text of a page while its tree is walked; white space folds as in a browser."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.headings: list[Heading] = []
        self._length = 0
        self._breaks = 0

    def walk(self, node: LexborNode, pre: bool = False) -> None:
        """Add the text below a node, a line a block, table cells joined by " | "."""
        for child in node.iter(include_text=True):
            tag = child.tag or ""
            if tag in _SKIPPED:
                continue
            if tag == "-text":
                self._write(child.text(deep=False) or "", pre)
                continue
            if tag in _BLOCKS or tag == "br":
                self._break(2 if tag in _PARAGRAPHS else 1)
            elif tag in {"td", "th"} and child.prev is not None and not self._breaks:
                self._write(" | ", pre=False)
            if re.fullmatch(r"h[1-6]", tag) and (name := " ".join(child.text().split())):
                start = self._length + (self._breaks if self.parts else 0)
                self.headings.append(Heading(start, int(tag[1]), name))
            self.walk(child, pre or tag == "pre")
            if tag in _BLOCKS:
                self._break(2 if tag in _PARAGRAPHS else 1)

    def _break(self, lines: int) -> None:
        self._breaks = max(self._breaks, lines)

    def _write(self, text: str, pre: bool) -> None:
        text = text.strip("\n") if pre else re.sub(r"\s+", " ", text)
        if self._breaks or not self.parts:
            text = text if pre else text.lstrip(" ")
            if not text.strip():
                return
            if self.parts:
                text = "\n" * self._breaks + text
        elif text == " " and self.parts[-1].endswith(" "):
            return
        self._breaks = 0
        self.parts.append(text)
        self._length += len(text)


class TurnRecord(BaseModel, extra="ignore"):
    """One line of a chat export, under the names that exports use."""

    text: str = Field(validation_alias=AliasChoices("text", "content", "message"))
    role: str
    at: datetime = Field(
        validation_alias=AliasChoices("at", "time", "timestamp", "created_at", "date")
    )
    turn_id: str = Field("", validation_alias=AliasChoices("turn_id", "id", "message_id"))
    session_id: str = Field(
        "", validation_alias=AliasChoices("session_id", "session", "conversation_id")
    )
    user_id: str = ""
    speaker: str = Field("", validation_alias=AliasChoices("speaker", "name"))

    @field_validator("role")
    @classmethod
    def _known_role(cls, role: str) -> str:
        if role not in ("user", "assistant", "system", "tool"):
            raise ValueError("must be user, assistant, system or tool")
        return role

    @field_validator("turn_id", "session_id", "user_id", mode="before")
    @classmethod
    def _number_to_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) else ("" if value is None else value)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chat export: its number and its turn, or why there is none."""

    number: int
    user_id: str = ""
    session_id: str = ""
    turn: Turn | None = None
    error: str = ""


def parse_turns(text: str, uri: str, timezone: str = "") -> Iterator[Line]:
    """Yield one `Line` per non-blank line of JSONL, good or bad.

    A line without a session id belongs to a session named after the file. A time without a zone
    is read in ``timezone``, and is an error where that is empty.
    """
    seen: dict[tuple[str, str], int] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        if not raw.strip():
            continue
        try:
            record = TurnRecord.model_validate(json.loads(raw))
            session_id = record.session_id or Path(uri).stem
            check_id(session_id, "session id")
            if record.user_id:
                check_id(record.user_id, "user id")
            at = _aware(record.at, timezone)
            record.text.encode()
        except ValidationError as error:
            yield Line(number, error=_reasons(error))
            continue
        except json.JSONDecodeError as error:
            yield Line(number, error=f"not JSON: {error}")
            continue
        except UnicodeEncodeError:
            yield Line(number, error="text: not valid Unicode (a lone surrogate)")
            continue
        except LetopisError as error:
            yield Line(number, error=str(error))
            continue
        turn_id = record.turn_id or _derived_id(record, seen)
        turn = Turn(turn_id, record.role, record.text, record.speaker, at)
        yield Line(number, record.user_id, session_id, turn)


def _aware(moment: datetime, timezone: str) -> datetime:
    if moment.tzinfo is not None:
        return moment
    if not timezone:
        raise SourceError("at: a time without a zone; write one (+03:00) or set ingest.timezone")
    return moment.replace(tzinfo=ZoneInfo(timezone))


def _derived_id(record: TurnRecord, seen: dict[tuple[str, str], int]) -> str:
    """Name a turn that has no id by its time and text, so overlapping exports agree."""
    key = (record.session_id, digest(record.role, record.at.isoformat(), record.text)[:16])
    seen[key] = seen.get(key, 0) + 1
    return key[1] if seen[key] == 1 else f"{key[1]}-{seen[key]}"


def _reasons(error: ValidationError) -> str:
    """Say what is wrong with a record, naming fields, without repeating its text."""
    found = []
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"]) or "line"
        reason = "missing" if problem["type"] == "missing" else problem["msg"]
        found.append(f"{where}: {reason}")
    return "; ".join(found)


DOCUMENTS: dict[str, Callable[[str, str, str], Document]] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".html": parse_html,
    ".htm": parse_html,
    ".txt": parse_text,
    ".text": parse_text,
}
TURNS = (".jsonl", ".ndjson")
