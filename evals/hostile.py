"""Nobody sees another's memories: ``python -m evals.hostile --queries 100000``.

Fills one store with people whose ids differ by as little as ids can (a prefix, case, a Unicode
form, a separator, white space) and who all say the same words, then asks at random in every way
there is. A memory is a leak unless it is the asker's own, of the session that was named, or global.
Exit status 1 at the first leak.
"""

import argparse
import hashlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from chunking.types import Chunk
from configs.build import Parts, build
from configs.settings import Settings, load
from evals.command import refused
from evals.progress import shown
from indexing.dense import Matrix, normalize
from indexing.index import Source, Statement
from indexing.ingest import Progress
from indexing.remember import history
from indexing.types import GLOBAL, Filter, Memory, Scope, session_scope, user_scope
from indexing.write import write
from retrieval.query import scopes_of
from retrieval.types import Narrow

NAMES = (
    *("u1", "u10", "u", "U1", "u1 ", " u1", "u1/", "u1/s1", "u1:s1", "u1\0", "u1%", "u1*"),
    *("\uff55\uff11", "\u00e9", "e\u0301", "\u00c9", "\u0451", "\u0435\u0308", "\u00df", "ss"),
    *("I", "\u0131", "i\u0307", "\ufb01", "fi", "\u200bu1", "u1\u200b", "u1\u00a0", "u1\n", "u1\t"),
    *("admin", "Admin", "../u1", "u1\\", "u1'", 'u1"', "u1;--", "' OR '1'='1", "{u1}", "[u1]"),
    *("null", "None", "0", "00", "1", "-1", "global", "user", "session", '{"user_id":"u1"}'),
    *("\u0430\u043d\u043d\u0430", "\u0430nna", "anna", "anna@example.org", "anna+x@example.org"),
    *("a" * 1024, "a" * 1023, "\U0001f600", "\U0001f600\ufe0f", "\U0001d42e1"),
)
"""Ids of users and of sessions: each pair differs, some only to a computer."""

WORDS = ("the office code is", "я живу в городе", "my key is under", "мы решили взять")


class Plain:
    """An `Embedder` without a model: all texts are near one another, so rank protects nobody."""

    name, dim, max_tokens = "plain", 16, 512
    tokenizer: Any = None

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Return vectors that differ a little, by the text's digest."""
        rows = [hashlib.blake2b(text.encode(), digest_size=self.dim).digest() for text in texts]
        noise = np.array([list(row) for row in rows], np.float32).reshape(len(texts), self.dim)
        return normalize(noise / np.float32(255) + np.float32(4))

    def query(self, text: str) -> Matrix:
        """Return the vector of a question."""
        return self.passages([text])


@dataclass(slots=True)
class Result:
    """How many questions were asked, by way, how many memories they showed, and the leaks."""

    asked: Counter[str] = field(default_factory=Counter)
    shown: int = 0
    leaks: list[str] = field(default_factory=list)


def fill(parts: Parts, dice: random.Random, progress: Progress | None = None) -> list[Scope]:
    """Let everybody say the same things, in the own scope and in some sessions."""
    scopes = [GLOBAL]
    for name in NAMES:
        scopes.append(user_scope(name))
        scopes += [session_scope(name, other) for other in dice.sample(NAMES, 3)]
    for number, scope in enumerate(scopes):
        if progress:
            progress("filling", number, len(scopes))
        since = parts.index.clock()
        said: list[tuple[str, Statement | None]]
        said = [(f"{words} {_mark(scope)}", None) for words in WORDS]
        for words in WORDS:
            about = f"what {words[0]}"
            said.append((f"{words} {number}", Statement(about, str(number), since)))
        write(parts.index, scope, [_told(text, about) for text, about in said])
    return scopes


def _told(text: str, statement: Statement | None) -> Source:
    """Return a fact as `remember` would write it."""
    name = f"fact:{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    chunk = Chunk(name, 0, 0, len(text), text)
    return Source(name, "fact", text, [chunk], told=True, statement=statement)


def ask(parts: Parts, scopes: Sequence[Scope], dice: random.Random) -> tuple[str, list[str], int]:
    """Ask once in a random way; return the way, what leaked and how many memories were shown."""
    asker, other = dice.choice(scopes), dice.choice(scopes)
    ways: dict[str, Callable[[], Iterable[Memory]]] = {
        "retrieve": lambda: _retrieve(parts, asker, other, dice),
        "by id": lambda: _by_id(parts, asker, other, dice),
        "by source": lambda: parts.index.store.scroll(
            asker.collection,
            Filter(asker, source_ids=tuple(parts.index.catalog.sources(other))[:5]),
        ),
        "history": lambda: history(parts.index, asker, f"what {dice.choice(WORDS)[0]}"),
    }
    way = dice.choices(tuple(ways), weights=(85, 5, 5, 5))[0]
    allowed = {asker}
    if way == "retrieve":
        allowed = set(scopes_of(asker.user_id or None, asker.session_id or None))
    found = list(ways[way]())
    return (
        way,
        [f"{asker!r} saw {m.scope!r} by {way}" for m in found if m.scope not in allowed],
        (len(found)),
    )


def _retrieve(parts: Parts, asker: Scope, other: Scope, dice: random.Random) -> Iterable[Memory]:
    """Ask for what another one said, in the other's own words."""
    question = f"{dice.choice(WORDS)} {_mark(other)}"
    past = parts.index.clock() - timedelta(days=1) if dice.random() < 0.1 else None
    result = parts.retriever.retrieve(
        question,
        asker.user_id or None,
        asker.session_id or None,
        k=dice.choice((1, 8, 50)),
        narrow=Narrow(kinds=("fact",) if dice.random() < 0.2 else None, as_of=past),
        budget=dice.choice((None, None, None, 1, 40, 4000)),
        neighbours=dice.random() < 0.3,
    )
    around = [memory for hit in result if hit.passage for memory in hit.passage.memories]
    return [
        *(hit.memory for hit in result),
        *(copy for hit in result for copy in hit.also),
        *around,
    ]


def _by_id(parts: Parts, asker: Scope, other: Scope, dice: random.Random) -> Iterable[Memory]:
    """Ask the asker's scope for memories of another one by their ids."""
    store = parts.index.store
    theirs = store.get(other.collection, Filter(other), limit=4)
    ids = tuple(memory.id for memory in theirs)
    found = store.get(asker.collection, Filter(asker, ids=ids), limit=4)
    vectors = store.vectors(asker.collection, Filter(asker, ids=ids))
    stolen = [memory for memory in theirs if memory.id in vectors and memory.scope != asker]
    return found + stolen


def _mark(scope: Scope) -> str:
    return hashlib.sha256(repr(scope).encode()).hexdigest()[:12]


def run(settings: Settings, queries: int, seed: int, progress: Progress | None = None) -> Result:
    """Fill a store and ask; stop at the first leak."""
    dice = random.Random(seed)  # noqa: S311
    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        chosen = settings.model_copy(update={"data_dir": Path(folder), "store": "", "catalog": ""})
        parts = build(chosen, embedder=Plain())
        try:
            scopes = fill(parts, dice, progress)
            for number in range(queries):
                way, leaks, shown = ask(parts, scopes, dice)
                result.asked[way] += 1
                result.shown += shown
                result.leaks += leaks
                if progress:
                    progress("asking", number + 1, queries)
                if leaks:
                    break
        finally:
            parts.close()
    return result


def table(result: Result) -> Table:
    """Return the counts to print."""
    found = Table("way", "questions")
    for way, number in sorted(result.asked.items()):
        found.add_row(way, f"{number:,}")
    found.add_section()
    found.add_row("all", f"{result.asked.total():,}")
    found.add_row("memories shown", f"{result.shown:,}")
    found.add_row("of somebody else", f"{len(result.leaks):,}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.hostile", description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    console, errors = Console(), Console(stderr=True)
    try:
        with shown(errors) as progress:
            result = run(load(), chosen.queries, chosen.seed, progress)
    except LetopisError as error:
        return refused(error)
    if chosen.json:
        printed = {"asked": result.asked, "shown": result.shown, "leaks": result.leaks}
        console.print_json(json.dumps(printed))
    else:
        console.print(table(result))
    return 1 if result.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
