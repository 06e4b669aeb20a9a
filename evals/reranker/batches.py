"""Lists on disk -> batches of token ids, in an order that the seed and the step alone decide.

Does: draw sources by their share, render, tokenise, group pairs of like length.
Does not: compute anything with them. So training that is resumed at a step reads what it would
have read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.reranker.texts import Passage, of_json

TOKENS = 144
"""Tokens of a pair that are read at most; the passage's end is cut."""
PAIRS = 16
"""Pairs of one forward pass."""
WINDOW = 8
"""Steps whose lists are put in order of length, so that a step's are alike."""
HELD = 40
"""One of so many lists is held out."""

Row = tuple[str, str, tuple[Passage, ...]]
"""Source and language, question, passages: the answer first."""
Ids = NDArray[np.int64]
Inputs = tuple[Ids, Ids, Ids]
"""Ids, mask and sides, each [pairs, tokens]."""


@dataclass(frozen=True, slots=True)
class Part:
    """Pairs of like length: their places in the step's batch, and what the model reads."""

    places: list[int]
    inputs: Inputs


def read(folder: Path) -> tuple[list[Row], list[Row]]:
    """Return the lists to train on and the held-out ones, by file name and line."""
    rows: tuple[list[Row], list[Row]] = ([], [])
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                row = json.loads(line)
                passages = tuple(of_json(one) for one in row["passages"])
                name = f"{row['source']}-{row['lang']}"
                rows[number % HELD == HELD - 1].append((name, row["query"], passages))
    return rows


class Order:
    """Which lists each step reads: sources by their shares, each list before any twice."""

    def __init__(self, rows: Sequence[Row], shares: Mapping[str, float], size: int, seed: int):
        self._rows, self._size, self._seed = rows, size, seed
        by_source: dict[str, list[int]] = {}
        for place, (source, _, _) in enumerate(rows):
            by_source.setdefault(source, []).append(place)
        self._places = {source: held for source, held in by_source.items() if shares.get(source, 1)}
        weights = {s: len(held) * shares.get(s, 1.0) for s, held in self._places.items()}
        self._cycle = self._mixed(weights)
        self._last: dict[str, tuple[int, list[int]]] = {}

    def _mixed(self, weights: Mapping[str, float]) -> list[str]:
        """Return sources in turn, as often as their weights say, over about a pass of the data."""
        total = sum(weights.values())
        names = [s for s, weight in weights.items() for _ in range(max(1, round(weight)))]
        Random(f"{self._seed} cycle {total:.0f}").shuffle(names)  # noqa: S311
        return names

    def __len__(self) -> int:
        """Return how many steps one pass takes."""
        return len(self._cycle) // self._size

    def window(self, number: int) -> list[Row]:
        """Return the lists of the steps of a window."""
        count = self._size * WINDOW
        start = number * count
        taken: dict[str, int] = {}
        found = []
        for at in range(start, start + count):
            turn, place = divmod(at, len(self._cycle))
            source = self._cycle[place]
            if source not in taken:
                each = self._cycle.count(source)
                taken[source] = turn * each + self._cycle[:place].count(source)
            nth, taken[source] = taken[source], taken[source] + 1
            held = self._places[source]
            again, index = divmod(nth, len(held))
            found.append(self._rows[self._shuffled(source, again)[index]])
        return found

    def _shuffled(self, source: str, again: int) -> list[int]:
        """Return the places of a source's lists in the order of a pass; the last order is kept."""
        last, order = self._last.get(source, (-1, []))
        if last != again:
            order = list(self._places[source])
            Random(f"{self._seed} {(source, again)}").shuffle(order)  # noqa: S311
            self._last[source] = again, order
        return order

    def step(self, step: int) -> list[Row]:
        """Return the lists of a step."""
        number, within = divmod(step, WINDOW)
        found = sorted(self.window(number), key=lambda row: sum(len(p.text) for p in row[2]))
        groups = [found[i : i + self._size] for i in range(0, len(found), self._size)]
        Random(f"{self._seed} window {number}").shuffle(groups)  # noqa: S311
        return groups[within]


def parts(rows: Sequence[Row], tokenizer: Any, chance: Random) -> Iterator[Part]:
    """Yield the pairs of lists, rendered and tokenised, short ones first."""
    texts = []
    for _, query, passages in rows:
        kind = chance.random()
        for passage in passages:
            texts.append((query, passage.varied(Random(kind))))  # noqa: S311
    read_ = tokenizer.encode_batch(texts)
    order = sorted(range(len(read_)), key=lambda place: len(read_[place].ids))
    for start in range(0, len(order), PAIRS):
        places = order[start : start + PAIRS]
        yield Part(places, matrices([read_[place] for place in places]))


def matrices(read_: Sequence[Any]) -> Inputs:
    """Return encodings as padded matrices, cut to `TOKENS`."""
    length = min(TOKENS, max(len(row.ids) for row in read_))
    made = np.zeros((3, len(read_), length), np.int64)
    made[0] = 1
    for at, row in enumerate(read_):
        count = min(length, len(row.ids))
        made[0, at, :count] = row.ids[:count]
        made[1, at, :count] = 1
        made[2, at, :count] = row.type_ids[:count]
    return made[0], made[1], made[2]
