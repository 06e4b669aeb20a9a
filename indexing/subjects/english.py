"""The frames of English statements about a home, a job, a name and other attributes.

Only names need their capital. A frame covers the whole statement; what may follow it is ``NOW``
(it holds) or ``WHEN`` (it happened lately).
"""

import re

from indexing.subjects import formats, values
from indexing.subjects.build import fill, named
from indexing.subjects.types import Build, Frame, Parts, Subject

_WHO = (
    r"(?P<who>(?P<us>(?i:I|we)\b)|(?i:my (?:wife|husband|mother|father|mom|mum|dad|boss|manager))"
    r"|[A-Z][\w-]+(?: [A-Z][\w-]+)?)"
)
_S, _ES = r"(?(us)|s)", r"(?(us)|es)"
"""The ending of a verb in the third person: "Employees work" names nobody."""
_ADV = r"(?: (?:now|currently|just|recently|already|finally|actually))?"
_BE = r"(?: (?:am|is|are|have|has)|'(?:m|re|s|ve))?"
_LEAD = (
    r"(?i:(?:(?:now|currently|recently|these days|as of today"
    r"|since (?:\d{4}|last \w+|[a-z]+ \d{4}|january|february|march|april|may|june|july|august"
    r"|september|october|november|december)),? )?)"
)
NOW = (
    r"(?:,? (?:now|these days|nowadays|currently|already|from now on|as of (?:today|now)"
    r"|since (?:\d{4}|yesterday|last \w+|[A-Z]\w+(?: \d{4})?)))?"
)
WHEN = (
    r"(?:,? (?:now|yesterday|today|recently|finally|last (?:week|month|year|weekend)"
    r"|this (?:week|month|year)|a (?:week|month) ago|(?:two|three|a few) (?:days|weeks) ago))?"
)
_VALUE = r"(?P<value>\S.*?)"
_ATTR = r"(?P<attr>[\w -]{2,40}?)"
_DIET = r"(?:an? )?(?P<value>[\w-]+)"
_PET = r"(?P<attr>dog|cat|puppy|kitten|parrot|hamster|horse|pet)"


def _of_pet(part: Parts) -> Subject | None:
    kind = {"puppy": "dog", "kitten": "cat"}.get(part("attr").folded.lower(), part("attr").folded)
    value = values.person(part("value").raw)
    return Subject(f"user.{kind.lower()}.name", value, "") if value else None


def _frame(rule: str, pattern: str, build: Build) -> Frame:
    return Frame(rule, re.compile(pattern, re.IGNORECASE), build)


def _who(rule: str, verb: str, build: Build) -> Frame:
    """Return a frame that begins with a person; only names need their capital."""
    return Frame(rule, re.compile(f"{_LEAD}{_WHO}(?i:{_BE}{_ADV} {verb})"), build)


FRAMES: tuple[Frame, ...] = (
    _who(
        "en.lives",
        rf"(?:live{_S}|living|reside{_S}|been living|based|settled(?: down)?) in {_VALUE}{NOW}",
        fill("home", values.place),
    ),
    _who("en.relocated", rf"relocated to {_VALUE}{WHEN}", fill("home", values.place)),
    _who("en.moved", rf"moved (?:back )?to {_VALUE}{WHEN}", fill("home", values.known_place)),
    _who(
        "en.moved",
        rf"moved from [A-Z][\w .-]* to {_VALUE}{WHEN}",
        fill("home", values.known_place),
    ),
    _who(
        "en.works",
        rf"(?:(?:work{_S}|working|been working) (?:at|for)|employed (?:by|at)"
        rf"|changed jobs and now work (?:at|for)) {_VALUE}{NOW}",
        fill("employer", values.firm),
    ),
    _who(
        "en.hired",
        rf"(?:started working (?:at|for)|(?:got|found|landed) a(?: new)? job at"
        rf"|(?:got |was |been )?hired by) {_VALUE}{WHEN}",
        fill("employer", values.firm),
    ),
    _who("en.hired", rf"joined {_VALUE}{WHEN}", fill("employer", values.known_firm)),
    _frame(
        "en.works_as",
        rf"{_LEAD}I(?:'m| am)?(?: now)? work(?:ing)? as an? {_VALUE}{NOW}",
        fill("job_title", values.title),
    ),
    _who(
        "en.works.no_longer",
        rf"no longer work{_S} (?:at|for) {_VALUE}",
        fill("employer", values.firm, closes=True),
    ),
    _who(
        "en.works.no_longer",
        rf"do{_ES}(?:n't| not) work (?:at|for) {_VALUE} any ?more",
        fill("employer", values.firm, closes=True),
    ),
    _who(
        "en.works.no_longer",
        rf"(?:quit|left) (?:my |his |her )?job at {_VALUE}{WHEN}",
        fill("employer", values.firm, closes=True),
    ),
    _who(
        "en.lives.no_longer",
        rf"no longer live{_S} in {_VALUE}",
        fill("home", values.place, closes=True),
    ),
    _who(
        "en.lives.no_longer",
        rf"do{_ES}(?:n't| not) live in {_VALUE} any ?more",
        fill("home", values.place, closes=True),
    ),
    _frame(
        "en.called",
        rf"(?:please |just |you can |you may |everyone can )*call me {_VALUE}(?: from now on)?",
        fill("name", values.person),
    ),
    _frame(
        "en.called",
        rf"(?:I(?: now)? go by|(?:my friends|people|everyone) calls? me) {_VALUE}(?: now)?",
        fill("name", values.person),
    ),
    _frame("en.pet", rf"(?:my|our) {_PET}(?:'s name is| is (?:called|named)) {_VALUE}", _of_pet),
    _frame("en.diet", rf"{_LEAD}I(?:'m| am)(?: now)? {_DIET}{NOW}", fill("diet", formats.diet)),
    _frame(
        "en.diet",
        rf"I(?:'ve| have)?(?: recently| just)? (?:went|gone|became|become|turned) {_DIET}{WHEN}",
        fill("diet", formats.diet),
    ),
    _frame("en.diet", r"I follow an? (?P<value>[\w-]+) diet", fill("diet", formats.diet)),
    _frame(
        "en.diet.no_longer",
        rf"I(?:'m| am) (?:no longer {_DIET})",
        fill("diet", formats.diet, closes=True),
    ),
    _frame(
        "en.diet.no_longer",
        rf"I(?:'m| am) (?:not {_DIET} any ?more)",
        fill("diet", formats.diet, closes=True),
    ),
    _frame(
        "en.age",
        r"I(?:'m| am)(?: now)? (?P<value>\d{1,3})(?: years old| y\.?o)(?: now)?",
        fill("age", formats.number),
    ),
    _frame("en.age", r"I(?:'ve)? (?:just )?turned (?P<value>\d{1,3})", fill("age", formats.number)),
    _frame("en.born", rf"I was born on {_VALUE}", fill("birthday", formats.date)),
    _frame("en.tall", rf"I(?:'m| am) {_VALUE} tall", fill("height", formats.number)),
    _frame(
        "en.drives", rf"(?:I|we)(?: now)? drive an? {_VALUE}{NOW}", fill("car", values.distinct)
    ),
    _frame(
        "en.reach",
        rf"(?:you can )?(?:reach|call|text|contact) me (?:at|on) {_VALUE}(?: now)?",
        fill("phone", formats.phone),
    ),
    _frame(
        "en.reach",
        rf"(?:you can )?(?:reach|write|email|e-mail|contact) me at {_VALUE}(?: now)?",
        fill("email", formats.email),
    ),
    _frame(
        "en.zone", rf"I(?:'m| am) in the {_VALUE} time ?zone{NOW}", fill("timezone", formats.zone)
    ),
    _frame(
        "en.lives_at", rf"(?:I|we)(?: now)? live at {_VALUE}{NOW}", fill("address", values.address)
    ),
    _frame("en.weighs", rf"I(?: now)? weigh {_VALUE}{NOW}", fill("weight", formats.number)),
    _frame(
        "en.wears",
        rf"I(?: now)? wear (?:an? )?(?:size )?{_VALUE}(?: in)? shoes",
        fill("shoe_size", formats.shoe),
    ),
    _frame("en.wears", rf"I(?: now)? wear (?:an? )?size {_VALUE}", fill("size", formats.size)),
    _frame(
        "en.plan",
        rf"I(?:'m| am)(?: now)? on the {_VALUE} (?:plan|tariff|subscription){NOW}",
        fill("plan", values.distinct),
    ),
    _frame(
        "en.plan",
        rf"I(?:'ve| have)?(?: just)? (?:upgraded|downgraded|switched|moved)"
        rf" to (?:the )?{_VALUE} (?:plan|tariff){WHEN}",
        fill("plan", values.distinct),
    ),
    _frame(
        "en.promoted",
        rf"I(?:'ve| have)? (?:was|got|been|just got) promoted to {_VALUE}{WHEN}",
        fill("job_title", values.phrase),
    ),
    _frame(
        "en.changed",
        rf"I(?:'ve| have)?(?: just| recently)? changed my {_ATTR} to {_VALUE}{WHEN}",
        named(),
    ),
    _frame(
        "en.changed",
        rf"(?:so )?my {_ATTR} (?:has |have )?changed,? (?:it's now|it is now|it's|now) {_VALUE}",
        named(),
    ),
    _frame(
        "en.boss",
        rf"my new (?P<attr>boss|manager|supervisor|team lead) is {_VALUE}",
        named(shape=values.person),
    ),
    _frame(
        "en.my",
        rf"{_LEAD}(?P<who>my) {_ATTR}"
        rf"(?:(?: is| are|'s| has (?:been )?changed to| (?:has )?become)(?: now)?| now is|:| [—–-])"
        rf" {_VALUE}{NOW}",
        named(),
    ),
    Frame(
        "en.whose",
        re.compile(
            r"(?P<who>(?i:my (?:wife|husband|mother|father|mom|mum|dad|boss|manager))"
            rf"|[A-Z][\w-]+(?: [A-Z][\w-]+)?)'s? {_ATTR}"
            rf"(?:(?: is| has changed to)(?: now)?| now is|:| [—–-]) {_VALUE}{NOW}"
        ),
        named("nominative"),
    ),
)
