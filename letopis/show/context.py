"""The context of a question: its layers and their tokens as bars, what was cut, the messages."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from letopis.show.tables import shorten
from sessions.types import Context, Layer, Message

BAR = 24
"""Characters of a bar as long as the budget."""

_EIGHTHS = " ▏▎▍▌▋▊▉"

PREVIEW = 100
"""Characters of a message that are shown."""


def context_record(context: Context) -> dict[str, Any]:
    """Return a context as a record: its messages are as a client takes them."""
    return {
        "messages": list(context.messages),
        "tokens": context.tokens,
        "budget": context.budget,
        "left_out": context.left_out,
        "shown": list(context.shown),
        "layers": [
            {
                "name": layer.name,
                "tokens": layer.tokens,
                "items": layer.items,
                "cut": list(layer.cut),
            }
            for layer in context.layers
        ],
        "details": dict(context.details),
    }


def context_shown(context: Context, preview: int = PREVIEW) -> Group:
    """Return a context for a reader; ``preview`` is the characters of each message, 0 for none."""
    parts = [_layers_table(context)]
    if preview:
        parts.append(_messages_table(context.messages, preview))
    return Group(*parts)


def _layers_table(context: Context) -> Table:
    used = context.tokens / max(context.budget, 1)
    table = Table(
        title=Text(f"{context.tokens} of {context.budget} tokens ({used:.0%})"),
        caption=Text(_caption(context)),
    )
    table.add_column("layer")
    table.add_column("items", justify="right")
    table.add_column("tokens", justify="right")
    table.add_column("of the budget", width=BAR, no_wrap=True)
    table.add_column("cut", overflow="fold", ratio=1)
    for layer in context.layers:
        cells = (layer.name, str(layer.items), str(layer.tokens))
        shown = bar(layer.tokens, context.budget)
        table.add_row(*map(Text, (*cells, shown, "\n".join(layer.cut))), style=_style(layer))
    return table


def bar(tokens: int, budget: int, width: int = BAR) -> str:
    """Return a bar: the whole width is the budget.

    >>> bar(50, 100, 4), bar(9, 100, 4), bar(0, 100, 4)
    ('██', '▍', '')
    """
    eighths = min(width * 8, -(-tokens * width * 8 // max(budget, 1)))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _style(layer: Layer) -> str | None:
    return None if layer.tokens else "dim"


def _caption(context: Context) -> str:
    kept = context.details.get("reserve")
    told = [f"{kept} more are kept for the answer"] if kept else []
    if context.left_out:
        told.append(f"{context.left_out} turns are left out{_gap(context.details)}")
    return "; ".join(told)


def _gap(details: Mapping[str, Any]) -> str:
    gap = details.get("gap")
    return f" ({gap[0]}–{gap[1]})" if gap else ""


def _messages_table(messages: Sequence[Message], preview: int) -> Table:
    table = Table()
    table.add_column("#", justify="right")
    table.add_column("role")
    table.add_column("message", overflow="fold", ratio=1)
    for number, message in enumerate(messages, 1):
        table.add_row(*map(Text, (str(number), message["role"], _preview(message, preview))))
    return table


def _preview(message: Message, limit: int) -> str:
    calls = (call["function"] for call in message.get("tool_calls") or ())
    asked = [f"{call['name']}({call['arguments']})" for call in calls]
    return shorten(" ".join(filter(None, (message.get("content"), *asked))), limit)
