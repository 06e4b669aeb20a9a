"""Digests of closed sessions in their user's memory: `write_episode`, and `episodes` to find them.

A digest is longer than a memory may be, so it is stored in parts, cut between lines, each under the
day of its session. It is found by any part and always returned whole and dated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chunking.types import Chunk, TokenSpans
from indexing.errors import Forgotten
from indexing.hashing import digest as hashed
from indexing.index import Index, Report, Source
from indexing.left_behind import DIGEST, digest_name, session_tag
from indexing.mentions import spread
from indexing.tags import MAX_TAG_CHARS, MAX_TAGS, tags_of
from indexing.template import day
from indexing.types import Filter, Memory, user_scope
from indexing.write import write_batch
from retrieval.retriever import Retriever
from retrieval.types import Narrow
from sessions.digest_text import as_text
from sessions.types import Digest

MARK = "digest:"
"""Begins the tag that names what the digest said when it was stored, also after a correction."""

SHARE = 0.25
"""What of the best score an episode needs."""

PARTS = 6
"""Parts that are looked at for each episode that is asked for."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A session as it is remembered: its digest, when it ended, its tags and the best score."""

    source_id: str
    text: str
    at: datetime | None
    tags: tuple[str, ...]
    score: float


def write_episode(index: Index, digest: Digest) -> bool:
    """Store a digest in its user's scope in place of the session's earlier one.

    Durable when it returns; False where this very digest is there already, as the user may have
    corrected it, or where it was forgotten. Raises `StoreError`, `ModelError`.
    """
    scope = user_scope(digest.user_id)
    name = digest_name(digest.session_id)
    text = as_text(digest).text
    tags = _tags(digest, text)
    held = list(index.store.scroll(scope.collection, Filter(scope, source_ids=(name,))))
    if any(_mark(text) in memory.all_tags for memory in held):
        return False
    parts = cut(text, index.recipe.spans, index.recipe.fact_tokens)
    title = day(digest.ended_at, text) if digest.ended_at else ""
    source = Source(
        name,
        "digest",
        hashed(text, *tags),
        [
            Chunk(name, number, start, end, text[start:end], title=title, at=digest.ended_at)
            for number, (start, end) in enumerate(parts)
        ],
        change="changed" if held else "new",
        tags=tags,
    )
    report = Report()
    try:
        write_batch(index, scope, [source], report)
    except Forgotten:
        return False
    return not report.forgotten


def cut(text: str, spans: TokenSpans, limit: int) -> list[tuple[int, int]]:
    """Return the parts of a text, of whole lines, each within a limit of tokens.

    A line that is longer is cut between its tokens.
    """
    found: list[tuple[int, int]] = []
    for start, end in _lines(text, spans, limit):
        if found and len(spans(text[found[-1][0] : end])) <= limit:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _lines(text: str, spans: TokenSpans, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a text that have any; of a long one pieces without a gap between them."""
    start = 0
    for line in text.split("\n"):
        tokens = [(start + first, start + last) for first, last in spans(line)]
        for number in range(0, len(tokens), limit):
            after = number + limit
            end = tokens[after][0] if after < len(tokens) else tokens[-1][1]
            yield tokens[number][0], end
        start += len(line) + 1


def _mark(text: str) -> str:
    return f"{MARK}{hashed(text)[:16]}"


def _tags(digest: Digest, text: str) -> tuple[str, ...]:
    """Return the topics as tags, with those that name the session and the digest."""
    named = (session_tag(digest.session_id), _mark(text))
    topics = [topic for topic in digest.topics if 0 < len(topic.strip()) <= MAX_TAG_CHARS]
    return tags_of(named, topics[: MAX_TAGS - len(named)])


def episodes(
    retriever: Retriever, query: str, user_id: str, k: int = 3, narrow: Narrow | None = None
) -> tuple[Episode, ...]:
    """Return the sessions of a user that a question is about, the best first, whole and dated.

    At most k; none whose score is below a quarter of the best one's (`SHARE`).
    Raises as `Retriever.retrieve` does.
    """
    scope = user_scope(user_id)
    chosen = replace(narrow or Narrow(), kinds=("digest",))
    found = retriever.retrieve(query, user_id, k=k * PARTS, narrow=chosen)
    scores: dict[str, float] = {}
    for hit in found:
        for memory in (hit.memory, *hit.also):
            if memory.scope == scope:
                for name in memory.sources:
                    if name.startswith(DIGEST):
                        scores.setdefault(name, hit.score)
    floor = SHARE * max(0.0, *scores.values()) if scores else 0.0
    names = [name for name, score in scores.items() if score >= floor or not floor][:k]
    where = Filter(scope, now=retriever.clock(), source_ids=tuple(names))
    held = list(retriever.store.scroll(scope.collection, where)) if names else []
    return tuple(_episode(name, held, scores[name]) for name in names)


def _episode(name: str, held: Sequence[Memory], score: float) -> Episode:
    """Put the parts of a digest together, in their order."""
    parts = [part for memory in held for part in spread(memory) if part.source_id == name]
    parts.sort(key=lambda part: (part.ordinal, part.start))
    tags = sorted({tag for part in parts for tag in part.tags})
    at = next((part.at for part in parts if part.at), None)
    return Episode(name, _joined(parts), at, tuple(tags), score)


def _joined(parts: Sequence[Memory]) -> str:
    text, end = "", 0
    for part in parts:
        text += part.text if part.start == end else f"\n{part.text}"
        end = part.end
    return text
