"""Documents with what is asked of them: prepared pairs, and Debian's help packages where installed.

Does: read them into pools, with their language. Does not: choose negatives, check for overlap.
Long passages are cut at a word: training reads 144 tokens at most.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from evals.reranker.texts import Ask, Passage, Pool

HELP = Path("/usr/share/libreoffice/help")
HELP_FOLDERS = {"ru": "ru", "en": "en-US"}
FAQ = Path("/usr/share/doc/debian/FAQ")
LENGTH = {"squad_nqg_test": 400, "koziev_pqa": 200}
"""Characters of a passage by source."""
LONG = 360
MOST = 3000
"""Passages of a source and language that are kept."""
CAPS = {"koziev_pqa": 2500, "squad_nqg_test": 5000, "pubmedqa": 700, "alchemy_ru": 2000,
        "fastapi_docs": 600, "help": 1500, "faq": 200}  # fmt: skip
"""Questions of a source and language that are taken at most: rule-made ones fewest."""
_HEADING = re.compile(r"<h([1-4])([^>]*)>(.*?)</h\1>", re.S | re.I)
_ID = re.compile(r'\bid="([^"]+)"')
_SPACED = re.compile(r"\s+([?,.;:%)\]!])|([(\[])\s+|\s+('s|n't|'re|'ve|'ll|'d|'m)\b")


def documents(pairs: Path, seed: int) -> Iterator[Pool]:
    """Yield a pool a source and language, the questions drawn by the seed."""
    for pool in [*_prepared(pairs), *_help(), *_faq()]:
        times = Counter(ask.query for ask in pool.asks)
        pool.asks = [ask for ask in pool.asks if times[ask.query] == 1 or pool.source[0] in "ks"]
        limit = CAPS[pool.source]
        chance = Random(f"{seed} {pool.source} {pool.lang}")  # noqa: S311
        if len(pool.asks) > limit:
            pool.asks = chance.sample(pool.asks, limit)
        if len(pool.passages) > MOST:
            _keep(pool, MOST, chance)
        if pool.asks:
            yield pool


def _keep(pool: Pool, count: int, chance: Random) -> None:
    """Leave out all passages but those asked for and some others."""
    asked = {ask.answer for ask in pool.asks}
    rest = [place for place in range(len(pool.passages)) if place not in asked]
    kept = sorted(asked | set(chance.sample(rest, min(len(rest), max(0, count - len(asked))))))
    number = {place: at for at, place in enumerate(kept)}
    pool.passages = [pool.passages[place] for place in kept]
    pool.asks = [Ask(ask.query, number[ask.answer]) for ask in pool.asks]


def _prepared(file: Path) -> Iterator[Pool]:
    pools: dict[tuple[str, str], Pool] = {}
    places: dict[tuple[str, str, str], int] = {}
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            source, lang = row["source"], row["lang"]
            pool = pools.setdefault((source, lang), Pool(source, lang))
            query, text = clean(row["query"]), clean(row["passage"])
            if source == "squad_nqg_test":
                query, text = untokenised(query), untokenised(text)
            title = ""
            if source == "fastapi_docs" and ": " in query:
                title, query = query.split(": ", 1)
            text = cut(text, LENGTH.get(source, LONG))
            place = places.setdefault((source, lang, text), len(pool.passages))
            if place == len(pool.passages):
                pool.passages.append(Passage(text, title=title))
            pool.asks.append(Ask(query, place))
    yield from pools.values()


@dataclass(frozen=True, slots=True)
class _Section:
    """What stands under a heading; ``name`` is the same in every language of the page."""

    name: str
    asked: str
    passage: Passage


def crossed(seed: int) -> Iterator[Pool]:
    """Yield LibreOffice's help in both languages, asked in one: every second answer in the other.

    Sections of both languages are candidates; that in the other language than the answer's, which
    says the same, is none.
    """
    held = {lang: {s.name: s for s in _help_sections(lang)} for lang in HELP_FOLDERS}
    shared = sorted(held["ru"].keys() & held["en"].keys())
    chosen = Random(f"{seed} crossed").sample(shared, min(len(shared), MOST))  # noqa: S311
    for asked, other in (("ru", "en"), ("en", "ru")):
        pool = Pool("help_crossed", asked)
        pool.passages = [held[lang][name].passage for lang in (other, asked) for name in chosen]
        for number, name in enumerate(chosen[: CAPS["help"]]):
            places = (number, number + len(chosen))
            answer, twin = places if number % 2 == 0 else places[::-1]
            pool.asks.append(Ask(held[asked][name].asked, answer, (twin,)))
        yield pool


def _help() -> Iterator[Pool]:
    """Yield LibreOffice's help: headings and what stands under them, in both languages."""
    for lang in HELP_FOLDERS:
        yield _pool("help", lang, _help_sections(lang))


def _help_sections(lang: str) -> Iterator[_Section]:
    folder = HELP / HELP_FOLDERS[lang] / "text"
    for page in sorted(folder.rglob("*.html")):
        whole = page.read_text(encoding="utf-8", errors="replace")
        body = whole.partition('id="DisplayArea"')[2].partition('id="SearchFrame"')[0]
        name = page.relative_to(folder).as_posix()
        yield from _sections(lang, name, body.partition('class="related"')[0])


def _faq() -> Iterator[Pool]:
    for folder, lang in (("ru", "ru"), ("", "en")):
        pages = sorted((FAQ / folder).glob("*.html"))
        texts = ((p.name, p.read_text(encoding="utf-8", errors="replace")) for p in pages)
        yield _pool("faq", lang, (s for name, body in texts for s in _sections(lang, name, body)))


def _pool(source: str, lang: str, sections: Iterable[_Section]) -> Pool:
    pool = Pool(source, lang)
    for section in sections:
        pool.asks.append(Ask(section.asked, len(pool.passages)))
        pool.passages.append(section.passage)
    return pool


def _sections(lang: str, page: str, body: str) -> Iterator[_Section]:
    title = ""
    parts = _HEADING.split(body)
    for marks, heading, text in zip(parts[2::4], parts[3::4], parts[4::4], strict=True):
        asked = clean(_plain(heading))
        asked = re.sub(r"^(?:Chapter |Глава )?[\d.]+\s*", "", asked)
        said = clean(_plain(text))
        native = len(re.findall("[А-Яа-яЁё]", said)) * 3 > len(said)
        if len(said) >= 80 and len(asked.split()) >= 2 and native == (lang == "ru"):
            found = _ID.search(marks)
            name = f"{page} {found[1] if found else asked}"
            passage = Passage(cut(said, LONG), title=title if title != asked else "")
            yield _Section(name, asked, passage)
        title = title or asked


def _plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", markup))


def clean(text: str) -> str:
    """Return the text in one line."""
    return re.sub(r"\s+", " ", text).strip()


def untokenised(text: str) -> str:
    """Return lower-cased tokens as a sentence.

    >>> untokenised("who won the cup ( in 1925 ) ?")
    'Who won the cup (in 1925)?'
    """
    joined = _SPACED.sub(lambda m: m[1] or m[2] or m[3], text)
    joined = (
        joined.replace("`` ", '"').replace(" ''", '"').replace("-lrb- ", "(").replace(" -rrb-", ")")
    )
    return joined[:1].upper() + joined[1:]


def cut(text: str, length: int) -> str:
    """Return the beginning of a text, cut between words."""
    if len(text) <= length:
        return text
    return text[:length].rsplit(" ", 1)[0]
