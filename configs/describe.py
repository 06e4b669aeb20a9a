"""The table of settings in `docs/settings.md`: ``python -m configs.describe docs/settings.md``.

Names, defaults and meanings are read from `Settings`, so the page cannot drift; a test compares.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from configs.settings import Settings

START = "<!-- settings: made by python -m configs.describe docs/settings.md -->"
END = "<!-- end of settings -->"


def rows(model: BaseModel | type[BaseModel] = Settings, path: str = "") -> Iterator[list[str]]:
    """Yield the key, the variable, the default and the meaning of every setting, in order."""
    for name, field in (model if isinstance(model, type) else type(model)).model_fields.items():
        key = path + (field.alias or name)
        if field.default == ():
            yield [f"`{key}`", "none", field.description or ""]
            (inner, *_) = get_args(field.annotation)
            yield from rows(inner, f"{key}[].")
        elif isinstance(field.default, BaseModel):
            yield from rows(field.default, f"{key}.")
        else:
            yield [f"`{key}`", _shown(field.default), field.description or ""]


def _shown(default: Any) -> str:
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"`{default}`" if str(default) and default != {} else "empty"


def table() -> str:
    """Return the settings as a Markdown table."""
    lines = [["setting", "default", "meaning"], ["---"] * 3, *rows()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rewrite(page: str) -> str:
    """Return the page with its table renewed. Raises `ValueError` where the marks are missing."""
    head, _, rest = page.partition(START)
    _, mark, tail = rest.partition(END)
    if not mark:
        raise ValueError(f"the page has no {START} ... {END}")
    return f"{head}{START}\n\n{table()}\n\n{END}{tail}"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(rewrite(target.read_text()))
