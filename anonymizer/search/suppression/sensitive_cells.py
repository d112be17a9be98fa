"""Some classes as counts of their distinct combinations of sensitive values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.counting import count, group_keys
from anonymizer.model.table import SensitiveAttribute


@dataclass(frozen=True, eq=False)
class SensitiveCells:
    """The cells of some classes: what records of one class with equal sensitive values have in common.

    Attributes
    ----------
    chosen: the classes, shape (own classes,), int64, ascending.
    items: positions of their items among all, shape (own items,), int64.
    item_counts: records of each of these items, shape (own items,), int64.
    cell_of: cell of each of these items, shape (own items,), int64.
    class_of: position in ``chosen`` of the class of each cell, shape (cells,), int64, ascending.
    counts: records of each cell, shape (cells,), int64.
    sensitive: the cells' sensitive values by attribute name.
    """

    chosen: IntArray
    items: IntArray
    item_counts: IntArray
    cell_of: IntArray
    class_of: IntArray
    counts: IntArray
    sensitive: Mapping[str, SensitiveCodes]

    @cached_property
    def starts(self) -> IntArray:
        """Cells of class i are ``starts[i]:starts[i + 1]``, shape (own classes + 1,), int64."""
        starts: IntArray = np.searchsorted(self.class_of, np.arange(len(self.chosen) + 1))
        return starts

    def parts(self, name: str, *, combined: bool) -> tuple[IntArray, int]:
        """Number the parts that a constraint judges: classes, or their splits by the other attributes.

        Returns
        -------
        Part of each cell, shape (cells,), int64, and how many parts there are.
        """
        parts, number = self.class_of, len(self.chosen)
        if combined:
            for other, own in self.sensitive.items():
                if other != name:
                    size = own.attribute.column.size
                    parts, distinct = group_keys(parts * size + own.codes, number * size)
                    number = len(distinct)
        return parts, number

    def classes(self, counts: IntArray) -> tuple[Classes, IntArray]:
        """Return the classes with other counts of each cell, and which of them have records left."""
        return _with_records(self.class_of, counts, self.sensitive)

    def one_class(self, position: int, counts: IntArray) -> Classes:
        """Return one of the classes with other counts of its cells."""
        own = np.arange(self.starts[position], self.starts[position + 1])
        sensitive = {name: each.at(own) for name, each in self.sensitive.items()}
        return _with_records(np.zeros_like(counts), counts, sensitive)[0]

    def gone(self, removed: IntArray) -> IntArray:
        """Take records from the first items of each cell.

        Parameters
        ----------
        removed: records that each cell loses, shape (cells,), int64.

        Returns
        -------
        Records that each of the own items loses, shape (own items,), int64.
        """
        order = np.argsort(self.cell_of, kind="stable")
        counts, cells = self.item_counts[order], self.cell_of[order]
        before = np.cumsum(counts) - counts
        before -= before[np.searchsorted(cells, np.arange(len(self.counts)))][cells]
        gone = np.empty_like(counts)
        gone[order] = np.clip(removed[cells] - before, 0, counts)
        return gone


def sensitive_cells(
    classes: Classes, chosen: BoolArray, attributes: Sequence[SensitiveAttribute]
) -> SensitiveCells:
    """Count the cells of the chosen classes by some sensitive attributes.

    Parameters
    ----------
    chosen: shape (classes,), bool.
    """
    items = np.flatnonzero(chosen[classes.class_of])
    codes = {each.name: classes.sensitive_codes(each.name)[items] for each in attributes}
    own_class = (np.cumsum(chosen) - 1)[classes.class_of[items]]
    cells, number = own_class, int(chosen.sum())
    for attribute in attributes:
        size = attribute.column.size
        cells, distinct = group_keys(cells * size + codes[attribute.name], number * size)
        number = len(distinct)
    first = np.empty(number, dtype=np.int64)
    first[cells[::-1]] = np.arange(len(cells))[::-1]
    counts = classes.counts[items]
    return SensitiveCells(
        np.flatnonzero(chosen),
        items,
        counts,
        cells,
        own_class[first],
        count(cells, counts, number),
        {each.name: SensitiveCodes(each, codes[each.name][first]) for each in attributes},
    )


def _with_records(
    class_of: IntArray, counts: IntArray, sensitive: Mapping[str, SensitiveCodes]
) -> tuple[Classes, IntArray]:
    held = counts > 0
    left, numbers = np.unique(class_of[held], return_inverse=True)
    own = {name: each.at(held) for name, each in sensitive.items()}
    return Classes(numbers.astype(np.int64), counts[held], len(left), own), left
