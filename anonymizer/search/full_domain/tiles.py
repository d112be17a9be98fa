"""A lattice too large for one array, cut into boxes that are opened in the order of their bounds."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

import numpy as np

from anonymizer.loss.base import LatticeLoss
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import Table
from anonymizer.search.full_domain.frontier import Frontier, Levels

LARGEST_BOX = 1 << 16
"""Nodes of a box; choosing among more takes longer than evaluating one."""


class Tiles:
    """The boxes of a lattice: the levels of some attributes are fixed in each, the others run free.

    Small lattices are one box. The boxes come lazily, lowest bound first, so that memory grows with the boxes
    opened, not with the lattice.

    Attributes
    ----------
    nodes: number of nodes of the lattice.
    bound: lowest bound of a box that was not opened yet, infinity when there is none.
    """

    def __init__(self, table: Table, loss: LatticeLoss) -> None:
        self._loss = loss
        self._floors = loss.floors
        self._lowest = tuple(attribute.minimum for attribute in table.quasi_identifiers)
        self._highest = tuple(attribute.maximum for attribute in table.quasi_identifiers)
        sizes = [high - low + 1 for low, high in zip(self._lowest, self._highest, strict=True)]
        self.nodes = int(np.prod([float(size) for size in sizes])) if sizes else 1
        self._outer = self._fixed(sizes)
        self.bound = -np.inf

    @staticmethod
    def _fixed(sizes: list[int]) -> list[int]:
        """Choose the attributes whose levels are fixed in a box: the longest axes, as few as needed."""
        order = sorted(range(len(sizes)), key=lambda position: (sizes[position], position))
        fixed: list[int] = []
        inner = float(np.prod([float(size) for size in sizes]))
        while inner > LARGEST_BOX:
            position = order.pop()
            fixed.append(position)
            inner /= sizes[position]
        return fixed

    def in_order(self, best: Callable[[], float]) -> Iterator[Frontier]:
        """Open the boxes, lowest bound first, until none can be better than the best found."""
        heap = [(self._floor(self._lowest), self._lowest)]
        while heap:
            floor, corner = heapq.heappop(heap)
            for successor in self._successors(corner):
                heapq.heappush(heap, (self._floor(successor), successor))
            self.bound = heap[0][0] if heap else np.inf
            if floor >= best():
                return
            yield self._box(corner)

    def _successors(self, corner: Levels) -> Iterator[Levels]:
        """Raise one fixed attribute by a level, never one before the last that is raised: each box once."""
        raised = [i for i, position in enumerate(self._outer) if corner[position] > self._lowest[position]]
        for position in self._outer[raised[-1] if raised else 0 :]:
            if corner[position] < self._highest[position]:
                yield tuple(level + (i == position) for i, level in enumerate(corner))

    def _parts(self, corner: Levels) -> list[FloatArray]:
        return [
            floor[low : low + 1 if position in self._outer else self._highest[position] + 1]
            for position, (floor, low) in enumerate(zip(self._floors, corner, strict=True))
        ]

    def _floor(self, corner: Levels) -> float:
        return float(self._loss.combine([part[:1] for part in self._parts(corner)]).min())

    def _box(self, corner: Levels) -> Frontier:
        return Frontier(self._loss.combine(self._parts(corner)), corner)
