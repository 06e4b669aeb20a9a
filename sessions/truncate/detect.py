"""What kind of text it is: `detect`, by rules over its first and last lines.

Does not: ask a model, trust a name or a media type. What no rule knows is plain text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from chunking.sentences import sentences
from sessions.truncate.frames import marked
from sessions.truncate.json import is_json, json_lines
from sessions.truncate.levels import is_logged
from sessions.truncate.patterns import any_of
from sessions.truncate.table import read_rows

Kind = Literal["html", "json", "trace", "log", "table", "code", "news", "article", "text"]

SAMPLE = 20_000
"""Characters of the start that are looked at, and half as many of the end."""

LONGEST_CELL = 60
"""Characters of a cell; where a quarter of the cells have more, it is no table."""

WORDS = 4
"""A sentence of a text in prose has more."""

RULED, EVEN = 0.6, 0.8
"""The least share of lines that are rows of a table with rules, and of one without."""

_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype html|html|head|body)\b",
    re.I | re.S,
)
_TAG = re.compile(
    r"</?(?:p|div|span|a|li|ul|ol|td|tr|table|h[1-6]|br|b|strong|em|img|section|article)\b[^<>]*>",
    re.IGNORECASE,
)
_LOG_KEYS = re.compile(r'"(?:level|lvl|severity|levelname|log\.level)"\s*:')
_MESSAGE_KEYS = re.compile(r'"(?:msg|message|event|time|ts|timestamp|@timestamp)"\s*:')
_RULE = re.compile(r"[\s|+:=\-\u2500-\u257f]+\Z")
_CODE_CELL = re.compile(r"[{};]\s*\Z|^\s*(?:def|return|if|for) ")

_DATELINE = any_of(
    r"^[А-ЯЁ][\w-]+(?: [А-ЯЁ][\w-]+)?[,.] \d{1,2} "
    r"(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)",
    r"^[A-Z][A-Z .'-]{2,30}(?:, [A-Z][\w.]+(?: \d{1,2})?)? ?(?:\([A-Z][\w ]+\) ?[—–-]|[—–]|--) ",
    r"^[A-Z][\w .]{2,30}, [A-Z]\w{2,8}\.? \d{1,2} \([A-Z]\w+\)",
    r"^\d{1,2}:\d\d,? \d{1,2}(?: \w+ |\.\d\d\.)\d{4}",
    r"^\d{1,2}(?: \w+ |\.\d\d\.)\d{4},? (?:в )?\d{1,2}:\d\d\b",
    r"[/(](?:ТАСС|РИА Новости|Интерфакс|Reuters|AP|AFP|Bloomberg|Associated Press)[/)]",
    r"\b(?:ТАСС|РИА Новости|Интерфакс)\. ",
    r"^(?:Опубликовано|Дата публикации|Published|Updated|Posted)(?: on)?:? ",
    r"^By [A-Z]\w+ [A-Z]\w+",
    r"\b(?:сообщил[аио]?|передаёт|передает|рассказал[аи]?) "
    r"(?:пресс-служба|агентство|ТАСС|Интерфакс|РИА)",
    r"\b(?:said|told reporters|announced)(?: in a statement)? on "
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day",
    flags=re.MULTILINE,
)
_CODE = any_of(
    r"(?:async )?def [\w.?!]+|class \w+[\w(), .\[\]<]*:?\s*\Z",
    r"from [\w.]+ import |import [\w.{}*, ]+",
    r"(?:(?:export|default|async|public|private|protected|static|final|abstract|pub|unsafe) )*"
    r"(?:function|class|interface|struct|enum|impl|trait|fn|func|namespace|fun|module|type|record)\b"
    r"[^.!?]*[({<:=]",
    r"(?:export )?(?:const|let|var|val) [\w{}\[\], :<>]+ ?=|package [\w.]+;?\s*\Z|<\?php",
    r"#include [<\"]|using [\w.]+;|use [\w:{}, *]+;|@\w+(?:\(.*\))?\s*\Z",
    r"(?:CREATE|ALTER|DROP|INSERT|SELECT|UPDATE|DELETE|WITH|FROM|WHERE|JOIN|GROUP BY|ORDER BY)\b",
    r"(?:if|for|while|elif|else|try|return|switch|case|except|with)\b.*[:;{(]\s*\Z",
    r"(?:end|fi|done|esac|then|else|do)\s*\Z|(?:local|export|set|require|attr_\w+) [\w'\":$-]+",
    r"(?:if|for|while) .*; (?:then|do)\s*\Z|\w+\(\) *\{",
    r"[})\]]{1,6}[;,]?\s*\Z|.*[;{]\s*\Z|return\b.*|(?:self|this)\.",
    r"[\w.\[\]'\"]+ [-+*/:]?= .+|\w+(?:\+\+|--)\s*\Z|[\w.]+\(.*\)\s*\Z",
    before=r"\s*",
)
_COMMENT = re.compile(r"\s*(?:#(?!include|!)|//|/\*|\*|--|\"\"\"|\'\'\')")


@dataclass(frozen=True, slots=True)
class _Sample:
    text: str
    whole: str
    lines: Sequence[str]


def detect(text: str) -> Kind:
    """Return the kind of a text.

    >>> detect('{"a": 1}'), detect("a;b\\n1;2\\n3;4\\n"), detect("Привет!")
    ('json', 'table', 'text')
    """
    shown = text if len(text) <= SAMPLE * 3 // 2 else f"{text[:SAMPLE]}\n{text[-SAMPLE // 2 :]}"
    lines = [line for line in shown.splitlines() if line.strip()]
    sample = _Sample(shown, text, lines)
    return next((kind for kind, is_kind in RULES.items() if is_kind(sample)), "text")


def _is_page(sample: _Sample) -> bool:
    if _PAGE.match(sample.text):
        return True
    tags = sum(len(match[0]) for match in _TAG.finditer(sample.text))
    return sample.text.lstrip().startswith("<") and tags * 10 > len(sample.text)


def _is_json(sample: _Sample) -> bool:
    return is_json(sample.whole) and not _is_json_log(sample)


def _is_json_log(sample: _Sample) -> bool:
    lines = json_lines(sample.text)[:50]
    logged = sum(bool(_LOG_KEYS.search(one) and _MESSAGE_KEYS.search(one)) for one in lines)
    return len(lines) > 1 and logged * 2 > len(lines)


def _is_trace(sample: _Sample) -> bool:
    """A trace has an error and frames, and few entries of a log beside it."""
    marks = marked(sample.lines)
    frames = sum(mark in ("own", "library") for mark in marks)
    errors = sum(mark == "error" for mark in marks)
    entries = sum(map(is_logged, sample.lines))
    part = sum(mark != "other" for mark in marks)
    return frames > 0 and errors > 0 and part * 5 > len(marks) and entries * 4 < part + 8


def _is_log(sample: _Sample) -> bool:
    entries = sum(map(is_logged, sample.lines))
    marks = marked(sample.lines)
    others = sum(mark == "other" for mark in marks)
    return (entries > 2 and entries * 2 > others) or _is_json_log(sample)


def _is_table(sample: _Sample) -> bool:
    """Most lines are rows of one width, and a cell is no sentence."""
    lines = sample.lines[:200]
    table = read_rows(lines)
    rows = len(table.rows) + (table.header >= 0)
    rules = sum(bool(_RULE.match(line)) for line in lines)
    cells = [cell for row in table.cells for cell in row]
    prose = sum(len(cell) > LONGEST_CELL for cell in cells)
    coded = sum(bool(_CODE_CELL.search(line)) for line in lines)
    share = RULED if rules else EVEN
    indented = sum(not row[0] for row in table.cells)
    return (
        rows > 1
        and rows >= (len(lines) - rules) * share
        and prose * 4 < len(cells)
        and indented * 2 < rows
        and coded * 3 < len(lines)
    )


def _is_code(sample: _Sample) -> bool:
    lines = [line for line in sample.lines if not _COMMENT.match(line)]
    if sample.text.startswith("#!/"):
        return True
    if len(lines) < 2:
        return False
    coded = sum(bool(_CODE.match(line[:300])) for line in lines)
    return coded > 1 and coded * 5 >= len(lines) * 2


def _is_news(sample: _Sample) -> bool:
    start = "\n".join(sample.lines[:4])[:600]
    return bool(_DATELINE.search(start)) and _is_prose(sample, 2)


def _is_article(sample: _Sample) -> bool:
    return _is_prose(sample, 4)


def _is_prose(sample: _Sample, least: int) -> bool:
    """Tell whether most of the text is in sentences of several words."""
    spans = sentences(sample.text)
    full = [
        end - start
        for start, end in spans
        if sample.text[start:end].rstrip("\"'»”)")[-1:] in tuple(".!?…")
        and len(sample.text[start:end].split()) > WORDS
    ]
    return len(full) >= least and sum(full) * 2 > sum(end - start for start, end in spans)


RULES: dict[Kind, Callable[[_Sample], bool]] = {
    "html": _is_page,
    "json": _is_json,
    "trace": _is_trace,
    "log": _is_log,
    "table": _is_table,
    "code": _is_code,
    "news": _is_news,
    "article": _is_article,
}
"""The kinds in the order in which they are tried."""
