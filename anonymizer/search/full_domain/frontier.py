"""Which nodes of a box of the lattice may still hold the optimum, and what they can cost at least."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

Levels = tuple[int, ...]
Combine = Callable[[Sequence[FloatArray]], FloatArray]


class Frontier:
    """Lower bounds on the objective of every node of a box, raised as nodes are evaluated.

    A node that is ruled out has the bound infinity. The box shrinks when the nodes left allow it.

    Parameters
    ----------
    floors: bounds that hold before anything is counted, one axis per attribute.
    lowest: levels of the first node of the box.

    Attributes
    ----------
    bounds: the bound of each node, of the shape of the box.
    floors: the bounds at the start, of the same shape.
    evaluated: which nodes were evaluated, of the same shape.
    """

    def __init__(self, floors: FloatArray, lowest: Levels) -> None:
        self.floors = floors
        self.bounds = floors.copy()
        self.evaluated: BoolArray = np.zeros(floors.shape, dtype=bool)
        self.lowest = lowest
        self._cutoff = np.inf

    @property
    def open(self) -> BoolArray:
        """Nodes that may still be better than the best found."""
        open_nodes: BoolArray = self.bounds < self._cutoff
        return open_nodes

    def minimum(self) -> float:
        """Return the lowest bound of a node that may still be better, infinity when there is none."""
        lowest = float(self.bounds.min(initial=np.inf))
        return lowest if lowest < self._cutoff else np.inf

    def levels(self, index: Sequence[int] | IntArray) -> Levels:
        """Return the levels of the node at an index of the box."""
        return tuple(int(low + i) for low, i in zip(self.lowest, index, strict=True))

    def _index(self, levels: Levels) -> Levels:
        return tuple(level - low for level, low in zip(levels, self.lowest, strict=True))

    def _below(self, levels: Levels) -> tuple[slice, ...]:
        return tuple(slice(0, max(i + 1, 0)) for i in self._index(levels))

    def contains(self, levels: Levels) -> bool:
        """Tell whether a node lies in the box."""
        return all(0 <= i < size for i, size in zip(self._index(levels), self.bounds.shape, strict=True))

    def mark(self, levels: Levels) -> None:
        """Note that a node was evaluated; it needs no further look."""
        if self.contains(levels):
            self.evaluated[self._index(levels)] = True
            self.bounds[self._index(levels)] = np.inf

    def bound(self, levels: Levels) -> float:
        """Return the bound of a node; infinity for one outside the box."""
        return float(self.bounds[self._index(levels)]) if self.contains(levels) else np.inf

    def rule_out_below(self, levels: Levels) -> None:
        """Rule out a node and all nodes below it."""
        self.bounds[self._below(levels)] = np.inf

    def raise_below(
        self, levels: Levels, parts: Sequence[FloatArray], lowest: Levels, combine: Combine
    ) -> None:
        """Raise the bounds of all nodes at or below a node, as far as they are known.

        Parameters
        ----------
        parts: per attribute, parts of the bound from ``lowest`` up to ``levels``.
        combine: joins one vector of parts per attribute to the bounds of a box.
        """
        window, known = [], []
        for axis, part in enumerate(parts):
            start = max(lowest[axis], self.lowest[axis])
            stop = min(levels[axis], self.lowest[axis] + self.bounds.shape[axis] - 1) + 1
            if start >= stop:
                return
            window.append(slice(start - self.lowest[axis], stop - self.lowest[axis]))
            known.append(part[start - lowest[axis] : stop - lowest[axis]])
        box = self.bounds[tuple(window)]
        np.maximum(box, combine(known), out=box)

    def raise_above(self, levels: Levels, bound: float) -> None:
        """Raise the bounds of all nodes at or above a node."""
        box = self.bounds[tuple(slice(max(i, 0), None) for i in self._index(levels))]
        np.maximum(box, bound, out=box)

    def cut(self, best: float, rounding: float) -> None:
        """Rule out nodes that are not better than the best found.

        Parameters
        ----------
        rounding: relative error of bounds and objectives; a smaller difference is none.
        """
        self._cutoff = best - rounding * max(1.0, abs(best)) if np.isfinite(best) else best

    def shrink(self) -> bool:
        """Cut slices off the low ends of the box that hold no open node; tell whether there were any.

        The high ends stay: nodes up there can rule out others though they are no candidates themselves.
        """
        open_nodes = self.open
        starts = []
        for axis in range(open_nodes.ndim):
            others = tuple(other for other in range(open_nodes.ndim) if other != axis)
            starts.append(int(open_nodes.any(axis=others).argmax()))
        if not any(starts):
            return False
        window = tuple(slice(start, None) for start in starts)
        self.bounds = np.ascontiguousarray(self.bounds[window])
        self.floors = np.ascontiguousarray(self.floors[window])
        self.evaluated = np.ascontiguousarray(self.evaluated[window])
        self.lowest = tuple(low + start for low, start in zip(self.lowest, starts, strict=True))
        return True
