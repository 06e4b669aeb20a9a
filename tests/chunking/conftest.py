"""Tokenizers of several kinds: every property holds for each of them."""

import re

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from chunking.tokens import tiktoken_spans, tokenizer_spans
from chunking.types import TokenSpans

PIECES = ["▁", "▁the", "▁и", "на", "то", "e", "в", "the", "ст", "a", "о", "!", ".", "⁄", "1", "2"]


def regex(pattern: str) -> TokenSpans:
    compiled = re.compile(pattern)
    return lambda text: [match.span() for match in compiled.finditer(text)]


def unigram() -> Tokenizer:
    """Build a tokenizer like multilingual-e5's: NFKC, no token for most white space, <unk>."""
    made = Tokenizer(models.Unigram([("<unk>", 0.0), *((p, -1.0) for p in PIECES)], unk_id=0))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return made


def byte_level() -> Tokenizer:
    """Build a tokenizer of one token a byte: an emoji is four tokens over one character."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return made


SPANS = {
    "words": regex(r"\S+"),
    "words and marks": regex(r"\w{1,5}|[^\w\s]"),
    "tiktoken": tiktoken_spans("cl100k_base"),
    "unigram": tokenizer_spans(unigram()),
    "byte level": tokenizer_spans(byte_level()),
}


@pytest.fixture(scope="session", params=SPANS)
def spans(request: pytest.FixtureRequest) -> TokenSpans:
    return SPANS[request.param]


@pytest.fixture(scope="session")
def words() -> TokenSpans:
    """One token a word, so that golden tests can be counted by hand."""
    return SPANS["words"]
