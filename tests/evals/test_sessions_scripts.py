import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from evals.errors import DataMalformed, EvalError
from evals.sessions.filler import FOLDER as PHRASES
from evals.sessions.filler import Chatter, phrases
from evals.sessions.script import FOLDERS, Probe, Script, load, read
from evals.sessions.words import plain, says, says_all

PARTS = {name: load(folder) for name, folder in FOLDERS.items()}
SCRIPTS = [script for part in PARTS.values() for script in part]
EDGE = 20
"""The last turns, which a window shows anyway."""

STORIES = {
    "diabetes, then a recipe",
    "Postgres, not Mongo",
    "size L",
    "Northwest, then National",
    "the opponent at round 12",
    "the same search twice",
    "tool results that contradict",
    "archived projects rejected",
    "a promise with a date",
    "a budget",
    "codes",
    "a preference said once",
    "an error and its cause",
    "one field of a long JSON result",
    "a returning user",
}


WORDS = {
    script.name: {
        (number, seq): plain(entry.text)
        for number, part in enumerate(script.parts)
        for seq, entry in enumerate(part.entries, 1)
    }
    for script in SCRIPTS
}
PROBES = [
    pytest.param(script, probe, id=f"{script.name}: {probe.question}")
    for script in SCRIPTS
    for probe in script.probes
]


def test_every_story_is_told_in_both_languages() -> None:
    told = {(script.story, script.language) for script in PARTS["scripts"]}
    assert told == {(story, language) for story in STORIES for language in ("ru", "en")}
    assert len(PARTS["scripts"]) >= 24


def test_scripts_held_out_tell_other_stories_in_both_languages() -> None:
    held = PARTS["held out"]
    assert not STORIES & {script.story for script in held}
    assert [sum(s.language == language for s in held) for language in ("ru", "en")] == [5, 5]
    assert all(4 <= len(script.probes) <= 6 for script in held)
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_a_long_conversation_that_a_client_accepts(script: Script) -> None:
    assert all(60 <= len(part.entries) <= 200 for part in script.parts)
    for part in script.parts:
        assert part.entries[0].role == "user"
        assert part.entries[-1].role == "assistant"
        for before, after in pairwise(part.entries):
            assert before.at
            assert after.at
            assert before.at < after.at
            if before.calls:
                (call,) = before.calls
                answer = after.role, after.call_id, after.tool, after.arguments
                assert answer == ("tool", call.call_id, call.tool, call.arguments)
                json.loads(call.arguments)
            else:
                assert after.role != "tool"
        ids = [entry.turn_id for entry in part.entries]
        assert len(set(ids)) == len(ids)
    assert len({call.call_id for p in script.parts for e in p.entries for call in e.calls}) > 5
    assert len(script.probes) >= 3


@pytest.mark.parametrize(("script", "probe"), PROBES)
def test_what_a_probe_needs_is_said_where_it_says_and_nowhere_else(
    script: Script, probe: Probe
) -> None:
    words = WORDS[script.name]
    for needed in probe.needed:
        assert {place for place, said in words.items() if says_all(said, [needed])} <= {
            *probe.about
        }
    for place in probe.about:
        assert any(says_all(words[place], [needed]) for needed in probe.needed)
    for needed in probe.needed:
        assert any(says_all(words[place], [needed]) for place in probe.about)
        assert not says_all(plain(probe.question), [needed]), "the question gives it away"


@pytest.mark.parametrize(("script", "probe"), PROBES)
def test_what_a_probe_needs_has_left_the_window(script: Script, probe: Probe) -> None:
    last = len(script.parts) - 1
    until = len(script.parts[last].entries) - EDGE
    assert probe.near or all(number < last or 3 < seq <= until for number, seq in probe.about)


@pytest.mark.parametrize(("script", "probe"), PROBES)
def test_an_unwanted_value_is_said_before_the_one_that_replaces_it(
    script: Script, probe: Probe
) -> None:
    words = WORDS[script.name]
    for unwanted in probe.unwanted:
        places = [place for place, said in words.items() if says(said, unwanted)]
        assert places
        assert max(places) < min(probe.about)
        assert not says(plain(probe.question), unwanted)


def test_scripts_are_the_same_every_time() -> None:
    assert {name: load(folder) for name, folder in FOLDERS.items()} == PARTS


def test_chatter_is_varied() -> None:
    for script in SCRIPTS:
        said = [e.text for part in script.parts for e in part.entries if len(e.text) > 60]
        assert len(set(said)) > 0.9 * len(said)


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_phrase_can_be_filled(language: str) -> None:
    bank = phrases(language)
    for topic in bank.keys() - {"smalltalk"}:
        chatter = Chatter(language, topic, Random(1))
        for entry in chatter.turns(400):
            assert "{" not in entry.text or entry.role == "tool"
            assert entry.text or entry.calls


def test_both_languages_have_the_same_topics() -> None:
    assert phrases("ru").keys() == phrases("en").keys()
    assert {file.stem for file in PHRASES.glob("*.toml")} == {"ru", "en"}


def test_chatter_on_an_unknown_topic_is_refused() -> None:
    with pytest.raises(EvalError, match="no phrases of 'fishing' in 'en'"):
        Chatter("en", "fishing", Random(1))


HEAD = {
    "story": "s",
    "language": "en",
    "topic": "code",
    "seed": 1,
    "start": "2026-01-01T00:00:00+00:00",
    "role": "r",
}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "JSONDecodeError"),
        ('{"filler": 3}', "even number"),
        ('{"shout": "Hi"}', "unknown step: shout"),
        ('{"tool": "search", "result": {}}', "KeyError"),
    ],
)
def test_a_line_that_is_no_step_is_named(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(f"{json.dumps(HEAD)}\n{line}\n", encoding="utf-8")
    with pytest.raises(DataMalformed, match=rf"one\.jsonl:2: .*{why}"):
        read(file)


def test_a_script_is_read_as_it_is_written(tmp_path: Path) -> None:
    steps = [
        HEAD,
        {"user": "My locker is 4417.", "id": "locker"},
        {"tool": "look", "arguments": {"n": 1}, "result": {"id": 7}, "among": 5, "id": "found"},
        {"assistant": "Done."},
        {"session": "2026-02-01T00:00:00+00:00"},
        {"filler": 4},
        {
            "probe": "Which locker?",
            "needed": ["4417", ["7", "seven"]],
            "about": ["locker", "found"],
        },
    ]
    file = tmp_path / "one.jsonl"
    file.write_text("\n".join(map(json.dumps, steps)), encoding="utf-8")
    script = read(file)
    first, second = script.parts
    assert [entry.role for entry in first.entries] == ["user", "assistant", "tool", "assistant"]
    assert json.loads(first.entries[2].text)["items"][3] == {"id": 7}
    assert (first.session_id, second.session_id) == ("one-1", "one-2")
    assert second.entries[0].at
    assert f"{second.entries[0].at:%Y-%m}" == "2026-02"
    (probe,) = script.probes
    assert probe.about == ((0, 1), (0, 3))
    assert probe.needed == (("4417",), ("7", "seven"))
    assert script.turns == 8


@pytest.mark.parametrize(
    ("text", "needle", "there"),
    [
        ("size: **L**", "size L", True),
        ("size XL", "size L", False),
        ("Размер — L", "размер L", True),
        ("капюшонами", "капюшон*", True),
        ("капюшонами", "капюшон", False),
        ("ЁЛКА", "елка", True),
        ("part BX-4471-AB", "BX-4471-A", False),
        ("part bx 4471 a.", "BX-4471-A", True),
    ],
)
def test_words_are_compared_as_words(text: str, needle: str, there: bool) -> None:
    assert says(plain(text), needle) == there
