"""The vectors of levels at which local recoding looks for classes, from the least loss to the most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.counting import group_keys
from anonymizer.search.local_recoding.ground import LocalProblem
from anonymizer.search.local_recoding.trees import NONE

VECTORS = 1 << 15
"""Most vectors that are looked at; of a larger lattice, random ways from its bottom to its top."""

NARROWED = 0.7
"""Codes are copied for the atoms that are left when these are fewer than this share."""


@dataclass(frozen=True, eq=False)
class LevelLattice:
    """The levels of each attribute that differ, and vectors of them.

    Attributes
    ----------
    codes: rank of each atom's node at each level, attribute after attribute, shape (all levels, atoms),
        int64; multiplied so that the sum over one level of each attribute tells all vectors of nodes apart,
        if ``space`` is not None.
    first: row of ``codes`` of each attribute's lowest level, shape (quasi-identifiers,), int64.
    sizes: number of nodes of each attribute at its lowest level.
    space: number of possible sums; None where they would not fit 63 bits.
    means: per attribute, mean cost over all records at each level, shape (levels,), float64.
    vectors: shape (vectors, quasi-identifiers), int64.
    level_of: lowest of these levels at which each allowed node stands, shape (allowed nodes,), int64.
    """

    codes: IntArray
    first: IntArray
    sizes: tuple[int, ...]
    space: int | None
    means: list[FloatArray]
    vectors: IntArray
    level_of: IntArray

    def losses(self, vectors: IntArray, factors: FloatArray) -> FloatArray:
        """Return the loss of some vectors with the costs of each attribute multiplied, shape (vectors,)."""
        total = np.zeros(len(vectors))
        for position, own in enumerate(self.means):
            total += own[vectors[:, position]] * factors[position]
        return total

    @property
    def top(self) -> IntArray:
        """The vector of the highest levels, shape (quasi-identifiers,), int64."""
        return np.array([len(own) - 1 for own in self.means], dtype=np.int64)

    def keying(self, atoms: IntArray) -> Keying:
        """Return what tells some atoms apart at any vector, shape (chosen,)."""
        return Keying(self, self.codes[:, atoms], None)


class Keying:
    """Keys of some atoms, equal where their nodes at a vector of levels are.

    Parameters
    ----------
    codes: of the lattice for at least these atoms, shape (all levels, more atoms), int64.
    chosen: positions of the atoms in ``codes``, None for all.
    """

    def __init__(self, lattice: LevelLattice, codes: IntArray, chosen: IntArray | None) -> None:
        self._lattice = lattice
        self._codes = codes
        self._chosen = chosen

    def narrowed(self, staying: IntArray) -> Keying:
        """Return the keys of some of the atoms, given their positions among these."""
        chosen = staying if self._chosen is None else self._chosen[staying]
        if len(chosen) > NARROWED * self._codes.shape[1]:
            return Keying(self._lattice, self._codes, chosen)
        return Keying(self._lattice, self._codes[:, chosen], None)

    def keys(self, vector: IntArray) -> tuple[IntArray, int]:
        """Return the keys at a vector, shape (atoms,), int64, and how many there may be."""
        rows = self._lattice.first + vector
        if self._lattice.space is not None:
            # Row after row: the sum stays in the processor's cache, which the chosen rows together leave.
            keys: IntArray = self._codes[rows[0]].copy()
            for row in rows[1:].tolist():
                keys += self._codes[row]
            return keys if self._chosen is None else keys[self._chosen], self._lattice.space
        codes = self._codes if self._chosen is None else self._codes[:, self._chosen]
        keys, space = np.zeros(codes.shape[1], dtype=np.int64), 1
        for row, size in zip(rows.tolist(), self._lattice.sizes, strict=True):
            if space * size >= 2**62:
                keys, distinct = group_keys(keys, space)
                space = len(distinct)
            keys = keys * size + codes[row]
            space *= size
        return keys, space


def level_lattice(ground: LocalProblem) -> LevelLattice:
    """Return the levels of the allowed trees that differ from the one below."""
    codes, sizes, means = [], [], []
    level_of = np.zeros(len(ground.trees.node), dtype=np.int64)
    weights = ground.atoms.counts / ground.records
    for position in range(ground.trees.attributes):
        chains = _levels(ground, position)
        for level in range(len(chains))[::-1]:
            level_of[chains[level]] = level
        ranks = [group_keys(own.astype(np.int64), len(ground.trees.node)) for own in chains]
        codes.append(np.stack([group for group, _ in ranks]))
        sizes.append(len(ranks[0][1]))
        means.append(np.array([float(ground.trees.cost[own] @ weights) for own in chains]))
    heights = [len(own) for own in means]
    space: int | None = prod(sizes)
    if prod(sizes) < 2**62:
        radix = 1
        for position, size in enumerate(sizes):
            codes[position] *= radix
            radix *= size
    else:
        space = None
    first = np.cumsum(heights, dtype=np.int64) - np.array(heights, dtype=np.int64)
    return LevelLattice(np.concatenate(codes), first, tuple(sizes), space, means, _vectors(heights), level_of)


def _levels(ground: LocalProblem, position: int) -> list[CodeArray]:
    """Return the allowed node of each atom at each level, levels at which none changes left out."""
    attribute = ground.problem.table.quasi_identifiers[position]
    trees = ground.trees
    levels = [ground.atoms.nodes[:, position]]
    for level in range(attribute.minimum + 1, attribute.maximum + 1):
        above = trees.parent[levels[-1]]
        own = trees.node[np.where(above == NONE, levels[-1], above)]
        climbs = (above != NONE) & (attribute.hierarchy.level[own] <= level)
        if climbs.any():
            levels.append(np.where(climbs, above, levels[-1]).astype(np.int32))
    return levels


def _vectors(heights: Sequence[int]) -> IntArray:
    """Return all vectors of levels, or some, the bottom and the top among them."""
    if np.prod(np.array(heights, dtype=float)) <= VECTORS:
        return np.indices(heights).reshape(len(heights), -1).T.astype(np.int64)
    random = np.random.default_rng(0)
    rises = np.repeat(np.arange(len(heights)), np.array(heights) - 1)
    ways = []
    for _ in range(max(VECTORS // (len(rises) + 1), 1)):
        way = np.zeros((len(rises) + 1, len(heights)), dtype=np.int64)
        way[np.arange(1, len(rises) + 1), random.permutation(rises)] = 1
        ways.append(np.cumsum(way, axis=0))
    return np.unique(np.concatenate(ways), axis=0)
