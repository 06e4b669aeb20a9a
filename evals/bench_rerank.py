"""How a reranker keeps its time: ``python -m evals.bench_rerank``.

The model is one of real size and no sense: the built-in encoder with a random head over its mean
vector. So its times are those of a small multilingual cross-encoder, and its scores say nothing.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from shutil import copy

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer, processors

from chunking.errors import LetopisError
from configs.settings import load
from evals.command import refused
from evals.timing import milliseconds
from indexing.e5 import HIDDEN
from indexing.weights import e5_folder
from retrieval.rerank.onnx import onnx_reranker
from retrieval.rerank.stage import RerankLimits, RerankStage
from retrieval.rerank.types import Reranker

BUDGETS = (None, 1000.0, 400.0, 120.0, 20.0)
CANDIDATES, QUESTIONS = 50, 5
SYLLABLES = ("ра", "ми", "но", "ста", "ко", "ли", "ве", "до", "the", "re", "mo", "in", "al", "ter")


@contextmanager
def model_folder(encoder: Path) -> Iterator[Path]:
    """Make the folder of a cross-encoder from that of an encoder, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as name:
        folder = Path(name)
        model = onnx.load(str(encoder / "model.onnx"))
        hidden = model.graph.output[0].name
        head = np.random.default_rng(1).normal(size=(HIDDEN, 1)).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(head, "rerank.head"))
        model.graph.node.extend(
            [
                helper.make_node("MatMul", [hidden, "rerank.head"], ["rerank.each"]),
                helper.make_node("ReduceMean", ["rerank.each"], ["rerank"], axes=[1], keepdims=0),
            ]
        )
        del model.graph.output[:]
        model.graph.output.append(helper.make_tensor_value_info("rerank", TensorProto.FLOAT, None))
        onnx.save(model, str(folder / "model.onnx"))
        copy(encoder / "config.json", folder)
        tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
        ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
        )
        tokenizer.save(str(folder / "tokenizer.json"))
        yield folder


def texts(count: int, words: range, seed: int) -> list[str]:
    """Return made-up texts of so many words each."""
    chance = Random(seed)  # noqa: S311

    def word() -> str:
        return "".join(chance.choices(SYLLABLES, k=chance.randint(1, 3)))

    return [" ".join(word() for _ in range(chance.choice(words))) for _ in range(count)]


def rows(model: Reranker) -> Iterator[list[str]]:
    """Yield a line for the model alone, then one a budget; medians over the questions."""
    questions = texts(QUESTIONS, range(5, 12), 1)
    passages = texts(CANDIDATES, range(20, 60), 2)
    model.scores(questions[0], passages)
    alone = [milliseconds(partial(model.scores, question, passages)) for question in questions]
    yield ["the model alone", str(CANDIDATES), f"{np.median(alone):.0f}", f"{max(alone):.0f}", ""]
    stage = RerankStage(lambda: model, RerankLimits(cache=0, timeout=60))
    for budget in BUDGETS:
        found = [stage.rerank(question, passages, budget) for question in questions]
        took = [one.milliseconds for one in found]
        yield [
            "no budget" if budget is None else f"{budget:g} ms",
            f"{np.median([one.scored for one in found]):g}",
            f"{np.median(took):.0f}",
            f"{max(took):.0f}",
            found[-1].note,
        ]
    stage.close()


def main() -> int:
    """Print the table."""
    shown = Table("budget", "scored", "ms, median", "ms, most", "the last note")
    try:
        with model_folder(e5_folder(load().cache_dir.expanduser() / "models")) as folder:
            for row in rows(onnx_reranker(folder)):
                shown.add_row(*row)
    except LetopisError as error:
        return refused(error)
    Console().print(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
