"""A quasi-identifier as a direction in which regions of records may be cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.classes import Reduction
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.regions.segments import Segments


@dataclass(frozen=True, eq=False)
class Number:
    """A whole number that stands for a value of an axis in the coded rows.

    Attributes
    ----------
    of_code: for each of the column's codes, shape (values,), int64, below 2**bits.
    reductions: what has to be known of the numbers of a group of rows.
    """

    of_code: IntArray
    bits: int
    reductions: tuple[Reduction, ...]

    @property
    def bitwise(self) -> bool:
        """Whether it may share a word with others."""
        return not set(self.reductions) & {Reduction.MIN, Reduction.MAX}


@dataclass(frozen=True, eq=False)
class Frames:
    """How groups of rows fall into parts along an axis, each group in its own way.

    The part of a row is ``((number >> shift) & mask) - first``, from 0 to ``parts`` - 1.

    Attributes
    ----------
    shift, mask, first, parts: of each group, shape (groups,), int64; one part where there is nothing to cut.
    """

    shift: IntArray
    mask: IntArray
    first: IntArray
    parts: IntArray


class Axis(ABC):
    """How one quasi-identifier is cut, and what it costs to publish what a region has of it.

    Parameters
    ----------
    share: weight of the attribute divided by the sum of all weights.

    Attributes
    ----------
    numbers: that stand for a value in the coded rows; the first says which part a row lies in.
    ordered: whether parts are cut in their own order; otherwise the most frequent of a region comes first.
    """

    numbers: tuple[Number, ...]
    ordered: bool

    def __init__(self, attribute: QuasiIdentifier, share: float) -> None:
        self.attribute = attribute
        self.share = share

    @abstractmethod
    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return how groups fall into parts.

        Parameters
        ----------
        numbers: the reductions of each of the axis's numbers over each group, in their order.
        """

    @abstractmethod
    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of what is published for each group, shape (groups,), in [0, 1]."""

    @abstractmethod
    def codes(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return a code of the column that is published as each group is, shape (groups,), int64."""

    def parts_of(self, numbers: NDArray[Any], frames: Frames, rows: IntArray) -> IntArray:
        """Return the part of each row, before ``first`` is subtracted, shape (rows,), int64.

        Parameters
        ----------
        numbers: column of the coded rows that the axis's first number stands in, group after group.
        rows: of each group, shape (groups,).
        """
        shift, mask = np.repeat(frames.shift, rows), np.repeat(frames.mask, rows)
        parts: IntArray = (numbers.astype(np.int64, copy=False) >> shift) & mask
        return parts

    @abstractmethod
    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return what some parts of groups are: nodes of the hierarchy, or units, shape (parts,), int64.

        Parameters
        ----------
        numbers: as for ``frames``.
        group, part: of each of the parts that are asked about, shape (parts,).
        """


class ListedAxis(Axis):
    """An axis whose costs no traces tell: the distinct values of each group have to be listed.

    Such a search needs the rows themselves, not only sums over them.
    """

    @abstractmethod
    def listed_costs(self, numbers: NDArray[Any], groups: Segments) -> FloatArray:
        """Return the cost of what is published for each group, shape (groups,), in [0, 1].

        Parameters
        ----------
        numbers: the first number of each row, group after group, shape (rows,).
        """


def weight_shares(table: Table) -> list[float]:
    """Return the weight of each quasi-identifier divided by the sum of all weights."""
    weights = [attribute.weight for attribute in table.quasi_identifiers]
    return [weight / sum(weights) for weight in weights]
