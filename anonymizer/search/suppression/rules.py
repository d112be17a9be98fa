"""The class constraints of a problem as rules for the counts that stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint
from anonymizer.privacy.conditions import CountConditions
from anonymizer.search.suppression.by_size import BySize, Retained
from anonymizer.search.suppression.sensitive_cells import SensitiveCells
from anonymizer.search.suppression.suppressor import References, reference_for

ENTRIES = 1 << 22
"""Counts of a dense matrix of classes and values; more classes are taken in turns."""


@dataclass(frozen=True, eq=False)
class Rule:
    """The joined conditions of the constraints that see a class alike.

    Attributes
    ----------
    attribute: whose values are counted.
    combined: whether the other sensitive attributes split the class.
    """

    attribute: SensitiveAttribute
    combined: bool
    retention: CountConditions

    @cached_property
    def _by_size(self) -> BySize:
        return BySize(self.retention)

    def values(self, cells: SensitiveCells) -> IntArray:
        """Return the value of each cell, shape (cells,), int64."""
        return cells.sensitive[self.attribute.name].codes

    def retain(self, cells: SensitiveCells) -> Retained:
        """Return what stays of each cell and at most of each class when this is the only rule.

        ``counts`` are of cells, ``most`` and ``settled`` of classes. Cells have one value and one part each.
        """
        parts, number = cells.parts(self.attribute.name, combined=self.combined)
        values = self.values(cells)
        kept = np.zeros_like(cells.counts)
        most, settled = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=bool)
        for low, high, own in self._blocks(parts, number):
            retained = self._by_size.retain(self._matrix(cells, parts, values, low, high, own))
            kept[own] = retained.counts[parts[own] - low, values[own]]
            most[low:high], settled[low:high] = retained.most, retained.settled
        return Retained(kept, *_of_classes(cells, parts, number, most, settled))

    def most(self, cells: SensitiveCells) -> IntArray:
        """Bound what can stay of each class by this rule alone, shape (own classes,), int64."""
        parts, number = cells.parts(self.attribute.name, combined=self.combined)
        values = self.values(cells)
        most = np.zeros(number, dtype=np.int64)
        for low, high, own in self._blocks(parts, number):
            matrix = self._matrix(cells, parts, values, low, high, own)
            most[low:high] = self._by_size.retain(matrix).most
        return _of_classes(cells, parts, number, most, np.ones(number, dtype=bool))[0]

    def _blocks(self, parts: IntArray, number: int) -> list[tuple[int, int, IntArray]]:
        """Return ranges of parts that fit a matrix, each with its cells."""
        step = max(ENTRIES // self.attribute.column.size, 1)
        ranges = [(low, min(low + step, number)) for low in range(0, number, step)]
        return [(low, high, np.flatnonzero((parts >= low) & (parts < high))) for low, high in ranges]

    def _matrix(
        self, cells: SensitiveCells, parts: IntArray, values: IntArray, low: int, high: int, own: IntArray
    ) -> IntArray:
        size = self.attribute.column.size
        keys = (parts[own] - low) * size + values[own]
        sums = np.bincount(keys, weights=cells.counts[own], minlength=(high - low) * size)
        return sums.astype(np.int64).reshape(-1, size)


def _of_classes(
    cells: SensitiveCells,
    parts: IntArray,
    number: int,
    most: IntArray,
    settled: BoolArray,
) -> tuple[IntArray, BoolArray]:
    """Add up what is known of parts by the class that each lies in."""
    owner = np.empty(number, dtype=np.int64)
    owner[parts] = cells.class_of
    sums = np.bincount(owner, weights=most, minlength=len(cells.chosen)).astype(np.int64)
    whole = np.ones(len(cells.chosen), dtype=bool)
    whole[owner[~settled]] = False
    return sums, whole


@dataclass(frozen=True, eq=False)
class Rules:
    """What all class constraints ask under one reference.

    Attributes
    ----------
    smallest: the fewest records of a class.
    rules: one for each way in which the constraints see a class.
    known: whether every constraint is among them.
    """

    smallest: int
    rules: tuple[Rule, ...]
    known: bool


def rules_of(
    table: Table,
    constraints: Sequence[ClassConstraint],
    references: References,
    drift: Fraction | None = None,
) -> Rules:
    """Read the constraints as rules.

    Parameters
    ----------
    drift: the share of the reference that may be gone; the rules are then those that hold whatever goes.
        None where the reference stands.
    """
    attributes = {each.name: each for each in table.sensitive}
    joined: dict[tuple[str, bool], CountConditions] = {}
    smallest, known = 1, True
    for constraint in constraints:
        attribute = None if constraint.attribute is None else attributes[constraint.attribute]
        reference = reference_for(constraint, references)
        retention = constraint.retention(attribute, reference)
        if retention is None:
            known = False
            continue
        if drift is not None and constraint.model.uses_reference:
            assert reference is not None
            passing = reference.present & (reference.counts <= int(drift * reference.total))
            retention = retention.drifted(drift, passing)
        if attribute is None:
            smallest = max(smallest, retention.smallest)
            continue
        key = (attribute.name, constraint.combined)
        joined[key] = joined[key].joined(retention) if key in joined else retention
    rules = (Rule(attributes[name], combined, own) for (name, combined), own in joined.items())
    return Rules(smallest, tuple(rules), known)
