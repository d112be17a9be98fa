"""Distances for record linkage: Euclidean, Mahalanobis, by rank, and by the range of a rank swapping.

Distinct original rows are compared with released classes, one attribute at a time. An adversary who knows
the range of a rank swapping can rule out every record whose rank would have moved further.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from anonymizer.attacks.adversary_view import links_of_pairs
from anonymizer.attacks.generalized_values import spans
from anonymizer.model.adversary import Links, Original, PublishedTable, ValueCoverage
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.counting import count, numbered
from anonymizer.model.table import Column

Scaling = Callable[[FloatArray], FloatArray]
"""Puts numbers of a column on the scale in which distances are measured."""

Scale = Callable[[Column], Scaling]
"""From a numeric column to how its numbers are scaled."""


Change = Callable[[FloatArray], FloatArray]
"""What is done to every gap."""


class Gaps(ABC):
    """The least distance from an original value to what a text stands for; 0 iff it stands for the value."""

    @abstractmethod
    def rows(self, codes: IntArray) -> FloatArray:
        """Return the gap between some original values and every text, shape (values, texts), float64.

        Numbers have signs: negative when the value is below what the text stands for.
        """


def gaps_of(meaning: ValueCoverage, scale: Scale) -> Gaps:
    """Return the gaps of an attribute: of numbers on a scale, of other values along the hierarchy."""
    numbers = meaning.column.numbers
    if numbers is None or np.isnan(numbers).all():
        return CategoryGaps(meaning)
    return NumberGaps(meaning, scale(meaning.column))


def standard_scale(column: Column) -> Scaling:
    """Return numbers in standard deviations of the column; as they are where the column is constant."""
    numbers, counts = _present(column)
    deviation = float(
        np.sqrt(np.average((numbers - np.average(numbers, weights=counts)) ** 2, weights=counts))
    )
    unit = deviation if deviation > 0 else 1.0
    return lambda given: given / unit


def rank_scale(column: Column) -> Scaling:
    """Return the share of the column's records below each number, half of those that have it included."""
    numbers, counts = _present(column)
    below = np.concatenate([[0], np.cumsum(counts)]) / counts.sum()

    def ranks(given: FloatArray) -> FloatArray:
        under, upto = np.searchsorted(numbers, given, "left"), np.searchsorted(numbers, given, "right")
        return np.where(np.isnan(given), np.nan, (below[under] + below[upto]) / 2)

    return ranks


def _present(column: Column) -> tuple[FloatArray, IntArray]:
    assert column.numbers is not None, "only numbers are scaled"
    known = ~np.isnan(column.numbers)
    return column.numbers[known], column.counts[known]


class NumberGaps(Gaps):
    """Gaps of numbers: to the nearest number that a text stands for.

    A missing value is as far from every number as the column is wide.
    """

    def __init__(self, meaning: ValueCoverage, scale: Scaling) -> None:
        numbers = meaning.column.numbers
        assert numbers is not None, "text has no numbers"
        self._values = scale(numbers)
        self._low, self._high = scale(meaning.low), scale(meaning.high)
        ends = np.concatenate([self._values, self._low, self._high])
        span = float(np.nanmax(ends) - np.nanmin(ends))
        self._widest = span if span > 0 else 1.0
        self._missing = meaning.column.missing
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        self._with_missing = np.zeros(len(meaning.sizes), dtype=bool)
        if self._missing is not None:
            self._with_missing[owners[meaning.values == self._missing]] = True
        self._broken = self._with_holes(meaning, numbers)

    def _with_holes(self, meaning: ValueCoverage, numbers: FloatArray) -> list[tuple[int, FloatArray]]:
        """Return the texts between whose ends lie original numbers that they do not stand for."""
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
        """Return the signed gaps to the nearest number."""
        values = self._values[codes][:, None]
        gaps: FloatArray = np.minimum(values - self._low, 0) + np.maximum(values - self._high, 0)
        for text, numbers in self._broken:
            gaps[:, text] = _to_nearest(values[:, 0], numbers)
        gaps[np.isnan(gaps)] = self._widest
        if self._missing is not None:
            gaps[np.ix_(codes == self._missing, self._with_missing)] = 0
        return gaps


def _to_nearest(values: FloatArray, numbers: FloatArray) -> FloatArray:
    above = np.minimum(np.searchsorted(numbers, values), len(numbers) - 1)
    below = np.maximum(above - 1, 0)
    to_above, to_below = values - numbers[above], values - numbers[below]
    return np.where(np.abs(to_below) < np.abs(to_above), to_below, to_above)


class CategoryGaps(Gaps):
    """Gaps of categories: the level of the lowest common ancestor by the height of the hierarchy.

    Without a hierarchy 0 for a value that the text stands for, else 1.
    """

    def __init__(self, meaning: ValueCoverage) -> None:
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        self._texts = len(meaning.sizes)
        if meaning.hierarchy is None or meaning.leaf is None:
            chains = np.arange(meaning.column.size)[None, :]
        else:
            height = meaning.hierarchy.height
            chains = meaning.hierarchy.ancestors[: max(height, 1), meaning.leaf].astype(np.int64)
        self._chains = chains
        self._levels = [_Members(chain, owners, meaning.values, self._texts) for chain in chains]

    def rows(self, codes: IntArray) -> FloatArray:
        """Return the shares of the height, shape (values, texts)."""
        gaps = np.ones((len(codes), self._texts))
        for level in reversed(range(len(self._levels))):
            texts, of_value = self._levels[level].of(self._chains[level][codes])
            gaps[of_value, texts] = level / len(self._levels)
        return gaps


class _Members:
    """The texts that stand for something under each node of one level."""

    def __init__(self, chain: IntArray, owners: IntArray, values: IntArray, texts: int) -> None:
        keys = np.unique(chain[values] * texts + owners)
        self._entries = keys % max(texts, 1)
        nodes = keys // max(texts, 1)
        self._starts = np.searchsorted(nodes, np.arange(int(chain.max(initial=-1)) + 2))

    def of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the texts of some nodes, and of which each is."""
        places, of_node = spans(self._starts[nodes], self._starts[nodes + 1] - self._starts[nodes])
        return self._entries[places], of_node


class Differences:
    """The gaps between originals and classes of a comparison space, attribute by attribute."""

    def __init__(self, gaps: list[Gaps]) -> None:
        self._gaps = gaps

    def of(self, position: int, codes: IntArray, texts: IntArray, change: Change) -> FloatArray:
        """Return the gaps of one attribute, each changed.

        Parameters
        ----------
        codes: of original combinations, shape (rows,).
        texts: of classes, shape (classes,).
        change: of each gap, made once for equal pairs of a value and a text.

        Returns
        -------
        Gaps, shape (rows, classes), float64.
        """
        distinct, row_of = np.unique(codes, return_inverse=True)
        table = change(self._gaps[position].rows(distinct))
        return np.take(np.take(table, texts, axis=1), row_of, axis=0)


@dataclass(frozen=True, eq=False)
class ComparisonSpace:
    """The distinct combinations of both files in the attributes that records are compared by.

    Attributes
    ----------
    names: of the attributes.
    meanings: what their published texts stand for.
    originals: codes of the original combinations, shape (originals, attributes), int32; distinct.
    records: original records that the intruder holds of each, shape (originals,), int64.
    classes: texts of the released combinations, shape (classes, attributes), int32; distinct.
    sizes: released records of each, shape (classes,), int64.
    truth: which originals became which classes, by the records that are to be linked.
    """

    names: tuple[str, ...]
    meanings: tuple[ValueCoverage, ...]
    originals: CodeArray
    records: IntArray
    classes: CodeArray
    sizes: IntArray
    truth: Links

    @cached_property
    def breadth(self) -> FloatArray:
        """Number of combinations of values that each class stands for, shape (classes,), float64."""
        values = [
            np.maximum(meaning.sizes, 1).astype(np.float64)[texts]
            for meaning, texts in zip(self.meanings, self.classes.T, strict=True)
        ]
        breadth: FloatArray = np.multiply.reduce(values)
        return breadth

    @property
    def cells(self) -> int:
        """Values to be compared for one original combination."""
        return len(self.sizes) * len(self.meanings)


def comparison_space(
    release: PublishedTable, original: Original, names: Sequence[str], held: IntArray, targets: Links
) -> ComparisonSpace:
    """Return what is compared when the attributes of these names are known.

    Parameters
    ----------
    held: records that the intruder holds of each original combination, shape (combinations,), int64.
    targets: links of the records that are to be linked, among those held.
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
        links_of_pairs(place[targets.original], class_of[targets.release], targets.counts),
    )


def _distinct(codes: CodeArray) -> tuple[IntArray, CodeArray]:
    """Return the number of each row's combination, and the distinct combinations."""
    keys, first = numbered(codes.T, len(codes))
    return keys, codes[first]


CELLS = 1 << 21
"""Compared values that are held at once."""


class Distance(ABC):
    """How unlike an original combination and a class are; only the order of distances matters to linkers.

    Class attributes
    ----------------
    name: as in the config.
    exact: whether it is 0 when the class stands for the combination, and positive when not.
    """

    name: ClassVar[str]
    exact: ClassVar[bool] = True

    def __init__(self, space: ComparisonSpace) -> None:
        self.space = space
        self._differences = Differences([self.gaps(meaning) for meaning in space.meanings])

    def gaps(self, meaning: ValueCoverage) -> Gaps:
        """Return how values of one attribute are compared with published texts."""
        return gaps_of(meaning, self.scale)

    def scale(self, column: Column) -> Scaling:
        """Return how the numbers of a column are scaled before they are compared."""
        return standard_scale(column)

    @property
    def width(self) -> int:
        """Numbers that are held for each pair."""
        return len(self.space.meanings)

    @abstractmethod
    def rows(self, originals: IntArray) -> FloatArray:
        """Return the distances of some originals from every class, shape (originals, classes), float64."""

    def differences(
        self, position: int, originals: IntArray, change: Change = lambda gaps: gaps
    ) -> FloatArray:
        """Return the gaps of one attribute between some originals and every class, each changed."""
        codes = self.space.originals[originals, position].astype(np.int64)
        return self._differences.of(position, codes, self.space.classes[:, position].astype(np.int64), change)

    def blocks(self, originals: IntArray) -> list[IntArray]:
        """Return the originals in blocks whose distances fit in memory together."""
        size = max(CELLS // (self.width * len(self.space.sizes)), 1)
        return [originals[start : start + size] for start in range(0, len(originals), size)]


class Distancing(Protocol):
    """Makes a distance: its class, or what knows its parameters."""

    @property
    def exact(self) -> bool:
        """As of the distance."""

    def __call__(self, space: ComparisonSpace) -> Distance:
        """Return the distance."""


@dataclass(frozen=True, eq=False)
class Linked:
    """What a linker reached.

    Attributes
    ----------
    right: chance that a record of each link of the space's truth is linked right, shape (links,), float64.
    details: what else it found, in plain types.
    ties_randomized: whether ``right`` depends on how ties were resolved at random.
    """

    right: FloatArray
    details: dict[str, Any] = field(default_factory=dict)
    ties_randomized: bool = False


class Linking(ABC):
    """A way to link records.

    Class attributes
    ----------------
    name: as in the config.
    together: whether the records that are held compete, so that those that are no targets matter.
    """

    name: ClassVar[str]
    together: ClassVar[bool] = False

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared."""
        return len(space.originals) * space.cells

    @abstractmethod
    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Link the originals that the intruder holds with records of the release."""


class Euclidean(Distance):
    """The root of the sum of squared differences, numbers in standard deviations of the original."""

    name = "euclidean"

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the squared distances."""
        total = self.differences(0, originals, np.square)
        for position in range(1, len(self.space.meanings)):
            total += self.differences(position, originals, np.square)
        return total


DEGENERATE = 1e-6
"""Directions with less than this share of the largest variance count as having none."""


class Mahalanobis(Distance):
    """Differences weighted by the inverse covariance of the original's numbers.

    Categories are correlated with nothing. Where numbers do not vary, in a constant attribute or along one
    that depends on others, differences count as in the Euclidean distance.

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
        turned = np.tensordot(self._factor, stacked, axes=1)
        total: FloatArray = (turned**2).sum(axis=0)
        return total


def _covariance(space: ComparisonSpace) -> FloatArray:
    """Return the covariance of the records that the intruder holds, shape (attributes, attributes)."""
    covariance = np.eye(len(space.meanings))
    numeric, columns = [], []
    for position, meaning in enumerate(space.meanings):
        numbers = meaning.column.numbers
        if numbers is not None and not np.isnan(numbers).all():
            scaled = standard_scale(meaning.column)(numbers)
            filled = np.where(np.isnan(scaled), np.nanmean(scaled), scaled)
            numeric.append(position)
            columns.append(filled[space.originals[:, position]])
    if numeric:
        own = np.stack(columns)
        centred = own - np.average(own, axis=1, weights=space.records)[:, None]
        covariance[np.ix_(numeric, numeric)] = (centred * space.records) @ centred.T / space.records.sum()
    return covariance


def _factor(covariance: FloatArray) -> FloatArray:
    """Return F with F'F the inverse of the covariance, the identity along directions of no variance."""
    variances, directions = np.linalg.eigh(covariance)
    varies = variances > DEGENERATE * max(float(variances.max()), 1.0)
    factor: FloatArray = directions.T / np.sqrt(np.where(varies, variances, 1.0))[:, None]
    return factor


class RankDistance(Distance):
    """The fourth root of the sum of fourth powers, numbers compared by their rank among the original records.

    Equal numbers share the mean of their ranks, as a share of the records. What bounds how far a rank can
    move, as rank swapping does, is betrayed by the largest differences, which the power brings out.

    Source: ranks in record linkage: Muralidhar, Domingo-Ferrer, "Rank-based record linkage for
    re-identification risk assessment" (PSD 2016, doi:10.1007/978-3-319-45381-1_17).
    """

    name = "rank"

    def scale(self, column: Column) -> Scaling:
        """Return the map from numbers to ranks."""
        return rank_scale(column)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the fourth powers of the distances."""
        total = self.differences(0, originals, _fourth)
        for position in range(1, len(self.space.meanings)):
            total += self.differences(position, originals, _fourth)
        return total


def _fourth(gaps: FloatArray) -> FloatArray:
    squares: FloatArray = np.square(gaps)
    return np.square(squares)


class SwappedDistance(Distance):
    """The number of attributes in which a rank moved further than the swapping moves any.

    It is 0 for a record's own masked one, whatever was drawn. Those at 0 are the candidates that are left
    when what each attribute allows is intersected; all are equally likely, as partners are drawn from the
    range alike. Equal numbers may have had each of their ranks. A category that is not published as it was
    counts as moved too far.

    Source: Nin, Herranz, Torra, "Rethinking rank swapping to decrease disclosure risk" (Data & Knowledge
    Engineering 64, 2008, doi:10.1016/j.datak.2007.07.006).

    Parameters
    ----------
    percent: of the records, by which a rank moves at most.
    """

    name = "swapped"
    # It is 0 for all candidates.
    exact = False

    def __init__(self, space: ComparisonSpace, percent: Decimal) -> None:
        self._percent = percent
        super().__init__(space)

    def gaps(self, meaning: ValueCoverage) -> Gaps:
        """Return 1 for what moved too far, else 0."""
        numbers = meaning.column.numbers
        if numbers is None or np.isnan(numbers).all():
            return _Changed(meaning)
        return _OutOfRange(meaning, self._percent)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the numbers of attributes."""
        total = self.differences(0, originals)
        for position in range(1, len(self.space.meanings)):
            total += self.differences(position, originals)
        return total


@dataclass(frozen=True)
class SwapRange:
    """Makes the distance of a range.

    Attributes
    ----------
    percent: of the records.
    """

    percent: Decimal
    exact: bool = SwappedDistance.exact

    def __call__(self, space: ComparisonSpace) -> Distance:
        """Return the distance."""
        return SwappedDistance(space, self.percent)


class _Changed(CategoryGaps):
    def rows(self, codes: IntArray) -> FloatArray:
        return (super().rows(codes) > 0).astype(np.float64)


class _OutOfRange(Gaps):
    """Whether the ranks of a number and of what a text stands for are further apart than the range."""

    def __init__(self, meaning: ValueCoverage, percent: Decimal) -> None:
        numbers = meaning.column.numbers
        assert numbers is not None, "text has no ranks"
        known = ~np.isnan(numbers)
        ordered = numbers[known]
        below = np.concatenate([[0], np.cumsum(meaning.column.counts[known])])
        # As many ranks as the swapping itself takes.
        self._reach = int(Fraction(percent) * int(below[-1]) / 100)
        self._first, self._last = _ranks(ordered, below, numbers, numbers)
        self._lowest, self._highest = _ranks(ordered, below, meaning.low, meaning.high)
        self._missing = meaning.column.missing
        self._without = np.isnan(meaning.low)
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        self._with_missing = np.zeros(len(meaning.sizes), dtype=bool)
        if self._missing is not None:
            self._with_missing[owners[meaning.values == self._missing]] = True

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
    """Return the first rank that a record from low on has, and the last of one up to high."""
    return below[np.searchsorted(ordered, low, "left")], below[np.searchsorted(ordered, high, "right")] - 1
