"""The texts of a context's system layers: digest, retrieved memories; `known` has facts. Pure.

What somebody said is word for word and fenced as data; only the heads and labels are ours.
"""

from collections.abc import Sequence
from datetime import datetime

from indexing.left_behind import origin
from indexing.types import Memory
from retrieval.sql.types import Answer
from sessions.fence import DATA, fence
from sessions.types import LoggedTurn

DIGEST_HEAD = f"The conversation so far, in sentences of its turns, word for word. {DATA}"
RETRIEVED_HEAD = f"What memory has on the question, best first. {DATA}"

ROWS = 10
"""Rows of a database's answer that are shown."""


def digest_text(text: str, through: int) -> str:
    """Return the layer of a digest's text, which takes up the turns up to a number."""
    return f"{DIGEST_HEAD}\n{fence('digest', text, turns=f'1-{through}')}"


def retrieved_text(items: Sequence[str]) -> str:
    """Return the layer of memories and answers; each is fenced already."""
    return "\n".join([RETRIEVED_HEAD, *items])


def memory_text(
    memory: Memory, text: str, session_id: str = "", replaced_by: str = "", seq: int = 0
) -> str:
    """Return a text of a memory, fenced. ``replaced_by`` is what holds instead.

    A turn of this very session is named by its number ``seq``, or else by its id.
    """
    here = session_id and memory.conversation_id == session_id
    told = not (memory.conversation_id or memory.uri)
    source = f"#{memory.turn_id}" if here else origin(memory) if told else memory.source
    kind: str = memory.kind
    if here and seq:
        source, kind = f"turn {seq}", "" if kind == "turn" else kind
    date = day(told_at(memory))
    return fence("memory", text, source=source, date=date, kind=kind, replaced_by=replaced_by)


def result_text(turn: LoggedTurn, text: str) -> str:
    """Return a text of a tool's turn of this session as that of a memory."""
    entry = turn.entry
    named = f"{entry.tool}: {text}" if entry.tool else text
    source, date = f"turn {turn.seq}", day(entry.at)
    return fence("memory", named, source=source, date=date, kind="tool_result")


def answer_text(answer: Answer, now: datetime | None) -> str:
    """Return what a database answered: a number in a line with what was asked, or its rows."""
    if answer.value is not None:
        lines = [f"{answer.understood}: {_cell(answer.value)}"]
    else:
        lines = [f"{answer.understood}:", " | ".join(answer.columns)]
        lines += [" | ".join(map(_cell, row)) for row in answer.rows[:ROWS]]
        more = len(answer.rows) - ROWS
        if more > 0 or answer.truncated:
            lines.append(f"… {'at least ' * answer.truncated}{max(more, 1)} more rows")
    return fence("memory", "\n".join(lines), source=answer.source, date=day(now), kind="answer")


def marker_text(left_out: int, gap: range, through: int) -> str:
    """Say how many turns are left out, which, and where they are; 0 is no digest.

    >>> marker_text(178, range(4, 182), 180)
    '[178 turns (4–181) are left out here: the digest is of turns 1–180, all can be searched.]'
    """
    where = f" ({gap[0]}–{gap[-1]})" if gap else ""
    digest = f"the digest is of turns 1–{through}, all" if through else "they"
    return f"[{left_out} turns{where} are left out here: {digest} can be searched.]"


def plain(text: str) -> str:
    """Return a text with one space for each white space."""
    return " ".join(text.split())


def word_for_word(text: str, within: str) -> bool:
    """Tell whether a text stands in another one as it is. Both are `plain`.

    >>> word_for_word("size is L", "The size is L."), word_for_word("size is L", "size is Large")
    (True, False)
    """
    place = -1
    while text and (place := within.find(text, place + 1)) >= 0:
        end = place + len(text)
        before, after = within[max(place - 1, 0) : place], within[end : end + 1]
        if not (_goes_on(before, text[0]) or _goes_on(text[-1], after)):
            return True
    return False


def _goes_on(left: str, right: str) -> bool:
    """Tell whether a word goes on from one character to the next."""
    return left.isalnum() and right.isalnum()


def told_at(memory: Memory) -> datetime | None:
    """Return since when something holds or was said; what was told without a time, when it was."""
    stored = memory.created_at if memory.kind != "document" else None
    return memory.valid_from or memory.at or stored


def day(moment: datetime | None) -> str:
    """Return a date as it is written everywhere; empty for none."""
    return f"{moment:%Y-%m-%d}" if moment else ""


def _cell(cell: str | int | float | bool | None) -> str:
    """Write a cell as people do."""
    return "–" if cell is None else f"{cell:.12g}" if isinstance(cell, float) else str(cell)
