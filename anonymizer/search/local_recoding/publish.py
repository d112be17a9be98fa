"""From an assignment of atoms to a recoding of the combinations of the table."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.recoding import NodeRecoding
from anonymizer.search.local_recoding.assignment import Assignment


def recoding_of(assignment: Assignment, *, kept_suppressed: bool) -> NodeRecoding:
    """Return what is published for each combination, split where its records are in several classes.

    Parameters
    ----------
    kept_suppressed: whether suppressed records stay as one class.
    """
    own, table = assignment, assignment.ground.problem.table
    combination, part, counts = _shares(own)
    order = np.lexsort((part, combination))
    combination, part, counts = combination[order], part[order], counts[order]
    class_of = own.class_of[part]
    suppressed = class_of < 0
    nodes = own.ground.atoms.nodes[own.atoms[part]]
    nodes[~suppressed] = own.nodes[class_of[~suppressed]]
    removed = np.zeros_like(suppressed) if kept_suppressed else suppressed
    published = own.ground.trees.node[nodes]
    if len(combination) == table.combinations:
        return NodeRecoding(table, published, suppressed, removed)
    return NodeRecoding(table.split(combination, counts), published, suppressed, removed, combination)


def _shares(assignment: Assignment) -> tuple[IntArray, IntArray, IntArray]:
    """Give every combination of an atom its share of the atom's parts, in order.

    Returns
    -------
    combination, part and records of each share, each of shape (shares,), int64.
    """
    table, atom_of = assignment.ground.problem.table, assignment.ground.atoms.atom_of
    combinations, parts = np.argsort(atom_of, kind="stable"), np.argsort(assignment.atoms, kind="stable")
    # Both sequences divide the same line of records, atom after atom: shares end where either does.
    ends = np.cumsum(table.counts[combinations])
    part_ends = np.cumsum(assignment.counts[parts])
    all_ends = np.union1d(ends, part_ends)
    return (
        combinations[np.searchsorted(ends, all_ends)],
        parts[np.searchsorted(part_ends, all_ends)],
        np.diff(all_ends, prepend=0),
    )
