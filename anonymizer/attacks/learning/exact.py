"""Learning with a proof: what no weights of a family can exceed."""

from __future__ import annotations

import time

import numpy as np

from anonymizer.attacks.learning.climb import Climb
from anonymizer.attacks.learning.fast import Fast, probed
from anonymizer.attacks.learning.learner import Fit, Learner
from anonymizer.attacks.learning.pairs import Pairs
from anonymizer.attacks.learning.programme import fewest_wrong
from anonymizer.core.arrays import FloatArray

SEARCHES = 100
"""Line searches around each solution of the programme."""
FIRST = 1
"""Masked records that each distance adds to the first rows for each original; three take twice the time."""
NEAR = 2
"""Masked records that each solution adds for each original."""
MOMENT = 0.01
"""Less time than this is none, in seconds."""


class Exact(Learner):
    """Begins with what ``Fast`` finds, then solves mixed-integer programmes, adding rows that are broken.

    Every programme is a relaxation: it has some of the rows only, and takes ties for right links. So each
    bound holds for all weights of the family. Solutions are counted anew on all pairs without ties, and the
    weights are improved by line searches first. It ends when the count meets the bound, when a solution
    breaks no row that is missing, or when the time is over.

    Source: Torra, Navarro-Arribas and Abril, Supervised learning for record linkage through weighted means
    and OWA operators (Control and Cybernetics 39, 2010).

    Parameters
    ----------
    seconds: for the programmes at most; what is found depends on the machine only where they run out.
    fast: finds the first weights.
    """

    def __init__(self, seconds: float = 60.0, fast: Fast | None = None) -> None:
        self._seconds = seconds
        self._fast = fast or Fast()

    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found and the proven bound."""
        fit = self._fast.fit(pairs, random)
        hopeless = pairs.hopeless()
        ends = time.monotonic() + self._seconds
        chosen, cuts = probed(pairs, random, FIRST), np.empty((0, len(pairs.family.members)))
        while not fit.proven and (left := ends - time.monotonic()) > MOMENT:
            rows = chosen.rows()
            solved = fewest_wrong(rows, pairs.family, cuts, hopeless, fit.weights, left)
            fit = Fit(fit.weights, fit.right, min(fit.bound, int((~hopeless).sum()) - solved.wrong))
            if solved.weights is None:
                break
            before, known = int(chosen.mask.sum()), len(cuts)
            cuts = np.concatenate([cuts, pairs.family.cuts(solved.weights)])
            own = pairs.family.allowed(solved.weights)
            chosen.add_nearest(own[None], NEAR)
            fit = self._improved(pairs, fit, own, random)
            if int(chosen.mask.sum()) == before and len(cuts) == known:
                break
        return fit

    def _improved(self, pairs: Pairs, fit: Fit, weights: FloatArray, random: np.random.Generator) -> Fit:
        """Return the fit with better weights if some are found around others."""
        chosen = probed(pairs, random, NEAR)
        chosen.add_nearest(np.stack([weights, fit.weights]), NEAR)
        climb = Climb(chosen.rows(), pairs.family, random)
        climb.consider(weights)
        climb.run(SEARCHES)
        right = int(pairs.right(climb.best).sum())
        return Fit(climb.best, right, fit.bound) if right > fit.right else fit
