"""Exhaustive full-domain search on arrays, for tables that are too large to go through record by record.

A node is a matrix of counts, classes by sensitive values; the models are written down once more on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tests.twins.microdata import Path, Value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
EPSILON = 1e-12
Verdict = Callable[[Ints, Floats], Bools]
"""Counts, shape (classes, values), and p, shape (values,), to the classes that hold, shape (classes,)."""


def within_share(alpha: str) -> Verdict:
    bound = Fraction(alpha)
    return lambda counts, p: counts.max(1) * bound.denominator <= counts.sum(1) * bound.numerator


def of_size(k: int) -> Verdict:
    return lambda counts, p: counts.sum(1) >= k


def diverse(l: int) -> Verdict:  # noqa: E741
    return lambda counts, p: (counts > 0).sum(1) >= l


def entropic(l: float) -> Verdict:  # noqa: E741
    def verdict(counts: Ints, p: Floats) -> Bools:
        q = counts / counts.sum(1, keepdims=True)
        return -(q * np.log(np.where(q > 0, q, 1))).sum(1) >= np.log(l) - EPSILON

    return verdict


def recursive(c: int, l: int) -> Verdict:  # noqa: E741
    def verdict(counts: Ints, p: Floats) -> Bools:
        ranked = -np.sort(-counts, axis=1)
        return (ranked[:, 0] < c * ranked[:, l - 1 :].sum(1)) & (ranked[:, l - 1] > 0)

    return verdict


def basic_gain(beta: float) -> Verdict:
    def verdict(counts: Ints, p: Floats) -> Bools:
        q = counts / counts.sum(1, keepdims=True)
        return (q <= (1 + beta) * p + EPSILON).all(1)

    return verdict


def enhanced_gain(beta: float) -> Verdict:
    def verdict(counts: Ints, p: Floats) -> Bools:
        q = counts / counts.sum(1, keepdims=True)
        bounds = np.minimum(beta, -np.log(np.where(p > 0, p, 1)))
        return (q <= (1 + bounds) * p + EPSILON).all(1)

    return verdict


def disclosed(delta: float, *, ignored: bool) -> Verdict:
    def verdict(counts: Ints, p: Floats) -> Bools:
        q = counts / counts.sum(1, keepdims=True)
        known = p > 0
        with np.errstate(divide="ignore"):
            logs = np.abs(np.log(q[:, known] / p[known]))
        if ignored:
            logs[q[:, known] == 0] = 0
        return (logs < delta).all(1)

    return verdict


def equal(t: float) -> Verdict:
    def verdict(counts: Ints, p: Floats) -> Bools:
        q = counts / counts.sum(1, keepdims=True)
        return np.abs(q - p).sum(1) / 2 <= t + EPSILON

    return verdict


def ordered(t: float) -> Verdict:
    def verdict(counts: Ints, p: Floats) -> Bools:
        q, known = counts / counts.sum(1, keepdims=True), p > 0
        moved = np.abs(np.cumsum(q[:, known] - p[known], axis=1)).sum(1)
        return moved / max(known.sum() - 1, 1) <= t + EPSILON

    return verdict


def hierarchical(t: float, paths: Sequence[Path]) -> Verdict:
    """Distance over a tree; ``paths`` are those of the values, in their order."""
    top = len(paths[0]) - 1

    def members(height: int) -> Floats:
        labels = [path[height] for path in paths]
        return np.array([[float(label == own) for own in sorted(set(labels))] for label in labels])

    def verdict(counts: Ints, p: Floats) -> Bools:
        extra = counts / counts.sum(1, keepdims=True) - p
        cost = np.zeros(len(counts))
        for height in range(1, top + 1):
            children, parents = members(height - 1), members(height)
            inside = (children.T @ parents > 0).astype(np.float64)
            moved = extra @ children
            positive, negative = np.maximum(moved, 0) @ inside, np.maximum(-moved, 0) @ inside
            cost += np.minimum(positive, negative).sum(1) * height / top
        return cost <= t + EPSILON

    return verdict


@dataclass(frozen=True)
class CountedNode:
    """A node with its classes.

    Attributes
    ----------
    counts: records by class and sensitive value, shape (classes, values).
    costs: mean cost of a cell of each class, shape (classes,).
    """

    levels: tuple[int, ...]
    counts: Ints
    costs: Floats


@dataclass(frozen=True)
class CodedColumn:
    """A column as the positions of its cells in ``values``, with the path of each value and of all leaves."""

    codes: Ints
    values: Sequence[Value]
    paths: Mapping[Value, Path]


def count_node(columns: Sequence[CodedColumn], levels: Sequence[int], secret: Ints) -> CountedNode:
    """Group records by their published labels, by pandas."""
    published, costs = {}, []
    for position, (column, level) in enumerate(zip(columns, levels, strict=True)):
        labels = [column.paths[value][level] for value in column.values]
        leaves = [path[level] for path in column.paths.values()]
        share = [(leaves.count(label) - 1) / max(len(leaves) - 1, 1) for label in labels]
        published[position] = pd.factorize(np.array(labels, dtype=object))[0][column.codes]
        costs.append(np.array(share)[column.codes])
    frame = pd.DataFrame(published)
    number = frame.groupby(list(published), sort=False).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    values = int(secret.max()) + 1
    counts = np.bincount(number * values + secret, minlength=(number.max() + 1) * values)
    return CountedNode(
        tuple(levels), counts.reshape(-1, values), np.mean([cost[first] for cost in costs], axis=0)
    )


@dataclass(frozen=True)
class Release:
    """What a node gives."""

    levels: tuple[int, ...]
    objective: float
    suppressed: int


def release(
    node: CountedNode, verdicts: Sequence[Verdict], whole: Any, limit: int, *, moving: bool
) -> Release | None:
    """Drop failing classes, until none fails where the reference moves; None when that is not valid."""
    counts = node.counts
    kept = np.ones(len(counts), dtype=bool)
    totals = counts.sum(0)
    while kept.any():
        p = totals / totals.sum()
        staying = kept.copy()
        staying[kept] = np.logical_and.reduce([verdict(counts[kept], p) for verdict in verdicts])
        done = not moving or (staying == kept).all()
        kept, totals = staying, counts[staying].sum(0)
        if done:
            break
    sizes = counts.sum(1)
    suppressed = int(sizes[~kept].sum())
    if not kept.any() or suppressed > limit or not whole(counts[kept]):
        return None
    return Release(
        node.levels, float((sizes[kept] @ node.costs[kept] + suppressed) / sizes.sum()), suppressed
    )
