"""The exact posterior of a small table, over all assignments of values to records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import scipy

from anonymizer.attacks.definetti.groups import Groups
from anonymizer.attacks.definetti.model import Feature, Similar
from anonymizer.attacks.definetti.sampling import Posterior
from anonymizer.model.arrays import FloatArray, IntArray

ROUNDING = 1e-9
"""Largest difference between exact probabilities that are equal, and summed in floating point."""

WORLDS = 1 << 14
"""Maximum number of assignments that are gone through instead of sampled."""

WORLD_CELLS = 1 << 22
"""Maximum number of counts of features and sensitive values in all of these together."""


def every_world(groups: Groups, features: Sequence[Feature], prior: float) -> Posterior | None:
    """Return the exact posterior, parameters integrated out; None if there are too many worlds.

    A world says how many records of each kind have each value. Its weight is the number of assignments of
    values to records that agree with it, times the Dirichlet-multinomial probability of the features.

    Parameters
    ----------
    features: without latent labels, else None is returned.
    """
    unsure = np.flatnonzero(groups.open)
    if not len(unsure):
        return Posterior(groups.shares, groups.shares[None, :], None)
    if any(isinstance(feature, Similar) for feature in features):
        return None
    options = []
    worlds, rows = 1, sum(feature.values for feature in features)
    for group in unsure.tolist():
        kinds = groups.counts[groups.group == group]
        values = groups.value_counts[groups.starts[group] : groups.starts[group + 1]]
        tables = _dealt(tuple(kinds.tolist()), tuple(values.tolist()), WORLDS // worlds)
        worlds *= max(len(tables), 1)
        if not tables or worlds * rows * groups.size > WORLD_CELLS:
            return None
        options.append(np.array(tables, dtype=np.int64).reshape(len(tables), -1))
    choice = np.array(np.unravel_index(np.arange(worlds), [len(own) for own in options])).reshape(-1, worlds)
    sure = np.rint(groups.shares * groups.counts[groups.kind]).astype(np.int64)
    dealt = np.tile(np.where(groups.open[groups.group[groups.kind]], 0, sure), (worlds, 1))
    for group, own, chosen in zip(unsure.tolist(), options, choice, strict=True):
        dealt[:, groups.group[groups.kind] == group] = own[chosen]
    weights = _log_probability(groups, features, prior, dealt)
    weights = np.exp(weights - weights.max())
    chances = weights @ dealt / weights.sum() / groups.counts[groups.kind]
    # Equal probabilities are sums of different terms, whose rounding must not break the tie.
    most = np.maximum.reduceat(chances, groups.first[:-1])[groups.kind]
    chances = np.where(chances >= most - ROUNDING, most, chances)
    return Posterior(chances, chances[None, :], None)


def _dealt(kinds: tuple[int, ...], values: tuple[int, ...], most: int) -> list[tuple[int, ...]]:
    """Return all tables with these row and column sums, flat; empty if there are more than ``most``."""
    if len(kinds) == 1:
        return [values] if most > 0 else []
    found: list[tuple[int, ...]] = []
    ranges = [range(min(kinds[0], own) + 1) for own in values]
    if math.prod(map(len, ranges)) > 64 * WORLDS:
        return []
    for first in product(*ranges):
        if sum(first) == kinds[0]:
            left = tuple(own - taken for own, taken in zip(values, first, strict=True))
            rest = _dealt(kinds[1:], left, most - len(found))
            if not rest:
                return []
            found += [first + own for own in rest]
    return found


def _log_probability(
    groups: Groups, features: Sequence[Feature], prior: float, dealt: IntArray
) -> FloatArray:
    """Return the log-probability of each world up to a constant, shape (worlds,).

    Parameters
    ----------
    dealt: records of each entry in each world, shape (worlds, entries), int64.
    """
    found: FloatArray = -scipy.special.gammaln(dealt + 1).sum(axis=1)
    codes = groups.codes[groups.kind]
    for position, feature in enumerate(features):
        known = np.flatnonzero(codes[:, position] >= 0)
        cell = codes[known, position] * groups.size + groups.entry_values[known]
        used, place = np.unique(cell, return_inverse=True)
        counts = np.zeros((len(used), len(dealt)), dtype=np.int64)
        np.add.at(counts, place, dealt.T[known])
        having = np.zeros((groups.size, len(dealt)), dtype=np.int64)
        np.add.at(having, used % groups.size, counts)
        found += (scipy.special.gammaln(counts + prior) - scipy.special.gammaln(prior)).sum(axis=0)
        found -= scipy.special.gammaln(having + feature.values * prior).sum(axis=0)
    return found
