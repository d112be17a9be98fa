"""The constraints of a problem in local suppression: exact models and linear conditions.

A class is a vector of counts of its combinations of sensitive values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, log

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray, count, from_the_first, numbered
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.measure import UnitKeys
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint, CountConditions
from anonymizer.search.base import SearchProblem, judged_attributes, sensitive_codes
from anonymizer.search.suppression.cell_problem import ClassJudge, ValueRule
from anonymizer.search.suppression.suppressor import (
    References,
    holding,
    reference_for,
    references,
    references_of,
)


class CellModels:
    """Judges classes of rows with one value of each watched sensitive attribute, and of one unit.

    Attributes
    ----------
    names: the watched sensitive attributes, those of a class constraint, in the order of the table.
    moving: whether the reference depends on the suppressed records.
    """

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        table, constraints = problem.table, problem.class_constraints
        self.names = [each.name for each in judged_attributes(table, constraints)]
        referring = any(each.model.uses_reference for each in constraints)
        self.moving = problem.moving_reference and referring and problem.limit > 0

    @cached_property
    def input(self) -> References:
        """The distribution of each sensitive attribute in the table."""
        return references(self._problem.table, self._problem.table.counts)

    @cached_property
    def keys(self) -> UnitKeys:
        """The unit of each combination.

        Raises
        ------
        ValueError: a combination has the records of several units.
        """
        return self._problem.table.measure.keys()

    def judge(self, table: Table, first: IntArray) -> ClassJudge:
        """Return the models under the reference of the input.

        Parameters
        ----------
        first: a combination of the table for each row, with its sensitive values and units, shape (rows,).
        """
        codes = {name: own for name, own in sensitive_codes(table, first).items() if name in self.names}
        keys = self.keys.at(first)

        def holds(class_of: IntArray, rows: IntArray, counts: IntArray, number: int) -> BoolArray:
            own = {name: each.at(rows) for name, each in codes.items()}
            classes = Classes(class_of, keys.measure(rows, counts), number, own)
            return holding(self._problem.class_constraints, classes, self.input)

        return holds

    def rules(self, table: Table, first: IntArray) -> tuple[tuple[ValueRule, ...], bool]:
        """Return linear conditions, and whether these and the smallest size are equivalent to the models."""
        rules: list[ValueRule] = []
        complete = True
        for constraint in self._problem.class_constraints:
            found, whole = self._rules_of(constraint, table, first)
            rules += found
            complete &= whole
        return tuple(rules), complete

    def _rules_of(
        self, constraint: ClassConstraint, table: Table, first: IntArray
    ) -> tuple[list[ValueRule], bool]:
        attribute = next((each for each in table.sensitive if each.name == constraint.attribute), None)
        retention = constraint.retention(attribute, reference_for(constraint, self.input))
        if retention is None or constraint.combined:
            return [], False
        whole = _linear(retention) and constraint.unit is None
        if attribute is None:
            return [], whole
        values = table.sensitive_codes(attribute.name)[first].astype(np.int64)
        rules = [
            ValueRule(np.where(values == each.missing, -1, values), each.number)
            for each in retention.distinct
            if each.number > 1 or each.missing is not None
        ]
        number, share = _implied(retention, attribute.column.size)
        if constraint.unit is not None:
            # Records have the values of their units, in other shares.
            return ([*rules, ValueRule(values, number)] if number > 1 else rules), False
        if retention.caps is not None:
            # Rounded up, as a cap must not be stricter than the model.
            caps = np.array([float(cap) for cap in retention.caps]) * (1 + 1e-12)
            rules.append(ValueRule(values, caps=np.minimum(caps, 1.0)))
        if number > 1:
            rules.append(ValueRule(values, number, np.full(attribute.column.size, share)))
        return rules, whole

    def valid(self, classes: Classes, *, kept_suppressed: bool) -> bool:
        """Return whether classes may be released: they satisfy every model under the configured reference.

        Parameters
        ----------
        kept_suppressed: whether the last class is suppressed records that stay, so that no record is missing.
        """
        compared = self.input
        if self._problem.moving_reference and not kept_suppressed:
            compared = references_of(classes, self._problem.table.sensitive_names)
        if not holding(self._problem.class_constraints, classes, compared).all():
            return False
        return all(each.holds(classes) for each in self._problem.table_constraints)


def _implied(retention: CountConditions, size: int) -> tuple[int, float]:
    """Return the number of values and the largest share that non-linear conditions imply.

    r_1 < c (r_l + ...) means r_1 < c (n - r_1). With a share q of one value, the entropy is at most that of q
    and even shares of the others.

    Parameters
    ----------
    size: number of sensitive values.
    """
    number, share = 1, 1.0
    for dominance in retention.dominances:
        number = max(number, dominance.l)
        share = min(share, float(dominance.c / (1 + dominance.c)))
    for diversity in retention.entropies:
        number = max(number, ceil(diversity))
        share = min(share, _entropic_share(float(diversity), size))
    return number, min(share * (1 + 1e-9), 1.0)


def _entropic_share(diversity: float, size: int) -> float:
    """Return the largest share of a value at which the entropy of ``size`` values can be ln(diversity)."""
    low, high = 1.0 / max(size, 1), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        rest = 1.0 - middle
        entropy = -middle * log(middle) - (rest * log(rest / max(size - 1, 1)) if rest else 0.0)
        low, high = (middle, high) if entropy >= log(diversity) else (low, middle)
    return high


def _linear(retention: CountConditions) -> bool:
    """Return whether the conditions are only on size, distinct values and largest shares."""
    required = retention.required is not None and bool(retention.required.any())
    floors = retention.floors is not None and any(retention.floors)
    return not (required or floors or retention.dominances or retention.entropies or retention.deviations)


@dataclass(frozen=True, eq=False)
class SensitiveCells:
    """The cells of some classes: records of one class with equal sensitive values, where asked of one unit.

    Attributes
    ----------
    chosen: the classes, shape (own classes,), int64, ascending.
    items: positions of their items among all, shape (own items,), int64.
    item_counts: records of each of these items, shape (own items,), int64.
    cell_of: cell of each of these items, shape (own items,), int64.
    class_of: position in ``chosen`` of the class of each cell, shape (cells,), int64, ascending.
    counts: records of each cell, shape (cells,), int64.
    sensitive: the cells' sensitive values by attribute name.
    keys: the unit of each cell.
    """

    chosen: IntArray
    items: IntArray
    item_counts: IntArray
    cell_of: IntArray
    class_of: IntArray
    counts: IntArray
    sensitive: Mapping[str, SensitiveCodes]
    keys: UnitKeys = field(default_factory=lambda: UnitKeys({}))

    @cached_property
    def starts(self) -> IntArray:
        """Cells of class i are ``starts[i]:starts[i + 1]``, shape (own classes + 1,), int64."""
        return np.searchsorted(self.class_of, np.arange(len(self.chosen) + 1))

    def parts(self, name: str, *, combined: bool) -> tuple[IntArray, int]:
        """Number the parts that a constraint judges: classes, or classes split by the other attributes.

        Returns
        -------
        Part of each cell, shape (cells,), int64, and the number of parts.
        """
        if not combined:
            return self.class_of, len(self.chosen)
        others = (own.codes for other, own in self.sensitive.items() if other != name)
        parts, first = numbered([self.class_of, *others], len(self.class_of))
        return parts, len(first)

    def classes(self, counts: IntArray) -> tuple[Classes, IntArray]:
        """Return the classes with new counts of their cells, and which of them have records left."""
        return self._with_records(self.class_of, counts, np.arange(len(counts)))

    def one_class(self, position: int, counts: IntArray) -> Classes:
        """Return one of the classes with new counts of its cells."""
        own = np.arange(self.starts[position], self.starts[position + 1])
        return self._with_records(np.zeros_like(counts), counts, own)[0]

    def _with_records(
        self, class_of: IntArray, counts: IntArray, cells: IntArray
    ) -> tuple[Classes, IntArray]:
        """Return the classes of some cells, shape (own cells,), and which of them have records.

        Parameters
        ----------
        class_of, counts: of each of these cells, shape (own cells,), int64.
        """
        held = counts > 0
        left, numbers = np.unique(class_of[held], return_inverse=True)
        own = {name: each.at(cells[held]) for name, each in self.sensitive.items()}
        measure = self.keys.measure(cells[held], counts[held])
        return Classes(numbers.astype(np.int64), measure, len(left), own), left

    def gone(self, removed: IntArray) -> IntArray:
        """Take records from the first items of each cell.

        Parameters
        ----------
        removed: records that each cell loses, shape (cells,), int64.

        Returns
        -------
        Records that each of the own items loses, shape (own items,), int64.
        """
        return from_the_first(self.cell_of, self.item_counts, removed)


def sensitive_cells(
    classes: Classes, chosen: BoolArray, attributes: Sequence[SensitiveAttribute], units: Iterable[str] = ()
) -> SensitiveCells:
    """Count the cells of the chosen classes by some sensitive attributes, and by units.

    Parameters
    ----------
    chosen: shape (classes,), bool.
    units: names of the units whose records are cells of their own.

    Raises
    ------
    ValueError: an item has the records of several units.
    """
    items = np.flatnonzero(chosen[classes.class_of])
    codes = {each.name: classes.sensitive_codes(each.name)[items] for each in attributes}
    keys = classes.measure.keys(units).at(items)
    own_class = (np.cumsum(chosen) - 1)[classes.class_of[items]]
    columns = [own_class, *codes.values(), *keys]
    cells, first = numbered(columns, len(items))
    counts = classes.counts[items]
    return SensitiveCells(
        np.flatnonzero(chosen),
        items,
        counts,
        cells,
        own_class[first],
        count(cells, counts, len(first)),
        {each.name: SensitiveCodes(each, codes[each.name][first]) for each in attributes},
        keys.at(first),
    )
