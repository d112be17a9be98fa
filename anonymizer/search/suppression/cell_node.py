"""Cell suppression at one node of the lattice: from the table to rows, and from blanks to a recoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.counting import count, group_keys
from anonymizer.model.recoding import FullDomainRecoding, LocalSuppressionRecoding
from anonymizer.model.table import SUPPRESSED, Table
from anonymizer.search.base import SearchProblem
from anonymizer.search.suppression.cell_models import CellModels
from anonymizer.search.suppression.cell_problem import BLANK, CellProblem, CellSuppression
from anonymizer.search.suppression.cell_weights import CellWeights


@dataclass(frozen=True, eq=False)
class CellNode:
    """The table at some levels, its combinations grouped by all that matters.

    Attributes
    ----------
    base: what is published before cells are blanked.
    row: of each combination of the table, shape (combinations,), int64.
    cells: which cells to blank, at least cost.
    """

    problem: SearchProblem
    models: CellModels
    base: FullDomainRecoding
    row: IntArray
    cells: CellProblem

    @classmethod
    def of(
        cls, problem: SearchProblem, models: CellModels, weights: CellWeights, levels: Sequence[int]
    ) -> CellNode:
        """Group the table at some levels."""
        table = problem.table
        none = np.zeros(table.combinations, dtype=bool)
        base = FullDomainRecoding(table, levels, none, none)
        nodes = np.stack([base.nodes(i) for i in range(len(table.quasi_identifiers))], axis=1).astype(
            np.int64
        )
        row, first = _grouped(table, nodes, models.names)
        codes = np.stack([_published(base, position)[first] for position in range(nodes.shape[1])], axis=1)
        costs = np.stack([own[at] for own, at in zip(weights.blank, nodes[first].T, strict=True)], axis=1)
        gone = np.stack([own[at] for own, at in zip(weights.gone, nodes[first].T, strict=True)], axis=1)
        rules, complete = models.rules(table, first)
        cells = CellProblem(
            codes,
            count(row, table.counts, len(first)),
            costs,
            gone.sum(axis=1),
            problem.minimum_size,
            models.judge(table, first),
            min(problem.limit, table.records - 1),
            rules,
            complete,
        )
        return cls(problem, models, base, row, cells)

    def without_suppression(self) -> CellNode:
        """Return the node with no record to be suppressed: the reference then stays as it is."""
        return replace(self, cells=replace(self.cells, most_gone=0))

    def recoding(self, blanking: CellSuppression) -> LocalSuppressionRecoding | None:
        """Return what is released; None where that does not satisfy every constraint.

        Suppressed records stay where that is asked for and the class they make holds, else they are removed.
        """
        owner, counts, piece = self._parts(blanking)
        table = self.problem.table
        blanks = blanking.blanks[piece] | blanking.gone[piece][:, None]
        whole = len(owner) == table.combinations
        parts = None if whole else owner
        split = table if whole else table.split(owner, counts)
        own = LocalSuppressionRecoding(split, self.base, blanks, parts)
        if not own.suppressed.any():
            return own if self._valid(own, kept_suppressed=False) else None
        if self.problem.keep_rows and self._valid(own, kept_suppressed=True):
            return own
        own = LocalSuppressionRecoding(split, self.base, blanks, parts, own.suppressed)
        return own if self._valid(own, kept_suppressed=False) else None

    def _parts(self, blanking: CellSuppression) -> tuple[IntArray, IntArray, IntArray]:
        """Deal the pieces of each row to its combinations, in their order.

        Returns
        -------
        Combination, records and piece of each part, shape (parts,), the combinations ascending.
        """
        order = np.argsort(self.row, kind="stable")
        of_combination = np.cumsum(self.problem.table.counts[order])
        of_piece = np.cumsum(blanking.count)
        ends = np.union1d(of_combination, of_piece)
        owner = order[np.searchsorted(of_combination, ends)]
        piece = np.searchsorted(of_piece, ends)
        counts = np.diff(ends, prepend=0)
        sort = np.argsort(owner, kind="stable")
        return owner[sort], counts[sort], piece[sort]

    def _valid(self, own: LocalSuppressionRecoding, *, kept_suppressed: bool) -> bool:
        """Tell whether the classes as published satisfy every constraint, the starred one told apart."""
        stays = np.flatnonzero(~own.removed)
        columns = [column.codes[stays].astype(np.int64) for column in own.published()]
        suppressed = own.suppressed[stays].astype(np.int64)
        class_of, number = _keys([suppressed, *columns])
        if not number or (kept_suppressed and self._starred_before(own)):
            return False
        secret = {
            each.name: SensitiveCodes(each, own.table.sensitive_codes(each.name)[stays].astype(np.int64))
            for each in own.table.sensitive
        }
        classes = Classes(class_of, own.table.counts[stays], number, secret)
        return self.models.valid(classes, kept_suppressed=kept_suppressed)

    def _starred_before(self, own: LocalSuppressionRecoding) -> bool:
        """Tell whether records that are not suppressed have nothing but ``*`` either."""
        native: BoolArray = np.logical_and.reduce(self.cells.native, axis=1)[self.row]
        if own.owner is not None:
            native = native[own.owner]
        return bool((native & ~own.suppressed).any())


def _grouped(table: Table, nodes: IntArray, names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Group combinations by their nodes and some sensitive values; return the groups and one of each."""
    row, number = _keys([*nodes.T, *(table.sensitive_codes(name).astype(np.int64) for name in names)])
    first = np.full(number, table.combinations, dtype=np.int64)
    np.minimum.at(first, row, np.arange(table.combinations))
    return row, first


def _keys(columns: Sequence[IntArray]) -> tuple[IntArray, int]:
    keys, number = np.zeros(len(columns[0]), dtype=np.int64), min(len(columns[0]), 1)
    for column in columns:
        size = int(column.max(initial=0)) + 1
        keys, distinct = group_keys(keys * size + column, max(number, 1) * size)
        number = len(distinct)
    return keys, number


def _published(base: FullDomainRecoding, position: int) -> IntArray:
    """Return a code of the published text of each combination, ``BLANK`` for ``*``, shape (combinations,)."""
    cells = base.cells(position)
    numbers: dict[str, int] = {SUPPRESSED: BLANK}
    used, at = np.unique(cells.codes, return_inverse=True)
    own = [numbers.setdefault(cells.labels[node], len(numbers) - 1) for node in used.tolist()]
    return np.array(own, dtype=np.int64)[at]
