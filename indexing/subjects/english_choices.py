"""The frames of English decisions and preferences: "A instead of B", "from B to A", "A over B"."""

import re

from indexing.subjects import values
from indexing.subjects.choices import decision, preference
from indexing.subjects.english import NOW, WHEN
from indexing.subjects.types import Build, Frame, Parts, Subject
from indexing.subjects.words import folded

_NEW, _OLD = r"(?P<new>\S.*?)", r"(?P<old>\S.*?)"
_TOPIC = r"(?:for (?P<topic>[\w -]{2,30}?),? )?"
_DECIDERS = r"(?:we|I|the team|our team)"
_HAVE = r"(?:'ve| have)?"
_TAKE = r"(?:use|go with|adopt|pick|choose|buy|take|deploy|try|implement|standardi[sz]e on)"
_SAID = folded("call,calls,meeting,meetings,chat,chats,talk,talks")
_AROUND = folded(
    "zoom,skype,teams,phone,video,meet,slack,weekend,weekends,summer,winter,holidays,lunch,breakfast",
    "dinner,night,years",
)
"""Words before which "over" is a preposition of place or time."""


def _prefer_to(part: Parts) -> Subject | None:
    """Build "prefer A to B" only for two things alike: "flights to Paris" is one."""
    sides = part("new").raw.split() + part("old").raw.split()
    alike = len(sides) == 2 and (sides[0][:1].isupper() == sides[1][:1].isupper())
    gerunds = [side.endswith("ing") for side in sides]
    return preference(part) if alike and gerunds[0] == gerunds[-1] else None


def _prefer_over(part: Parts) -> Subject | None:
    """Build "prefer A over B"; "over Zoom", "over lunch", "over the weekend" compare nothing."""
    new, old = (part(side).folded.lower().split() for side in ("new", "old"))
    said = bool(_SAID.intersection(new)) or new[-1].endswith("ing")
    around = old[-1] in _AROUND and (said or old[0] == "the" or new[-1] not in _AROUND)
    uneven = new[-1].endswith("ing") != old[-1].endswith("ing") and said
    return None if around or (uneven and not _SAID.intersection(new + old)) else preference(part)


def _moved_on(part: Parts) -> Subject | None:
    """Build "we moved from Heroku to Fly" where both are names and neither is a place."""
    sides = part("old").raw, part("new").raw
    somewhere = any(values.known_place(side) or not side[:1].isupper() for side in sides)
    return None if somewhere else decision(part)


def _frame(rule: str, pattern: str, build: Build) -> Frame:
    return Frame(rule, re.compile(pattern, re.IGNORECASE), build)


FRAMES: tuple[Frame, ...] = (
    _frame(
        "en.decided",
        rf"{_TOPIC}{_DECIDERS}{_HAVE} (?:decided (?:to {_TAKE}|on)|agreed (?:to {_TAKE}|on))"
        rf" {_NEW} (?:instead of|rather than|over) {_OLD}{NOW}",
        decision,
    ),
    _frame(
        "en.decided",
        rf"{_TOPIC}{_DECIDERS}{_HAVE} (?:chose|chosen|picked|adopted|selected) {_NEW}"
        rf" (?:instead of|rather than|over) {_OLD}{NOW}",
        decision,
    ),
    _frame(
        "en.decided",
        rf"{_TOPIC}{_DECIDERS}(?:'re| are)? (?:now use|using|now using|going with) {_NEW}"
        rf" (?:instead of|rather than) {_OLD}{NOW}",
        decision,
    ),
    _frame(
        "en.switched",
        rf"{_TOPIC}(?:{_DECIDERS}{_HAVE} (?:just |recently |now )?)?"
        rf"(?:switch|switched|migrated|transitioned) from {_OLD} to {_NEW}{WHEN}{NOW}",
        decision,
    ),
    _frame(
        "en.switched",
        rf"{_TOPIC}(?:we|the team){_HAVE} (?:just |recently )?moved from {_OLD} to {_NEW}{WHEN}",
        _moved_on,
    ),
    _frame(
        "en.switched",
        rf"{_TOPIC}{_DECIDERS}{_HAVE} (?:just |recently )?replaced {_OLD} (?:with|by) {_NEW}"
        rf"{WHEN}{NOW}",
        decision,
    ),
    _frame(
        "en.prefers",
        rf"{_TOPIC}(?:now )?I(?: now)? prefer {_NEW} over {_OLD}{NOW}",
        _prefer_over,
    ),
    _frame(
        "en.prefers",
        rf"{_TOPIC}(?:now )?I(?: now)? prefer {_NEW} (?:rather than|instead of) {_OLD}{NOW}",
        preference,
    ),
    _frame("en.prefers", rf"I(?: now)? prefer {_NEW} to {_OLD}{NOW}", _prefer_to),
    _frame(
        "en.prefers",
        rf"I(?: now)? like {_NEW} (?:more|better) than {_OLD}{NOW}",
        preference,
    ),
    _frame("en.prefers", rf"I(?:'d| would) rather have {_NEW} than {_OLD}", preference),
)
