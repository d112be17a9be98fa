"""The search algorithms by name."""

from __future__ import annotations

from anonymizer.plugins import Registry
from anonymizer.search.base import SearchAlgorithm

SEARCH_ALGORITHMS: Registry[SearchAlgorithm] = Registry(
    "search algorithm", SearchAlgorithm, "anonymizer.search", "anonymizer.search_algorithms"
)
