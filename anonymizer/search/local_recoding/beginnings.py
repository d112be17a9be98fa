"""Node vectors of the first few attributes: what facilities are built from, one attribute at a time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray

BLOCK = 1 << 17
"""Pairs of vectors and items that are extended at once."""


@dataclass(frozen=True, eq=False)
class NodePrefixes:
    """Node vectors of the first few attributes, with the items that they cover.

    Attributes
    ----------
    nodes: shape (vectors, attributes so far).
    cost: shape (vectors,).
    worth: cost at which nothing below a vector is worth anything, shape (vectors,).
    whole: whether every covered item is listed, shape (vectors,).
    items, vector: of each entry, shape (entries,); by vector, then by falling ceiling. Items are ranked
        by falling ceiling here.
    """

    nodes: CodeArray
    cost: FloatArray
    worth: FloatArray
    whole: BoolArray
    items: IntArray
    vector: IntArray


def starts_of(owner: IntArray, number: int) -> IntArray:
    """Return the first entry of each owner and, last, the number of entries, shape (number + 1,), int64."""
    return np.searchsorted(owner, np.arange(number + 1)).astype(np.int64)


def blocks(found: NodePrefixes) -> list[NodePrefixes]:
    """Cut vectors into blocks of about ``BLOCK`` entries each: small arrays are several times faster."""
    starts = starts_of(found.vector, len(found.cost))
    number = -(-len(found.items) // BLOCK)
    cuts = np.unique(np.searchsorted(starts, np.linspace(0, len(found.items), number + 1)))
    blocks = []
    for first, last in pairwise(cuts.tolist()):
        inside, entries = slice(first, last), slice(starts[first], starts[last])
        blocks.append(
            NodePrefixes(
                found.nodes[inside],
                found.cost[inside],
                found.worth[inside],
                found.whole[inside],
                found.items[entries],
                found.vector[entries] - first,
            )
        )
    return blocks


def unchosen(items: int) -> NodePrefixes:
    """Return the one beginning without any attribute, which covers all items."""
    return NodePrefixes(
        np.zeros((1, 0), dtype=np.int32),
        np.zeros(1),
        np.full(1, np.inf),
        np.ones(1, dtype=bool),
        np.arange(items),
        np.zeros(items, dtype=np.int64),
    )


def empty(attributes: int) -> NodePrefixes:
    """Return no vectors of so many attributes."""
    none = np.zeros(0)
    index = np.zeros(0, dtype=np.int64)
    return NodePrefixes(
        np.zeros((0, attributes), dtype=np.int32), none, none, np.zeros(0, dtype=bool), index, index
    )


def joined(blocks: list[NodePrefixes]) -> NodePrefixes:
    """Return the vectors of several blocks as one."""
    offsets = np.cumsum([0] + [len(block.cost) for block in blocks])
    return NodePrefixes(
        np.concatenate([block.nodes for block in blocks]),
        np.concatenate([block.cost for block in blocks]),
        np.concatenate([block.worth for block in blocks]),
        np.concatenate([block.whole for block in blocks]),
        np.concatenate([block.items for block in blocks]),
        np.concatenate([block.vector + first for block, first in zip(blocks, offsets, strict=False)]),
    )


def kept_of(found: NodePrefixes, kept: BoolArray) -> NodePrefixes:
    """Return the vectors that are kept, shape (vectors,), with their entries."""
    inside = kept[found.vector]
    numbers = np.cumsum(kept) - 1
    return NodePrefixes(
        found.nodes[kept],
        found.cost[kept],
        found.worth[kept],
        found.whole[kept],
        found.items[inside],
        numbers[found.vector[inside]],
    )


def cheapest_of_equals(found: NodePrefixes, marks: IntArray) -> BoolArray:
    """Tell which vectors no cheaper one with the same list of items makes superfluous, shape (vectors,)."""
    number = len(found.cost)
    kept = np.ones(number, dtype=bool)
    if number < 2:
        return kept
    starts = starts_of(found.vector, number)
    sums = np.add.reduceat(marks[found.items], starts[:-1]) * 2 + found.whole
    order = np.lexsort((found.cost, sums))
    new = np.ones(number, dtype=bool)
    new[1:] = sums[order][1:] != sums[order][:-1]
    first = order[np.flatnonzero(new)[np.cumsum(new) - 1]]
    twins, leaders = order[~new], first[~new]
    lengths = np.diff(starts)
    alike = lengths[twins] == lengths[leaders]
    twins, leaders = twins[alike], leaders[alike]
    spans = lengths[twins]
    offsets = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans)
    same = (
        found.items[np.repeat(starts[twins], spans) + offsets]
        == found.items[np.repeat(starts[leaders], spans) + offsets]
    )
    pair = np.repeat(np.arange(len(twins)), spans)
    kept[twins[np.bincount(pair[~same], minlength=len(twins)) == 0]] = False
    return kept
