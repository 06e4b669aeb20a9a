"""Chatter between the turns of a story: questions, answers, and tool calls with long results.

Does: the same turns for the same seed, out of the phrases of a language in `phrases`. Does not:
know the stories; that no phrase gives away what a probe asks for is checked by a test.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from evals.errors import EvalError
from sessions.types import Entry, ToolCall

FOLDER = Path(__file__).parent / "phrases"

SMALL_TALK = 0.12
"""Share of exchanges that are greetings and thanks."""

TOOLS = 0.35
"""Share of the other exchanges in which a tool is called."""

LISTS = 0.2
"""Share of long answers that are written as a list."""

ASIDES = 0.25
"""Share of exchanges that are about another topic."""

_SLOT = re.compile(r"\{(?:#(?P<low>\d+)-(?P<high>\d+)|(?P<name>\w+))\}")
_LIBRARY = ("asyncio/runners", "concurrent/futures/thread", "pluggy/_callers", "_pytest/python")
_LEVELS = ("DEBUG", "INFO", "INFO", "INFO", "INFO", "WARNING")
_STEPS = ("read batch", "open connection", "write page", "refresh lease", "sort keys", "flush")


@cache
def phrases(language: str) -> Mapping[str, Any]:
    """Read the phrases of a language, by topic."""
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


class Chatter:
    """Talks about one topic in one language."""

    def __init__(self, language: str, topic: str, random: Random) -> None:
        bank = phrases(language)
        if topic not in bank:
            raise EvalError(f"there are no phrases of {topic!r} in {language!r}")
        self._small: Mapping[str, Any] = bank["smalltalk"]
        self._topic: Mapping[str, Any] = bank[topic]
        self._others = [bank[name] for name in bank if name not in ("smalltalk", topic)]
        self._bank = self._topic
        self._random = random
        self._subject: dict[str, str] = {}

    def turns(self, count: int) -> Iterator[Entry]:
        """Yield that many turns, an even number: the first is a user's, the last an answer."""
        left = count
        while left > 0:
            aside = self._random.random() < ASIDES
            self._bank = self._random.choice(self._others) if aside else self._topic
            self._subject = {
                name: self._random.choice(words) for name, words in self._bank["slots"].items()
            }
            if self._random.random() < SMALL_TALK:
                yield Entry("user", self._random.choice(self._small["user"]))
                yield Entry("assistant", self._random.choice(self._small["assistant"]))
                left -= 2
                continue
            with_tool = left >= 4 and self._random.random() < TOOLS
            yield Entry("user", self._said("user", 1, 2))
            if with_tool:
                yield from self._called()
            yield Entry("assistant", self._said("assistant", 2, 7))
            left -= 4 if with_tool else 2

    def among(self, record: Mapping[str, Any], count: int) -> str:
        """Return a JSON list of that many records of the topic, the given one among them."""
        self._bank = self._topic
        tool = next(tool for tool in self._bank["tools"] if tool["kind"] in ("json", "table"))
        found: list[Mapping[str, Any]] = [self._record(tool, n) for n in range(count)]
        found[int(count * 0.6)] = record
        return json.dumps({"total": count, "items": found}, ensure_ascii=False)

    def _called(self) -> Iterator[Entry]:
        tool: Mapping[str, Any] = self._random.choice(self._bank["tools"])
        call_id = f"filler-{self._random.getrandbits(32):08x}"
        arguments = json.dumps({"query": self._filled(tool["about"])}, ensure_ascii=False)
        call = ToolCall(call_id, tool["name"], arguments)
        yield Entry("assistant", "", calls=(call,))
        failed = tool["kind"] == "trace"
        yield Entry(
            "tool",
            getattr(self, f"_{tool['kind']}")(tool),
            call_id=call_id,
            tool=tool["name"],
            arguments=arguments,
            status="error" if failed else "ok",
        )

    def _said(self, role: str, low: int, high: int) -> str:
        count = self._random.randint(low, high)
        said = [self._filled(phrase) for phrase in self._random.sample(self._bank[role], count)]
        listed = count > 3 and self._random.random() < LISTS
        return ("\n- " if listed else " ").join(said)

    def _filled(self, phrase: str, *, anew: bool = False) -> str:
        """Return a phrase with words in its slots: those of this exchange, or others."""

        def slot(match: re.Match[str]) -> str:
            if match["name"]:
                words = self._bank["slots"][match["name"]]
                return str(self._random.choice(words) if anew else self._subject[match["name"]])
            return str(self._random.randint(int(match["low"]), int(match["high"])))

        text = _SLOT.sub(slot, phrase)
        return text[:1].upper() + text[1:]

    def _record(self, tool: Mapping[str, Any], number: int) -> dict[str, Any]:
        values = {name: self._random.randint(1, 999) for name in tool["fields"]}
        return {"id": 1000 + number, "name": self._filled(tool["title"], anew=True), **values}

    def _json(self, tool: Mapping[str, Any]) -> str:
        found = [self._record(tool, n) for n in range(self._random.randint(15, 40))]
        return json.dumps({"total": len(found), "items": found}, ensure_ascii=False)

    def _article(self, tool: Mapping[str, Any]) -> str:
        parts = (self._said("assistant", 3, 6) for _ in range(self._random.randint(6, 12)))
        return "\n\n".join((self._filled(tool["title"]), *parts))

    def _table(self, tool: Mapping[str, Any]) -> str:
        names = ["name", *tool["fields"]]
        lines = [" | ".join(names), " | ".join("---" for _ in names)]
        for _ in range(self._random.randint(25, 60)):
            numbers = (str(self._random.randint(1, 999)) for _ in tool["fields"])
            lines.append(" | ".join((self._filled(tool["title"], anew=True), *numbers)))
        return "\n".join(f"| {line} |" for line in lines)

    def _log(self, tool: Mapping[str, Any]) -> str:
        name = self._filled(tool["title"])
        return "\n".join(
            f"2026-02-{self._random.randint(1, 28):02} {second // 60:02}:{second % 60:02}:00 "
            f"{self._random.choice(_LEVELS)} [{name}] {self._random.choice(_STEPS)}, "
            f"{self._random.randint(1, 900)} ms"
            for second in range(self._random.randint(40, 90))
        )

    def _trace(self, tool: Mapping[str, Any]) -> str:
        lines = ["Traceback (most recent call last):"]
        for number in range(self._random.randint(12, 25)):
            library = number % 6
            where = (
                f"/usr/lib/python3/{self._random.choice(_LIBRARY)}.py"
                if library
                else f"/srv/app/step_{number}.py"
            )
            lines.append(f'  File "{where}", line {self._random.randint(9, 900)}, in call_{number}')
            lines.append(f"    return self.next(step_{number}, context)")
        name = self._filled(tool["title"])
        return "\n".join([*lines, f"AssertionError: {name}: expected 3 rows, got 2"])

    def _code(self, tool: Mapping[str, Any]) -> str:
        parts = [f'"""{self._filled(tool["title"])}."""']
        for number in range(self._random.randint(8, 16)):
            parts.append(
                f"def step_{number}(rows: list[str], limit: int = {self._random.randint(2, 90)}):\n"
                f'    """Handle part {number}."""\n'
                f"    kept = [row for row in rows if len(row) > {self._random.randint(1, 9)}]\n"
                "    if not kept:\n        return None\n"
                f"    return sorted(kept)[:limit]"
            )
        return "\n\n\n".join(parts)
