"""Cut a session into chunks, one a turn, each with the turn before it.

Does not: join turns, cross into another session, cut tool results (`sessions` does).
"""

from chunking.cuts import word_start
from chunking.errors import ChunkingError
from chunking.types import Chunk, Session, TokenSpans, Turn
from chunking.windows import TRIES, Tokenised, check, tokenise, windows


def turns(
    session: Session,
    spans: TokenSpans,
    size: int = 256,
    overlap: int = 32,
    before_tokens: int = 64,
) -> list[Chunk]:
    """Return one chunk a turn; a turn over `size` tokens is cut into windows that overlap.

    ``source_id`` is the turn's id and ``ordinal`` counts within the turn. ``before`` is the last
    turn that is not blank, "Anna: where is it?", the same for every part of a turn, empty for the
    first turn; of a long one its last `before_tokens` tokens, from a word on. A turn without a
    speaker goes by its role. Blank turns give no chunk. Raises `ChunkingError` unless
    ``size >= 1``, ``0 <= overlap < size`` and ``before_tokens >= 0``.
    """
    check(size, overlap)
    if before_tokens < 0:
        raise ChunkingError(f"before_tokens must be at least 0, got {before_tokens}")
    found: list[Chunk] = []
    before = ""
    for turn in session.turns:
        tokens = tokenise(turn.text, spans)
        if tokens.start == tokens.end:
            continue
        for ordinal, (start, end) in enumerate(windows(tokens, size, overlap)):
            found.append(_chunk(turn, ordinal, start, end, before))
        said = _last(tokens, before_tokens)
        before = f"{turn.speaker or turn.role}: {said}" if said else ""
    return found


def _chunk(turn: Turn, ordinal: int, start: int, end: int, before: str) -> Chunk:
    return Chunk(
        source_id=turn.turn_id,
        ordinal=ordinal,
        start=start,
        end=end,
        text=turn.text[start:end],
        speaker=turn.speaker,
        role=turn.role,
        at=turn.at,
        before=before,
    )


def _last(tokens: Tokenised, limit: int) -> str:
    """Return the end of a text, at most `limit` tokens when tokenised alone."""
    if limit == 0:
        return ""
    text, start, end = tokens.text, tokens.start, tokens.end
    if len(tokens.starts) > limit:
        start = word_start(text, tokens.starts[-limit], end)
    for _ in range(TRIES):
        if tokens.over(start, end, limit) is None:
            return text[start:end].lstrip()
        found = tokens.spans(text[start:end])
        start = word_start(text, start + found[-limit][0], end)
    return text[max(start, end - limit) : end].lstrip()
