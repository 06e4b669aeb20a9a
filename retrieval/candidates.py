"""The best of a ranking -> whole memories: read page by page, copies of one another made one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexing.errors import StoreError
from indexing.store import VectorStore
from indexing.types import Memory, Scope
from retrieval.copies import collapse
from retrieval.rank import Ranking
from retrieval.search import Question
from retrieval.trace import Dropped, Log
from retrieval.types import Hit


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what a ranking names, as the question may see it."""

    store: VectorStore
    question: Question

    def best(self, ranking: Ranking, need: int, log: Log) -> list[Hit]:
        """Return the best hits, ``need`` of them where there are as many different ones."""
        hits: list[Hit] = []
        start = 0
        while len(hits) < need and start < len(ranking.order):
            wanted = ranking.order[start : start + need - len(hits)]
            hits, copies = collapse([*hits, *self._read(ranking, wanted, start, log)])
            log.dropped += copies
            start += len(wanted)
        log.stage("collapse", start, len(hits))
        return hits

    def _read(
        self, ranking: Ranking, wanted: Sequence[tuple[str, float]], start: int, log: Log
    ) -> list[Hit]:
        """Read memories; what was deleted meanwhile is left out."""
        by_scope: dict[Scope, list[str]] = {}
        for name, _ in wanted:
            by_scope.setdefault(ranking.owners[name], []).append(name)
        memories = self._memories(by_scope, log)
        hits = []
        for rank, (name, score) in enumerate(wanted, start + 1):
            if memory := memories.get(name):
                hits.append(Hit(memory, rank, score, ranking.stages(name), rank, score))
            else:
                log.dropped.append(Dropped(name, str(ranking.owners[name]), "gone"))
        return hits

    def _memories(self, by_scope: Mapping[Scope, Sequence[str]], log: Log) -> dict[str, Memory]:
        """Return the memories by id. Raises `StoreError` when no scope could be read."""
        found: dict[str, Memory] = {}
        failed: list[StoreError] = []
        for scope, ids in by_scope.items():
            where = self.question.where(scope, tuple(ids))
            try:
                read = self.store.get(scope.collection, where, limit=len(ids))
            except StoreError as error:
                failed.append(error)
                log.notes.append(f"{scope}: {error}")
            else:
                found |= {memory.id: memory for memory in read}
        if failed and len(failed) == len(by_scope):
            raise failed[0]
        return found
