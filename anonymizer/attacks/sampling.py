"""Drawing targets, and the interval of a share that was estimated on them."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import IntArray

CONFIDENCE = 0.95


def clopper_pearson(successes: float, targets: int) -> tuple[float, float]:
    """Return the ends of the 95 % interval of Clopper and Pearson for a share.

    It holds its level for rare successes too, where Wilson's does not. Successes may be fractions: a tie that
    is resolved at random scatters more than its expected value, so the interval is wide enough for that one.

    Source: Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial" (Biometrika 26, 1934, doi:10.1093/biomet/26.4.404).
    """
    from scipy.special import betaincinv  # noqa: PLC0415  quick start-up

    tail, failures = (1 - CONFIDENCE) / 2, max(targets - successes, 0.0)
    low = float(betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures > 0 else 1.0
    return low, high


def draw_sample(counts: IntArray, number: int, random: np.random.Generator) -> IntArray:
    """Draw records without replacement; return how many of each kind, shape as ``counts``, int64.

    Parameters
    ----------
    counts: records of each kind.
    number: to be drawn; all of them when there are no more.
    """
    if number >= int(counts.sum()):
        return counts
    return random.multivariate_hypergeometric(counts, number, method="marginals")
