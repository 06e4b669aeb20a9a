"""Two views of a turn: with the turn before, and its own alone (``template.views``)."""

import numpy as np
import pytest

from chunking.types import Session, Turn
from configs.build import Parts, fingerprint
from configs.reindex import reindex
from configs.settings import Settings
from configs.text_settings import TemplateSettings
from indexing.embed import Reading, dense_vectors
from indexing.errors import SchemaMismatch
from indexing.ingest import ingest_chats
from indexing.remember import remember
from indexing.sparse import weigh_query
from indexing.store import DENSE, OWN, SPARSE, base, vector_names
from indexing.template import Factors, Views, blend
from indexing.types import Branch, Filter, user_scope
from tests.conftest import PartsMaker, TinyEmbedder

ANN = user_scope("ann")
TWO = TemplateSettings(views=True)
TALK = Session(
    "s", (Turn("1", "user", "Куда поедем в августе?"), Turn("2", "assistant", "На Байкал."))
)


def fill(parts: Parts) -> None:
    ingest_chats(parts.index, ANN, [TALK])
    remember(parts.index, ANN, "Любимое озеро: Байкал")


def found(parts: Parts, name: str, word: str) -> set[str]:
    vector = weigh_query(word) if base(name) == SPARSE else parts.index.embedder.query(word)[0]
    (hits,) = parts.index.store.search("user", [Branch(name, vector, 10, 1e-3)], Filter(ANN))
    texts = {memory.id: memory.text for memory in parts.index.store.scroll("user", Filter(ANN))}
    return {texts[hit.id] for hit in hits}


def test_the_names_of_vectors() -> None:
    assert vector_names(3).dense == {"dense": 3}
    assert vector_names(3, views=True).dense == {"dense": 3, "dense.own": 3}
    assert tuple(vector_names(3, views=True).sparse) == ("sparse", "sparse.own")
    assert [base(name) for name in (DENSE, DENSE + OWN, SPARSE + OWN)] == [DENSE, DENSE, SPARSE]


def test_both_vectors_cost_one_embedding() -> None:
    embedder = TinyEmbedder()
    view = Views("answer", "question", "", "answer", "question")
    (named,), count = dense_vectors(embedder, [Reading(view)], Factors(0.5, 0.5, views=True))
    own, before = embedder.passages(["answer", "question"])
    assert count == 2
    np.testing.assert_array_equal(named[DENSE + OWN], own)
    np.testing.assert_array_equal(named[DENSE], blend(own, before, 0.5))
    (single,), again = dense_vectors(embedder, [Reading(view)], Factors())
    assert list(single) == [DENSE]
    assert again == 2


def test_the_own_view_does_not_know_the_turn_before(make_parts: PartsMaker) -> None:
    parts = make_parts(template=TWO)
    fill(parts)
    both = {"Куда поедем в августе?", "На Байкал."}
    assert found(parts, SPARSE, "август") == both
    assert found(parts, SPARSE + OWN, "август") == {"Куда поедем в августе?"}
    stored = parts.index.store.vectors("user", Filter(ANN))
    assert {frozenset(held) for held in stored.values()} == {frozenset({DENSE, DENSE + OWN})}
    same = [np.allclose(held[DENSE], held[DENSE + OWN], atol=1e-6) for held in stored.values()]
    assert sorted(same) == [False, True, True]  # the first turn and the fact have nothing before


def test_a_second_write_keeps_both(make_parts: PartsMaker) -> None:
    parts = make_parts(template=TWO)
    fill(parts)
    before = parts.index.store.vectors("user", Filter(ANN))
    remember(parts.index, ANN, "Любимое озеро: Байкал")
    after = parts.index.store.vectors("user", Filter(ANN))
    assert after.keys() == before.keys()
    for name, held in before.items():
        for view, vector in held.items():
            np.testing.assert_allclose(after[name][view], vector, atol=1e-6)


def test_what_is_stored_is_part_of_the_fingerprint(make_parts: PartsMaker) -> None:
    plain, two = Settings(), Settings(template=TWO)
    embedder = TinyEmbedder()
    assert fingerprint(two, embedder) == {
        **fingerprint(plain, embedder),
        "template.views": "True",
    }
    parts = make_parts()
    fill(parts)
    parts.close()
    with pytest.raises(SchemaMismatch, match=r"template\.views"):
        make_parts(template=TWO)


def test_reindex_adds_the_views(make_parts: PartsMaker) -> None:
    parts = make_parts()
    fill(parts)
    parts.close()
    settings = parts.settings.model_copy(update={"template": TWO})
    report = reindex(settings, embedder=TinyEmbedder())
    assert report.memories == 3
    assert not report.recut
    again = make_parts(template=TWO)
    assert found(again, SPARSE + OWN, "август") == {"Куда поедем в августе?"}
