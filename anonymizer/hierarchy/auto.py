"""Hierarchies drafted from the data.

Labels of nodes show only prefixes that enough records share, so they do not reveal rare texts.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.hierarchy.labels import distinct, group_label
from anonymizer.hierarchy.source import HierarchySource, OptionalSettings
from anonymizer.model.arrays import IntArray
from anonymizer.model.table import Column, ValueType


class SharedPrefixes:
    """Beginnings that enough records share, so that no name of a group tells a text of a few.

    Parameters
    ----------
    column: of texts, sorted by code point.
    rare: a text of fewer records is not shown as a whole.
    """

    def __init__(self, column: Column, rare: int) -> None:
        self._texts = column.present
        self._upto = [0, *accumulate(column.counts[: len(self._texts)].tolist())]
        self._rare = rare

    def shown(self, text: str) -> str:
        """Return a text of the column where it is not rare, else its longest beginning that is not, and …"""
        place = bisect_left(self._texts, text)
        if self._upto[place + 1] - self._upto[place] >= self._rare:
            return text
        length = bisect_left(range(1, len(text) + 1), True, key=lambda end: not self._shared(text[:end]))
        return f"{text[:length]}…"

    def _shared(self, beginning: str) -> bool:
        """Tell whether enough records have texts with a beginning; if they do, they do with a shorter one."""
        first = bisect_left(self._texts, beginning)
        last = bisect_left(self._texts, True, lo=first, key=lambda text: not text.startswith(beginning))
        shared: bool = self._upto[last] - self._upto[first] >= self._rare
        return shared


FEW = 16
"""Distinct values up to which the default is groups of two rather than four."""

MOST_LEVELS = 6
"""Highest default level of the root."""


class AutoSettings(OptionalSettings):
    """How high the tree is."""

    levels: int | None = Field(
        default=None,
        ge=1,
        description="Highest level, that of *, where the column has values enough; by default groups double "
        "up to 16 distinct values and grow fourfold beyond, in at most 6 levels.",
    )
    rare: int = Field(
        default=1,
        ge=1,
        description="Of a text with fewer records than this the names of groups show only the beginning that "
        "so many records share, and …; by default all texts are shown.",
    )


class AutoSource(HierarchySource[AutoSettings]):
    """Consecutive values in groups of about equally many records, a few of which make one of the next.

    Values stand in their natural order: by number, by date, or by code point. The result depends on the
    distinct values and their counts alone.
    """

    name: ClassVar[str] = "auto"
    Settings = AutoSettings
    rule_built = True

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return groups of the column's values, balanced by their records.

        Raises
        ------
        HierarchyError: ``rare`` is set, and the values are no texts.
        """
        if self.settings.rare > 1 and column.type is not ValueType.TEXT:
            raise HierarchyError(
                f"column '{column.name}': auto.rare is for texts, and these are of type {column.type.value}; "
                "leave it out, or use intervals, whose names do not come from the data"
            )
        values, shown = column.present, SharedPrefixes(column, self.settings.rare).shown
        starts = np.arange(len(values))
        levels = [list(values)]
        for groups in self._group_counts(len(values)):
            starts = starts[balanced(np.add.reduceat(column.counts[: len(values)], starts), groups)]
            bounds = [*starts.tolist(), len(values)]
            ranges = list(pairwise(bounds))
            names = distinct([group_label(values[low:high], column.type, shown) for low, high in ranges])
            sizes = [high - low for low, high in ranges]
            levels.append([name for name, size in zip(names, sizes, strict=True) for _ in range(size)])
        return tree_of_rows(levels)

    def _group_counts(self, values: int) -> list[int]:
        """Return how many groups levels 1, 2, ... below the root have; every level has the same fan-out."""
        highest = max((values - 1).bit_length(), 1)
        usual = highest if values <= FEW else min((highest + 1) // 2, MOST_LEVELS)
        height = min(self.settings.levels or usual, highest)
        fan_out = 2 if height > 1 else values
        while fan_out**height < values:
            fan_out += 1
        counts = [-(-values // fan_out**level) for level in range(1, height)]
        return [count for count in counts if count > 1]


def balanced(counts: IntArray, groups: int) -> IntArray:
    """Cut a sequence into runs of about equal sums, none of them empty.

    Parameters
    ----------
    counts: non-negative whole numbers, shape (n,).
    groups: number of runs, 1 to n.

    Returns
    -------
    Where each run starts, ascending from 0, shape (groups,), int64.
    """
    upto = [0, *np.cumsum(counts).tolist()]
    starts = [0]
    for left in range(groups - 1, 0, -1):
        # What stays is shared out afresh after each cut, as one heavy value may be a run by itself.
        share = upto[starts[-1]] * left + upto[-1]
        after = bisect_left(upto, -(-share // (left + 1)))
        cut = min((after - 1, after), key=lambda place: abs(upto[place] * (left + 1) - share))
        starts.append(min(max(cut, starts[-1] + 1), len(counts) - left))
    return np.array(starts, dtype=np.int64)
