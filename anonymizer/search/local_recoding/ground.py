"""What stays the same during a local recoding: the atoms, the trees, and what joining classes costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.loss.base import ArithmeticMean, CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.counting import count
from anonymizer.search.base import SearchProblem
from anonymizer.search.local_recoding.joins import Joins
from anonymizer.search.local_recoding.trees import NONE, AllowedTrees, allowed_trees

SUPPRESSION_COST = 1.0
"""Loss of a suppressed record: every cell costs 1, and the shares of the weights add up to 1."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Combinations of a table that no class, no cost and no constraint tells apart.

    Attributes
    ----------
    nodes: smallest allowed nodes, shape (atoms, quasi-identifiers), int32.
    counts: records of each atom, shape (atoms,), int64.
    atom_of: atom of each combination of the table, shape (combinations,), int64.
    sensitive: value codes of the sensitive attributes that a constraint looks at, by name, shape (atoms,).
    """

    nodes: CodeArray
    counts: IntArray
    atom_of: IntArray
    sensitive: dict[str, SensitiveCodes]

    @property
    def number(self) -> int:
        """Number of atoms."""
        return len(self.counts)


class LocalProblem:
    """The atoms of a problem with the trees that generalize them.

    Parameters
    ----------
    problem: its metric guides the search if it is a sum of cell costs; otherwise ``loss`` does.

    Attributes
    ----------
    additive: whether the guide is the problem's own metric.
    metric: the guide.
    trees: the allowed nodes.
    atoms: what is assigned to classes.
    joins: costs of joined node vectors.
    """

    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        metric = problem.metric
        self.additive = isinstance(metric, CellMetric) and isinstance(metric.aggregate, ArithmeticMean)
        self.metric = metric if isinstance(metric, CellMetric) else LeafShareLoss()
        self.trees: AllowedTrees = allowed_trees(problem.table.quasi_identifiers, self.metric)
        self.atoms = self._atoms()
        self.joins = Joins(self.trees)
        self.records = problem.table.records

    def _atoms(self) -> Atoms:
        table = self.problem.table
        columns = [
            own[table.quasi_identifier_codes(position)] for position, own in enumerate(self.trees.lowest)
        ]
        width = len(columns)
        watched = self._watched()
        columns += [table.sensitive_codes(name) for name in watched]
        rows, atom_of = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        atom_of = atom_of.reshape(-1).astype(np.int64)
        sensitive = {
            name: SensitiveCodes(
                table.sensitive[table.sensitive_names.index(name)], rows[:, width + i].astype(np.int64)
            )
            for i, name in enumerate(watched)
        }
        nodes = np.ascontiguousarray(rows[:, :width])
        return Atoms(nodes, count(atom_of, table.counts, len(rows)), atom_of, sensitive)

    def _watched(self) -> list[str]:
        """Return the sensitive attributes that a constraint looks at; all of them where one is combined."""
        constraints = (*self.problem.class_constraints, *self.problem.table_constraints)
        if any(each.combined for each in constraints):
            return self.problem.table.sensitive_names
        wanted = {each.attribute for each in constraints if each.attribute is not None}
        return [name for name in self.problem.table.sensitive_names if name in wanted]

    def classes(self, atoms: IntArray, counts: IntArray, class_of: IntArray, number: int) -> Classes:
        """Return classes of parts of atoms as the constraints see them; arrays of shape (parts,)."""
        sensitive = {
            name: SensitiveCodes(own.attribute, own.codes[atoms])
            for name, own in self.atoms.sensitive.items()
        }
        return Classes(class_of, counts, number, sensitive)

    def costs(self, nodes: CodeArray) -> FloatArray:
        """Return what a record costs in classes with these nodes, (classes,); infinite with ``NONE``."""
        impossible: BoolArray = (nodes == NONE).any(axis=-1)
        known = self.trees.costs(np.where(impossible[..., None], 0, nodes))
        return np.where(impossible, np.inf, known)
