"""Real small talk in English as memories of two named people, with questions about them.

Reads `dataset.json` of the `chitchat-dataset` package (MIT, 7,168 conversations). Conversations are
put one after the other, as sessions of one memory with dates, until it is as long as a memory
is; the speakers get names. Questions are made by `asked`.
"""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random

from evals.reranker.asked import SENTENCE, about, past, simple
from evals.reranker.names import EN
from evals.reranker.texts import Ask, Passage, Pool
from indexing.sparse import terms
from retrieval.coverage import function_words

TURNS = 320
"""Turns of a memory."""
STATED = 0.5
"""Share of the questions made of statements that is kept: they repeat the statement's words."""
LEAST_SAID = 4
"""Words of a turn that can answer something."""
COMMON = frozenset(terms("go like good thing people really kind sort lot today day doing favorite"))


def pools(file: Path, count: int, seed: int) -> Iterator[Pool]:
    """Yield memories made of the conversations, in an order drawn by the seed."""
    chance = Random(seed)  # noqa: S311
    talks = [_turns(talk["messages"]) for talk in json.loads(file.read_bytes()).values()]
    talks = [talk for talk in talks if len(talk) >= 8]
    chance.shuffle(talks)
    made = 0
    pool, when = _start(chance)
    names = chance.sample(EN, 2)
    for talk in talks:
        _add(pool, talk, names, when, chance)
        when += timedelta(days=chance.randint(2, 20))
        if len(pool.passages) >= TURNS:
            yield pool
            made += 1
            if made == count:
                return
            pool, when = _start(chance)
            names = chance.sample(EN, 2)


def _start(chance: Random) -> tuple[Pool, date]:
    return Pool("talks", "en"), date(2018 + chance.randint(0, 8), 1, 1) + timedelta(
        days=chance.randint(0, 364)
    )


def _turns(messages: list[list[dict[str, str]]]) -> list[tuple[int, str]]:
    """Return (speaker, text), neighbours by one speaker joined."""
    speakers: dict[str, int] = {}
    turns: list[tuple[int, str]] = []
    for group in messages:
        said = [one["text"].strip() for one in group if one["text"].strip()]
        if not said:
            continue
        speaker = speakers.setdefault(group[0]["sender"], len(speakers))
        text = " ".join(one if one[-1] in ".!?," else one + "." for one in said)
        if turns and turns[-1][0] == speaker:
            turns[-1] = (speaker, f"{turns[-1][1]} {text}")
        else:
            turns.append((speaker, text))
    return [(speaker, text[:700]) for speaker, text in turns] if len(speakers) == 2 else []


def _add(
    pool: Pool, talk: list[tuple[int, str]], names: list[str], when: date, chance: Random
) -> None:
    before = ""
    first = len(pool.passages)
    for speaker, text in talk:
        pool.passages.append(Passage(text, names[speaker], when, before))
        before = f"{names[speaker]}: {text}"[:200]
    for place, (speaker, text) in enumerate(talk):
        name, other = names[speaker], names[1 - speaker]
        if len(text.split()) < LEAST_SAID:
            continue
        found: list[str] = []
        if place:
            asked = [
                about(s, name, other) for s in SENTENCE.findall(talk[place - 1][1]) if "?" in s
            ]
            found += [question for question in asked[-1:] if question]
        for sentence in SENTENCE.findall(text):
            question = simple(sentence, name) or past(sentence, name, chance)
            if question and chance.random() < STATED:
                found.append(question)
        for question in found[:3]:
            if _tells(question, name):
                pool.asks.append(Ask(question, first + place))


def _tells(question: str, name: str) -> bool:
    """Whether a question is about something in particular."""
    content = set(terms(question)) - function_words() - set(terms(name)) - COMMON
    return len(content) >= 2 or (len(content) == 1 and len(question.split()) > 5)
