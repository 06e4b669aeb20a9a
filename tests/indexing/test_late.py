"""Late vectors: spelled out, only what is needed is read, equal input gives equal memories."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunking.types import Document, Session, Turn
from configs.text_settings import ChunkingSettings, LateSettings, LateTurnSettings
from indexing.dense import PassageTooLong, normalize
from indexing.embed import Reading, dense_vectors
from indexing.errors import ConfigError
from indexing.hashing import digest
from indexing.index import Index, Source
from indexing.ingest import document_source, ingest_session
from indexing.late import GROUP, Context, Late, Place, Share, late_vectors
from indexing.store import DENSE
from indexing.template import Factors, Views, mix
from indexing.types import Filter, Memory, Scope, user_scope
from indexing.write import write
from tests.conftest import PartsMaker, TinyEmbedder
from tests.readers import WORD, ReadingEmbedder

ANN = user_scope("ann")
HALF = Share(0.5)
TEXT = "Anna sold the boat. She regrets it. The buyer paints it red."


def spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in WORD.finditer(text)]


def read(text: str, size: int = 400, overlap: int = 4, share: Share = HALF) -> Context:
    return Late(spans, size, overlap, share).document(Document("d", text))


def place(context: Context, piece: str) -> Place:
    start = context.text.index(piece)
    return Place(context, start, start + len(piece))


# vectors


def test_a_late_vector_is_the_mean_of_its_own_tokens_read_in_the_whole_text() -> None:
    embedder = ReadingEmbedder()
    made = late_vectors(embedder, [place(read(TEXT), "She regrets it.")])
    (whole,) = embedder.tokens([TEXT])
    expected = normalize(whole.vectors[4:7].mean(axis=0, keepdims=True))
    np.testing.assert_allclose(made.rows, expected, atol=1e-6)
    assert (made.shares, made.windows) == ([0.5], 1)
    assert embedder.embedded == []


def test_only_windows_with_something_in_them_are_read_and_each_once() -> None:
    text = " ".join(f"word{i}" for i in range(100))
    context = read(text, size=20, overlap=5)
    embedder = ReadingEmbedder()
    places = [place(context, "word41 word42"), place(context, "word42 word43")]
    made = late_vectors(embedder, places)
    assert embedder.windows == [text[w.start : w.end] for w in context.windows if w in held(places)]
    assert made.windows == len(embedder.windows) < len(context.windows)


def held(places: list[Place]) -> list[Any]:
    return [
        window
        for window in places[0].context.windows
        if any(window.start < p.end and window.end > p.start for p in places)
    ]


def test_a_long_text_is_read_a_few_windows_at_a_time() -> None:
    text = " ".join(f"word{i}" for i in range(20_000))
    context = read(text, size=100, overlap=25)
    embedder = ReadingEmbedder()
    late_vectors(embedder, [Place(context, 0, len(text))])
    longest = max(window.end - window.start for window in context.windows)
    assert max(sum(map(len, call)) for call in embedder.calls) <= GROUP + longest
    assert len(embedder.windows) == len(context.windows)


def test_a_window_that_the_model_counts_longer_is_read_in_halves() -> None:
    text = " ".join(f"word{i}" for i in range(90))
    embedder = ReadingEmbedder(limit=50)
    made = late_vectors(embedder, [place(read(text), "word80 word81"), place(read(text), "word3")])
    assert (made.shares, len(embedder.windows)) == ([0.5, 0.5], 4)
    assert not np.allclose(made.rows[0], made.rows[1])
    with pytest.raises(PassageTooLong):
        late_vectors(ReadingEmbedder(limit=0), [place(read("a"), "a")])


def test_a_span_without_tokens_has_no_share() -> None:
    made = late_vectors(ReadingEmbedder(), [Place(read(TEXT), 4, 5)])
    assert (made.rows.any(), made.shares) == (False, [0.0])


def test_the_share_falls_with_the_length_of_the_chunk() -> None:
    share = Share(0.5, 80)
    assert [share.of(tokens) for tokens in (20, 80, 240)] == [0.8, 0.5, 0.25]
    assert Share(0.2, 40).of(80) == pytest.approx(0.2 * 40 / (0.2 * 40 + 0.8 * 80))
    assert Share(0.3).of(5) == Share(0.3).of(500) == 0.3
    assert Share(1, 80).of(500) == 1


def test_mix_is_the_normalised_weighted_sum() -> None:
    own, late = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    length = (0.75**2 + 0.25**2) ** 0.5
    assert mix(own, late, 0.25).tolist() == pytest.approx([0.75 / length, 0.25 / length])
    assert mix(own, None, 0.25) is own
    assert mix(None, late, 1) is mix(own, late, 1) is late
    with pytest.raises(ValueError, match="neither"):
        mix(None, None, 0.5)


def test_a_vector_that_is_all_late_needs_no_text_of_its_own() -> None:
    embedder = ReadingEmbedder()
    context = read(TEXT, share=Share(1))
    readings = [
        Reading(Views("own", "before", "", "own", "before"), place(context, "She regrets it.")),
        Reading(Views("blank", "", "", "blank", ""), Place(context, 4, 5)),
    ]
    (first, second), count = dense_vectors(embedder, readings, Factors(0.0))
    assert embedder.embedded == ["blank"], "a span without tokens is known by its own text"
    assert count == 2
    np.testing.assert_array_equal(first[DENSE], late_vectors(embedder, [readings[0].place]).rows[0])
    np.testing.assert_array_equal(second[DENSE], embedder.passages(["blank"])[0])


def test_a_model_without_token_vectors_is_refused_by_name() -> None:
    reading = Reading(Views("own", "", "", "own", ""), place(read(TEXT), "She"))
    with pytest.raises(ConfigError, match=r"which tiny does not give: set chunking\.documents"):
        dense_vectors(TinyEmbedder(), [reading], Factors(0.0))


# what a vector depends on


def test_the_key_names_the_windows_of_a_chunk_and_nothing_else() -> None:
    words = [f"word{i}" for i in range(100)]
    changed = [*words[:-1], "new"]

    def key(said: list[str], piece: str, share: Share = HALF) -> str:
        at = place(read(" ".join(said), size=20, overlap=5, share=share), piece)
        return at.context.key(at.start, at.end)

    assert key(words, "word3 word4") == key(changed, "word3 word4")
    assert key(words, "word97") != key(changed, "word97")
    assert key(words, "word3 word4") != key(words, "word4 word5")
    assert (
        key(words, "word3") != key(words, "word3", Share(0.6)) != key(words, "word3", Share(0.6, 9))
    )


def test_without_late_chunking_the_key_is_what_it_was() -> None:
    view = Views("own", "before", "", "own", "before")
    assert Reading(view).key == digest("own", "before")[:32]


# through the write path


def parts_with(
    make_parts: PartsMaker, embedder: Any, folder: Path | None = None, **chunking: Any
) -> Index:
    late = LateSettings(share=chunking.pop("share", 0.5), length=0, overlap=8)
    chosen = {"size": 16, "overlap": 0, "late_documents": late, **chunking}
    index: Index = make_parts(folder, embedder, chunking=ChunkingSettings(**chosen)).index
    embedder.calls.clear()  # the settings try the model once
    return index


def source(index: Index, text: str, chunker: str = "") -> Source:
    document = Document("doc", text, uri="doc.txt")
    return document_source(index.recipe, document, digest(text), chunker)


def stored(index: Index, scope: Scope = ANN) -> dict[str, tuple[Memory, list[float]]]:
    where = Filter(scope)
    vectors = index.store.vectors(scope.collection, where)
    found = index.store.scroll(scope.collection, where)
    return {m.id: (m, vectors[m.id]["dense"].tolist()) for m in found}


LONG = " ".join(f"Sentence {i} is about thing{i}." for i in range(60))


def test_what_is_stored_is_the_mix_of_own_and_late(make_parts: PartsMaker) -> None:
    embedder = ReadingEmbedder()
    index = parts_with(make_parts, embedder, documents="fixed+late")
    report = write(index, ANN, [source(index, LONG)])
    (window,) = embedder.windows
    assert window == LONG
    assert report.embedded == len(embedder.embedded) + 1
    for memory, vector in stored(index).values():
        at = Place(read(LONG), memory.start, memory.end)
        late = late_vectors(ReadingEmbedder(), [at]).rows[0]
        expected = mix(embedder.passages([memory.text])[0], late, 0.5)
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_writing_again_reads_nothing_and_a_change_reads_only_near_it(
    make_parts: PartsMaker, tmp_path: Path
) -> None:
    embedder = ReadingEmbedder()
    narrow = LateSettings(share=0.5, length=0, window=40, overlap=8)
    index = parts_with(make_parts, embedder, documents="fixed+late", late_documents=narrow)
    write(index, ANN, [source(index, LONG)])
    first = len(embedder.windows)
    assert write(index, ANN, [source(index, LONG)]).embedded == 0
    changed = LONG + " One more."
    report = write(index, ANN, [source(index, changed)])
    assert 0 < len(embedder.windows) - first <= 2 < first
    assert report.memories <= 4
    clean = parts_with(
        make_parts, ReadingEmbedder(), tmp_path, documents="fixed+late", late_documents=narrow
    )
    write(clean, ANN, [source(clean, changed)])
    assert stored(index).keys() == stored(clean).keys()


def test_a_source_chooses_its_chunker(make_parts: PartsMaker, tmp_path: Path) -> None:
    index = parts_with(make_parts, ReadingEmbedder())
    assert source(index, LONG).context is None
    assert source(index, LONG, "semantic+late").context is not None
    plain = make_parts(tmp_path, TinyEmbedder()).index
    with pytest.raises(ConfigError, match=r"no chunker 'fixed\+late'; there are fixed, semantic$"):
        source(plain, LONG, "fixed+late")


def session(*said: str) -> Session:
    turns = [Turn(str(i), "user", text, "Anna" if i % 2 else "") for i, text in enumerate(said)]
    return Session("s", tuple(turns))


def test_a_session_is_one_text_and_turns_know_their_place() -> None:
    late = Late(spans, 100, 10, Share(1))
    context, places = late.session(session("hi", "hello there"))
    assert context.text == "user: hi\nAnna: hello there\n"
    assert [context.text[at:][:5] for at in places.values()] == ["hi\nAn", "hello"]


def test_a_session_that_grows_ends_as_if_it_came_whole(
    make_parts: PartsMaker, tmp_path: Path
) -> None:
    told = [f"turn {i} speaks of thing{i} and other{i}" for i in range(30)]
    late = LateTurnSettings(window=40, overlap=10)
    made = []
    for steps in ((20, 30), (30,)):
        embedder = ReadingEmbedder()
        index = parts_with(
            make_parts, embedder, tmp_path / str(steps), turns="turns+late", late_turns=late
        )
        for step in steps:
            embedder.calls.clear()
            ingest_session(index, ANN, session(*told[:step]))
        made.append((stored(index), len(embedder.windows)))
    (grown, last), (whole, all_at_once) = made
    assert grown.keys() == whole.keys()
    for key, (memory, vector) in grown.items():
        assert memory == replace(whole[key][0], created_at=memory.created_at)
        np.testing.assert_allclose(vector, whole[key][1], atol=1e-6)
    assert last < all_at_once


def test_a_turn_in_another_session_text_is_another_vector(make_parts: PartsMaker) -> None:
    late = LateTurnSettings(window=40, overlap=10)
    index = parts_with(make_parts, ReadingEmbedder(), turns="turns+late", late_turns=late)
    ingest_session(index, ANN, session("we met Anna", "she paints"))
    (before,) = [v for m, v in stored(index).values() if m.text == "she paints"]
    report = ingest_session(index, ANN, session("we met Boris", "she paints"))
    (after,) = [v for m, v in stored(index).values() if m.text == "she paints"]
    assert (report.indexed, report.unchanged) == (2, 0)
    assert before != after
    assert len(stored(index)) == 2


@pytest.mark.parametrize("name", ["documents", "turns"])
def test_settings_that_the_model_cannot_do_are_refused(make_parts: PartsMaker, name: str) -> None:
    way = {"documents": "fixed+late", "turns": "turns+late"}[name]
    with pytest.raises(ConfigError, match="needs token vectors, which tiny does not give"):
        make_parts(chunking=ChunkingSettings.model_validate({name: way}))


def test_a_window_over_the_limit_of_the_model_is_refused(make_parts: PartsMaker) -> None:
    wide = ChunkingSettings(documents="fixed+late", late_documents=LateSettings(window=385))
    with pytest.raises(ConfigError, match=r"a late window of 385 tokens .* over the 384"):
        make_parts(embedder=ReadingEmbedder(), chunking=wide)
