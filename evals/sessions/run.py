"""Play the scripts, ask their probes of every arm, and count."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chunking.tokens import tiktoken_count
from configs.settings import Settings
from evals.datasets import data_folder, load
from evals.errors import DataMissing
from evals.sessions.arms import ALL, ARMS, EVERYTHING, check, said
from evals.sessions.locomo import Recall, measure
from evals.sessions.play import opened
from evals.sessions.score import Assembled, Outcome, Row, judged, rows
from evals.sessions.script import FOLDERS, Script, everything
from evals.sessions.script import load as scripts_of
from indexing.dense import Embedder
from indexing.ingest import Progress
from sessions.costs import message_tokens
from sessions.messages import as_message

BUDGET = 2_000
"""Tokens of a context in all arms but the whole transcript."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """What was found on one folder. ``missed`` are the probes that all layers together miss."""

    name: str
    sessions: int
    turns: int
    shortest: int
    longest: int
    rows: list[Row]
    missed: list[Outcome]


@dataclass(frozen=True, slots=True)
class Measured:
    """What the suite found: a part for each folder of scripts, and LoCoMo."""

    budget: int
    parts: list[Scripted]
    locomo: list[Recall]


def run(
    settings: Settings,
    embedder: Embedder,
    arms: Sequence[str] = ARMS,
    data: Path | None = None,
    progress: Progress | None = None,
    folders: Mapping[str, Path] = FOLDERS,
) -> Measured:
    """Play the scripts of each folder, then LoCoMo where it is there. Raises `EvalError`."""
    check(tuple(arms))
    parts = []
    for name, folder in folders.items():
        scripts = scripts_of(folder)
        parts.append(counted(name, scripts, asked(scripts, settings, embedder, arms, progress)))
    return Measured(
        BUDGET, parts, recalled(data, settings, embedder, progress) if ALL in arms else []
    )


def counted(name: str, scripts: Sequence[Script], outcomes: Sequence[Outcome]) -> Scripted:
    """Return what the outcomes of a folder's scripts, one or more, come to."""
    lengths = [len(part.entries) for script in scripts for part in script.parts]
    return Scripted(
        name,
        len(lengths),
        sum(lengths),
        min(lengths),
        max(lengths),
        rows(outcomes),
        [one for one in outcomes if one.arm == ALL and not one.found],
    )


def asked(
    scripts: Sequence[Script],
    settings: Settings,
    embedder: Embedder,
    arms: Sequence[str] = ARMS,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Return what became of every probe in every arm: arm by arm, scripts in order."""
    count = tiktoken_count()
    found: list[Outcome] = []
    with opened(settings, embedder) as player:
        for number, script in enumerate(scripts, 1):
            whole = transcript(script, count)
            session = player.play(script)
            for probe in script.probes:
                for arm in arms:
                    given = whole
                    if arm != EVERYTHING:
                        given = player.ask(arm, session, probe.question, BUDGET)
                    found.append(judged(arm, script, probe, given, whole.tokens))
            if progress:
                progress("sessions: scripts", number, len(scripts))
    return sorted(found, key=lambda one: arms.index(one.arm))


def transcript(script: Script, count: Callable[[str], int]) -> Assembled:
    """Return all that was said in a script, as messages."""
    messages = [as_message(entry) for entry in everything(script)]
    tokens = sum(message_tokens(message, count) for message in messages)
    return Assembled("\n".join(map(said, messages)), tokens)


def recalled(
    data: Path | None, settings: Settings, embedder: Embedder, progress: Progress | None
) -> list[Recall]:
    """Return LoCoMo's rows, none where no folder was named and none is there."""
    try:
        dataset = load("locomo", data_folder(data))
    except DataMissing:
        if data is not None:
            raise
        return []
    return measure(dataset, settings, embedder, progress=progress)
