"""The frames of Russian decisions and preferences: "A вместо B", "с B на A", "A, а не B"."""

import re

from indexing.subjects.choices import decision, preference
from indexing.subjects.russian import ADV, ADV_EVENT, POST, POST_EVENT, PRE, PRE_EVENT
from indexing.subjects.types import Build, Frame, Parts, Subject

_NEW, _OLD = r"(?P<new>\S.*?)", r"(?P<old>\S.*?)"
_TOPIC = (
    r"(?:(?:для|в|по) (?P<topic>[\w -]{2,30}?),? "
    r"(?=(?:мы|я|решил|договор|перешл|выбра|взял|внедри|использ|предпочит|остановил|теперь|вместо)))?"
)
_WE = rf"(?:(?:мы|я) )?{ADV_EVENT}"
_TAKE = (
    r"(?:использовать|взять|выбрать|применять|внедрить|ставить|поставить|брать|купить|писать на)"
)
_NO_VERB = r"(?!\w+(?:ть|ться|ти|чь|ю|ем|им)\b)"


def _from_to(part: Parts) -> Subject | None:
    """Build "перешли с Jira на YouTrack"; "с Анной на ты" has an instrumental and is no change."""
    together = re.search(r"(?:ой|ей|ом|ем|ами|ями|ым|им)$", part("old").folded)
    return None if together else decision(part)


def _done(pattern: str, build: Build = decision) -> Frame:
    whole = f"{PRE_EVENT}{_TOPIC}{pattern}{POST_EVENT}"
    return Frame("ru.decided", re.compile(whole, re.IGNORECASE), build)


def _prefers(pattern: str) -> Frame:
    whole = f"{PRE}{_TOPIC}(?:я )?{ADV}{pattern}{POST}"
    return Frame("ru.prefers", re.compile(whole, re.IGNORECASE), preference)


FRAMES: tuple[Frame, ...] = (
    _done(
        rf"{_WE}(?:решил[аи]?|договорились|выбрал[аи]?|взял[аи]?|внедрили|используем"
        rf"|остановились на) (?:{_TAKE} )?{_NO_VERB}{_NEW} вместо {_OLD}"
    ),
    _done(
        rf"вместо {_OLD} (?:мы )?(?:теперь )?(?:мы )?(?:используем|берем|ставим|применяем) {_NEW}"
    ),
    _done(rf"вместо {_OLD} (?:у нас )?теперь {_NO_VERB}{_NEW}"),
    _done(
        rf"{_WE}(?:переш(?:ли|ел|ла)|мигрировали|переехали|съехали|ушли) со? {_OLD} на {_NEW}",
        _from_to,
    ),
    _done(rf"{_WE}заменили {_OLD} на {_NEW}"),
    _done(rf"{_WE}отказались от {_OLD} в пользу {_NEW}"),
    _prefers(rf"предпочитаю {_NEW}(?: вместо |, а не |, чем ){_OLD}"),
    _prefers(rf"(?:больше люблю|люблю больше) {_NEW},? чем {_OLD}"),
)
