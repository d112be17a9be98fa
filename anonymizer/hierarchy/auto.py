"""Hierarchies drafted from the data.

Labels reveal no rare text and no rare extreme number: texts are shown by prefixes that enough records share,
numbers by round bounds that enough records lie beyond.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.labels import (
    ExactNumbers,
    RangeLabels,
    distinct,
    group_label,
    in_order,
    roundest,
)
from anonymizer.hierarchy.source import HierarchySource, OptionalSettings, Tree, tree_of_rows
from anonymizer.model.arrays import IntArray
from anonymizer.model.labels import DATES, HALF_OPEN, OPEN, RARE, SET, SIGNED, SPAN, WHOLE, Form
from anonymizer.model.table import Column, ValueType
from anonymizer.plugins import BoundedInt


class SharedPrefixes:
    """Prefixes that enough records share, so that the name of a group reveals no rare text.

    Parameters
    ----------
    column: of texts.
    rare: texts of fewer records are shortened.
    """

    def __init__(self, column: Column, rare: int) -> None:
        known = sorted(zip(column.present, column.counts[: len(column.present)].tolist(), strict=True))
        self._texts = [text for text, _ in known]
        self._upto: list[int] = [0, *accumulate(records for _, records in known)]
        self._rare = rare

    def shown(self, text: str) -> str:
        """Return a text of the column, a rare one as its longest prefix that is not rare, and …"""
        place = bisect_left(self._texts, text)
        if self._upto[place + 1] - self._upto[place] >= self._rare:
            return text
        length = bisect_left(range(1, len(text) + 1), True, key=lambda end: not self._shared(text[:end]))
        return RARE.write(text[:length])

    def _shared(self, prefix: str) -> bool:
        """Return whether enough records share a prefix; they then share every shorter one."""
        first = bisect_left(self._texts, prefix)
        last = bisect_left(self._texts, True, lo=first, key=lambda text: not text.startswith(prefix))
        shared: bool = self._upto[last] - self._upto[first] >= self._rare
        return shared


class RoundGroups:
    """Consecutive numbers cut at round numbers into groups of about equally many records.

    Fewer than ``rare`` records lie beyond the ends that decide anything: to the cuts and labels, those
    records have the value of the end. So none of them, nor any other value in its place, changes a label.

    Parameters
    ----------
    column: of integers or numbers.
    rare: minimum number of records of the first and the last group, and of a value that a label may show
        because it is an extreme.
    """

    def __init__(self, column: Column, rare: int) -> None:
        numbers = ExactNumbers(column)
        counts = column.counts[: len(numbers.values)]
        low, high = _without_rare_ends(counts, rare)
        self._numbers, self._rare = numbers, rare
        self._values = numbers.values[low:high]
        # The ends stand for the records beyond them.
        self._upto: list[int] = [0, *np.cumsum(counts)[low:high].tolist()]
        self._upto[-1] = int(counts.sum())
        self._folded = (low > 0) + (high < len(counts))
        # The smallest decimal is seldom a round number; the largest would be outside of a half-open interval.
        self._lowest = (
            numbers.values[0] if low == 0 < high and (numbers.whole or not numbers.values[0]) else None
        )
        self._highest = numbers.values[-1] if high == len(counts) > 0 and numbers.whole else None
        self._labels = RangeLabels(numbers, column.numerals, signed=min(self._values, default=0) < 0)

    @property
    def distinct(self) -> int:
        """Number of distinct values that decide the groups; all values beyond an end count as one."""
        return len(self._values) + self._folded

    def finer(self, cuts: Sequence[int], groups: int) -> list[int]:
        """Return cuts into about ``groups`` groups, some given ones among them, ascending."""
        places = [0, *(bisect_left(self._values, cut) for cut in cuts), len(self._values)]
        inner = (
            self._cuts(first, last, self._share(first, last, groups)) for first, last in pairwise(places)
        )
        return self._without_rare_groups(sorted(chain(cuts, *inner)), frozenset(cuts))

    def _without_rare_groups(self, cuts: Sequence[int], given: Collection[int]) -> list[int]:
        """Return cuts without some, so that every group has half of ``rare`` records; the given ones stay.

        Round bounds are worth a few records, but a value of many may leave nearly none beside it. These join
        the smaller of their neighbours.
        """
        kept = list(cuts)
        place = 0
        while place <= len(kept):
            sizes = self._sizes(kept)
            if 2 * sizes[place] >= self._rare or not kept:
                place += 1
                continue
            beside = [cut for cut in (place - 1, place) if 0 <= cut < len(kept) and kept[cut] not in given]
            if not beside:
                place += 1
                continue
            smaller = min(beside, key=lambda cut: sizes[cut] + sizes[cut + 1])
            del kept[smaller]
            place = max(place - 1, 0)
        return kept

    def _sizes(self, cuts: Sequence[int]) -> list[int]:
        """Return the records of each group."""
        upto = [0, *(self._upto[bisect_left(self._values, cut)] for cut in cuts), self._upto[-1]]
        return [after - before for before, after in pairwise(upto)]

    def _share(self, first: int, last: int, groups: int) -> int:
        """Return how many of all groups the values at some positions have by their records."""
        records = self._upto[last] - self._upto[first]
        share = round(groups * records / self._upto[-1])
        return max(1, min(share, last - first, records // self._rare))

    def _cuts(self, first: int, last: int, groups: int) -> list[int]:
        """Return the cuts of the values at positions from ``first`` to before ``last`` into groups."""
        cuts = []
        while groups > 1:
            cut, first = self._cut(first, last, groups)
            cuts.append(cut)
            # After a value of many records, too few may be left for all groups.
            groups = min(groups - 1, (self._upto[last] - self._upto[first]) // self._rare)
        return cuts

    def _cut(self, first: int, last: int, groups: int) -> tuple[int, int]:
        """Return the roundest cut after about an equal share of the records, and its position.

        For its roundness, a cut moves by at most a third of the share.
        """
        upto, before = self._upto, self._upto[first]
        rest = upto[last] - before

        def off(place: int) -> int:
            return abs((upto[place] - before) * groups - rest)

        after = bisect_left(upto, before - -rest // groups)
        nearest = min(max(min((after - 1, after), key=off), first + 1), last - groups + 1)
        low = bisect_left(upto, before - -2 * rest // (3 * groups))
        high = bisect_right(upto, before + 4 * rest // (3 * groups)) - 1
        low, high = max(min(low, nearest), first + 1), min(max(high, nearest), last - groups + 1)
        found = roundest(self._values[low - 1], self._values[high])
        places = {cut: bisect_left(self._values, cut) for cut in found}
        return min(places.items(), key=lambda each: off(each[1]))

    def labels(self, cuts: Sequence[int]) -> list[str]:
        """Return the label of each value of the column at the level with some cuts."""
        show = self._labels
        names = [
            show.below(cuts[0]) if self._lowest is None else show.between(self._lowest, cuts[0]),
            *(show.between(low, high) for low, high in pairwise(cuts)),
            show.least(cuts[-1])
            if self._highest is None
            else show.between(cuts[-1], self._highest + self._numbers.unit),
        ]
        values = self._numbers.values
        places = [0, *(bisect_left(values, cut) for cut in cuts), len(values)]
        return [
            name for name, (low, high) in zip(names, pairwise(places), strict=True) for _ in range(low, high)
        ]


def _without_rare_ends(counts: IntArray, rare: int) -> tuple[int, int]:
    """Return the half-open range of positions with fewer than ``rare`` records before it and after it.

    With the records beyond it, its first and its last position have at least ``rare``. The range is empty if
    there are too few records for both.
    """
    before, total = np.cumsum(counts), int(counts.sum())
    low, high = np.searchsorted(before, [rare, total - rare + 1]).tolist()
    return (low, high + 1) if low <= high < len(counts) else (0, 0)


RARE_NUMBER = 10
"""Minimum number of records beyond the ends of labels of numbers by default."""

FEW = 16
"""Maximum number of distinct values for which groups double by default, rather than grow fourfold."""

MOST_LEVELS = 6
"""Maximum level of the root by default."""


class AutoSettings(OptionalSettings):
    """The height of the tree, and the texts that labels may show."""

    levels: BoundedInt | None = Field(
        default=None,
        ge=1,
        description="Level of *, if the column has enough values; by default groups double up to 16 distinct "
        "values and grow fourfold beyond, with at most 6 levels.",
    )
    rare: BoundedInt | None = Field(
        default=None,
        ge=1,
        description="Names of groups show texts of fewer records only by the prefix that this many records "
        "share, and …; by default all texts are shown. The first and the last group of numbers have at least "
        "this many records, by default 10, the others at least half of it. The ends are named by their round "
        "inner bound, as in <20 and 65+, unless this many records have the smallest or largest whole number "
        "itself.",
    )


_FORMS: Mapping[str | None, tuple[Form, ...]] = {
    "integer": (WHOLE, SIGNED, OPEN),
    "number": (HALF_OPEN, OPEN),
    "date": (DATES,),
    "text": (SPAN, SET, RARE),
    None: (WHOLE, SIGNED, HALF_OPEN, OPEN, SPAN, SET, RARE),
}
"""Forms of the labels by the declared type of a column."""


class AutoSource(HierarchySource[AutoSettings]):
    """Consecutive values in groups of about equally many records; a few groups make one of the next level.

    The order is by number, by date, or of texts by the numbers in them. Groups of numbers have round bounds.
    The result depends on the distinct values and their counts alone.
    """

    name: ClassVar[str] = "auto"
    Settings = AutoSettings
    rule_built = True
    content = "values or groups of values"

    @classmethod
    def forms(cls, settings: Mapping[str, Any], kind: str | None, level: int | None) -> tuple[Form, ...]:  # noqa: ARG003 - of all levels
        """Return those of groups; texts are shortened only if some count as rare."""
        forms = _FORMS.get(kind, ())
        return tuple(each for each in forms if each is not RARE or (settings.get("rare") or 1) > 1)

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return groups of the column's values, balanced by their records.

        Raises
        ------
        HierarchyError: ``rare`` is set for a column of dates.
        """
        if column.type.numeric:
            return tree_of_rows([column.present, *self._of_numbers(column)])
        rare = self.settings.rare or 1
        if rare > 1 and column.type is not ValueType.TEXT:
            raise HierarchyError(
                f"column '{column.name}': auto.rare needs texts or numbers, but the column's type is "
                f"{column.type}; remove it, or use hierarchy date, whose labels do not come from the data"
            )
        values = in_order(column)
        return tree_of_rows([values, *self._of_others(column, values, SharedPrefixes(column, rare).shown)])

    def _of_numbers(self, column: Column) -> list[list[str]]:
        """Return the label of each number at levels 1, 2, ... below the root."""
        groups = RoundGroups(column, self.settings.rare or RARE_NUMBER)
        levels: list[list[str]] = []
        cuts: list[int] = []
        for number in reversed(self._group_counts(groups.distinct)):
            finer = groups.finer(cuts, number)
            if len(finer) > len(cuts):
                cuts = finer
                levels.append(groups.labels(cuts))
        return levels[::-1]

    def _of_others(
        self, column: Column, values: Sequence[str], shown: Callable[[str], str]
    ) -> list[list[str]]:
        """Return the label of each date or text, in their order, at levels 1, 2, ... below the root."""
        records = dict(zip(column.present, column.counts.tolist(), strict=False))
        counts = np.array([records[value] for value in values], dtype=np.int64)
        starts = np.arange(len(values))
        levels = []
        for groups in self._group_counts(len(values)):
            starts = starts[balanced(np.add.reduceat(counts, starts), groups)]
            ranges = list(pairwise([*starts.tolist(), len(values)]))
            names = distinct([group_label(values[low:high], column.type, shown) for low, high in ranges])
            sizes = [high - low for low, high in ranges]
            levels.append([name for name, size in zip(names, sizes, strict=True) for _ in range(size)])
        return levels

    def _group_counts(self, values: int) -> list[int]:
        """Return the numbers of groups of levels 1, 2, ... below the root, all with the same fan-out."""
        highest = max((values - 1).bit_length(), 1)
        usual = highest if values <= FEW else min((highest + 1) // 2, MOST_LEVELS)
        height = min(self.settings.levels or usual, highest)
        fan_out = 2 if height > 1 else values
        while fan_out**height < values:
            fan_out += 1
        counts = [-(-values // fan_out**level) for level in range(1, height)]
        return [count for count in counts if count > 1]


def balanced(counts: IntArray, groups: int) -> IntArray:
    """Cut a sequence into non-empty runs of about equal sums.

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
        # The rest is divided again after each cut, because one heavy value may be a run on its own.
        share = upto[starts[-1]] * left + upto[-1]
        after = bisect_left(upto, -(-share // (left + 1)))
        cut = min((after - 1, after), key=lambda place: abs(upto[place] * (left + 1) - share))
        starts.append(min(max(cut, starts[-1] + 1), len(counts) - left))
    return np.array(starts, dtype=np.int64)
