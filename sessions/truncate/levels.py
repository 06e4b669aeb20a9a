"""Lines of logs: their level in many formats, their time, and what makes two lines the same."""

import re

from sessions.truncate.patterns import any_of

ERROR, WARNING, OTHER = 0, 1, 2

LOOKED_AT = 400
"""Characters of a line."""

_FIELD = r"\b(?:level|lvl|severity|уровень)[\"']?\s*[=:]\s*[\"']?"
_START = r"^\W*(?:[\w./-]+: )?"

_STATED_ERROR = any_of(
    r"\b(?:ERROR|ERR|FATAL|CRITICAL|CRIT|SEVERE|PANIC|EMERG|EMERGENCY|ALERT|FAILED|FAILURE)\b",
    r"\b(?:ОШИБКА|СБОЙ|АВАРИЯ|КРИТИЧНО|КРИТИЧЕСКАЯ)\b",
    rf"{_FIELD}(?:error|err|fatal|critical|crit|panic|alert|50|60)\b",
    rf"(?i:{_START}(?:error|fatal|critical|panic|ошибка|сбой)\b\s*[:\[(])",
    r"(?i:\[(?:error|err|fatal|critical|crit|emerg|alert|e|f|ошибка)\])",
    r"^[EF]\d{4} \d\d:\d\d",  # klog
    r"^(?:\S+ +){0,4}[EF](?:/| +\w+: )",  # logcat
    r"^<[0-3]>",  # syslog
    r"^npm ERR!",
)
_WARNING = any_of(
    r"\b(?:WARN|WARNING|ПРЕДУПРЕЖДЕНИЕ|ВНИМАНИЕ)\b",
    rf"{_FIELD}(?:warn|warning|40)\b",
    r"(?i:\[(?:warn|warning|w|предупреждение)\])",
    rf"(?i:{_START}(?:warning|warn|предупреждение)\b\s*[:\[(])",
    r"^W\d{4} \d\d:\d\d",
    r"^(?:\S+ +){0,4}W(?:/| +\w+: )",
    r"^<4>",
)
_OTHER = any_of(
    r"\b(?:INFO|DEBUG|TRACE|NOTICE|VERBOSE|ИНФО|ОТЛАДКА)\b",
    rf"{_FIELD}(?:info|debug|trace|notice|[123]0)\b",
    r"(?i:\[(?:info|debug|trace|notice|i|d)\])",
    r"^[IVD]\d{4} \d\d:\d\d",
    r"^(?:\S+ +){0,4}[IDV](?:/| +\w+: )",
    r"^<[5-7]>",
)
_ERROR_WORDS = any_of(
    r"\" 5\d\d (?:\d+|-)(?:\s|\Z)",  # an access log
    r"\b(?:Traceback \(most|Caused by:|Unhandled|Uncaught)",
    r"(?i:\b(?:exception|segmentation fault|out of memory|oom-killer|failed|failure)\b)",
    r"(?i:\b(?:ошибка|сбой|отказано|не удалось|исключение)\b)",
    r"\b[A-Z]\w+(?:Error|Exception)\b",
    r"^\s*(?:✗|FAIL\s|E  )",
)

_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
_TIME = any_of(
    rf"\d{{4}}[-/.]\d\d[-/.]\d\d(?:[T ]{_CLOCK})?",
    rf"\d\d[-/.]\d\d[-/.]\d{{2,4}},? {_CLOCK}",
    _CLOCK,
    rf"[A-Z][a-z]{{2}} (?:[A-Z][a-z]{{2}} )?[ \d]?\d {_CLOCK}",
    rf"\d{{2}}-\d{{2}} {_CLOCK}",
    r"\d{10}(?:\d{3})?\b",
    r"[IWEFD]\d{4} \d\d:\d\d:\d\d",
)
TIME = re.compile(
    r"^[\[<({\"]{0,2}(?:\"?(?:time|ts|timestamp|@timestamp)\"?[=:]\s*\"?)?"
    rf"(?>{_TIME.pattern})(?![,;\t])"
)
"""The time that a line starts with; one before a separator is a cell of a table."""

_ACCESS = re.compile(r"^\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}")
_VARIES = any_of(r"0x[0-9a-f]+", r"\b[0-9a-f-]{36}\b", r"\b[0-9a-f]{12,}\b", r"\d+", flags=re.I)


def level(line: str) -> int:
    """Return how grave a line is: `ERROR`, `WARNING` or `OTHER`.

    What a line states as its level counts before the words in it.

    >>> [level(x) for x in ("WARN disk 91%", "[E] нет связи", "INFO 0 errors", "E/Net: timeout")]
    [1, 0, 2, 0]
    """
    shown = line[:LOOKED_AT]
    stated = _stated(shown)
    if stated is not None:
        return stated
    return ERROR if _ERROR_WORDS.search(shown) else OTHER


def _stated(line: str) -> int | None:
    """Return the first level that a line states."""
    found = [
        (match.start(), grade)
        for grade, pattern in ((ERROR, _STATED_ERROR), (WARNING, _WARNING), (OTHER, _OTHER))
        if (match := pattern.search(line))
    ]
    return min(found)[1] if found else None


def is_logged(line: str) -> bool:
    """Tell whether a line is an entry of a log: it starts with a time or states a level early."""
    return bool(TIME.match(line) or _ACCESS.match(line)) or _stated(line[:60]) is not None


def same(line: str) -> str:
    """Return what is equal for lines that differ in their time only."""
    return TIME.sub("", line[:LOOKED_AT], count=1)


def like(line: str) -> str:
    """Return what is equal for lines that differ in numbers and ids only."""
    return _VARIES.sub("#", line)
