"""The frames of Russian statements with a verb of their own: a home, a job, a name, a size.

They are matched with е for ё. A first-person verb needs no pronoun ("живу в Казани"); a third one
needs a name. "Работаю в X" is about an employer only where X shows itself to be a firm: cities and
programs follow "в" as well.
"""

import re

from indexing.subjects import formats, values
from indexing.subjects.build import fill
from indexing.subjects.types import Build, Frame

NAME = r"[А-ЯЕA-Z][\w-]+(?: [А-ЯЕA-Z][\w-]+)?"
_RELATIVE = r"(?i:мо[яй] (?:жена|муж|мама|папа|мать|отец|начальник|начальница))"
_SELF = r"(?:(?P<who>(?i:я|мы))(?i: с (?:семьей|женой|мужем|детьми))? )?"
_OTHER = rf"(?P<who>{_RELATIVE}|{NAME}) "
_NOW = (
    r"теперь|сейчас|уже|недавно|наконец|наконец-то|отныне|снова"
    r"|с (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
    r"|(?:19|20)\d\d года)"
)
_LATELY = (
    rf"{_NOW}|только что|вчера|сегодня|в итоге|на (?:прошлой|этой) неделе"
    r"|в (?:прошлом|этом) (?:месяце|году)|(?:неделю|месяц|год) назад"
)
PRE, ADV = rf"(?i:(?:(?:{_NOW}),? )*)", rf"(?:(?:{_NOW}) )*"
POST = rf"(?:,? (?:{_NOW}|с (?:\d{{4}}(?: года)?|прошл\w+ \w+|\w+ \d{{4}}(?: года)?)))*"
"""Around what holds: "на этой неделе живу в Казани" holds for a week."""

PRE_EVENT, ADV_EVENT = rf"(?i:(?:(?:{_LATELY}),? )*)", rf"(?:(?:{_LATELY}) )*"
POST_EVENT = rf"(?:,? (?:{_LATELY}))*"
"""Around what happened: "на этой неделе переехал в Казань"."""

VALUE = r"(?P<value>\S.*?)"
_TRADE = (
    r"(?!вечером|компьютером|топором|хором)(?P<value>(?:\w+(?:им|ым|ой) )?\w+(?:ером|ором|истом"
    r"|ологом|щиком|чиком|телем|лидом|графом|ницей|сестрой|врачом)(?: \w+)?)"
)
_DIET = r"(?P<value>[а-я]+)"


def _state(rule: str, first: str, third: str, tail: str, build: Build) -> tuple[Frame, Frame]:
    """Return the frames of a present verb in the first person and in the third."""
    return (
        Frame(rule, re.compile(f"{PRE}{_SELF}(?i:{ADV}{first} {ADV}{tail}{POST})"), build),
        Frame(rule, re.compile(f"{PRE}{_OTHER}(?i:{ADV}{third} {ADV}{tail}{POST})"), build),
    )


def _event(rule: str, verb: str, tail: str, build: Build) -> tuple[Frame, Frame]:
    """Return the frames of a past verb: without a subject, the user is meant."""
    rest = f"(?i:{ADV_EVENT}{verb} {ADV_EVENT}{tail}{POST_EVENT})"
    return (
        Frame(rule, re.compile(f"{PRE_EVENT}{_SELF}{rest}"), build),
        Frame(rule, re.compile(f"{PRE_EVENT}{_OTHER}{rest}"), build),
    )


def frame(rule: str, pattern: str, build: Build) -> Frame:
    """Return the frame of something that holds."""
    return Frame(rule, re.compile(PRE + pattern, re.IGNORECASE), build)


def done(rule: str, pattern: str, build: Build) -> Frame:
    """Return the frame of something that happened."""
    return Frame(rule, re.compile(PRE_EVENT + pattern + POST_EVENT, re.IGNORECASE), build)


FRAMES: tuple[Frame, ...] = (
    *_state(
        "ru.lives",
        "(?:проживаю|жив(?:у|ем))",
        "(?:проживает|живет)",
        f"во? {VALUE}",
        fill("home", values.place),
    ),
    *_event(
        "ru.moved",
        "(?:переехал[аи]?|перебрал(?:ся|ась|ись)|вернул(?:ся|ась|ись) жить)(?: обратно)?",
        f"(?:из [А-ЯA-Z][\\w -]* )?во? {VALUE}",
        fill("home", values.cyrillic_place),
    ),
    *_state(
        "ru.works",
        "работаю",
        "работает",
        f"во? (?:банке )?{VALUE}",
        fill("employer", values.known_firm),
    ),
    *_state(
        "ru.works",
        "работаю",
        "работает",
        f"в (?:компании|фирме|корпорации) {VALUE}",
        fill("employer", values.firm),
    ),
    *_event(
        "ru.hired",
        "устроил(?:ся|ась)(?: на работу)?",
        f"во? (?:банк )?{VALUE}",
        fill("employer", values.joined_firm),
    ),
    *_event(
        "ru.hired",
        "переш(?:ел|ла)(?: работать)?",
        f"во? {VALUE}",
        fill("employer", values.known_firm),
    ),
    *_event(
        "ru.hired",
        "(?:переш(?:ел|ла)(?: работать)?|устроил(?:ся|ась)(?: на работу)?)",
        f"в (?:компанию|фирму|корпорацию) {VALUE}",
        fill("employer", values.firm),
    ),
    done(
        "ru.hired",
        rf"(?:я )?сменила? работу,? теперь (?:работаю )?в {VALUE}",
        fill("employer", values.joined_firm),
    ),
    frame("ru.works_as", rf"(?:я )?{ADV}работаю {_TRADE}{POST}", fill("job_title", values.title)),
    *_state(
        "ru.lives.no_longer",
        "больше не жив(?:у|ем)",
        "больше не живет",
        f"во? {VALUE}",
        fill("home", values.place, closes=True),
    ),
    *_state(
        "ru.works.no_longer",
        "(?:больше|уже) не работаю",
        "(?:больше|уже) не работает",
        f"во? (?:(?:компании|фирме|банке) )?{VALUE}",
        fill("employer", values.known_firm, closes=True),
    ),
    *_event(
        "ru.works.no_longer",
        "уволил(?:ся|ась)",
        f"из (?:(?:компании|фирмы|банка) )?{VALUE}",
        fill("employer", values.joined_firm, closes=True),
    ),
    frame(
        "ru.called",
        rf"(?:(?:все )?(?:меня {ADV}зовут|зовут меня)) {VALUE}",
        fill("name", values.person),
    ),
    frame(
        "ru.called",
        rf"(?:пожалуйста,? )?(?:(?:(?:зови|называй)(?:те)?|можно (?:звать|называть)) меня"
        rf"(?: просто)?|обращай(?:ся|тесь) ко мне) {VALUE}",
        fill("name", values.person),
    ),
    frame(
        "ru.called",
        rf"(?P<who>мо(?:ю|его) \w+) зовут {VALUE}",
        fill("name", values.person, case="genitive"),
    ),
    frame(
        "ru.diet", rf"я {ADV}(?:[—–-] )?(?:стал[аи]? )?{_DIET}{POST}", fill("diet", formats.diet)
    ),
    frame(
        "ru.diet.no_longer",
        rf"я (?:больше|уже) не {_DIET}",
        fill("diet", formats.diet, closes=True),
    ),
    frame(
        "ru.age",
        rf"(?:мне|мой возраст) {ADV}(?:исполнилось )?(?P<value>\d{{1,3}}) (?:лет|года?)",
        fill("age", formats.number),
    ),
    Frame(
        "ru.age",
        re.compile(rf"(?P<who>{NAME}) {ADV}(?:исполнилось )?(?P<value>\d{{1,3}}) (?:лет|года?)"),
        fill("age", formats.number, case="dative"),
    ),
    frame(
        "ru.born",
        rf"(?:я родил(?:ся|ась)|родил(?:ся|ась)(?: я)?) {VALUE}",
        fill("birthday", formats.date),
    ),
    frame("ru.weighs", rf"я {ADV}вешу {VALUE}{POST}", fill("weight", formats.number)),
    frame(
        "ru.wears",
        rf"(?:я )?{ADV}ношу обувь (?:размера )?{VALUE}(?: размера)?",
        fill("shoe_size", formats.shoe),
    ),
    frame(
        "ru.wears",
        rf"(?:я )?{ADV}ношу (?:одежду )?(?:размера? )?{VALUE}(?: размера?)?",
        fill("size", formats.size),
    ),
    done(
        "ru.plan",
        rf"(?:я |мы )?{ADV_EVENT}(?:переш(?:ел|ла|ли)|подключил[аи]?) (?:на )?тариф {VALUE}",
        fill("plan", values.distinct),
    ),
    done(
        "ru.promoted",
        rf"меня {ADV_EVENT}(?:повысили до|назначили) {VALUE}",
        fill("job_title", values.phrase),
    ),
)
