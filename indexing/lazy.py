"""An embedder that loads its model at its first text: what needs no vectors does not wait for it.

Does: answer what opening a memory asks of a model (name, dimension, limit) from what an earlier
load of the same files has shown. Does not: guess; for files that are new or changed the model is
loaded at once, and one that is loaded later and turns out otherwise is refused.
"""

import hashlib
import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from indexing.dense import Embedder, Matrix, Tokens, token_embedder
from indexing.errors import SchemaMismatch

log = logging.getLogger(__name__)

FILES = ("model.onnx", "tokenizer.json", "config.json")
"""The files of a model's folder; the last one may be missing."""

Load = Callable[[], Embedder]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a fingerprint and a recipe ask of a model; see `Embedder`."""

    name: str
    dim: int
    max_tokens: int


class LazyEmbedder:
    """A `TokenEmbedder` of a known shape that ``load`` makes at the first text. Thread-safe."""

    def __init__(self, shape: Shape, load: Load) -> None:
        self.name = shape.name
        self.dim = shape.dim
        self.max_tokens = shape.max_tokens
        self.tokenizer: Any = LazyTokenizer(self.model)
        self._shape = shape
        self._load = load
        self._lock = threading.Lock()
        self._model: Embedder | None = None

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._model is not None

    def model(self) -> Embedder:
        """Return the model. Raises what loading raises, and `SchemaMismatch` for another one."""
        with self._lock:
            if self._model is None:
                made = self._load()
                if (found := shape_of(made)) != self._shape:
                    raise SchemaMismatch(
                        f"the model's files were changed while it was in use: {self._shape} became "
                        f"{found}. Set them back, or make the vectors anew: letopis reindex"
                    )
                self._model = made
            return self._model

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored. Raises `PassageTooLong`."""
        return self.model().passages(texts)

    def query(self, text: str) -> Matrix:
        """Embed one question, shape ``(1, dim)``."""
        return self.model().query(text)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each passage. Raises `PassageTooLong`."""
        return token_embedder(self.model()).tokens(texts)


class LazyTokenizer:
    """The tokenizer of a model that is not loaded yet: what counting its tokens takes.

    Like that of `OnnxEmbedder`, it neither cuts nor pads.
    """

    truncation = None
    padding = None

    def __init__(self, model: Load) -> None:
        self._model = model

    def encode(self, text: str, add_special_tokens: bool = True) -> Any:
        """Return the `tokenizers.Encoding` of a text."""
        return self._model().tokenizer.encode(text, add_special_tokens=add_special_tokens)


def shape_of(model: Embedder) -> Shape:
    """Return what a model says of itself."""
    return Shape(model.name, model.dim, model.max_tokens)


def lazy(folder: Path, shapes: Path, how: str, load: Load) -> Embedder:
    """Return a folder's model: one that loads later where its shape is known, else loaded now.

    ``shapes`` is where shapes are kept between runs; ``how`` is all else that makes the model what
    it is (prefixes, limits), as text.
    """
    key = hashlib.sha256(f"{folder.resolve()}\n{how}".encode()).hexdigest()
    file = shapes / f"{key[:32]}.json"
    stamp = _stamp(folder)
    known = _read(file, stamp)
    if known is not None:
        return LazyEmbedder(known, load)
    model = load()
    if stamp == _stamp(folder):
        _write(file, stamp, shape_of(model))
    return model


def _stamp(folder: Path) -> list[list[int]]:
    """Return what changes whenever a file of the model does; nothing for one that is not there."""
    found: list[list[int]] = []
    for name in FILES:
        try:
            file = (folder / name).stat()
        except OSError:
            found.append([])
        else:
            found.append([file.st_size, file.st_mtime_ns, file.st_ctime_ns, file.st_ino])
    return found


def _read(file: Path, stamp: list[list[int]]) -> Shape | None:
    """Return the shape that was kept for these files; None where none can be read."""
    try:
        found = json.loads(file.read_bytes())
        shape = Shape(**found["shape"]) if found["stamp"] == stamp else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return shape


def _write(file: Path, stamp: list[list[int]], shape: Shape) -> None:
    """Keep a shape; where that cannot be, the model is loaded at each start."""
    text = json.dumps({"stamp": stamp, "shape": asdict(shape)})
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w") as out:
            out.write(text)
        os.replace(temporary, file)
    except OSError as error:
        log.info("the shape of the model is not kept: %s", error)
