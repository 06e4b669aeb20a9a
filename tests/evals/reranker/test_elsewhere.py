"""The signs on made dialogues: a few questions, both ranks between 0 and 1."""

from evals.reranker import made
from evals.reranker.elsewhere import ranks
from evals.reranker.texts import Ask, Passage, Pool


def test_what_tells_moves_up() -> None:
    said = [
        Passage("Did the kayak cost much?", "Tom"),
        Passage("The kayak cost four hundred, a gift to myself", "Ann"),
        Passage("Rain again", "Tom"),
    ]
    pool = Pool("x", "en", said, [Ask("Ann, kayak cost much?", 1)])
    assert list(ranks(pool)) == [(0.5, 1.0)]


def test_made_dialogues_gain() -> None:
    found = list(ranks(next(made.pools("ru", 1, 5))))
    assert len(found) > 20
    before, after = (sum(side) / len(found) for side in zip(*found, strict=True))
    assert 0 < before < after <= 1
