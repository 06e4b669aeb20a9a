import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from configs.settings import Settings
from evals.datasets import load as load_set
from evals.errors import UnknownArm
from evals.sessions import locomo, report, run
from evals.sessions.arms import ALL, ARMS, EVERYTHING, LAYERS, said
from evals.sessions.locomo import Recall
from evals.sessions.play import opened
from evals.sessions.score import Assembled, Outcome, judged, rows
from evals.sessions.script import Probe, Script, read
from letopis.cli import app
from sessions.types import Entry, ToolCall

HEAD = {
    "story": "a locker",
    "language": "en",
    "topic": "code",
    "seed": 1,
    "start": "2026-01-01T00:00:00+00:00",
    "role": "You keep lockers.",
}
STEPS = [
    HEAD,
    {"user": "Hello, let's begin."},
    {"assistant": "With pleasure."},
    {"filler": 2},
    {"user": "My locker code is QX-4417.", "id": "locker"},
    {"assistant": "Understood."},
    {"filler": 60},
    {"probe": "What is my locker code?", "needed": ["QX-4417"], "about": ["locker"]},
]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    file = tmp_path / "locker.jsonl"
    file.write_text("\n".join(map(json.dumps, STEPS)), encoding="utf-8")
    return read(file)


def outcome(arm: str = ALL, language: str = "en", **changes: Any) -> Outcome:
    made = Outcome(arm, "s", language, "Which?", (), None, tokens=100, whole=1_000)
    return replace(made, **changes)


def test_a_probe_is_answered_when_every_word_it_needs_is_there(script: Script) -> None:
    probe = Probe("?", (("size L", "large"), ("blue",)), (), unwanted=("size M",))
    found = judged("a", script, probe, Assembled("Blue, size: L", 50), 1_000)
    assert (found.found, found.unwanted, found.share) == (True, False, 0.05)
    found = judged("a", script, probe, Assembled("Size M, blue", 50), 1_000)
    assert (found.found, found.unwanted) == (False, True)
    assert found.missing == ("size L / large",)
    assert judged("a", script, replace(probe, unwanted=()), Assembled("", 0), 9).unwanted is None


def test_rows_are_means_by_arm_and_language() -> None:
    found = rows(
        [
            outcome(language="ru", unwanted=True),
            outcome(language="ru", missing=("x",), tokens=300),
            outcome(unwanted=False, tokens=200),
            outcome("window", tokens=0, missing=("x",)),
        ]
    )
    assert [(row.arm, row.language, row.probes) for row in found] == [
        (ALL, "all", 3),
        (ALL, "ru", 2),
        (ALL, "en", 1),
        ("window", "all", 1),
        ("window", "en", 1),
    ]
    whole, ru, *_ = found
    assert (whole.found, whole.unwanted, whole.tokens) == (2 / 3, 0.5, 200)
    assert whole.share == pytest.approx(0.2)
    assert (ru.found, ru.unwanted, ru.tokens) == (0.5, 1.0, 200)


def test_each_arm_has_one_layer_more() -> None:
    sizes = [len(layers) for layers in LAYERS.values()]
    assert sizes == list(range(len(sizes)))
    assert (*LAYERS, EVERYTHING) == ARMS
    assert ALL in LAYERS


def test_what_left_the_window_is_in_the_other_layers(
    settings: Settings, embedder: Any, script: Script
) -> None:
    found = {one.arm: one for one in run.asked([script], settings, embedder)}
    assert tuple(found) == ARMS
    assert not found["window"].found
    assert not found["window+pinning"].found
    assert found[ALL].found
    assert found[EVERYTHING].found
    assert found[EVERYTHING].share == 1
    for arm in LAYERS:
        assert 0 < found[arm].tokens <= run.BUDGET
    assert found["window"].tokens <= found["window+pinning"].tokens


def test_each_folder_of_scripts_is_counted_for_itself(
    settings: Settings, embedder: Any, tmp_path: Path
) -> None:
    folders = {"one": tmp_path / "one", "two": tmp_path / "two"}
    for folder, code in zip(folders.values(), ("QX-4417", "nowhere said"), strict=True):
        folder.mkdir()
        steps = [*STEPS[:-1], {**STEPS[-1], "needed": [code]}]
        (folder / "locker.jsonl").write_text("\n".join(map(json.dumps, steps)), encoding="utf-8")
    found = run.run(settings, embedder, [EVERYTHING], folders=folders)
    assert [(part.name, part.sessions, part.turns) for part in found.parts] == [
        ("one", 1, 66),
        ("two", 1, 66),
    ]
    assert [part.rows[0].found for part in found.parts] == [1.0, 0.0]


def test_an_answer_is_the_same_every_time(
    settings: Settings, embedder: Any, script: Script
) -> None:
    once, again = (run.asked([script], settings, embedder, [ALL]) for _ in range(2))
    assert once == again


def test_a_budget_in_which_nothing_fits_answers_nothing(
    settings: Settings, embedder: Any, script: Script
) -> None:
    with opened(settings, embedder) as player:
        session = player.play(script)
        assert player.ask(ALL, session, "What is my locker code?", 20) == Assembled("", 0)


def test_an_unknown_arm_is_refused(settings: Settings, embedder: Any) -> None:
    with pytest.raises(UnknownArm, match=r"'magic'; the arms are window, window\+pinning"):
        run.run(settings, embedder, ["magic"])


def test_the_text_of_a_message_has_the_arguments_of_its_calls() -> None:
    from sessions.messages import as_message

    entry = Entry("assistant", "Let me look.", calls=(ToolCall("1", "find", '{"id": 7}'),))
    assert said(as_message(entry)) == 'Let me look.\n{"id": 7}'


def test_evidence_is_looked_for_in_contexts_of_each_budget(
    settings: Settings, embedder: Any, chats: Path
) -> None:
    small, large = locomo.measure(load_set("chats", chats), settings, embedder, (300, 1_000))
    assert (small.budget, large.budget) == (300, 1_000)
    assert small.queries == large.queries == 3
    assert (large.evidence, large.complete) == (1.0, 1.0)
    assert 0 < large.tokens <= 1_000


SCRIPTED = run.Scripted(
    name="scripts",
    sessions=31,
    turns=4_000,
    shortest=62,
    longest=189,
    rows=rows([outcome("window", "ru", missing=("x",)), outcome(), outcome(unwanted=True)]),
    missed=[outcome(script="en-size", missing=("size L",))],
)
MEASURED = run.Measured(
    budget=2_000,
    parts=[SCRIPTED, replace(SCRIPTED, name="held out", sessions=12, rows=rows([outcome()]))],
    locomo=[Recall(1_300, 1_976, 0.5, 0.25, 1_234.5)],
)


def test_a_section_has_a_line_an_arm_and_one_a_budget() -> None:
    text = report.section(MEASURED, date(2026, 3, 1))
    assert "## sessions\n\n2026-03-01, `letopis eval run sessions`." in text
    assert "Scripts: 31 sessions of 62 to 189 turns, 2 probes, 2,000 tokens:\n\n| arm |" in text
    assert "Held out: 12 sessions of 62 to 189 turns, 1 probes, 2,000 tokens:\n\n| arm |" in text
    assert "| window | 0.0 | 0.0 |  | 0 | 100 | 10.0 |" in text
    assert f"| {ALL} | 100.0 |  | 100.0 | 100 | 100 | 10.0 |" in text
    assert "| 1,300 | 50.0 | 25.0 | 1,234 |" in text
    assert "1976 questions" in text
    assert "LoCoMo" not in report.section(replace(MEASURED, locomo=[]), date(2026, 3, 1))


def test_a_section_replaces_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "results.md"
    for _ in range(2):
        report.write(MEASURED, file, date(2026, 3, 1))
    assert file.read_text("utf-8").count("## sessions") == 1


def test_the_table_names_what_was_missed(capsys: pytest.CaptureFixture[str]) -> None:
    Console(width=120).print(report.table(MEASURED))
    shown = capsys.readouterr().out
    assert "missed by all layers: en-size: Which? (size L)" in shown
    assert "LoCoMo, evidence in the context" in shown


def test_the_record_is_plain_data() -> None:
    found = json.loads(json.dumps(report.record(MEASURED)))
    assert found["dataset"] == "sessions"
    scripts, held = found["parts"]
    missed = {"script": "en-size", "question": "Which?", "missing": ["size L"]}
    assert (scripts["name"], scripts["missed"]) == ("scripts", [missed])
    assert {row["arm"] for row in scripts["arms"]} == {"window", ALL}
    assert (held["name"], held["sessions"]) == ("held out", 12)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["sessions", "--arm", "hybrid"], "no arm 'hybrid'; the arms are window"),
        (["chats", "--arm", "window"], "no arm 'window'; the arms are bm25"),
    ],
)
def test_arms_that_belong_elsewhere_are_refused(
    chats: Path, tmp_path: Path, arguments: list[str], why: str
) -> None:
    here = {"LETOPIS_CACHE_DIR": str(tmp_path), "LETOPIS_EVAL_DATA": str(chats)}
    done = CliRunner().invoke(app, ["eval", "run", *arguments], env=here)
    assert done.exit_code == 1
    assert why in " ".join(done.output.split())
