"""Long passages in windows: nothing is lost, everything fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from retrieval.rerank.windows import Ruler, frame
from tests.retrieval.rerank.conftest import tokenizer


def pieces() -> Tokenizer:
    """Return a WordPiece tokenizer: a word cut in two has other pieces than the whole one."""
    letters = "абвгд"
    vocab = ["[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{a}{b}" for a in letters for b in letters)]
    made = Tokenizer(models.WordPiece({p: i for i, p in enumerate(vocab)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return made


def byte_level() -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = decoders.ByteLevel()
    return made


RULERS = [Ruler(), Ruler(tokenizer()), Ruler(pieces()), Ruler(byte_level())]


def test_windows_spell_out() -> None:
    ruler = Ruler(tokenizer())
    around = frame("cat", 10, 0, ruler)  # 3 special tokens and the query leave 6
    assert (around.room, around.around, around.cut_from) == (6, 4, 0)
    passage = "a b c d e f g h i j"
    assert [tuple(w) for w in around.windows(passage, 2, ruler)] == [
        ("a b c d e f", 10),
        ("e f g h i j", 10),
    ]
    assert [w.text for w in around.windows("a b c d e f", 2, ruler)] == ["a b c d e f"]
    assert [tuple(w) for w in around.windows(" x ", 2, ruler)] == [(" x ", 5)]
    assert [tuple(w) for w in around.windows("", 2, ruler)] == [("", 4)]


def test_a_window_can_be_smaller_than_the_model() -> None:
    ruler = Ruler(tokenizer())
    around = frame("cat", 100, 3, ruler)
    assert [w.text for w in around.windows("a b c d e", 1, ruler)] == ["a b c", "c d e"]


def test_overlap_is_at_most_half_a_window() -> None:
    ruler = Ruler(tokenizer())
    windows = frame("cat", 100, 4, ruler).windows("a b c d e f", 50, ruler)
    assert [w.text for w in windows] == ["a b c d", "c d e f"]


def test_a_long_query_leaves_half_to_the_passage() -> None:
    ruler = Ruler(tokenizer())
    around = frame("cat dog " * 50, 23, 0, ruler)
    assert (around.cut_from, around.query) == (100, "cat dog " * 4 + "cat dog")
    assert (around.around, around.room) == (13, 10)


def test_characters_stand_for_tokens_where_there_is_no_tokenizer() -> None:
    ruler = Ruler()
    around = frame("abcd", 10, 0, ruler)  # 4 for special tokens, 2 for the query
    assert around.room == 4
    assert [w.text for w in around.windows("0123456789ab", 2, ruler)] == ["01234567", "456789ab"]


BY = pytest.mark.parametrize("ruler", RULERS, ids=["characters", "words", "pieces", "bytes"])


@BY
@given(
    passage=st.text(st.sampled_from("абвгд \n.ёé👩‍👩‍👧字"), max_size=200),
    query=st.text(st.sampled_from("абв дg"), max_size=60),
    limit=st.integers(24, 60),
    window=st.integers(0, 30),
    overlap=st.integers(0, 40),
)
def test_every_window_fits_and_is_a_piece_of_the_passage(
    ruler: Ruler, passage: str, query: str, limit: int, window: int, overlap: int
) -> None:
    around = frame(query, limit, window, ruler)
    assert around.room >= min(window or limit, (limit - ruler.added()) // 2) > 0
    for piece in around.windows(passage, overlap, ruler):
        assert piece.text in passage
        assert len(ruler.spans(piece.text)) + around.around == piece.tokens <= limit
        if ruler.tokenizer is not None:
            assert len(ruler.tokenizer.encode(around.query, piece.text).ids) == piece.tokens


@BY
@given(
    letters=st.integers(0, 128),
    word=st.integers(1, 50),
    window=st.integers(5, 30),
    overlap=st.integers(0, 40),
)
def test_no_letter_of_a_passage_is_lost(
    ruler: Ruler, letters: int, word: int, window: int, overlap: int
) -> None:
    each = [chr(0x430 + i) for i in range(letters)]
    passage = " ".join("".join(each[at : at + word]) for at in range(0, letters, word))
    windows = frame("q", 60, window, ruler).windows(passage, overlap, ruler)
    assert set(each) <= set("".join(piece.text for piece in windows))
