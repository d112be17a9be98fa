"""The chance of each link: by a distance alone, and over all one-to-one assignments by Sinkhorn's scaling."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.linkage.distances import Distance
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

PROBES = 200
"""Originals from which the scale of a distance is found."""


def steepness(distance: Distance, scale: float) -> float:
    """Return the surprise per unit of a distance, given the scale of distances that decide."""
    return 1.0 if distance.surprise else SHARP / scale


def steepness_of(distance: Distance) -> float:
    """Return the surprise per unit of a distance, by its median to the nearest class of a few originals."""
    if distance.surprise:
        return 1.0
    everyone = np.arange(len(distance.space.records))
    return steepness(distance, typical(distance, everyone[:: -(-len(everyone) // PROBES)]))


def typical(distance: Distance, probes: IntArray) -> float:
    """Return the median distance to the nearest class among some originals, where it is not 0."""
    closest = np.concatenate([distance.rows(block).min(axis=1) for block in distance.blocks(probes)])
    return float(np.median(closest[closest > 0])) if (closest > 0).any() else 1.0


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
