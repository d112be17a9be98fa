"""Boosted decision trees on binned features, for attackers that learn.

The trees are of equal depth and grown level by level, each split the best over histograms. What is boosted is
up to the attacker, who gives the slope and the curvature of the loss at each row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray

BINS = 32
"""Maximum number of values of a feature that the trees tell apart."""

PROBES = 20_000
"""Rows from which the limits of the bins are found."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The limits between the bins of each feature, ascending."""

    limits: tuple[FloatArray, ...]

    @classmethod
    def of(cls, features: FloatArray) -> Bins:
        """Return bins of about equally many rows; equal values are in one bin.

        Parameters
        ----------
        features: shape (rows, features).
        """
        some = features[:: -(-len(features) // PROBES)]
        shares = np.arange(1, BINS) / BINS
        return cls(tuple(np.unique(limits) for limits in np.quantile(some, shares, axis=0).T))

    def codes(self, features: FloatArray) -> IntArray:
        """Return the bin of each value, shape (features, rows), int64."""
        found = [np.searchsorted(own, values) for own, values in zip(self.limits, features.T, strict=True)]
        return np.stack(found).astype(np.int64)


@dataclass(frozen=True)
class Growth:
    """How trees are grown.

    Attributes
    ----------
    depth: splits from the root to a leaf.
    rate: share of a tree's estimate that is added.
    damping: curvature that is added to that of each leaf.
    least: minimum curvature of a leaf.
    share: of the features that a tree sees.
    """

    depth: int = 3
    rate: float = 0.1
    damping: float = 5.0
    least: float = 0.1
    share: float = 0.4


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of equal depth.

    Attributes
    ----------
    features, limits: of the split of each inner node, level by level from the left, shape (2^depth - 1,),
        int64: a row whose bin is above the limit goes to the right.
    leaves: what each leaf adds, shape (2^depth,), float64.
    """

    features: IntArray
    limits: IntArray
    leaves: FloatArray

    def leaf_of(self, codes: IntArray) -> IntArray:
        """Return the leaf of each row, shape (rows,), int64.

        Parameters
        ----------
        codes: bins, shape (features, rows).
        """
        rows, node = np.arange(codes.shape[1]), np.zeros(codes.shape[1], dtype=np.int64)
        while len(node) and int(node[0]) < len(self.features):
            right = codes[self.features[node], rows] > self.limits[node]
            node = 2 * node + 1 + right
        return node - len(self.features)

    def __call__(self, codes: IntArray) -> FloatArray:
        """Return what the tree adds to each row, shape (rows,), float64."""
        return np.take(self.leaves, self.leaf_of(codes))


def grow(
    codes: IntArray, slope: FloatArray, curvature: FloatArray, growth: Growth, random: np.random.Generator
) -> tuple[Tree, FloatArray]:
    """Return a tree that lowers a loss most to second order, and what it adds to each row.

    Parameters
    ----------
    codes: bins, shape (features, rows).
    slope: how much the loss falls per unit that is added to a row, shape (rows,).
    curvature: how fast this falls, shape (rows,), at least 0.
    random: draws the features that the tree sees.

    Source: Chen, Guestrin, "XGBoost: a scalable tree boosting system" (KDD 2016,
    doi:10.1145/2939672.2939785), for gains and leaves.
    """
    number = max(round(growth.share * len(codes)), 1)
    seen = np.sort(random.choice(len(codes), number, replace=False))
    features, limits = [], []
    node = np.zeros(codes.shape[1], dtype=np.int64)
    rows = np.arange(codes.shape[1])
    for level in range(growth.depth):
        feature, limit = _best_splits(codes, seen, node, 1 << level, (slope, curvature), growth)
        features.append(feature)
        limits.append(limit)
        node = 2 * node + (codes[feature[node], rows] > limit[node])
    leaves = _estimates(node, 1 << growth.depth, slope, curvature, growth)
    return Tree(np.concatenate(features), np.concatenate(limits), leaves), leaves[node]


def _best_splits(
    codes: IntArray,
    seen: IntArray,
    node: IntArray,
    nodes: int,
    loss: tuple[FloatArray, FloatArray],
    growth: Growth,
) -> tuple[IntArray, IntArray]:
    """Return the feature and the limit of the best split of each node, shape (nodes,) each."""
    sums = np.empty((2, len(seen), nodes, BINS))
    first = node * BINS
    for place, feature in enumerate(seen.tolist()):
        cells = first + codes[feature]
        for own, values in zip(sums[:, place], loss, strict=True):
            own[:] = np.bincount(cells, weights=values, minlength=nodes * BINS).reshape(nodes, BINS)
    left = sums.cumsum(axis=3)
    right = left[..., -1:] - left
    (slope_left, curved_left), (slope_right, curved_right) = left, right
    gain = slope_left**2 / (curved_left + growth.damping) + slope_right**2 / (curved_right + growth.damping)
    gain[(curved_left < growth.least) | (curved_right < growth.least)] = -1.0
    best = gain.transpose(1, 0, 2).reshape(nodes, -1).argmax(axis=1)
    # Without an allowed split all rows go to the left.
    hopeless = gain.max(axis=(0, 2)) < 0
    return seen[best // BINS], np.where(hopeless, BINS, best % BINS)


def _estimates(
    leaf: IntArray, leaves: int, slope: FloatArray, curvature: FloatArray, growth: Growth
) -> FloatArray:
    """Return what each leaf adds: a damped Newton step, shape (leaves,)."""
    sums, curved = (np.bincount(leaf, weights=own, minlength=leaves) for own in (slope, curvature))
    found: FloatArray = growth.rate * sums / (curved + growth.damping)
    return found
