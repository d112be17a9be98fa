"""What remains of a class when one of its parts leaves."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.search.local_recoding.assignment import Assignment


def without_part(assignment: Assignment) -> CodeArray:
    """Return the lowest common ancestors of each part's class without that part.

    Returns
    -------
    Nodes, shape (parts of classes, quasi-identifiers), int32; those of the part itself where it is alone.
    """
    own, trees = assignment, assignment.ground.trees
    nodes = own.ground.atoms.nodes[own.atoms[own.first :]]
    starts = own.starts[:-1] - own.first
    class_of = own.class_of[own.first :]
    first = _least_of_others(trees.first[nodes], starts, class_of)
    last = -_least_of_others(-trees.last[nodes], starts, class_of)
    # Climbing begins at a member that stays: the class's first part, or its second where the first leaves.
    stays = starts[class_of]
    lengths = np.diff(np.append(starts, len(nodes)))
    leads = np.arange(len(nodes)) == stays
    stays = stays + (leads & (lengths[class_of] > 1))
    alone = lengths[class_of] == 1
    first[alone], last[alone] = trees.first[nodes[alone]], trees.last[nodes[alone]]
    return trees.covering(nodes[stays], first, last)


def _least_of_others(values: CodeArray, starts: IntArray, class_of: IntArray) -> CodeArray:
    """Return for each row the least value of the other rows of its group, column by column."""
    least = np.minimum.reduceat(values, starts, axis=0)[class_of]
    at_least = values == least
    times = np.add.reduceat(at_least.astype(np.int32), starts, axis=0)[class_of]
    above = np.where(at_least, np.iinfo(values.dtype).max, values)
    second = np.minimum.reduceat(above, starts, axis=0)[class_of]
    found: CodeArray = np.where(at_least & (times == 1), second, least)
    return found


def savings(assignment: Assignment) -> FloatArray:
    """Return what the sum of all costs falls by when a part leaves its class, shape (parts of classes,)."""
    own = assignment
    class_of, counts = own.class_of[own.first :], own.counts[own.first :]
    rest = own.sizes[class_of] - counts
    after = rest * own.ground.costs(without_part(own))
    saved: FloatArray = own.sizes[class_of] * own.costs[class_of] - np.where(rest > 0, after, 0.0)
    return saved
