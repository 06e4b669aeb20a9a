"""The same memories and 200 questions on the embedded and the server engine: the same answers.

Branch by branch and after fusion, through the whole write and read side, in two languages and over
several tenants. Scores agree within 1e-5; hits whose scores tie may stand in another order.
"""

import hashlib
import json
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient

import letopis
from chunking.types import Chunk
from indexing.catalog import Catalog
from indexing.dense import Matrix, normalize
from indexing.hashing import digest
from indexing.index import Index, Source
from indexing.server import ServerStore
from indexing.sparse import terms
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.types import (
    COLLECTIONS,
    GLOBAL,
    Branch,
    Collection,
    Filter,
    Memory,
    Scope,
    Scored,
    VectorNames,
    session_scope,
    user_scope,
)
from indexing.write import write
from retrieval.retriever import Retriever
from retrieval.types import ScopePolicy
from tests.conftest import FixedClock, PartsMaker, TinyEmbedder

WORLD = Path(letopis.__file__).parent / "world"
USERS = ("anna", "boris", "carol")
QUESTIONS = 200
TOLERANCE = 5e-5
"""How far scores may differ: what rounding to 32 bits makes of sums in another order, up to 100."""


class StemEmbedder(TinyEmbedder):
    """A sum of one random vector per stem: close texts are close, and scores hardly ever tie."""

    name = "stems"
    dim = 48

    def _project(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term, count in Counter(terms(text)).items():
                seed = int.from_bytes(hashlib.blake2s(term.encode(), digest_size=8).digest())
                row += np.sqrt(count) * np.random.default_rng(seed).normal(size=self.dim)
        return normalize(rows + 1e-6)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with the scopes that it sees."""

    text: str
    user: str
    session: str | None


def texts() -> list[tuple[Scope, str]]:
    """The sample world by paragraph and turn, and facts of three users, in two languages."""
    made: list[tuple[Scope, str]] = []
    for file in sorted((WORLD / "docs").rglob("*.md")):
        paragraphs = re.split(r"\n\s*\n", file.read_text())
        made += [(GLOBAL, text.strip()[:600]) for text in paragraphs if len(text.split()) > 8][:2]
    for file in sorted((WORLD / "sessions").glob("*.jsonl")):
        for turn in map(json.loads, file.read_text().splitlines()[:8]):
            own = user_scope(turn["user_id"])
            made.append((own, turn["text"]))
            made.append((session_scope(turn["user_id"], turn["session_id"]), turn["text"]))
    for number in range(60):
        code, day = f"QX-{number * 37:04d}", number % 28 + 1
        english = f"Order {code} of {number + 3} boxes leaves warehouse {number % 7} on May {day}"
        russian = f"Заказ {code} на {number + 3} коробок уходит со склада {number % 7} {day} мая"
        made.append((user_scope(USERS[number % 3]), (english, russian)[number % 2]))
    return made


def questions() -> list[Asked]:
    """The sample world's own questions, then pieces of what is stored, asked by every user."""
    chosen = random.Random(7)
    sessions = sorted(file.stem for file in (WORLD / "sessions").glob("*.jsonl"))
    listed = tomllib.loads((WORLD / "questions.toml").read_text())["question"]
    asked = [Asked(q["text"], q["user"], None) for q in listed][: QUESTIONS // 2]
    stored = [text for _, text in texts()]
    while len(asked) < QUESTIONS:
        words = chosen.choice(stored).split()
        start = chosen.randrange(max(1, len(words) - 6))
        user = chosen.choice(USERS)
        session = chosen.choice([None, *(name for name in sessions if name.startswith(user))])
        asked.append(Asked(" ".join(words[start : start + 6]), user, session))
    return asked


def fill(index: Index, clock: FixedClock) -> None:
    for scope in dict.fromkeys(scope for scope, _ in texts()):
        own = list(dict.fromkeys(text for owner, text in texts() if owner == scope))
        write(
            index,
            scope,
            [
                Source(
                    f"s{number}",
                    "document" if scope == GLOBAL else "turn",
                    digest(text),
                    [Chunk(f"s{number}", 0, 0, len(text), text)],
                    expires_at=clock.now + timedelta(hours=(-1, 1)[number % 9 > 0]),
                )
                for number, text in enumerate(own)
            ],
        )


class Recording:
    """A store that keeps the ranked lists that it answered with."""

    concurrent = False

    def __init__(self, store: VectorStore) -> None:
        self.store = store
        self.lists: list[list[Scored]] = []

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        answers = self.store.search(collection, branches, where)
        self.lists += answers
        return answers

    def get(
        self, collection: Collection, where: Filter, limit: int, after: str = ""
    ) -> list[Memory]:
        return self.store.get(collection, where, limit, after)


Side = tuple[Retriever, Recording]


@pytest.fixture
def engines(make_parts: PartsMaker, clock: FixedClock, tmp_path: Path) -> Iterator[list[Side]]:
    """The same memories and read side twice: the embedded store and the server adapter."""
    edge = make_parts(embedder=StemEmbedder()).index
    catalog = Catalog(f"sqlite:///{tmp_path}/catalog.sqlite")
    server = replace(edge, store=ServerStore(QdrantClient(":memory:")), catalog=catalog)
    for collection in COLLECTIONS:
        names = VectorNames({DENSE: StemEmbedder.dim}, (SPARSE,))
        server.store.open_collection(collection, names)
    policy = ScopePolicy(limit=20, thresholds={DENSE: 0.1, SPARSE: 1.0})
    sides: list[Side] = []
    for index in (edge, server):
        fill(index, clock)
        store = Recording(index.store)
        policies = dict.fromkeys(COLLECTIONS, policy)
        sides.append((Retriever(store, index.embedder, policies, clock, len), store))
    yield sides
    for retriever, _ in sides:
        retriever.pool.shutdown()
    server.store.close()
    catalog.close()


def same(left: Sequence[tuple[str, float]], right: Sequence[tuple[str, float]]) -> bool:
    """Whether ranked (id, score) lists agree.

    Left open: the order within a tie, and who of those that tie with the last is in the list.
    """
    scores = [np.array([score for _, score in ranked]) for ranked in (left, right)]
    if len(left) != len(right) or not np.allclose(*scores, atol=TOLERANCE, rtol=0):
        return False
    if not left:
        return True
    last = min(left[-1][1], right[-1][1]) + 2 * TOLERANCE
    mine, other = dict(left), dict(right)
    sure = {name for name, score in (*left, *right) if score > last}
    return all(
        name in mine and name in other and abs(mine[name] - other[name]) <= TOLERANCE
        for name in sure
    )


def test_two_hundred_questions_have_the_same_answers(engines: list[Side]) -> None:
    asked, found, listed = questions(), 0, 0
    assert len(asked) == QUESTIONS
    for question in asked:
        results = [
            retriever.retrieve(question.text, question.user, question.session, k=10)
            for retriever, _ in engines
        ]
        left, right = ([(hit.memory.id, hit.score) for hit in result] for result in results)
        assert same(left, right), question
        first, second = ({hit.memory.id: hit.memory for hit in result} for result in results)
        assert all(first[name] == second[name] for name in first.keys() & second.keys())
        found += len(left)
        lists = [store.lists for _, store in engines]
        assert len(lists[0]) == len(lists[1]) >= 6
        for mine, other in zip(*lists, strict=True):
            assert same([(h.id, h.score) for h in mine], [(h.id, h.score) for h in other]), question
            assert {h.id: h.terms for h in mine}.items() >= {
                (h.id, h.terms) for h in other if h.id in {m.id for m in mine}
            }
            listed += len(mine)
        for _, store in engines:
            store.lists.clear()
    assert (found > 5 * QUESTIONS, listed > 20 * QUESTIONS) == (True, True)


def test_what_counts_as_the_same() -> None:
    ranked = [("a", 3.0), ("b", 2.0), ("c", 1.0)]
    assert same(ranked, [("a", 3.000001), ("b", 2.0), ("x", 1.0)])
    assert same([("b", 2.0), ("a", 2.0), ("c", 1.0)], [("a", 2.0), ("b", 2.0), ("c", 1.0)])
    assert not same(ranked, [("x", 3.0), ("b", 2.0), ("c", 1.0)])
    assert not same(ranked, [("b", 3.0), ("a", 2.0), ("c", 1.0)])
    assert not same(ranked, [("a", 3.0001), ("b", 2.0), ("c", 1.0)])
    assert not same(ranked, ranked[:2])
