"""Rules that hold for every kind: the limit, the note, few counts, nothing changed that fits."""

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunking.tokens import tiktoken_count
from indexing.errors import InvalidInput
from sessions.truncate import cut, shorten
from sessions.truncate.cut import PLANS
from sessions.types import CountTokens
from tests.sessions.truncate.samples import SAMPLES

count = tiktoken_count()


def words(text: str) -> int:
    return len(text.split())


class Counting:
    """A counter that counts its calls and the characters it was given."""

    def __init__(self, counter: CountTokens) -> None:
        self.counter = counter
        self.calls = 0
        self.characters = 0

    def __call__(self, text: str) -> int:
        self.calls += 1
        self.characters += len(text)
        return self.counter(text)


TEXTS = st.one_of(
    st.text(max_size=400),
    st.text(alphabet='ab {}[]":,\n\t|;.()#', max_size=400),
    st.sampled_from([text for _, text in SAMPLES]),
    st.lists(st.sampled_from([text for _, text in SAMPLES]), min_size=2, max_size=4).map("\n".join),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=200),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    ).map(lambda value: json.dumps(value, ensure_ascii=False)),
)


@settings(max_examples=150)
@given(
    text=TEXTS,
    limit=st.integers(1, 200),
    kind=st.none() | st.sampled_from(sorted(PLANS)),
    query=st.sampled_from(["", "price of BX-1", "заказ"]),
    counter=st.sampled_from([count, len, words]),
)
@example(text="🦉" * 100, limit=1, kind="text", query="", counter=count)
def test_no_text_is_over_its_limit(
    text: str, limit: int, kind: str | None, query: str, counter: CountTokens
) -> None:
    made = cut(text, limit, counter, query, kind=kind, reference="turn:7")
    assert counter(made.text) <= limit
    if counter(text) <= limit:
        assert (made.text, made.dropped) == (text, 0)
    else:
        assert made.dropped > 0


@settings(max_examples=100)
@given(
    value=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=300),
        lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
        max_leaves=60,
    ),
    limit=st.integers(4, 120),
    ascii=st.booleans(),
)
def test_json_stays_json(value: object, limit: int, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii)
    json.loads(cut(text, limit, count, kind="json", reference="turn:7").text)


@pytest.mark.parametrize(("kind", "text"), SAMPLES)
def test_what_is_left_out_is_told_with_its_reference(kind: str, text: str) -> None:
    long = text if len(text) > 1200 else "\n".join([text] * (1200 // len(text) + 2))
    made = cut(long, 150, count, reference="turn:7")
    total = count(long)
    assert f"[cut: {made.dropped:,} of {total:,} tokens; all of it: turn:7]" in made.text
    assert total - made.dropped == pytest.approx(count(made.text), abs=2)


@pytest.mark.parametrize("kind", sorted(PLANS))
def test_a_long_text_is_counted_a_few_times(kind: str) -> None:
    sample = next(text for known, text in SAMPLES if known == kind)
    if kind == "json":
        text = json.dumps([json.loads(sample)] * (300_000 // len(sample)))
    else:
        text = f"{sample}\n" * (300_000 // len(sample))
    counting = Counting(words if kind == "html" else len)
    made = cut(text, 4_000, counting, kind=kind)
    assert counting.calls <= 45
    assert counting.characters < 3 * len(text)
    assert made.dropped


def test_one_enormous_line_is_cut_inside() -> None:
    made = cut("слово " * 150_000, 100, count)
    assert made.text.startswith("слово слово слово")
    assert 60 < count(made.text) <= 100


def test_no_sensible_limit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="limit"):
        cut("text", 0, count)
    with pytest.raises(InvalidInput, match="poem"):
        cut("text", 10, count, kind="poem")


def test_without_room_for_the_reference_the_note_is_shorter() -> None:
    text = "word " * 500
    assert cut(text, 5, count, reference="turn:" + "7" * 60).text == "[cut]"
    assert cut(text, 1, count).text == "…"


def test_lines_that_are_kept_are_lines_of_the_text() -> None:
    for kind, text in SAMPLES:
        if kind in ("trace", "log", "table", "code"):
            long = f"{text}\n" * 20
            kept = cut(long, 200, count, kind=kind).text.splitlines()
            ours = re.compile(r"\s*(?:#|//|--)? ?…|(?:(?:#|//|--) )?\[|$")
            lines = set(long.splitlines())
            for line in kept:
                assert ours.match(line) or re.sub(r"  \[×\d+\]$", "", line) in lines, line


def test_a_result_is_indexed_in_at_most_five_hundred_characters() -> None:
    assert shorten("коротко") == "коротко"
    text = "Первая фраза о заказе BX-4471 и его цене. " * 30
    short = shorten(text)
    assert len(short) <= 500
    assert short.startswith("Первая фраза о заказе BX-4471")
    assert "characters]" in short
