"""Whose export it is: by the fields of its first items."""

from collections.abc import Iterator

from indexing.errors import InvalidInput
from indexing.portable.record import FORMAT
from indexing.portable.strict import parse
from indexing.portable.types import Format, System

Values = list[tuple[str, object]]
"""Places and JSON values; an `InvalidInput` stands for a line that is not JSON."""

WRAPPERS = ("results", "memories", "items", "data")
"""The fields under which answers keep their items."""

_LANGGRAPH = ({"namespace", "key", "value"}, {"prefix", "key", "value"})
"""The fields of an item: of the API, and of a row of its PostgreSQL table."""

_MEM0_TEXT = {"text", "data", "content"}
_MEM0_ALSO = {"hash", "user_id", "userId", "agent_id", "agentId", "run_id", "runId", "metadata"}


def sniff(text: str) -> Format:
    """Tell whose export a text is; the first line of JSONL is enough.

    Raises `InvalidInput` that lists what was looked for.

    >>> sniff('[{"id": "7f1c", "memory": "Anna lives in Tver", "user_id": "anna"}]')
    'mem0'
    """
    return format_of(values_of(text))


def format_of(values: Values) -> Format:
    """Tell whose export these values are. Raises `InvalidInput` that lists what was looked for."""
    for _, value in values:
        if isinstance(value, dict) and value.get("format") == FORMAT:
            return "letopis"
        if system := _system(value):
            return system
    raise InvalidInput(
        "not an export of memories; looked for a line with "
        f'"format": "{FORMAT}", for mem0 items (id and memory, or text or data with user_id, hash '
        'or metadata; a list, under "results" or "memories", or a line each), and for LangGraph '
        'Store items (namespace, key, value; a list, under "items", or a line each)'
    )


def values_of(text: str) -> Values:
    """Return the JSON values of a text with their places: "" for one document, else its lines.

    It is JSONL when its first line is an object of its own and there are more; there a line that
    is not JSON is an `InvalidInput` in place of a value. Raises `InvalidInput` for a document that
    is not JSON.
    """
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and isinstance(_tried(lines[0][1]), dict):
        return [(f"line {number}", _tried(line)) for number, line in lines]
    return [("", parse(text))]


def items_of(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Yield the items of a list or an answer with their places; anything else is one item."""
    inner = _unwrapped(value)
    if not isinstance(inner, list):
        yield place or "item 1", inner
        return
    for number, item in enumerate(inner, 1):
        yield f"{place}, item {number}" if place else f"item {number}", item


def answers_of(value: object) -> Iterator[dict[str, object]]:
    """Yield the answers that items are wrapped in, from the outside in."""
    while isinstance(value, dict) and (name := _wrapper(value)):
        yield value
        value = value[name]


def _unwrapped(value: object) -> object:
    for answer in answers_of(value):
        value = answer[str(_wrapper(answer))]
    return value


def _wrapper(value: dict[str, object]) -> str | None:
    if _item_of(value):
        return None
    return next((name for name in WRAPPERS if isinstance(value.get(name), list | dict)), None)


def _system(value: object) -> System | None:
    for _, item in items_of(value):
        if isinstance(item, dict) and (system := _item_of(item)):
            return system
    for answer in answers_of(value):
        if isinstance(answer.get("items"), list):
            return "langgraph"
        if isinstance(answer.get("results"), list) or isinstance(answer.get("memories"), list):
            return "mem0"
    return None


def _item_of(item: dict[str, object]) -> System | None:
    if any(names <= item.keys() for names in _LANGGRAPH):
        return "langgraph"
    if isinstance(item.get("memory"), str):
        return "mem0"
    if any(isinstance(item.get(name), str) for name in _MEM0_TEXT) and item.keys() & _MEM0_ALSO:
        return "mem0"
    return None


def _tried(line: str) -> object:
    try:
        return parse(line)
    except InvalidInput as error:
        return error
