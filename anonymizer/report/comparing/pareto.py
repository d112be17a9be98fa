"""Which runs no other beats."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray

DIGITS = 12
"""Numbers that agree in so many decimal places are the same: further ones are rounding."""


def pareto_optimal(loss: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return the points that no other beats, shape as each argument.

    One point beats another when it surely is at least as good in both, and surely better in one: its loss is
    not larger and its whole interval of risk does not lie above any point of the other's. Where intervals
    overlap, neither is surely safer, and neither can beat the other. Equal points do not beat each other.
    With intervals of no width this is the Pareto order; with others it is still transitive, so that whatever
    is beaten is beaten by a point that is not.

    Parameters
    ----------
    loss: exact, shape (points,).
    low, high: ends of the interval of the risk, shape (points,).
    """
    loss, low, high = (np.round(each, DIGITS) for each in (loss, low, high))
    no_worse = (loss[:, None] <= loss) & (high[:, None] <= low)
    better = (loss[:, None] < loss) | (high[:, None] < low)
    return np.asarray(~(no_worse & better).any(axis=0))


def unbeaten_by_any_risk(error: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return the points that no other beats by an error and by every one of several risks.

    One point beats another as above, where it surely is no riskier by any of the risks. Without a risk that
    all have, nothing is known to be as safe as another, and no point is beaten.

    Parameters
    ----------
    error: exact, shape (points,).
    low, high: ends of the intervals of the risks, shape (points, risks).
    """
    if not low.shape[1]:
        return np.ones(len(error), dtype=bool)
    error, low, high = (np.round(each, DIGITS) for each in (error, low, high))
    no_worse = (error[:, None] <= error) & (high[:, None] <= low).all(axis=2)
    better = (error[:, None] < error) | (high[:, None] < low).any(axis=2)
    return np.asarray(~(no_worse & better).any(axis=0))


def frontier(risk: FloatArray, loss: FloatArray) -> list[int]:
    """Return the points that no other beats by the bare numbers, by increasing risk, one of equal ones."""
    order = np.lexsort((loss, risk))
    steps: list[int] = []
    for point in order:
        if not steps or loss[point] < loss[steps[-1]]:
            steps.append(int(point))
    return steps
