"""Records of each pair of values of every two columns, counted by bundles of columns.

The table of two bundles holds those of all pairs between them: records are counted once for many pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import IntArray

CELLS = 1 << 22
"""Pairs of values up to which a pair of columns is tabulated."""

BUNDLED = 255
"""Combinations of values of a bundle of columns, at most: codes of one take a byte, of two take two."""

RECORDS_A_CELL = 8
"""Records for each cell of the table of two bundles from which on adding it up costs less than counting."""

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Some columns as one.

    Attributes
    ----------
    names: of the columns.
    widths: codes of each.
    codes: of each record, the columns packed in their order, shape (records,).
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    codes: Codes

    @property
    def width(self) -> int:
        """Number of packed codes."""
        return prod(self.widths)

    def alone(self) -> list[Bundle]:
        """Return each column as a bundle of its own."""
        if len(self.names) == 1:
            return [self]
        found = []
        codes = self.codes
        for name, width in zip(self.names[::-1], self.widths[::-1], strict=True):
            codes, own = np.divmod(codes, codes.dtype.type(width))
            found.append(Bundle((name,), (width,), own))
        return found


def widest_bundle(records: int) -> int:
    """Return how many combinations of values a bundle of several columns may have.

    >>> widest_bundle(1_000_000), widest_bundle(800)
    (255, 10)
    """
    return min(BUNDLED, isqrt(records // RECORDS_A_CELL))


def bundles(widths: Mapping[str, int], most: int) -> list[tuple[str, ...]]:
    """Divide columns among few bundles of at most so many combinations; a wider column is one by itself.

    >>> bundles({"sex": 2, "age": 90, "race": 5, "region": 4}, 200)
    [('age', 'sex'), ('race', 'region')]
    """
    found: list[list[str]] = []
    sizes: list[int] = []
    for name in sorted(widths, key=lambda name: (-widths[name], name)):
        place = next((at for at, size in enumerate(sizes) if size * widths[name] <= most), len(sizes))
        if place == len(sizes):
            found.append([])
            sizes.append(1)
        found[place].append(name)
        sizes[place] *= widths[name]
    return [tuple(names) for names in found]


def pair_tables(
    widths: Mapping[str, int], codes_of: Callable[[str], Codes], most: int, cells: int = CELLS
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield the records of each pair of values of every two columns, in no certain order of the columns.

    Parameters
    ----------
    widths: codes of each column; two columns are in the order of these.
    codes_of: code of each record in a column, shape (records,).
    most: combinations of values that a bundle of several columns may have.
    cells: of a table, at most; pairs of wide columns that have more are left out. The shape of a table is
        (values of the one, values of the other).
    """
    place = {name: number for number, name in enumerate(widths)}
    made = [_bundle(names, widths, codes_of) for names in bundles(widths, most)]
    for bundle in made:
        if len(bundle.names) > 1:
            counts = np.bincount(bundle.codes, minlength=bundle.width).reshape(bundle.widths)
            axes = range(len(bundle.names))
            for one, other in combinations(axes, 2):
                table = counts.sum(axis=tuple(axis for axis in axes if axis not in (one, other)))
                yield _in_order(place, bundle.names[one], bundle.names[other], table)
    for first, second in combinations(made, 2):
        together = first.width * second.width <= min(most * most, cells)
        parts = [(first, second)] if together else [(a, b) for a in first.alone() for b in second.alone()]
        for one_bundle, other_bundle in parts:
            if one_bundle.width * other_bundle.width <= cells:
                yield from _between(place, one_bundle, other_bundle)


def _bundle(names: Sequence[str], widths: Mapping[str, int], codes_of: Callable[[str], Codes]) -> Bundle:
    """Return columns packed; the integers are as narrow as the packed codes allow."""
    own = tuple(widths[name] for name in names)
    codes = codes_of(names[0]).astype(np.min_scalar_type(prod(own)), copy=False)
    for name, width in zip(names[1:], own[1:], strict=True):
        codes = codes * codes.dtype.type(width) + codes_of(name).astype(codes.dtype, copy=False)
    return Bundle(tuple(names), own, codes)


def _between(
    place: Mapping[str, int], first: Bundle, second: Bundle
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield the tables of the pairs between two bundles."""
    cells = first.width * second.width
    keys = first.codes.astype(np.min_scalar_type(cells))
    keys *= keys.dtype.type(second.width)
    keys += second.codes.astype(keys.dtype, copy=False)
    counts = np.bincount(keys, minlength=cells).reshape(*first.widths, second.width)
    for axis, name in enumerate(first.names):
        others = tuple(each for each in range(len(first.names)) if each != axis)
        of_one = counts.sum(axis=others).reshape(-1, *second.widths)
        for number, other in enumerate(second.names):
            rest = tuple(each + 1 for each in range(len(second.names)) if each != number)
            yield _in_order(place, name, other, of_one.sum(axis=rest))


def _in_order(
    place: Mapping[str, int], one: str, other: str, table: IntArray
) -> tuple[tuple[str, str], IntArray]:
    """Return two columns in their order, and their table turned to it."""
    return ((one, other), table) if place[one] < place[other] else ((other, one), table.T)
