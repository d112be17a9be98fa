"""Whether regions satisfy the class constraints, under every reference distribution that counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import Classes, Reference, SensitiveCodes
from anonymizer.model.counting import count
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import SearchProblem
from anonymizer.search.regions.regions import Regions

References = dict[str, Reference]


class Checks:
    """Class constraints with what they compare classes with.

    Parameters
    ----------
    sensitive: the sensitive attributes.
    codes: of their values, shape (combinations, sensitive attributes).
    references: p of each sensitive attribute; a class has to hold under each of them.
    """

    def __init__(
        self,
        constraints: Sequence[ClassConstraint],
        sensitive: Sequence[SensitiveAttribute],
        codes: CodeArray,
        references: Sequence[References],
    ) -> None:
        self._constraints = constraints
        self._references = references
        self._sensitive = {
            own.name: SensitiveCodes(own, codes[:, position].astype(np.int64))
            for position, own in enumerate(sensitive)
        }

    @classmethod
    def of(cls, problem: SearchProblem, references: Sequence[References]) -> Checks:
        """Return the class constraints of a problem."""
        table = problem.table
        codes = table.codes[:, len(table.quasi_identifiers) :]
        return cls(problem.class_constraints, table.sensitive, codes, references)

    @property
    def by_size(self) -> bool:
        """Whether every class holds that has as many records as the models ask for at least."""
        return all(each.model.by_size for each in self._constraints)

    def classes(self, owner: IntArray, counts: IntArray, class_of: IntArray, number: int) -> Classes:
        """Return classes of rows, each of some records of a combination of the table."""
        sensitive = {
            name: SensitiveCodes(own.attribute, own.codes[owner]) for name, own in self._sensitive.items()
        }
        return Classes(class_of, counts, number, sensitive)

    def regions_hold(self, regions: Regions) -> BoolArray:
        """Tell which regions satisfy every class constraint, shape (regions,)."""
        return self.hold(self.classes(regions.owner, regions.counts, regions.region_of, regions.number))

    def hold(self, classes: Classes) -> BoolArray:
        """Tell which classes satisfy every class constraint, shape (classes,)."""
        held = np.ones(classes.number, dtype=bool)
        for constraint in self._constraints:
            if constraint.attribute is None:
                held &= constraint.holds(classes, None)
                continue
            different = self._references if constraint.model.uses_reference else self._references[:1]
            for references in different:
                held &= constraint.holds(classes, references[constraint.attribute])
        return held


def references(table: Table, counts: IntArray) -> References:
    """Return p of each sensitive attribute over some records of each combination, shape (combinations,)."""
    return {
        own.name: Reference(count(table.sensitive_codes(own.name).astype(np.int64), counts, own.column.size))
        for own in table.sensitive
    }
