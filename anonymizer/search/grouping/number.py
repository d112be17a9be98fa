"""Number groups by what is published of them, so that the numbers tell nothing more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import group_keys
from anonymizer.model.table import Table


def published_ranks(table: Table, levels: Sequence[int]) -> IntArray:
    """Return the rank of each combination among the published tuples, shape (combinations,), int64."""
    ranks, number = np.zeros(table.combinations, dtype=np.int64), 1
    for position, (attribute, level) in enumerate(zip(table.quasi_identifiers, levels, strict=True)):
        nodes = attribute.nodes(level)[table.quasi_identifier_codes(position)]
        size = len(attribute.hierarchy.labels)
        ranks, distinct = group_keys(ranks * size + nodes, number * size)
        number = len(distinct)
    return ranks


def renumbered(group: IntArray, groups: int, published: Sequence[IntArray]) -> IntArray:
    """Return the groups of records, numbered in the order of what is published of each.

    Groups are compared by their sorted ranks in the first column, then in the next. Those of which the same
    is published keep the order of their numbers, which then nobody can tell apart.

    Parameters
    ----------
    group: of each record, shape (records,), int64; negative for removed ones.
    groups: how many there are, each with a record.
    published: ranks of each record, shape (records,), int64 each.
    """
    seated = np.flatnonzero(group >= 0)
    order = np.zeros(groups, dtype=np.int64)
    number = 1
    for ranks in published:
        own = seated[np.lexsort((ranks[seated], group[seated]))]
        starts = np.searchsorted(group[own], np.arange(groups + 1))
        sizes, space = np.diff(starts), int(ranks.max(initial=0)) + 2
        for place in range(int(sizes.max(initial=0))):
            if number == groups:
                break
            inside = sizes > place
            column = np.zeros(groups, dtype=np.int64)
            column[inside] = ranks[own[starts[:-1][inside] + place]] + 1
            order, distinct = group_keys(order * space + column, number * space)
            number = len(distinct)
    new = np.empty(groups, dtype=np.int64)
    new[np.argsort(order, kind="stable")] = np.arange(groups)
    numbers: IntArray = np.where(group >= 0, new[group], group)
    return numbers
