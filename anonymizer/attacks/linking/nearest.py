"""Linking each record with the nearest one."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.covering import CoveringJoin, spans
from anonymizer.attacks.linking.base import Distance, Distancing, Linked, Linking
from anonymizer.attacks.linking.space import ComparisonSpace
from anonymizer.model.arrays import FloatArray, IntArray

TIED = 1e-9
"""Distances that differ by less than this share are equal."""

PAIR = 100
"""Finding a pair that covers takes as long as comparing so many values."""

PROBES = 64
"""Originals on which the number of such pairs is estimated, at least."""


class NearestLinking(Linking):
    """Each original record is linked with the nearest record of the release.

    Among classes at the same distance the one that stands for the fewest combinations of values is taken: of
    two that may hold a record, its own is the likelier the narrower it is. What is left are records that
    look alike, any of which may be the one.
    """

    name = "nearest"

    def __init__(self, distance: Distancing) -> None:
        self._distance = distance

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared, for what classes may cover estimated on a few originals."""
        wanted = np.unique(space.truth.original)
        if not self._distance.exact:
            return len(wanted) * space.cells
        return len(uncovered(space)) * space.cells + PAIR * _pairs(space, wanted)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:  # noqa: ARG002 - it counts
        """Link; nothing is left to chance, ties count by their expected value."""
        distance = self._distance(space)
        return Linked(nearest(distance))


def nearest(distance: Distance) -> FloatArray:
    """Return the chance that nearest linkage is right for a record of each link, shape (links,)."""
    space = distance.space
    truth = space.truth
    right = np.zeros(len(truth.counts))
    wanted = np.unique(truth.original)
    if distance.exact:
        wanted = _within_covering(space, wanted, right)
    for block in distance.blocks(wanted):
        distances = distance.rows(block)
        least = distances.min(axis=1, keepdims=True)
        rows, classes = np.nonzero(distances <= least + TIED * np.abs(least))
        _settle(space, right, block, rows, classes)
    return right


def uncovered(space: ComparisonSpace) -> IntArray:
    """Return the originals to be linked whose own classes do not stand for them, as masked numbers do not."""
    truth = space.truth
    covered = np.ones(len(truth.counts), dtype=bool)
    for position, meaning in enumerate(space.meanings):
        covered &= meaning.covers(
            space.originals[truth.original, position], space.classes[truth.release, position]
        )
    return np.setdiff1d(truth.original, truth.original[covered])


def _pairs(space: ComparisonSpace, wanted: IntArray) -> int:
    """Return about how many pairs of an original and a class that covers it there are."""
    probe = wanted[:: max(len(wanted) // PROBES, 1)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    found = sum(len(pairs.original) for _, pairs in join.blocks(space.originals[probe].astype(np.int64)))
    return found * len(wanted) // len(probe)


def _within_covering(space: ComparisonSpace, wanted: IntArray, right: FloatArray) -> IntArray:
    """Settle the originals that some class stands for, which are at distance 0; return the others."""
    without: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    for block, pairs in join.blocks(space.originals[wanted].astype(np.int64)):
        covered = np.zeros(len(block), dtype=bool)
        covered[pairs.original] = True
        without.append(wanted[block[~covered]])
        _settle(space, right, wanted[block], pairs.original, pairs.published)
    return np.concatenate(without)


def _settle(
    space: ComparisonSpace, right: FloatArray, block: IntArray, rows: IntArray, classes: IntArray
) -> None:
    """Enter the chances of a block whose nearest classes are known.

    Parameters
    ----------
    right: of the space's truth, changed.
    block: originals, shape (originals,).
    rows, classes: pairs of a position in ``block`` and a nearest class, shape (pairs,); by row.
    """
    if not len(rows):
        return
    breadth = space.breadth[classes]
    narrowest = np.full(len(block), np.inf)
    np.minimum.at(narrowest, rows, breadth)
    chosen = breadth <= narrowest[rows] * (1 + TIED)
    rows, classes = rows[chosen], classes[chosen]
    alike = np.bincount(rows, weights=space.sizes[classes], minlength=len(block))
    links, row = _links_of(space, block)
    found = np.isin(row * len(space.sizes) + space.truth.release[links], rows * len(space.sizes) + classes)
    right[links[found]] = 1 / alike[row[found]]


def _links_of(space: ComparisonSpace, block: IntArray) -> tuple[IntArray, IntArray]:
    """Return the links of some originals, and the position in the block of which each is."""
    first, last = (np.searchsorted(space.truth.original, block, side) for side in ("left", "right"))
    return spans(first, last - first)
