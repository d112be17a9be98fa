"""Pairs of a target and an equivalence class, and their gaps to the true class.

The unit of linking is the class: a target that is linked to a class of n equal records counts 1/n, and tied
classes share. Only the pairs are kept whose class is near the target under some weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.attacks.linkage.families import Family
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

KEPT = 24_000_000
"""Maximum number of gap values in memory; if there are more, they are computed at each use."""
BLOCK = 2_000_000
"""Numbers in one block."""
TIE = 1e-12
"""Squared distances that differ by at most this are equal."""
SMALL = 1e-9
"""Expected numbers of links that differ by at most this are equal."""


@dataclass(frozen=True, eq=False)
class Targets:
    """The records that are linked, each distinct row with its true class, and the classes.

    Attributes
    ----------
    differences: returns the differences of some targets from every class, shape (targets, classes,
        attributes), float64, in the units of the comparison.
    attributes: number of compared attributes.
    own: true class of each target, shape (targets,), int64.
    worth: records of each target, shape (targets,), int64.
    sizes: records of each class, shape (classes,), int64.
    breadth: number of vectors of values that each class covers, shape (classes,), float64; of tied classes,
        the narrowest are taken.
    """

    differences: Callable[[IntArray], FloatArray]
    attributes: int
    own: IntArray
    worth: IntArray
    sizes: IntArray
    breadth: FloatArray

    @property
    def records(self) -> int:
        """Number of records that are linked."""
        return int(self.worth.sum())

    def only(self, some: IntArray) -> Targets:
        """Return some of the targets, among all classes."""
        return replace(
            self,
            differences=lambda targets: self.differences(some[targets]),
            own=self.own[some],
            worth=self.worth[some],
        )


class Pairs:
    """All pairs of a target and a class.

    A *gap* of target i and class j holds the features of the pair (i, j) less those of i and its true class.
    With weights w, class j is nearer if ``gap @ w`` is below ``-TIE``, and tied up to ``TIE``. A target has
    the value worth / (records of its class and of the tied ones) if no class is nearer. A tied class that is
    broader does not count, and one that is narrower takes everything.
    """

    def __init__(self, targets: Targets, family: Family) -> None:
        self.targets, self.family = targets, family
        self.number = len(targets.own)
        self.classes = len(targets.sizes)
        size = self.classes * len(family.members)
        step = max(BLOCK // size, 1)
        self._slices = [slice(start, start + step) for start in range(0, self.number, step)]
        self._kept: list[FloatArray] | None = None
        if size * self.number <= KEPT:
            self._kept = [self._gaps(rows) for rows in self._slices]

    def _gaps(self, rows: slice) -> FloatArray:
        """Return the gaps of some targets with all classes, shape (rows, classes, weights)."""
        some = np.arange(self.number)[rows]
        features = self.family.features(self.targets.differences(some))
        return features - features[np.arange(len(some)), self.targets.own[some]][:, None, :]

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the targets in blocks with their gaps, shape (rows, classes, weights)."""
        for number, rows in enumerate(self._slices):
            yield rows, self._gaps(rows) if self._kept is None else self._kept[number]

    def margins(self, weights: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield blocks of targets with their margins: gaps by weights, infinite for the true class.

        Parameters
        ----------
        weights: shape (weights,).
        """
        for rows, gaps in self.blocks():
            margins = gaps @ weights
            margins[np.arange(len(margins)), self.targets.own[rows]] = np.inf
            yield rows, margins

    def tie_sizes(self, target: IntArray, classes: IntArray) -> FloatArray:
        """Return the records that share with a target's class in a tie: 0 if broader, infinite if narrower.

        Parameters
        ----------
        target, classes: of each pair, shapes that broadcast.
        """
        breadth, own = self.targets.breadth[classes], self.targets.breadth[self.targets.own[target]]
        sizes = np.where(breadth < own * (1 - SMALL), np.inf, self.targets.sizes[classes])
        return np.where(breadth > own * (1 + SMALL), 0.0, sizes)

    def shares(self, weights: FloatArray) -> FloatArray:
        """Return the chance that a record of each target is linked correctly, shape (targets,), float64."""
        shares = np.zeros(self.number)
        everything = np.arange(self.classes)
        for rows, margins in self.margins(weights):
            some = np.arange(self.number)[rows]
            sizes = self.tie_sizes(some[:, None], everything[None, :])
            tied = np.where(margins <= TIE, sizes, 0.0).sum(axis=1)
            beaten = (margins < -TIE).any(axis=1)
            shares[rows] = np.where(beaten, 0.0, 1 / (self.targets.sizes[self.targets.own[some]] + tied))
        return shares

    def right(self, weights: FloatArray) -> float:
        """Return the expected number of correct links."""
        return float(self.shares(weights) @ self.targets.worth)

    def caps(self) -> FloatArray:
        """Return the records among which each target is at best, shape (targets,), float64.

        A class that is at most tied under all weights shares; one that is always nearer makes it infinite.
        """
        caps = self.targets.sizes[self.targets.own].astype(np.float64)
        everything = np.arange(self.classes)
        for rows, gaps in self.blocks():
            most = -self.family.least(-gaps.reshape(-1, gaps.shape[2])).reshape(gaps.shape[:2])
            some = np.arange(self.number)[rows]
            most[np.arange(len(some)), self.targets.own[some]] = np.inf
            sizes = self.tie_sizes(some[:, None], everything[None, :])
            caps[rows] += np.where(most < -TIE, np.inf, np.where(most <= TIE, sizes, 0.0)).sum(axis=1)
        return caps


@dataclass(frozen=True, eq=False)
class Rows:
    """A selection of gaps with at least one per target, in the order of the targets.

    Attributes
    ----------
    target, classes: of each row, shape (rows,), int64, ascending by target.
    gaps: shape (rows, weights), float64.
    starts: first row of each target, shape (targets,), int64.
    sizes: records that share in a tie, see ``Pairs.tie_sizes``, shape (rows,), float64.
    own: records of the true class of each target, shape (targets,), int64.
    worth: records of each target, shape (targets,), int64.
    """

    target: IntArray
    classes: IntArray
    gaps: FloatArray
    starts: IntArray
    sizes: FloatArray
    own: IntArray
    worth: IntArray

    def values(self, margins: FloatArray) -> FloatArray:
        """Return the expected correct links of each target, given the margins, shape (targets,)."""
        beaten = np.minimum.reduceat(margins, self.starts) < -TIE
        return np.where(beaten, 0.0, self.sharing(margins <= TIE))

    def sharing(self, tied: BoolArray) -> FloatArray:
        """Return the value of each target that is nearest or ties in these rows, shape (targets,)."""
        shared = np.add.reduceat(np.where(tied, self.sizes, 0.0), self.starts)
        return self.worth / (self.own + shared)

    def right(self, weights: FloatArray) -> float:
        """Return the expected number of correct links among the classes of the rows."""
        return float(self.values(self.gaps @ weights).sum())


class Chosen:
    """A growing set of selected pairs.

    Attributes
    ----------
    mask: shape (targets, classes), bool.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self.mask = np.zeros((pairs.number, pairs.classes), dtype=np.bool_)

    def add_nearest(self, weights: FloatArray, number: int) -> None:
        """Add the nearest classes of each target, without the true one.

        Parameters
        ----------
        weights: of several distances, shape (distances, weights).
        number: of classes for each target and distance.
        """
        own = self._pairs.targets.own
        number = min(number, self.mask.shape[1] - 1)
        for rows, gaps in self._pairs.blocks():
            margins = gaps @ weights.T
            local = np.arange(len(gaps))
            margins[local, own[rows]] = np.inf
            nearest = np.argpartition(margins, number - 1, axis=1)[:, :number]
            self.mask[(local + rows.start)[:, None, None], nearest] = True
        self.mask[np.arange(len(own)), own] = False

    def add_tied(self, weights: FloatArray, right: BoolArray) -> None:
        """Add all classes that are tied with the true one, or nearer, for the targets in ``right``."""
        for rows, margins in self._pairs.margins(weights):
            self.mask[rows] |= (margins <= TIE) & right[rows, None]

    def rows(self) -> Rows:
        """Return the rows of all chosen pairs."""
        target, classes = np.nonzero(self.mask)
        gaps = np.concatenate([own[self.mask[rows]] for rows, own in self._pairs.blocks()])
        targets = self._pairs.targets
        return Rows(
            target,
            classes,
            gaps,
            np.searchsorted(target, np.arange(self._pairs.number)),
            self._pairs.tie_sizes(target, classes),
            targets.sizes[targets.own],
            targets.worth,
        )
