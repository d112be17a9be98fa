"""Small values of a hierarchy merged with small siblings into one node."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.hierarchy.labels import distinct
from anonymizer.model.arrays import IntArray
from anonymizer.model.table import Hierarchy


def merge_small(hierarchy: Hierarchy, records: Mapping[str, int], least: int) -> Tree:
    """Return a hierarchy with one more level above the values, where small ones are merged.

    Under the lowest node that has several values, those of fewer than ``least`` records become one node
    ``other``, named after that node where it is not the root. If they are fewer than ``least`` together, the
    next smallest of its values joins them. Who sees the labels learns which values are rare.

    Parameters
    ----------
    records: with each value; values that it lacks have none.
    least: smallest number of records of a value that stays by itself, at least 1.
    """
    labels = np.array(hierarchy.labels, dtype=object)
    counts = np.array([records.get(labels[node], 0) for node in hierarchy.ancestors[0]], dtype=np.int64)
    level = _lowest_shared(hierarchy)
    parents = hierarchy.ancestors[level, np.arange(hierarchy.leaves)].astype(np.int64)
    merged = _merged(parents, counts, least)
    nodes = np.unique(parents[merged])
    named = ["other" if node == 0 else f"{labels[node]}, other" for node in nodes.tolist()]
    # No other label may be the same: what is published would not tell them apart.
    names = distinct([*hierarchy.labels, *named])[len(labels) :]
    other = dict(zip(nodes.tolist(), names, strict=True))
    rows = [labels[each].tolist() for each in [hierarchy.ancestors[0], *hierarchy.ancestors[:-1]]]
    for leaf in np.flatnonzero(merged).tolist():
        # Up to the node that they are all under: below it, the path of a merged value is that of the others.
        for step in range(1, level[leaf] + 1):
            rows[step][leaf] = other[parents[leaf]]
    return tree_of_rows(rows, hierarchy.labels[0])


def _lowest_shared(hierarchy: Hierarchy) -> IntArray:
    """Return for each leaf the level of its lowest ancestor with several leaves, shape (leaves,), int64."""
    sizes = hierarchy.leaf_counts()[hierarchy.ancestors]
    shared = sizes > 1
    # In a tree of a single value no node has several; its root stands for that one.
    shared[-1] = True
    level: IntArray = shared.argmax(axis=0).astype(np.int64)
    return level


def _merged(parents: IntArray, counts: IntArray, least: int) -> np.ndarray:
    """Tell which leaves are merged, shape (leaves,): the small ones of a parent, and who must join them."""
    order = np.lexsort((counts, parents))
    grouped = parents[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    total = np.cumsum(counts[order])
    before = np.repeat(total[starts] - counts[order][starts], sizes)
    # All before it, from the smallest on, are fewer than asked: so it is small itself, or has to join.
    needed = total - before - counts[order] < least
    small = counts[order] < least
    some_small = np.repeat(np.logical_or.reduceat(small, starts), sizes)
    several = np.repeat(sizes > 1, sizes)
    chosen = (small | needed) & some_small & several
    merged = np.zeros(len(order), dtype=np.bool_)
    merged[order] = chosen
    return merged
