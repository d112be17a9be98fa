"""Coordinates so scaled that squared distances are exact."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import FloatArray

LARGEST_SQUARE = 2.0**50
"""Bound on squared distances: sums of a few of them are still exact in float64."""

LARGEST_SUM = 2.0**52
"""Bound on sums of one coordinate over all records."""


def whole_numbers(axes: FloatArray, records: int) -> FloatArray:
    """Scale coordinates by a power of two to whole numbers that are as large as stays exact.

    Parameters
    ----------
    axes: coordinates around 0, shape (points, dimensions).
    records: whose coordinates may be added up.

    Returns
    -------
    Shape (points, dimensions), float64.
    """
    spans = axes.max(axis=0) - axes.min(axis=0)
    square = float(spans @ spans)
    if square == 0:
        return np.zeros_like(axes)
    largest = min(np.sqrt(LARGEST_SQUARE / square), LARGEST_SUM / (records * float(spans.max())))
    # A quarter less: rounding adds up to one to every span.
    scaled: FloatArray = np.rint(axes * 2.0 ** np.floor(np.log2(0.75 * largest)))
    return scaled
