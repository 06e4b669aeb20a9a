"""One statement -> one memory: `remember`, and what was said about a subject: `history`.

A statement about a subject ends the one that held before it, whoever says it first to the store:
what counts is when it was said. The subject is given, or read from a plain statement by rules.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import get_args

from chunking.types import Chunk
from indexing.chains import in_order
from indexing.dedup import exact_key
from indexing.errors import Forgotten, InvalidInput
from indexing.hashing import digest
from indexing.index import Index, Report, Source, Statement
from indexing.subjects import fold, subject_of
from indexing.tags import tags_of
from indexing.types import Filter, Kind, Memory, Scope, check_time
from indexing.write import write_batch

MAX_SUBJECT_CHARS = 256


def remember(
    index: Index,
    scope: Scope,
    text: str,
    kind: Kind = "fact",
    at: datetime | None = None,
    expires_at: datetime | None = None,
    subject: str | None = None,
    tags: Sequence[str] = (),
) -> Memory:
    """Store one statement and return the memory that holds it; durable when it returns.

    What says the same as a memory of the scope joins it. With a ``subject`` it replaces what was
    said about that subject before ``at``; None derives the subject from the text where that is
    safe, "" says that there is none. Told again with other ``tags`` it has those too. Raises
    `InvalidInput` for an empty text, one over the chunk or the model's limit, tags that cannot be,
    or a time that is naive or out of range, and `Forgotten`.
    """
    source = told_source(index, text, kind, at, expires_at, subject, tags)
    made = write_batch(index, scope, [source], Report())
    if not made.homes:
        raise Forgotten("source")
    (home,) = made.homes
    found = index.store.get(scope.collection, Filter(scope, ids=(home,)), limit=1)
    return found[0] if found else made.held[home]  # since then it was removed, or begins earlier


def told_source(
    index: Index,
    text: str,
    kind: Kind,
    at: datetime | None,
    expires_at: datetime | None,
    subject: str | None,
    tags: Sequence[str] = (),
) -> Source:
    """Return a statement as a source of one chunk; see `remember`."""
    _check(index, text, kind, at, expires_at, subject)
    filed = tags_of(tags)
    now = index.clock().astimezone(UTC)
    since = min(at.astimezone(UTC), now) if at else now
    statement = statement_of(text, since, subject) if kind == "fact" else None
    if kind != "fact" and subject:
        raise InvalidInput(f"only a fact has a subject, not a {kind}")
    about = statement.subject if statement else ""
    source_id = told_name(kind, text, about, at)
    return Source(
        source_id,
        kind,
        told_hash(text, about, at),
        [Chunk(source_id, 0, 0, len(text), text, at=at)],
        expires_at=expires_at,
        told=True,
        statement=statement,
        tags=filed,
    )


def history(index: Index, scope: Scope, subject: str) -> list[Memory]:
    """Return all that was said about a subject and has not expired, in the order it held."""
    where = Filter(scope, now=index.clock(), subjects=(subject,), superseded=True)
    return in_order(index.store.scroll(scope.collection, where))


def told_name(kind: Kind, text: str, subject: str, at: datetime | None) -> str:
    """Name what is told as a source: the same for the same words on a subject at a time."""
    return f"{kind}:{digest(exact_key(text) or text, subject, _moment(at))[:32]}"


def told_hash(text: str, subject: str, at: datetime | None) -> str:
    """Return the content hash of what is told."""
    return digest(text, subject, _moment(at))


def _moment(at: datetime | None) -> str:
    return at.astimezone(UTC).isoformat() if at else ""


def statement_of(text: str, since: datetime, subject: str | None) -> Statement | None:
    """Return what a text states: with the subject given, or the one that rules find."""
    if subject == "":
        return None
    found = subject_of(text)
    if subject is None:
        if found is None:
            return None
        value = fold(found.value)
        return Statement(found.key, value, since, found.closes, found.replaces)
    if found is not None and found.key == subject:
        return Statement(subject, fold(found.value), since, found.closes, found.replaces)
    return Statement(subject, fold(text), since)


def check_told(index: Index, text: str, subject: str = "") -> None:
    """Raise `InvalidInput` for a text that is empty, too long or not valid Unicode."""
    if not text.strip():
        raise InvalidInput("there is nothing to remember: the text is empty")
    try:
        f"{text}{subject}".encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("the text is not valid Unicode (a lone surrogate)") from error
    size = len(index.recipe.spans(text))
    if size > index.recipe.fact_tokens:
        raise InvalidInput(
            f"a fact of {size} tokens is over the limit of {index.recipe.fact_tokens}: "
            "ingest it as a document"
        )


def _check(
    index: Index,
    text: str,
    kind: Kind,
    at: datetime | None,
    expires_at: datetime | None,
    subject: str | None,
) -> None:
    for name, given in (("at", at), ("expires_at", expires_at)):
        if given is not None:
            check_time(given, name)
    check_told(index, text, subject or "")
    if kind not in get_args(Kind):
        raise InvalidInput(f"kind {kind!r} is none of {', '.join(get_args(Kind))}")
    if subject and (len(subject) > MAX_SUBJECT_CHARS or not subject.strip()):
        raise InvalidInput(
            f"a subject is a name of 1 to {MAX_SUBJECT_CHARS} characters, such as user.home"
        )
