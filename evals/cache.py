"""Embeddings kept on disk between runs: `Cached`, an `Embedder` around another one.

Key: the embedder's name, what the text is (passage or query) and its SHA-256; the text itself is
not stored. Token vectors are kept in half precision. A probe text is embedded at every start:
where the model's answer has changed under the same name, its rows are dropped. Each batch is one
transaction of SQLite.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np

from evals.errors import CacheDamaged
from indexing.dense import Embedder, Matrix, Tokens, token_embedder

SAME = 0.999
"""Cosine from which two vectors of the probe are one model's, on whatever machine."""

_PROBE = "Что сказала Анна о релизе v2.18 в понедельник?"
_PAGE = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS probes (name TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    name TEXT, key BLOB, vector BLOB NOT NULL, PRIMARY KEY (name, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tokens (
    name TEXT, key BLOB, spans BLOB NOT NULL, vectors BLOB NOT NULL, PRIMARY KEY (name, key));
"""


class Cached:
    """An `Embedder` that asks ``inner`` only for texts it has never seen. Thread-safe.

    ``hits`` and ``misses`` count texts. Raises `CacheDamaged`.
    """

    def __init__(self, inner: Embedder, file: Path) -> None:
        self.name = inner.name
        self.dim = inner.dim
        self.max_tokens = inner.max_tokens
        self.tokenizer = inner.tokenizer
        self.hits = 0
        self.misses = 0
        self._inner = inner
        self._file = file
        self._lock = threading.Lock()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CacheDamaged(f"cannot use the cache {file}: {error.strerror}") from error
        with self._mapped():
            self._db = sqlite3.connect(file, timeout=60, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(_SCHEMA)
            self._check_probe()

    def __enter__(self) -> "Cached":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored."""
        with self._lock, self._mapped():
            keys = [_key("passage", text) for text in texts]
            found = self._read(keys)
            missing = {k: text for k, text in zip(keys, texts, strict=True) if k not in found}
            if missing:
                fresh = self._inner.passages(list(missing.values()))
                self._write(list(missing), fresh)
                found.update(zip(missing, fresh, strict=True))
            self.hits += len(texts) - len(missing)
            self.misses += len(missing)
        rows = [found[key] for key in keys]
        return np.stack(rows) if rows else np.empty((0, self.dim), np.float32)

    def query(self, text: str) -> Matrix:
        """Embed one question, shape ``(1, dim)``."""
        key = _key("query", text)
        with self._lock, self._mapped():
            found = self._read([key])
            if key in found:
                self.hits += 1
                return found[key][np.newaxis]
            self.misses += 1
            fresh = self._inner.query(text)
            self._write([key], fresh)
        return fresh

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each passage. Raises `ConfigError` where there are none."""
        inner = token_embedder(self._inner)
        with self._lock, self._mapped():
            keys = [_key("tokens", text) for text in texts]
            found = {key: read for key in keys if (read := self._read_tokens(key))}
            missing = {k: text for k, text in zip(keys, texts, strict=True) if k not in found}
            fresh = inner.tokens(list(missing.values())) if missing else []
            for key, read in zip(missing, fresh, strict=True):
                found[key] = self._write_tokens(key, read)
            self.hits += len(texts) - len(missing)
            self.misses += len(missing)
        return [found[key] for key in keys]

    def _read_tokens(self, key: bytes) -> Tokens | None:
        query = "SELECT spans, vectors FROM tokens WHERE name = ? AND key = ?"
        row = self._db.execute(query, (self.name, key)).fetchone()
        if row is None:
            return None
        spans = np.frombuffer(row[0], np.int32).reshape(-1, 2).astype(np.int64)
        vectors = np.frombuffer(row[1], np.float16).reshape(len(spans), self.dim)
        return Tokens(spans, vectors.astype(np.float32))

    def _write_tokens(self, key: bytes, read: Tokens) -> Tokens:
        """Keep token vectors and return them as they will be read."""
        half = read.vectors.astype(np.float16)
        row = (self.name, key, read.spans.astype(np.int32).tobytes(), half.tobytes())
        with self._db:
            self._db.execute("REPLACE INTO tokens VALUES (?, ?, ?, ?)", row)
        return Tokens(read.spans, half.astype(np.float32))

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise CacheDamaged(
                f"cannot use the cache {self._file}: {error}; it is safe to delete"
            ) from error

    def _check_probe(self) -> None:
        now = self._inner.query(_PROBE)[0].astype(np.float32)
        query = "SELECT vector FROM probes WHERE name = ?"
        stored = self._db.execute(query, (self.name,)).fetchone()
        if stored is not None:
            before = np.frombuffer(stored[0], np.float32)
            if before.shape == now.shape and float(before @ now) >= SAME:
                return
        with self._db:
            self._db.execute("DELETE FROM vectors WHERE name = ?", (self.name,))
            self._db.execute("DELETE FROM tokens WHERE name = ?", (self.name,))
            self._db.execute("REPLACE INTO probes VALUES (?, ?)", (self.name, now.tobytes()))

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        found: dict[bytes, Matrix] = {}
        for start in range(0, len(keys), _PAGE):
            page = keys[start : start + _PAGE]
            marks = ",".join("?" * len(page))
            query = f"SELECT key, vector FROM vectors WHERE name = ? AND key IN ({marks})"  # noqa: S608
            for key, blob in self._db.execute(query, (self.name, *page)):
                found[key] = np.frombuffer(blob, np.float32)
        return found

    def _write(self, keys: Sequence[bytes], rows: Matrix) -> None:
        values = (
            (self.name, key, np.asarray(row, np.float32).tobytes())
            for key, row in zip(keys, rows, strict=True)
        )
        with self._db:
            self._db.executemany("REPLACE INTO vectors VALUES (?, ?, ?)", values)


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{text}".encode()).digest()
