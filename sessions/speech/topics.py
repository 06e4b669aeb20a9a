"""Main noun-like terms of a conversation, as they were written."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from indexing.sparse import terms
from sessions.speech.sentences import readable
from sessions.speech.words import STOP

_TOKEN = re.compile(r"[^\W_][\w+#]*(?:[-./][^\W_][\w+#]*)*")
_NO_NOUN = re.compile(
    r"\w+(?:ould|[^e]ed|ely|ily|ally|usly|ntly|ься|тся|ть|ешь|ишь|ает|яет|ует|еет|ают|яют|уют|ала|али"
    r"|или|лся|лась|лись|юсь|усь|ый|ая|яя|ое|ые|[кгх]ие|[кгхн]ий|ого|его|ому|ему|ых|ую|юю|ыми|но|айте"
    r"|уйте|ите|аю|яю|ею|ую)"
)
_NUMBER = re.compile(r"[\d.,/-]+")
_CODE = re.compile(
    r"\w*_\w*|[a-z]{2,}[A-Z][a-z]\w*|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|TRACE"
)
"""Names of code, and levels of a log."""

_KEY = re.compile(r"\"[\w .-]{1,60}\"\s*:|'\w{1,60}'\s*:")

NAMED = 1.5
"""What a term counts for that is written with a capital inside a sentence, or has a digit."""

MIN_LETTERS = 3


def topics(texts: Iterable[str], n: int = 8) -> tuple[str, ...]:
    """Return at most ``n`` terms, the main one first: those that many texts have, names before.

    Forms of a word are one term, written as it was most often; where that ties, small letters and
    the shorter form win.

    >>> topics(["Invoices need a database.", "Postgres keeps an invoice safe.", "Use Postgres"], 2)
    ('Postgres', 'invoice')
    """
    counts: Counter[str] = Counter()
    names: Counter[str] = Counter()
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    first: dict[str, int] = {}
    for number, text in enumerate(texts):
        for term, token, named in _tokens(text):
            counts[term] += 1
            names[term] += named
            written[term][token] += 1
            first.setdefault(term, number)

    def key(term: str) -> tuple[float, int, str]:
        weight = counts[term] * (NAMED if 2 * names[term] >= counts[term] else 1.0)
        return -weight, first[term], term

    return tuple(_form(written[term]) for term in sorted(counts, key=key)[: max(0, n)])


def _tokens(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield term, token as written and whether it is a name or code."""
    start = True
    text = _KEY.sub(" ", readable(text))
    for match in _TOKEN.finditer(text):
        token = match.group()
        initial = start
        start = text[match.end() : match.end() + 1] in (".", "!", "?", ":")
        named = any(sign.isdigit() for sign in token) or (token[:1].isupper() and not initial)
        found = terms(token)
        if not found or found[0] in STOP or len(token) < MIN_LETTERS or _NUMBER.fullmatch(token):
            continue
        if _CODE.fullmatch(token):
            continue
        if not named and _NO_NOUN.fullmatch(token.casefold()):
            continue
        yield found[0], token, named


def _form(forms: Counter[str]) -> str:
    capital = {form: form[:1].isupper() for form in forms}
    return min(forms, key=lambda form: (-forms[form], capital[form], len(form), form))
