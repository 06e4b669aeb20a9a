"""What every command prints with: tables and JSON to stdout, messages to stderr; the exit codes."""

import json
from typing import Any

from rich.console import Console

FAILED = 1
"""An error that was raised on purpose."""
DEAD = 2
"""Something is in the dead letters, or was not removed; also a wrong command line."""
INTERRUPTED = 130
"""Ctrl-C."""

out = Console()
err = Console(stderr=True)


def say(message: str, style: str | None = None) -> None:
    """Write one line to stderr, whatever the message holds."""
    line = " ".join(message.split())
    err.print(line, style=style, highlight=False, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Write a value to stdout as JSON; nothing else may go there then."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201
