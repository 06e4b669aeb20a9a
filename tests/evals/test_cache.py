import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.cache import Cached
from evals.errors import CacheDamaged
from indexing.dense import Matrix
from indexing.errors import ConfigError
from tests.readers import ReadingEmbedder

Make = Callable[..., Any]

TEXTS = ["одно", "two", "три", "two"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "embeddings.sqlite"


def test_a_text_is_embedded_once_and_comes_back_as_it_was(
    file: Path, make: Make, embedder: Any
) -> None:
    expected = make().passages(TEXTS)
    with Cached(embedder, file) as cached:
        first = cached.passages(TEXTS)
        second = cached.passages(TEXTS[::-1])
    assert embedder.embedded == 3, "two equal texts are one"
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(second, expected[::-1])
    assert (cached.hits, cached.misses) == (1 + 4, 3)


def test_the_next_process_embeds_nothing(file: Path, make: Make) -> None:
    with Cached(make(), file) as cached:
        cached.passages(TEXTS)
        cached.query("вопрос")
    later = make()
    with Cached(later, file) as cached:
        probes = later.asked
        np.testing.assert_array_equal(cached.passages(TEXTS), make().passages(TEXTS))
        np.testing.assert_array_equal(cached.query("вопрос"), make().query("вопрос"))
    assert (later.embedded, later.asked - probes) == (0, 0)


def test_a_question_and_a_passage_of_equal_text_are_two_things(file: Path, embedder: Any) -> None:
    with Cached(embedder, file) as cached:
        cached.query("два")
        cached.passages(["два"])
    assert embedder.embedded == 1


def test_no_texts_give_no_rows(file: Path, embedder: Any) -> None:
    with Cached(embedder, file) as cached:
        assert cached.passages([]).shape == (0, embedder.dim)


def test_more_texts_than_one_statement_takes(file: Path, make: Make, embedder: Any) -> None:
    texts = [f"text {number}" for number in range(1_201)]
    with Cached(embedder, file) as cached:
        cached.passages(texts)
        np.testing.assert_array_equal(cached.passages(texts), make().passages(texts))
    assert embedder.embedded == 1_201


def test_two_models_do_not_share_rows(file: Path, make: Make) -> None:
    with Cached(make("one"), file) as cached:
        cached.passages(TEXTS)
    other = make("other", seed=1)
    with Cached(other, file) as cached:
        np.testing.assert_array_equal(cached.passages(TEXTS), make("other", seed=1).passages(TEXTS))
    kept = make("one")
    with Cached(kept, file) as cached:
        cached.passages(TEXTS)
    assert kept.embedded == 0, "the other model's start left them alone"


def test_other_weights_under_the_same_name_drop_the_rows(file: Path, make: Make) -> None:
    with Cached(make(), file) as cached:
        cached.passages(TEXTS)
    changed = make(seed=1)
    with Cached(changed, file) as cached:
        np.testing.assert_array_equal(cached.passages(TEXTS), make(seed=1).passages(TEXTS))


class Interrupted:
    """An embedder that Ctrl-C stops at the text "bad"."""

    def __init__(self, inner: Any) -> None:
        self.name, self.dim, self.query = inner.name, inner.dim, inner.query
        self.max_tokens, self.tokenizer = inner.max_tokens, inner.tokenizer
        self._inner = inner

    def passages(self, texts: Sequence[str]) -> Matrix:
        if "bad" in texts:
            raise KeyboardInterrupt
        rows: Matrix = self._inner.passages(texts)
        return rows


def test_what_was_embedded_before_an_interruption_is_kept(file: Path, make: Make) -> None:
    with Cached(Interrupted(make()), file) as cached:
        cached.passages(["one"])
        with pytest.raises(KeyboardInterrupt):
            cached.passages(["two", "bad"])
    later = make()
    with Cached(later, file) as cached:
        cached.passages(["one", "two"])
    assert later.embedded == 1


def test_a_damaged_file_is_named_and_left_alone(file: Path, embedder: Any) -> None:
    file.parent.mkdir()
    file.write_bytes(b"not a database" * 100)
    with pytest.raises(CacheDamaged, match="safe to delete"):
        Cached(embedder, file)
    assert file.read_bytes() == b"not a database" * 100


def test_the_texts_themselves_are_not_stored(file: Path, embedder: Any) -> None:
    with Cached(embedder, file) as cached:
        cached.passages(["сокровенное"])
    with sqlite3.connect(file) as database:
        dump = "\n".join(database.iterdump())
    database.close()
    assert "vectors" in dump
    assert "сокровенное" not in dump


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, embedder: Any) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CacheDamaged, match="cannot use the cache"):
        Cached(embedder, tmp_path / "file" / "embeddings.sqlite")


def test_token_vectors_are_kept_in_half_precision(file: Path) -> None:
    first, again = ReadingEmbedder(), ReadingEmbedder()
    texts = ["one two", "три", "one two"]
    with Cached(first, file) as cached:
        fresh = cached.tokens(texts)
    assert first.windows == ["one two", "три"]
    with Cached(again, file) as cached:
        kept = cached.tokens(texts)
        assert (cached.hits, cached.misses) == (3, 0)
    assert again.windows == []
    for was, now, text in zip(fresh, kept, texts, strict=True):
        np.testing.assert_array_equal(was.vectors, now.vectors)
        np.testing.assert_array_equal(was.spans, now.spans)
        np.testing.assert_allclose(now.vectors, again.tokens([text])[0].vectors, rtol=1e-3)


def test_a_model_without_token_vectors_has_none_in_the_cache(file: Path, embedder: Any) -> None:
    with (
        Cached(embedder, file) as cached,
        pytest.raises(ConfigError, match="which hash does not give"),
    ):
        cached.tokens(["one"])
