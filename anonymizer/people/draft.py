"""The units of a draft: whose the records are, who lives together, and what else goes back together.

A release leaves keys out, but columns that are the same in all records of a unit, such as the income of a
household, put these records together again. So a draft counts such units in every class, and takes their
columns for known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.exposure.unit import are_constant, together_again
from anonymizer.model.arrays import IntArray
from anonymizer.model.table import LEFT_OUT, Role
from anonymizer.model.units import HOUSEHOLD
from anonymizer.people.keys import KNOWN, RepeatedKey, judged, keys_of, person_among
from anonymizer.profile.proposal import EXACT, ColumnProposal, proposed_k

UNITS = 3
"""Minimum number of households, or of other units, in each class of a draft."""

ENOUGH_UNITS = 10
"""Minimum number of units for a constraint that counts them."""

TOGETHER = 0.01
"""Share of the records that may go back into their units by columns released exactly."""

ROUNDED = 1.5
"""Records of a group by those that it needs, as its bounds are round."""


Constrained = tuple[Mapping[str, Any], str]
"""The settings of a constraint, with the reason for it."""


@dataclass(frozen=True)
class DraftedUnits:
    """The units of a draft.

    Attributes
    ----------
    keys: that repeat.
    person, household: the columns of persons and of households that constraints count; None without.
    units: the columns of further units by their names.
    """

    keys: Sequence[RepeatedKey] = ()
    person: str | None = None
    household: str | None = None
    units: tuple[tuple[str, str], ...] = ()

    def constrained(self, proposed: Sequence[Constrained]) -> tuple[Constrained, ...]:
        """Return proposed constraints with those that count further units, each with the reason.

        Where each record is a household at one time, all constraints count households.
        """
        first, *others = proposed
        home = next((each for each in self.keys if each.name == self.household), None)
        if home is not None and home.once and home.alone is None and self.person is None:
            return tuple(({**model, "unit": HOUSEHOLD}, why) for model, why in proposed)
        columns = [*([(HOUSEHOLD, home.name)] if home is not None else []), *self.units]
        further = [
            (
                {"model": "k-anonymity", "k": UNITS, "unit": unit},
                f"every class has records of at least {UNITS} values of {column}",
            )
            for unit, column in columns
        ]
        return first, *further, *others


def find_units(
    relation: Relation,
    columns: Sequence[ColumnProposal],
    person: str | None,
    named: Collection[str],
    missing: Collection[str],
) -> DraftedUnits:
    """Return the units of a draft.

    Parameters
    ----------
    person: the key of persons that the user names; None without one.
    named: columns that the user gave a role, which are no key of a person or household unasked.
    missing: texts of missing values.
    """
    facts = {each.name: each.facts for each in columns}
    found = keys_of([(each.facts, each.role) for each in columns if each.role not in KNOWN], {})
    keys = judged(relation, found, facts.__getitem__)
    roles = {each.name: each.role for each in columns}
    free = [each for each in keys if roles[each.name] in LEFT_OUT and each.name not in named]
    if not relation.ordered:
        return DraftedUnits(keys, person)
    person = person or person_among(free)
    homes = [each for each in free if each.household and each.name != person and each.persons >= UNITS]
    household = next((each.name for each in homes if _within(relation, person, each.name, missing)), None)
    return DraftedUnits(keys, person, household)


def _within(relation: Relation, person: str | None, home: str, missing: Collection[str]) -> bool:
    """Return whether no person belongs to two homes."""
    if person is None:
        return True
    people, homes = relation.unit_codes(person, set(missing)), relation.unit_codes(home, set(missing))
    given = (people >= 0) & (homes >= 0)
    pairs = np.unique(np.stack([people[given], homes[given]]), axis=1)
    return bool(len(np.unique(pairs[0])) == pairs.shape[1])


def with_units(
    relation: Relation, columns: Sequence[ColumnProposal], found: DraftedUnits, missing: Collection[str]
) -> tuple[list[ColumnProposal], DraftedUnits]:
    """Return columns of units as quasi-identifiers, or in groups of several units, and the units to count.

    Parameters
    ----------
    missing: texts of missing values.
    """
    columns = list(columns)
    if not relation.ordered:
        return columns, found
    left_out = {each.name for each in columns if each.role in LEFT_OUT}
    for key in found.keys:
        if key.name not in left_out:
            continue
        unit = relation.unit_codes(key.name, set(missing))
        own = [each for each in columns if each.role not in LEFT_OUT and _is_constant(relation, each, unit)]
        if records_back(relation, [each.name for each in own], unit) <= TOGETHER * relation.rows:
            continue
        least = _records_of(unit, proposed_k(relation.rows))
        free = [each for each in own if not each.answered or each.role is Role.SENSITIVE]
        changed = {each.name: _of_unit(each, key, least) for each in free}
        columns = [changed.get(each.name, each) for each in columns]
        counted = {found.person, found.household, *(name for _, name in found.units)}
        unasked = key.household or key.may_be_person
        if key.name not in counted and key.persons >= ENOUGH_UNITS and not unasked:
            found = replace(found, units=(*found.units, (_unit_name(key, found), key.name)))
    return columns, found


def _of_unit(column: ColumnProposal, key: RepeatedKey, least: int) -> ColumnProposal:
    """Return a column of a unit: known to who knows the unit, or in groups if it is sensitive.

    What may be a sampling weight stays as it is.
    """
    if column.role not in EXACT or column.proposed.weighs:
        return column
    reason = (
        f"{column.proposed.reason}, the same in all records of each {key.name}, which it would put together"
    )
    if column.role is Role.SENSITIVE:
        return replace(column, reason=reason, least=least)
    proposed = replace(column.proposed, role=Role.QUASI_IDENTIFIER, doubtful=True)
    return replace(column, proposed=proposed, role=Role.QUASI_IDENTIFIER, reason=reason)


def _unit_name(key: RepeatedKey, found: DraftedUnits) -> str:
    """Return a name for a unit that no other has."""
    name = "unit" if key.thing is None else key.thing.split(" ", maxsplit=1)[1].replace(" ", "-")
    taken = [unit for unit, _ in found.units]
    return name if name not in taken else f"{name}-{len(taken) + 1}"


def _is_constant(relation: Relation, column: ColumnProposal, unit: IntArray) -> bool:
    """Return whether a column has one value in nearly all units with several records, and two in all."""
    given = np.flatnonzero(unit >= 0)
    own = unit[given]
    if column.facts.distinct < 2 or not (np.bincount(own) > 1).any():
        return False
    return are_constant(relation.codes(column.name)[given], own)


def records_back(relation: Relation, names: Sequence[str], unit: IntArray) -> int:
    """Return how many records share their values with all others of their unit and with nobody else."""
    given = np.flatnonzero(unit >= 0)
    return together_again((relation.codes(name)[given] for name in names), unit[given].astype(np.int64))


def _records_of(unit: IntArray, k: int) -> int:
    """Return how many records a group between round bounds needs to have k units for sure."""
    sizes = np.sort(np.bincount(unit[unit >= 0]))[::-1]
    return int(np.ceil(ROUNDED * (int(sizes[: k - 1].sum()) + 1)))
