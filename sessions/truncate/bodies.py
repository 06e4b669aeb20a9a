"""The parts of source code: signatures, docstrings and bodies, as spans of lines.

Python by its grammar, other languages by braces or indents. Classes are entered, functions inside
functions belong to the body of the outer one. Lines that are in no part are statements by
themselves.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sessions.truncate.patterns import any_of

Role = Literal["head", "doc", "body"]

LEAST = 3
"""Lines of a body that is worth a line that counts them."""

LONGEST = 300
"""Characters of a line that are looked at for a signature."""

SIGNATURE = 8
"""Lines of a signature in front of its brace, at most."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines ``first`` to ``end`` (from 0, half-open); ``name`` is the function's."""

    first: int
    end: int
    role: Role
    name: str = ""


_NO_DEFINITION = any_of(
    r"\}?\s*(?:if|else|for|while|switch|catch|try|do|return|when|with)\b",
    r"[\w.]+\s*[:(]?\{",
    before=r"\s*",
)
_NAME = any_of(
    r"(?:function\*?|fn|func|fun|def|sub)\s+(?:\([^)]*\)\s*)?([\w$]+)",
    r"(?:const|let|var)\s+([\w$]+)",
    r"([\w$~]+)\s*(?:<[^>]*>)?\s*\(",
)
_COMMENT = r"/\*.*?(?:\*/|\Z)"
_STRING = any_of(
    r"\"(?:[^\"\\\n]|\\.)*+(?:\"|(?=\n)|\Z)",
    r"'(?:[^'\\\n]|\\.){0,200}'",
    r"`(?:[^`\\]|\\.)*+(?:`|\Z)",
    r"//[^\n]*",
    _COMMENT,
    flags=re.DOTALL,
)
_INDENTED = re.compile(r"([ \t]*)(?:async )?(?:def|sub|function|fun|proc|method)\s+([\w.:$?!]+)")


def parts(text: str) -> list[Part]:
    """Return the parts of code in whatever language it is, in order and without overlap."""
    found = python_parts(text)
    if found is None:
        braces = text.count("{") > max(1, text.count("\n") // 60)
        found = brace_parts(text) if braces else indent_parts(text)
    kept: list[Part] = []
    for part in sorted(found, key=lambda part: (part.first, -part.end)):
        is_short = part.role == "body" and part.end - part.first < LEAST
        if not is_short and (not kept or part.first >= kept[-1].end):
            kept.append(part)
    return kept


def python_parts(text: str) -> list[Part] | None:
    """Return the parts of a module; None for what is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in the code that is read
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return list(_python(tree))


_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _python(node: _Documented) -> Iterator[Part]:
    if not node.body:
        return
    first = node.body[0]
    begin = first.lineno - 1
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        begin = min([begin, *(one.lineno - 1 for one in first.decorator_list)])
    if not isinstance(node, ast.Module):
        start = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1
        yield Part(start, max(begin, node.lineno), "head", node.name)
    if ast.get_docstring(node, clean=False) is not None:
        end = first.end_lineno or begin + 1
        yield Part(begin, end, "doc")
        begin = end
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield Part(max(begin, node.lineno), node.end_lineno or begin, "body", node.name)
    else:
        yield from _inside(node.body)


def _inside(body: Sequence[ast.stmt]) -> Iterator[Part]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _python(node)
        elif isinstance(node, ast.If | ast.Try):
            yield from _inside([*node.body, *node.orelse, *getattr(node, "finalbody", [])])


def brace_parts(text: str) -> list[Part]:
    """Return functions with their bodies between braces, and comments of several lines."""
    lines = _blank(text).split("\n")
    found: list[Part] = list(_comments(text))
    stack: list[tuple[int, int, str]] = []
    inside = 0
    for number, line in enumerate(lines):
        for sign in re.finditer(r"[{}]", line):
            if sign[0] == "{":
                before = line[max(0, sign.start() - LONGEST) : sign.start()]
                name, start = ("", 0) if inside else _defined(lines, number, before)
                stack.append((start, number, name))
                inside += bool(name)
            elif stack:
                start, opened, name = stack.pop()
                inside -= bool(name)
                if name and number > opened + 1:
                    found.append(Part(start, opened + 1, "head", name))
                    found.append(Part(opened + 1, number, "body", name))
    return found


def _comments(text: str) -> Iterator[Part]:
    for match in _STRING.finditer(text):
        if match[0].startswith("/*") and "\n" in match[0]:
            first = text.count("\n", 0, match.start())
            yield Part(first, first + match[0].count("\n") + 1, "doc")


def _blank(text: str) -> str:
    """Return a text with its strings and comments as blanks, so that braces are braces."""
    return _STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _defined(lines: Sequence[str], number: int, before: str) -> tuple[str, int]:
    """Return the name of the function that a brace opens and its first line; "" for no function."""
    start = number
    head = before
    while start > 0 and number - start < SIGNATURE and not _is_whole(head):
        if re.search(r"[;{}]\s*\Z", lines[start - 1]):
            break
        start -= 1
        head = f"{lines[start][:LONGEST]} {head}"
    if not ("(" in head or "=>" in head) or _NO_DEFINITION.match(head.strip() + "{"):
        return "", 0
    match = _NAME.search(head)
    return next(filter(None, match.groups()), "") if match else "", start


def _is_whole(head: str) -> bool:
    """Tell whether a text is the whole of a signature, none that begins on a line above."""
    closed = head.count("(") <= head.count(")")
    return bool(head.strip()) and closed and not head.lstrip().startswith((")", "->", ":"))


def indent_parts(text: str) -> list[Part]:
    """Return what is indented more than the line of a definition above it: Ruby, broken Python."""
    lines = text.split("\n")
    found: list[Part] = []
    number = 0
    while number < len(lines):
        match = _INDENTED.match(lines[number])
        number += 1
        if not match:
            continue
        end = number
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > len(match[1])):
            end += 1
        while end > number and not lines[end - 1].strip():
            end -= 1
        found.append(Part(number - 1, number, "head", match[2]))
        if end > number:
            found.append(Part(number, end, "body", match[2]))
        number = max(number, end)
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
