"""How well subjects are derived: ``python -m evals.subjects``; precision and recall by frame.

The cases are hand-written, more than half of them statements that must not get a subject. Part
``held`` was written before the rules, ``blind`` after them; ``dev`` is what they were tuned on. A
wrong collision is a pair of texts that got one key and should not: it would let a memory end one
that still holds.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from rich.console import Console
from rich.table import Table

from indexing.subjects import Subject, subject_of

PARTS = ("dev", "held", "blind")
CASES = Path("tests/indexing/subject_cases.jsonl")


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence, the subject it should get (None: none), and what we derive for it."""

    part: str
    language: str
    frame: str
    text: str
    expected: Subject | None
    derived: Subject | None

    @property
    def right(self) -> bool:
        """Whether key, value and closing agree."""
        return _essence(self.expected) == _essence(self.derived)


def _essence(subject: Subject | None) -> tuple[str, str, bool] | None:
    return (subject.key, subject.value, subject.closes) if subject else None


def load(path: Path = CASES) -> list[Case]:
    """Read the cases and derive a subject for each."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        key = row["key"]
        expected = Subject(key, row["value"], "", row.get("closes", False)) if key else None
        found.append(
            Case(
                row["part"],
                row["language"],
                row["frame"],
                row["text"],
                expected,
                subject_of(row["text"]),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Score:
    """Counts over some cases; a subject that is wrong in key, value or closing is no hit."""

    expected: int
    derived: int
    right: int

    @property
    def precision(self) -> float:
        """Right of derived; 1 where nothing was derived."""
        return self.right / self.derived if self.derived else 1.0

    @property
    def recall(self) -> float:
        """Right of expected; 1 where nothing was expected."""
        return self.right / self.expected if self.expected else 1.0


def score(cases: Sequence[Case]) -> Score:
    """Return the counts."""
    return Score(
        sum(case.expected is not None for case in cases),
        sum(case.derived is not None for case in cases),
        sum(case.right for case in cases if case.expected),
    )


def collisions(cases: Sequence[Case]) -> list[tuple[Case, Case]]:
    """Return the pairs that share a derived key and do not share an expected one."""
    keyed = [case for case in cases if case.derived]
    return [
        (a, b)
        for a, b in combinations(keyed, 2)
        if a.derived
        and b.derived
        and a.derived.key == b.derived.key
        and not (a.expected and b.expected and a.expected.key == b.expected.key)
    ]


def shared_pairs(cases: Sequence[Case]) -> tuple[int, int]:
    """Return how many pairs share a key as they should, and how many should."""
    pairs = [
        (a.derived, b.derived)
        for a, b in combinations(cases, 2)
        if a.expected and b.expected and a.expected.key == b.expected.key
    ]
    return sum(bool(a and b and a.key == b.key) for a, b in pairs), len(pairs)


def microseconds(texts: Sequence[str], rounds: int = 5) -> list[float]:
    """Return the best time of each text, sorted."""
    best = dict.fromkeys(texts, float("inf"))
    for _ in range(rounds):
        for text in texts:
            start = time.perf_counter()
            subject_of(text)
            best[text] = min(best[text], time.perf_counter() - start)
    return sorted(1e6 * taken for taken in best.values())


def table(cases: Sequence[Case]) -> Table:
    """Return precision and recall by part, language and frame, with totals."""
    found = Table("part", "language", "frame", "cases", "derived", "wrong", "precision", "recall")

    def row(names: tuple[str, str, str], group: Sequence[Case]) -> None:
        result = score(group)
        recall = f"{100 * result.recall:.1f}" if result.expected else "-"
        precision = f"{100 * result.precision:.1f}" if result.derived else "-"
        found.add_row(
            *names,
            str(len(group)),
            str(result.derived),
            str(result.derived - result.right),
            precision,
            recall,
        )

    for part in PARTS:
        mine = [case for case in cases if case.part == part]
        counts = Counter((case.language, case.frame) for case in mine)
        for language, frame in counts:
            row(
                (part, language, frame),
                [c for c in mine if (c.language, c.frame) == (language, frame)],
            )
        for language in ("en", "ru"):
            row((part, language, "all"), [case for case in mine if case.language == language])
        row((part, "all", "all"), mine)
        found.add_section()
    return found


def main() -> None:
    """Print the table, the collisions, on demand what is wrong, and the time of a text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path, nargs="?", default=CASES)
    parser.add_argument("--wrong", choices=PARTS, help="list what is wrong in this part")
    options = parser.parse_args()
    if not options.cases.is_file():
        parser.error(f"{options.cases}: no such file")
    cases, console = load(options.cases), Console()
    console.print(table(cases))
    for part in PARTS:
        mine = [case for case in cases if case.part == part]
        met, wanted = shared_pairs(mine)
        console.print(
            f"{part}: {len(collisions(mine))} wrong collisions; "
            f"{met} of {wanted} pairs that should share a key do"
        )
    console.print(f"all: {len(collisions(cases))} wrong collisions")
    for case in cases:
        if case.part == options.wrong and not case.right:
            console.print(
                f"{case.frame}: {case.text!r}: {_essence(case.derived)}, "
                f"expected {_essence(case.expected)}",
                markup=False,
            )
    times = microseconds([case.text for case in cases])
    console.print(
        f"time of a text: p50 {times[len(times) // 2]:.0f} us, "
        f"p99 {times[int(0.99 * len(times))]:.0f} us, max {times[-1]:.0f} us"
    )


if __name__ == "__main__":
    main()
