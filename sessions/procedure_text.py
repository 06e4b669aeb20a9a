"""A procedure as a text that people and the search read, and back: `write_procedure`.

A field is a line ``Label: value`` or a label over items; further lines of a value are indented, so
that no value can be taken for a label. Labels are in the language of the task.

>>> print(write_procedure(Procedure("refund", "Return the money", steps=("find_order", "pay"))))
Procedure: refund
Task: Return the money
Steps:
- find_order
- pay
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from indexing.sparse import language


@dataclass(frozen=True, slots=True)
class Example:
    """What was asked for once, and what was right to do or say then."""

    asked: str
    answer: str


@dataclass(frozen=True, slots=True)
class Procedure:
    """How a task was done so that it worked.

    ``tools`` are definitions as JSON text, ``steps`` the chain of calls in order, ``outcome`` what
    came out of it. ``tags`` say what the task belongs to, as `indexing.tags.tags_of` returns them.
    """

    name: str
    task: str
    tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    steps: tuple[str, ...] = ()
    outcome: str = ""


_LABELS = {
    "en": ("Procedure", "Task", "Tags", "Steps", "Outcome", "Examples", "Tools"),
    "ru": ("Порядок действий", "Задача", "Метки", "Шаги", "Итог", "Примеры", "Инструменты"),
}
_FIELDS = ("name", "task", "tags", "steps", "outcome", "examples", "tools")
_FIELD_OF = {
    label: field
    for labels in _LABELS.values()
    for label, field in zip(labels, _FIELDS, strict=True)
}
_LABEL = re.compile(rf"({'|'.join(map(re.escape, _FIELD_OF))}):(?: |\Z)")
_ITEM = re.compile(r"[-><] ")

INDENT = "  "


def write_procedure(procedure: Procedure) -> str:
    """Return the text of a procedure; fields that are empty are left out."""
    return "\n".join(_lines(procedure))


def _lines(procedure: Procedure) -> Iterator[str]:
    labels = dict(zip(_FIELDS, _LABELS[language(procedure.task)], strict=True))
    for field in _FIELDS:
        value = getattr(procedure, field)
        if field == "examples":
            value = tuple(
                f"{sign} {_indented(text)}"
                for example in procedure.examples
                for sign, text in ((">", example.asked), ("<", example.answer))
            )
        elif not isinstance(value, str):
            value = tuple(f"- {_indented(item)}" for item in value)
        if not isinstance(value, str):
            yield from (f"{labels[field]}:", *value) if value else ()
        elif value:
            yield f"{labels[field]}: {_indented(value)}"


def _indented(text: str) -> str:
    return text.replace("\n", f"\n{INDENT}")


def read_procedure(text: str) -> Procedure:
    """Return the procedure that a text is of; of any other text, one whose task it is."""
    found: dict[str, list[str]] = {}
    field = ""
    for line in text.split("\n"):
        label = _LABEL.match(line)
        if label:
            field = _FIELD_OF[label[1]]
            value = line[label.end() :]
            found.setdefault(field, []).extend([value] if field in _SINGLE else [])
        elif field and line.startswith(INDENT) and found[field]:
            found[field][-1] += f"\n{line[len(INDENT) :]}"
        elif field and field not in _SINGLE and _ITEM.match(line):
            found[field].append(line if field == "examples" else line[2:])
        else:  # somebody has edited it
            found.setdefault("task", []).append(line)
    lists = {name: tuple(found.get(name, ())) for name in ("tags", "steps", "tools")}
    return Procedure(
        name="\n".join(found.get("name", ())),
        task="\n".join(found.get("task", ())),
        outcome="\n".join(found.get("outcome", ())),
        examples=tuple(_examples(found.get("examples", ()))),
        **lists,
    )


_SINGLE = ("name", "task", "outcome")


def _examples(items: list[str] | tuple[str, ...]) -> Iterator[Example]:
    """Yield what was asked with the answer behind it; an answer alone has nothing asked."""
    asked = ""
    for item in items:
        if item.startswith("< "):
            yield Example(asked, item[2:])
            asked = ""
        else:
            asked = item[2:]
