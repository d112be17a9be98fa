"""One-to-one linkage in expectation: the chance of each link over all assignments, by Sinkhorn's scaling.

An assignment of the least sum is the likeliest one, which may be hardly likelier than thousands of others.
Here each link has a chance that its likelihood and those of all others allow, while each held record has one
link and each released record at most one. A target is linked to the record of its largest chance.
"""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.linkage.assignment import Pool, TogetherLinking, matched
from anonymizer.attacks.linkage.distances import ComparisonSpace, Distance, Linked
from anonymizer.attacks.pace import step
from anonymizer.model.arrays import FloatArray, IntArray

ROUNDS = 100
"""Maximum number of scalings of the rows and columns."""

CLOSE = 1e-6
"""Share of the records by which row sums may be off at the end."""

FAINT = 60.0
"""Surprise, beyond the least of a record, from which on all classes are equally unlikely."""

SHARP = 2.0
"""Surprise at a median distance to the nearest class; where distances are no surprises, a guess."""

TIED = 1e-9
"""Relative difference below which chances are equal."""


class SinkhornLinking(TogetherLinking):
    """Links each original with the record of the largest chance over all one-to-one assignments.

    Source: the scaling, Sinkhorn, Knopp (Pacific Journal of Mathematics 21, 1967,
    doi:10.2140/pjm.1967.21.343); its limit has the largest entropy, and approximates the chances.
    """

    name = "sinkhorn"

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Return the links; ties count by their expected value."""
        return expected_links(self._distance(space), random)


def expected_links(distance: Distance, random: np.random.Generator) -> Linked:
    """Return the links with the largest chances, by the likelihood that a distance stands for."""
    return matched(distance, random, [lambda pool: _links(pool, distance)])[0]


def assigned_and_expected(distance: Distance, random: np.random.Generator) -> list[Linked]:
    """Return the links of the assignments of the least sum, and those with the largest chances."""
    return matched(
        distance, random, [lambda pool: pool.expected(random), lambda pool: _links(pool, distance)]
    )


def _links(pool: Pool, distance: Distance) -> FloatArray:
    """Return the chances of the true links of a pool, three times the same, shape (3, links)."""
    chances = scaled(-steepness(distance, pool.scale) * pool.costs, pool.records, pool.places)
    chances /= pool.sizes
    best = chances >= chances.max(axis=1, keepdims=True) * (1 - TIED)
    own, given = pool.ends
    right = best[own, given] / np.maximum(best @ pool.sizes, 1)[own]
    return np.tile(right, (3, 1))


def steepness(distance: Distance, scale: float) -> float:
    """Return the surprise per unit of a distance, given the scale of distances that decide."""
    return 1.0 if distance.surprise else SHARP / scale


def scaled(logarithms: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return likelihoods scaled so that rows, and columns as far as possible, have given sums.

    If there are more records in the columns than in the rows, one more row takes the rest, with the mean
    likelihood, and the other way round.

    Parameters
    ----------
    logarithms: of the likelihoods, up to a constant for each row, shape (rows, columns).
    rows, columns: records, positive in sum, shapes (rows,) and (columns,).
    """
    kernel = np.exp(np.maximum(logarithms - logarithms.max(axis=1, keepdims=True), -FAINT))
    height, width = kernel.shape
    rest = int(columns.sum()) - int(rows.sum())
    if rest > 0:
        kernel = np.concatenate([kernel, (rows @ kernel)[None] / rows.sum()])
        rows = np.append(rows, rest)
    elif rest < 0:
        kernel = np.concatenate([kernel, (kernel @ columns)[:, None] / columns.sum()], axis=1)
        columns = np.append(columns, -rest)
    of_column = columns.astype(np.float64)
    of_row, loop = np.zeros(len(rows)), object()
    for number in range(ROUNDS):
        step(loop, number, ROUNDS, at_most=True)
        sums = kernel @ of_column
        off = float(np.abs(of_row * sums - rows).sum())
        if off <= CLOSE * float(rows.sum()):
            break
        of_row = rows / np.maximum(sums, TINY)
        of_column = columns / np.maximum(of_row @ kernel, TINY)
    found: FloatArray = (kernel * of_row[:, None] * of_column)[:height, :width]
    return found


TINY = 1e-300
"""In place of a sum of 0: a class without places, or an original without records."""
