"""A session that ended well -> the procedure that it was: `from_session`.

Does not judge whether the result was right: whoever calls it says that it was.
"""

from collections.abc import Sequence

from chunking.sentences import sentences
from indexing.errors import InvalidInput
from indexing.tags import tags_of
from sessions.procedure_text import Procedure
from sessions.truncate.plan import head
from sessions.types import LoggedTurn

NAME_CHARS = 100
"""Characters of the first sentence that names a procedure."""


def from_session(
    turns: Sequence[LoggedTurn], name: str = "", tags: Sequence[str] = ()
) -> Procedure:
    """Return what a session did as a procedure: the calls whose results were no errors, each once.

    Task, name (its first sentence) and outcome are word for word: the first turn of the user, the
    last of the assistant behind the results. Raises `InvalidInput` where no call is left, the last
    one failed or no user asked for anything.
    """
    asked = next((t.entry.text for t in turns if t.entry.role == "user" and t.entry.text), "")
    results = [turn.entry for turn in turns if turn.entry.role == "tool"]
    if not asked.strip() or not results or results[-1].status == "error":
        raise InvalidInput("no task of a user whose calls ended well in these turns")
    calls = {call.call_id: call for turn in turns for call in turn.entry.calls}
    steps: dict[str, None] = {}
    for result in results:
        call = calls.get(result.call_id)
        tool = result.tool or (call.tool if call else "")
        if tool and result.status != "error":
            arguments = result.arguments or (call.arguments if call else "")
            steps[f"{tool} {arguments}".strip()] = None
    if not steps:
        raise InvalidInput("no call of these turns names its tool")
    last = max(turn.seq for turn in turns if turn.entry.role == "tool")
    said = [t.entry.text for t in turns if t.seq > last and t.entry.role == "assistant"]
    start, end = sentences(asked)[0]
    return Procedure(
        name=name or head(asked[start:end], NAME_CHARS),
        task=asked,
        tags=tags_of(tags),
        steps=tuple(steps),
        outcome=said[-1] if said else "",
    )
