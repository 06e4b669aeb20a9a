"""DOCX and PPTX -> documents, through `unstructured`.

Its elements give headings by style, slides and pages, lists, tables and notes. It runs offline: the
English model that it would download is only asked where sentences end, and is replaced by rules.
"""

import io
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from chunking.types import Document
from indexing.formats.container import PROPERTIES, Container
from indexing.formats.docx_parts import plain
from indexing.formats.extra import needs
from indexing.formats.html import table_rows
from indexing.formats.writer import Writer
from indexing.limits import Limits

if TYPE_CHECKING:
    from unstructured.documents.elements import Element


def parse_docx(data: bytes, limits: Limits) -> Document:
    """Read a Word document; it has pages where Word wrote down its page breaks."""
    container = Container(data, limits)
    with needs("DOCX"):
        from unstructured.partition.docx import partition_docx

        _offline()
    found = partition_docx(file=plain(container), include_page_breaks=True, languages=[""])
    return _document(container, limits, found)


def parse_pptx(data: bytes, limits: Limits) -> Document:
    """Read a presentation: a slide is a page, its title a heading; notes follow the title."""
    container = Container(data, limits)
    slides = sum(name.startswith("ppt/slides/slide") for name in container.names)
    limits.check_pages(slides, "slides")
    with needs("PPTX"):
        from unstructured.partition.pptx import partition_pptx

        _offline()
    found = partition_pptx(
        file=io.BytesIO(data), include_slide_notes=True, include_page_breaks=True, languages=[""]
    )
    return _document(container, limits, _titles_first(found))


def _document(container: Container, limits: Limits, found: Iterable["Element"]) -> Document:
    writer = Writer(limits)
    page = 0
    for element in found:
        number = element.metadata.page_number or page
        limits.check_pages(number)
        for _ in range(number - page):
            writer.page()
        page = max(page, number)
        _add(writer, element)
    return writer.document(container.title(PROPERTIES))


def _add(writer: Writer, element: "Element") -> None:
    if element.category == "Table" and element.metadata.text_as_html:
        table = LexborHTMLParser(element.metadata.text_as_html).css_first("table")
        if table is not None:
            writer.table(table_rows(table))
    elif _is_heading(element):
        writer.heading((element.metadata.category_depth or 0) + 1, element.text)
    elif element.category not in {"Header", "Footer", "PageBreak"}:
        writer.paragraph(element.text)


def _is_heading(element: "Element") -> bool:
    """A title by style; in a slide only its own title, not the lines that look like one."""
    if element.category != "Title":
        return False
    return bool(element.metadata.style_name) or not element.metadata.category_depth


def _titles_first(found: Iterable["Element"]) -> Iterator["Element"]:
    """Yield the title of each slide before its notes."""
    slides: dict[int, list[Element]] = {}
    for element in found:
        slides.setdefault(element.metadata.page_number or 0, []).append(element)
    for number in sorted(slides):
        title = next(filter(_is_heading, slides[number]), None)
        if title is not None:
            yield title
        yield from (element for element in slides[number] if element is not title)


@cache
def _offline() -> None:
    """Give `unstructured` a splitter by rules in place of the model that it would download."""
    import spacy
    from unstructured.nlp import tokenize

    rules = spacy.blank("xx")
    rules.add_pipe("sentencizer")
    tokenize._get_nlp = cache(lambda: rules)
