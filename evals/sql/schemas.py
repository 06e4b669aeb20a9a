"""The sample sources by name."""

from collections.abc import Callable, Mapping

from evals.sql.ops import ops
from evals.sql.shop import shop
from retrieval.sql.schema import Source

SOURCES: Mapping[str, Callable[[str], Source]] = {"shop": shop, "ops": ops}
"""Name -> the source at a URL."""
