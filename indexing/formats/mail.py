"""EML -> document: subject as title, who and when at its head, the body, then its attachments.

Quoted replies stay. An attachment that cannot be read is named with the reason.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import parsedate_to_datetime

from chunking.types import Document
from indexing.decode import decode
from indexing.errors import SourceError
from indexing.formats.html import parse_html
from indexing.formats.writer import Writer
from indexing.limits import Limits

SHOWN = ("From", "To", "Cc", "Date")

ReadPart = Callable[[bytes, str, str], Document]
"""Bytes, the file's name and its media type -> document; raises `SourceError`."""


def parse_mail(data: bytes, limits: Limits, read_part: ReadPart) -> Document:
    """Read a mail. Raises `SourceError` where it has neither a text nor an attachment."""
    message = message_from_bytes(data, policy=policy.default)
    writer = Writer(limits)
    shown = [f"{name}: {value}" for name in SHOWN if (value := _field(message, name))]
    writer.paragraph("\n".join(shown))
    body = message.get_body(("plain", "html"))
    text = _body(body) if body is not None else None
    if text is not None:
        writer.embed(text)
    count = 0
    for part in _others(message, body):
        count += 1
        limits.check_pages(count, "parts of a mail")
        _attach(writer, part, read_part)
    if text is None and not count:
        raise SourceError("a mail without text")
    return replace(writer.document(at=_date(message)), title=_field(message, "Subject"))


def _field(message: EmailMessage, name: str) -> str:
    """Return a header; one that is written in raw bytes of some encoding is read too."""
    raw = next((str(v) for key, v in message.raw_items() if key.lower() == name.lower()), "")
    try:
        raw.encode()
        value = str(message[name] or "")
    except UnicodeEncodeError:
        value = decode(raw.encode("ascii", "surrogateescape"))
    except (AttributeError, IndexError, LookupError, TypeError, ValueError):
        value = raw  # the standard library's parser fails on some damaged fields
    return " ".join(value.split())


def _date(message: EmailMessage) -> datetime | None:
    try:
        at = parsedate_to_datetime(_field(message, "Date"))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def _body(part: MIMEPart) -> Document | None:
    """Return the text of a part; None where it is empty."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not content.strip():
        return None
    text = decode(content, part.get_content_charset() or "")
    return parse_html(text) if part.get_content_subtype() == "html" else Document("", text)


def _others(message: EmailMessage, body: MIMEPart | None) -> Iterator[MIMEPart]:
    """Yield what is in a mail beside its body: no second form of it, picture in it or signature."""
    todo: list[MIMEPart] = [message]
    while todo:
        part = todo.pop()
        kind = part.get_content_type()
        if part is body or kind.endswith("-signature"):
            continue
        if kind == "multipart/alternative":
            own = part.get_body(("plain", "html"))
            if own is not None and not any(each is body for each in part.walk()):
                yield own
        elif part.get_content_maintype() == "multipart":
            if part.is_multipart():
                todo += reversed(list(part.iter_parts()))
        elif part.get_content_maintype() != "image" or part.is_attachment():
            yield part


def _attach(writer: Writer, part: MIMEPart, read_part: ReadPart) -> None:
    inner = next(iter(part.iter_parts()), None) if part.is_multipart() else None
    if inner is not None:  # a mail inside the mail
        content, name = inner.as_bytes(), part.get_filename() or "message.eml"
    else:
        payload = part.get_payload(decode=True)
        content, name = payload if isinstance(payload, bytes) else b"", part.get_filename() or ""
    try:
        document = read_part(content, name, part.get_content_type())
    except SourceError as error:
        writer.paragraph(f"Attachment: {name or part.get_content_type()} (not read: {error})")
        return
    writer.heading(1, name)
    writer.embed(document, deeper=1 if name else 0)
