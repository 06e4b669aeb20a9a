"""The frames of Russian statements that name an attribute: "мой телефон — …", "у Анны почта …"."""

import re

from indexing.subjects import formats, values
from indexing.subjects.attributes import attribute
from indexing.subjects.build import begins_with_attribute, fill, owner
from indexing.subjects.russian import ADV, ADV_EVENT, NAME, POST, VALUE, done, frame
from indexing.subjects.types import Build, Frame, Parts, Shape, Span, Subject
from indexing.subjects.words import stem

_WHOSE = rf"(?P<who>(?i:мо(?:ей|его) \w+)|{NAME})"
_LINK = re.compile(
    r"(?: теперь)?(?: ?:| ?[—–-]|,)?(?: ?это)?(?: теперь)?"
    r"(?: (?:сменился|сменилась|изменился|изменилась|поменялся|поменялась) на)? "
)
_TAIL = re.compile(f"{POST}$", re.IGNORECASE)
_PET = {
    stem(word): kind
    for kind, words in {"cat": "кота кошку", "dog": "собаку пса щенка", "parrot": "попугая"}.items()
    for word in words.split()
}


def _is(owner_case: str) -> Build:
    """Return a builder of "<attribute> <link> <value>" after a possessive or "у кого"."""

    def build(part: Parts) -> Subject | None:
        rest = part("rest")
        whose, split = owner(part("who").raw, owner_case), begins_with_attribute(rest)
        if whose is None or split is None:
            return None
        found, tail = split
        return _valued(f"{whose}.{found.slot}", found.shape, tail, strict=found.strict)

    return build


def _valued(key: str, shape: Shape, tail: Span, *, strict: bool) -> Subject | None:
    """Read the link and the value. Only a strict shape does without a dash or "теперь"."""
    gap = "" if tail.folded[:1] in (":", ",") else " "
    link = _LINK.match(f"{gap}{tail.folded} ")
    start = link.end() - len(gap) if link else 0
    explicit = bool(link and link[0].strip())
    if shape is values.full_name and explicit:
        shape = values.person
    value = shape(_TAIL.sub("", tail.raw[start:].strip()))
    return Subject(key, value, "") if value and (explicit or strict) else None


def _of_whom(part: Parts) -> Subject | None:
    """Build "телефон Анны — …": the owner stands between the attribute and the dash."""
    whose, found = owner(part("who").raw, "genitive"), attribute(part("attr").folded)
    if not whose or not found:
        return None
    shape = values.person if found.shape is values.full_name else found.shape
    value = shape(part("value").raw)
    return Subject(f"{whose}.{found.slot}", value, "") if value else None


def _of_pet(part: Parts) -> Subject | None:
    kind, value = _PET.get(stem(part("attr").folded.lower())), values.person(part("value").raw)
    return Subject(f"user.{kind}.name", value, "") if kind and value else None


def _my_code(part: Parts) -> Subject | None:
    """Build "номер моего пропуска — 4471"."""
    found = attribute(f"{part('attr').folded} {part('noun').folded}")
    value = found.shape(part("value").raw) if found else None
    return Subject(f"user.{found.slot}", value, "") if found and value else None


FRAMES: tuple[Frame, ...] = (
    frame(
        "ru.pet",
        rf"(?:моего|мою|нашего|нашу) (?P<attr>кота|кошку|собаку|пса|щенка|попугая) зовут {VALUE}",
        _of_pet,
    ),
    done(
        "ru.changed",
        rf"(?:я )?{ADV_EVENT}(?:сменил|поменял|изменил)а? "
        rf"(?P<attr>[\w-]+(?: [\w-]+){{0,3}}?) на {VALUE}",
        _of_whom,
    ),
    frame(
        "ru.reach",
        rf"(?:пиши|отвечай|присылай)(?:те)?(?: мне)? на {VALUE}",
        fill("email", formats.email),
    ),
    frame(
        "ru.reach",
        rf"(?:звони|пиши)(?:те)?(?: мне)? (?:на|по номеру|на номер) {VALUE}",
        fill("phone", formats.phone),
    ),
    frame(
        "ru.code",
        rf"(?P<attr>номер|код|пароль|пин-код) мо(?:его|ей) (?P<noun>\w+)(?::| [—–-]) {VALUE}",
        _my_code,
    ),
    frame("ru.my", r"мо[йяеи] (?P<rest>.+)", _is("nominative")),
    frame("ru.at", rf"у меня {ADV}(?P<rest>.+)", _is("nominative")),
    frame(
        "ru.at",
        rf"у меня {ADV}(?:сменил|изменил|поменял)(?:ся|ась|ось) (?P<attr>[\w-]+(?: \w+)?)"
        rf"(?:,| [—–-])? (?:теперь|на) {VALUE}",
        _of_whom,
    ),
    frame(
        "ru.at",
        rf"(?P<attr>[\w-]+(?: [\w-]+){{0,2}}?) у меня {ADV}(?:[—–-] )?{VALUE}{POST}",
        _of_whom,
    ),
    Frame(
        "ru.whose",
        re.compile(rf"(?i:у ){_WHOSE}(?i: {ADV}(?P<rest>.+))"),
        _is("genitive"),
    ),
    Frame(
        "ru.whose",
        re.compile(
            rf"(?P<attr>[А-Я]?[\w-]+(?: [а-я-]+){{0,2}}?) {_WHOSE}"
            rf"(?i:(?:(?: теперь)?(?::| [—–-])(?: теперь)?| теперь) {VALUE}{POST})"
        ),
        _of_whom,
    ),
)
