"""Random full-domain recodings with random suppressed classes, for the product and for the twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from anonymizer.loss.base import Marginals, TransformationFacts
from anonymizer.model.classes import Released
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.model.table import Table
from anonymizer.search.rollup import RollUp
from tests.twins.loss import TwinRelease
from tests.twins.microdata import Microdata
from tests.twins.search import BruteForce, ProblemSpec

Levels = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """A node of the lattice with some of its classes suppressed."""

    data: Microdata
    levels: Levels
    suppressed: frozenset[int]
    kept_suppressed: bool
    k: int | None

    @property
    def classes(self) -> list[list[int]]:
        """Rows of all classes, the suppressed ones among them."""
        return BruteForce(ProblemSpec(self.data, ())).classes(self.levels)

    def twin(self) -> TwinRelease:
        """Return the release as the twins read it."""
        sizes = [len(rows) for rows in self.classes if rows[0] not in self.suppressed]
        kept_suppressed = len(self.suppressed) if self.kept_suppressed else 0
        return TwinRelease(
            self.data,
            self.levels,
            tuple(sizes + [kept_suppressed] * (kept_suppressed > 0)),
            self.suppressed,
            kept_suppressed,
            self.k,
        )

    def mask(self, table: Table, rows: frozenset[int]) -> np.ndarray:
        """Return which combinations of the table are those of some rows."""
        columns = [own.column for own in (*table.quasi_identifiers, *table.sensitive)]
        chosen = {
            tuple("<missing>" if cell is None else str(cell) for cell in self.data.records[row])
            for row in rows
        }
        texts = [
            tuple(own.texts[code] for own, code in zip(columns, codes, strict=True)) for codes in table.codes
        ]
        return np.array([text in chosen for text in texts], dtype=bool)

    def released(self, table: Table) -> Released:
        """Return the release as the metrics read it."""
        suppressed = self.mask(table, self.suppressed)
        removed = np.zeros_like(suppressed) if self.kept_suppressed else suppressed
        sizes = [len(rows) for rows in self.classes if rows[0] not in self.suppressed]
        return Released(
            table,
            FullDomainRecoding(table, self.levels, suppressed, removed),
            np.array(sizes, dtype=np.int64),
            len(self.suppressed) if self.kept_suppressed else 0,
            len(self.suppressed),
            self.k,
        )

    def facts(
        self, table: Table, lowest: Levels, certain: frozenset[int], unplaced: int = 0
    ) -> TransformationFacts:
        """Return the node as a search describes it, counted from a table rolled up to some lowest levels."""
        rollup = RollUp.of(table).raised(lowest)
        classes = rollup.classes(self.levels)
        whole = RollUp.of(table).classes(self.levels)
        suppressed = self.mask(table, self.suppressed)
        kept = np.ones(classes.number, dtype=bool)
        kept[whole.class_of[suppressed]] = False
        return TransformationFacts(
            self.levels,
            classes.sizes,
            classes.sizes[kept],
            len(self.suppressed) if self.kept_suppressed else 0,
            rollup.marginals(np.where(kept[classes.class_of], 0, classes.counts)),
            self._marginals(rollup, table, certain, unplaced),
            lambda: self.released(table).recoding,
        )

    def _marginals(self, rollup: RollUp, table: Table, certain: frozenset[int], unplaced: int) -> Marginals:
        lost = np.zeros(RollUp.of(table).classes(self.levels).number, dtype=bool)
        whole = RollUp.of(table).classes(self.levels)
        lost[whole.class_of[self.mask(table, certain)]] = True
        classes = rollup.classes(self.levels)
        return rollup.marginals(np.where(lost[classes.class_of], classes.counts, 0), unplaced)


def levels_between(random: Random, low: Sequence[int], high: Sequence[int]) -> Levels:
    """Return random levels, both ends included."""
    return tuple(random.randint(least, most) for least, most in zip(low, high, strict=True))


def lowest(data: Microdata) -> Levels:
    """Return the lowest levels that a search may use."""
    return tuple(own.minimum for own in data.quasi_identifiers)


def highest(data: Microdata) -> Levels:
    """Return the highest levels that a search may use."""
    return tuple(own.maximum for own in data.quasi_identifiers)


def rows_of(classes: Sequence[Sequence[int]]) -> frozenset[int]:
    """Return all rows of some classes."""
    return frozenset(row for rows in classes for row in rows)


def node(
    random: Random, data: Microdata, levels: Levels, k: int | None, lost: frozenset[int] = frozenset()
) -> Node | None:
    """Return a node that suppresses ``lost``, classes smaller than k and some others; None if all are.

    Classes that hold a record of ``lost`` go, so that nothing but whole classes is suppressed.
    """
    classes = Node(data, levels, frozenset(), kept_suppressed=False, k=k).classes
    share = random.choice((0.0, 0.2, 0.6))
    gone = [
        rows for rows in classes if lost.intersection(rows) or len(rows) < (k or 0) or random.random() < share
    ]
    suppressed = rows_of(gone)
    kept_suppressed = len(suppressed) >= (k or 1) and random.random() < 0.3
    if len(gone) == len(classes) and not kept_suppressed:
        return None
    return Node(data, levels, suppressed, kept_suppressed, k)
