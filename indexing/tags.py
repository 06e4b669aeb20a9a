"""Tags: what a person files a memory under. `tags_of` is the one form in which they are kept."""

import unicodedata
from collections.abc import Iterable

from indexing.errors import InvalidInput

MAX_TAGS = 32
MAX_TAG_CHARS = 64


def tags_of(*given: Iterable[str]) -> tuple[str, ...]:
    """Return tags as they are kept and asked for: NFKC, casefolded, trimmed, each once, in order.

    Raises `InvalidInput` for a tag that is empty, longer than 64 characters or not valid Unicode,
    and for more than 32.

    >>> tags_of(["Отчёт ", "Q3"], ["q3"])
    ('q3', 'отчёт')
    """
    tags = sorted({_folded(tag) for some in given for tag in _each(some)})
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"{len(tags)} tags; a memory has at most {MAX_TAGS}")
    return tuple(tags)


def _each(some: Iterable[str]) -> Iterable[str]:
    if isinstance(some, str):
        raise InvalidInput("tags are a list of texts, not one text")
    return some


def _folded(tag: str) -> str:
    if not isinstance(tag, str):
        raise InvalidInput(f"a tag is a text, not {type(tag).__name__}")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", tag).casefold()).strip()
    if not 1 <= len(folded) <= MAX_TAG_CHARS:
        raise InvalidInput(f"a tag has 1 to {MAX_TAG_CHARS} characters, not {len(folded)}")
    try:
        folded.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("a tag is not valid Unicode (a lone surrogate)") from error
    return folded
