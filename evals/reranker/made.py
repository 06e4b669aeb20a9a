"""Made dialogues: memories of two people in which the answers are known, in Russian and English.

Reads the phrase banks in `phrases/`. Does: draw events and their details by a seed, let the two
talk about them over months, ask about each in other words than it was told in. The other speaker's
reaction stands between what is told first and a detail, which then does not name what it is about.

A bank is topics: slots with their values, then beats. ``R`` is what the other one says, ``S`` what
is told, ``Q`` what is asked later, ``P`` a picture's caption; alternatives are split by ``|``.
``[m/f]`` depends on who tells; ``{n} {g} {d} {c} {i}`` is their name in Russian cases.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from importlib.resources import files
from random import Random

from evals.reranker import names, small_talk
from evals.reranker.texts import Ask, Passage, Pool

SESSIONS, EVENTS = 26, 4
"""Of a memory, and of a session at most."""
ASKED, JOINED, PICTURED, DECORATED = 0.5, 0.3, 0.5, 0.55
"""Chances: a question of a detail; two details in a turn; a picture; a phrase around it."""

OWN = 1.0
"""Share of the questions in the language of the answer that a mixed memory is asked: about as many
as in the other one, or a model learns that the answer is in the other language."""


@dataclass(slots=True)
class Beat:
    """A detail: how the other one asks, how it is told, how it is asked for later, its picture."""

    reactions: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    picture: str = ""


@dataclass(slots=True)
class Topic:
    """Slots and their values, and the beats; the first one opens."""

    name: str
    slots: dict[str, list[str]] = field(default_factory=dict)
    beats: list[Beat] = field(default_factory=list)


Detail = tuple[str, str, int]
"""Topic, who tells, and the number of the beat."""


@dataclass(slots=True)
class _Draft:
    """A memory being made: its pool, the places where each detail is told, and questions yet
    without their other answers."""

    pool: Pool
    told: dict[Detail, list[int]] = field(default_factory=dict)
    asks: list[tuple[str, int, Detail | None]] = field(default_factory=list)


def topics(lang: str) -> list[Topic]:
    """Return the topics of a language's bank."""
    found: list[Topic] = []
    text = (files("evals.reranker") / "phrases" / f"{lang}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        kind, _, rest = line.partition(":" if line[:2] in ("S:", "Q:", "R:", "P:") else " ")
        options = [one.strip() for one in rest.split("|")]
        if kind == "#":
            found.append(Topic(rest))
        elif kind == "S":
            if not found[-1].beats or found[-1].beats[-1].told:
                found[-1].beats.append(Beat())
            found[-1].beats[-1].told = options
        elif kind == "R":
            found[-1].beats.append(Beat(options))
        elif kind == "Q":
            found[-1].beats[-1].asked = options
        elif kind == "P":
            found[-1].beats[-1].picture = rest.strip()
        elif line.strip() not in ("", ">"):
            name, _, values = line.partition(": ")
            found[-1].slots[name] = values.split("|")
    return found


def pools(lang: str, count: int, seed: int) -> Iterator[Pool]:
    """Yield so many memories."""
    bank = topics(lang)
    for number in range(count):
        yield _memory(lang, bank, Random(f"{seed} {lang} {number}"))  # noqa: S311


def _memory(lang: str, bank: Sequence[Topic], chance: Random) -> Pool:
    draft = _Draft(Pool("made", lang))
    people = chance.sample(names.EN if lang == "en" else names.RU, 2)
    when = date(2019 + chance.randint(0, 7), chance.randint(1, 12), chance.randint(1, 28))
    for _ in range(SESSIONS):
        _session(draft, lang, bank, people, when, chance)
        when += timedelta(days=chance.randint(2, 25))
    for query, place, key in draft.asks:
        also = tuple(p for p in draft.told[key] if p != place) if key else ()
        draft.pool.asks.append(Ask(query, place, also))
    return draft.pool


TWINS = {
    "поездка": "trip", "питомец": "pet", "работа": "job", "увлечение": "hobby",
    "здоровье": "health", "еда": "food", "книга": "book", "семья": "family", "переезд": "move",
    "концерт": "music", "спорт": "sport", "помощь": "volunteer", "машина": "car",
    "учёба": "study", "ремонт": "home project", "праздник": "party", "мечта": "dream",
    "кино": "film", "покупка": "money", "детство": "childhood", "привычки": "routine",
    "встреча": "meeting", "программа": "tech", "поход": "camping", "поручение": "agent",
}  # fmt: skip
"""Topics that both banks have; details of one slot are the same detail."""


def crossed(count: int, seed: int) -> Iterator[Pool]:
    """Yield memories told in both languages, each detail asked for in both."""
    banks = {lang: {topic.name: topic for topic in topics(lang)} for lang in ("ru", "en")}
    twins = {**TWINS, **{english: russian for russian, english in TWINS.items()}}
    for number in range(count):
        chance = Random(f"{seed} crossed {number}")  # noqa: S311
        yield _Mixed(banks, twins, chance.sample(list(names.LATIN.items()), 2)).memory(chance)


@dataclass(frozen=True, slots=True)
class _Mixed:
    """Makes one memory of two languages; ``people`` are two names, each in Russian and English."""

    banks: Mapping[str, Mapping[str, Topic]]
    twins: Mapping[str, str]
    people: Sequence[tuple[str, str]]

    def memory(self, chance: Random) -> Pool:
        """Return the memory: sessions of either language, asked across and within."""
        draft = _Draft(Pool("made_crossed", "mixed"))
        when = date(2019 + chance.randint(0, 7), chance.randint(1, 12), chance.randint(1, 28))
        for _ in range(SESSIONS):
            lang = chance.choice(("ru", "en"))
            bank = list(self.banks[lang].values())
            _session(draft, lang, bank, self._names(lang), when, chance)
            when += timedelta(days=chance.randint(2, 25))
        for query, place, key in draft.asks:
            if chance.random() < OWN:
                also = tuple(p for p in self._told(draft, key) if p != place) if key else ()
                draft.pool.asks.append(Ask(query, place, also))
        for key, places in draft.told.items():
            query = self._asked(key, chance)
            if query:
                place = chance.choice(places)
                also = tuple(p for p in self._told(draft, key) if p != place)
                draft.pool.asks.append(Ask(query, place, also))
        return draft.pool

    def _names(self, lang: str) -> list[str]:
        return [pair[lang == "en"] for pair in self.people]

    def _told(self, draft: _Draft, detail: Detail) -> list[int]:
        """Return where a detail is told, in whichever language."""
        twin = self._twin(detail)
        return [*draft.told[detail], *(draft.told.get(twin, ()) if twin else ())]

    def _lang(self, topic: str) -> str:
        return "ru" if topic in self.banks["ru"] else "en"

    def _twin(self, detail: Detail) -> Detail | None:
        """Return the same detail of the other language, None where its bank has none."""
        topic, teller, at = detail
        if topic not in self.twins:
            return None
        twin = self.twins[topic]
        lang, other = self._lang(topic), self._lang(twin)
        wanted = _slots(self.banks[lang][topic].beats[at].told)
        shared = [len(wanted & _slots(beat.told)) for beat in self.banks[other][twin].beats]
        if not any(shared):
            return None
        name = self._names(other)[self._names(lang).index(teller)]
        return twin, name, shared.index(max(shared))

    def _asked(self, detail: Detail, chance: Random) -> str:
        """Return a question of the other language about a detail, "" where there is none."""
        twin = self._twin(detail)
        if twin is None:
            return ""
        name, teller, at = twin
        lang = self._lang(name)
        topic = self.banks[lang][name]
        own = topic.slots.keys()
        general = [form for form in topic.beats[at].asked if not _slots([form]) & own]
        if not general:
            return ""
        people = self._names(lang)
        other = people[1 - people.index(teller)]
        return _filled(topic, lang, teller, other, chance)(chance.choice(general), True)


def _slots(forms: Sequence[str]) -> set[str]:
    """Return what is to be filled in, times aside."""
    found = {name for form in forms for name in re.findall(r"\{(\w+)\}", form)}
    return found - {"when", "when2", "dur"}


def _session(
    draft: _Draft,
    lang: str,
    bank: Sequence[Topic],
    people: Sequence[str],
    when: date,
    chance: Random,
) -> None:
    turns: list[tuple[str, str]] = []
    base = len(draft.pool.passages)
    small = small_talk.BANKS[lang]
    hello = chance.sample(people, 2)
    turns.append((hello[0], chance.choice(small.hellos).format(m=hello[1])))
    for _ in range(chance.randint(2, EVENTS)):
        topic, teller = chance.choice(bank), chance.choice(people)
        other = people[1 - people.index(teller)]
        filled = _filled(topic, lang, teller, other, chance)
        later = topic.beats[1:]
        chosen = [0, *sorted(1 + i for i in chance.sample(range(len(later)), min(len(later), 2)))]
        for at in chosen:
            beat = topic.beats[at]
            told = filled(chance.choice(beat.told), False)
            if beat.picture and chance.random() < PICTURED:
                caption = filled(beat.picture, False)
                told += f" [photo: {caption[:1].lower()}{caption[1:]}]"
            joined = at and chance.random() < JOINED
            if joined:
                turns[-1] = (teller, f"{turns[-1][1]} {told}")
            else:
                if at:
                    lead = (
                        chance.choice(small.reactions) + " " if chance.random() < DECORATED else ""
                    )
                    turns.append((other, lead + filled(chance.choice(beat.reactions), False)))
                turns.append((teller, _decorated(told, small, chance)))
            key = (topic.name, teller, at)
            place = base + len(turns) - 1
            draft.told.setdefault(key, []).append(place)
            if beat.asked and chance.random() < ASKED:
                form = chance.choice(beat.asked)
                particular = any(f"{{{slot}}}" in form for slot in topic.slots)
                draft.asks.append((filled(form, True), place, None if particular else key))
        if chance.random() < 0.5:
            turns.append((other, chance.choice(small.reactions)))
    turns.append((hello[1], chance.choice(small.goodbyes).format(m=hello[0])))
    before = ""
    for speaker, text in turns:
        draft.pool.passages.append(Passage(text, speaker, when, before))
        before = f"{speaker}: {text}"[:200]


def _decorated(text: str, small: small_talk.Bank, chance: Random) -> str:
    if chance.random() < DECORATED:
        opening = chance.choice(small.openings)
        if opening.endswith(",") and not text.startswith(("I ", "I'")):
            text = text[:1].lower() + text[1:]
        text = f"{opening} {text}"
    if chance.random() < DECORATED:
        text = f"{text} {chance.choice(small.closings)}"
    return text


@dataclass(frozen=True, slots=True)
class _Filler:
    """Fills a phrase of one event in; ``asking`` is the view of a third person."""

    values: Mapping[str, str]
    woman: bool
    lang: str
    name: str

    def __call__(self, form: str, asking: bool) -> str:
        text = re.sub(r"\[([^/\]]*)/([^\]]*)\]", lambda m: m[2 if self.woman else 1], form)
        for _ in range(2):
            text = re.sub(r"\{(\w+)\}", lambda m: self.values[m[1]], text)
        text = re.sub(r"\[([^/\]]*)/([^\]]*)\]", lambda m: m[2 if self.woman else 1], text)
        if asking and self.lang == "en":
            text = re.sub(r"\bmy\b", "their", text, flags=re.I)
        return text[:1].upper() + text[1:]


def _filled(topic: Topic, lang: str, teller: str, other: str, chance: Random) -> _Filler:
    small = small_talk.BANKS[lang]
    values = {slot: chance.choice(options) for slot, options in topic.slots.items()}
    values |= {"n": teller, "m": other}
    values |= {"when": chance.choice(small.past), "when2": chance.choice(small.future)}
    values["dur"] = chance.choice(small.durations)
    if lang == "ru":
        values |= names.cases(teller)
    for slot in ("rel", "occasion"):
        values[f"{slot}3"] = re.sub(r"^my\b", f"{teller}'s", values.get(slot, ""))
    return _Filler(values, lang == "ru" and names.is_woman(teller), lang, teller)
