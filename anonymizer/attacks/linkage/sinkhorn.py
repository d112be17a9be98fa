"""One-to-one linkage in expectation: the chance of each link over all assignments, by Sinkhorn's scaling.

An assignment of the least sum is the likeliest one, which may be hardly likelier than thousands of others.
Here each link has a chance that its likelihood and those of all others allow, while each held record has one
link and each released record at most one. A target is linked to the record of its largest chance.
"""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.linkage.assignment import Pool, TogetherLinking, matched
from anonymizer.attacks.linkage.distances import ComparisonSpace, Distance, Linked
from anonymizer.model.arrays import FloatArray

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
    return matched(distance, random, [_links])[0]


def assigned_and_expected(distance: Distance, random: np.random.Generator) -> list[Linked]:
    """Return the links of the assignments of the least sum, and those with the largest chances."""
    return matched(distance, random, [lambda pool: pool.expected(random), _links])


def _links(pool: Pool) -> FloatArray:
    """Return the chances of the true links of a pool, three times the same, shape (3, links)."""
    chances = pool.chances
    best = chances >= chances.max(axis=1, keepdims=True, initial=0.0) * (1 - TIED)
    own, given = pool.ends
    right = best[own, given] / np.maximum(best @ pool.sizes, 1)[own]
    return np.tile(right, (3, 1))
