"""The fewest records of all classes jointly while the reference is what stays, by trying the references.

How many records of each value of the referring attributes go decides the reference. With that given, the
conditions are those of a reference that stands, and what stays has to add up to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, Reference
from anonymizer.model.counting import count
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint
from anonymizer.privacy.conditions import CountConditions
from anonymizer.search.suppression.class_problem import ClassProblem, View
from anonymizer.search.suppression.class_solver import solve
from anonymizer.search.suppression.fixed_reference import FixedReference
from anonymizer.search.suppression.rules import rules_of
from anonymizer.search.suppression.sensitive_cells import SensitiveCells, sensitive_cells
from anonymizer.search.suppression.suppressor import References, holding

FEW = 8
"""Of so few records every loss may be tried."""

TRIED = 50
"""References that are tried for one candidate; where there are more, its gap is left."""

CELLS = 40
"""Cells of classes up to which they are tried at all: each may take an integer programme."""


@dataclass(frozen=True, eq=False)
class Joint:
    """What is suppressed of all classes.

    Attributes
    ----------
    gone: records of each item, shape (items,), int64; None where nothing better was found.
    fewest: no fewer records can be suppressed.
    """

    gone: IntArray | None
    fewest: int


class MovingReference:
    """The records of all classes under the reference of what stays of them.

    Parameters
    ----------
    references: of every attribute; only those that constraints compare with are put in anew.
    """

    def __init__(self, table: Table, constraints: Sequence[ClassConstraint], references: References) -> None:
        self._table = table
        self._standing = references
        self._constraints = tuple(constraints)
        referring = {each.attribute for each in constraints if each.model.uses_reference}
        self._referring = [each for each in table.sensitive if each.name in referring]

    def suppress(self, classes: Classes, fewest: int, below: int) -> Joint:
        """Return the fewest records to suppress if they are fewer than so many.

        Parameters
        ----------
        fewest: no fewer records can be suppressed.
        """
        cells = sensitive_cells(classes, np.ones(classes.number, dtype=bool), self._table.sensitive)
        if len(cells.counts) > CELLS:
            return Joint(None, fewest)
        kinds = _Kinds.of(cells, self._referring)
        tried = 0
        for gone in range(fewest, min(below, classes.records)):
            for lost in kinds.losses(gone):
                tried += 1
                if tried > TRIED and classes.records > FEW:
                    return Joint(None, gone)
                kept, possible = self._with_losses(cells, kinds, lost)
                if kept is not None:
                    found = np.zeros_like(classes.counts)
                    found[cells.items] = cells.gone(cells.counts - kept)
                    return Joint(found, gone)
                if possible:
                    return Joint(None, gone)
        return Joint(None, max(fewest, below))

    def _with_losses(
        self, cells: SensitiveCells, kinds: _Kinds, lost: IntArray
    ) -> tuple[IntArray | None, bool]:
        """Return what stays of each cell when so many records of each kind go, and whether some may."""
        left = kinds.totals - lost
        references = {**self._standing, **kinds.references(left)}
        # Values that the reference has lost are in no class any more.
        allowed = np.where(left[kinds.of_cell] > 0, cells.counts, 0)
        classes, own = cells.classes(allowed)
        fixed = FixedReference(self._table, self._constraints, references, int(lost.sum()))
        spared = classes.sizes - fixed.suppress(classes).least
        if spared.sum() < left.sum():
            return None, False
        held = np.flatnonzero(allowed)
        numbers = np.zeros(len(cells.chosen), dtype=np.int64)
        numbers[own] = np.arange(len(own))
        kept = np.zeros_like(cells.counts)
        problem = self._programme(cells, references, held, numbers, kinds.of_cell[held], left)

        def verify(counts: IntArray) -> bool:
            kept[held] = counts
            staying, _ = cells.classes(kept)
            return bool(holding(self._constraints, staying, references).all())

        solution = solve(problem, verify)
        if solution.kept.any():
            kept[held] = solution.kept
            return kept, True
        return None, solution.most >= problem.most

    def _programme(
        self,
        cells: SensitiveCells,
        references: References,
        held: IntArray,
        numbers: IntArray,
        kinds: IntArray,
        left: IntArray,
    ) -> ClassProblem:
        """Return the conditions of all classes on the cells that may stay."""
        rules = rules_of(self._table, self._constraints, references)
        class_of = numbers[cells.class_of[held]]
        views = [View(CountConditions(smallest=rules.smallest), class_of, np.zeros_like(class_of))]
        for rule in rules.rules:
            parts = cells.parts(rule.attribute.name, combined=rule.combined)[0][held]
            own = np.unique(parts, return_inverse=True)[1].astype(np.int64)
            views.append(View(rule.retention, own, rule.values(cells)[held]))
        sums = tuple((np.flatnonzero(kinds == kind), int(left[kind])) for kind in np.unique(kinds).tolist())
        return ClassProblem(cells.counts[held], tuple(views), 1, int(left.sum()), sums)


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The distinct combinations of the referring attributes.

    Attributes
    ----------
    attributes: the referring ones.
    codes: of each kind, shape (kinds, attributes), int64.
    totals: records of each kind, shape (kinds,), int64.
    of_cell: kind of each cell, shape (cells,), int64.
    """

    attributes: Sequence[SensitiveAttribute]
    codes: IntArray
    totals: IntArray
    of_cell: IntArray

    @classmethod
    def of(cls, cells: SensitiveCells, attributes: Sequence[SensitiveAttribute]) -> _Kinds:
        """Return the kinds of some cells."""
        codes = np.stack([cells.sensitive[each.name].codes for each in attributes], axis=1)
        kinds, of_cell = np.unique(codes, axis=0, return_inverse=True)
        of_cell = of_cell.reshape(-1).astype(np.int64)
        return cls(attributes, kinds, count(of_cell, cells.counts, len(kinds)), of_cell)

    def references(self, left: IntArray) -> References:
        """Return the distribution of each referring attribute when so many records of each kind stay."""
        return {
            each.name: Reference(count(self.codes[:, position], left, each.column.size))
            for position, each in enumerate(self.attributes)
        }

    def losses(self, number: int) -> Iterator[IntArray]:
        """Yield every way to take a number of records from the kinds, shape (kinds,), int64."""
        totals = self.totals.tolist()
        yield from (np.array(own, dtype=np.int64) for own in _ways(totals, number))


def _ways(totals: Sequence[int], number: int) -> Iterator[tuple[int, ...]]:
    if not totals:
        if not number:
            yield ()
        return
    first, *rest = totals
    for own in range(max(0, number - sum(rest)), min(first, number) + 1):
        for others in _ways(rest, number - own):
            yield (own, *others)
