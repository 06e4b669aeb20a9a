"""Cut a document into overlapping windows of tokens.

Does not: look at sections; `semantic` does.
"""

from chunking.outline import document_chunk, path_at
from chunking.types import Chunk, Document, TokenSpans
from chunking.windows import check, tokenise, windows


def fixed(document: Document, spans: TokenSpans, size: int = 256, overlap: int = 64) -> list[Chunk]:
    """Return chunks of at most `size` tokens, counted on each chunk's own text.

    Neighbours share at most `overlap` tokens. Ends prefer a paragraph, a sentence, a line, a word.
    Every character but white space is in some chunk; a blank document gives none. Raises
    `ChunkingError` unless ``size >= 1`` and ``0 <= overlap < size``.

    With one token a word, ``size=4, overlap=1``::

        One two. Three four five. Six.  ->  [One two. Three four] [four five. Six.]
    """
    check(size, overlap)
    path = path_at(document)
    tokens = tokenise(document.text, spans)
    return [
        document_chunk(document, ordinal, span, path(span[0]))
        for ordinal, span in enumerate(windows(tokens, size, overlap))
    ]
