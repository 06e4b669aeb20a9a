"""Rerank candidates within a time: the model loaded once, windows, cache, budget, watchdog.

Candidates are scored in the fused order, call by call; before each the stage asks what it has
learnt of the model's speed how many more fit into the time that is left. So what is scored is
always the beginning of the fused order, and what is not keeps its place behind it. When the model
fails, or one call takes longer than the time limit, there are no scores at all, and the note says
why.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate

from indexing.errors import LetopisError, ModelError
from retrieval.rerank.cache import ScoreCache
from retrieval.rerank.candidates import Candidates
from retrieval.rerank.speed import Speed
from retrieval.rerank.types import Reranked, Reranker, Scores
from retrieval.rerank.windows import Ruler, Window, frame

PROBE = 4
"""Windows of the very first call, which shows how fast the model is."""
SHARE = 0.5
"""Of the time that is left, what one local call may take: when it is slow, half is still there."""
THREADS = 32
"""Calls of the model at once; callers past that wait, and their time runs."""


class RerankTimeout(ModelError):
    """One call of the reranker took longer than its time limit."""


@dataclass(frozen=True, slots=True)
class RerankLimits:
    """How much is reranked.

    ``budget_ms`` is for all calls of one question, ``timeout`` (seconds) for a single one; None:
    ``timeout`` is the budget too. ``window`` (0: all the model reads) and ``overlap`` are tokens of
    a passage. ``cache`` is how many scores are kept. ``characters`` is how much is read at most, 0:
    any: unlike a time it gives the same answer on every machine.
    """

    candidates: int = 50
    budget_ms: float | None = None
    timeout: float = 5.0
    window: int = 0
    overlap: int = 64
    cache: int = 10_000
    characters: int = 0

    def candidates_of(self, passages: Sequence[str]) -> int:
        """Return how many of the passages are read, the first always."""
        most = self.characters or math.inf
        upto = accumulate(map(len, passages[: self.candidates]))
        return max(1, sum(size <= most for size in upto))


class RerankStage:
    """A reranker that is loaded at its first question and kept. Thread-safe.

    ``load`` makes the model; ``clock`` answers seconds.
    """

    def __init__(
        self,
        load: Callable[[], Reranker],
        limits: RerankLimits | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.limits = limits or RerankLimits()
        self.speed = Speed()
        self._load = load
        self._clock = clock
        self._model: Reranker | None = None
        self._loading = threading.Lock()
        self._cache = ScoreCache(self.limits.cache)
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="letopis-rerank")

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._model is not None

    def reranker(self) -> Reranker:
        """Return the model, loaded at the first call. Raises what loading raises."""
        with self._loading:
            if self._model is None:
                self._model = self._load()
                self.speed = Speed(self._model.remote)
            return self._model

    def clear(self) -> None:
        """Forget all cached scores: numbers under keyed digests, for no text is kept."""
        self._cache.clear()

    def close(self) -> None:
        """Let go of the threads; a call that hangs is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def rerank(
        self, query: str, passages: Sequence[str], budget_ms: float | None = None
    ) -> Reranked:
        """Score passages, given in the fused order, within ``budget_ms``; None: that of the limits.

        The first is always scored. Loading the model is not part of the budget. Raises nothing for
        a model that fails: ``failed`` is set then.
        """
        started = self._clock()
        budget = self.limits.budget_ms if budget_ms is None else budget_ms
        budget = self.limits.timeout * 1000 if budget is None else budget
        try:
            return self._rerank(query, passages, budget, started)
        except LetopisError as error:
            note = f"not reranked: {type(error).__name__}: {error}"
            nothing = (None,) * len(passages)
            return Reranked(nothing, 0, 0, 0, self._since(started), note, failed=True)

    def _rerank(
        self, query: str, passages: Sequence[str], budget: float, started: float
    ) -> Reranked:
        model, limits = self.reranker(), self.limits
        ends = self._clock() + budget / 1000
        ruler = Ruler(model.tokenizer)
        around = frame(query, model.max_tokens, limits.window, ruler)
        texts = passages[: limits.candidates_of(passages)]
        how = f"{around.room} {limits.overlap}"
        keys = [self._cache.key(model.name, how, around.query, text) for text in texts]
        known = [self._cache.get(key) for key in keys]
        found = Candidates(texts, known, lambda text: around.windows(text, limits.overlap, ruler))
        windows = 0
        while found.leading < len(texts) and (wave := self._next(found, model, ends)):
            best = self._best(model, around.query, wave)
            windows += sum(map(len, wave.values()))
            for place, score in best.items():
                found.scores[place] = score
                self._cache.put(keys[place], score)
        done = found.leading
        notes = []
        if len(texts) < min(len(passages), limits.candidates):
            notes.append(f"the first {len(texts)}: {limits.characters} characters")
        if done < len(texts):
            notes.append(f"{done} of {len(texts)} candidates: {budget:g} ms budget at {self.speed}")
        if around.cut_from:
            notes.append(f"query of {around.cut_from} tokens cut to half of what the model reads")
        return Reranked(
            scores=(*found.scores[:done], *(None,) * (len(passages) - done)),
            scored=done,
            cached=sum(score is not None for score in known[:done]),
            windows=windows,
            milliseconds=self._since(started),
            note="; ".join(notes),
        )

    def _next(self, found: Candidates, model: Reranker, ends: float) -> dict[int, list[Window]]:
        """Return what the time that is left allows to score next; at first a few, to measure."""
        if not self.speed.known:
            return found.next(float("inf"), model.call_tokens, PROBE)
        tokens = self.speed.affords((ends - self._clock()) * 1000)
        call = model.call_tokens if model.remote else min(model.call_tokens, SHARE * tokens)
        return found.next(tokens, call, float("inf"))

    def _best(self, model: Reranker, query: str, wave: dict[int, list[Window]]) -> dict[int, float]:
        """Return the best window's score of each place. Raises `ModelError`."""
        flat = [window for windows in wave.values() for window in windows]
        scores: list[float] = []
        while (start := len(scores)) < len(flat):
            upto = start + 1
            room = model.call_tokens - flat[start].tokens
            while upto < len(flat) and (room := room - flat[upto].tokens) >= 0:
                upto += 1
            scores += self._call(model, query, flat[start:upto])
        each = iter(scores)
        return {place: max(next(each) for _ in windows) for place, windows in wave.items()}

    def _call(self, model: Reranker, query: str, windows: Sequence[Window]) -> list[float]:
        """Run the model once, under watch, and learn from the time that it took.

        Raises `ModelError`, and `RerankTimeout` when there is no answer in time.
        """
        started = self._clock()
        texts = [window.text for window in windows]
        running: Future[Scores] = self._pool.submit(model.scores, query, texts)
        try:
            scores: list[float] = running.result(self.limits.timeout).tolist()
        except TimeoutError as error:
            running.cancel()
            raise RerankTimeout(f"no answer within {self.limits.timeout:g} s") from error
        self.speed.learn(sum(window.tokens for window in windows), self._since(started))
        return scores

    def _since(self, started: float) -> float:
        return (self._clock() - started) * 1000
