"""Bytes -> text: by BOM, then UTF-8, then by detection; what is not text is refused."""

import re

from charset_normalizer import from_bytes

from indexing.errors import SourceError

ENCODINGS = ["cp1251", "koi8_r", "cp866", "cp1252"]

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.ASCII | re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]")


def decode(data: bytes, stated: str = "") -> str:
    """Return the text of bytes in any common encoding of Russian or English.

    ``stated`` is the encoding that the file names; it is believed where the bytes are no UTF.
    Raises `SourceError` for empty input and for what has more control characters than a text.
    """
    text = _decode(data, stated)
    if not text.strip():
        raise SourceError("empty file")
    if len(_CONTROL.findall(text)) > len(text) // 100:
        raise SourceError("binary content, not text")
    return text


def stated_charset(data: bytes, media_type: str = "") -> str:
    """Return the encoding that a page or the header of its HTTP answer names; empty for none.

    >>> stated_charset(b'<meta charset="windows-1251">')
    'windows-1251'
    """
    found = _CHARSET.search(media_type.encode()) or _CHARSET.search(data[:2048])
    return found[1].decode() if found else ""


def _decode(data: bytes, stated: str) -> str:
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
    except UnicodeDecodeError as error:
        _check_damage(data, error)
    if stated and (text := _decode_stated(data, stated)) is not None:
        return text
    best = from_bytes(data, cp_isolation=ENCODINGS).best()
    if best is None:
        raise SourceError("binary content or an unknown encoding")
    return str(best)


def _decode_stated(data: bytes, stated: str) -> str | None:
    """Decode as the file asks; None where it is wrong about itself."""
    try:
        return data.decode(stated)
    except (LookupError, UnicodeError, ValueError):
        return None


def _check_damage(data: bytes, error: UnicodeDecodeError) -> None:
    """Raise `SourceError` for UTF-8 with a few broken bytes: another encoding makes it garbage."""
    text = data.decode(errors="replace")
    broken = text.count("\ufffd")
    letters = len(text) - broken - len(text.encode("ascii", "ignore"))
    if letters > 10 * broken:
        raise SourceError(f"broken utf-8 at byte {error.start}: {error.reason}") from error


def _decode_wide(data: bytes) -> str:
    """Decode UTF-16 without a BOM: the byte plane with the fewest values is the high one.

    UTF-32 has two planes of zeros.
    """
    planes = [set(data[i:8000:4]) for i in range(4)]
    for high, encoding in ((planes[2:], "utf-32-le"), (planes[:2], "utf-32-be")):
        if len(data) % 4 == 0 and all(plane <= {0, 1} for plane in high):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                raise SourceError("binary content, not text") from error
    even, odd = (len(set(data[side:8000:2])) for side in (0, 1))
    if min(even, odd) > 8:
        raise SourceError("binary content, not text")
    try:
        return data.decode("utf-16-be" if even < odd else "utf-16-le")
    except UnicodeDecodeError as error:
        raise SourceError("binary content, not text") from error
