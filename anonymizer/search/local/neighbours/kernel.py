"""The least that a class costs one of its records, from the record's neighbours.

The functions are compiled from ``kernel.c``, which is the same in C, and run there where WebAssembly can be
had; see ``anonymizer.compiled``. Here they are to be read and tested, and run where it cannot.

What a record costs beside another one is, of each attribute, the cost of the node where both meet. Nodes at
which it meets others are on the path from it to the root, so a class costs in each attribute at least the
most of what any of its records asks for. Prices are whole numbers, rounded down.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from anonymizer.model.arrays import CodeArray

MODULE = Path(__file__).with_name("kernel.wasm")
"""The same functions, compiled."""

TOO_FEW = np.iinfo(np.int32).max
"""The price where too few neighbours are known for a class."""


class Near(NamedTuple):
    """Some records with their neighbours, and room for what is found.

    Attributes
    ----------
    costs: of each attribute of each record, beside each neighbour, shape (records * attributes, neighbours),
        int32. The first neighbour is the record itself, and the others are the nearer the earlier.
    units: of each neighbour, at least 1, shape (records, neighbours), int32.
    found: least price of a class of each record, shape (records,), int32.
    labels: work, shape (depths + 1, attributes), int32.
    prices: work, shape (depths + 1, neighbours), int32.
    best: work, shape (2 * (depths + 1), needed), int32.
    """

    costs: CodeArray
    units: CodeArray
    found: CodeArray
    labels: CodeArray
    prices: CodeArray
    best: CodeArray


class _Record:
    """A record, and how many of its neighbours are looked at."""

    def __init__(self, near: Near, own: int, needed: int) -> None:
        attributes = near.labels.shape[1]
        self.costs = near.costs[own * attributes : (own + 1) * attributes]
        self.units = near.units[own].tolist()
        self.reach, self.needed = near.costs.shape[1], needed
        self.added = 0

    def prices(self, labels: CodeArray) -> list[int]:
        """Return the price of the record in a class with each neighbour."""
        self.added += self.reach * len(labels)
        found: list[int] = np.maximum(self.costs[:, : self.reach], labels[:, None]).sum(axis=0).tolist()
        return found

    def joined(self, labels: CodeArray, neighbour: int) -> CodeArray:
        """Return the costs of a class that takes a neighbour."""
        return np.maximum(labels, self.costs[:, neighbour])


class _Lowest:
    """The lowest prices that are known, in order, with their units: as few as have enough."""

    def __init__(self, needed: int, most: int) -> None:
        self._known: list[tuple[int, int]] = []
        self._needed = needed
        self.most = most

    def take(self, price: int, units: int) -> None:
        known, held = self._known, sum(own for _, own in self._known) + units
        at = len(known)
        while at and known[at - 1][0] > price:
            at -= 1
        known.insert(at, (price, units))
        while held - known[-1][1] >= self._needed:
            held -= known.pop()[1]
        if held >= self._needed:
            self.most = known[-1][0]


def _least(record: _Record, labels: CodeArray, depth: int, most: int) -> int:
    """Return the price within which enough neighbours have a class, or ``most`` if that is less."""
    lowest = _Lowest(record.needed, most)
    for neighbour, price in enumerate(record.prices(labels)):
        own = price
        if own < lowest.most and depth > 1:
            own = _least(record, record.joined(labels, neighbour), depth - 1, lowest.most)
        if own < lowest.most:
            lowest.take(own, record.units[neighbour])
    return lowest.most


def _greedy(record: _Record, labels: CodeArray) -> int:
    """Return the price of one class: the nearest neighbour joins, then the nearest of both, and so on."""
    while True:
        prices, base = record.prices(labels), int(labels.sum())
        if (
            sum(units for units, own in zip(record.units, prices, strict=True) if own == base)
            >= record.needed
        ):
            return base
        price = min((own for own in prices if own != base), default=TOO_FEW)
        if price == TOO_FEW:
            return TOO_FEW
        labels = record.joined(labels, prices.index(price))


def cheapest(near: Near, records: int, needed: int, depth: int) -> int:
    """Find the least that a class of enough units costs each of the first records; return the additions.

    The price of a class is at least that of the record with any neighbour in it and, with ``depth`` 2, with
    any two. So it is at least the lowest price at which enough neighbours each have enough in turn.
    """
    added = 0
    for own in range(records):
        record = _Record(near, own, needed)
        labels = record.costs[:, 0]
        most = _greedy(record, labels)
        prices = record.prices(labels)
        while record.reach and prices[record.reach - 1] >= most:
            record.reach -= 1
        near.found[own] = _least(record, labels, depth, most)
        added += record.added
    return added
