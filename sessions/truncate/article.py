"""An article: its head, to the end of a sentence, and the sentences that the query asks about."""

from chunking.sentences import sentences
from sessions.truncate.plan import Piece, Pieces, Plan, Rank
from sessions.truncate.wanted import Wanted


def plan_article(wanted: Wanted) -> Plan:
    """Return the plan of an article: about 800 characters, all of them from its start."""
    return prose(wanted, wanted.head)


def prose(wanted: Wanted, end: int) -> Plan:
    """Return a plan that keeps the sentences up to ``end`` and those that are asked for.

    The first half comes first, then what is asked for. The first sentence is kept, in part where it
    goes on behind ``end``. White space between sentences stays as it is.
    """
    text = wanted.text
    spans = sentences(text)
    pieces = []
    for number, (start, stop) in enumerate(spans):
        inside = stop <= end
        shown = text[start : stop if inside or number else min(stop, max(end, 1))]
        worth = wanted.worth(shown)
        rank: Rank | None = None
        if inside or not number:
            rank = (0 if stop * 2 <= end or not number else 2, number)
        elif worth:
            rank = (1, -worth, number)
        following = spans[number + 1][0] if number + 1 < len(spans) else stop
        pieces.append(Piece(shown + text[stop:following], rank))
    return Pieces(pieces, lambda first, end: "…" if end == len(pieces) else "… ", glue="")
