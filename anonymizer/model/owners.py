"""Whose the released records are, and the records of the units that an attack counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, group_keys
from anonymizer.model.measure import lists_of_units
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD


@dataclass(frozen=True, eq=False)
class Owners:
    """Whose the released records are: the unit of each by the name of the unit.

    Attributes
    ----------
    original, release: row of each record in the two tables, shape (records,), int64.
    units: number of the unit of each record, shape (records,), int64, none negative.
    linked: whether the release links the records of a person, as by a pseudonym.
    """

    original: IntArray
    release: IntArray
    units: Mapping[str, IntArray]
    linked: bool = False

    @classmethod
    def of(
        cls, original: IntArray, release: IntArray, units: Mapping[str, IntArray], *, linked: bool = False
    ) -> Owners:
        """Return the owners of the released ones of some records.

        Parameters
        ----------
        original: row of each record in the original, shape (records,), int64.
        release: in the release, -1 if it is not released.
        units: of each record, shape (records,), int64; if negative, the record is a unit of its own.
        """
        kept = np.flatnonzero(release >= 0)
        own = {
            name: np.where(codes < 0, codes.max(initial=-1) + 1 + np.arange(len(codes)), codes)[kept]
            for name, codes in units.items()
        }
        return cls(original[kept], release[kept], own, linked)

    def at(self, chosen: BoolArray) -> Owners:
        """Return the owners of some of the records.

        Parameters
        ----------
        chosen: which, shape (records,), bool.
        """
        units = {name: each[chosen] for name, each in self.units.items()}
        return Owners(self.original[chosen], self.release[chosen], units, self.linked)

    def class_of(self, class_of_row: IntArray) -> IntArray:
        """Return the class of each record to an adversary who knows some columns, shape (records,), int64.

        A class has equal rows; where the release links the records of a person, those of all persons with
        equal sorted lists of rows.

        Parameters
        ----------
        class_of_row: class of each row of the release by these columns, shape (rows,), int64.
        """
        rows = class_of_row[self.release]
        if not self.linked:
            return rows
        persons, number = self.targets(PERSON)
        return lists_of_units(persons, number, rows, int(rows.max(initial=0)) + 1, np.ones_like(rows))

    def targets(self, unit: str) -> tuple[IntArray, int]:
        """Return the unit of each record, numbered from 0, shape (records,), int64, and their number."""
        own = self.units[unit]
        numbers, distinct = group_keys(own, int(own.max(initial=0)) + 1)
        return numbers, len(distinct)

    def members(self, unit: str) -> IntArray:
        """Return who is looked for when a unit is: the persons, or records, of a household, else the unit."""
        if unit != HOUSEHOLD:
            return self.targets(unit)[0]
        return self.targets(PERSON)[0] if PERSON in self.units else np.arange(len(self.release))


@dataclass(frozen=True, eq=False)
class OwnedRecords:
    """The released records of the units that an attack counts, each a target.

    Attributes
    ----------
    owners: whose the records are.
    unit: that is counted.
    """

    owners: Owners
    unit: str

    @classmethod
    def asked(cls, owners: Owners | None, unit: str | None) -> OwnedRecords | None:
        """Return the records of the unit that is asked for; of persons if none is, and they are known."""
        if owners is None or unit == RECORD or (unit is None and PERSON not in owners.units):
            return None
        return cls(owners, PERSON if unit is None else unit)

    @property
    def original(self) -> IntArray:
        """Row of each record in the original, shape (records,), int64."""
        return self.owners.original

    @property
    def release(self) -> IntArray:
        """Row of each record in the release, shape (records,), int64."""
        return self.owners.release

    @property
    def linked(self) -> bool:
        """Whether the release links the records of a person."""
        return self.owners.linked

    @cached_property
    def _targets(self) -> tuple[IntArray, int]:
        return self.owners.targets(self.unit)

    @property
    def target(self) -> IntArray:
        """Unit of each record, numbered from 0, shape (records,), int64."""
        return self._targets[0]

    @property
    def number(self) -> int:
        """Number of units."""
        return self._targets[1]

    @cached_property
    def members(self) -> IntArray:
        """Who is looked for when a unit is, of each record: see ``Owners.members``."""
        return self.owners.members(self.unit)

    def at(self, chosen: BoolArray) -> OwnedRecords:
        """Return some of the records; ``chosen`` has shape (records,)."""
        return replace(self, owners=self.owners.at(chosen))

    def class_of(self, class_of_row: IntArray) -> IntArray:
        """Return the class of each record to an adversary, as ``Owners.class_of`` does."""
        return self.owners.class_of(class_of_row)

    def reached(self, told: BoolArray) -> Fraction:
        """Return the share of units with a told record.

        Parameters
        ----------
        told: whether the attack learns the value of each record, shape (records,), bool.
        """
        return Fraction(len(np.unique(self.target[told])), self.number)

    def found(self, guess: IntArray, chance: FloatArray, *, once: bool) -> tuple[FloatArray, float]:
        """Return the probability that each unit is found, shape (units,), and the mean of single guesses.

        A member is found by the best of its guesses, or by any of them; a unit by any of its members. Guesses
        fail independently.

        Parameters
        ----------
        guess: number of the guess that aims at each record, shape (records,), int64.
        chance: that it finds the member whose record it is, shape (records,).
        once: whether the adversary makes only the best guess about each member.
        """
        member_of = group_keys(self.members, int(self.members.max(initial=0)) + 1)[0]
        order = np.lexsort((-chance, guess, member_of))
        member, own = member_of[order], guess[order]
        first = np.concatenate([[True], (member[1:] != member[:-1]) | (own[1:] != own[:-1])])
        if once:
            order = np.lexsort((-chance, member_of))
            first = np.concatenate([[True], np.diff(member_of[order]) > 0])
        taken = order[first]
        return self.by_any(taken, chance[taken]), float(chance[taken].mean())

    def by_any(self, records: IntArray, chance: FloatArray) -> FloatArray:
        """Return the probability that any of some independent guesses finds each unit, shape (units,).

        Parameters
        ----------
        records: that guesses aim at, shape (guesses,), int64.
        chance: that each is right, shape (guesses,).
        """
        with np.errstate(divide="ignore"):
            missed = np.bincount(self.target[records], np.log1p(-chance), self.number)
        return np.asarray(-np.expm1(missed), dtype=np.float64)


def lacking(owners: Owners | None, unit: str | None) -> str | None:
    """Return words for a message if nobody knows the unit that an attack asks for, else None."""
    if unit in (None, RECORD) or (owners is not None and unit in owners.units):
        return None
    return (
        f"unit: {RECORD}, or original records that have the key of the {unit} and each fit exactly one "
        "released row"
    )
