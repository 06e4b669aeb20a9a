"""A question as a row of items: times, declared words, cues, numbers; and what nobody knows.

Longest phrase first; a declared word stands before a cue of the same length, and keeps it where
both are said ("сумма" is a measure's name and asks for a sum). Fillers are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from retrieval.sql import amounts, units
from retrieval.sql.cue_words import OPENED, Cue
from retrieval.sql.cues import cue_at
from retrieval.sql.intent import Period, Unit
from retrieval.sql.times import Found
from retrieval.sql.words import Gazetteer, Kind, Meaning, Mention, Token, found_in, key


@dataclass(slots=True)
class Item:
    """Words of a question that mean something. ``after_be``: "were", "была" stand before them.

    ``unit`` is that of the ``number``, ``per`` a unit of time ("month", "ежедневно").
    ``used`` is set by whoever understood it.
    """

    text: str
    cue: Cue | None = None
    per: Unit | None = None
    unit: str = ""
    meanings: tuple[Meaning, ...] = ()
    number: float | None = None
    scale: float = 1
    period: Period | None = None
    negated: bool = False
    after_be: bool = False
    used: bool = field(default=False, compare=False)

    def of(self, *kinds: Kind) -> tuple[Meaning, ...]:
        """Return what the words can mean of some kinds."""
        return tuple(meaning for meaning in self.meanings if meaning.kind in kinds)

    @property
    def poles(self) -> tuple[Meaning, ...]:
        """Return the measures on whose scale the word is an end."""
        return tuple(meaning for meaning in self.meanings if meaning.pole)

    @property
    def measures(self) -> tuple[Meaning, ...]:
        """Return the measures that the word names."""
        return tuple(m for m in self.meanings if m.kind == "measure" and not m.pole)


_DUAL: tuple[Cue, ...] = ("sum", "avg", "max", "min", "light", "price")


_HALF_NEGATED = ("только", "лишь", "все", "всех", "only", "just", "all")


@dataclass(frozen=True, slots=True)
class Row:
    """The items of a question for one source, and whether it says "I" or "my"."""

    items: tuple[Item, ...]
    own: bool


def row(words: tuple[Token, ...], gazetteer: Gazetteer, times: Sequence[Found]) -> Row:
    """Return the items of a question's tokens."""
    mentioned = {mention.start: mention for mention in _mentions(words, gazetteer)}
    found: list[Item] = []
    own = be = False
    at = 0
    while at < len(words):
        time = next((t for t in times if t.start <= words[at].start < t.end), None)
        if time is not None:
            found.append(Item(time.period.said, period=time.period, after_be=be))
            be = False
            while at < len(words) and words[at].start < time.end:
                at += 1
            continue
        item, at = _item(words, at, mentioned.get(at))
        if item.cue == "not" and at < len(words) and words[at].text in _HALF_NEGATED:
            item = Item(f"{item.text} {words[at].text}")  # "not only the cancelled"
        if item.cue == "be":
            be = True
        elif item.cue == "own":
            own = True
        elif item.cue not in ("filler", "light") or item.meanings:
            item.after_be = be
            found.append(item)
            be = False
    return Row(_glued(found, gazetteer), own)


def _mentions(words: tuple[Token, ...], gazetteer: Gazetteer) -> list[Mention]:
    """Return the declared words, but for forms that say another thing than their stem."""
    return [
        mention
        for mention in found_in(words, gazetteer)
        if mention.words not in OPENED or mention.words in gazetteer.spelled
    ]


def _item(words: tuple[Token, ...], at: int, mention: Mention | None) -> tuple[Item, int]:
    """Return the item that begins at a token, and the token after it."""
    said = cue_at(words, at)
    length = mention.end - at if mention else 0
    if mention and (said is None or length >= said.length):
        cue = said.cue if said and said.length == length and said.cue in _DUAL else None
        return Item(mention.words, cue, meanings=mention.meanings), mention.end
    if said is not None:
        text = " ".join(token.text for token in words[at : at + said.length])
        if said.cue == "filler" and said.length == 1 and _demonstrative(words, at):
            return Item(text), at + 1
        return Item(text, said.cue, said.per), at + said.length
    return _number(words, at) or (Item(words[at].text), at + 1)


def _demonstrative(words: tuple[Token, ...], at: int) -> bool:
    """Tell whether "that" opens the question or stands after a preposition: "in that order"."""
    if words[at].text != "that":
        return False
    return at == 0 or words[at - 1].text in ("in", "of", "for", "with", "from", "on", "by")


def _number(words: tuple[Token, ...], at: int) -> tuple[Item, int] | None:
    """Read "$ 100", "5 тысяч рублей", "10 min"."""
    sign = units.known(words[at].text) and not words[at].text.isalpha()
    read = amounts.read(words, at + sign)
    if read is None:
        return None
    value, end, scale = read
    unit = words[at].text if sign else ""
    if not unit and end < len(words) and units.known(words[end].text):
        unit, end = words[end].text, end + 1
    text = " ".join(token.text for token in words[at:end])
    return Item(text, unit=unit, number=value, scale=scale), end


def _glued(items: Sequence[Item], gazetteer: Gazetteer) -> tuple[Item, ...]:
    """Split "неотменённых" into a negation and a declared value."""
    found = []
    for item in items:
        rest = item.text[2:] if item.text.startswith("не") else ""
        unknown = not (item.meanings or item.cue or item.period or item.number is not None)
        if unknown and len(rest) > 3:
            meanings = tuple(
                meaning
                for phrase, all_of_it in gazetteer.phrases.get(key(rest), ())
                for meaning in all_of_it
                if len(phrase) == 1 and meaning.kind == "value"
            )
            item = replace(item, meanings=meanings, negated=bool(meanings))
        found.append(item)
    return tuple(found)
