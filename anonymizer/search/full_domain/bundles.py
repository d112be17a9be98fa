"""Several attributes of each combination in one narrow code, so that one look-up generalizes all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import IntArray

Codes = NDArray[np.integer]

LARGEST = 1 << 16
"""Codes of one bundle: its table of them stays in the processor's cache."""

BLOCK = 1 << 18
"""Combinations that are looked up at once, for the same reason."""


@dataclass(frozen=True, eq=False)
class Bundle:
    """Consecutive attributes packed into one code.

    Attributes
    ----------
    first: place of the first attribute.
    sizes: number of base values of each.
    codes: of each combination, in the smallest unsigned type that holds them, shape (combinations,).
    """

    first: int
    sizes: tuple[int, ...]
    codes: Codes

    @property
    def places(self) -> range:
        """Places of the attributes."""
        return range(self.first, self.first + len(self.sizes))

    def parts(self, by_value: Sequence[IntArray]) -> IntArray:
        """Return the sum of a number of each attribute's value, for each code of the bundle."""
        return reduce(np.add.outer, [by_value[place] for place in self.places]).ravel()

    def marginals(self, items: IntArray, weights: IntArray) -> list[IntArray]:
        """Add up whole weights of some combinations by the base values of each attribute."""
        sums = np.bincount(self.codes[items], weights=weights, minlength=prod(self.sizes)).reshape(self.sizes)
        others = [tuple(o for o in range(sums.ndim) if o != axis) for axis in range(sums.ndim)]
        return [sums.sum(axis=axes).astype(np.int64) for axes in others]


def bundled(columns: Sequence[tuple[Codes, IntArray]], sizes: Sequence[int]) -> tuple[Bundle, ...]:
    """Pack columns of codes into as few bundles as their order allows; a large column stands alone.

    Parameters
    ----------
    columns: of each attribute the codes of the combinations, and the base value of each code.
    sizes: number of base values of each.
    """
    bundles, start = [], 0
    while start < len(columns):
        stop, space = start + 1, max(sizes[start], 1)
        while stop < len(columns) and space * sizes[stop] <= LARGEST:
            space *= sizes[stop]
            stop += 1
        own = tuple(max(size, 1) for size in sizes[start:stop])
        bundles.append(Bundle(start, own, _packed(columns[start:stop], own)))
        start = stop
    return tuple(bundles)


def _packed(columns: Sequence[tuple[Codes, IntArray]], sizes: Sequence[int]) -> Codes:
    """Return base values packed into one code, the first attribute's first."""
    space = prod(sizes)
    strides = [prod(sizes[place + 1 :]) for place in range(len(sizes))]
    scaled = [values * stride for (_, values), stride in zip(columns, strides, strict=True)]
    packed = np.empty(len(columns[0][0]), dtype=np.min_scalar_type(space - 1))
    for start in range(0, len(packed), BLOCK):
        block = slice(start, start + BLOCK)
        packed[block] = sum(own[codes[block]] for (codes, _), own in zip(columns, scaled, strict=True))
    return packed


def keys_of(bundles: Sequence[Bundle], by_value: Sequence[IntArray], combinations: int) -> IntArray:
    """Add up a number of each attribute's value for each combination, shape (combinations,), int64."""
    parts = [(each.codes, each.parts(by_value)) for each in bundles]
    parts = [(codes, own) for codes, own in parts if own.any()]
    keys = np.zeros(combinations, dtype=np.int64)
    for start in range(0, combinations, BLOCK):
        block = keys[start : start + BLOCK]
        for codes, own in parts:
            block += own[codes[start : start + BLOCK]]
    return keys
