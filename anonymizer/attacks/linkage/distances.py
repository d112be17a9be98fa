"""Distances for record linkage: Euclidean, Mahalanobis, by rank, and by the range of a rank swapping.

Distinct original rows are compared with released classes, one attribute at a time. An adversary who knows
the range of a rank swapping can rule out every record whose rank would have moved further.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy

from anonymizer.attacks.base import NOTE
from anonymizer.attacks.joins import CoveringJoin, spans
from anonymizer.attacks.linkage.unknown import (
    Unknown,
    blank_texts,
    covers_all,
    covers_missing,
    mean_known,
    nearest_squares,
    neutral_square,
)
from anonymizer.attacks.links import links_of_pairs
from anonymizer.attacks.pace import paced
from anonymizer.errors import listed
from anonymizer.model.adversary import Links, Original, PublishedTable, ValueCoverage
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, count, numbered
from anonymizer.model.table import Column, ValueType

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Scaling = Callable[[FloatArray], FloatArray]
"""Puts numbers of a column on the scale in which distances are measured."""

Scale = Callable[["Numbers"], Scaling]
"""Returns the scaling of the numbers of a file."""


ALIKE = 0.5
"""Difference of means and deviations, in deviations, up to which numbers of both files are in equal units."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The distinct numbers of an attribute in one file.

    Attributes
    ----------
    values: ascending, shape (values,), float64.
    counts: records of each, shape (values,), int64.
    """

    values: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, column: Column) -> Numbers:
        """Return the numbers of a column of originals."""
        assert column.numbers is not None, "only numbers are scaled"
        known = ~np.isnan(column.numbers)
        return cls(column.numbers[known], column.counts[known])

    @property
    def mean(self) -> float:
        """The mean over the records."""
        return float(np.average(self.values, weights=self.counts))

    @property
    def deviation(self) -> float:
        """The standard deviation over the records."""
        return float(np.sqrt(np.average((self.values - self.mean) ** 2, weights=self.counts)))

    def resembles(self, other: Numbers) -> bool:
        """Return whether mean and deviation are near those of other numbers, so that the units are equal."""
        near = abs(self.mean - other.mean) <= ALIKE * other.deviation
        return near and (1 - ALIKE) * other.deviation <= self.deviation <= (1 + ALIKE) * other.deviation


PROBES = 2000
"""Maximum number of originals from which the errors of masked numbers are estimated."""

NEIGHBOURS, ROUNDS = 200, 10
"""Originals whose nearest classes tell how much an unknown value counts, and times that they are sought."""

Change = Callable[[FloatArray], FloatArray]
"""A transformation of gaps."""


class Gaps(ABC):
    """The least distance from an original value to a value that a text covers; 0 iff it covers the value."""

    def __init__(self, meaning: ValueCoverage) -> None:
        self._texts = len(meaning.sizes)

    def __len__(self) -> int:
        """Number of texts."""
        return self._texts

    @abstractmethod
    def rows(self, codes: IntArray) -> FloatArray:
        """Return the gaps between some original values and every text, shape (values, texts), float64.

        Gaps of numbers have signs: negative if the value is below the covered ones.
        """

    def between(self, codes: IntArray, texts: IntArray) -> FloatArray:
        """Return the gaps between some original values and some texts, shape (values, texts), float64."""
        return self.rows(codes)[:, texts]


def gaps_of(meaning: ValueCoverage, scale: Scale, published: Numbers | None = None) -> Gaps:
    """Return the gaps of an attribute: on a scale for numbers, along the hierarchy for other values.

    Parameters
    ----------
    published: numbers of the release, which are scaled by themselves; None if they are in the units of the
        original.
    """
    numbers = meaning.column.numbers
    if numbers is None or np.isnan(numbers).all():
        return CategoryGaps(meaning)
    own = Numbers.of(meaning.column)
    return NumberGaps(meaning, scale(own), scale(own if published is None else published))


def standard_scale(numbers: Numbers) -> Scaling:
    """Return the scaling to standard deviations of the numbers; no scaling if they are constant."""
    deviation = numbers.deviation
    unit = deviation if deviation > 0 else 1.0
    return lambda given: given / unit


def centred_scale(numbers: Numbers) -> Scaling:
    """Return the scaling to standard deviations from the mean."""
    scaled = standard_scale(numbers)
    return lambda given: scaled(given - numbers.mean)


def rank_scale(numbers: Numbers) -> Scaling:
    """Return the scaling to ranks: the share of records below a number, plus half of those with it."""
    below = np.concatenate([[0], np.cumsum(numbers.counts)]) / numbers.counts.sum()

    def ranks(given: FloatArray) -> FloatArray:
        under, upto = (np.searchsorted(numbers.values, given, side) for side in ("left", "right"))
        return np.where(np.isnan(given), np.nan, (below[under] + below[upto]) / 2)

    return ranks


class NumberGaps(Gaps):
    """Gaps of numbers to the nearest number that a text covers.

    The gap between a missing value and a number is the width of the column.
    """

    def __init__(self, meaning: ValueCoverage, scale: Scaling, published: Scaling) -> None:
        super().__init__(meaning)
        numbers = meaning.column.numbers
        assert numbers is not None, "text has no numbers"
        self._values = scale(numbers)
        self._low, self._high = published(meaning.low), published(meaning.high)
        ends = np.concatenate([self._values, self._low, self._high])
        span = float(np.nanmax(ends) - np.nanmin(ends))
        self._widest = span if span > 0 else 1.0
        self._missing = meaning.column.missing
        self._with_missing = covers_missing(meaning)
        self._broken = self._with_holes(meaning, numbers)

    def _with_holes(self, meaning: ValueCoverage, numbers: FloatArray) -> list[tuple[int, FloatArray]]:
        """Return the texts with original numbers between their ends that they do not cover."""
        present = numbers[~np.isnan(numbers)]
        between = np.searchsorted(present, meaning.high, "right") - np.searchsorted(
            present, meaning.low, "left"
        )
        covered = meaning.sizes - self._with_missing
        some = np.flatnonzero((covered > 0) & (covered < between) & ~np.isnan(meaning.low))
        found = []
        for text in some.tolist():
            own = self._values[meaning.values[meaning.starts[text] : meaning.starts[text + 1]]]
            found.append((text, own[~np.isnan(own)]))
        return found

    def rows(self, codes: IntArray) -> FloatArray:
        """Return the signed gaps, shape (values, texts)."""
        return self.between(codes, np.arange(len(self)))

    def between(self, codes: IntArray, texts: IntArray) -> FloatArray:
        """Return the signed gaps between some values and some texts, shape (values, texts)."""
        values = self._values[codes][:, None]
        below, above = values - self._low[texts], values - self._high[texts]
        gaps: FloatArray = np.minimum(below, 0) + np.maximum(above, 0)
        for text, numbers in self._broken:
            nearest = values - numbers[_nearest_codes(numbers, values[:, 0])][:, None]
            gaps[:, texts == text] = nearest
        gaps[np.isnan(gaps)] = self._widest
        if self._missing is not None:
            gaps[np.ix_(codes == self._missing, self._with_missing[texts])] = 0
        return gaps


class CategoryGaps(Gaps):
    """Gaps of categories: the level of the lowest common ancestor by the height of the hierarchy.

    Without a hierarchy: 0 for a value that the text covers, else 1.
    """

    def __init__(self, meaning: ValueCoverage) -> None:
        super().__init__(meaning)
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        if meaning.hierarchy is None or meaning.leaf is None:
            chains = np.arange(meaning.column.size)[None, :]
        else:
            height = meaning.hierarchy.height
            chains = meaning.hierarchy.ancestors[: max(height, 1), meaning.leaf].astype(np.int64)
        self._chains = chains
        self._levels = [_Members(chain, owners, meaning.values, self._texts) for chain in chains]

    def rows(self, codes: IntArray) -> FloatArray:
        """Return the gaps as shares of the height, shape (values, texts)."""
        gaps = np.ones((len(codes), self._texts))
        for level in reversed(range(len(self._levels))):
            texts, of_value = self._levels[level].of(self._chains[level][codes])
            gaps[of_value, texts] = level / len(self._levels)
        return gaps


class _Members:
    """The texts that cover a value under each node of one level."""

    def __init__(self, chain: IntArray, owners: IntArray, values: IntArray, texts: int) -> None:
        keys = np.unique(chain[values] * texts + owners)
        self._entries = keys % max(texts, 1)
        nodes = keys // max(texts, 1)
        self._starts = np.searchsorted(nodes, np.arange(int(chain.max(initial=-1)) + 2))

    def of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the texts of some nodes, and the node's position for each."""
        places, of_node = spans(self._starts[nodes], self._starts[nodes + 1] - self._starts[nodes])
        return self._entries[places], of_node


@dataclass(frozen=True, eq=False)
class ComparisonSpace:
    """The distinct rows of both files in the compared attributes.

    Attributes
    ----------
    names: of the attributes.
    meanings: coverage of their published texts.
    originals: codes of the original rows, shape (originals, attributes), int32, distinct; -1 for a value that
        the adversary does not know.
    records: original records that the adversary holds of each, shape (originals,), int64.
    classes: texts of the released rows, shape (classes, attributes), int32; distinct.
    sizes: released records of each, shape (classes,), int64.
    truth: true links from originals to classes, with the number of targets.
    each: whether published numbers are scaled by themselves where they are not the original's values.
    held_links: true links of all held records where the targets are a sample of them; else None.
    mirrored: attributes whose published numbers are scaled by themselves, and fall where the original's rise.
    ranked: whether linkers say how sure they are of each link.
    """

    names: tuple[str, ...]
    meanings: tuple[ValueCoverage, ...]
    originals: CodeArray
    records: IntArray
    classes: CodeArray
    sizes: IntArray
    truth: Links
    each: bool = True
    held_links: Links | None = None
    mirrored: frozenset[int] = frozenset()
    ranked: bool = True

    @property
    def held(self) -> Links:
        """True links of all held records."""
        return self.truth if self.held_links is None else self.held_links

    def targeting(self, targets: Links) -> ComparisonSpace:
        """Return the space with some of the held records as targets; all others are held as before."""
        return replace(self, truth=targets, held_links=self.held)

    @cached_property
    def rescaled(self) -> tuple[Numbers | None, ...]:
        """The published numbers of each attribute that are scaled by themselves; None for the others.

        Values of which half or more cover original ones are in the units of the original: generalized values,
        and single numbers with about the same mean and deviation.
        """
        positions = range(len(self.meanings))
        return tuple(self._foreign(position) if self.each else None for position in positions)

    @property
    def readings(self) -> Iterator[tuple[ValueCoverage, Numbers | None]]:
        """The coverage of each attribute with ``rescaled``, both backwards where they are mirrored."""
        for position, (meaning, own) in enumerate(zip(self.meanings, self.rescaled, strict=True)):
            if own is None or position not in self.mirrored:
                yield meaning, own
            else:
                # What numbers in other units cover, they cover by chance.
                kept = np.where(self._telling(position), 0, meaning.sizes)
                starts = np.concatenate([[0], np.cumsum(kept)])
                values = meaning.values[spans(meaning.starts[:-1], kept)[0]]
                turned = replace(meaning, low=-meaning.high, high=-meaning.low, starts=starts, values=values)
                yield turned, Numbers(-own.values[::-1], own.counts[::-1])

    def _foreign(self, position: int) -> Numbers | None:
        meaning = self.meanings[position]
        records = self.records_by_text(position)
        present = (records > 0) & ~np.isnan(meaning.low)
        # A star is in any units.
        texts = np.flatnonzero(present & ~covers_all(meaning))
        if meaning.column.numbers is None or np.isnan(meaning.column.numbers).all() or not len(texts):
            return None
        covers = 2 * int(records[texts][meaning.sizes[texts] > 0].sum()) >= int(records[texts].sum())
        if covers and ((meaning.low < meaning.high) | covers_all(meaning))[present].any():
            return None
        middle = (meaning.low[texts] + meaning.high[texts]) / 2
        distinct, own = np.unique(middle, return_inverse=True)
        found = Numbers(distinct, count(own.reshape(-1), records[texts], len(distinct)))
        return None if covers and found.resembles(Numbers.of(meaning.column)) else found

    @property
    def in_other_units(self) -> bool:
        """Whether numbers are scaled by themselves."""
        return any(each is not None for each in self.rescaled)

    @cached_property
    def unknown(self) -> tuple[Unknown, ...]:
        """What the texts of each attribute do not tell: deleted cells of masked files."""
        return tuple(
            Unknown.of(meaning, self.records_by_text(position), stars=self._is_masked(position))
            for position, meaning in enumerate(self.meanings)
        )

    def records_by_text(self, position: int) -> IntArray:
        """Return the released records with each text of an attribute, shape (texts,), int64."""
        texts = self.classes[:, position].astype(np.int64)
        return count(texts, self.sizes, len(self.meanings[position].low))

    def _is_masked(self, position: int) -> bool:
        """Return whether most values of an attribute are single ones that need not be those of their records.

        They are numbers in other units or without an original, or no class covers most of the originals.
        """
        meaning, records = self.meanings[position], self.records_by_text(position)
        told = self._telling(position)
        if not records[covers_all(meaning)].any() or not mostly(meaning.sizes <= 1, told, records):
            return False
        if self.rescaled[position] is not None or mostly(meaning.sizes == 0, told, records):
            return True
        return not self._covers

    def _telling(self, position: int) -> BoolArray:
        """Return which texts of an attribute are neither blank nor cover every value, shape (texts,)."""
        meaning = self.meanings[position]
        return ~(covers_all(meaning) | blank_texts(meaning))

    @cached_property
    def _covers(self) -> bool:
        """Whether most originals are covered, or most released records cover one; rows of stars do not count.

        The originals of suppressed records may be covered by none, as may records that the adversary does
        not hold cover none.
        """
        told: BoolArray = np.logical_or.reduce(self.originals >= 0, axis=0)
        pairs = zip(self.meanings, self.classes.T, told, strict=True)
        stars = [covers_all(meaning)[texts] for meaning, texts, known in pairs if known]
        some = ~np.logical_and.reduce([np.ones(len(self.sizes), dtype=bool), *stars])
        sizes, originals, classes = self.sizes[some], 0, np.zeros(int(some.sum()), dtype=bool)
        join = CoveringJoin(self.meanings, self.classes[some].astype(np.int64))
        for _, found in join.blocks(self.originals.astype(np.int64)):
            originals += len(np.unique(found.original))
            classes[found.published] = True
        return 2 * originals >= len(self.originals) or 2 * int(sizes[classes].sum()) >= int(sizes.sum())

    @property
    def by_covering(self) -> bool:
        """Whether a class is at distance 0 iff it covers the row, for a distance that is exact."""
        return not self.in_other_units and not any(own.covering for own in self.unknown)

    @property
    def ceiling(self) -> float:
        """Share of correct links if each target were linked to its class alone."""
        return float((self.truth.counts / self.sizes[self.truth.release]).sum()) / self.truth.records

    @cached_property
    def breadth(self) -> FloatArray:
        """Number of vectors of values that each class covers, shape (classes,), float64."""
        values = [
            np.maximum(meaning.sizes, 1).astype(np.float64)[texts]
            for meaning, texts in zip(self.meanings, self.classes.T, strict=True)
        ]
        breadth: FloatArray = np.multiply.reduce(values)
        return breadth

    @property
    def cells(self) -> int:
        """Number of compared values per original row."""
        return len(self.sizes) * len(self.meanings)


def mostly(some: BoolArray, told: BoolArray, records: IntArray) -> bool:
    """Return whether more than half of the records whose text tells something have one of some texts."""
    return 2 * int(records[some & told].sum()) > int(records[told].sum())


def comparison_space(
    release: PublishedTable,
    original: Original,
    names: Sequence[str],
    held: IntArray,
    links: Links,
    *,
    each: bool = True,
) -> ComparisonSpace:
    """Return the comparison space of an adversary who knows the attributes of these names.

    Parameters
    ----------
    held: records that the adversary holds of each original row, shape (rows,), int64.
    links: true links of the held records; all are targets.
    each: as in ``ComparisonSpace``.
    """
    own = [original.names.index(name) for name in names]
    published = [release.names.index(name) for name in names]
    some = np.flatnonzero(held)
    row_of, rows = _distinct(original.codes[some][:, own])
    class_of, classes = _distinct(release.codes[:, published])
    place = np.full(len(held), -1, dtype=np.int64)
    place[some] = row_of
    return ComparisonSpace(
        tuple(names),
        tuple(original.meanings[position] for position in own),
        rows,
        count(row_of, held[some], len(rows)),
        classes,
        count(class_of, release.counts, len(classes)),
        links_of_pairs(place[links.original], class_of[links.release], links.counts),
        each,
    )


def uncovered(space: ComparisonSpace) -> IntArray:
    """Return the targets whose true classes do not cover them, such as masked numbers, shape (originals,).

    A number in other units covers nothing.
    """
    truth = space.truth
    if not space.by_covering:
        return np.unique(truth.original)
    covered = np.ones(len(truth.counts), dtype=bool)
    for position, meaning in enumerate(space.meanings):
        covered &= meaning.covers(
            space.originals[truth.original, position], space.classes[truth.release, position]
        )
    return np.setdiff1d(truth.original, truth.original[covered])


def _distinct(codes: CodeArray) -> tuple[IntArray, CodeArray]:
    """Return the position of each row among the distinct rows, and the distinct rows."""
    keys, first = numbered((codes + 1).T, len(codes))
    return keys, codes[first]


CELLS = 1 << 21
"""Compared values in memory."""


class Distance(ABC):
    """A distance between original rows and classes; linkers use only the order of distances.

    Class attributes
    ----------------
    name: as in the config.
    exact: whether the distance is 0 iff the class covers the row, if published numbers are in the units of
        the original.
    surprise: whether the distance is -log of a likelihood, up to a constant for each original.
    """

    name: ClassVar[str]
    exact: ClassVar[bool] = True
    surprise: ClassVar[bool] = False

    def __init__(self, space: ComparisonSpace) -> None:
        self.space = space
        self._gaps = [self.gaps(meaning, published) for meaning, published in space.readings]

    def gaps(self, meaning: ValueCoverage, published: Numbers | None) -> Gaps:
        """Return the gaps between values and published texts of one attribute; see ``gaps_of``."""
        return gaps_of(meaning, self.scale if published is None else self.own_scale, published)

    def scale(self, numbers: Numbers) -> Scaling:
        """Return the scaling of numbers of files in the same units."""
        return standard_scale(numbers)

    def own_scale(self, numbers: Numbers) -> Scaling:
        """Return the scaling of numbers of files that are scaled by themselves."""
        return centred_scale(numbers)

    @classmethod
    def effort(cls, space: ComparisonSpace) -> int:  # noqa: ARG003 - most compare each pair once
        """Return how often all attributes are compared for each pair of an original and a class."""
        return 1

    @property
    def width(self) -> int:
        """Number of values in memory per pair."""
        return len(self.space.meanings)

    @property
    def details(self) -> dict[str, Any]:
        """What a reader of the links must know, in plain types."""
        return {}

    @abstractmethod
    def rows(self, originals: IntArray) -> FloatArray:
        """Return the distances of some originals from every class, shape (originals, classes), float64."""

    def differences(
        self,
        position: int,
        originals: IntArray,
        change: Change = lambda gaps: gaps,
        unknown: float = 0.0,
        classes: IntArray | None = None,
    ) -> FloatArray:
        """Return the transformed gaps of one attribute between some originals and every class.

        A text that does not tell the value is at the ``neutral`` gap, which speaks neither for a match nor
        against one.

        Parameters
        ----------
        change: transformation, applied once to equal pairs of a value and a text.
        unknown: in place of the transformed gaps of an unknown value, -1; by default it contributes nothing.
        classes: only these; by default all.

        Returns
        -------
        Gaps, shape (originals, classes), float64.
        """
        gaps, texts = self._gaps[position], self.space.classes[:, position].astype(np.int64)
        kinds = np.arange(len(gaps))
        if classes is not None:
            kinds, texts = np.unique(texts[classes], return_inverse=True)
        codes = self.space.originals[originals, position].astype(np.int64)
        distinct, row_of = np.unique(codes, return_inverse=True)
        table = np.full((len(distinct), len(kinds)), unknown)
        known = distinct[distinct >= 0]
        told = self._told(position, known, kinds)
        if np.isnan(told).any():
            told = np.where(np.isnan(told), self.neutral(position, known)[:, None], told)
        table[distinct >= 0] = change(told)
        return np.take(np.take(table, texts, axis=1), row_of, axis=0)

    def _told(self, position: int, codes: IntArray, texts: IntArray) -> FloatArray:
        """Return the gaps between some values and texts, NaN where the text does not tell the value."""
        gaps = self._gaps[position].between(codes, texts)
        unknown = self.space.unknown[position]
        return np.where(unknown.pairs(codes, texts), np.nan, gaps) if unknown.any else gaps

    def neutral(self, position: int, codes: IntArray) -> FloatArray:
        """Return the gap between some original values and a text that does not tell the value.

        Returns
        -------
        Gaps, shape (codes,), float64.
        """
        return np.full(len(codes), self._neutral[position])

    @cached_property
    def _neutral(self) -> FloatArray:
        """The gaps that are as likely among matches as among other pairs, shape (attributes,), float64.

        They follow from the gaps to the nearest classes, which depend on them: both are improved in turns.
        """
        if not any(each.any for each in self.space.unknown):
            return np.zeros(len(self.space.meanings))
        some = np.arange(len(self.space.records))
        some = some[:: -(-len(some) // NEIGHBOURS)]
        squares = [self._squares(own) for own in self.blocks(some)]
        apart = mean_known(np.concatenate([own.reshape(len(own), -1) for own in squares], axis=1))
        level = apart
        for _ in range(ROUNDS):
            near = [nearest_squares(own, level) for own in squares]
            level = neutral_square(mean_known(np.concatenate(near, axis=1)), apart)
        return np.sqrt(level)

    def _squares(self, originals: IntArray) -> FloatArray:
        """Return the squares of known gaps, NaN of others, shape (attributes, originals, classes)."""
        found = np.full((len(self.space.meanings), len(originals), len(self.space.sizes)), np.nan)
        for position, own in enumerate(found):
            codes = self.space.originals[originals, position].astype(np.int64)
            kinds, texts = np.unique(self.space.classes[:, position], return_inverse=True)
            told = self._told(position, codes[codes >= 0], kinds.astype(np.int64))
            own[codes >= 0] = np.square(told)[:, texts]
        return found

    def summed(
        self, originals: IntArray, change: Change = lambda gaps: gaps, classes: IntArray | None = None
    ) -> FloatArray:
        """Return the sum of the transformed gaps over the attributes, shape (originals, classes), float64."""
        total = self.differences(0, originals, change, classes=classes)
        for position in range(1, len(self.space.meanings)):
            total += self.differences(position, originals, change, classes=classes)
        return total

    def blocks(self, originals: IntArray) -> Iterator[IntArray]:
        """Yield the originals in blocks whose distances fit in memory."""
        size = max(CELLS // (self.width * len(self.space.sizes)), 1)
        parts = [originals[start : start + size] for start in range(0, len(originals), size)]
        return paced(((len(part), part) for part in parts), len(originals))


@dataclass(frozen=True)
class Parametrized:
    """A factory of distances with a parameter.

    Attributes
    ----------
    kind: class of the distances.
    parameter: its second argument.
    """

    kind: Callable[[ComparisonSpace, Any], Distance]
    parameter: Any
    # No distance with a parameter is.
    exact: ClassVar[bool] = False

    @staticmethod
    def effort(space: ComparisonSpace) -> int:  # noqa: ARG004 - as of a distance
        """Return how often all attributes are compared for each pair: once."""
        return 1

    def __call__(self, space: ComparisonSpace) -> Distance:
        """Return the distance."""
        return self.kind(space, self.parameter)


Distancing = type[Distance] | Parametrized
"""A factory of distances from a comparison space."""


@dataclass(frozen=True, eq=False)
class Linked:
    """The result of a linker.

    Attributes
    ----------
    right: probability that a record of each true link is linked correctly, shape (links,), float64.
    details: further results, in plain types.
    least, most: the same with ties resolved for the fewest and for the most correct links; None where ties
        count by their expected value.
    estimated: whether the method only approximates what it is named for.
    together: whether the link of one record depends on those of others.
    doubt: how many other records are as likely as the one that a target is linked to, by what the adversary
        sees, for the target of each true link, shape (links,), float64; None if nobody asks.
    others: links by what was learned from the links of others, if these were learned from the links
        themselves; None if nothing was learned.
    tails: links among which the most exposed are, by the keys of ``TAILS``, if they are not these.
    """

    right: FloatArray
    details: dict[str, Any] = field(default_factory=dict)
    least: FloatArray | None = None
    most: FloatArray | None = None
    estimated: bool = False
    together: bool = False
    doubt: FloatArray | None = None
    others: Linked | None = None
    tails: Mapping[str, Linked] = field(default_factory=dict)

    @property
    def outcomes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The probabilities with ties resolved for the fewest links, as expected, and for the most."""
        least = self.right if self.least is None else self.least
        most = self.right if self.most is None else self.most
        return least, self.right, most


class Linking(ABC):
    """A method of record linkage.

    Class attributes
    ----------------
    name: as in the config.
    draws: number of draws of the adversary's errors, if there are any; each links a part of the targets.
    """

    name: ClassVar[str]
    draws: ClassVar[int] = 5

    def work(self, space: ComparisonSpace) -> int:
        """Return the number of values compared to link all targets."""
        return len(np.unique(space.truth.original)) * space.cells

    def most(self, space: ComparisonSpace, budget: int) -> int:
        """Return how many targets are linked within a number of compared values."""
        return space.truth.records * budget // max(self.work(space), 1)

    def each(self, space: ComparisonSpace, random: np.random.Generator) -> dict[str, Linked]:
        """Return the result of each attacker by name; a method that is no portfolio has one."""
        return {self.name: self.link(space, random)}

    @abstractmethod
    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Link the originals that the adversary holds with records of the release."""


class Euclidean(Distance):
    """The root of the sum of squared differences, numbers in standard deviations."""

    name = "euclidean"

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the squared distances."""
        return self.summed(originals, np.square)


DEGENERATE = 1e-6
"""Share of the largest variance below which a direction has no variance."""


class Mahalanobis(Distance):
    """Differences weighted by the inverse covariance of the original's numbers.

    Categories are uncorrelated. Along directions without variance, such as a constant attribute, differences
    count as in the Euclidean distance.

    Sources: Mahalanobis, "On the generalised distance in statistics" (1936); in record linkage: Torra, Abowd
    and Domingo-Ferrer, "Using Mahalanobis distance-based record linkage for disclosure risk assessment" (PSD
    2006, doi:10.1007/11930242_20).
    """

    name = "mahalanobis"

    def __init__(self, space: ComparisonSpace) -> None:
        super().__init__(space)
        self._factor = _factor(_covariance(space))

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the squared distances."""
        stacked = np.stack(
            [self.differences(position, originals) for position in range(len(self.space.meanings))]
        )
        unknown = np.isnan(stacked)
        turned = np.tensordot(self._factor, np.where(unknown, 0.0, stacked), axes=1)
        total: FloatArray = (turned**2).sum(axis=0)
        if unknown.any():
            alone = np.square(self._neutral) * np.square(self._factor).sum(axis=0)
            total += np.tensordot(alone, unknown, axes=1)
        return total

    def neutral(self, position: int, codes: IntArray) -> FloatArray:  # noqa: ARG002 - the same for all
        """Return that a gap is unknown: it counts alone, as nobody knows its sign."""
        return np.full(len(codes), np.nan)


def _covariance(space: ComparisonSpace) -> FloatArray:
    """Return the covariance of the held records, shape (attributes, attributes)."""
    covariance = np.eye(len(space.meanings))
    numeric, columns = [], []
    for position, meaning in enumerate(space.meanings):
        numbers = meaning.column.numbers
        if numbers is not None and not np.isnan(numbers).all():
            scaled = standard_scale(Numbers.of(meaning.column))(numbers)
            filled = np.where(np.isnan(scaled), np.nanmean(scaled), scaled)
            numeric.append(position)
            known = space.originals[:, position]
            columns.append(np.where(known < 0, np.nanmean(scaled), filled[known]))
    if numeric:
        own = np.stack(columns)
        centered = own - np.average(own, axis=1, weights=space.records)[:, None]
        covariance[np.ix_(numeric, numeric)] = (centered * space.records) @ centered.T / space.records.sum()
    return covariance


def _factor(covariance: FloatArray) -> FloatArray:
    """Return F; F'F is the inverse of the covariance, the identity along directions without variance."""
    variances, directions = np.linalg.eigh(covariance)
    varies = variances > DEGENERATE * max(float(variances.max()), 1.0)
    return directions.T / np.sqrt(np.where(varies, variances, 1.0))[:, None]


class RankDistance(Distance):
    """The fourth root of the sum of fourth powers of differences, of numbers by their rank in the original.

    Equal numbers have the mean of their ranks, as a share of the records. The fourth power emphasizes the
    largest differences, which a bound on the change of ranks, as in rank swapping, excludes for true matches.

    Source: ranks in record linkage: Muralidhar, Domingo-Ferrer, "Rank-based record linkage for
    re-identification risk assessment" (PSD 2016, doi:10.1007/978-3-319-45381-1_17).
    """

    name = "rank"

    def scale(self, numbers: Numbers) -> Scaling:
        """Return the scaling to ranks."""
        return rank_scale(numbers)

    def own_scale(self, numbers: Numbers) -> Scaling:
        """Return the scaling to ranks."""
        return rank_scale(numbers)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the fourth powers of the distances."""
        return self.summed(originals, _fourth)


def _fourth(gaps: FloatArray) -> FloatArray:
    squares: FloatArray = np.square(gaps)
    return np.square(squares)


class LargestRank(RankDistance):
    """The sixteenth root of the sum of sixteenth powers of rank differences, nearly the largest of them.

    Source: a bound on the change of ranks as evidence: Nin, Herranz, Torra (Data & Knowledge Engineering 64,
    2008, doi:10.1016/j.datak.2007.07.006).
    """

    name = "largest-rank"

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the sixteenth powers of the distances."""
        return self.summed(originals, _sixteenth)


def _sixteenth(gaps: FloatArray) -> FloatArray:
    return _fourth(_fourth(gaps))


FREQUENT = 4
"""Number of classes with a value from which the distances of its partners are kept for other originals."""

PARTNERS = 1 << 24
"""Maximum number of kept distances of partners."""


class SwapPartners(RankDistance):
    """The rank distance of two records, plus those of the partners with which their values were swapped.

    Swapping exchanges values: if original i is published as r, and r has the value of original j, then j is
    published with the value of i. The distance of (i, r) is that of their ranks, plus for each attribute the
    least one of an original with r's value to a record published with i's value. A value that only other
    originals have, or no record of the release, has no partner and adds nothing.

    Only the partners of the originals that are asked for are compared, so that a sample of targets is linked
    in a file of any size.
    """

    name = "swap-partners"
    # A class that covers the row need not have partners that do.
    exact = False

    @staticmethod
    def fits(space: ComparisonSpace) -> bool:
        """Return whether values may be swapped: mostly single ones, in records that are not the originals."""
        single = [
            mostly(meaning.sizes == 1, ~unknown.texts, space.records_by_text(position))
            for position, (meaning, unknown) in enumerate(zip(space.meanings, space.unknown, strict=True))
        ]
        return any(single) and len(uncovered(space)) > 0

    @classmethod
    def effort(cls, space: ComparisonSpace) -> int:
        """Return the comparisons for each pair: its own, and one of partners for each attribute."""
        return 1 + len(space.meanings)

    def __init__(self, space: ComparisonSpace) -> None:
        super().__init__(space)
        self._values = [_SwappedValues.of(space, position) for position in range(len(space.meanings))]
        self._room = PARTNERS

    def rows(self, originals: IntArray) -> FloatArray:
        total = super().rows(originals)
        for values in self._values:
            distinct, place = np.unique(values.own[originals], return_inverse=True)
            total += np.take(self._least(values, distinct), values.published, axis=1)[place]
        return total

    def _least(self, values: _SwappedValues, wanted: IntArray) -> FloatArray:
        """Return the least distances of originals with a value to classes with each of the wanted ones.

        Parameters
        ----------
        wanted: values of the attribute, ascending, shape (wanted,), int64.

        Returns
        -------
        Distances by the value of the originals, shape (wanted, values + 1); 0 where there is no partner.
        """
        found = np.zeros((len(wanted), values.none + 1))
        kept = np.array([value in values.kept for value in wanted.tolist()], dtype=np.bool_)
        for place in np.flatnonzero(kept).tolist():
            found[place] = values.kept[int(wanted[place])]
        new = np.flatnonzero(~kept & (wanted != values.none))
        found[new] = self._compared(values, wanted[new])
        for place in new[values.frequent(wanted[new])].tolist():
            if self._room >= found.shape[1]:
                values.kept[int(wanted[place])] = found[place].copy()
                self._room -= found.shape[1]
        return found

    def _compared(self, values: _SwappedValues, wanted: IntArray) -> FloatArray:
        """Return the least distances as in ``_least``, by comparing all originals."""
        least = np.full((len(wanted), values.none + 1), np.inf)
        everyone = np.argsort(values.own, kind="stable")
        present, starts = np.unique(values.own[everyone], return_index=True)
        classes, place = values.classes_with(wanted)
        size = max(CELLS // (self.width * len(everyone)), 1)
        for start in range(0, len(classes), size):
            some = slice(start, start + size)
            columns = self.summed(everyone, _fourth, classes[some])
            by_value = np.minimum.reduceat(columns, starts, axis=0)
            places, first = np.unique(place[some], return_index=True)
            block = np.ix_(places, present)
            least[block] = np.minimum(least[block], np.minimum.reduceat(by_value, first, axis=1).T)
        least[~np.isfinite(least)] = 0.0
        least[:, values.none] = 0.0
        return least


@dataclass(frozen=True, eq=False)
class _SwappedValues:
    """The single values of an attribute in both files; ``none`` stands for an unknown one, or several.

    Attributes
    ----------
    own: of the originals, shape (originals,), int64.
    published: of the classes, shape (classes,), int64.
    none: the number after all values.
    order: classes in the order of their values, shape (classes,), int64.
    starts: the first class in this order with each value, shape (values + 2,), int64.
    kept: distances of partners by value.
    """

    own: IntArray
    published: IntArray
    none: int
    order: IntArray
    starts: IntArray
    kept: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, space: ComparisonSpace, position: int) -> _SwappedValues:
        """Return the values of the attribute at a position."""
        meaning, texts = space.meanings[position], space.classes[:, position].astype(np.int64)
        none = meaning.column.size
        single = np.full(len(meaning.sizes), none, dtype=np.int64)
        alone = np.flatnonzero((meaning.sizes == 1) & ~space.unknown[position].texts)
        single[alone] = meaning.values[meaning.starts[alone]]
        own, published = space.originals[:, position].astype(np.int64), single[texts]
        order = np.argsort(published, kind="stable")
        starts = np.searchsorted(published[order], np.arange(none + 2))
        return cls(np.where(own < 0, none, own), published, none, order, starts)

    def classes_with(self, wanted: IntArray) -> tuple[IntArray, IntArray]:
        """Return the classes with some values, and the position of the value of each."""
        places, of_value = spans(self.starts[wanted], self.starts[wanted + 1] - self.starts[wanted])
        return self.order[places], of_value

    def frequent(self, values: IntArray) -> BoolArray:
        """Return whether each value has many classes."""
        return self.starts[values + 1] - self.starts[values] >= FREQUENT


class SwappedDistance(Distance):
    """The number of attributes whose rank changed by more than the swap range.

    It is 0 for the true match. Records at 0 are the intersection of the candidates of all attributes; they
    are equally likely, as swap partners are drawn uniformly. Equal numbers may have any of their ranks. A
    changed category counts as out of range.

    Source: Nin, Herranz, Torra, "Rethinking rank swapping to decrease disclosure risk" (Data & Knowledge
    Engineering 64, 2008, doi:10.1016/j.datak.2007.07.006).

    Parameters
    ----------
    percent: the swap range, in percent of the records.
    """

    name = "swapped"
    # The distance is 0 for all candidates.
    exact = False

    def __init__(self, space: ComparisonSpace, percent: Decimal) -> None:
        self._percent = percent
        super().__init__(space)

    def gaps(self, meaning: ValueCoverage, published: Numbers | None) -> Gaps:
        """Return gaps of 1 out of range, else 0."""
        numbers = meaning.column.numbers
        if numbers is None or np.isnan(numbers).all():
            return _Changed(meaning)
        return _OutOfRange(meaning, self._percent, published)

    def neutral(self, position: int, codes: IntArray) -> FloatArray:  # noqa: ARG002 - the same for all
        """Return that an unknown value excludes nobody."""
        return np.zeros(len(codes))

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the numbers of attributes out of range."""
        return self.summed(originals)


class _Changed(CategoryGaps):
    def rows(self, codes: IntArray) -> FloatArray:
        return (super().rows(codes) > 0).astype(np.float64)


class _OutOfRange(Gaps):
    """Whether the ranks of a number and of the covered ones differ by more than the range."""

    def __init__(self, meaning: ValueCoverage, percent: Decimal, published: Numbers | None) -> None:
        super().__init__(meaning)
        numbers, own = meaning.column.numbers, Numbers.of(meaning.column)
        assert numbers is not None, "text has no ranks"
        ordered = own.values
        below = np.concatenate([[0], np.cumsum(own.counts)])
        # The same rounding as in rank swapping.
        self._reach = int(Fraction(percent) * int(below[-1]) / 100)
        self._first, self._last = _ranks(ordered, below, numbers, numbers)
        if published is not None:
            ordered, records = published.values, int(below[-1])
            below = np.concatenate([[0], np.cumsum(published.counts)])
            below = below * records // int(below[-1])
        self._lowest, self._highest = _ranks(ordered, below, meaning.low, meaning.high)
        self._missing = meaning.column.missing
        self._without = np.isnan(meaning.low)
        self._with_missing = covers_missing(meaning)

    def rows(self, codes: IntArray) -> FloatArray:
        """Return 1 or 0, shape (values, texts)."""
        first, last = self._first[codes][:, None], self._last[codes][:, None]
        out = (self._lowest - last > self._reach) | (first - self._highest > self._reach)
        out |= self._without
        if self._missing is not None:
            out[codes == self._missing] = ~self._with_missing
        return out.astype(np.float64)


def _ranks(
    ordered: FloatArray, below: IntArray, low: FloatArray, high: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return the first rank of a number from ``low`` on, and the last rank of one up to ``high``."""
    return below[np.searchsorted(ordered, low, "left")], below[np.searchsorted(ordered, high, "right")] - 1


@dataclass(frozen=True)
class ErrorRates:
    """Shares of the adversary's values that are off or missing; a value has at most one error.

    Attributes
    ----------
    noise: values of random records.
    missing: unknown values.
    year: dates a year off and other numbers one off, each way equally likely; the nearest value of the file.
    typing: values with one wrong character; of numbers the nearest value of the file. A text that is no other
        value with it is read correctly.
    coding: other values with the same parent in the hierarchy, equally likely: another classification.
    """

    noise: float = 0.0
    missing: float = 0.0
    year: float = 0.0
    typing: float = 0.0
    coding: float = 0.0

    def given(self) -> dict[str, float]:
        """Return the rates that are not 0."""
        return {name: rate for name, rate in self._all() if rate}

    def _all(self) -> Iterator[tuple[str, float]]:
        return ((each.name, getattr(self, each.name)) for each in fields(self))

    @property
    def correct(self) -> float:
        """Share of correct values."""
        return 1.0 - sum(rate for _, rate in self._all())

    def drawn(
        self, meaning: ValueCoverage, codes: CodeArray, others: CodeArray, random: np.random.Generator
    ) -> CodeArray:
        """Return known values of a column with errors, -1 for unknown ones, shape (records,).

        Parameters
        ----------
        codes: true values, shape (records,).
        others: values of the records from which wrong ones are taken, shape (any,).
        """
        known = codes.copy()
        chance, upto = random.random(len(codes)), 0.0
        for name, rate in self._all():
            some = np.flatnonzero((chance >= upto) & (chance < upto + rate))
            upto += rate
            if name == "noise":
                known[some] = others[random.integers(len(others), size=len(some))]
            elif name == "missing":
                known[some] = -1
            elif rate:
                known[some] = CONFUSIONS[name](meaning).drawn(codes[some].astype(np.int64), random)
        return known


class Confusion(ABC):
    """The values for which each value of a column may be taken, equally likely; itself if there are none."""

    @abstractmethod
    def drawn(self, codes: IntArray, random: np.random.Generator) -> IntArray:
        """Return a value in place of each one."""

    @abstractmethod
    def carried(self, mass: csr_matrix, codes: IntArray) -> FloatArray:
        """Return how much of the mass on all values arrives at some of them, shape (codes, columns).

        Parameters
        ----------
        mass: shape (values, columns).
        """


class ListedConfusion(Confusion):
    """Few values for each one.

    Parameters
    ----------
    pairs: a value and one for which it may be taken, shape (pairs, 2).
    size: number of values.
    """

    def __init__(self, pairs: IntArray, size: int) -> None:
        alone = np.setdiff1d(np.arange(size), pairs[:, 0])
        pairs = np.concatenate([pairs, np.column_stack([alone, alone])])
        self._from, self._to = pairs[np.lexsort(pairs.T[::-1])].T
        self._starts = np.searchsorted(self._from, np.arange(size + 1))

    def drawn(self, codes: IntArray, random: np.random.Generator) -> IntArray:
        number = self._starts[codes + 1] - self._starts[codes]
        found: IntArray = self._to[
            self._starts[codes] + (random.random(len(codes)) * number).astype(np.int64)
        ]
        return found

    def carried(self, mass: csr_matrix, codes: IntArray) -> FloatArray:
        share = 1 / np.diff(self._starts)[self._from]
        size = len(self._starts) - 1
        arriving = scipy.sparse.csr_matrix((share, (self._to, self._from)), shape=(size, size))
        found: FloatArray = (arriving[codes] @ mass).toarray()
        return found


class GroupedConfusion(Confusion):
    """Any other value of the same group.

    Parameters
    ----------
    groups: group of each value, shape (values,), int64.
    """

    def __init__(self, groups: IntArray) -> None:
        self._order = np.argsort(groups, kind="stable")
        ordered = groups[self._order]
        self._first = np.searchsorted(ordered, groups)
        self._sizes = np.searchsorted(ordered, groups, "right") - self._first
        self._groups = np.unique(groups, return_inverse=True)[1].reshape(-1)

    def drawn(self, codes: IntArray, random: np.random.Generator) -> IntArray:
        others = self._sizes[codes] - 1
        own = np.argsort(self._order)[codes] - self._first[codes]
        step = 1 + (random.random(len(codes)) * others).astype(np.int64)
        return self._order[self._first[codes] + (own + step) % self._sizes[codes]]

    def carried(self, mass: csr_matrix, codes: IntArray) -> FloatArray:
        size = len(self._groups)
        together = scipy.sparse.csr_matrix((np.ones(size), (self._groups, np.arange(size)))) @ mass
        own = mass[codes].toarray()
        others = (self._sizes[codes] - 1)[:, None]
        found: FloatArray = np.where(
            others > 0, (together[self._groups[codes]].toarray() - own) / np.maximum(others, 1), own
        )
        return found


def one_off(meaning: ValueCoverage) -> Confusion:
    """Return the confusion of dates with those a year earlier or later, and of numbers with the next."""
    column = meaning.column
    size = len(column.present)
    if column.numbers is None:
        return ListedConfusion(np.empty((0, 2), dtype=np.int64), column.size)
    numbers = column.numbers[:size]
    both = [_shifted(numbers, step, dates=column.type is ValueType.DATE) for step in (-1, 1)]
    known = np.arange(size)
    pairs = [np.column_stack([known, _nearest_codes(numbers, other)]) for other in both]
    return ListedConfusion(np.concatenate(pairs), column.size)


_EPOCH = 719163
"""Proleptic ordinal of 1970-01-01."""


def _shifted(numbers: FloatArray, years: int, *, dates: bool) -> FloatArray:
    if not dates:
        return numbers + years
    whole = np.floor(numbers)
    days = (whole.astype(np.int64) - _EPOCH).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    moved = months + 12 * years
    last = (moved + 1).astype("datetime64[D]") - np.timedelta64(1, "D")
    found = np.minimum(moved.astype("datetime64[D]") + (days - months.astype("datetime64[D]")), last)
    ordinals: FloatArray = found.astype(np.int64) + _EPOCH + (numbers - whole)
    return ordinals


def _nearest_codes(numbers: FloatArray, wanted: FloatArray) -> IntArray:
    """Return the position of the nearest number to each wanted one, shape (wanted,), int64."""
    above = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    below = np.maximum(above - 1, 0)
    return np.where(wanted - numbers[below] < numbers[above] - wanted, below, above)


def mistyped(meaning: ValueCoverage) -> Confusion:
    """Return the confusion of values with those that one wrong character makes of them."""
    column = meaning.column
    if column.numbers is None:
        pairs = _one_character_apart(column.present)
    else:
        wrong = [
            (code, number)
            for code, text in enumerate(column.present)
            for number in map(column.number, _with_one_other_digit(text))
            if number is not None
        ]
        codes, numbers = np.array(wrong, dtype=np.float64).reshape(-1, 2).T
        nearest = _nearest_codes(column.numbers[: len(column.present)], numbers)
        pairs = np.column_stack([codes.astype(np.int64), nearest])
    return ListedConfusion(pairs, column.size)


def _with_one_other_digit(text: str) -> Iterator[str]:
    for place, own in enumerate(text):
        if own.isdecimal():
            yield from (text[:place] + digit + text[place + 1 :] for digit in "0123456789" if digit != own)


def _one_character_apart(texts: Sequence[str]) -> IntArray:
    """Return all ordered pairs of texts of one length that differ in one character, shape (pairs, 2)."""
    alike: dict[tuple[str, str], list[int]] = {}
    for code, text in enumerate(texts):
        for place in range(len(text)):
            alike.setdefault((text[:place], text[place + 1 :]), []).append(code)
    pairs = [(one, other) for group in alike.values() for one in group for other in group if one != other]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def differently_coded(meaning: ValueCoverage) -> Confusion:
    """Return the confusion of values with others under the same parent; of a missing value with none."""
    size = meaning.column.size
    groups = np.zeros(size, dtype=np.int64)
    if meaning.hierarchy is not None and meaning.leaf is not None:
        groups = meaning.hierarchy.ancestors[min(1, meaning.hierarchy.height), meaning.leaf].astype(np.int64)
    if meaning.column.missing is not None:
        groups[meaning.column.missing] = groups.max() + 1
    return GroupedConfusion(groups)


CONFUSIONS: dict[str, Callable[[ValueCoverage], Confusion]] = {
    "year": one_off,
    "typing": mistyped,
    "coding": differently_coded,
}
"""The confusions of ``ErrorRates`` by name."""


class Coverage(Distance):
    """The number of attributes whose published value does not cover the known one; an unknown one is half."""

    name = "coverage"

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the numbers."""
        return self.summed(originals, _not_covered)

    def neutral(self, position: int, codes: IntArray) -> FloatArray:  # noqa: ARG002 - the same for all
        """Return that an unknown value is neither covered nor outside."""
        return np.full(len(codes), np.nan)


def _not_covered(gaps: FloatArray) -> FloatArray:
    return np.where(np.isnan(gaps), 0.5, gaps != 0)


SURPRISE = 1e-3
"""Smallest rate of wrong values that an adversary reckons with."""


class Likelihood(Distance):
    """The surprise at what the adversary knows, -log P(known | published), if it is a record of the class.

    Attributes are independent given the class. A published text T stands for the original values v that it
    covers, as frequent as in the original, and a known value y may be off by the error rates e:
    P(y | T) = sum over v in T of f(v) / f(T) P(y | v), with
    P(y | v) = (1 - sum of e) [y = v] + e_noise f(y) + sum over other errors of e P(v is taken for y).
    The posterior probability of a class is in proportion to its records times the product over the
    attributes, that of each of its records to the product alone: so the most probable record is the nearest.
    Masked numbers cover nothing, or, if they were swapped, those of other records: where no class covers most
    of the originals, although their errors allow it, single numbers are masked, too. Their errors are normal
    around the published number, with the variance of those of the nearest classes.

    Source: Bayes' rule with independent attributes; records linked by the likelihood of their agreement:
    Fellegi, Sunter (JASA 64, 1969, doi:10.1080/01621459.1969.10501049).

    Parameters
    ----------
    rates: of the adversary's errors.
    """

    name = "likelihood"
    # A class that covers a row need not be the most likely one.
    exact = False
    surprise = True

    def __init__(self, space: ComparisonSpace, rates: ErrorRates) -> None:
        super().__init__(space)
        masked = [position for position in range(len(space.meanings)) if self._is_masked(position)]
        single = [position for position in range(len(space.meanings)) if self._is_single(position)]
        right = rates.correct ** len(space.meanings)
        self._swapped = [] if set(single) <= set(masked) or self._covered() > right / 2 else single
        masked = sorted({*masked, *self._swapped})
        variances = self._variances(masked)
        noise = max(rates.noise, SURPRISE)
        neutral = self._neutral if masked else np.zeros(len(space.meanings))
        self._gaps: list[Gaps] = [
            _MaskedSurprise(self._gaps[position], variances[position], noise, neutral[position])
            if position in variances
            else _Surprise(meaning, rates)
            for position, meaning in enumerate(space.meanings)
        ]

    def _is_masked(self, position: int) -> bool:
        """Return whether numbers are in other units, or more than half of them cover no original one."""
        space, meaning = self.space, self.space.meanings[position]
        if space.rescaled[position] is not None:
            return True
        alone = (meaning.sizes == 0) & ~np.isnan(meaning.low)
        return mostly(alone, ~space.unknown[position].texts, space.records_by_text(position))

    def _is_single(self, position: int) -> bool:
        """Return whether more than half of the records have a single number."""
        space, meaning = self.space, self.space.meanings[position]
        return mostly(
            meaning.low == meaning.high, ~space.unknown[position].texts, space.records_by_text(position)
        )

    def _covered(self) -> float:
        """Return the share of originals that a class covers, of evenly spread ones."""
        space = self.space
        some = space.originals[:: -(-len(space.originals) // PROBES)].astype(np.int64)
        join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
        found = sum(len(np.unique(pairs.original)) for _, pairs in join.blocks(some))
        return found / len(some)

    def neutral(self, position: int, codes: IntArray) -> FloatArray:
        """Return the surprise at a value that no text tells."""
        gaps = self._gaps[position]
        if isinstance(gaps, _Surprise | _MaskedSurprise):
            return gaps.neutral(codes)
        return super().neutral(position, codes)

    @property
    def details(self) -> dict[str, Any]:
        """That the likelihood does not fit, where numbers were swapped."""
        if not self._swapped:
            return {}
        names = listed([self.space.names[position] for position in self._swapped])
        note = (
            f"The likelihood does not fit: the numbers of {names} are those of other records, as after "
            "swapping; linkage: portfolio, or distance: rank or swap-partners, may link more."
        )
        return {"fits": False, NOTE: note}

    def _variances(self, positions: list[int]) -> dict[int, float]:
        """Return the mean square of the gaps to the nearest class, by position of the attribute."""
        if not positions:
            return {}
        everyone = np.arange(len(self.space.records))
        some = everyone[:: -(-len(everyone) // PROBES)]
        sums = dict.fromkeys(positions, SURPRISE)
        for block in self.blocks(some):
            nearest = self.summed(block, np.square).argmin(axis=1)
            for position in positions:
                own = self.differences(position, block)[np.arange(len(block)), nearest]
                sums[position] += float(np.square(own).sum())
        return {position: total / len(some) for position, total in sums.items()}

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the surprise."""
        return self.summed(originals, np.square)


class _Surprise(Gaps):
    """The root of -log P(known value | text)."""

    def __init__(self, meaning: ValueCoverage, rates: ErrorRates) -> None:
        super().__init__(meaning)
        frequent = np.maximum(meaning.column.counts.astype(np.float64), 1.0)
        self._of_value = frequent / frequent.sum()
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        own = frequent[meaning.values]
        covered = np.bincount(owners, weights=own, minlength=len(self))
        shares = own / covered[owners]
        self._mass = scipy.sparse.csr_matrix(
            (shares, (meaning.values, owners)), shape=(len(frequent), len(self))
        )
        self._everything = scipy.sparse.csr_matrix(self._of_value[:, None])
        self._rates = rates
        self._noise = max(rates.noise, SURPRISE)
        given = rates.given().items()
        self._others = [(rate, CONFUSIONS[name](meaning)) for name, rate in given if name in CONFUSIONS]

    def rows(self, codes: IntArray) -> FloatArray:
        """Return the roots, shape (values, texts)."""
        return self._roots(self._mass, codes)

    def neutral(self, codes: IntArray) -> FloatArray:
        """Return the roots for a text that may stand for any value, shape (values,)."""
        return self._roots(self._everything, codes)[:, 0]

    def _roots(self, mass: csr_matrix, codes: IntArray) -> FloatArray:
        """Return the roots for texts that stand for masses of values, shape (values, texts) both."""
        correct = max(self._rates.correct, SURPRISE)
        chance = correct * mass[codes].toarray() + self._noise * self._of_value[codes][:, None]
        for rate, confusion in self._others:
            chance += rate * confusion.carried(mass, codes)
        roots: FloatArray = np.sqrt(-np.log(np.minimum(chance, 1.0)))
        return roots


class _MaskedSurprise(Gaps):
    """The root of -log of a normal density, relative to its highest, mixed with wrong values.

    Parameters
    ----------
    gaps: whose density it is.
    variance: of the gaps of matches.
    noise: share of wrong values.
    neutral: gap in place of an unknown one.
    """

    def __init__(self, gaps: Gaps, variance: float, noise: float, neutral: float) -> None:
        self._gaps, self._variance, self._noise, self._neutral = gaps, variance, noise, neutral

    def __len__(self) -> int:
        return len(self._gaps)

    def rows(self, codes: IntArray) -> FloatArray:
        """Return the roots, shape (values, texts)."""
        return self._of(self._gaps.rows(codes))

    def neutral(self, codes: IntArray) -> FloatArray:
        """Return the root at the neutral gap, shape (values,)."""
        return self._of(np.full(len(codes), self._neutral))

    def _of(self, gaps: FloatArray) -> FloatArray:
        density = np.exp(-np.square(gaps) / (2 * self._variance))
        roots: FloatArray = np.sqrt(-np.log((1 - self._noise) * density + self._noise))
        return roots
