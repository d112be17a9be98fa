"""Exact line search: the step along a direction at which most records are linked rightly."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.learning.pairs import TIE
from anonymizer.attacks.learning.rows import Rows
from anonymizer.model.arrays import FloatArray

NARROW = 1e-9
"""Steps that differ by less than this are not told apart."""


def best_step(
    rows: Rows, margins: FloatArray, slopes: FloatArray, reach: tuple[float, float]
) -> tuple[float, int]:
    """Return the step and how many originals are right there.

    A margin grows linearly with the step, so that each original is right on an open interval; the middle of
    the widest stretch where most of these overlap is the step. With none, the step is 0.

    Parameters
    ----------
    margins: of the rows where the search begins, shape (rows,), float64.
    slopes: what a step of 1 adds to each, shape (rows,), float64.
    reach: the steps between which weights are allowed.
    """
    low, high = reach
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = (TIE - margins) / slopes
    rising, falling = slopes > 0, slopes < 0
    never = ~rising & ~falling & (margins <= TIE)
    begins = np.where(rising, roots, np.where(never, np.inf, -np.inf))
    ends = np.where(falling, roots, np.inf)
    lower = np.maximum(np.maximum.reduceat(begins, rows.starts), low)
    upper = np.minimum(np.minimum.reduceat(ends, rows.starts), high)
    right = upper - lower > NARROW
    if not right.any():
        return 0.0, 0
    lower, upper = np.sort(lower[right]), np.sort(upper[right])
    points = np.unique(np.concatenate([lower, upper]))
    counts = np.searchsorted(lower, points[:-1], "right") - np.searchsorted(upper, points[:-1], "right")
    widths = np.diff(points)
    counts = np.where(widths > NARROW, counts, 0)
    most = int(counts.max(initial=0))
    if most == 0:
        return 0.0, 0
    best = int(np.argmax(np.where(counts == most, widths, -1.0)))
    return float(points[best] + points[best + 1]) / 2, most
