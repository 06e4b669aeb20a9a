"""A model that loads at its first text: never a guess, never twice."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from chunking.tokens import tokenizer_spans
from indexing.dense import Embedder, TokenEmbedder
from indexing.errors import ConfigError, ModelError, SchemaMismatch
from indexing.lazy import FILES, LazyEmbedder, Shape, lazy
from tests.conftest import TinyEmbedder


class Loader:
    """Loads a tiny model and counts how often."""

    def __init__(self) -> None:
        self.times = 0
        self.made: type[TinyEmbedder] = TinyEmbedder

    def __call__(self) -> Embedder:
        self.times += 1
        return self.made()


class Wider(TinyEmbedder):
    """Another model."""

    dim = 48


Open = Callable[[], Embedder]


@pytest.fixture
def load() -> Loader:
    return Loader()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "model"
    found.mkdir()
    for name in FILES:
        (found / name).write_text(name)
    return found


@pytest.fixture
def opened(folder: Path, tmp_path: Path, load: Loader) -> Open:
    return lambda: lazy(folder, tmp_path / "shapes", "how", load)


def test_a_model_that_was_loaded_before_loads_at_its_first_text(load: Loader, opened: Open) -> None:
    first = opened()
    assert load.times == 1
    again = opened()
    assert isinstance(again, TokenEmbedder)
    assert (again.name, again.dim, again.max_tokens) == ("tiny", 32, 400)
    assert again.passages is not None
    assert load.times == 1
    assert np.array_equal(again.passages(["the budget"]), first.passages(["the budget"]))
    assert np.array_equal(again.query("бюджет"), first.query("бюджет"))
    assert load.times == 2


@pytest.mark.parametrize("name", FILES)
def test_files_that_changed_are_loaded_at_once(
    folder: Path, load: Loader, opened: Open, name: str
) -> None:
    opened()
    (folder / name).write_text("other bytes")
    load.made = Wider
    assert opened().dim == 48
    assert load.times == 2
    (folder / name).unlink()
    assert opened().dim == 48
    assert load.times == 3
    assert isinstance(opened(), LazyEmbedder)


def test_another_prefix_is_another_model(
    folder: Path, tmp_path: Path, load: Loader, opened: Open
) -> None:
    opened()
    lazy(folder, tmp_path / "shapes", "another how", load)
    assert load.times == 2
    assert isinstance(opened(), LazyEmbedder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"stamp": [], "shape": {}}', "\0"])
def test_a_damaged_note_is_written_again(
    tmp_path: Path, load: Loader, opened: Open, text: str
) -> None:
    opened()
    (note,) = (tmp_path / "shapes").iterdir()
    note.write_text(text)
    assert not isinstance(opened(), LazyEmbedder)
    assert isinstance(opened(), LazyEmbedder)


def test_where_nothing_can_be_kept_the_model_loads_each_time(
    tmp_path: Path, load: Loader, opened: Open
) -> None:
    (tmp_path / "shapes").write_text("a file where the folder should be")
    for times in (1, 2):
        assert not isinstance(opened(), LazyEmbedder)
        assert load.times == times


def test_a_model_that_turns_out_otherwise_is_refused_each_time(load: Loader) -> None:
    load.made = Wider
    changed = LazyEmbedder(Shape("tiny", 32, 400), load)
    for ask in (lambda: changed.passages(["a"]), lambda: changed.query("a")):
        with pytest.raises(SchemaMismatch, match=r"dim=32.* became .*dim=48.*letopis reindex"):
            ask()


def test_a_load_that_failed_is_tried_again(load: Loader) -> None:
    failing = [ModelError("the disk is away")]

    def flaky() -> Embedder:
        if failing:
            raise failing.pop()
        return load()

    model = LazyEmbedder(Shape("tiny", 32, 400), flaky)
    with pytest.raises(ModelError, match="the disk is away"):
        model.query("a")
    assert not model.loaded
    assert model.query("a").shape == (1, 32)
    assert model.loaded


def test_threads_that_ask_at_once_load_once(load: Loader) -> None:
    model = LazyEmbedder(Shape("tiny", 32, 400), load)
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(model.query, ["a"] * 64))) == 64
    assert load.times == 1


def test_a_model_without_token_vectors_says_so_when_asked(load: Loader) -> None:
    with pytest.raises(ConfigError, match="late chunking needs token vectors"):
        LazyEmbedder(Shape("tiny", 32, 400), load).tokens(["a"])


def test_tokens_are_counted_as_the_model_counts_them(load: Loader) -> None:
    class Counting(TinyEmbedder):
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))

    Counting.tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    load.made = Counting
    spans = tokenizer_spans(LazyEmbedder(Shape("tiny", 32, 400), load).tokenizer)
    assert load.times == 0
    assert spans("один два") == [(0, 4), (5, 8)]
    assert load.times == 1
