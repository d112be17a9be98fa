"""The population that the records are a sample of: how many of its people have the values of a class.

People are counted in a table of the population, or estimated by sampling weights. They add up,
but for persons with records in several rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from anonymizer.model.arrays import (
    DENSE_LIMIT,
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    count_exactly,
    group_keys,
)

LARGEST = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class PopulationSizes:
    """The people of the population in each class of a sample, N_E.

    Attributes
    ----------
    scaled: people of each class times ``scale``, shape (classes,), int64.
    scale: makes sums of fractional weights whole.
    absent: whether the population has classes in which the sample has no record.
    estimated: whether people are sums of the records' own weights; a class then has at least its records.
    everyone: people of the whole population times ``scale``; None: those of the classes.
    persons: of the sample in each class, shape (classes,), int64; None where records are persons.
    """

    scaled: IntArray
    scale: int = 1
    absent: bool = False
    estimated: bool = False
    everyone: int | None = None
    persons: IntArray | None = None

    def keep(self, kept: IntArray | BoolArray) -> PopulationSizes:
        """Return the people of some classes, by position or which, in the order given."""
        persons = None if self.persons is None else self.persons[kept]
        return replace(self, scaled=self.scaled[kept], persons=persons)

    def pooled(self) -> PopulationSizes | None:
        """Return the people of all classes as one; None where a person may be in several."""
        if self.persons is not None:
            return None
        return replace(self, scaled=self.scaled.sum(keepdims=True))

    def at_least_sample(self, sizes: IntArray) -> PopulationSizes:
        """Return the people of each class, at least those of the sample where they are estimated.

        Parameters
        ----------
        sizes: records of each class, shape (classes,), int64.
        """
        if not self.estimated:
            return self
        least = (sizes if self.persons is None else self.persons) * self.scale
        return replace(self, scaled=np.maximum(self.scaled, least))

    @property
    def people(self) -> FloatArray:
        """People of each class, shape (classes,), float64."""
        return self.scaled / self.scale

    @property
    def total(self) -> float:
        """People of the whole population, of classes without a record of the sample, too."""
        return (int(self.scaled.sum()) if self.everyone is None else self.everyone) / self.scale

    def at_least(self, people: Fraction) -> BoolArray:
        """Return which classes have so many people, exactly, shape (classes,), bool."""
        held: BoolArray = self.scaled >= min(ceil(people * self.scale), LARGEST)
        return held

    def at_most_share(self, sizes: IntArray, share: Fraction) -> BoolArray:
        """Return in which classes the records are at most a share of the people, shape (classes,), bool.

        Parameters
        ----------
        sizes: records of each class, shape (classes,), int64, positive.
        """
        if share == 0:
            return np.zeros(len(sizes), dtype=bool)
        held: BoolArray = self.scaled >= self._limits(sizes, lambda size: ceil(size * self.scale / share))
        return held

    def at_least_share(self, sizes: IntArray, share: Fraction) -> BoolArray:
        """Return in which classes the records are at least a share of the people, shape (classes,), bool."""
        if share == 0:
            return np.ones(len(sizes), dtype=bool)
        held: BoolArray = self.scaled <= self._limits(sizes, lambda size: floor(size * self.scale / share))
        return held

    @staticmethod
    def _limits(sizes: IntArray, limit: Callable[[int], int]) -> IntArray:
        distinct, position = np.unique(sizes, return_inverse=True)
        limits = [min(limit(size), LARGEST) for size in distinct.tolist()]
        return np.array(limits, dtype=np.int64)[position]


@dataclass(frozen=True, eq=False)
class PopulationAttribute:
    """A quasi-identifier with the values of the input and those of the population.

    Attributes
    ----------
    labels: published texts of the nodes of the input's hierarchy.
    nodes: node of each value at each level, -1 if no record of the input has it, shape (levels, values),
        int32.
    """

    labels: tuple[str, ...]
    nodes: CodeArray


@dataclass(frozen=True, eq=False)
class RowOwners:
    """The persons whose records are in the rows of a sample, each of them once in a class of rows.

    Attributes
    ----------
    person_of: person of each row who has others, -1 for rows of persons who have no other, shape (rows,),
        int64.
    persons: of each row, shape (rows,), int64; 1 for a person who has others.
    """

    person_of: IntArray
    persons: IntArray

    @classmethod
    def of(cls, person_of: IntArray, records: IntArray) -> RowOwners:
        """Return the owners of rows.

        Parameters
        ----------
        person_of: person of each row, shape (rows,), int64; if negative, each record is a person.
        records: of each row, shape (rows,), int64.
        """
        known = person_of >= 0
        single = np.bincount(person_of[known], minlength=1)[np.where(known, person_of, 0)] == 1
        return cls(np.where(known & ~single, person_of, -1), np.where(known, 1, records))

    def at(self, chosen: BoolArray) -> RowOwners:
        """Return the owners of some rows; ``chosen`` has shape (rows,)."""
        return RowOwners(self.person_of[chosen], self.persons[chosen])

    def added(self, group_of: IntArray, groups: int, amounts: IntArray) -> IntArray:
        """Add up an amount of each person in groups of rows, shape (groups,), int64.

        Parameters
        ----------
        group_of: group of each row, shape (rows,), int64.
        amounts: of all persons of a row, shape (rows,), int64; equal in all rows of a person.
        """
        alone = self.person_of < 0
        found = count_exactly(group_of[alone], amounts[alone], groups)
        several = np.flatnonzero(~alone)
        space = int(self.person_of.max(initial=0)) + 1
        pair_of, pairs = group_keys(group_of[several] * space + self.person_of[several], groups * space)
        first = np.zeros(len(pairs), dtype=np.int64)
        first[pair_of] = several
        return found + count_exactly(pairs // space, amounts[first], groups)


@dataclass(frozen=True, eq=False)
class Population:
    """The distinct rows of quasi-identifiers in the population, with their people.

    Attributes
    ----------
    source: name of the table in messages.
    attributes: the quasi-identifiers.
    codes: of the values of each row, shape (rows, quasi-identifiers), int32.
    scaled: people of each row times ``scale``, shape (rows,), int64.
    estimated: as for ``PopulationSizes``.
    owners: whose rows these are, if the persons of the sample may have several; else None.
    warnings: about the weights by which people are counted.
    """

    source: str
    attributes: tuple[PopulationAttribute, ...]
    codes: CodeArray
    scaled: IntArray
    scale: int
    estimated: bool = False
    owners: RowOwners | None = None
    warnings: tuple[str, ...] = ()

    @property
    def everyone(self) -> int:
        """Number of people times ``scale``."""
        if self.owners is None:
            return int(self.scaled.sum())
        return int(self.owners.added(np.zeros(len(self.scaled), dtype=np.int64), 1, self.scaled)[0])

    @property
    def people(self) -> float:
        """Number of people."""
        return self.everyone / self.scale

    def projected(self, places: Sequence[int]) -> Population:
        """Return the population by some attributes, in the order of their places."""
        own = tuple(self.attributes[place] for place in places)
        return replace(self, attributes=own, codes=self.codes[:, list(places)])

    def sizes(self, keys: IntArray, ranks: Sequence[IntArray], strides: Sequence[int]) -> PopulationSizes:
        """Count the people of classes.

        Parameters
        ----------
        keys: of the classes, ascending, shape (classes,), int64.
        ranks: by attribute, the rank of each value in a key, -1 if no class has it, shape (values,), int64.
        strides: by attribute, the factor of the rank.
        """
        own = np.zeros(len(self.codes), dtype=np.int64)
        inside = np.ones(len(self.codes), dtype=bool)
        for place, (rank, stride) in enumerate(zip(ranks, strides, strict=True)):
            codes = self.codes[:, place]
            own += (rank * stride)[codes]
            if (rank < 0).any():
                inside &= (rank >= 0)[codes]
        position, known = _positions(keys, own)
        inside &= known
        number, absent = len(keys), not bool(inside.all())
        if self.owners is None:
            scaled = count_exactly(position[inside], self.scaled[inside], number)
            everyone = None if self.estimated else self.everyone
            return PopulationSizes(scaled, self.scale, absent, self.estimated, everyone)
        owners = self.owners.at(inside)
        scaled = owners.added(position[inside], number, self.scaled[inside])
        persons = owners.added(position[inside], number, owners.persons)
        return PopulationSizes(scaled, self.scale, absent, self.estimated, self.everyone, persons)

    def in_release(
        self, values: Sequence[Sequence[str | None]], codes: CodeArray, levels: Sequence[int]
    ) -> PopulationSizes:
        """Count the people of the classes of a release by its texts.

        Parameters
        ----------
        values: distinct texts of each quasi-identifier.
        codes: texts of each class, shape (classes, quasi-identifiers).
        levels: published level of each quasi-identifier.
        """
        ranks: list[IntArray] = []
        strides: list[int] = []
        for attribute, texts, level in zip(self.attributes, values, levels, strict=True):
            position = {text: code for code, text in enumerate(texts)}
            of_node = [position.get(label, -1) for label in attribute.labels]
            ranks.append(np.array([*of_node, -1], dtype=np.int64)[attribute.nodes[level]])
            strides = [each * len(texts) for each in strides] + [1]
        keys = codes.astype(np.int64) @ np.array(strides, dtype=np.int64)
        order = np.argsort(keys)
        found = self.sizes(keys[order], ranks, strides)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return found.keep(place)


def _positions(keys: IntArray, looked_up: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the position of each number among the keys, and whether it is one of them.

    A number that is not has any position. Keys of a small range are looked up in a table, which takes a tenth
    of the time of searching for each.

    Parameters
    ----------
    keys: ascending, shape (keys,), at least one, int64, none negative.
    looked_up: shape (items,), int64.
    """
    last = int(keys[-1])
    if last < max(DENSE_LIMIT, 4 * len(looked_up)):
        place = np.zeros(last + 1, dtype=np.int64)
        place[keys] = np.arange(len(keys))
        position = np.take(place, looked_up, mode="clip")
    else:
        position = np.minimum(np.searchsorted(keys, looked_up), len(keys) - 1)
    return position, keys[position] == looked_up
