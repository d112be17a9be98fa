"""Counting the classes of transformations from a frequency table that the search rolls up.

Several attributes of each distinct row share one narrow code, so that one look-up generalizes them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import Marginals
from anonymizer.model.arrays import (
    DENSE_LIMIT,
    SPACE,
    CodeArray,
    FloatArray,
    IntArray,
    Packing,
    count,
    count_exactly,
    group_keys,
    joined_by,
)
from anonymizer.model.classes import Classes, ClassValues, SensitiveCodes, classes_of_rows
from anonymizer.model.measure import Measure
from anonymizer.model.population import Population, PopulationSizes
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.base import sensitive_codes

Codes = NDArray[np.integer]

LARGEST = 1 << 16
"""Codes of one bundle: a table of them stays in the processor's cache."""

SMALLEST, ROWS_A_CODE = 1 << 8, 2
"""A bundle has at most one code for so many rows, but as many as fit a byte."""

MOST_AXES = 32
"""Attributes of one bundle; arrays have at most 64 axes."""

BLOCK = 1 << 18
"""Distinct rows that are looked up at once, for the same reason."""


@dataclass(frozen=True, eq=False)
class Bundle:
    """Consecutive attributes packed into one code.

    Attributes
    ----------
    first: place of the first attribute.
    sizes: number of base values of each.
    codes: of each combination, in the smallest unsigned type that holds them, shape (combinations,).
    """

    first: int
    sizes: tuple[int, ...]
    codes: Codes

    @property
    def places(self) -> range:
        """Places of the attributes."""
        return range(self.first, self.first + len(self.sizes))

    def parts(self, by_value: Sequence[IntArray]) -> IntArray:
        """Return the sum of a number of each attribute's value, for each code of the bundle."""
        return joined_by(np.add, [by_value[place] for place in self.places]).ravel()

    def values(self, place: int) -> IntArray:
        """Return the base value of an attribute for each combination, shape (combinations,), int64."""
        own = place - self.first
        values = self.codes.astype(np.int64)
        if own + 1 < len(self.sizes):
            values //= prod(self.sizes[own + 1 :])
        return values % self.sizes[own] if own else values

    def marginals(self, items: IntArray, weights: IntArray, *, large: bool = False) -> list[IntArray]:
        """Add up whole weights of some combinations by the base values of each attribute.

        Parameters
        ----------
        large: whether the sums may exceed 2**53, and only fit in 63 bits.
        """
        codes, space = self.codes[items], prod(self.sizes)
        sums = count_exactly(codes, weights, space) if large else np.bincount(codes, weights, space)
        return [own.astype(np.int64, copy=False) for own in _marginals(sums, self.sizes)]


def _marginals(sums: NDArray[Any], sizes: Sequence[int]) -> list[NDArray[Any]]:
    """Return the sums by each axis of an array of these sizes, given flat: halves first, in fewer passes."""
    if len(sizes) == 1:
        return [sums]
    half = len(sizes) // 2
    both = sums.reshape(prod(sizes[:half]), -1)
    return [*_marginals(both.sum(axis=1), sizes[:half]), *_marginals(both.sum(axis=0), sizes[half:])]


def bundled(columns: Sequence[tuple[Codes, IntArray]], sizes: Sequence[int]) -> tuple[Bundle, ...]:
    """Pack columns of codes into as few bundles as their order allows; a large column is a bundle of its own.

    Parameters
    ----------
    columns: of each attribute the codes of the combinations, and the base value of each code.
    sizes: number of base values of each.
    """
    bundles, start = [], 0
    # A sum for each code takes as long as two look-ups, so few rows are looked up in more, smaller bundles.
    largest = min(max(len(columns[0][0]) // ROWS_A_CODE, SMALLEST), LARGEST) if columns else LARGEST
    while start < len(columns):
        stop, space = start + 1, max(sizes[start], 1)
        while stop < min(len(columns), start + MOST_AXES) and space * sizes[stop] <= largest:
            space *= sizes[stop]
            stop += 1
        own = tuple(max(size, 1) for size in sizes[start:stop])
        bundles.append(Bundle(start, own, _packed(columns[start:stop], own)))
        start = stop
    return tuple(bundles)


def _packed(columns: Sequence[tuple[Codes, IntArray]], sizes: Sequence[int]) -> Codes:
    """Return base values packed into one code, the first attribute's first."""
    space = prod(sizes)
    strides = [prod(sizes[place + 1 :]) for place in range(len(sizes))]
    scaled = [values * stride for (_, values), stride in zip(columns, strides, strict=True)]
    packed = np.empty(len(columns[0][0]), dtype=np.min_scalar_type(space - 1))
    for start in range(0, len(packed), BLOCK):
        block = slice(start, start + BLOCK)
        packed[block] = sum(own[codes[block]] for (codes, _), own in zip(columns, scaled, strict=True))
    return packed


def keys_of(bundles: Sequence[Bundle], by_value: Sequence[IntArray], combinations: int) -> IntArray:
    """Add up a number of each attribute's value for each combination, shape (combinations,), int64."""
    parts = [(each.codes, each.parts(by_value)) for each in bundles]
    parts = [(codes, own) for codes, own in parts if own.any()]
    keys = np.zeros(combinations, dtype=np.int64)
    for start in range(0, combinations, BLOCK):
        block = keys[start : start + BLOCK]
        # Taking by narrow codes is quicker than indexing with them.
        for codes, own in parts:
            block += own.take(codes[start : start + BLOCK])
    return keys


CHEAP = 1 << 20
"""Up to this many distinct rows, rolling up always pays."""


@dataclass(frozen=True, eq=False)
class _Level:
    """One generalization level of an attribute: the rank among its nodes of each base value."""

    ranks: IntArray
    size: int


@dataclass(frozen=True, eq=False)
class _Attribute:
    """One attribute of a rolled-up table; its base values are its nodes at some lowest level.

    Attributes
    ----------
    labels: published text of each hierarchy node.
    nodes: hierarchy node of each base value at each level from the lowest up, shape (levels, base values).
    levels: the same as ranks, for packed keys.
    """

    name: str
    labels: Sequence[str]
    lowest: int
    nodes: CodeArray
    levels: list[_Level]

    @classmethod
    def of(cls, name: str, labels: Sequence[str], lowest: int, nodes: CodeArray) -> _Attribute:
        levels = []
        for own in nodes:
            ranks, distinct = group_keys(own.astype(np.int64), int(own.max(initial=0)) + 1)
            levels.append(_Level(ranks, len(distinct)))
        return cls(name, labels, lowest, nodes, levels)

    @property
    def size(self) -> int:
        """Number of base values."""
        return int(self.nodes.shape[1])

    def at(self, level: int) -> _Level:
        return self.levels[level - self.lowest]

    def texts(self, level: int) -> list[str]:
        """Return the published text of each rank at a level."""
        return [self.labels[node] for node in np.unique(self.nodes[level - self.lowest]).tolist()]

    def ranks_of(self, nodes: CodeArray, level: int) -> IntArray:
        """Return the rank of nodes among those of the base values at a level; -1 for others."""
        own = self.nodes[level - self.lowest]
        ranks = np.full(int(max(own.max(initial=0), nodes.max(initial=0))) + 2, -1, dtype=np.int64)
        ranks[own] = self.at(level).ranks
        return ranks[nodes]

    def raised(self, lowest: int) -> _Attribute:
        """Return the attribute with the nodes of a higher level as base values, by their ranks."""
        ranks, above = self.at(lowest).ranks, lowest - self.lowest
        first = np.empty(self.at(lowest).size, dtype=np.int64)
        first[ranks] = np.arange(len(ranks))
        # All base values of a node have the same nodes above it.
        levels = [_Level(each.ranks[first], each.size) for each in self.levels[above:]]
        return _Attribute(self.name, self.labels, lowest, self.nodes[above:, first], levels)


class _DenseClasses(Classes):
    """Classes with few possible keys: sizes are counted at once, the class of each item only when asked for.

    Parameters
    ----------
    keys: of the items, shape (items,), int64, each in [0, space).
    weights: records of each item, at least 1, as floating-point numbers.

    Attributes
    ----------
    present: which keys have records, shape (space,), bool.
    """

    def __init__(
        self,
        keys: IntArray,
        space: int,
        weights: FloatArray,
        measure: Measure,
        sensitive: dict[str, SensitiveCodes],
    ) -> None:
        self._numbered = False
        self._sums = np.bincount(keys, weights=weights, minlength=space)
        # Places of true values are found several times faster than those of numbers.
        self.present = self._sums > 0
        super().__init__(keys, measure, int(np.count_nonzero(self.present)), sensitive)

    @property
    def class_of(self) -> IntArray:
        """Class of each item, shape (items,), int64."""
        if not self._numbered:
            self._class_of = (np.cumsum(self.present) - 1)[self._class_of]
            self._numbered = True
        return self._class_of

    @cached_property
    def sizes(self) -> IntArray:
        """Records in each class, shape (classes,), int64."""
        return self._sums[self.distinct].astype(np.int64)

    @cached_property
    def distinct(self) -> IntArray:
        """Key of each class, shape (classes,), int64."""
        return np.flatnonzero(self.present)


@dataclass(frozen=True, eq=False)
class RollUp:
    """A frequency table whose quasi-identifiers are generalized to some lowest levels.

    Every transformation at or above those levels can be counted from it; the fewer distinct rows, the faster.

    Attributes
    ----------
    measure: what is counted of each combination.
    sampling: code of the sampling weight of each combination, shape (combinations,), and the weight of each
        code, both int64; None without weights.
    divided: whether combinations, divided by units, stay so when they are rolled up.
    """

    attributes: Sequence[_Attribute]
    bundles: Sequence[Bundle]
    measure: Measure
    sensitive: dict[str, SensitiveCodes]
    population: Population | None
    sampling: tuple[IntArray, IntArray] | None
    divided: bool

    @classmethod
    def of(cls, table: Table, *, divided: bool = False) -> RollUp:
        """Return the table with every quasi-identifier at its lowest allowed level."""
        attributes, columns = [], []
        for position, quasi_identifier in enumerate(table.quasi_identifiers):
            attribute, code_of = _start(quasi_identifier)
            attributes.append(attribute)
            columns.append((table.quasi_identifier_codes(position), code_of))
        sampling = None
        if table.sampling is not None:
            sampling = table.codes[:, -1].astype(np.int64), table.sampling.values
        return cls(
            attributes,
            bundled(columns, [attribute.size for attribute in attributes]),
            table.measure,
            sensitive_codes(table),
            table.population,
            sampling,
            divided,
        )

    @property
    def counts(self) -> IntArray:
        """Records of each combination, shape (combinations,), int64."""
        return self.measure.records

    @cached_property
    def lowest(self) -> tuple[int, ...]:
        """The lowest level of each quasi-identifier."""
        return tuple(attribute.lowest for attribute in self.attributes)

    @cached_property
    def _row_weights(self) -> IntArray | None:
        """Sampling weight of a record of each combination, (combinations,), int64; None without weights."""
        return None if self.sampling is None else self.sampling[1][self.sampling[0]]

    @cached_property
    def weights(self) -> FloatArray:
        """The counts as float64, which are added up fastest."""
        return self.counts.astype(np.float64)

    def base_values(self, place: int) -> IntArray:
        """Return the base value of an attribute for each combination, shape (combinations,), int64."""
        return next(each.values(place) for each in self.bundles if place in each.places)

    def classes(self, levels: Sequence[int]) -> Classes:
        """Return the equivalence classes of a transformation at or above the lowest levels."""
        packing = self._packed(levels)
        space = packing.space
        keys, names = packing.take_keys(), [each.name for each in self.attributes]
        linked = self.measure.linked

        def label() -> list[list[str]]:
            return [each.texts(level) for each, level in zip(self.attributes, levels, strict=True)]

        if self.population is None and not linked and space <= max(DENSE_LIMIT, 2 * len(keys)):
            dense = _DenseClasses(keys, space, self.weights, self.measure, self.sensitive)
            # The values must not refer to the classes: arrays in a circle stay until the next collection.
            present = dense.present
            dense.values = ClassValues(names, lambda: packing.unpack(np.flatnonzero(present)), label)
            dense.weights = self._row_weights
            return dense
        groups, distinct = group_keys(keys, space)
        classes = classes_of_rows(groups, self.measure, len(distinct), self.sensitive)
        classes.weights = self._row_weights
        if self.population is not None:
            classes.population = self._people(self.population, levels, distinct)
        if not linked:
            classes.values = ClassValues(names, lambda: packing.unpack(distinct), label)
        return classes

    def in_small_classes(self, levels: Sequence[int], smallest: int) -> int:
        """Return how many records of a transformation are in classes of fewer records than ``smallest``."""
        packing = self._packed(levels)
        space, keys = packing.space, packing.take_keys()
        if space > max(DENSE_LIMIT, 2 * len(keys)):
            keys, distinct = group_keys(keys, space)
            space = len(distinct)
        sizes = np.bincount(keys, self.weights, space)
        return int(sizes[sizes < smallest].sum())

    def _people(self, population: Population, levels: Sequence[int], keys: IntArray) -> PopulationSizes:
        """Count the people of classes, given their keys."""
        sizes = [attribute.at(level).size for attribute, level in zip(self.attributes, levels, strict=True)]
        assert prod(sizes) < SPACE, "a run refuses populations whose rows do not fit one key"
        ranks = [
            attribute.ranks_of(own.nodes[level], level)
            for attribute, own, level in zip(self.attributes, population.attributes, levels, strict=True)
        ]
        return population.sizes(keys, ranks, [prod(sizes[place + 1 :]) for place in range(len(sizes))])

    def _packed(self, levels: Sequence[int]) -> Packing:
        """Return the nodes of each combination at some levels, as ranks packed into a key."""
        own = [attribute.at(level) for attribute, level in zip(self.attributes, levels, strict=True)]
        sizes = [level.size for level in own]
        if prod(sizes) < SPACE:
            strides = [prod(sizes[place + 1 :]) for place in range(len(sizes))]
            scaled = [level.ranks * stride for level, stride in zip(own, strides, strict=True)]
            return Packing.of(keys_of(self.bundles, scaled, len(self.counts)), sizes)
        packing = Packing(len(self.counts))
        for place, level in enumerate(own):
            alone = [level.ranks * (place == other) for other, level in enumerate(own)]
            packing.add(keys_of(self.bundles, alone, len(self.counts)), level.size)
        return packing

    def marginals(self, records: IntArray, unplaced: int = 0) -> Marginals:
        """Count records by the values of each attribute.

        Parameters
        ----------
        records: how many of each combination are counted, shape (combinations,), int64.
        unplaced: further records whose distinct rows are unknown.
        """
        items = np.flatnonzero(records > 0)
        own = records[items]
        counts = tuple(each for bundle in self.bundles for each in bundle.marginals(items, own))
        people, unplaced_people = None, 0
        if self._row_weights is not None:
            own, unplaced_people = own * self._row_weights[items], self.fewest_people(unplaced)
            people = tuple(
                each for bundle in self.bundles for each in bundle.marginals(items, own, large=True)
            )
        nodes = tuple(attribute.nodes for attribute in self.attributes)
        return Marginals(counts, nodes, self.lowest, unplaced, people, unplaced_people)

    def unplaced(self, records: int) -> Marginals:
        """Return the counts of so many records whose distinct rows are unknown."""
        people = 0 if self.sampling is None else self.fewest_people(records)
        return replace(self._nothing, unplaced=records, unplaced_people=people)

    @cached_property
    def _nothing(self) -> Marginals:
        return self.marginals(np.zeros(len(self.counts), dtype=np.int64))

    def fewest_people(self, records: int) -> int:
        """Return the lowest sum of the sampling weights of so many records."""
        assert self.sampling is not None, "only tables with weights are asked"
        codes, weights = self.sampling
        each = count(codes, self.counts, len(weights))
        order = np.argsort(weights)
        taken = np.diff(np.minimum(np.cumsum(each[order]), records), prepend=0)
        return int(taken @ weights[order])

    def towards(self, lowest: Sequence[int]) -> RollUp:
        """Return the table rolled up to higher lowest levels where that is likely to save time."""
        space = prod(
            attribute.at(level).size for attribute, level in zip(self.attributes, lowest, strict=True)
        )
        return self.raised(lowest) if space <= len(self.counts) or len(self.counts) <= CHEAP else self

    def raised(self, lowest: Sequence[int]) -> RollUp:
        """Return the table rolled up to higher lowest levels."""
        if tuple(lowest) == self.lowest:
            return self
        packing = self._packed(lowest)
        for each in self.sensitive.values():
            packing.add(each.codes, each.attribute.column.size)
        if self.sampling is not None:
            packing.add(self.sampling[0], len(self.sampling[1]))
        keys, measure = self.measure.merged(packing, divided=self.divided)
        codes = packing.unpack(keys)
        attributes = [
            attribute.raised(level) for attribute, level in zip(self.attributes, lowest, strict=True)
        ]
        width = len(attributes)
        sensitive = {
            name: SensitiveCodes(each.attribute, codes[:, width + place].astype(np.int64))
            for place, (name, each) in enumerate(self.sensitive.items())
        }
        columns = [(codes[:, place], np.arange(own.size)) for place, own in enumerate(attributes)]
        return replace(
            self,
            attributes=attributes,
            bundles=bundled(columns, [attribute.size for attribute in attributes]),
            measure=measure,
            sensitive=sensitive,
            sampling=None if self.sampling is None else (codes[:, -1].astype(np.int64), self.sampling[1]),
        )


def _start(attribute: QuasiIdentifier) -> tuple[_Attribute, IntArray]:
    """Return an attribute at its lowest allowed level, and the base value of each of its codes."""
    hierarchy = attribute.hierarchy
    own = _Attribute.of(attribute.name, hierarchy.labels, 0, hierarchy.ancestors[:, attribute.leaf])
    return own.raised(attribute.minimum), own.at(attribute.minimum).ranks
