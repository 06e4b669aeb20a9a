"""What the frames of both languages make of a choice: decisions and preferences.

Groups by name: ``new``, ``old`` and ``topic``. A side has to be one plain thing.
"""

import re

from indexing.subjects.types import Parts, Subject
from indexing.subjects.words import fold

MAX_SIDE_WORDS = 4

_TOPIC = re.compile(
    r" (?:for|in|on|at|when|during|within|для|в|во|на|по|при|под) (?P<topic>.+)$", re.IGNORECASE
)
_REASON = re.compile(
    r",? (?:because|due to|so that|потому что|так как|поскольку|чтобы|из-за) .+$", re.IGNORECASE
)
_UNCLEAR = re.compile(
    r"[,;:()«»\"]|\b(?:and|or|not|but|also|then|it|them|him|her|there|if|when|old|new|one|ones|this"
    r"|that|these|those|everything|anything|nothing|something|ever|last|over|instead|rather"
    r"|yesterday|today|tomorrow|вместо"
    r"|и|или|не|а|но|него|нее|них|ним|ней|этого|если|когда|стар\w+|нов(?:ый|ая|ое|ого|ую|ые|ой)"
    r"|друг(?:ой|ого|ую|ие|ая)|перв\w+|втор\w+|мне|тебе|нам|ты|вы|что-\w+|кого-\w+|всего|всё)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:an?|the|our|my|наш\w*|мо[йяею]\w*) ", re.IGNORECASE)


def decision(part: Parts) -> Subject | None:
    """Build ``decision.<what is left>[:<topic>]``."""
    new, topic = _side(part("new").raw, part("topic").raw)
    old, other = _side(part("old").raw, "")
    if not new or not old or (topic and other) or fold(new) == fold(old):
        return None
    about = fold(topic or other)
    replaces = fold(old)
    return Subject(f"decision.{replaces}{':' + about if about else ''}", new, "", replaces=replaces)


def preference(part: Parts) -> Subject | None:
    """Build ``preference.<a>|<b>[:<topic>]``: the same pair is one slot, whichever one wins."""
    given = part("topic").raw
    new, topic = _side(part("new").raw, given)
    old, other = _side(part("old").raw, "")
    if not new or not old or topic != given or (topic and other) or fold(new) == fold(old):
        return None
    about = fold(topic or other)
    pair = "|".join(sorted((fold(new), fold(old))))
    return Subject(f"preference.{pair}{':' + about if about else ''}", new, "")


def _side(text: str, topic: str) -> tuple[str, str]:
    """Return one side of a choice and its topic; an empty side where it is not one plain thing."""
    text = _REASON.sub("", text)
    if not topic and (found := _TOPIC.search(text)):
        text, topic = text[: found.start()], found["topic"]
    text = _ARTICLE.sub("", text.strip())
    if _UNCLEAR.search(text) or _UNCLEAR.search(topic) or len(text.split()) > MAX_SIDE_WORDS:
        return "", ""
    return (text if fold(text) else ""), topic.strip()
