"""Messages of other libraries -> entries of the log, and back: OpenAI's, LangChain's, our JSONL.

Nothing is imported for it: a LangChain message is told by its attributes. What a message holds
beside text and calls (images, audio) is named in its place, ``[image_url]``; nothing else of it is
kept. Does not: check what a log refuses (`log_rows.check_entry`).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from indexing.errors import InvalidInput
from sessions.types import Entry, Message, Role, ToolCall

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}

_TYPES: Final[Mapping[str, Role]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
"""What LangChain calls the kinds of its messages."""

_STATUSES: Final[Mapping[str, Literal["ok", "error"]]] = {"success": "ok", "error": "error"}

_CLASSES = {
    f"{prefix}Message{suffix}": kind
    for kind, prefix in (
        ("human", "Human"),
        ("ai", "AI"),
        ("system", "System"),
        ("tool", "Tool"),
        ("function", "Function"),
        ("chat", "Chat"),
    )
    for suffix in ("", "Chunk")
}

_FIELDS = ("type", "content", "name", "id", "tool_calls", "tool_call_id", "status", "role")


def read_messages(items: Iterable[object]) -> list[Entry]:
    """Return messages as entries: OpenAI's objects, LangChain's messages, dumps of them.

    All or none: raises `InvalidInput`, which says which message cannot be read, from 1, and why.
    """
    found = []
    for number, item in enumerate(items, 1):
        try:
            found.append(read_message(item))
        except InvalidInput as error:
            raise InvalidInput(f"message {number}: {error}") from error
    return found


def listed(given: object) -> Iterable[object]:
    """Return messages as they are, one message as a list of it: it may be iterable itself."""
    single = isinstance(given, Mapping) or hasattr(given, "content") or hasattr(given, "model_dump")
    return given if isinstance(given, Iterable) and not single else [given]


def read_message(item: object) -> Entry:
    """Return one message as an entry. Raises `InvalidInput`.

    >>> read_message({"role": "user", "content": [{"type": "text", "text": "Hello"}]}).text
    'Hello'
    """
    if isinstance(item, Entry):
        return item
    if not isinstance(item, Mapping):
        if hasattr(item, "type") and hasattr(item, "content"):
            return _langchain({name: getattr(item, name, None) for name in _FIELDS})
        if hasattr(item, "model_dump"):  # a message of the OpenAI client
            return read_message(item.model_dump())
        raise InvalidInput("neither an object with a role nor a message of LangChain")
    if item.get("lc") is not None and isinstance(item.get("kwargs"), Mapping):
        return _langchain({**item["kwargs"], "type": _class(item)})
    if isinstance(item.get("data"), Mapping) and "type" in item:
        return _langchain({**item["data"], "type": item["type"]})
    if "role" in item:
        return _openai(item)
    if "type" in item and "content" in item:
        return _langchain(item)
    raise InvalidInput("role: missing")


def as_message(entry: Entry) -> Message:
    """Return a turn as a message that OpenAI's clients take.

    A result without the id of its call is told by the assistant: a client refuses a tool's message
    that answers no call.
    """
    if entry.role == "tool":
        if not entry.call_id:
            named = f"{entry.tool}: " if entry.tool else ""
            return {"role": "assistant", "content": f"[tool result] {named}{entry.text}"}
        return {"role": "tool", "tool_call_id": entry.call_id, "content": entry.text}
    made: Message = {"role": entry.role, "content": entry.text}
    if _is_name(entry.speaker):
        made["name"] = entry.speaker
    if entry.calls:
        made["content"] = entry.text or None
        made["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.tool, "arguments": call.arguments},
            }
            for call in entry.calls
        ]
    return made


def _is_name(speaker: str) -> bool:
    """Tell whether clients take a speaker as a name: they know ASCII letters, digits, _ and -."""
    plain = speaker.replace("_", "").replace("-", "")
    return bool(plain) and plain.isascii() and plain.isalnum() and len(speaker) <= 64


def _openai(item: Mapping[str, Any]) -> Entry:
    role = _ROLES.get(item["role"]) if isinstance(item["role"], str) else None
    if role is None:
        raise InvalidInput(f"role: must be one of {', '.join(_ROLES)}")
    asked = _list(item, "tool_calls")
    calls = [_function(call, number) for number, call in enumerate(asked, 1)]
    if old := item.get("function_call"):  # as it was before there were several calls
        calls.append(_function({"function": old, "id": ""}, 1))
    text = _text(item.get("content"))
    if not text and isinstance(item.get("refusal"), str):
        text = item["refusal"]
    return _entry(role, text, tuple(calls), item)


def _function(call: Any, number: int) -> ToolCall:
    """Return a call as OpenAI writes it, or as LangChain does."""
    if not isinstance(call, Mapping):
        call = call.model_dump() if hasattr(call, "model_dump") else {}
    made = call.get("function") or call.get("custom") or call
    name = made.get("name") if isinstance(made, Mapping) else None
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"tool_calls: call {number} names no function")
    arguments = made.get("arguments", made.get("args", made.get("input", "{}")))
    return ToolCall(_plain(call.get("id"), "tool_calls: id"), name, _json(arguments))


def _langchain(item: Mapping[str, Any]) -> Entry:
    kind = item.get("type")
    kind = _CLASSES.get(kind, kind) if isinstance(kind, str) else None
    if kind == "chat":  # names a role of its own
        return _openai({**item, "role": item.get("role")})
    role = _TYPES.get(kind or "")
    if role is None:
        raise InvalidInput(f"type: must be one of {', '.join(_TYPES)}")
    asked = _list(item, "tool_calls")
    calls = tuple(_function(call, number) for number, call in enumerate(asked, 1))
    return _entry(role, _text(item.get("content")), calls, item)


def _entry(role: Role, text: str, calls: tuple[ToolCall, ...], item: Mapping[str, Any]) -> Entry:
    name = _plain(item.get("name"), "name")
    is_tool = role == "tool"
    return Entry(
        role,
        text,
        _plain(item.get("id"), "id"),
        "" if is_tool else name,
        calls=calls,
        call_id=_plain(item.get("tool_call_id"), "tool_call_id") if is_tool else "",
        tool=name if is_tool else "",
        status=_STATUSES.get(str(item.get("status")), "") if is_tool else "",
    )


def _text(content: Any) -> str:
    """Return the texts of a message's parts, a line each; what is no text is named."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise InvalidInput("content: neither a text nor a list of parts")
    return "\n".join(filter(None, (_part(part) for part in content)))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise InvalidInput("content: a part is neither a text nor an object")
    for name in ("text", "refusal"):
        if isinstance(part.get(name), str):
            return str(part[name])
    kind = part.get("type")
    if not isinstance(kind, str):
        raise InvalidInput("content: a part has neither a text nor a type")
    return "" if kind in ("tool_use", "thinking", "reasoning") else f"[{kind}]"


def _list(item: Mapping[str, Any], name: str) -> list[Any]:
    value = item.get(name) or []
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{name}: not a list")
    return list(value)


def _plain(value: Any, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"{name}: not a text")
    return str(value)


def _json(value: Any) -> str:
    """Return the arguments of a call as the JSON text that they are."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("tool_calls: the arguments of a call are no JSON") from error


def _class(item: Mapping[str, Any]) -> str:
    """Return the class that LangChain's `to_json` names last."""
    path = item.get("id")
    return str(path[-1]) if isinstance(path, list) and path else ""
