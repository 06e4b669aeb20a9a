"""Training learns, resumes where it was, and what is exported is what was trained."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from evals.errors import EvalError
from evals.reranker.batches import Order, Row, matrices
from indexing import e5
from indexing.errors import ModelError
from indexing.onnx_model import load_session, padded
from retrieval.rerank.built_in import pair_tokenizer
from retrieval.rerank.trained import dump, parse, quantised

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")

from evals.reranker import precision  # noqa: E402
from evals.reranker.average import average, main  # noqa: E402
from evals.reranker.export import arrays, exported, wide_of  # noqa: E402
from evals.reranker.model import CrossEncoder, Shape  # noqa: E402
from evals.reranker.rounding import watched  # noqa: E402
from evals.reranker.train import Plan, Training, borrowed, held_out, loss_of  # noqa: E402

PAIRS = [
    ("When was the boat sold?", "8 May 2026 Ann: I sold the boat"),
    ("Где кот?", "Кот дома"),
    ("a", "Tom: no, and the rest of it is a longer text than the others here"),
]


@pytest.fixture(scope="session")
def tokenizer(file: e5.E5File, kept: Sequence[int]) -> Any:
    return pair_tokenizer([file.pieces[i] for i in kept], [float(file.scores[i]) for i in kept])


def model(file: e5.E5File, kept: Sequence[int], layers: tuple[int, ...] = (0,)) -> CrossEncoder:
    torch.manual_seed(3)
    return CrossEncoder(file, kept, Shape(layers))


def training(file: e5.E5File, kept: Sequence[int], steps: int) -> Training:
    return Training(Plan(steps, 2, size=2, rate=1e-3, warmup=2, layers=(0,)), model(file, kept))


def learn(made: Training, rows: list[Row], tokenizer: Any, upto: int) -> list[float]:
    order = Order(rows, {}, 2, 1)
    return [made.learn(order.step(made.step), tokenizer) for _ in range(upto - made.step)]


def test_it_learns_and_resumes_to_the_same_loss(
    file: e5.E5File, kept: Sequence[int], tokenizer: Any, rows: list[Row], tmp_path: Path
) -> None:
    whole = training(file, kept, 12)
    losses = learn(whole, rows, tokenizer, 12)
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    assert held_out(whole.model, rows, tokenizer)["all"] > 0.5

    first = training(file, kept, 12)
    assert not first.resume(tmp_path)
    learn(first, rows, tokenizer, 6)
    first.save(tmp_path)
    second = training(file, kept, 12)
    assert second.resume(tmp_path)
    assert second.step == 6
    assert learn(second, rows, tokenizer, 12) == pytest.approx(losses[6:], abs=1e-5)
    for name in ("sides", "first.weight", "layers.0.out.weight"):
        assert torch.allclose(second.mean[name], whole.mean[name], atol=1e-4), name


def test_only_the_last_checkpoints_are_kept(
    file: e5.E5File, kept: Sequence[int], tmp_path: Path
) -> None:
    made = training(file, kept, 9)
    for made.step in range(1, 6):
        made.save(tmp_path)
    assert [one.name for one in sorted(tmp_path.iterdir())] == [
        f"step-00000{n}.pt" for n in (3, 4, 5)
    ]


def test_the_average_of_checkpoints_is_exported_like_one(
    file: e5.E5File, kept: Sequence[int], rows: list[Row], tokenizer: Any, tmp_path: Path
) -> None:
    made = training(file, kept, 4)
    files = []
    for step in (1, 3):
        learn(made, rows, tokenizer, step)
        files.append(made.save(tmp_path))
    out = tmp_path / "average.pt"
    assert main([*map(str, files), "--out", str(out)]) == 0
    one, two, both = (
        torch.load(each, weights_only=True)["mean"]["sides"] for each in (*files, out)
    )
    assert not torch.allclose(one, two)
    assert torch.allclose(both, (one + two) / 2)
    assert parse(exported(out, 1.0, 0.0, {})).meta["steps"] == 3
    assert average(files[:1])["step"] == 1
    assert main([*map(str, files), "--shares", "3", "1", "--out", str(out)]) == 0
    weighed = torch.load(out, weights_only=True)["mean"]["sides"]
    assert torch.allclose(weighed, 0.75 * one + 0.25 * two)


@pytest.mark.parametrize("shares", [["1"], ["1", "-1"], ["1", "1", "1"]])
def test_shares_that_are_none_are_refused(
    shares: list[str],
    file: e5.E5File,
    kept: Sequence[int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = str(training(file, kept, 1).save(tmp_path))
    assert main([one, one, "--shares", *shares, "--out", str(tmp_path / "c.pt")]) == 1
    assert "one share a checkpoint" in capsys.readouterr().err


def test_what_was_exported_is_trained_further(
    file: e5.E5File, kept: Sequence[int], rows: list[Row], tokenizer: Any, tmp_path: Path
) -> None:
    made = training(file, kept, 12)
    learn(made, rows, tokenizer, 12)
    whole, small = made.save(tmp_path), tmp_path / "small.npz"
    small.write_bytes(exported(whole, 1.0, 0.0, {}))
    assert exported(small, 1.0, 0.0, {}) == small.read_bytes()
    further = training(file, kept, 14)
    further.begin(small)
    assert further.step == 0
    for name, value in made.mean.items():
        if name != "weigh.bias":
            off = (further.mean[name] - value).abs().max()
            assert off <= value.abs().max() / 126 + 1e-6, name
    before = {name: value.clone() for name, value in further.mean.items()}
    learn(further, rows, tokenizer, 2)
    assert not torch.allclose(before["sides"], further.mean["sides"], atol=1e-6)
    other = Training(Plan(1, 1, layers=(0, 1)), model(file, kept, (0, 1)))
    with pytest.raises(EvalError, match="has 1 layers"):
        other.begin(small)


def test_negatives_can_be_the_answers_of_other_questions(rows: list[Row]) -> None:
    answers = {passages[0] for _, _, passages in rows}
    found = borrowed(rows[:4], 3, Random(1))
    for (_, query, passages), (_, asked, held) in zip(found, rows[:4], strict=True):
        assert (query, passages[0]) == (asked, held[0])
        assert len(set(passages)) == 4
        assert set(passages) <= answers


def test_words_are_trained_where_asked_for(
    file: e5.E5File, kept: Sequence[int], rows: list[Row], tokenizer: Any
) -> None:
    plan = Plan(2, 1, size=2, warmup=1, rate=1e-3, layers=(0,), words=True)
    made = Training(plan, CrossEncoder(file, kept, plan.shape))
    before = made.model.words.weight.detach().clone()
    learn(made, rows, tokenizer, 1)
    assert not torch.equal(before, made.model.words.weight)
    assert "words.weight" in made.mean


def test_checkpoints_of_other_layers_are_refused(
    file: e5.E5File, kept: Sequence[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for name, layers in (("a", (0,)), ("b", (0, 1))):
        plan = Plan(1, 1, layers=layers)
        files.append(str(Training(plan, model(file, kept, layers)).save(tmp_path / name)))
    assert main([*files, "--out", str(tmp_path / "c.pt")]) == 1
    assert "different layers" in capsys.readouterr().err
    assert not (tmp_path / "c.pt").exists()


def test_the_loss_is_that_of_a_choice_and_of_each_pair() -> None:
    logits = torch.tensor([2.0, 0.0, 1.0])
    choice = np.log(np.exp([2.0, 0.0, 1.0]).sum()) - 2
    each = np.mean([np.log1p(np.exp(-2.0)), np.log(2.0), np.log1p(np.exp(1.0))])
    assert float(loss_of(logits, 1, 0.3)) == pytest.approx(choice + 0.3 * each, abs=1e-6)


def test_the_rate_warms_up_stays_and_falls() -> None:
    plan = Plan(100, 20, warmup=10)
    assert [plan.factor(step) for step in (0, 9, 50, 90, 100)] == [0.1, 1.0, 1.0, 0.5, 0.0]


def test_words_and_their_norm_are_not_trained(file: e5.E5File, kept: Sequence[int]) -> None:
    made = model(file, kept)
    assert not made.words.weight.requires_grad
    assert not [name for name in made.trained() if name.startswith(("words", "norm"))]


def test_a_matrix_is_rounded_once() -> None:
    matrix = np.random.default_rng(1).normal(size=(4, 32)).astype(np.float32)
    matrix[2] = 0
    whole, scale = quantised(matrix)
    assert whole.dtype == np.int8
    assert np.abs(whole).max() == 63
    assert np.abs(whole * scale[:, None] - matrix).max() <= scale.max() / 2 + 1e-7
    again, same = quantised(whole * scale[:, None])
    assert (again == whole).all()
    assert same == pytest.approx(scale)


def test_the_graph_answers_what_the_trained_model_does(
    file: e5.E5File, kept: Sequence[int], tokenizer: Any, tmp_path: Path
) -> None:
    from indexing.e5_graph import MATMULS
    from retrieval.rerank import graph

    made = model(file, kept, (0, 1))
    with torch.no_grad():
        for part in (made.sides, made.first.weight, made.weigh.weight):
            part.add_(torch.randn_like(part) * 0.1)
    packed = arrays(made.trained())
    for name, matrix in packed.items():  # give torch what the file holds
        if name.endswith(".scale"):
            rounded = packed[name.removesuffix(".scale")] * matrix[:, None]
            _put(made, name.removesuffix(".w.scale"), rounded)
    data = dump(packed, {"layers": 2, "scale": 2.0, "shift": -1.0})
    assert data == dump(packed, {"layers": 2, "scale": 2.0, "shift": -1.0})
    read = tokenizer.encode_batch(PAIRS)
    with torch.no_grad():
        wanted = 2 * made(*map(torch.from_numpy, matrices(read))).numpy() - 1
    feed = {
        "input_ids": padded([row.ids for row in read], e5.PAD),
        "attention_mask": padded([row.attention_mask for row in read]),
        "token_type_ids": padded([row.type_ids for row in read]),
    }
    for way, tolerance in (("float", 2e-4), ("int8", 0.35)):
        (tmp_path / "model.onnx").write_bytes(graph.model(file, parse(data), kept, MATMULS[way]))
        (found,) = load_session(tmp_path, 1).run(None, feed)
        assert found.shape == (len(PAIRS),)
        assert found == pytest.approx(wanted, abs=tolerance), way


def test_what_it_has_seen_makes_the_file_answer_as_the_model(
    file: e5.E5File,
    kept: Sequence[int],
    rows: list[Row],
    tokenizer: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = model(file, kept, (0, 1)).eval()
    with torch.no_grad():
        made.first.weight.add_(torch.randn_like(made.first.weight) * 0.3)
    seen = watched(made, rows, tokenizer)
    assert wide_of(seen)["l0.fi"]  # E5's own wide channels
    monkeypatch.setattr(e5, "russian_english", lambda _: kept)
    state = {"layers": (0, 1), "mean": made.trained()}
    found = list(precision.compared(state, seen, made, rows[:8], tokenizer))
    assert [name for name, *_ in found] == list(precision.WAYS)
    plain, apart, _, both = (off for _, off, _, _ in found)
    assert 0 < apart < plain
    assert both < 0.5 * plain


def _put(made: CrossEncoder, name: str, matrix: Any) -> None:
    layer_name, part = name.split(".")
    layer = made.layers[int(layer_name[1:])]
    with torch.no_grad():
        if part in "qkv":
            at = "qkv".index(part) * e5.HIDDEN
            layer.qkv.weight[at : at + e5.HIDDEN] = torch.from_numpy(matrix)
        else:
            target = {"ao": layer.out, "fi": layer.wide, "fo": layer.narrow}[part]
            target.weight.copy_(torch.from_numpy(matrix))


def test_a_checkpoint_is_exported_with_what_is_known_of_it(
    file: e5.E5File, kept: Sequence[int], tmp_path: Path
) -> None:
    made = training(file, kept, 9)
    made.step = 4
    held = parse(exported(made.save(tmp_path), 1.5, -0.5, {"seed": 7}))
    assert (held.meta["scale"], held.meta["shift"], held.meta["seed"]) == (1.5, -0.5, 7)
    assert held.meta["steps"] == 4
    whole, scales = held.blocks("l0.q.w", e5.HIDDEN)
    dense = ((whole - 8) * scales[..., None]).reshape(e5.HIDDEN, e5.HIDDEN)
    wanted = made.mean["layers.0.qkv.weight"][: e5.HIDDEN].numpy()
    assert np.abs(dense - wanted).max() <= scales.max() / 2 + 1e-6


def test_a_damaged_file_is_named() -> None:
    with pytest.raises(ModelError, match="the trained reranker's file is damaged"):
        parse(b"nothing of the kind")


def test_the_pair_is_read_as_the_model_was_trained(tokenizer: Any) -> None:
    read = tokenizer.encode("a", "b")
    tokens = read.ids
    assert (tokens[0], tokens[-1]) == (e5.BOS, e5.EOS)
    middle = tokens.index(e5.EOS)
    assert tokens[middle : middle + 2] == [e5.EOS, e5.EOS]
    assert read.type_ids == [0] * (middle + 1) + [1] * (len(tokens) - middle - 1)
