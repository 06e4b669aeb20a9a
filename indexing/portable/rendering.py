"""What a JSON object says: its one obvious text, else its fields as ``key: value`` lines."""

import json
from collections.abc import Iterator

from indexing.errors import InvalidInput

TEXT_FIELDS = ("content", "text", "data", "memory")
"""Where the makers of memories put the text, in the order in which it is looked for."""

PLAIN = "Memory"
"""The kind of a memory that is nothing but its text."""

VECTOR_LENGTH = 32
"""A list of so many numbers or more is a vector, not something to read."""


def text_of(value: dict[str, object]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a value, and the names of its fields that are not in it.

    An envelope of ``kind`` and ``content`` is opened. Fields are rendered in the order of their
    names, so equal values make equal texts; null and empty ones say nothing.
    Raises `InvalidInput` where nothing is left to read.

    >>> text_of({"kind": "Memory", "content": {"content": "Anna lives in Tver"}})
    ('Anna lives in Tver', ())
    >>> text_of({"city": "Тверь", "pets": ["cat", "dog"], "work": {"since": 2021}})
    ('city: Тверь\\npets: cat, dog\\nwork.since: 2021', ())
    """
    kind = value.get("kind")
    inner = value.get("content")
    if isinstance(kind, str) and isinstance(inner, dict):
        outer = {n: v for n, v in value.items() if n not in ("kind", "content")}
        text, unread = _said(inner, kind)
        return text, tuple(sorted(f"value.{name}" for name in (*unread, *_full(outer))))
    text, unread = _said(value, "")
    return text, tuple(sorted(f"value.{name}" for name in unread))


def _said(value: dict[str, object], kind: str) -> tuple[str, list[str]]:
    for name in TEXT_FIELDS:
        text = value.get(name)
        if isinstance(text, str) and text.strip():
            others = {n: v for n, v in value.items() if n != name}
            if kind in ("", PLAIN) and others.get("kind") == PLAIN:
                del others["kind"]
            return text, [*_full(others), *(["kind"] if kind not in ("", PLAIN) else [])]
        if isinstance(text, dict) and len(_full(value)) == 1:
            return _said(text, kind)
    vectors: list[str] = []
    lines = list(_lines(value, "", vectors))
    if not lines:
        raise InvalidInput("value: nothing in it to read")
    if kind not in ("", PLAIN):
        lines.insert(0, f"kind: {kind}")
    return "\n".join(lines), vectors


def _full(value: dict[str, object]) -> list[str]:
    return [name for name, inner in value.items() if inner not in (None, "", [], {})]


def _lines(value: object, path: str, vectors: list[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for name in sorted(value):
            yield from _lines(value[name], f"{path}.{name}" if path else name, vectors)
    elif isinstance(value, list) and _is_vector(value):
        vectors.append(path)
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for number, one in enumerate(value, 1):
            yield from _lines(one, f"{path}.{number}", vectors)
    elif isinstance(value, list):
        if said := [text for one in value if (text := _scalar(one))]:
            yield f"{path}: {', '.join(said)}"
    elif text := _scalar(value):
        yield f"{path}: {text}"


def _scalar(value: object) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value)


def _is_vector(value: list[object]) -> bool:
    return len(value) >= VECTOR_LENGTH and all(isinstance(one, int | float) for one in value)
