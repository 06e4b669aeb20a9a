"""The best of a ranking -> whole memories: read page by page, copies of one another made one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from indexing.errors import StoreError
from indexing.store import VectorStore
from indexing.types import Memory, Scope
from retrieval.copies import collapse
from retrieval.rank import Ranking
from retrieval.search import Question
from retrieval.trace import Dropped, Log
from retrieval.types import Hit

More = Callable[[Sequence[Hit]], int]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what a ranking names, as the question may see it."""

    store: VectorStore
    question: Question

    def best(self, ranking: Ranking, need: int, log: Log, more: More | None = None) -> list[Hit]:
        """Return the best hits, ``need`` of them where there are as many different ones.

        ``more`` is asked once, with the first of them, how many are needed in all.
        A scope that cannot be read is asked once, and named in the log; raises its `StoreError`
        where there is no other.
        """
        hits: list[Hit] = []
        failed: dict[Scope, StoreError] = {}
        start = 0
        while len(hits) < need and start < len(ranking.order):
            wanted = ranking.order[start : start + need - len(hits)]
            hits, copies = collapse([*hits, *self._read(ranking, wanted, start, failed, log)])
            log.dropped += copies
            start += len(wanted)
            if more:
                need, more = max(need, more(hits)), None
        if failed and failed.keys() >= set(ranking.owners.values()):
            raise next(iter(failed.values()))
        log.stage("collapse", start, len(hits))
        return hits

    def _read(
        self,
        ranking: Ranking,
        wanted: Sequence[tuple[str, float]],
        start: int,
        failed: dict[Scope, StoreError],
        log: Log,
    ) -> list[Hit]:
        """Read memories; what was deleted meanwhile is left out."""
        by_scope: dict[Scope, list[str]] = {}
        for name, _ in wanted:
            if ranking.owners[name] not in failed:
                by_scope.setdefault(ranking.owners[name], []).append(name)
        memories = self._memories(by_scope, failed, log)
        hits = []
        for rank, (name, score) in enumerate(wanted, start + 1):
            if memory := memories.get(name):
                hits.append(Hit(memory, rank, score, ranking.stages(name), rank, score))
            else:
                scope = ranking.owners[name]
                detail = "cannot be read" if scope in failed else ""
                log.dropped.append(Dropped(name, str(scope), "gone", detail))
        return hits

    def _memories(
        self, by_scope: Mapping[Scope, Sequence[str]], failed: dict[Scope, StoreError], log: Log
    ) -> dict[str, Memory]:
        """Return the memories by id; a scope that cannot be read joins those that ``failed``."""
        found: dict[str, Memory] = {}
        for scope, ids in by_scope.items():
            where = self.question.where(scope, tuple(ids))
            try:
                read = self.store.get(scope.collection, where, limit=len(ids))
            except StoreError as error:
                failed[scope] = error
                log.notes.append(f"{scope}: {error}")
            else:
                found |= {memory.id: memory for memory in read}
        return found
