"""Microaggregation: records in small clusters, each published by its mean or median.

V-MDAV makes clusters of k to 2k - 1 records that absorb close ones. Classes that violate a constraint are
merged into the nearest class.

Points are numeric quasi-identifiers in standard deviations, as whole numbers. Aggregates are rounded as
published; clusters with equal published values are one class. A distinct row has a part for each cluster of
its records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import reduce
from math import inf
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.errors import InputError
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, add_up, numbered, overlaps
from anonymizer.model.classes import Classes
from anonymizer.model.features import Feature
from anonymizer.model.labels import MISSING, SUPPRESSED
from anonymizer.model.recoding import Cells, Outcome, RegionRecoding, Status, Step
from anonymizer.model.table import PublishedValues, QuasiIdentifier, Table, ValueType
from anonymizer.plugins import Settings, WholeNumber
from anonymizer.search.base import (
    Control,
    Incumbent,
    Progress,
    SearchAlgorithm,
    SearchProblem,
    SearchRun,
    sensitive_codes,
)
from anonymizer.search.judge import CandidateVerdict, Judge, search_with_attack_checks
from anonymizer.search.microaggregation.mdav import (
    Clustering,
    FixedSize,
    Pool,
    Shares,
    Taken,
    Tick,
    norms,
    whole_numbers,
)
from anonymizer.search.partition.assignment import disjoint


@dataclass(frozen=True, eq=False)
class Space:
    """The distinct quasi-identifier values of a table as points.

    Attributes
    ----------
    numbers: values of each point, shape (points, quasi-identifiers), float64, NaN where missing.
    counts: records at each point, shape (points,), int64.
    coordinates: of each point, shape (points, dimensions), float64, whole numbers: one dimension for each
        quasi-identifier, where missing stands at the mean, and one for each that has missing values, in which
        these are as far from all others as the two ends of the attribute are from each other.
    """

    numbers: FloatArray
    counts: IntArray
    coordinates: FloatArray

    @staticmethod
    def of(table: Table) -> Space:
        """Return the points of a table, in its order.

        Raises
        ------
        InputError: a quasi-identifier has no numbers.
        """
        texts = [each.name for each in table.quasi_identifiers if each.column.numbers is None]
        if texts:
            named = ", ".join(f"'{name}'" for name in texts)
            raise InputError(
                "algorithm.name: microaggregation needs numbers or dates as quasi-identifiers; found text in "
                f"{named}; use mondrian or local for text"
            )
        codes = table.codes[:, : len(table.quasi_identifiers)]
        first = np.concatenate([[True], (codes[1:] != codes[:-1]).any(axis=1)])
        counts = np.add.reduceat(table.counts, np.flatnonzero(first))
        points = codes[first]
        numbers = np.stack(
            [
                numbers_of(attribute)[points[:, position]]
                for position, attribute in enumerate(table.quasi_identifiers)
            ],
            axis=1,
        )
        axes = [
            axis[points[:, position]]
            for position, attribute in enumerate(table.quasi_identifiers)
            for axis in _axes(attribute)
        ]
        return Space(numbers, counts, whole_numbers(np.stack(axes, axis=1), table.records))

    def clusters(self, clustering: Clustering, k: int, tick: Tick) -> Shares:
        """Return clusters of records with the same missing values; fewer than k such are one cluster."""
        if k == 1:
            everyone = np.arange(len(self.counts))
            return Shares(everyone, everyone, self.counts)
        patterns = np.unique(np.isnan(self.numbers), axis=0, return_inverse=True)[1].ravel()
        found: list[Shares] = []
        placed = clusters = 0
        for pattern in range(int(patterns.max()) + 1):
            alike = np.flatnonzero(patterns == pattern)
            own = clustering.cluster(self.coordinates[alike], self.counts[alike], k, _after(placed, tick))
            found.append(Shares(alike[own.point], own.cluster + clusters, own.records))
            clusters += own.clusters
            placed += int(self.counts[alike].sum())
        return Shares(
            np.concatenate([own.point for own in found]),
            np.concatenate([own.cluster for own in found]),
            np.concatenate([own.records for own in found]),
        )


def _after(placed: int, tick: Tick) -> Tick:
    return lambda taken: tick(placed + taken)


def numbers_of(attribute: QuasiIdentifier) -> FloatArray:
    """Return the number of each code of a numeric attribute, NaN for missing, shape (values,)."""
    numbers = attribute.column.numbers
    assert numbers is not None, "texts were refused"
    return numbers


def span_of(attribute: QuasiIdentifier) -> float:
    """Return half the range of an attribute's numbers, 0 without any; never infinite."""
    numbers = numbers_of(attribute)
    known = numbers[~np.isnan(numbers)]
    return float(known.max() / 2 - known.min() / 2) if len(known) else 0.0


def _axes(attribute: QuasiIdentifier) -> list[FloatArray]:
    """Return the coordinates of each code of an attribute in standard deviations times root of its weight."""
    numbers, counts = numbers_of(attribute), attribute.column.counts
    known = ~np.isnan(numbers)
    scale = float(np.sqrt(attribute.weight))
    axis, half = np.zeros(len(numbers)), span_of(attribute)
    if half > 0:
        # Relative to the range first, as squares of large numbers may be infinite.
        relative = (numbers[known] / 2 - numbers[known].min() / 2) / half
        mean = np.average(relative, weights=counts[known])
        deviation = np.sqrt(np.average((relative - mean) ** 2, weights=counts[known]))
        axis[known] = (relative - mean) / deviation * scale
    if known.all():
        return [axis]
    apart = float(axis.max() - axis.min()) if half > 0 else scale
    return [axis, np.where(known, 0.0, apart)]


DIGITS = 6
"""Significant digits of published means, relative to the attribute's range."""

PRECISE_DIGITS = 15
"""Decimal digits that float64 carries."""

SMALLEST_EXPONENT = -308
"""The inverse of a smaller power of ten is not a float64."""


@dataclass(frozen=True, eq=False)
class Members:
    """The known values of one attribute, by class.

    Attributes
    ----------
    group: class of each, shape (members,), int64.
    numbers: shape (members,), float64, finite.
    records: with each, shape (members,), int64.
    classes: number of classes; the aggregate of one without members is NaN.
    """

    group: IntArray
    numbers: FloatArray
    records: IntArray
    classes: int


def means_of(members: Members) -> FloatArray:
    """Return the arithmetic mean of each class, shape (classes,), float64."""
    weights = members.records.astype(np.float64)
    sizes = np.bincount(members.group, weights, members.classes)
    sums = np.bincount(members.group, weights * members.numbers, members.classes)
    means: FloatArray = np.divide(sums, sizes, out=np.full(members.classes, np.nan), where=sizes > 0)
    return means


def medians_of(members: Members) -> FloatArray:
    """Return the median of each class, for an even number of records the mean of the middle two."""
    sizes = np.bincount(members.group, members.records, members.classes).astype(np.int64)
    order = np.lexsort((members.numbers, members.group))
    ends = np.cumsum(members.records[order])
    before = np.cumsum(sizes) - sizes
    some = sizes > 0
    lower = np.searchsorted(ends, (before + (sizes - 1) // 2)[some], side="right")
    upper = np.searchsorted(ends, (before + sizes // 2)[some], side="right")
    numbers = members.numbers[order]
    medians = np.full(members.classes, np.nan)
    medians[some] = numbers[lower] / 2 + numbers[upper] / 2
    return medians


Aggregate = Callable[[Members], FloatArray]
"""Returns the aggregate of the values of each class, shape (classes,), float64."""


class ClusterAggregate(StrEnum):
    """The published aggregate of a class."""

    MEAN = "mean"
    MEDIAN = "median"


AGGREGATES: Mapping[ClusterAggregate, Aggregate] = {
    ClusterAggregate.MEAN: means_of,
    ClusterAggregate.MEDIAN: medians_of,
}


def step_exponent(attribute: QuasiIdentifier) -> int:
    """Return the power of ten to which an attribute's aggregates are rounded; whole days for dates."""
    half = span_of(attribute)
    if attribute.column.type is ValueType.DATE or half == 0:
        return 0
    largest = float(np.nanmax(np.abs(numbers_of(attribute))))
    leading = np.floor(np.log10(half) + np.log10(2.0)) + 1 - DIGITS
    return int(max(leading, np.floor(np.log10(largest)) + 1 - PRECISE_DIGITS, SMALLEST_EXPONENT))


def rounded(numbers: FloatArray, exponent: int) -> FloatArray:
    """Round to multiples of a power of ten, each the float64 nearest to the decimal, shape as given."""
    if exponent >= 0:
        return np.rint(numbers / 10.0**exponent) * 10.0**exponent
    # A division of whole numbers is rounded correctly, a product with 0.1 is not.
    return np.rint(numbers * 10.0**-exponent) / 10.0**-exponent


@dataclass(frozen=True, eq=False)
class AggregatedColumn:
    """One attribute of the classes.

    Attributes
    ----------
    published: number of each class, shape (classes,), float64; NaN if all are missing.
    mixed: classes with missing and other values, shape (classes,), bool.
    low, high: of the originals of each class, shape (classes,), float64; NaN without any.
    """

    published: FloatArray
    mixed: BoolArray
    low: FloatArray
    high: FloatArray

    @staticmethod
    def of(
        attribute: QuasiIdentifier, aggregate: Aggregate, members: Members, sizes: IntArray
    ) -> AggregatedColumn:
        """Aggregate the known values of each class; a value of all records is published unchanged.

        Parameters
        ----------
        sizes: records of each class with missing ones, shape (classes,), int64.
        """
        low, high = np.full(members.classes, np.inf), np.full(members.classes, -np.inf)
        np.minimum.at(low, members.group, members.numbers)
        np.maximum.at(high, members.group, members.numbers)
        known = np.bincount(members.group, members.records, members.classes).astype(np.int64)
        low, high = np.where(known > 0, low, np.nan), np.where(known > 0, high, np.nan)
        whole = rounded(np.clip(aggregate(members), low, high), step_exponent(attribute))
        return AggregatedColumn(np.where(low == high, low, whole), (known > 0) & (known < sizes), low, high)

    def keys(self) -> IntArray:
        """Return a key of what is published of each class, shape (classes,), int64."""
        shown = np.where(self.mixed, np.inf, np.where(np.isnan(self.published), -np.inf, self.published))
        return np.unique(shown, return_inverse=True)[1].ravel().astype(np.int64)


@dataclass(frozen=True, eq=False)
class Partition:
    """Clusters joined to classes with different published values.

    Attributes
    ----------
    class_of: class of each cluster, shape (clusters,), int64.
    columns: one per quasi-identifier.
    """

    class_of: IntArray
    columns: Sequence[AggregatedColumn]

    @property
    def number(self) -> int:
        """Number of classes."""
        return len(self.columns[0].published)


class Aggregator:
    """Aggregates the clusters of a space.

    Parameters
    ----------
    attributes: the quasi-identifiers.
    shares: the clusters of the space's points.
    """

    def __init__(
        self, attributes: Sequence[QuasiIdentifier], space: Space, shares: Shares, aggregate: Aggregate
    ) -> None:
        self._attributes = attributes
        self._space = space
        self._shares = shares
        self._aggregate = aggregate

    def partition(self, class_of: IntArray) -> Partition:
        """Publish classes of clusters; classes with equal published values become one, until all differ.

        Parameters
        ----------
        class_of: class of each cluster, shape (clusters,), int64, numbered without a gap.
        """
        while True:
            columns = [self._column(position, class_of) for position in range(len(self._attributes))]
            classes = int(class_of.max()) + 1
            keys, first = numbered((column.keys() for column in columns), classes)
            if len(first) == classes:
                return Partition(class_of, columns)
            class_of = keys[class_of]

    def averages(self, class_of: IntArray) -> FloatArray:
        """Return the average coordinates of each class in whole numbers, shape (classes, dimensions)."""
        own = self._shares
        joined = Shares(own.point, class_of[own.cluster], own.records)
        return joined.averages(self._space.coordinates)

    def _column(self, position: int, class_of: IntArray) -> AggregatedColumn:
        own = self._shares
        group, numbers = class_of[own.cluster], self._space.numbers[own.point, position]
        number = int(class_of.max()) + 1
        known = ~np.isnan(numbers)
        members = Members(group[known], numbers[known], own.records[known], number)
        sizes = np.bincount(group, own.records, number).astype(np.int64)
        return AggregatedColumn.of(self._attributes[position], self._aggregate, members, sizes)


CELLS_AT_ONCE = 1 << 24
"""Distances that are held in memory at a time."""


def merged(averages: FloatArray, failing: BoolArray) -> IntArray:
    """Merge violating classes, each with its nearest, at least one of them.

    If the nearest class is violating too, and its own nearest is another one, the first waits for the next
    round; otherwise a chain of violating classes would become one. The pair at the smallest distance never
    waits.

    Parameters
    ----------
    averages: of the classes, at least two, shape (classes, dimensions), float64, whole numbers whose squared
        distances are exact.
    failing: shape (classes,), bool, at least one.

    Returns
    -------
    New class of each class, shape (classes,), int64, numbered without a gap in the order of the old ones.
    """
    chosen = np.flatnonzero(failing)
    partner = np.full(len(failing), -1)
    partner[chosen] = nearest_others(averages, chosen)
    target = partner[chosen]
    root = np.arange(len(failing))
    joining = ~failing[target]
    root[chosen[joining]] = target[joining]
    second = (partner[target] == chosen) & (target < chosen)
    root[chosen[second]] = target[second]
    return np.unique(root, return_inverse=True)[1].ravel().astype(np.int64)


def nearest_others(averages: FloatArray, chosen: IntArray) -> IntArray:
    """Return the nearest other class of each chosen one, the first of several, shape (chosen,), int64."""
    lengths = norms(averages)
    nearest = np.empty(len(chosen), dtype=np.int64)
    width = max(1, CELLS_AT_ONCE // len(averages))
    for start in range(0, len(chosen), width):
        own = chosen[start : start + width]
        distances = averages[own] @ (-2.0 * averages.T)
        distances += lengths
        distances += lengths[own, None]
        distances[np.arange(len(own)), own] = np.inf
        nearest[start : start + width] = distances.argmin(axis=1)
    return nearest


@dataclass(frozen=True, eq=False)
class Pairs:
    """Disjoint pairs of classes, those first whose merge adds least to the squared distances from averages.

    Attributes
    ----------
    classes: number of all classes.
    one, other: of each pair, shape (pairs,), int64.
    """

    classes: int
    one: IntArray
    other: IntArray

    @staticmethod
    def of(averages: FloatArray, sizes: IntArray) -> Pairs:
        """Pair classes with their nearest ones.

        Parameters
        ----------
        averages: at least two, shape (classes, dimensions), as for ``merged``.
        sizes: records of each, shape (classes,), int64.
        """
        every = np.arange(len(sizes))
        nearest = nearest_others(averages, every)
        away = ((averages - averages[nearest]) ** 2).sum(axis=1)
        rises = away * (sizes * sizes[nearest] / (sizes + sizes[nearest]))
        members = np.stack([every, nearest], axis=1).reshape(-1)
        chosen = np.flatnonzero(disjoint(np.repeat(every, 2), members, -rises, len(every)))
        chosen = chosen[np.argsort(rises[chosen], kind="stable")]
        return Pairs(len(sizes), chosen, nearest[chosen])

    @property
    def number(self) -> int:
        """Number of pairs."""
        return len(self.one)

    def joined(self, merges: int) -> IntArray:
        """Return the new class of each after the first merges, numbered without a gap."""
        root = np.arange(self.classes)
        root[self.other[:merges]] = self.one[:merges]
        return np.unique(root, return_inverse=True)[1].ravel().astype(np.int64)


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of the combinations of a table, each with its group.

    Attributes
    ----------
    table: the searched one.
    owner: combination of each part, shape (parts,), int64, ascending.
    counts: records of each part, shape (parts,), int64.
    group: of each part, shape (parts,), int64.
    """

    table: Table
    owner: IntArray
    counts: IntArray
    group: IntArray

    @staticmethod
    def of(table: Table, shares: Shares) -> Parts:
        """Split combinations; the records of a point go to its clusters in order."""
        order = np.lexsort((shares.cluster, shares.point))
        row, share, records = overlaps(table.counts, shares.records[order])
        return Parts(table, row, records, shares.cluster[order][share])

    @property
    def split(self) -> bool:
        """Whether a combination is in several parts."""
        return len(self.owner) > self.table.combinations

    def grouped(self, class_of: IntArray) -> Parts:
        """Join groups, and with them parts of one combination.

        Parameters
        ----------
        class_of: new group of each group, shape (groups,), int64.
        """
        number = int(class_of.max()) + 1
        keys = self.owner * number + class_of[self.group]
        distinct, counts = add_up(keys, self.counts, self.table.combinations * number)
        return Parts(self.table, distinct // number, counts, distinct % number)

    def rows(self) -> Table:
        """Return a table whose rows are the parts."""
        return self.table.split(self.owner, self.counts) if self.split else self.table

    def classes(self) -> Classes:
        """Return the groups as equivalence classes; they must be numbered without a gap."""
        sensitive = sensitive_codes(self.table, self.owner)
        measure = self.table.measure.parts(self.owner, self.counts)
        return Classes(self.group, measure, int(self.group.max()) + 1, sensitive)


def region_column(attribute: QuasiIdentifier, own: AggregatedColumn) -> Cells:
    """Return the published column of an attribute: one value for each class, also if texts are equal."""
    distinct, position = np.unique(own.published, return_inverse=True)
    texts = [*texts_of(attribute, distinct), SUPPRESSED]
    label = np.where(own.mixed, len(distinct), position.ravel())
    labels = [texts[each] for each in label.tolist()]
    return Cells(_values(attribute, own), labels, np.arange(len(labels), dtype=np.int32))


def _values(attribute: QuasiIdentifier, own: AggregatedColumn) -> PublishedValues:
    """Return the values behind the aggregates: all values of the column in the range of the originals."""
    column, numbers = attribute.column, numbers_of(attribute)
    known = numbers if column.missing is None else numbers[: column.missing]
    none = np.isnan(own.low)
    first = np.where(none, len(known), np.searchsorted(known, np.where(none, 0, own.low), side="left"))
    last = np.where(none, column.size, np.searchsorted(known, np.where(none, 0, own.high), side="right"))
    first, last = np.where(own.mixed, 0, first), np.where(own.mixed, column.size, last)
    records = np.concatenate([[0], np.cumsum(column.counts)])
    return PublishedValues(
        None, last - first, records[last] - records[first], own.low, own.high, own.mixed, None
    )


def texts_of(attribute: QuasiIdentifier, numbers: FloatArray) -> list[str]:
    """Return the published texts of distinct numbers; values of the column keep their spelling."""
    column = attribute.column
    spelled: dict[float, str] = {}
    for number, text in zip(numbers_of(attribute).tolist(), column.texts, strict=True):
        spelled.setdefault(number, text)
    exponent, kind, written = step_exponent(attribute), column.type, column.numerals.written
    return [
        MISSING if np.isnan(number) else spelled.get(number) or written(_text(number, exponent, kind))
        for number in numbers.tolist()
    ]


def _text(number: float, exponent: int, kind: ValueType) -> str:
    """Write a multiple of a power of ten without an exponent and without trailing zeros; a date as a date.

    >>> _text(39.5, -4, ValueType.NUMBER), _text(57812300.0, 2, ValueType.INTEGER)
    ('39.5', '57812300')
    >>> _text(738945.0, 0, ValueType.DATE)
    '2024-02-29'
    """
    if kind is ValueType.DATE:
        return date.fromordinal(int(number)).isoformat()
    steps = Decimal(repr(number)).scaleb(-exponent).to_integral_value()
    exact = steps.scaleb(exponent)
    return f"{exact.normalize():f}" if exact else "0"


def sse_over_sst(
    table: Table, suppressed: BoolArray, columns: Sequence[AggregatedColumn], class_of: IntArray
) -> float:
    """Return the mean over the attributes of the share of their variance that the release loses.

    SSE is the sum over records of (value - published value) squared, SST that of (value - mean) squared; an
    attribute without variance is left out. A suppressed cell counts as the mean, a missing value does not
    count. So standardised attributes have equal weights, as in the literature on MDAV (Domingo-Ferrer and
    Mateo-Sanz, IEEE TKDE 2002, doi:10.1109/69.979982).

    Parameters
    ----------
    suppressed: rows of the table without published values, shape (rows,), bool.
    columns: by class, one per quasi-identifier.
    class_of: class of each row, shape (rows,), int64.
    """
    shares = []
    for position, (attribute, own) in enumerate(zip(table.quasi_identifiers, columns, strict=True)):
        codes = table.quasi_identifier_codes(position)
        hidden = suppressed | own.mixed[class_of]
        share = _lost_variance(
            attribute, codes, table.counts, np.where(hidden, np.nan, own.published[class_of])
        )
        if share is not None:
            shares.append(share)
    return float(np.mean(shares)) if shares else 0.0


def _lost_variance(
    attribute: QuasiIdentifier, codes: CodeArray, counts: IntArray, published: FloatArray
) -> float | None:
    half = span_of(attribute)
    if half == 0:
        return None
    numbers = numbers_of(attribute)[codes]
    known: BoolArray = ~np.isnan(numbers)
    values, records = numbers[known] / half, counts[known]
    mean = np.average(values, weights=records)
    shown = np.where(np.isnan(published[known]), mean, published[known] / half)
    return float(records @ (values - shown) ** 2 / (records @ (values - mean) ** 2))


class VariableSize(Clustering):
    """Clusters of k to 2k - 1 records: one grows while the next point is close to it.

    The next point is the nearest to any record of the cluster. It is close when that distance is less than
    ``gain`` times its distance to the nearest other point without a cluster. Fewer than k remaining records
    join the clusters of the nearest average. A point of k or more records is a cluster.

    Source: Solanas and Martínez-Ballesté, V-MDAV: a multivariate microaggregation with variable group size
    (COMPSTAT 2006), here on points with counts. Time in O(points squared) for each gain.

    Parameters
    ----------
    gains: gammas of the paper, which proposes 0.2 for scattered and 1.1 for clustered data; the first
        clusters of least squared error win.
    """

    def __init__(self, gains: Sequence[float] = (0.2, 1.1)) -> None:
        self.gains = gains

    def cluster(self, coordinates: FloatArray, counts: IntArray, k: int, tick: Tick) -> Shares:
        """Return clusters of k to 2k - 1 records, larger with shared points or remaining records."""
        tried = [_Growth(coordinates, counts, k, gain).run(tick) for gain in self.gains]
        return min(tried, key=lambda shares: shares.squared_error(coordinates))


class _Growth:
    def __init__(self, coordinates: FloatArray, counts: IntArray, k: int, gain: float) -> None:
        self._coordinates = coordinates
        self._counts = counts
        self._k = k
        self._gain = gain

    def run(self, tick: Tick) -> Shares:
        coordinates, k = self._coordinates, self._k
        pool = Pool(coordinates, self._counts)
        clusters: list[Taken] = []
        outlying = pool.distances(pool.average())
        while pool.left >= k:
            first = pool.furthest(outlying)
            taken = pool.take(first, pool.distances(pool.at(first)), k)
            clusters.append(self._grown(pool, taken))
            outlying = outlying[pool.compact()]
            tick(pool.taken)
        if not pool.left:
            return Shares.of(clusters)
        rest = pool.take_all()
        return _joined(Shares.of(clusters), rest, coordinates) if clusters else Shares.of([rest])

    def _grown(self, pool: Pool, taken: Taken) -> Taken:
        """Return a cluster with all close enough points, up to 2k - 1 records."""
        most = 2 * self._k - 1
        if taken.size >= most or not pool.left:
            return taken
        near = reduce(np.minimum, (pool.distances(own) for own in self._coordinates[taken.points]))
        while pool.left:
            position = pool.nearest(near)
            records = pool.count(position)
            if taken.size + records > most:
                break
            around = pool.distances(pool.at(position))
            outside = pool.nearest_distance(around, without=position)
            if not near[position] < self._gain**2 * outside:
                break
            pool.take_of(position, records)
            taken = taken.with_point(pool.point(position), records)
            near = np.minimum(near, around)
        return taken


def _joined(shares: Shares, rest: Taken, coordinates: FloatArray) -> Shares:
    """Return clusters with the remaining points, each in the cluster of the nearest average."""
    away = coordinates[rest.points, None, :] - shares.averages(coordinates)
    nearest: IntArray = np.einsum("ijk,ijk->ij", away, away).argmin(axis=1)
    return Shares(
        np.concatenate([shares.point, rest.points]),
        np.concatenate([shares.cluster, nearest]),
        np.concatenate([shares.records, rest.records]),
    )


class MicroaggregationSettings(Settings):
    """Parameters of microaggregation."""

    k: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None, description="smallest cluster; default: the smallest class that the constraints allow"
    )
    aggregate: ClusterAggregate = Field(
        default=ClusterAggregate.MEAN, description="what is published of a cluster"
    )
    variable: bool = Field(
        default=False, strict=True, description="clusters of k to 2k - 1 records (V-MDAV), not of k (MDAV)"
    )


class Microaggregation(SearchAlgorithm):
    """Publishes numbers as the mean or median of clusters of at least k similar records (MDAV).

    Distances are between attributes in standard deviations, times the root of their weights. Clusters that
    violate a constraint join the nearest one, round by round, until none does; the round of lowest loss wins.
    Records with different missing values are in different clusters if these are valid; a cluster of both is
    published with ``*``.

    A published mean looks exact and is not: ``loss`` measures the range of the cluster's originals.
    """

    name = "microaggregation"
    Settings = MicroaggregationSettings
    settings: MicroaggregationSettings
    supports = frozenset(
        {
            Feature.CLASSES,
            Feature.UNIT_LIMIT,
            Feature.UNITS,
            Feature.SCENARIOS,
        }
    )
    aggregates = True
    most_parts = inf

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best round.

        Raises
        ------
        InputError: a quasi-identifier has no numbers, or the metric no value for aggregates.
        """
        smallest = self.settings.k or max(problem.minimum_size, problem.k or 1)
        first = problem.for_all_knowledge.minimum_size

        def search(asked: SearchProblem, left: Control) -> Outcome:
            # Where attacks ask for larger classes the clusters grow: small ones would merge to twice as many.
            size = max(smallest, asked.minimum_size) if asked.minimum_size > first else smallest
            return _Run(asked, left, self.settings, size).run()

        return search_with_attack_checks(problem, control, search, smallest=smallest, both=True)


class _BudgetSpent(Exception):
    """The budget ended before there were clusters."""


class _Run(SearchRun):
    def __init__(
        self, problem: SearchProblem, control: Control, settings: MicroaggregationSettings, k: int
    ) -> None:
        super().__init__(control)
        self._problem = problem
        self._settings = settings
        self._table = problem.table
        self._judge = Judge(problem)
        self._space = Space.of(problem.table)
        self._k = k
        self._best: Incumbent[RegionRecoding] = Incumbent()

    def run(self) -> Outcome:
        with suppress(_BudgetSpent):
            self._rounds()
        return self._outcome(Status.UNDECIDED if self._best.found is None else Status.SATISFIED)

    def _rounds(self) -> None:
        """Judge the clusters as published, and merge violating ones until none is left."""
        clustering = VariableSize() if self._settings.variable else FixedSize()
        shares = self._space.clusters(clustering, self._k, self._tick)
        aggregate = AGGREGATES[self._settings.aggregate]
        aggregator = Aggregator(self._table.quasi_identifiers, self._space, shares, aggregate)
        parts = Parts.of(self._table, shares)
        partition = aggregator.partition(np.arange(shares.clusters))
        while True:
            grouped = parts.grouped(partition.class_of)
            verdict = self._verdict(grouped, partition)
            self._note(grouped, partition, verdict)
            failing = ~verdict.kept
            if (
                partition.number == 1
                or (verdict.valid and not failing.any())
                or self._ended(len(self._steps))
            ):
                return
            averages = aggregator.averages(partition.class_of)
            if failing.any():
                partition = aggregator.partition(merged(averages, failing)[partition.class_of])
                continue
            # If only a model of the whole table is violated, there must be fewer classes.
            partition = self._fewer(aggregator, parts, partition, Pairs.of(averages, grouped.classes().sizes))

    def _fewer(self, aggregator: Aggregator, parts: Parts, partition: Partition, pairs: Pairs) -> Partition:
        """Return as few merged pairs of a partition as satisfy the models of the whole table; else all."""

        def after(merges: int) -> Partition:
            return aggregator.partition(pairs.joined(merges)[partition.class_of])

        low, high = 0, pairs.number
        if self._verdict(parts.grouped(after(high).class_of), after(high)).valid:
            while high - low > 1 and not self._ended(len(self._steps)):
                middle = (low + high) // 2
                fewer = after(middle)
                valid = self._verdict(parts.grouped(fewer.class_of), fewer).valid
                low, high = (low, middle) if valid else (middle, high)
        return after(high)

    def _tick(self, placed: int) -> None:
        records = self._table.records
        self._control.tell(lambda: Progress(min(placed, records), records, None, None))
        if self._ended(0):
            raise _BudgetSpent

    def _verdict(self, parts: Parts, partition: Partition) -> CandidateVerdict:
        classes = parts.classes()
        verdict = self._judge.judge(classes)
        blank = np.logical_and.reduce([column.mixed for column in partition.columns])
        if verdict.kept_suppressed and (blank & verdict.kept).any():
            # Suppressed records that stay would look like that class, so they are removed.
            verdict = Judge(replace(self._problem, keep_rows=False)).judge(classes)
        return verdict

    def _note(self, parts: Parts, partition: Partition, verdict: CandidateVerdict) -> None:
        """Log the step, and keep the recoding if it is the best so far."""
        objective = None
        if verdict.valid:
            recoding = self._recoding(parts, partition, verdict)
            objective = self._problem.loss(recoding, "algorithm microaggregation")
            self._best.offer(recoding, objective)
        self._log(partition.number, objective, verdict)

    def _log(self, classes: int, objective: float | None, verdict: CandidateVerdict) -> None:
        step = Step({"classes": classes}, objective, verdict.valid, verdict.failed, None, verdict.suppressed)
        # Rounds are few.
        self._steps.note(step, lambda own: replace(own, checks=verdict.checks), measured=True)

    def _recoding(self, parts: Parts, partition: Partition, verdict: CandidateVerdict) -> RegionRecoding:
        table, columns = parts.rows(), partition.columns
        suppressed = ~verdict.kept[parts.group]
        return RegionRecoding(
            table,
            [region_column(*pair) for pair in zip(table.quasi_identifiers, columns, strict=True)],
            parts.group,
            suppressed,
            np.zeros_like(suppressed) if verdict.kept_suppressed else suppressed,
            parts.owner if parts.split else None,
            {
                "aggregate": self._settings.aggregate.value,
                "k": self._k,
                "sse_over_sst": sse_over_sst(table, suppressed, columns, parts.group),
            },
        )

    def _outcome(self, status: Status) -> Outcome:
        number, best = len(self._steps), self._best
        objective = None if best.found is None else best.objective
        return self._finished(status, (objective, best.found), None, number, number)
