"""Parts of the tiny real models that tests make: tokenizers of some words, ONNX files, BERTs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
"""The first words of every vocabulary; the place is the id."""


def word_level(words: Sequence[str]) -> Tokenizer:
    """Build a tokenizer of one token a word, with `SPECIAL` around a text and between two."""
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[("<s>", 1), ("</s>", 2)],
    )
    return made


def save_onnx(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    constants: Mapping[str, Any],
    output: str,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
) -> None:
    """Write ``model.onnx``: integer inputs of shape ``(batch, length)``, one output of floats."""
    shape: list[Any] = ["batch", "length"]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))


def save_bert(
    place: Path, words: Sequence[str], max_tokens: int, labels: int = 0, **config: Any
) -> None:
    """Save a random BERT of one layer in the layout of transformers; ``labels`` gives it a head."""
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        BertModel,
        PreTrainedTokenizerFast,
    )

    chosen = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=max_tokens,
        **({"num_labels": labels} if labels else {}),
        **config,
    )
    (BertForSequenceClassification if labels else BertModel)(chosen).save_pretrained(place)
    PreTrainedTokenizerFast(
        tokenizer_object=word_level(words),
        pad_token="<pad>",
        unk_token="<unk>",
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=max_tokens,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(place)
