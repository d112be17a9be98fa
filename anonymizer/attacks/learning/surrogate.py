"""Smooth stand-ins for the number of right links, minimised by scipy."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.rows import Rows
from anonymizer.model.arrays import FloatArray

STEPS = 60
"""Iterations of the minimiser for each start."""
STEEP = 60.0
"""Largest exponent: beyond it, exp would add nothing to what a record loses."""


class Softmax:
    """The probability of the true record, when that of any masked record falls exponentially with distance.

    Parameters
    ----------
    rows: the gaps.
    family: their family; weights that its cone keeps from being negative by themselves stay so.
    """

    def __init__(self, rows: Rows, family: Family) -> None:
        self._rows, self._family = rows, family
        single = (np.count_nonzero(family.cone, axis=1) == 1) & (family.cone.max(axis=1, initial=0.0) > 0)
        held = np.unique(np.nonzero(family.cone[single])[1])
        self._bounds: list[tuple[float | None, None]] = [(None, None)] * len(family.members)
        for position in held:
            self._bounds[position] = (0.0, None)

    def _others(self, scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the odds of each row against the true record, and of all rows of each original together."""
        odds = np.exp(np.clip(-(self._rows.gaps @ scaled), -STEEP, STEEP))
        return odds, np.add.reduceat(odds, self._rows.starts)

    def _spread(self, of_records: FloatArray) -> FloatArray:
        return of_records[self._rows.record]

    def _log_loss(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        odds, sums = self._others(scaled)
        slope = -(odds / self._spread(1 + sums)) @ self._rows.gaps
        return float(np.log1p(sums).sum()), slope

    def _wrong(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        odds, sums = self._others(scaled)
        slope = -(odds / self._spread((1 + sums) ** 2)) @ self._rows.gaps
        return float((sums / (1 + sums)).sum()), slope

    def log_likelihood(self, start: FloatArray) -> FloatArray:
        """Return weights, not scaled, of the most likely right links: a convex problem."""
        return self._minimise(self._log_loss, start)

    def expected_wrong(self, start: FloatArray) -> FloatArray:
        """Return weights, not scaled, of the fewest expected wrong links near a start."""
        return self._minimise(self._wrong, start)

    def _minimise(self, function: object, start: FloatArray) -> FloatArray:
        # Takes longer to import than most commands take.
        from scipy.optimize import minimize  # noqa: PLC0415

        found = minimize(
            function, start, jac=True, method="L-BFGS-B", bounds=self._bounds, options={"maxiter": STEPS}
        )
        weights: FloatArray = np.asarray(found.x, dtype=np.float64)
        return weights
