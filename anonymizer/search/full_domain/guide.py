"""Which node of the lattice to evaluate next: the one whose answer is likely to settle most others.

Only the order of evaluation depends on what is guessed here; what is proven never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import LatticeLoss
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.full_domain.frontier import Frontier, Levels

SLICES = 4
"""Into how many classes of difficulty open nodes are sorted when coverage is estimated."""


class Surrogate:
    """Guesses how many records are lost at a node from the entropies of its attributes.

    The logarithm of the odds of being lost is close to linear in the entropies that the attributes have at
    their levels: ridge regression around slope 1, the value for independent attributes.
    """

    def __init__(self, entropies: Sequence[FloatArray], records: int, typical_size: int) -> None:
        self._entropies = entropies
        self._records = records
        prior = np.ones(len(entropies) + 1)
        prior[0] = -np.log(max(records, 2) / typical_size)
        self._prior = prior
        self._matrix = np.diag(np.array([0.05] + [4.0] * len(entropies)))
        self._moments = np.zeros(len(prior))
        self._rows: list[FloatArray] = []
        self._targets: list[float] = []
        self._weights = prior
        self.spread = 1.5

    def log_odds(self, lost: FloatArray | float) -> FloatArray:
        """Return the logarithm of the odds of being lost for a number of records."""
        odds: FloatArray = np.log((lost + 0.5) / (np.maximum(self._records - lost, 0) + 0.5))
        return odds

    def learn(self, levels: Levels, lost: int) -> None:
        """Take note of the records that were lost at a node."""
        row = np.array([1.0, *(own[level] for own, level in zip(self._entropies, levels, strict=True))])
        target = float(self.log_odds(lost))
        self._rows.append(row)
        self._targets.append(target)
        self._matrix += np.outer(row, row)
        self._moments += row * (target - row @ self._prior)
        self._weights = self._prior + np.linalg.solve(self._matrix, self._moments)
        residuals = np.array(self._targets[-200:]) - np.array(self._rows[-200:]) @ self._weights
        self.spread = max(0.3, float(np.sqrt(np.mean(residuals**2))))

    def guess(self, lowest: Levels, shape: tuple[int, ...]) -> FloatArray:
        """Return the guessed log odds of the nodes of a box, one axis per attribute."""
        parts = [
            weight * own[low : low + size]
            for weight, own, low, size in zip(self._weights[1:], self._entropies, lowest, shape, strict=True)
        ]
        parts[0] = parts[0] + self._weights[0]
        return reduce(np.add.outer, parts)


class Guide:
    """Chooses nodes: first those that promise a better release, then those that rule out most others.

    Parameters
    ----------
    limit: most records that may be suppressed.
    loss: to be minimised.
    typical_size: a class size that is likely to satisfy the constraints.
    shared: whether certain losses are all losses, so that one surrogate serves both.
    """

    def __init__(
        self, table: Table, limit: int, loss: LatticeLoss, typical_size: int, *, shared: bool
    ) -> None:
        entropies = [level_entropies(attribute) for attribute in table.quasi_identifiers]
        self._records = table.records
        self._limit = limit
        self._loss = loss
        self._lost = Surrogate(entropies, table.records, typical_size)
        self._certain = self._lost if shared else Surrogate(entropies, table.records, typical_size)

    def learn(self, levels: Levels, lost: int, certain: int) -> None:
        """Take note of the records suppressed at a node, and of those certain to be suppressed below it."""
        self._lost.learn(levels, lost)
        if self._certain is not self._lost:
            self._certain.learn(levels, certain)

    def choose(self, frontier: Frontier, best: float) -> Levels:
        """Return the node to evaluate next; the frontier has an open one."""
        shape = frontier.bounds.shape
        lost = self._lost.guess(frontier.lowest, shape)
        index = self._promising(frontier, lost, best)
        if index is None:
            shared = self._certain is self._lost
            certain = lost if shared else self._certain.guess(frontier.lowest, shape)
            index = self._covering(frontier, certain, best)
        return frontier.levels([int(i) for i in np.unravel_index(index, shape)])

    def _promising(self, frontier: Frontier, lost: FloatArray, best: float) -> int | None:
        """Return the open node with the lowest guessed objective, if that would be better than the best."""
        allowed = self._lost.log_odds(float(self._limit)) + 1e-9
        share = 1 / (1 + np.exp(-lost))
        guessed = np.maximum(self._loss.expected(frontier.floors, share), frontier.bounds)
        guessed = np.where((lost <= allowed) & frontier.open, guessed, np.inf)
        index = int(guessed.argmin())
        return index if guessed.flat[index] < best else None

    def _covering(self, frontier: Frontier, certain: FloatArray, best: float) -> int:
        """Return the node that is expected to rule out the most open nodes at or below it."""
        needed = self._needed(frontier, best)
        open_nodes = frontier.open
        values = needed[open_nodes]
        edges = np.unique(np.linspace(values.min(), values.max(), SLICES + 1)[1:])
        slices = np.searchsorted(edges, values)
        counts = np.zeros((len(edges), needed.size), dtype=np.float32)
        counts[np.minimum(slices, len(edges) - 1), np.flatnonzero(open_nodes)] = 1
        covered = _sums_below(counts, frontier.bounds.shape)
        shape = (-1,) + (1,) * certain.ndim
        chance = 1 / (1 + np.exp((edges.reshape(shape) - certain) / (self._certain.spread / 2)))
        score = (covered * chance).sum(axis=0)
        score[frontier.evaluated] = 0
        index = int(score.argmax())
        return index if score.flat[index] > 0 else int(frontier.bounds.argmin())

    def _needed(self, frontier: Frontier, best: float) -> FloatArray:
        """Return the log odds of losing as many records as would rule a node out."""
        most = float(self._limit + 1)
        if np.isinf(best):
            return np.full(frontier.bounds.shape, float(self._certain.log_odds(most)))
        shares = np.clip(self._loss.needed(frontier.floors, best), 0.0, 1.0)
        return self._certain.log_odds(np.clip(shares * self._records, 1e-9, most))


def level_entropies(attribute: QuasiIdentifier) -> FloatArray:
    """Return the entropy in nats of an attribute's published values at each level, shape (levels,)."""
    entropies = np.zeros(attribute.hierarchy.height + 1)
    for level in range(len(entropies)):
        shares = np.bincount(attribute.nodes(level), attribute.column.counts) / attribute.column.counts.sum()
        shares = shares[shares > 0]
        entropies[level] = -(shares @ np.log(shares))
    return entropies


def _sums_below(counts: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Add up the counts of all nodes at or below each node, in place.

    Parameters
    ----------
    counts: shape (slices, nodes).

    Returns
    -------
    Sums, shape (slices, *shape).
    """
    after = int(np.prod(shape))
    for size in shape:
        after //= size
        view = counts.reshape(-1, size, after)
        for i in range(1, size):
            view[:, i] += view[:, i - 1]
    return counts.reshape(-1, *shape)
