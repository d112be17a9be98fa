"""Records as points: numeric quasi-identifiers in standard deviations, as whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.errors import InputError
from anonymizer.masking.mdav import Clustering, Shares, Tick, whole_numbers
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import QuasiIdentifier, Table


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
        refuse_texts(table)
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
        """Return clusters of records that miss the same values; where fewer than k do, these are one."""
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


def refuse_texts(table: Table) -> None:
    """Refuse quasi-identifiers that have no mean.

    Raises
    ------
    InputError: naming them, and what would do.
    """
    texts = [attribute.name for attribute in table.quasi_identifiers if attribute.column.numbers is None]
    if texts:
        named = ", ".join(f"'{name}'" for name in texts)
        raise InputError(
            f"algorithm microaggregation: quasi-identifier {named} holds text, which has no mean; accepted: "
            "numbers and dates, or algorithm mondrian or local for text"
        )


def numbers_of(attribute: QuasiIdentifier) -> FloatArray:
    """Return the number of each code of a numeric attribute, NaN for missing, shape (values,)."""
    numbers = attribute.column.numbers
    assert numbers is not None, "texts were refused"
    return numbers


def span_of(attribute: QuasiIdentifier) -> float:
    """Return half the range of an attribute's numbers, 0 where there are none; never infinite."""
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
        # Relative to the range first: squares of large numbers need not be finite.
        relative = (numbers[known] / 2 - numbers[known].min() / 2) / half
        mean = np.average(relative, weights=counts[known])
        deviation = np.sqrt(np.average((relative - mean) ** 2, weights=counts[known]))
        axis[known] = (relative - mean) / deviation * scale
    if known.all():
        return [axis]
    apart = float(axis.max() - axis.min()) if half > 0 else scale
    return [axis, np.where(known, 0.0, apart)]
