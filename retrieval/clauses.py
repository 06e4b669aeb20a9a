"""A question -> the questions it is made of: "how many orders, and what did I complain about?".

It is cut at the end of a sentence, or before a coordinator (and, also; и, а, а также) that a
question word or an imperative follows, and only where both sides stand as questions by themselves.
What refers back ("how many did they return", «сколько их было») or is one more relative clause of
what is before it ("which were late and which were refunded") stays there. Nothing is added: a part
without a period of its own has none. Pure; the time is linear.

>>> clauses("How many orders in April, and what did I complain about?")
('How many orders in April', 'what did I complain about?')
>>> clauses("сколько заказов и возвратов было в мае?")
('сколько заказов и возвратов было в мае?',)
"""

import re

from retrieval.routing.cues import words

MAX_CHARACTERS = 2000
"""A longer text is no question of two halves: it is left whole."""

_ASKS = words(
    """what who whom whose which when where why how show list count tell find give remind explain
    describe summari[sz]e compare сколько скольк\\w+ что чего чему кто кого кому кем чем какой
    какая какое какие каков\\w* какую каким каких какого какому каком чей чья чье чьи где куда
    откуда когда почему зачем отчего как насколько покажи\\w* перечисли\\w* назови\\w*
    найди\\w* посчитай\\w* подсчитай\\w* расскажи\\w* напомни\\w* объясни\\w* опиши\\w*
    сравни\\w* выведи\\w*"""
)
_INVERTED = (
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could)\s+(?:i|we|you|my|our|the|any)\b"
)
_PREPOSITION = words(
    "in on at by for from to of with about since until в во на с со у к о об от до за из по про для"
)
_OPENER = rf"(?:(?:{_PREPOSITION})\s+)?(?:(?P<asks>{_ASKS})\b|{_INVERTED})"
_POLITE = r"(?:(?:please|also|then|пожалуйста|еще|также)\s+)?"
_COORDINATOR = r"and\s+also|and|but|plus|as\s+well\s+as|а\s+также|а\s+еще|и\s+еще|и\s+также|и|а|но"
_CUT = re.compile(
    rf"""(?: (?P<stop>[?!.;])\s+ (?:(?:{_COORDINATOR})\s+)? | ,?\s (?:{_COORDINATOR})\s )
    (?={_POLITE}{_OPENER})""",
    re.VERBOSE | re.IGNORECASE,
)
_OPENS = re.compile(rf"(?:[\w'’-]+,?\s+){{0,4}}?{_OPENER}", re.IGNORECASE)
_BACK = re.compile(
    "(?<!\\w)(?:"
    + words(
        """it its they them their theirs he him his she her hers these those each ones such он оно
        они его ее их им ему ей ним ней них нем этот эта это эти этого этой этих этом этому
        том той тех каждый каждая каждое каждого каждой такой такая такие там"""
    )
    + ")(?!\\w)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"«[^»]{0,500}»|\"[^\"]{0,500}\"|“[^”]{0,500}”")
_SECOND_WORD = re.compile(r"\s*\w+\W+\w")


def clauses(question: str) -> tuple[str, ...]:
    """Return the parts, each a question as it was written; one part where it cannot be cut."""
    if len(question) > MAX_CHARACTERS:
        return (question,)
    hidden = _QUOTED.sub(lambda match: "“" * len(match.group()), question)
    hidden = re.sub(r"\s", " ", hidden).replace("ё", "е")
    cuts = list(_CUT.finditer(hidden))
    parts: list[str] = []
    start = 0
    for i, cut in enumerate(cuts):
        following = cuts[i + 1].start() if i + 1 < len(cuts) else len(hidden)
        end = cut.end("stop") if cut["stop"] else cut.start()
        if _divides(hidden[start:end], cut["asks"], hidden[cut.end() : following]):
            parts.append(question[start:end])
            start = cut.end()
    return (*parts, question[start:])


def _divides(before: str, asks: str | None, after: str) -> bool:
    """Whether both sides of a cut stand by themselves; ``asks`` is what the second opens with."""
    opens = _OPENS.match(before.lstrip())
    if opens is None or not _SECOND_WORD.match(before) or not _SECOND_WORD.match(after):
        return False
    relative = asks and re.search(rf"\b{re.escape(asks)}\b", before.lstrip()[opens.end() :], re.I)
    return not relative and _BACK.search(after) is None
