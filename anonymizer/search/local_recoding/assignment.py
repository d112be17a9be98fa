"""Which records are in which class of a local recoding, and which are suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.counting import count
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST, LocalProblem

SUPPRESSED = -1
"""Class number of suppressed records."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """Parts of atoms with their classes; every class is published at its lowest common ancestors.

    Attributes
    ----------
    atoms: atom of each part, shape (parts,), int64; parts are sorted by class, then by atom, and distinct.
    counts: records of each part, shape (parts,), int64, positive.
    class_of: class of each part, shape (parts,), int64, ``SUPPRESSED`` for suppressed records.
    nodes: published nodes of each class, shape (classes, quasi-identifiers), int32, all rows different.
    """

    ground: LocalProblem
    atoms: IntArray
    counts: IntArray
    class_of: IntArray
    nodes: CodeArray

    @classmethod
    def of(cls, ground: LocalProblem, atoms: IntArray, counts: IntArray, labels: IntArray) -> Assignment:
        """Build the assignment of parts to classes.

        Parameters
        ----------
        atoms, counts: of each part, shape (parts,); parts with equal atom and label are put together.
        labels: any class numbers, shape (parts,), negative for suppressed; classes whose lowest common
            ancestors are alike become one.
        """
        suppressed = labels < 0
        distinct, class_of = np.unique(labels[~suppressed], return_inverse=True)
        nodes = common_nodes(ground, atoms[~suppressed], class_of.reshape(-1), len(distinct))
        order, same = sorted_rows(nodes)
        number = np.empty(len(nodes), dtype=np.int64)
        number[order] = np.cumsum(~same) - 1
        merged = np.full(len(atoms), SUPPRESSED, dtype=np.int64)
        merged[~suppressed] = number[class_of.reshape(-1)]
        keys, part_of = np.unique((merged + 1) * ground.atoms.number + atoms, return_inverse=True)
        return cls(
            ground,
            keys % ground.atoms.number,
            count(part_of.reshape(-1), counts, len(keys)),
            keys // ground.atoms.number - 1,
            nodes[order[~same]],
        )

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.nodes)

    @cached_property
    def first(self) -> int:
        """Number of the parts that are suppressed, which come first."""
        return int(np.searchsorted(self.class_of, 0))

    @cached_property
    def starts(self) -> IntArray:
        """First part of each class and, last, the number of parts, shape (classes + 1,), int64."""
        return np.searchsorted(self.class_of, np.arange(self.classes + 1)).astype(np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each class, shape (classes,), int64."""
        return count(self.class_of[self.first :], self.counts[self.first :], self.classes)

    @cached_property
    def costs(self) -> FloatArray:
        """What a record of each class costs, shape (classes,), float64."""
        return self.ground.costs(self.nodes)

    @cached_property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return int(self.counts[: self.first].sum())

    @property
    def kept(self) -> IntArray:
        """Records of each atom that are not suppressed, shape (atoms,), int64."""
        return count(self.atoms[self.first :], self.counts[self.first :], self.ground.atoms.number)

    @cached_property
    def total(self) -> float:
        """Sum of the records' costs."""
        return float(self.sizes @ self.costs) + self.suppressed * SUPPRESSION_COST

    @property
    def loss(self) -> float:
        """Mean of the records' costs."""
        return self.total / self.ground.records


def common_nodes(ground: LocalProblem, atoms: IntArray, class_of: IntArray, number: int) -> CodeArray:
    """Return the lowest common ancestors of classes of atoms, shape (classes, quasi-identifiers), int32.

    ``NONE`` stands where no allowed node covers a class.

    Parameters
    ----------
    atoms, class_of: of the parts, shape (parts,), in any order; every class has a part.
    """
    if not number:
        return np.zeros((0, ground.trees.attributes), dtype=np.int32)
    order = np.argsort(class_of, kind="stable")
    starts = np.searchsorted(class_of[order], np.arange(number))
    return ground.trees.common_of_groups(ground.atoms.nodes[atoms[order]], starts)


def sorted_rows(rows: CodeArray) -> tuple[IntArray, BoolArray]:
    """Return the order of rows of a table and, in that order, which equal the one before, both (rows,)."""
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    same = np.zeros(len(rows), dtype=bool)
    same[1:] = (ranked[1:] == ranked[:-1]).all(axis=1)
    return order.astype(np.int64), same
