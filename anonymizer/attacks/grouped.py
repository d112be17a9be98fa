"""A release in two tables joined by a group, as its recipient counts it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.attacks.combinations import numbered
from anonymizer.attacks.published import PublishedTable
from anonymizer.core.arrays import CodeArray, IntArray
from anonymizer.core.classes import SensitiveCodes, SensitiveCounts
from anonymizer.core.group_recoding import GROUP
from anonymizer.core.grouping import count


@dataclass(frozen=True, eq=False)
class AnatomyTruth:
    """What whoever published the release knows: how many records of each row have which sensitive value.

    Attributes
    ----------
    rows: row of the grouped table, shape (entries,), int64, ascending.
    values: code of the sensitive value, shape (entries,), int64, ascending within a row.
    counts: records, shape (entries,), int64, positive. They add up to those of a row, or the row is left out.
    """

    rows: IntArray
    values: IntArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class AnatomyRelease:
    """The distinct tuples of quasi-identifiers in each group, and the sensitive values of the group.

    Attributes
    ----------
    source: what messages call the release.
    names: of the quasi-identifiers.
    labels: distinct published texts of each quasi-identifier; None for a null.
    codes: position in ``labels`` for each row and quasi-identifier, shape (rows, quasi-identifiers), int32.
    groups: name of each group, in the order of their numbers.
    group: number of the group of each row, from 0, ascending, shape (rows,), int64.
    counts: records of each row, shape (rows,), int64.
    sensitive: how many records of each group have which value; its classes are the groups.
    truth: which records have which value, None where that is not known.
    """

    source: str
    names: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    codes: CodeArray
    groups: tuple[str, ...]
    group: IntArray
    counts: IntArray
    sensitive: SensitiveCounts
    truth: AnatomyTruth | None = None

    @property
    def records(self) -> int:
        """Number of records of the release."""
        return int(self.counts.sum())

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each group, shape (groups,), int64."""
        return count(self.group, self.counts, len(self.groups))

    @cached_property
    def tuples(self) -> PublishedTable:
        """The exact tuples without their groups and values: all that matters for finding a record."""
        of_row, first = numbered(self.codes.T, len(self.counts))
        counts = count(of_row, self.counts, len(first))
        return PublishedTable(self.source, self.names, self.labels, self.codes[first], {}, counts)

    @cached_property
    def values(self) -> PublishedTable:
        """The sensitive values by group: all that matters for what is learned of who is in a group."""
        own = self.sensitive
        codes = own.owners.astype(np.int32)[:, None]
        values = {own.attribute.name: SensitiveCodes(own.attribute, own.values)}
        return PublishedTable(self.source, (GROUP,), (self.groups,), codes, values, own.counts)
