"""EPUB -> document: the chapters in reading order, each read as a page of HTML."""

from posixpath import dirname, normpath
from urllib.parse import unquote, urljoin
from xml.etree.ElementTree import Element

from chunking.types import Document
from indexing.decode import decode
from indexing.errors import SourceError
from indexing.formats.container import Container
from indexing.formats.html import parse_html
from indexing.formats.writer import Writer
from indexing.limits import Limits

ENCRYPTION = "META-INF/encryption.xml"
_OPF = "{http://www.idpf.org/2007/opf}"


def parse_epub(data: bytes, limits: Limits) -> Document:
    """Read a book. A chapter that is missing or damaged fails the whole: nothing goes silently."""
    container = Container(data, limits)
    root = container.xml("META-INF/container.xml")
    place = next((e.get("full-path") for e in root.iter() if e.tag.endswith("}rootfile")), None)
    if not place:
        raise SourceError("damaged book: it names no package file")
    package = container.xml(place)
    chapters = _chapters(package, dirname(place))
    limits.check_pages(len(chapters), "chapters")
    writer = Writer(limits)
    for name in chapters:
        try:
            writer.embed(parse_html(decode(container.read(name))))
        except SourceError as error:
            if str(error) not in {"a page without visible text", "empty file"}:
                raise
    return writer.document(container.title(place))


def _chapters(package: Element, folder: str) -> list[str]:
    """Return the files of the reading order."""
    files = {
        item.get("id"): normpath(urljoin(f"{folder}/" if folder else "", unquote(href)))
        for item in package.iter(f"{_OPF}item")
        if (href := item.get("href")) and "html" in item.get("media-type", "")
    }
    order = (item.get("idref") for item in package.iter(f"{_OPF}itemref"))
    return [files[name] for name in order if name in files]
