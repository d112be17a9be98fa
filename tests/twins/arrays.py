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

    def verdict(counts: Ints, p: Floats) -> Bools:
        extra = pd.DataFrame((counts / counts.sum(1, keepdims=True) - p).T)
        cost, top = np.zeros(len(counts)), len(paths[0]) - 1
        extra.index = pd.MultiIndex.from_tuples([path[:1] + path[1:] for path in paths])
        for height in range(1, top + 1):
            upper = list(range(height, top + 1))
            names = [f"level {level}" for level in upper]
            keys = pd.MultiIndex.from_tuples(
                [tuple(path[level] for level in upper) for path in paths], names=names
            )
            lower = [tuple(path[height - 1 :]) for path in paths]
            sums = extra.groupby(pd.MultiIndex.from_tuples(lower).to_flat_index()).sum()
            parents = [key[1:] for key in sums.index]
            positive = sums.clip(lower=0).groupby(pd.Index(parents, tupleize_cols=False)).sum()
            negative = (-sums).clip(lower=0).groupby(pd.Index(parents, tupleize_cols=False)).sum()
            cost += np.minimum(positive, negative).sum().to_numpy() * height / top
            assert len(keys) == len(paths)
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


def count_node(
    columns: Sequence[Sequence[str]], paths: Sequence[Mapping[Value, Path]], levels: Sequence[int], secret: Ints
) -> CountedNode:
    """Group records by their published labels, by pandas."""
    published, costs = {}, {}
    for position, (column, own, level) in enumerate(zip(columns, paths, levels, strict=True)):
        label = {value: path[level] for value, path in own.items()}
        leaves = pd.Series(list(label.values())).value_counts()
        codes, values = pd.factorize(pd.Series(column))
        published[position] = np.array([label[value] for value in values], dtype=object)[codes]
        costs[position] = {name: (count - 1) / max(len(own) - 1, 1) for name, count in leaves.items()}
    frame = pd.DataFrame(published)
    groups = frame.groupby(list(published), sort=False)
    number = groups.ngroup().to_numpy()
    first = frame.loc[~frame.duplicated()]
    mean = np.mean([first[position].map(costs[position]).to_numpy() for position in published], axis=0)
    values = int(secret.max()) + 1
    counts = np.bincount(number * values + secret, minlength=(number.max() + 1) * values)
    return CountedNode(tuple(levels), counts.reshape(-1, values), mean.astype(np.float64))


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
