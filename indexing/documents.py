"""A document -> a source ready to be written: cut into chunks, or refused."""

from collections.abc import Sequence

from chunking.types import Document
from indexing.errors import ConfigError, InvalidInput, SourceError
from indexing.index import Recipe, Source
from indexing.tags import tags_of


def document_source(
    recipe: Recipe,
    document: Document,
    content_hash: str,
    chunker: str = "",
    tags: Sequence[str] = (),
) -> Source:
    """Cut a document, with the chunker of that name or the usual one; it gets its tags and these.

    Raises `SourceError` when nothing in it can be indexed or its tags cannot be, `ConfigError` for
    an unknown chunker.
    """
    if chunker and chunker not in recipe.chunkers:
        raise ConfigError(f"no chunker {chunker!r}; there are {', '.join(recipe.chunkers)}")
    cutter = recipe.chunkers[chunker or recipe.documents]
    chunks = cutter.chunk(document)
    if not chunks:
        raise SourceError("no text to index")
    context = cutter.late.document(document) if cutter.late else None
    try:
        filed = tags_of(document.tags, tags)
    except InvalidInput as error:
        raise SourceError(f"tags: {error}") from error
    return Source(
        document.source_id,
        "document",
        content_hash,
        chunks,
        document.uri,
        context=context,
        tags=filed,
    )
