"""How well sentences are told apart: ``python -m evals.lines [--part PART] [--errors]``.

The dialogues are those of ``tests/sessions/speech/lines.jsonl``, each sentence with its kind
("none": no line). A hash of a dialogue's id puts it into one of two halves: the rules were written
with the errors of "seen" at hand, those of "held" were never listed. The part "fresh" was written
after the rules, and its errors were never listed either: it comes nearest to other people's words.
"""

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.table import Table

from evals.timing import quantile
from sessions.speech import read_lines
from sessions.types import LASTING, Entry, LineKind, LoggedTurn

SET = Path("tests/sessions/speech/lines.jsonl")
HALVES = ("seen", "held")
FRESH = "fresh"
PARTS = (*HALVES, FRESH)
LASTING_KINDS: tuple[str, ...] = (*LASTING, "outside")
NONE = "none"
KINDS = (*get_args(LineKind), NONE)


@dataclass(frozen=True, slots=True)
class Label:
    """A sentence of a turn, the kind it should have, and what it should be about ("": not said)."""

    turn: int
    text: str
    kind: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A labelled dialogue."""

    id: str
    lang: str
    part: str
    turns: tuple[LoggedTurn, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A label and the kind (and ``of``) that was given instead or likewise."""

    dialogue: Dialogue
    label: Label
    kind: str
    of: str

    @property
    def about(self) -> bool:
        """Whether the line is about what it should be about; true where that is not labelled."""
        return not self.label.of or self.label.of == self.of


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one kind in one language and part."""

    lang: str
    part: str
    kind: str
    labelled: int
    given: int
    right: int

    @property
    def precision(self) -> float:
        """Return right / given; 1 where none was given."""
        return self.right / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        """Return right / labelled; 1 where none is labelled."""
        return self.right / self.labelled if self.labelled else 1.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of both."""
        total = self.labelled + self.given
        return 2 * self.right / total if total else 1.0


def read_set(path: Path = SET) -> list[Dialogue]:
    """Read the labelled dialogues."""
    return [_dialogue(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _dialogue(row: dict[str, object]) -> Dialogue:
    name, lang, said = str(row["id"]), str(row["lang"]), row["turns"]
    if not isinstance(said, list):
        raise TypeError(f"{name}: turns")
    turns, labels = [], []
    for number, turn in enumerate(said):
        text = " ".join(sentence[0] for sentence in turn["says"])
        status = turn.get("status", "ok" if turn["role"] == "tool" else "")
        entry = Entry(turn["role"], text, f"{name}:{number}", status=status)
        turns.append(LoggedTurn(number + 1, entry, 0))
        labels += [Label(number, *sentence) for sentence in turn["says"]]
    part = FRESH if row.get("fresh") else HALVES[hashlib.blake2s(name.encode()).digest()[0] % 2]
    return Dialogue(name, lang, part, tuple(turns), tuple(labels))


def judge(dialogue: Dialogue) -> list[Outcome]:
    """Return an outcome for each label: the line with just its text, else none."""
    given = {(line.seq - 1, line.text): (line.kind, line.of) for line in read_lines(dialogue.turns)}
    found = []
    for label in dialogue.labels:
        kind, of = given.get((label.turn, label.text), (NONE, ""))
        found.append(Outcome(dialogue, label, kind, of))
    return found


def scores(outcomes: Sequence[Outcome], kinds: Iterable[str] = KINDS) -> list[Score]:
    """Return the scores by part, language and kind."""
    found = []
    for part in PARTS:
        for lang in ("en", "ru"):
            mine = [o for o in outcomes if (o.dialogue.part, o.dialogue.lang) == (part, lang)]
            labelled = Counter(o.label.kind for o in mine)
            given = Counter(o.kind for o in mine)
            right = Counter(o.kind for o in mine if o.kind == o.label.kind)
            found += [
                Score(lang, part, kind, labelled[kind], given[kind], right[kind]) for kind in kinds
            ]
    return found


def macro_f1(found: Iterable[Score]) -> float:
    """Return the mean F1 of kinds that are labelled."""
    values = [score.f1 for score in found if score.labelled]
    return sum(values) / len(values)


def total(found: Iterable[Score]) -> Score:
    """Return the counts of several scores together."""
    held = list(found)
    return Score(
        held[0].lang,
        held[0].part,
        "all",
        sum(score.labelled for score in held),
        sum(score.given for score in held),
        sum(score.right for score in held),
    )


def microseconds(dialogues: Sequence[Dialogue], weighed: bool = True) -> list[float]:
    """Return the processor's time per sentence of each dialogue: the best of three readings."""

    def spent(dialogue: Dialogue) -> float:
        started = time.thread_time()
        read_lines(dialogue.turns, weighed)
        return 1e6 * (time.thread_time() - started) / len(dialogue.labels)

    return [min(spent(dialogue) for _ in range(3)) for dialogue in dialogues]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the scores, and with ``--errors`` each wrong sentence of the half that is seen."""
    parser = argparse.ArgumentParser(prog="python -m evals.lines", description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--errors", action="store_true", help="list the errors of the half seen")
    options = parser.parse_args(argv)
    console = Console(width=100)
    dialogues = read_set()
    outcomes = [outcome for dialogue in dialogues for outcome in judge(dialogue)]
    if options.errors:
        for o in outcomes:
            if o.dialogue.part == "seen" and (o.kind != o.label.kind or not o.about):
                wanted = f"{o.label.kind} {o.label.of}".strip()
                given = f"{o.kind} {o.of}".strip()
                console.print(f"{o.dialogue.id} {wanted} <- {given}: {o.label.text}", markup=False)
    found = scores(outcomes)
    for part in PARTS:
        if options.part in (None, part):
            _show(console, part, [score for score in found if score.part == part], outcomes)
    for what, weighed in (("rules", False), ("rules and centrality", True)):
        spent = microseconds(dialogues, weighed)
        console.print(
            f"time a sentence, {what}: p50 {quantile(spent, 0.5):.0f} µs, "
            f"p95 {quantile(spent, 0.95):.0f} µs"
        )


def _show(console: Console, part: str, found: Sequence[Score], outcomes: Sequence[Outcome]) -> None:
    table = Table(title=f"part {part}", box=None)
    for head in ("kind", "lang", "labelled", "P", "R", "F1"):
        table.add_column(head)
    for score in sorted(found, key=lambda score: KINDS.index(score.kind)):
        cells = (f"{value:.2f}" for value in (score.precision, score.recall, score.f1))
        table.add_row(score.kind, score.lang, str(score.labelled), *cells)
    console.print(table)
    for lang in ("en", "ru"):
        mine = [s for s in found if s.lang == lang]
        kept = total(s for s in mine if s.kind in LASTING_KINDS)
        about = [
            o.about
            for o in outcomes
            if o.label.of and (o.dialogue.part, o.dialogue.lang) == (part, lang)
        ]
        console.print(
            f"{lang}: macro-F1 {macro_f1(mine):.3f}; all kinds but other and none: "
            f"P {kept.precision:.2f}, R {kept.recall:.2f}; `of` right {sum(about)} of {len(about)}"
        )


if __name__ == "__main__":
    main()
