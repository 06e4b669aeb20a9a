"""Near duplicates through the product: the arithmetic of the table, and facts to be timed."""

from evals.duplicates import AGAIN, facts, table
from evals.near_duplicates import Pair
from indexing.dedup import decide, exact_key, gist


def _pair(part: str, merge: bool) -> Pair:
    return Pair(part, merge, "order", "en", "a", "b")


def test_one_memory_is_a_merge() -> None:
    pairs = [_pair("tuned", True), _pair("tuned", True), _pair("tuned", False), _pair("new", False)]
    found = table(pairs, {"at write": [1, 2, 2, 1], "nightly": [1, 1, 2, 2]})
    assert "| tuned | at write | 1 | 0 | 2 | 1 | 1.000 | 0.500 |" in found
    assert "| new | at write | 1 | 1 | 0 | 0 | 0.000 | - |" in found
    # 1 of 2 merges is right, 1 of 2 paraphrases was merged
    assert "| all | at write | 2 | 1 | 2 | 1 | 0.500 | 0.500 |" in found
    assert "| all | nightly | 2 | 0 | 2 | 2 | 1.000 | 1.000 |" in found


def test_one_fact_in_twenty_is_said_again_and_no_other() -> None:
    told = list(facts(2_000))
    again = 2_000 // AGAIN
    assert (len(told), len({exact_key(text) for text in told})) == (2_000, 2_000)
    assert len({gist(text) for text in told}) == 2_000 - again
    assert all(decide(*pair).merge for pair in zip(told[:again], told[-again:], strict=True))
