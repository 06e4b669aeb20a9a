"""Sources, overlap with the evaluation sets, hard negatives, files."""

import json
from datetime import date
from pathlib import Path
from random import Random

import numpy as np
import pytest

from evals.reranker import batches, data, mine, sources, talks
from evals.reranker.overlap import Known, evaluation_texts
from evals.reranker.texts import Ask, Passage, Pool, as_json, of_json
from tests.conftest import TinyEmbedder

TURN = Passage("I sold the boat", "Ann", date(2026, 5, 8), "Tom: and the boat?")


def pool(count: int = 60) -> Pool:
    words = [
        "river",
        "stone",
        "market",
        "winter",
        "garden",
        "letter",
        "piano",
        "candle",
        "bridge",
        "copper",
    ]
    made = Pool("made", "en")
    for number in range(count):
        text = f"{words[number % 10]} and {words[(number * 7 + 3) % 10]} number {number}"
        made.passages.append(Passage(text, "Ann" if number % 2 else "Tom"))
        made.asks.append(Ask(f"what about number {number} {words[number % 10]}", number))
    return made


def test_a_turn_is_rendered_as_the_product_does_or_with_the_turn_before() -> None:
    assert TURN.shown() == "8 May 2026 Ann: I sold the boat"
    assert TURN.shown(before=True).endswith("I sold the boat Tom: and the boat?")
    assert Passage("Жара", "Оля", date(2026, 5, 8)).shown() == "8 мая 2026 Оля: Жара"
    assert Passage("x", title="Manual › Start").shown() == "Manual › Start: x"
    found = {TURN.varied(Random(seed)) for seed in range(60)}
    assert found == {TURN.text, TURN.shown(), TURN.shown(before=True)}
    assert of_json(json.loads(json.dumps(as_json(TURN)))) == TURN


def test_what_is_close_to_an_evaluation_set_is_removed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    rows = [
        {"_id": "1", "text": "The ferry to the island left at seven in the morning on Sunday"},
        {"_id": "2", "text": "short text", "title": "A title of its own"},
    ]
    (tmp_path / "one" / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    known = Known(evaluation_texts(tmp_path))
    assert "The ferry to the island left at seven in the morning" in known
    assert "Short TEXT!" in known
    assert "a title of its own" in known
    assert "The ferry to the island was late" not in known
    held = Pool(
        "x",
        "en",
        [Passage("short text"), Passage("something else"), Passage("a third")],
        [Ask("q one", 0), Ask("q two", 1, (0, 2)), Ask("Short text", 2)],
    )
    assert data.without([held], known) == (2, 1)
    assert [passage.text for passage in held.passages] == ["something else", "a third"]
    assert held.asks == [Ask("q two", 0, (1,))]


def test_negatives_are_no_answers_and_the_same_by_the_same_seed(embedder: TinyEmbedder) -> None:
    made = pool()
    found = list(mine.lists(made, embedder, seed=1))
    assert found == list(mine.lists(made, embedder, seed=1))
    assert found != list(mine.lists(made, embedder, seed=2))
    assert len(found) > 30
    for one in found:
        number = one.query.split()[3]
        assert one.passages[0].text.endswith(f"number {number}")
        assert len(set(one.passages)) == 1 + mine.NEGATIVES
        assert not any(other.text.endswith(f" {number}") for other in one.passages[1:])


def test_a_passage_that_beats_the_answer_in_both_branches_is_no_negative() -> None:
    scores = np.linspace(0, 1, 200, dtype=np.float32)
    scores[0], scores[1] = 1.0, 9.0
    chosen = mine.negatives(Ask("q", 0), [scores, scores], {0}, Random(1))
    assert chosen is not None
    assert 1 not in chosen
    assert 0 not in chosen
    alone = mine.negatives(Ask("q", 0), [scores, np.zeros(200, np.float32)], {0, 5}, Random(1))
    assert alone is not None
    assert 5 not in alone


def test_a_question_whose_answer_cannot_be_found_is_dropped() -> None:
    scores = np.arange(400, dtype=np.float32)
    assert mine.negatives(Ask("q", 3), [scores, scores], {3}, Random(1)) is None
    assert mine.negatives(Ask("q", 399), [scores, scores], {399}, Random(1)) is not None
    few = np.arange(9, dtype=np.float32)
    assert mine.negatives(Ask("q", 8), [few, few], {8}, Random(1)) is None


def test_bm25_prefers_rare_words() -> None:
    scores = mine.Bm25(["a cat", "a dog", "a cat and a bird"]).scores("a bird")
    assert int(scores.argmax()) == 2
    assert scores.shape == (3,)


def test_small_talk_becomes_a_memory_with_questions(tmp_path: Path) -> None:
    said = [
        ("a", "hello there"),
        ("b", "hi. what do you study at school?"),
        ("a", "i study marine biology and i love it"),
        ("b", "cool. did you grow up near the sea?"),
        ("a", "yes, in a small harbor town in Maine"),
        ("b", "nice"),
        ("a", "i visited the aquarium in Boston last week"),
        ("b", "haha ok"),
    ]
    messages = [[{"sender": who, "text": text}] for who, text in said]
    file = tmp_path / "dataset.json"
    file.write_text(json.dumps({str(n): {"messages": messages} for n in range(60)}))
    (made,) = talks.pools(file, 1, seed=1)
    assert len(made.passages) >= talks.TURNS
    assert len({passage.speaker for passage in made.passages}) == 2
    asked = [ask for ask in made.asks if "grow up near the sea" in ask.query]
    assert asked
    for ask in asked:
        answer = made.passages[ask.answer]
        assert "harbor town" in answer.text
        assert ask.query == f"Did {answer.speaker} grow up near the sea?"
    assert made == next(talks.pools(file, 1, seed=1))


def test_documents_are_cut_and_capped(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    rows = [
        {
            "lang": "en",
            "source": "squad_nqg_test",
            "query": f"who won the cup ( in {n} ) ?",
            "passage": f"the cup of {n} was won by nobody , " + "word " * 200,
        }
        for n in range(30)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    found = [one for one in sources.documents(file, 1) if one.source == "squad_nqg_test"]
    assert len(found) == 1
    assert found[0].asks[0].query == "Who won the cup (in 0)?"
    assert all(len(passage.text) <= 400 for passage in found[0].passages)
    assert found[0].passages[3].text.startswith("The cup of 3 was won by nobody, word")


def test_lists_are_read_back_in_an_order_that_the_step_decides(tmp_path: Path) -> None:
    data.write(tmp_path / "a.jsonl", mine.lists(pool(), TinyEmbedder(), seed=1))
    rows, held = batches.read(tmp_path)
    assert rows
    assert held
    order = batches.Order(rows, {"made-en": 1.0}, size=2, seed=3)
    steps = [order.step(step) for step in range(len(order))]
    assert [batches.Order(rows, {}, 2, 3).step(step) for step in (5, 2)] == [steps[5], steps[2]]
    seen = [row[1] for step in steps for row in step]
    whole = len(order) // batches.WINDOW * batches.WINDOW * 2
    assert len(set(seen[:whole])) == whole
    assert order.step(len(order) + 1)


def test_a_source_with_no_share_is_left_out() -> None:
    rows: list[batches.Row] = [
        (name, f"{name} {n}", (TURN,)) for name in ("a-en", "b-en") for n in range(20)
    ]
    order = batches.Order(rows, {"a-en": 0.0, "b-en": 0.5}, size=2, seed=3)
    assert {row[0] for step in range(20) for row in order.step(step)} == {"b-en"}


@pytest.mark.parametrize("text", ["x", "a very short text"])
def test_cutting_leaves_short_texts(text: str) -> None:
    assert sources.cut(text, 100) == text


def test_help_of_two_languages_is_asked_across(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {
        "ru": ("Как сохранить файл", "Откройте меню и выберите, куда сохранить документ. "),
        "en-US": ("How to save a file", "Open the menu and choose where the document is kept. "),
    }
    for folder, (heading, text) in said.items():
        page = tmp_path / folder / "text" / "shared" / "save.html"
        page.parent.mkdir(parents=True)
        section = f'<h1 id="one" dir="auto">{heading}</h1><p>{text * 3}</p>'
        alone = f'<h2 id="{folder}">{heading} 2</h2><p>{text * 3}</p>'  # of one language only
        page.write_text(f'<div id="DisplayArea">{section}{alone}</div>', encoding="utf-8")
    monkeypatch.setattr(sources, "HELP", tmp_path)
    russian, english = sources.crossed(seed=1)
    assert [(p.lang, len(p.passages), len(p.asks)) for p in (russian, english)] == [
        ("ru", 2, 1),
        ("en", 2, 1),
    ]
    (ask,) = russian.asks
    assert ask.query == "Как сохранить файл"
    assert russian.passages[ask.answer].text.startswith("Open the menu")
    assert russian.passages[ask.also[0]].text.startswith("Откройте меню")
    assert english.passages[english.asks[0].answer].text.startswith("Откройте меню")
