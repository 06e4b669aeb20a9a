"""Settings -> `Recipe`: how documents and sessions are cut, and what their chunks are read in.

The names of the chunkers are those of ``chunking.documents`` and of a source's ``chunker``.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from chunking.fixed import fixed
from chunking.semantic import semantic
from chunking.tokens import tiktoken_spans, tokenizer_spans
from chunking.turns import turns
from chunking.types import Chunker, TokenSpans
from configs.settings import Settings
from configs.text_settings import ChunkingSettings, LateSettings
from indexing import template
from indexing.dense import Embedder, TokenEmbedder, token_embedder
from indexing.errors import ConfigError
from indexing.index import Dedup, Recipe
from indexing.late import Cutter, Late, Share

MEAN_TERMS = {"document": 160.0, "turn": 40.0, "tool_result": 60.0, "fact": 12.0, "digest": 80.0}
"""Mean number of terms of a memory, by kind: BM25's length norm."""

LATE = "+late"
"""Ends the name of a chunker whose chunks are also read in the whole text."""


def build_recipe(settings: Settings, embedder: Embedder) -> Recipe:
    """Return how text becomes memories. Raises `ConfigError` for chunks the model cannot read."""
    chosen = settings.chunking
    if chosen.overlap >= chosen.size:
        raise ConfigError(f"chunking.overlap {chosen.overlap} is not below size {chosen.size}")
    needed = max(chosen.size, chosen.before) + template.HEADER_TOKENS + template.JOIN_TOKENS
    if needed > embedder.max_tokens:
        raise ConfigError(
            f"chunking.size {chosen.size} or before {chosen.before} with its header needs "
            f"{needed} tokens; "
            f"{embedder.name} reads {embedder.max_tokens}"
        )
    spans = token_spans(chosen, embedder)
    late = build_late(chosen.late_documents, embedder, chosen.documents.endswith(LATE))
    told = chosen.turns.endswith(LATE)
    return Recipe(
        chunkers=_cutters(chosen, spans, embedder, late),
        documents=chosen.documents,
        chunk_turns=partial(
            turns,
            spans=spans,
            size=chosen.size,
            overlap=min(32, chosen.size // 4),
            before_tokens=chosen.before,
        ),
        spans=spans,
        fact_tokens=chosen.size,
        factors=template.Factors(**settings.template.model_dump()),
        mean_terms=MEAN_TERMS,
        ttl={name: timedelta(days=days) for name, days in settings.ingest.ttl_days.items()},
        late_turns=build_late(chosen.late_turns, embedder, True) if told else None,
        dedup=Dedup(**settings.dedup.model_dump()),
    )


def build_late(chosen: LateSettings, embedder: Embedder, needed: bool) -> Late | None:
    """Return how texts are read whole, None for a model without token vectors.

    Raises `ConfigError` where they are needed from such a model, or a window is over its limit.
    """
    size = late_window(chosen, embedder)
    if needed:
        token_embedder(embedder).tokens(["probe"])
    if not isinstance(embedder, TokenEmbedder) or embedder.tokenizer is None:
        return None
    share = Share(chosen.share, chosen.length)
    return Late(tokenizer_spans(embedder.tokenizer), size, min(chosen.overlap, size // 2), share)


def late_window(chosen: LateSettings, embedder: Embedder) -> int:
    """Return the tokens of a window. Raises `ConfigError` for more than the model reads."""
    most = embedder.max_tokens - template.JOIN_TOKENS
    if chosen.window > most:
        raise ConfigError(
            f"a late window of {chosen.window} tokens (chunking.late_documents, late_turns) is "
            f"over the {most} that {embedder.name} reads"
        )
    return chosen.window or most


def token_spans(chosen: ChunkingSettings, embedder: Embedder) -> TokenSpans:
    """Return what counts tokens: the embedder's tokenizer where it has one, else tiktoken."""
    if chosen.tokens == "embedder" and embedder.tokenizer is not None:
        return tokenizer_spans(embedder.tokenizer)
    return tiktoken_spans("cl100k_base")


def _fixed(chosen: ChunkingSettings, spans: TokenSpans, embedder: Embedder) -> Chunker:
    return partial(fixed, spans=spans, size=chosen.size, overlap=chosen.overlap)


def _semantic(chosen: ChunkingSettings, spans: TokenSpans, embedder: Embedder) -> Chunker:
    encode = embedder.passages if chosen.drift else None
    return partial(semantic, spans=spans, size=chosen.size, encode=encode)


CHUNKERS: dict[str, Callable[[ChunkingSettings, TokenSpans, Embedder], Chunker]] = {
    "fixed": _fixed,
    "semantic": _semantic,
}


def _cutters(
    chosen: ChunkingSettings, spans: TokenSpans, embedder: Embedder, late: Late | None
) -> dict[str, Cutter]:
    plain = {name: Cutter(make(chosen, spans, embedder)) for name, make in CHUNKERS.items()}
    if late is None:
        return plain
    return plain | {name + LATE: Cutter(cut.chunk, late) for name, cut in plain.items()}
