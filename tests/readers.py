"""An embedder with token vectors: a word's vector leans on all the words it is read with."""

import re
from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

from indexing.dense import PassageTooLong, Tokens
from tests.conftest import TinyEmbedder

WORD = re.compile(r"\S+")


def word_tokenizer() -> Tokenizer:
    """Build a tokenizer of one token a word."""
    made = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


class ReadingEmbedder(TinyEmbedder):
    """A `TinyEmbedder` that gives a vector a word. Keeps the windows that it read, call by call."""

    name = "reading"

    def __init__(self, limit: int = 400) -> None:
        super().__init__()
        self.tokenizer = word_tokenizer()
        self.limit = limit
        self.calls: list[list[str]] = []

    @property
    def windows(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        words = [WORD.findall(text) for text in texts]
        if max(map(len, words), default=0) > self.limit:
            raise PassageTooLong(f"a window of over {self.limit} words")
        self.calls.append(list(texts))
        return [self._read(text, found) for text, found in zip(texts, words, strict=True)]

    def _read(self, text: str, words: Sequence[str]) -> Tokens:
        spans = [match.span() for match in WORD.finditer(text)]
        own = self._project(words)
        around = own.mean(axis=0) if words else np.zeros(self.dim, np.float32)
        return Tokens(np.array(spans, np.int64).reshape(-1, 2), own + around)
