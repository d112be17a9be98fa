"""One grouping of the records: what becomes of its groups, and the recoding that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.counting import count, group_keys
from anonymizer.model.recoding import GroupRecoding
from anonymizer.model.table import Table
from anonymizer.privacy.base import describe
from anonymizer.search.base import SearchProblem
from anonymizer.search.grouping.deal import Records, groups_of
from anonymizer.search.grouping.number import published_ranks, renumbered
from anonymizer.search.judge import Judge


@dataclass(frozen=True, eq=False)
class Grouped:
    """A grouping with what becomes of it.

    Attributes
    ----------
    group: of each record, shape (records,), int64; -1 for those that are removed.
    groups: how many stay.
    removed: number of records that are removed.
    failed: names of what it fails as a whole.
    """

    group: IntArray
    groups: int
    removed: int
    failed: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether it may be released."""
        return not self.failed


class GroupJudge:
    """Applies the constraints of a problem to groups, and those about finding people to the exact tuples."""

    def __init__(self, problem: SearchProblem, records: Records) -> None:
        self._problem = problem
        self._records = records
        self._attribute = problem.table.sensitive[0]
        self._of_tuples = [each for each in problem.table_constraints if each.model.singles_out]
        self._of_groups = replace(
            problem,
            table_constraints=tuple(each for each in problem.table_constraints if not each.model.singles_out),
            keep_rows=False,
        )
        self.levels = tuple(each.minimum for each in problem.table.quasi_identifiers)
        self.tuples = published_ranks(problem.table, self.levels)

    def hopeless(self) -> tuple[str, ...]:
        """Return what no grouping satisfies, as all records in one group prove; empty where they do not."""
        group = np.zeros(len(self._records.row), dtype=np.int64)
        verdict = Judge(self._of_groups).judge(self._classes(group, 1))
        certain, limit = int(verdict.losses.sum()), self._problem.limit
        if certain > limit or certain == len(group):
            return verdict.failed
        # Who is alone with exact values is so in any group; only what is removed could change that.
        return () if limit else tuple(self._found(group))

    def judge(self, seats: IntArray) -> Grouped:
        """Tell what becomes of groups.

        Parameters
        ----------
        seats: record in each seat of each group, shape (groups, seats), int64.
        """
        group = groups_of(seats, len(self._records.row))
        capped = int((group < 0).sum())
        problem = replace(self._of_groups, limit=self._of_groups.limit - capped)
        verdict = Judge(problem).judge(self._classes(group, len(seats)))
        numbers = np.append(np.where(verdict.kept, np.cumsum(verdict.kept) - 1, -1), -1)
        group = numbers[group]
        failed = [*verdict.failed, *self._found(group)]
        return Grouped(group, int(verdict.kept.sum()), int((group < 0).sum()), tuple(failed))

    def _classes(self, group: IntArray, groups: int) -> Classes:
        """Return the groups of the records that have one, counted by value."""
        seated, size = np.flatnonzero(group >= 0), self._attribute.column.size
        own = group[seated] * size + self._records.value[seated]
        item_of, distinct = group_keys(own, groups * size)
        counts = count(item_of, np.ones(len(seated), dtype=np.int64), len(distinct))
        values = {self._attribute.name: SensitiveCodes(self._attribute, distinct % size)}
        return Classes(distinct // size, counts, groups, values)

    def _found(self, group: IntArray) -> list[str]:
        """Return the names of the models about finding people that do not hold on the records that stay."""
        if not self._of_tuples or not (group >= 0).any():
            return []
        stays = self.tuples[self._records.row[group >= 0]]
        alike = np.unique(stays, return_inverse=True)[1].astype(np.int64)
        classes = Classes(alike, np.ones(len(alike), dtype=np.int64), int(alike.max()) + 1, {})
        return [describe(each) for each in self._of_tuples if not each.holds(classes)]

    def recoding(self, grouped: Grouped, facts: Mapping[str, Any]) -> GroupRecoding:
        """Return a grouping as a recoding, its groups numbered by what is published of them."""
        table, records = self._problem.table, self._records
        published = (self.tuples[records.row], records.value)
        group = renumbered(grouped.group, grouped.groups, published)
        width = grouped.groups + 1
        part_of, keys = group_keys(records.row * width + group + 1, table.combinations * width)
        counts = count(part_of, np.ones(len(part_of), dtype=np.int64), len(keys))
        owner, own = keys // width, keys % width - 1
        split: Table = table.split(owner, counts)
        return GroupRecoding(split, self.levels, own, own < 0, owner, facts)
