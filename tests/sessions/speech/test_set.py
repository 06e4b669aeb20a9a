"""The labelled dialogues: what the rules reach on each part, and that the set is sound."""

from collections import Counter

import pytest

from evals.lines import KINDS, LASTING_KINDS, PARTS, Outcome, judge, main, read_set, scores, total

DIALOGUES = read_set()
OUTCOMES: list[Outcome] = [outcome for dialogue in DIALOGUES for outcome in judge(dialogue)]

LEAST = {"seen": (0.95, 0.93), "held": (0.90, 0.80), "fresh": (0.85, 0.63)}
"""Part -> precision and recall over all kinds that are kept, in each language."""


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("lang", ["en", "ru"])
def test_the_rules_keep_their_level(part: str, lang: str) -> None:
    found = scores(OUTCOMES, LASTING_KINDS)
    mine = total(score for score in found if (score.part, score.lang) == (part, lang))
    precision, recall = LEAST[part]
    assert mine.precision >= precision
    assert mine.recall >= recall


def test_ideas_and_questions_are_found_again() -> None:
    labelled = [outcome for outcome in OUTCOMES if outcome.label.of]
    assert sum(outcome.about for outcome in labelled) >= 0.9 * len(labelled)


def test_small_talk_never_becomes_a_lasting_line() -> None:
    wrong = [o for o in OUTCOMES if o.label.kind == "none" and o.kind in LASTING_KINDS]
    assert len(wrong) <= 0.04 * sum(o.label.kind == "none" for o in OUTCOMES)


def test_the_set_is_sound() -> None:
    kinds = Counter((o.dialogue.lang, o.label.kind) for o in OUTCOMES)
    assert sum(kinds.values()) >= 240
    assert {kind for _, kind in kinds} == set(KINDS)
    assert min(kinds[lang, kind] for lang in ("en", "ru") for kind in KINDS) >= 10
    for dialogue in DIALOGUES:
        for label in dialogue.labels:
            assert not label.of or any(label.of in turn.entry.text for turn in dialogue.turns)


def test_the_command_prints_a_part_and_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--part", "fresh"])
    printed = capsys.readouterr().out
    assert "part fresh" in printed
    assert "part held" not in printed
    assert all(f" {kind} " in printed for kind in KINDS)
    assert "time a sentence, rules: p50" in printed
