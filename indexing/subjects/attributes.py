"""Attributes with one value at a time: their names in both languages, their slot, their shape.

Closed lists on purpose. "My friend is …", "my hobby is …", "my order number is …" have many values
at once, and so may any noun that is not here: it gets no slot.
"""

import re
from dataclasses import dataclass

from indexing.subjects import formats, values
from indexing.subjects.favorites import favorite
from indexing.subjects.types import Shape
from indexing.subjects.words import fold, folded, stem


@dataclass(frozen=True, slots=True)
class Attribute:
    """A slot of an owner, and what its value looks like."""

    slot: str
    shape: Shape
    strict: bool = True
    """The shape alone tells a value from a predicate, so no copula is needed in Russian."""


_BASE: dict[str, tuple[Shape, str]] = {
    "name": (values.person, "name|full name|имя|полное имя"),
    "surname": (values.person, "surname|last name|family name|фамилия"),
    "phone": (
        formats.phone,
        "phone|phone number|number|telephone|telephone number|mobile|mobile number|cell"
        "|cell phone|cell number|mobile phone|телефон|номер телефона|номер|мобильный|сотовый"
        "|мобильный телефон|мобильный номер|телефонный номер",
    ),
    "email": (
        formats.email,
        "email|e-mail|mail|email address|e-mail address|почта|электронная почта|имейл|мейл"
        "|адрес почты|адрес электронной почты|эл. почта|емейл",
    ),
    "address": (
        values.address,
        "address|home address|postal address|адрес|домашний адрес|почтовый адрес",
    ),
    "delivery_address": (
        values.address,
        "delivery address|shipping address|адрес доставки",
    ),
    "home": (values.place, "city|home city|town|current city|город|город проживания"),
    "hometown": (values.place, "hometown|home town|родной город"),
    "birthday": (
        formats.date,
        "birthday|date of birth|birth date|birthdate|день рождения|дата рождения|др",
    ),
    "employer": (values.firm, "employer|company|workplace|работодатель|место работы"),
    "job_title": (values.title, "job title|title|occupation|profession|должность|профессия"),
    "diet": (formats.diet, "diet|диета"),
    "timezone": (formats.zone, "timezone|time zone|time-zone|часовой пояс|таймзона|тайм-зона"),
    "language": (
        formats.language,
        "language|preferred language|interface language|язык|язык общения|язык интерфейса",
    ),
    "native_language": (
        formats.language,
        "native language|mother tongue|first language|родной язык",
    ),
    "budget": (formats.number, "budget|бюджет"),
    "deadline": (formats.date, "deadline|due date|дедлайн|срок сдачи|крайний срок"),
    "size": (formats.size, "size|clothing size|clothes size|размер|размер одежды"),
    "shirt_size": (formats.size, "shirt size|t-shirt size|размер футболки|размер рубашки"),
    "shoe_size": (formats.shoe, "shoe size|размер обуви|размер ноги"),
    "plan": (
        values.distinct,
        "plan|subscription|subscription plan|tariff|тариф|подписка|тарифный план",
    ),
    "car": (values.distinct, "car|машина|автомобиль|авто"),
    "age": (formats.number, "age|возраст"),
    "height": (formats.number, "height|рост"),
    "weight": (formats.number, "weight|вес"),
    "salary": (formats.number, "salary|зарплата|оклад"),
    "boss": (
        values.full_name,
        "boss|manager|line manager|supervisor|team lead|начальник|начальница|руководитель"
        "|руководительница|тимлид|босс",
    ),
    "username": (formats.handle, "username|user name|login|nickname|nick|ник|никнейм|логин"),
    "github": (formats.handle, "github|github username|github handle|гитхаб|ник на гитхабе"),
    "telegram": (formats.handle, "telegram|telegram handle|телеграм|телеграмм|ник в телеграме"),
    "website": (formats.handle, "website|site|сайт"),
    "pronouns": (formats.handle, "pronouns"),
    "gym": (values.proper, "gym|спортзал|фитнес-клуб"),
    "university": (values.proper, "university|университет|вуз"),
    "school": (values.distinct, "school|школа"),
    "blood_type": (values.phrase, "blood type|blood group|группа крови"),
    "marital_status": (values.phrase, "marital status|семейное положение"),
    "citizenship": (values.proper, "citizenship|nationality"),
    "editor": (values.proper, "code editor|text editor|редактор кода"),
    "os": (values.proper, "os|operating system|операционная система|ос"),
}

_LOOSE = (
    values.phrase,
    values.title,
    formats.handle,
    formats.language,
    values.proper,
    values.person,
    values.place,
    values.firm,
)

ALIASES: dict[str, Attribute] = {
    fold(alias): Attribute(slot, shape, shape not in _LOOSE)
    for slot, (shape, aliases) in _BASE.items()
    for alias in aliases.split("|")
}

_QUALIFIED = {"phone", "email", "address", "deadline", "budget", "username", "website"}
_QUALIFIERS = {
    "work": "work",
    "office": "work",
    "business": "work",
    "home": "home",
    "personal": "personal",
    stem("рабочий"): "work",
    stem("домашний"): "home",
    stem("личный"): "personal",
}
_WEAR = folded(
    "jeans,pants,trousers,dress,ring,hat,glove,jacket,coat,suit,bra,sock,boot,belt,helmet,skirt,ski"
)
_PERIODS = {
    **dict.fromkeys(("monthly", stem("месячный"), stem("ежемесячный")), "monthly"),
    **dict.fromkeys(("weekly", stem("недельный"), stem("еженедельный")), "weekly"),
    **dict.fromkeys(("yearly", "annual", stem("годовой")), "yearly"),
    **dict.fromkeys(("daily", stem("дневной"), stem("ежедневный")), "daily"),
}
_PERIODIC = {"budget", "salary"}
_CURRENT = folded("new,current,main,primary,own,новый,новое,текущий,основной,основное,нынешний")

_FAVORITE = frozenset({"favorite", "favourite", stem("любимый")})
_CODES = folded("number,code,id,password,pin,номер,код,пароль,пин-код")
_MANY = folded(
    "order,flight,ticket,card,account,invoice,tracking,booking,reservation,case,lucky,test,second",
    "other,old,previous,former,заказ,рейс,билет,карта,счет,бронирование,заявка,старый,второй",
)
"""Folded words before "number" or "code" of which one has many."""
_DIGIT = re.compile(r"\d")
_TOPIC = re.compile(r" (?:for|on) (?:the |my )?([\w-]+(?: [\w-]+)?)$")


def attribute(name: str) -> Attribute | None:
    """Return the attribute that a noun phrase names, None when it has no single value.

    >>> attribute("new e-mail").slot, attribute("рабочая почта").slot
    ('email', 'work_email')
    """
    topic = _TOPIC.search(name)
    found = _plain(fold(name[: topic.start()] if topic else name).split())
    if topic and found:
        if found.slot not in _QUALIFIED:
            return None
        return Attribute(f"{found.slot}:{fold(topic[1])}", found.shape, found.strict)
    return found


def _plain(words: list[str]) -> Attribute | None:
    if words and words[0] in _CURRENT:
        words = words[1:]
    if not words:
        return None
    if known := ALIASES.get(" ".join(words)):
        return known
    if words[0] in _FAVORITE:
        liked = favorite(" ".join(words[1:]))
        return Attribute(*liked, strict=liked[1] not in _LOOSE) if liked else None
    if len(words) > 1:
        found = ALIASES.get(" ".join(words[1:]))
        if words[0] in _QUALIFIERS and found and found.slot in _QUALIFIED:
            return Attribute(f"{_QUALIFIERS[words[0]]}_{found.slot}", found.shape, found.strict)
        if words[0] in _PERIODS and found and found.slot in _PERIODIC:
            return Attribute(f"{_PERIODS[words[0]]}_{found.slot}", found.shape, found.strict)
    if len(words) == 2 and words[1] == "size" and words[0] in _WEAR:
        return Attribute(f"{words[0]}_size", formats.size)
    head = {words[0], words[-1]} & _CODES
    if (
        len(words) == 2
        and head
        and not _MANY.intersection(words)
        and not _DIGIT.search("".join(words))
    ):
        return Attribute("_".join(words), formats.code)
    return None
