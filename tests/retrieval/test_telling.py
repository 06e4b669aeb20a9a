"""What a turn tells: its signs, and the stage that weighs them."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from chunking.types import Session
from chunking.types import Turn as Said
from configs.retrieval_settings import RetrievalSettings, UserSettings
from indexing.ingest import ingest_chats
from indexing.types import user_scope
from retrieval.retriever import Retriever
from retrieval.stages import Telling
from retrieval.telling import STATED, Turn, Weights, asked, signs, telling
from retrieval.trace import Log
from tests.conftest import PartsMaker

NONE = Weights(0, 0, 0, 0, 0, 0)


def test_the_one_who_is_named_is_known_by_any_form_of_the_name() -> None:
    said = Turn("Катя", "Купила машину")
    assert signs(asked("Какую машину у Кати угнали?"), said)[0] == 1
    assert signs(asked("Какую машину угнали у Оли?"), said)[0] == 0
    assert signs(asked("What did Katherine's car cost?"), Turn("Katherine", "a lot"))[0] == 1
    assert signs(asked("who?"), Turn("", "x"))[0] == 0


def test_a_turn_asks_by_the_share_of_its_sentences_that_do() -> None:
    assert signs(asked("q"), Turn("A", "Really?"))[1] == 1
    assert signs(asked("q"), Turn("A", "I do. You?"))[1] == pytest.approx(5 / 10)
    assert signs(asked("q"), Turn("A", "I do."))[1] == 0
    assert signs(asked("q"), Turn("A", ""))[1] == 0
    assert signs(asked("q"), Turn("A", "Да. А ты?"))[2] == pytest.approx(math.log(STATED + 3))


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("When did she leave?", "last week", 1),
        ("Когда она уехала?", "уехала в прошлый вторник", 1),
        ("В каком году это было?", "в 2019", 1),
        ("How long have they known each other?", "for ten years", 1),
        ("When did she leave?", "she left", 0),
        ("Where did she go?", "last week", 0),
        ("Где она?", "вчера уехала", 0),
    ],
)
def test_a_question_for_a_time_wants_a_time(query: str, text: str, found: int) -> None:
    assert signs(asked(query), Turn("A", text))[3] == found


def test_digits_and_a_question_before() -> None:
    assert signs(asked("q"), Turn("A", "room 12", "B: where is it?"))[4:] == (1, 1)
    assert signs(asked("q"), Turn("A", "room twelve", "B: it is there."))[4:] == (0, 0)


def test_turns_as_a_whole_neither_gain_nor_lose() -> None:
    turns = [Turn("A", "one"), None, Turn("B", "two?"), None]
    added = telling("A?", turns, Weights())
    assert added[[1, 3]].tolist() == [0, 0]
    assert added.sum() == pytest.approx(0)
    assert added[0] > added[2]
    assert telling("A?", [None], Weights()).tolist() == [0]
    assert telling("A?", [], Weights()).shape == (0,)
    only = telling("A?", turns, replace(NONE, asking=-1))
    assert only == pytest.approx([0.5, 0, -0.5, 0])


@pytest.fixture
def retriever(make_parts: PartsMaker) -> Retriever:
    parts = make_parts(
        retrieval=RetrievalSettings(user=UserSettings(dense_threshold=None), least_confidence=0)
    )
    at = datetime(2026, 5, 8, tzinfo=UTC)
    said = (
        ("Tom", "Did the red kayak cost much?"),
        ("Ann", "The red kayak cost four hundred, it was a gift to myself."),
        ("Tom", "A red kayak?"),
    )
    turns = (Said(str(n), "user", text, who, at) for n, (who, text) in enumerate(said, 1))
    ingest_chats(parts.index, user_scope("u"), [Session("s", tuple(turns))])
    return parts.retriever


def test_what_tells_comes_before_what_asks(retriever: Retriever) -> None:
    asked = "red kayak cost, Ann?"
    off = replace(retriever, telling=None).retrieve(asked, "u")
    on = retriever.retrieve(asked, "u", explain=True)
    assert on.hits[0].memory.turn_id == "2"
    assert {hit.memory.id for hit in on} == {hit.memory.id for hit in off}
    scores = [hit.score for hit in on]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0
    assert {hit.memory.id: hit.fused for hit in on} == {hit.memory.id: hit.fused for hit in off}
    assert "telling" in {stage.name for stage in on.trace.stages}


def test_only_the_first_candidates_are_weighed(retriever: Retriever) -> None:
    hits = replace(retriever, telling=None).retrieve("red kayak", "u").hits
    assert len(hits) == 3
    stage = Telling(candidates=2)
    found = stage("red kayak", hits, Log())
    assert found[2] == hits[2]
    assert {hit.memory.id for hit in found[:2]} == {hit.memory.id for hit in hits[:2]}
    assert Telling(strength=0)("red kayak", hits, Log()) == list(hits)
    turns = [Turn(one.memory.speaker, one.memory.text, one.memory.before) for one in hits[:2]]
    fused = np.array([hit.score for hit in hits[:2]])
    wanted = fused + fused.std() * telling("red kayak", turns, Weights())
    assert sorted(hit.score for hit in found[:2]) == pytest.approx(sorted(np.maximum(wanted, 0)))
    assert fused.std() > 0
