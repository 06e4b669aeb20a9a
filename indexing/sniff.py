"""What a file is, by its bytes first and by its name where bytes do not tell.

Does: signatures, what is inside a ZIP container, the first lines of a text.
Does not: parse. A file that is known not to be a document is refused by name.
"""

import io
import re
import zipfile

from indexing.errors import SourceError

SUFFIXES = {
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".adoc", ".org", ".tex", ""), "text"),
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
    **dict.fromkeys((".eml", ".mht", ".mhtml"), "email"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "xlsx"),
    **dict.fromkeys((".docx", ".docm"), "docx"),
    **dict.fromkeys((".pptx", ".pptm"), "pptx"),
    ".pdf": "pdf",
    ".rtf": "rtf",
    ".epub": "epub",
    ".odt": "odt",
}
"""The formats that are read, by the ending of the file's name."""

MEDIA_TYPES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "message/rfc822": "email",
    "text/plain": "text",
}
"""Formats of an HTTP answer that bytes alone do not tell."""

TEXTS = {"text", "markdown", "html", "csv", "email"}
"""Formats without a signature."""

_REFUSED = (
    *((b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image")),
    *((b"II*\x00", "a TIFF image"), (b"MM\x00*", "a TIFF image"), (b"BM", "a BMP image")),
    *((b"\x1f\x8b", "a gzip archive"), (b"7z\xbc\xaf\x27\x1c", "a 7z archive")),
    *((b"Rar!", "a RAR archive"), (b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive")),
    *((b"\x7fELF", "a program"), (b"MZ", "a program"), (b"SQLite format 3\x00", "a database")),
    *((b"ID3", "an MP3 recording"), (b"OggS", "an Ogg recording"), (b"fLaC", "a FLAC recording")),
    *((b"RIFF", "a media file"), (b"\x1aE\xdf\xa3", "a video"), (b"AT&TFORM", "a DjVu document")),
    *((b"\x00\x01\x00\x00", "a font"), (b"wOF", "a font"), (b"PAR1", "a Parquet file")),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PAGE = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", re.I)
_TAG = re.compile(rb"<[a-zA-Z!/]")
_FIELD = re.compile(
    rb"(?:from|to|cc|subject|date|received|message-id|mime-version|return-path|reply-to|x-[\w-]+"
    rb"|content-[\w-]+|dkim-signature|delivered-to)[ \t]*:",
    re.I,
)
_SENT = re.compile(
    rb"^(?:received|message-id|mime-version|return-path|delivered-to)[ \t]*:", re.I | re.MULTILINE
)
"""Fields that a mail program writes, and no person."""
_PARTS = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
_MIMETYPES = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.spreadsheet": "xlsx",
}


def sniff(data: bytes, suffix: str = "", media_type: str = "") -> str:
    """Return the format of a file: a value of `SUFFIXES`.

    Bytes that are certain beat the name. Raises `SourceError` for a format that is not read.
    """
    start = data[:1024]
    if b"%PDF-" in start:
        return "pdf"
    if start.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(data)
    if start.startswith(_OLE):
        return _in_ole(data)
    for signature, name in _REFUSED:
        # Two printable letters may also start a text; then a zero byte tells.
        if start.startswith(signature) and (not signature.isalnum() or b"\x00" in start):
            raise SourceError(f"format not supported: {name}")
    if start[4:8] == b"ftyp":
        raise SourceError("format not supported: a video or a photo")
    return _text(data, suffix.lower(), media_type)


def _text(data: bytes, suffix: str, media_type: str) -> str:
    """Tell the formats apart that are text, or that have lost their first bytes."""
    named = MEDIA_TYPES.get(media_type.partition(";")[0].strip().lower()) or SUFFIXES.get(suffix)
    start = data[:4096].removeprefix(b"\xef\xbb\xbf")
    if _PAGE.match(start):
        return "html"
    fields = _fields(start)
    if (fields and named == "email") or (fields >= 3 and _SENT.search(start)):
        return "email"
    if named is None:
        raise SourceError(f"format not supported: {suffix}")
    if named == "email" or (named == "html" and not _wide(start) and not _TAG.search(data)):
        return "text"
    if named in TEXTS:
        return named
    if named == "pdf" and (b"endobj" in data or b"startxref" in data):
        return named
    return "text"


def _wide(start: bytes) -> bool:
    return b"\x00" in start


def _fields(start: bytes) -> int:
    """Count the header lines of a mail that a text opens with."""
    count = 0
    for line in start.lstrip().splitlines():
        if not line.strip():
            break
        if _FIELD.match(line):
            count += 1
        elif not line[:1].isspace() and not re.match(rb"[\w-]+:", line):
            return 0
    return count


def _in_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            kind = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                kind = archive.read("mimetype").strip()
    except Exception as error:
        raise SourceError(f"damaged container ({type(error).__name__}): cut short?") from error
    if kind in _MIMETYPES:
        return _MIMETYPES[kind]
    if "META-INF/container.xml" in names:
        return "epub"
    for prefix, found in _PARTS.items():
        if "[Content_Types].xml" in names and any(name.startswith(prefix) for name in names):
            return found
    raise SourceError("format not supported: a ZIP archive; unpack it and add its files")


def _in_ole(data: bytes) -> str:
    def holds(stream: str) -> bool:
        return stream.encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        raise SourceError("encrypted: it asks for a password; save it without one")
    if holds("Workbook") or holds("Book"):
        return "xlsx"
    for stream, name, newer in (
        ("WordDocument", "Word 97", ".docx"),
        ("PowerPoint Document", "PowerPoint 97", ".pptx"),
        ("__properties_version1.0", "Outlook message", ".eml"),
    ):
        if holds(stream):
            raise SourceError(f"format not supported: {name}; save it as {newer}")
    raise SourceError("format not supported: an old Office file")
