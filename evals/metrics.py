"""Measures of a run, by ir_measures: nDCG@10, recall at 5, 10 and 50, reciprocal rank at 10.

A query that got nothing counts 0; a query without judgements is left out. A judged document that
the corpus lacks counts as not found.
"""

from collections.abc import Iterable, Mapping

import ir_measures
from ir_measures import RR, R, nDCG

from evals.types import Means, Qrels, Run

MEASURES = (nDCG @ 10, R @ 5, R @ 10, R @ 50, RR @ 10)
NAMES = tuple(str(measure) for measure in MEASURES)
DEPTH = 50
"""Documents a query needs at most."""


def by_query(qrels: Qrels, run: Run) -> dict[str, Means]:
    """Return query id -> measure -> value, for every query that has judgements."""
    found: dict[str, Means] = {query: dict.fromkeys(NAMES, 0.0) for query in qrels}
    for value in ir_measures.iter_calc(MEASURES, qrels, run):
        found[value.query_id][str(value.measure)] = float(value.value)
    return found


def mean(values: Iterable[Means]) -> Means:
    """Return the mean of each measure; 0 of no queries."""
    rows = list(values)
    return {name: sum(row[name] for row in rows) / max(len(rows), 1) for name in NAMES}


def by_category(values: Mapping[str, Means], category: Mapping[str, str]) -> dict[str, Means]:
    """Return category -> means, in the order the categories appear; queries of none are left out.

    ``category`` maps a query id to its category.
    """
    groups: dict[str, list[Means]] = {}
    for query, row in values.items():
        if category.get(query):
            groups.setdefault(category[query], []).append(row)
    return {name: mean(rows) for name, rows in groups.items()}
