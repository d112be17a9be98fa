"""A release as its reader sees it: records with labels, read back into the plain table they came from."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.recoding import Recoding
from anonymizer.model.table import Table
from tests.twins.search import BruteForce, ProblemSpec, Rows

Labels = tuple[str, ...]
STAR = "*"


@dataclass(frozen=True)
class Record:
    """One record of the input.

    Attributes
    ----------
    row: a record of the plain table with these values; each record of it has one.
    labels: what is published of the quasi-identifiers, None where the record is removed.
    """

    row: int
    labels: Labels | None
    suppressed: bool


@dataclass(frozen=True)
class Publication:
    """All records of the input with what became of them."""

    problem: ProblemSpec
    records: tuple[Record, ...]

    @cached_property
    def classes(self) -> list[Rows]:
        """Rows of each class of the release: the records with equal labels, starred or not."""
        found: dict[Labels, Rows] = defaultdict(list)
        for record in self.records:
            if record.labels is not None:
                found[record.labels].append(record.row)
        return list(found.values())

    @property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return sum(record.suppressed for record in self.records)

    def check(self) -> None:
        """Every constraint holds on what is published, within the limit."""
        assert self.classes, "a release without records"
        assert self.suppressed <= self.problem.limit
        twin = BruteForce(self.problem)
        reference = list(range(len(self.problem.data.records)))
        if self.problem.moving_reference:
            reference = [row for rows in self.classes for row in rows]
        for rows in self.classes:
            assert twin.holds(rows, reference), (
                f"a class fails: {[self.problem.data.records[r] for r in rows]}"
            )
        assert twin.table_holds(self.classes), "a model of the whole table fails"


def check_rows(searched: Table, recoding: Recoding) -> None:
    """The rows are those of the searched table, perhaps in parts; no record is lost or added."""
    table = recoding.table
    owner = np.arange(searched.combinations) if recoding.owner is None else recoding.owner
    assert (np.diff(owner) >= 0).all()
    assert (table.codes == searched.codes[owner]).all()
    assert (table.counts > 0).all()
    assert (np.bincount(owner, table.counts, searched.combinations) == searched.counts).all()
    assert recoding.suppressed.shape == recoding.removed.shape == table.counts.shape
    assert not (recoding.removed & ~recoding.suppressed).any()


def publication(problem: ProblemSpec, recoding: Recoding) -> Publication:
    """Read a release back; each of its records is one of the input with the same values."""
    table = recoding.table
    free: dict[Labels, Rows] = defaultdict(list)
    for row, cells in enumerate(problem.data.records):
        free[tuple("<missing>" if cell is None else str(cell) for cell in cells)].append(row)
    columns = [own.column for own in (*table.quasi_identifiers, *table.sensitive)]
    published = recoding.published()
    for own in published:
        assert len(set(own.labels)) == len(own.labels)
    records = []
    for i, (codes, count) in enumerate(zip(table.codes, table.counts.tolist(), strict=True)):
        texts = tuple(own.texts[code] for own, code in zip(columns, codes, strict=True))
        labels = None if recoding.removed[i] else tuple(own.labels[own.codes[i]] for own in published)
        for _ in range(count):
            assert free[texts], f"{texts} is published more often than it occurs"
            records.append(Record(free[texts].pop(), labels, bool(recoding.suppressed[i])))
    assert not any(free.values()), "a record is lost"
    return Publication(problem, tuple(records))


def contents(own: Publication) -> Counter[tuple[Labels | None, bool, tuple[object, ...]]]:
    """Return the records with their labels, whatever their order."""
    cells = own.problem.data.records
    return Counter((record.labels, record.suppressed, cells[record.row]) for record in own.records)
