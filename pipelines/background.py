"""Scheduled runs stay out of the way of retrieval: a low priority, few threads, few at once.

Runs that somebody waits for, as `letopis ingest --flow`, use the whole machine; only the number of
files that are embedded at once, over all runs that share a Prefect server, holds for them too.
"""

import os
import time
from contextlib import ExitStack

from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency
from prefect.runtime import deployment
from prefect.settings import get_current_settings

from configs.settings import Settings

EMBEDDING = "letopis-embedding"
"""The name of the concurrency limit on the Prefect server."""

LEASE_SECONDS = 60.0
"""How long the slot of a run that was killed stays taken: the least that Prefect allows."""

HOLD_SECONDS = 10.0
"""How long a run keeps its slot while it has files to embed."""

PAUSE_SECONDS = 0.5
"""How long it then leaves it to others; they ask every second or so."""


def step_back(settings: Settings) -> Settings:
    """In a run of a deployment lower the priority of this process and the embedder's threads."""
    if deployment.id is None:
        return settings
    chosen = settings.schedule
    if hasattr(os, "nice"):
        os.nice(max(0, chosen.nice - os.nice(0)))
    threads = chosen.threads or max(1, (os.cpu_count() or 2) // 2)
    embedder = settings.embedder.model_copy(update={"threads": threads})
    return settings.model_copy(update={"embedder": embedder})


def set_limit(workers: int) -> None:
    """Let at most so many slots be taken at once, on a Prefect server that runs share."""
    if shares_a_server():
        with get_client(sync_client=True) as client:
            client.upsert_global_concurrency_limit_by_name(EMBEDDING, workers)


class Turn:
    """The right to embed, taken in turns with other runs: `take` before a file, `give` at the end.

    A slot costs a fifth of a second, more than a small file, so it is held for some seconds.
    """

    def __init__(self) -> None:
        self._held = ExitStack()
        self._since: float | None = None

    def __enter__(self) -> "Turn":
        return self

    def __exit__(self, *_: object) -> None:
        self.give()

    def take(self) -> None:
        """Return when fewer than the limit embed, counting as one of them from then on."""
        if not shares_a_server():
            return
        if self._since is not None:
            if time.monotonic() - self._since < HOLD_SECONDS:
                return
            self.give()
            time.sleep(PAUSE_SECONDS)
        slot = concurrency(
            EMBEDDING, lease_duration=LEASE_SECONDS, raise_on_lease_renewal_failure=False
        )
        self._held.enter_context(slot)
        self._since = time.monotonic()

    def give(self) -> None:
        """Let another run embed."""
        self._held.close()
        self._since = None


def shares_a_server() -> bool:
    """Tell whether other runs may be on the same Prefect server: not on a private one."""
    return get_current_settings().api.url is not None
