"""The table of settings in `docs/settings.md`: ``python -m configs.describe docs/settings.md``.

Names, defaults and meanings are read from `Settings`, so the page cannot drift; a test compares.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from configs.settings import Settings

START = "<!-- settings: made by python -m configs.describe docs/settings.md -->"
END = "<!-- end of settings -->"


def rows(model: BaseModel | type[BaseModel] = Settings, path: str = "") -> Iterator[list[str]]:
    """Yield the key, the default and the meaning of every setting, in order."""
    for name, field in (model if isinstance(model, type) else type(model)).model_fields.items():
        key = path + (field.alias or name)
        if inner := _tables(field.annotation):
            shown = "required" if field.is_required() else "none"
            yield [f"`{key}`", shown, field.description or ""]
            yield from rows(inner, f"{key}[].")
        elif field.is_required():
            yield [f"`{key}`", "required", field.description or ""]
        elif isinstance(field.default, BaseModel):
            yield from rows(field.default, f"{key}.")
        else:
            default = field.default if isinstance(model, type) else getattr(model, name)
            yield [f"`{key}`", _shown(default), field.description or ""]


def _tables(annotation: Any) -> type[BaseModel] | None:
    """Return the section of a list of tables, as ``tuple[Section, ...]``."""
    inner = next(iter(get_args(annotation)), None)
    if get_origin(annotation) is tuple and isinstance(inner, type) and issubclass(inner, BaseModel):
        return inner
    return None


def _shown(default: Any) -> str:
    if default is None or default == ():
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
