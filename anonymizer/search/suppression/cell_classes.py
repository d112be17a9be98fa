"""Small tables under any models: every class that holds is listed, and the cheapest choice of them made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.suppression.cell_problem import BLANK, CellProblem, CellSuppression
from anonymizer.search.suppression.cell_solver import Effort, Programme, Solved

MOST_CLASSES = 2_000
"""Candidates for a class that are judged one by one."""

_Label = tuple[BoolArray, IntArray]


@dataclass(frozen=True, eq=False)
class ValidClasses:
    """Every class that satisfies the models: its label, and how many records of each row it has.

    Attributes
    ----------
    label: what each class is published as, numbered from 0, shape (classes,), int64.
    masks: blanked attributes of each class, shape (classes, attributes), bool.
    records: of each row in each class, shape (classes, rows), int64.
    """

    problem: CellProblem
    label: IntArray
    masks: BoolArray
    records: IntArray

    @classmethod
    def of(cls, problem: CellProblem) -> ValidClasses | None:
        """List the classes; None where there may be too many."""
        labels = list(_labels(problem))
        if sum(prod((problem.counts[rows] + 1).tolist()) for _, rows in labels) > MOST_CLASSES:
            return None
        parts = [_records(problem, rows) for _, rows in labels]
        sizes = [len(part) for part in parts]
        label = np.repeat(np.arange(len(labels)), sizes)
        masks = np.array([mask for mask, _ in labels], dtype=bool).reshape(-1, problem.attributes)[label]
        records = np.concatenate([np.zeros((0, problem.rows), dtype=np.int64), *parts])
        held = _holding_records(problem, records)
        return cls(problem, label[held], masks[held], records[held])

    def solve(self, effort: Effort) -> tuple[Solved, CellSuppression | None]:
        """Choose classes that hold every record but the suppressed ones, no two published alike."""
        result = self._programme().solved(effort, None)
        if result.values is None:
            return result, None
        return result, self._blanking(np.rint(result.values).astype(np.int64))

    def _programme(self) -> Programme:
        problem, classes, rows = self.problem, len(self.label), self.problem.rows
        labels = int(self.label.max(initial=-1)) + 1
        owner, row = np.nonzero(self.records)
        suppressed = classes + np.arange(rows)
        counts = problem.counts.astype(np.float64)
        ones = np.ones(classes + rows)
        return Programme(
            np.concatenate([self._costs(), problem.gone_costs]),
            np.concatenate([np.ones(classes), counts]),
            np.ones(classes + rows, dtype=bool),
            np.concatenate([row, np.arange(rows), rows + self.label, np.full(rows, rows + labels)]),
            np.concatenate([owner, suppressed, np.arange(classes), suppressed]),
            np.concatenate([self.records[owner, row].astype(np.float64), ones[:rows], ones]),
            np.concatenate([counts, np.full(labels + 1, -np.inf)]),
            np.concatenate([counts, np.ones(labels), [float(problem.most_gone)]]),
        )

    def _costs(self) -> FloatArray:
        charged = np.where(self.problem.native, 0.0, self.problem.costs)
        per_record = self.masks.astype(np.float64) @ charged.T
        costs: FloatArray = (per_record * self.records).sum(axis=1)
        return costs

    def _blanking(self, values: IntArray) -> CellSuppression:
        problem, chosen = self.problem, np.flatnonzero(values[: len(self.label)])
        owner, row = np.nonzero(self.records[chosen])
        gone = np.flatnonzero(values[len(self.label) :])
        blanks = self.masks[chosen][owner] & ~problem.native[row]
        rows = np.concatenate([row, gone])
        counts = np.concatenate([self.records[chosen][owner, row], values[len(self.label) + gone]])
        blanks = np.concatenate([blanks, ~problem.native[gone]])
        order = np.argsort(rows, kind="stable")
        return CellSuppression(
            rows[order], counts[order], blanks[order], (np.arange(len(rows)) >= len(row))[order]
        )


def _labels(problem: CellProblem) -> Iterator[_Label]:
    """Yield every way in which records may be published, and the rows that match."""
    for mask in map(np.array, product((False, True), repeat=problem.attributes)):
        codes = np.where(mask, BLANK, problem.codes)
        able = ~(problem.native & ~mask).any(axis=1)
        if mask.all():
            # Any record that was not blank before would be suppressed.
            able &= problem.native.all(axis=1)
        rows = np.flatnonzero(able)
        if len(rows):
            label = np.unique(codes[rows], axis=0, return_inverse=True)[1].reshape(-1)
            yield from ((mask, rows[label == own]) for own in range(int(label.max()) + 1))


def _records(problem: CellProblem, rows: IntArray) -> IntArray:
    """Return every choice of enough records of some rows, shape (choices, rows of the problem)."""
    sizes = (problem.counts[rows] + 1).tolist()
    chosen = np.indices(sizes).reshape(len(sizes), -1).T
    chosen = chosen[chosen.sum(axis=1) >= max(problem.smallest, 1)]
    records = np.zeros((len(chosen), problem.rows), dtype=np.int64)
    records[:, rows] = chosen
    return records


def _holding_records(problem: CellProblem, records: IntArray) -> BoolArray:
    if not len(records):
        return np.zeros(0, dtype=bool)
    owner, row = np.nonzero(records)
    return problem.judge(owner.astype(np.int64), row.astype(np.int64), records[owner, row], len(records))
