"""What a closed session leaves in its user's memory: how it is named, and where it is: `left_by`.

An entry of the notebook is a source ``note:SESSION:ENTRY``, the digest one ``session-digest:…``,
both with digests for names. They carry the session's tag, an entry its turn's too. Whoever forgets
the session, or a turn of it, forgets them.
"""

from collections.abc import Collection

from indexing.hashing import digest
from indexing.mentions import spread
from indexing.store import VectorStore
from indexing.tags import MAX_TAG_CHARS, tags_of
from indexing.types import Filter, Memory, user_scope

NOTE, DIGEST = "note:", "session-digest:"
"""Begin the ids of the sources: of the notebook's entries, and of digests."""


def session_tag(session_id: str) -> str:
    """Return the tag of what comes from a session; that of a long id is shown by its digest.

    Tags are folded, so two sessions may share one; names of sources are exact.
    """
    whole = f"session:{session_id.strip()}"
    fits = len(whole) <= MAX_TAG_CHARS
    return whole if fits and session_id.strip() else f"session:{digest(session_id)[:32]}"


def turn_tag(seq: int) -> str:
    """Return the tag of what a turn says."""
    return f"turn:{seq}"


def note_name(session_id: str, *parts: str) -> str:
    """Name an entry of the notebook as a source: by its session and by what it is."""
    return f"{_notes(session_id)}{digest(*parts)[:32]}"


def digest_name(session_id: str) -> str:
    """Name the digest of a session as a source."""
    return f"{DIGEST}{digest(session_id)[:32]}"


def _notes(session_id: str) -> str:
    return f"{NOTE}{digest(session_id)[:16]}:"


def origin(memory: Memory) -> str:
    """Say where a memory without a place of its own comes from: its session's tag, or ``told``."""
    tags = (tag for tag in memory.tags if tag.startswith("session:"))
    left = memory.source_id.startswith((NOTE, DIGEST))
    return next(tags, "told") if left else "told"


def left_by(
    store: VectorStore, user_id: str, session_id: str, seqs: Collection[int] | None = None
) -> list[str]:
    """Return the ids of the sources that a session, or these turns of it, left with its user.

    Of turns the digest is among them: it is made anew without them when the session is closed.
    """
    scope, tags = user_scope(user_id), tags_of((session_tag(session_id),))
    turns = None if seqs is None else {turn_tag(seq) for seq in seqs}
    found = set()
    for memory in store.scroll(scope.collection, Filter(scope, tags=tags)):
        for place in spread(memory):
            mine = place.source_id.startswith(_notes(session_id))
            if place.source_id == digest_name(session_id) or (
                mine and (turns is None or not turns.isdisjoint(place.tags))
            ):
                found.add(place.source_id)
    return sorted(found)
