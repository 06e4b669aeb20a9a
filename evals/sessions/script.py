"""Scripts of long conversations: a JSON object a line, hand-written turns, chatter, probes.

The first line is about the whole: ``story``, ``language``, ``topic`` (of the chatter), ``seed``,
``start`` (a time), ``role`` (the agent's instructions). Then, in the order of the conversation:

- ``{"user": text}``, ``{"assistant": text}``; ``id`` names the turn for probes;
- ``{"tool": name, "arguments": {}, "result": text or object}``: the call and its result, two
  turns, of which ``id`` names the result; ``among: 30`` puts the result into a list of so many;
- ``{"filler": 20}``: that many turns of chatter, of another ``topic`` if it says so;
- ``{"session": time}``: another session of the same user begins;
- ``{"probe": question, "needed": […], "about": [ids]}``: asked at the very end. Each item of
  ``needed`` is words, or a list of which one is enough; ``unwanted`` are words of an outdated
  value; ``near`` says that its turn may be among the first three or the last twenty.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from evals.errors import DataMalformed
from evals.sessions.filler import Chatter
from sessions.types import Entry, ToolCall

FOLDER = Path(__file__).parent / "scripts"

FOLDERS: Mapping[str, Path] = {"scripts": FOLDER, "held out": Path(__file__).parent / "held"}
"""Where scripts are. Those held out were written without a look at the rules that find
sentences; rules must not be written after them, or they say no more than the others."""

Place = tuple[int, int]
"""The number of a session, from 0, and a turn's ``seq`` in it, from 1."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A question of the conversation's end, and words that a context must have to answer it."""

    question: str
    needed: tuple[tuple[str, ...], ...]
    about: tuple[Place, ...]
    unwanted: tuple[str, ...] = ()
    near: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One session of a script, its turns in order."""

    session_id: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A conversation of one user with an agent, over one or several sessions."""

    name: str
    story: str
    language: str
    role: str
    parts: tuple[Part, ...]
    probes: tuple[Probe, ...]

    @property
    def turns(self) -> int:
        """Return the number of turns of all sessions."""
        return sum(len(part.entries) for part in self.parts)


def load(folder: Path = FOLDER) -> list[Script]:
    """Read the scripts of a folder, by name. Raises `DataMalformed`."""
    return [read(file) for file in sorted(folder.glob("*.jsonl"))]


def read(file: Path) -> Script:
    """Read one script. Raises `DataMalformed` with its line."""
    head: Mapping[str, Any] = {}
    draft: _Draft | None = None
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            step = json.loads(line)
            if draft is None:
                head, draft = step, _Draft(file.stem, step)
            else:
                draft.take(step)
        except (ValueError, KeyError, TypeError) as error:
            raise DataMalformed(f"{file}:{number}: {error!r}") from error
    if draft is None:
        raise DataMalformed(f"{file}: is empty")
    story, language, role = (str(head[name]) for name in ("story", "language", "role"))
    return Script(file.stem, story, language, role, draft.parts(), draft.probes())


@dataclass(slots=True)
class _Draft:
    """A script while it is read."""

    name: str
    head: Mapping[str, Any]
    clock: datetime = field(init=False)
    random: Random = field(init=False)
    sessions: list[list[Entry]] = field(default_factory=lambda: [[]])
    named: dict[str, Place] = field(default_factory=dict)
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = datetime.fromisoformat(self.head["start"])
        self.random = Random(f"{self.name}{self.head['seed']}")  # noqa: S311

    def take(self, step: Mapping[str, Any]) -> None:
        """Add what one line says."""
        match step:
            case {"filler": count}:
                if count % 2 or (self.sessions[-1] and self.sessions[-1][-1].role != "assistant"):
                    raise ValueError("chatter is an even number of turns after an answer")
                for entry in self._chatter(step).turns(count):
                    self._add(entry)
            case {"session": start}:
                self.clock = datetime.fromisoformat(start)
                self.sessions.append([])
            case {"probe": _}:
                self.asked.append(step)
            case {"tool": tool}:
                self._call(tool, step)
            case {"user": text}:
                self._add(Entry("user", text), step.get("id"))
            case {"assistant": text}:
                self._add(Entry("assistant", text), step.get("id"))
            case _:
                raise ValueError(f"unknown step: {', '.join(step)}")

    def _call(self, tool: str, step: Mapping[str, Any]) -> None:
        result = step["result"]
        if "among" in step:
            text = self._chatter(step).among(result, step["among"])
        else:
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        arguments = json.dumps(step["arguments"], ensure_ascii=False)
        call_id = f"call-{len(self.sessions)}-{len(self.sessions[-1])}"
        self._add(Entry("assistant", "", calls=(ToolCall(call_id, tool, arguments),)))
        status = step.get("status", "ok")
        answer = Entry("tool", text, call_id=call_id, tool=tool, arguments=arguments, status=status)
        self._add(answer, step.get("id"))

    def _chatter(self, step: Mapping[str, Any]) -> Chatter:
        topic = step.get("topic", self.head["topic"])
        return Chatter(self.head["language"], topic, self.random)

    def _add(self, entry: Entry, name: str | None = None) -> None:
        turns = self.sessions[-1]
        self.clock += timedelta(seconds=self.random.randint(15, 150))
        place = len(self.sessions) - 1, len(turns) + 1
        turns.append(replace(entry, turn_id=f"{place[0]}-{place[1]}", at=self.clock))
        if name:
            if name in self.named:
                raise ValueError(f"two turns are named {name!r}")
            self.named[name] = place

    def parts(self) -> tuple[Part, ...]:
        """Return the sessions."""
        return tuple(Part(f"{self.name}-{n}", tuple(e)) for n, e in enumerate(self.sessions, 1))

    def probes(self) -> tuple[Probe, ...]:
        """Return the probes, their turns by place."""
        return tuple(
            Probe(
                step["probe"],
                tuple((n,) if isinstance(n, str) else tuple(n) for n in step["needed"]),
                tuple(self.named[name] for name in step["about"]),
                tuple(step.get("unwanted", ())),
                step.get("near", False),
            )
            for step in self.asked
        )


def everything(script: Script) -> Sequence[Entry]:
    """Return the turns of all sessions, in order."""
    return [entry for part in script.parts for entry in part.entries]
