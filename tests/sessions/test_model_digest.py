"""A model's prose for a digest, asked over HTTP and held against the source."""

import json
from typing import Any

import pytest

from retrieval.completions import ChatModel
from sessions.model_digest import ModelDigest, read_answer
from sessions.types import Digest
from tests.endpoint import Answer, Endpoint, serving
from tests.sessions.spoken import line, talk, words

TURNS = talk(
    "The budget of project Orion is 300000 rubles.",
    "Noted.",
    "We decided to use Postgres.",
    "Should we include archived projects?",
    "No.",
)
DIGEST = Digest(
    "s",
    "u",
    1,
    5,
    None,
    None,
    ("Orion",),
    (
        line("fact", "The budget of project Orion is 300000 rubles.", 1),
        line("decision", "We decided to use Postgres.", 3),
        line("rejected", "No.", 5, of="Should we include archived projects?"),
    ),
)


def _saying(content: object) -> Answer:
    reply = {"choices": [{"message": {"content": content}}]}
    return lambda _: (200, json.dumps(reply).encode())


def _worded(server: Endpoint, **more: Any) -> ModelDigest:
    chat = ChatModel(server.url(), "tiny", timeout=5, section="digest")
    return ModelDigest(chat, words, **more)


def test_a_model_fills_the_summary_and_the_topics_and_no_line() -> None:
    answer = json.dumps(
        {"summary": "Orion costs 300000 rubles. Postgres is used.", "topics": ["Orion budget"]}
    )
    with serving(_saying(f"Here it is:\n```json\n{answer}\n```")) as server:
        told = _worded(server, instruction="Keep the prices.")(DIGEST, TURNS)
    assert told.digest.summary == "Orion costs 300000 rubles. Postgres is used."
    assert told.digest.topics == ("Orion budget",)
    assert told.digest.lines == DIGEST.lines
    assert told.details == {
        "by": "model",
        "model": "tiny",
        "rejected_sentences": 0,
        "rejected_topics": 0,
    }
    ((_, _, body),) = server.seen
    instructions, data = body["messages"]
    assert "Keep the prices." in instructions["content"]
    assert "user: We decided to use Postgres." in data["content"]


def test_a_sentence_with_a_number_or_a_name_of_its_own_is_rejected() -> None:
    answer = {
        "summary": "Postgres is used. Orion costs 500000 rubles. Karpov asked for Postgres.",
        "topics": ["Postgres", "MySQL 8"],
    }
    with serving(_saying(json.dumps(answer))) as server:
        told = _worded(server)(DIGEST, TURNS)
    assert told.digest.summary == "Postgres is used."
    assert told.digest.topics == ("Postgres",)
    assert told.details["rejected_sentences"] == 2
    assert told.details["rejected_topics"] == 1


def test_a_sentence_that_takes_up_a_rejected_idea_is_rejected() -> None:
    answer = {"summary": "Postgres is used. Projects from the archive are included.", "topics": []}
    with serving(_saying(json.dumps(answer))) as server:
        told = _worded(server)(DIGEST, TURNS)
    assert told.digest.summary == "Postgres is used."


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (_saying("I cannot do that."), "no JSON object"),
        (_saying(None), "no JSON object"),
        (_saying('{"summary": "It costs 9999."}'), "no sentence"),
        (_saying('{"summary": 5, "topics": {}}'), "no sentence"),
        (lambda _: (500, b"boom"), "no answer"),
        (lambda _: (200, b"not json"), "no JSON object"),
    ],
)
def test_falls_back_to_the_rules_and_says_why(answer: Answer, why: str) -> None:
    with serving(answer) as server:
        told = _worded(server)(DIGEST, TURNS)
    assert told.digest == DIGEST
    assert told.details["by"] == "rules"
    assert why in told.details["why"]


def test_sends_the_newest_turns_that_fit() -> None:
    with serving(_saying('{"summary": "Postgres is used."}')) as server:
        _worded(server, source_tokens=32)(DIGEST, TURNS)
    ((_, _, body),) = server.seen
    sent = body["messages"][1]["content"].splitlines()
    assert sent[-1] == "user: No."
    assert "user: The budget of project Orion is 300000 rubles." not in sent
    assert "We decided to use Postgres." in sent


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"summary": "A.", "topics": ["b"]}', ("A.", ("b",))),
        ('Note {this}: {"summary": "A.", "topics": ["b",],}', ("A.", ("b",))),
        (
            '```json\n{"summary": ["A.", 7], "topics": "b, c"}\n``` done {"x": 1}',
            ("A. 7", ("b", "c")),
        ),
        ('{"summary": "A\nB."}', ("A B.", ())),
        ('{"topics": [1, null, "", "b", "b"]}', ("", ("1", "b"))),
        ('{"other": 1}', None),
        ('["summary"]', None),
        ("", None),
        ('{"summary": "cut', None),
    ],
)
def test_reads_what_models_write(text: str, found: object) -> None:
    assert read_answer(text) == found
