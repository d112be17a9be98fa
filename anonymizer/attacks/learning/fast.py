"""Learning by a surrogate and exact line searches: a second or two for hundreds of records."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.learning.climb import Climb
from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.learner import Fit, Learner
from anonymizer.attacks.learning.pairs import Pairs
from anonymizer.attacks.learning.rows import Chosen, Rows
from anonymizer.attacks.learning.surrogate import Softmax
from anonymizer.attacks.learning.weighted_mean import WeightedMean
from anonymizer.model.arrays import FloatArray

PROBES = 12
"""Corners and random distances each, whose nearest masked records make the first rows."""
NEAR = 3
"""Masked records that each of these adds for each original."""
ROUNDS = 4
"""At most so often rows are added that the weights of the last round got wrong."""
SHARPNESS = (3.0, 30.0)
"""How fast the chance falls with distance where the surrogates start."""


class Fast(Learner):
    """Starts from the best of several distances, Euclid among them, and climbs by exact line searches.

    For a family that extends weighted means, the best weighted mean is found first and is one of the starts,
    so that no family ends below it, and none below Euclid. Deterministic for a seed: it counts its searches
    and never looks at the clock.

    Parameters
    ----------
    searches: line searches in each round.
    """

    def __init__(self, searches: int = 1000) -> None:
        self._searches = searches

    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found; the bound is what is not hopeless."""
        starts = [pairs.family.equal()]
        if pairs.family.extends:
            simple = Pairs(pairs.original, pairs.masked, WeightedMean(pairs.family.attributes))
            starts.append(pairs.family.with_weighted_mean(self.fit(simple, random).weights))
        bound = pairs.records - int(pairs.hopeless().sum())
        counts = [int(pairs.right(weights).sum()) for weights in starts]
        best = int(np.argmax(counts))
        weights, right = starts[best], counts[best]
        if right >= bound:
            return Fit(weights, right, bound)
        chosen = probed(pairs, random, NEAR)
        for _ in range(ROUNDS):
            rows = chosen.rows()
            found, promised = self._climbed(rows, pairs.family, [*starts, weights], random)
            count = int(pairs.right(found).sum())
            if count > right:
                weights, right = found, count
            if count >= promised or right >= bound:
                break
            chosen.add_nearest(found[None], NEAR)
        return Fit(weights, right, bound)

    def _climbed(
        self, rows: Rows, family: Family, starts: list[FloatArray], random: np.random.Generator
    ) -> tuple[FloatArray, int]:
        """Return the best weights on some rows and how many originals they link rightly there."""
        climb = Climb(rows, family, random)
        for weights in starts:
            climb.consider(weights)
        surrogate = Softmax(rows, family)
        for sharpness in SHARPNESS:
            likely = surrogate.log_likelihood(climb.best * sharpness)
            for scaled in (likely, surrogate.expected_wrong(likely)):
                if float(family.total @ scaled) > 0:
                    climb.towards(scaled / float(family.total @ scaled))
        climb.run(self._searches)
        return climb.best, climb.count


def probed(pairs: Pairs, random: np.random.Generator, near: int) -> Chosen:
    """Return the pairs that are near under Euclid, some corners and some random distances.

    Parameters
    ----------
    near: masked records that each of these distances adds for each original.
    """
    family = pairs.family
    corners = family.corners()
    some = corners[np.sort(random.permutation(len(corners))[:PROBES])]
    chosen = Chosen(pairs)
    chosen.add_nearest(np.concatenate([family.equal()[None], some, family.samples(PROBES, random)]), near)
    return chosen
