"""Makes a Word file plain before it is read: what reviewers, forms and frames hold becomes text.

Does: accepts tracked changes, opens content controls, puts text boxes and notes after the paragraph
that they belong to. Does not: keep pictures or macros.
"""

import io
import zipfile
from typing import TYPE_CHECKING

from indexing.errors import SourceError
from indexing.formats.container import Container

if TYPE_CHECKING:
    from lxml.etree import _Element

BODY = "word/document.xml"
NOTES = {"word/footnotes.xml": "footnote", "word/endnotes.xml": "endnote"}
_MACROS = b"application/vnd.ms-word.document.macroEnabled.main+xml"
_NO_MACROS = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_OPENED = [f"{_W}{name}" for name in ("ins", "moveTo", "smartTag", "sdt", "sdtContent")]
_DROPPED = [f"{_W}{name}" for name in ("del", "moveFrom", "sdtPr", "sdtEndPr")]


def plain(container: Container) -> io.BytesIO:
    """Return the same file with its text where a reader of paragraphs and tables finds it."""
    from lxml import etree

    root = _root(container, BODY)
    for node in list(root.iter(*_DROPPED)):
        _parent(node).remove(node)
    for node in list(root.iter(f"{_W}txbxContent")):
        if next(node.iterancestors(_FALLBACK), None) is None:
            _after(_paragraph(node), list(node))
    for name, kind in NOTES.items():
        if name in container.names:
            _add_notes(root, _root(container, name), kind)
    for node in list(root.iter(*_OPENED)):
        for child in list(node):
            node.addprevious(child)
        _parent(node).remove(node)
    return _packed(container, etree.tostring(root, encoding="UTF-8", xml_declaration=True))


def _root(container: Container, name: str) -> "_Element":
    from lxml import etree

    safe = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        return etree.fromstring(container.read(name), safe)
    except etree.XMLSyntaxError as error:
        raise SourceError(f"damaged container: XMLSyntaxError in {name}") from error


def _add_notes(root: "_Element", notes: "_Element", kind: str) -> None:
    """Put the paragraphs of each note after the one that refers to it."""
    found = {note.get(f"{_W}id"): note for note in notes.iter(f"{_W}{kind}")}
    for mark in list(root.iter(f"{_W}{kind}Reference")):
        note = found.pop(mark.get(f"{_W}id"), None)
        if note is not None:
            _after(_paragraph(mark), list(note))


def _paragraph(node: "_Element") -> "_Element":
    """Return the outermost paragraph around a node."""
    around = list(node.iterancestors(f"{_W}p"))
    return around[-1] if around else node


def _after(place: "_Element", nodes: "list[_Element]") -> None:
    for node in reversed(nodes):
        place.addnext(node)


def _parent(node: "_Element") -> "_Element":
    parent = node.getparent()
    if parent is None:
        raise SourceError(f"damaged container: no text in {BODY}")
    return parent


def _packed(container: Container, body: bytes) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in container.names:
            picture = name.startswith(("word/media/", "word/embeddings/"))
            held = body if name == BODY else b"" if picture else container.read(name)
            archive.writestr(zipfile.ZipInfo(name), held.replace(_MACROS, _NO_MACROS))
    out.seek(0)
    return out
