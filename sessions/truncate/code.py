"""Source code: cut at definitions. Signatures and docstrings stay, bodies go first.

The bodies that the query asks for stay as long as there is room, the others after them. Where even
the signatures are too many, those of the start and the end stay.
"""

import re

from sessions.truncate.bodies import Part, parts
from sessions.truncate.patterns import any_of
from sessions.truncate.plan import Piece, Pieces, Plan, Rank, clipped, counted
from sessions.truncate.text import at_ends
from sessions.truncate.wanted import Wanted

_SLASHES = any_of(
    r"//|/\*|#include|package \w|func |fn |pub |using |namespace |public |private |import .*;",
    r"(?:export |async )*function\b|(?:export )?(?:const|let|var|class|interface|type) .*[{=;]",
    before=r"^[ \t]*",
    flags=re.MULTILINE,
)
_DASHES = re.compile(r"\s*(?:--|(?:SELECT|CREATE|INSERT|ALTER|DROP|UPDATE|WITH)\b)")
_HEADS = any_of(
    r"@|(?:export |default |async |public |private |protected |static |final |abstract |pub )*"
    r"(?:def|class|function|fn|func|fun|interface|struct|enum|impl|trait|type|namespace|module"
    r"|CREATE|SELECT)\b",
    before=r"\s*",
)


def plan_code(wanted: Wanted) -> Plan:
    """Return the plan of source code, in which the note is a comment."""
    comment = comment_sign(wanted.text)
    lines = wanted.text.split("\n")
    found = {part.first: part for part in parts(wanted.text)}
    pieces: list[Piece] = []
    sizes: list[tuple[int, str]] = []
    number = 0
    while number < len(lines):
        part = found.get(number)
        end = part.end if part else number + 1
        text = "\n".join(clipped(line) for line in lines[number:end])
        pieces.append(Piece(text, _rank(text, part, number, len(lines), wanted)))
        sizes.append((end - number, text[: len(text) - len(text.lstrip(" \t"))]))
        number = end

    def gap(first: int, end: int) -> str:
        while first < end and not pieces[first].text.strip():
            first += 1
        if first == end:
            return ""
        left = sum(size for size, _ in sizes[first:end])
        return f"{sizes[first][1]}{comment} … {counted(left, 'line')}"

    return Pieces(pieces, gap, note=lambda note: f"{comment} {note}")


def _rank(text: str, part: Part | None, number: int, total: int, wanted: Wanted) -> Rank:
    """Signatures, bodies that are asked for, docstrings, statements, then the other bodies."""
    role = part.role if part else ""
    if part and role == "body":
        worth = wanted.worth(f"{part.name}\n{text}")
        return (0.5 if worth else 3, -worth, number)
    if role == "head" or _HEADS.match(text[:200]):
        return (0, *at_ends(number, total))
    return (1 if role == "doc" else 2, *at_ends(number, total))


def comment_sign(text: str) -> str:
    """Return what a comment of a line begins with in the language of a text.

    >>> comment_sign("def f():"), comment_sign("func main() {"), comment_sign("SELECT 1")
    ('#', '//', '--')
    """
    if _DASHES.match(text):
        return "--"
    return "//" if _SLASHES.search(text) else "#"
