"""The class constraints of a local recoding as numbers, for the compiled moves.

Models say what the counts of a valid class satisfy (``ClassModel.retention``). A constraint that does not
say so, or counts what the kernel does not, leaves the numbers incomplete: then they are necessary, not
sufficient, and what the kernel proposes is judged class by class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray, count
from anonymizer.model.classes import Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import ClassConstraint, CountConditions, Deviation
from anonymizer.search.partition.assignment import Assignment, LocalProblem
from anonymizer.search.partition.kernel import Limits
from anonymizer.search.suppression.suppressor import reference_for

MOST_RECORDS = 1 << 22
"""Most records for whose numbers logarithms are tabulated."""

MOST_COUNTS = 1 << 12
"""Most sensitive values that the kernel counts in each class."""


@dataclass(frozen=True, eq=False)
class KernelLimits:
    """Conditions for the kernel.

    Attributes
    ----------
    limits: the numbers.
    attributes: names of the sensitive attributes whose values are counted, in their order.
    complete: whether a class that satisfies the numbers is valid.
    """

    limits: Limits
    attributes: tuple[str, ...]
    complete: bool

    def same(self, other: KernelLimits) -> bool:
        """Return whether the numbers are those of another problem, complete or not."""
        # What follows is overwritten by the kernel.
        kept = self.limits._fields.index("work")
        return self.attributes == other.attributes and all(
            np.array_equal(one, its) for one, its in zip(self.limits[:kept], other.limits[:kept], strict=True)
        )

    def values_of(self, ground: LocalProblem, atoms: IntArray) -> IntArray:
        """Return the values of records of atoms as the kernel numbers them, shape (records, attributes)."""
        columns = [
            ground.atoms.sensitive[name].codes[atoms] + begin
            for name, begin in zip(self.attributes, self.limits.begin[:-1].tolist(), strict=True)
        ]
        if not columns:
            return np.zeros((len(atoms), 0), dtype=np.int64)
        return np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int64))

    def counts_of(self, own: Assignment, place: IntArray, number: int) -> CodeArray:
        """Return how often each value occurs in some classes, shape (number, values), int32.

        Parameters
        ----------
        place: of each class, shape (classes,); those at 0 are left out.
        """
        values = int(self.limits.begin[-1])
        found = np.zeros(number * values, dtype=np.int64)
        placed = place[own.class_of[own.first :]]
        for column in self.values_of(own.ground, own.atoms[own.first :]).T:
            found += count(placed * values + column, own.counts[own.first :], number * values)
        counts = found.reshape(number, values).astype(np.int32)
        counts[0] = 0
        return counts


def limits_of(ground: LocalProblem, references: Sequence[dict[str, Reference]]) -> KernelLimits:
    """Return the class constraints of a problem as numbers.

    Parameters
    ----------
    references: reference distributions by attribute; a class must satisfy each constraint under all of them.
    """
    asked: dict[str, CountConditions] = {}
    smallest, complete = ground.problem.minimum_size, True
    sensitive = {each.name: each for each in ground.problem.table.sensitive}
    units = ground.size if ground.unit is not None else 1
    for constraint in ground.problem.class_constraints:
        if constraint.by_size:
            continue
        for conditions in _conditions(constraint, sensitive, references):
            if conditions is None or not _counted(constraint, conditions, ground):
                complete = False
            elif constraint.unit is None:
                smallest = max(smallest, conditions.smallest)
            if conditions is None or constraint.attribute is None:
                continue
            if constraint.unit is None or _of_presence(conditions):
                before = asked.get(constraint.attribute)
                asked[constraint.attribute] = conditions if before is None else before.joined(conditions)
    names = tuple(name for name in asked if name in ground.atoms.sensitive)
    sizes = [sensitive[name].column.size for name in names]
    if sum(sizes) > MOST_COUNTS or (
        ground.records > MOST_RECORDS and any(asked[name].entropies for name in names)
    ):
        names, sizes, complete = (), [], False
    found = _numbers(smallest, units, sizes, [asked[name] for name in names], ground.records)
    return KernelLimits(found, names, complete)


def _conditions(
    constraint: ClassConstraint,
    sensitive: dict[str, SensitiveAttribute],
    references: Sequence[dict[str, Reference]],
) -> Iterable[CountConditions | None]:
    """Yield the conditions of a constraint under each reference, None where it does not say them."""
    if constraint.knowledge is not None or constraint.combined:
        yield None
        return
    if constraint.attribute is None:
        yield constraint.retention(None, None)
        return
    attribute = sensitive[constraint.attribute]
    for own in references if constraint.model.uses_reference else references[:1]:
        yield constraint.retention(attribute, reference_for(constraint, own))


def _of_presence(conditions: CountConditions) -> bool:
    """Return whether only distinct values are asked for, which units have as records do."""
    others = (conditions.caps, conditions.floors, conditions.required)
    counted = conditions.dominances or conditions.entropies or conditions.deviations
    return not counted and all(each is None for each in others)


def _counted(constraint: ClassConstraint, conditions: CountConditions, ground: LocalProblem) -> bool:
    """Return whether the kernel counts what a constraint does."""
    if constraint.unit is None:
        return True
    same = constraint.unit == ground.unit or conditions.smallest <= 1
    return _of_presence(conditions) and same


def _numbers(
    smallest: int, units: int, sizes: Sequence[int], asked: Sequence[CountConditions], records: int
) -> Limits:
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = int(begin[-1])
    caps, floors, required = np.full(values, np.inf), np.zeros(values), np.zeros(values, dtype=bool)
    distinct, dominances, entropies = [], [], []
    deviations: list[tuple[float, ...]] = []
    groups: list[IntArray] = []
    parents, shares, first = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], 0
    for place, each in enumerate(asked):
        own = slice(int(begin[place]), int(begin[place + 1]))
        if each.caps is not None:
            caps[own] = [float(cap) for cap in each.caps]
        if each.floors is not None:
            floors[own] = [float(floor) for floor in each.floors]
        if each.required is not None:
            required[own] = each.required
        for one in each.distinct:
            missing = -1 if one.missing is None else one.missing + own.start
            distinct.append((place, one.number, missing))
        dominances += [(place, float(one.c), one.l) for one in each.dominances]
        entropies += [(place, log(one.numerator) - log(one.denominator)) for one in each.entropies]
        for deviation in each.deviations:
            end = first + len(deviation.parent)
            deviations.append((place, first, end, float(deviation.limit)))
            groups.append(_groups(deviation, own, values, first))
            parents.append(np.where(deviation.parent < 0, -1, deviation.parent + first))
            shares.append(deviation.expected / deviation.total)
            first = end
    logarithms = np.zeros(1)
    if entropies:
        whole = np.arange(records + 1, dtype=np.float64)
        logarithms = whole * np.log(np.maximum(whole, 1))
    return Limits(
        smallest,
        units,
        begin,
        caps,
        floors,
        required,
        np.array(distinct, dtype=np.int64).reshape(-1, 3),
        np.array(dominances, dtype=np.float64).reshape(-1, 3),
        np.array(entropies, dtype=np.float64).reshape(-1, 2),
        logarithms,
        np.array(deviations, dtype=np.float64).reshape(-1, 4),
        np.array(groups, dtype=np.int64).reshape(len(groups), values),
        np.concatenate(parents).astype(np.int64),
        np.concatenate(shares),
        np.zeros(first, dtype=np.int64),
        np.zeros(values, dtype=np.int32),
    )


def _groups(deviation: Deviation, own: slice, values: int, first: int) -> IntArray:
    """Return the group of each value of all attributes, -1 for none."""
    found = np.full(values, -1, dtype=np.int64)
    found[own] = np.where(deviation.group_of < 0, -1, deviation.group_of + first)
    return found
