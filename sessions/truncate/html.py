"""A page: its visible text, cut as the text that it is."""

from indexing.errors import SourceError
from indexing.formats.html import parse_html


def page_text(page: str) -> str:
    """Return the visible text of a page; a page that shows none as it is."""
    try:
        return parse_html(page).text
    except SourceError:
        return page
