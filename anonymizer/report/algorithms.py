"""What a report has to know of the algorithm that it names; it is read without the search that made it."""

from __future__ import annotations

from typing import Any

from anonymizer.search.base import algorithm_of


def full_domain(name: Any) -> bool:
    """Return whether an algorithm publishes one level of each attribute."""
    found = algorithm_of(name)
    return found is not None and found.full_domain


def own_nodes(name: Any) -> bool:
    """Return whether an algorithm gives each record nodes of the hierarchies of its own."""
    found = algorithm_of(name)
    return found is not None and found.own_nodes


def in_groups(name: Any) -> bool:
    """Return whether an algorithm releases two tables joined by bucket."""
    found = algorithm_of(name)
    return found is not None and found.in_groups
