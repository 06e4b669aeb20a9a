"""A first ingest on many processes or machines: `ingest_bulk`, with any task runner of Prefect.

Each task gets the number of its share, opens the memory itself and indexes that share. Then the
flow goes over the whole source as `ingest_documents` does: what no share could index is tried
again, what two shares had alike is settled, and what is gone is removed.
"""

from itertools import chain

from prefect import flow
from prefect.futures import wait

import pipelines  # noqa: F401 - switches telemetry off before Prefect is used
from configs.build import opened
from indexing.errors import InvalidInput
from indexing.index import Report
from indexing.sync import Sync
from pipelines.counts import counts_of
from pipelines.errors import fit_to_store
from pipelines.flows import feed_of, ingest_documents, run_name, scope_of, settings_of
from pipelines.steps import step


@step("share {number} of {shares}")
def index_share(
    number: int,
    shares: int,
    source: str,
    path: str,
    user_id: str | None,
    session_id: str | None,
    data_dir: str | None,
) -> dict[str, int]:
    """Index every ``shares``-th entry of a source, from ``number`` on; return the counts."""
    settings = settings_of(data_dir)
    with fit_to_store(), opened(settings) as parts:
        feed = feed_of(settings, source, path, scope_of(user_id, session_id))
        run = Sync(parts.index.catalog, feed, parts.access)
        ids = tuple(chain.from_iterable(run.pages()))[number::shares]
        return counts_of(run.apply(parts.index, ids))


@flow(persist_result=False, flow_run_name=run_name)
def ingest_bulk(
    source: str = "",
    path: str = "",
    user_id: str | None = None,
    session_id: str | None = None,
    shares: int = 8,
    data_dir: str | None = None,
) -> Report:
    """Bring the index in step with a source, its documents divided among ``shares`` tasks.

    Returns the report of the last look over the source: what the shares indexed is unchanged there.
    """
    if shares < 1:
        raise InvalidInput(f"shares must be at least 1, got {shares}")
    given = (source, path, user_id, session_id)
    wait([index_share.submit(number, shares, *given, data_dir) for number in range(shares)])
    report: Report = ingest_documents(*given, data_dir=data_dir)
    return report
