"""Plain text: as it is. It states no title."""

from chunking.types import Document


def parse_text(text: str) -> Document:
    """Read plain text."""
    return Document("", text)
