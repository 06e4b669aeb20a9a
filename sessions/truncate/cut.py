"""A long text -> what of it a reader needs most, by its kind, within a limit of tokens: `cut`."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from indexing.errors import InvalidInput
from retrieval.coverage import content_terms
from sessions.truncate.article import plan_article
from sessions.truncate.code import plan_code
from sessions.truncate.detect import Kind, detect
from sessions.truncate.fit import Left, fit
from sessions.truncate.html import page_text
from sessions.truncate.json import plan_json
from sessions.truncate.log import plan_log
from sessions.truncate.news import plan_news
from sessions.truncate.plan import Plan
from sessions.truncate.table import plan_table
from sessions.truncate.text import plan_text
from sessions.truncate.trace import plan_trace
from sessions.truncate.wanted import HEAD, Wanted
from sessions.types import CountTokens, Cut


def plan_page(wanted: Wanted) -> Plan:
    """Return the plan of a page: that of its visible text."""
    text = page_text(wanted.text)
    kind = detect(text)
    return PLANS["text" if kind == "html" else kind](replace(wanted, text=text))


PLANS: dict[Kind, Callable[[Wanted], Plan]] = {
    "html": plan_page,
    "json": plan_json,
    "trace": plan_trace,
    "log": plan_log,
    "table": plan_table,
    "code": plan_code,
    "news": plan_news,
    "article": plan_article,
    "text": plan_text,
}

SHORT = 500
"""Characters of a tool's result that is indexed as it is."""


def cut(
    text: str,
    limit: int,
    count: CountTokens,
    query: str = "",
    fields: Sequence[str] = (),
    kind: str | None = None,
    reference: str = "",
    *,
    head: int = HEAD,
    unit: str = "tokens",
) -> Cut:
    """Return a text of at most ``limit`` tokens; one that fits is as it was.

    What is kept is word for word; a last line tells how much is not, and the ``reference`` under
    which all of it is (in JSON a field, in code a comment). ``query`` and ``fields`` say what is
    looked for; ``kind`` is detected where it is not given; ``head`` is the characters of an article
    that are kept; ``unit`` is what ``count`` counts. Raises `InvalidInput` for a limit below 1 or
    an unknown kind.
    """
    if limit < 1:
        raise InvalidInput(f"a limit is 1 token or more, not {limit}")
    if kind is not None and kind not in PLANS:
        raise InvalidInput(f"{kind!r} is no kind of text; there are {', '.join(PLANS)}")
    given = [known for known in PLANS if known == kind]
    found = given[0] if given else detect(text)
    total = count(text)
    if total <= limit:
        return Cut(text, found)
    wanted = Wanted(text, content_terms(query), tuple(fields), head)
    shown, dropped = fit(PLANS[found](wanted), limit, count, Left(total, reference, unit))
    return Cut(shown, found, dropped)


def shorten(text: str, query: str = "", limit: int = SHORT, reference: str = "") -> str:
    """Return what of a tool's result is indexed: at most 500 characters of it, cut by its kind.

    ``query`` is what it was fetched for.
    """
    return cut(text, limit, len, query, reference=reference, unit="characters").text
