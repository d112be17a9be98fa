"""Learning with a proof: what no weights of a family can exceed."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from anonymizer.attacks.learning.climb import Climb
from anonymizer.attacks.learning.cuts import Cuts, Separation, widest
from anonymizer.attacks.learning.fast import Fast, probed
from anonymizer.attacks.learning.learner import Fit, Learner
from anonymizer.attacks.learning.pairs import Pairs
from anonymizer.attacks.learning.programme import Programme, Solved
from anonymizer.attacks.learning.rows import Chosen
from anonymizer.model.arrays import BoolArray, FloatArray

SEARCHES = 100
"""Line searches around each solution of the programme."""
NEAR = 3
"""Masked records that each distance and each solution adds for each original."""
ROUNDS = 20
"""At most so often conditions are added that the relaxed programme breaks."""
NEAREST = -2.0
"""In place of K_i: asks for a condition of every original, broken or not."""
MOMENT = 0.01
"""Less time than this is none, in seconds."""


class Exact(Learner):
    """Begins with what ``Fast`` finds, then asks a mixed-integer programme for fewer wrong links.

    The programme has the conditions found so far and takes ties for right links until they are excluded. So
    where it has no solution with fewer wrong links, no weights have, and each of its bounds holds for all
    weights. Conditions are first found where its relaxation breaks them. A solution is counted anew on all
    pairs without ties, improved by line searches, and the conditions that it breaks are added; where it lives
    on ties alone, so is that the originals in question cannot all be linked rightly (the combinatorial cuts
    of Codato and Fischetti, Operations Research 54, 2006). It ends with the proof, when a solution breaks
    nothing that can be added, or when the time is over.

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
        if fit.proven:
            return fit
        return _Proof(pairs, random, time.monotonic() + self._seconds).of(fit)


class _Proof:
    """One run of the programme."""

    def __init__(self, pairs: Pairs, random: np.random.Generator, ends: float) -> None:
        self._pairs, self._random, self._ends = pairs, random, ends
        self._hopeless: BoolArray = pairs.hopeless()
        self._open = int((~self._hopeless).sum())
        self._chosen: Chosen = probed(pairs, random, NEAR)
        self._programme = Programme(pairs.family, pairs.records)
        size = len(pairs.family.members)
        self._cone = np.empty((0, size))
        self._cuts = Cuts(np.empty(0, dtype=np.int64), np.empty((0, size)))

    @property
    def _left(self) -> float:
        return self._ends - time.monotonic()

    def of(self, fit: Fit) -> Fit:
        """Return the fit with a proof, or with better weights, or with the bound that time allows."""
        self._begin(fit.weights)
        while not fit.proven and self._left > MOMENT:
            solved = self._programme.fewer(self._open - fit.right, self._left)
            fit = replace(fit, bound=min(fit.bound, self._open - int(solved.bound)))
            if solved.weights is None:
                break
            better = self._learn_from(solved, fit)
            if better is None:
                break
            fit = better
        return fit

    def _begin(self, best: FloatArray) -> None:
        """Add conditions around the best weights, then what the relaxed programme breaks."""
        self._chosen.add_nearest(best[None], NEAR)
        everyone = np.full(self._pairs.records, NEAREST)
        for weights in (self._pairs.family.equal(), best):
            self._add_broken(weights, everyone)
        for _ in range(ROUNDS):
            if self._left < MOMENT:
                break
            solved = self._programme.relaxed(self._left)
            if solved.weights is None or not self._add_broken(solved.weights, solved.wrong):
                break

    def _learn_from(self, solved: Solved, fit: Fit) -> Fit | None:
        """Add what a solution breaks; return the best fit known, None where nothing is broken or better."""
        assert solved.weights is not None, "without weights there is nothing to learn"
        family, wrong = self._pairs.family, np.rint(solved.wrong)
        cone = family.cuts(solved.weights)
        self._programme.restrict(cone)
        self._cone = np.concatenate([self._cone, cone])
        right = wrong[self._cuts.record] == 0
        centre = widest(Cuts(self._cuts.record[right], self._cuts.rows[right]), family, self._cone)
        excluded = centre is not None and len(centre.contradiction) > 0
        if centre is not None and excluded:
            self._programme.exclude(centre.contradiction)
        weights = solved.weights if centre is None else centre.weights
        self._chosen.add_nearest(family.allowed(weights)[None], NEAR)
        better = self._improved(fit, family.allowed(weights))
        added = self._add_broken(weights, wrong)
        return better if added or excluded or len(cone) or better is not fit else None

    def _add_broken(self, weights: FloatArray, wrong: FloatArray) -> int:
        """Add the conditions that weights break most; return how many."""
        cuts = Separation(self._chosen.rows(), self._pairs.family, self._hopeless).broken(weights, wrong)
        self._programme.add(cuts)
        self._cuts = self._cuts + cuts
        return len(cuts.record)

    def _improved(self, fit: Fit, weights: FloatArray) -> Fit:
        """Return the fit with better weights if some are found around others."""
        climb = Climb(self._chosen.rows(), self._pairs.family, self._random)
        climb.consider(fit.weights)
        climb.consider(weights)
        climb.run(SEARCHES)
        right = int(self._pairs.right(climb.best).sum())
        return replace(fit, weights=climb.best, right=right) if right > fit.right else fit
