"""The kernel: one level of Mondrian over rows in memory, or all levels of a part of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray
from anonymizer.search.cutting.batch import Batch
from anonymizer.search.cutting.chosen import Chosen
from anonymizer.search.cutting.level import Level
from anonymizer.search.cutting.rows import RowSource
from anonymizer.search.cutting.store import Store
from anonymizer.search.cutting.threads import in_threads
from anonymizer.search.regions.checks import Checks
from anonymizer.search.regions.mode import Mode


class Kernel:
    """Chooses the cuts of levels.

    Parameters
    ----------
    checks: the models that both sides of a cut have to satisfy.
    minimum: no class with fewer records satisfies them.
    """

    def __init__(self, mode: Mode, checks: Checks, minimum: int) -> None:
        self._mode = mode
        self._checks = checks
        self._minimum = minimum

    def large(self, store: Store) -> BoolArray:
        """Tell which open regions have enough records for two, shape (open regions,)."""
        large: BoolArray = store.records[store.open] >= 2 * self._minimum
        return large

    def choose(self, store: Store) -> tuple[Chosen, NDArray[Any]]:
        """Return the cuts of the open regions, and what of each of their rows goes to the left.

        That is the number of records, or whether all go there in a mode that never divides a row.
        """
        found = in_threads(lambda span: self._chosen(store.batch(span)), store.batches())
        return Chosen.joined([chosen for chosen, _ in found]), np.concatenate([left for _, left in found])

    def _chosen(self, batch: Batch) -> tuple[Chosen, NDArray[Any]]:
        source = RowSource(batch, self._mode, self._checks)
        level = Level(source, self._mode, self._minimum)
        proposed, lowest = level.propose()
        left = source.left(proposed)
        return level.chosen(proposed, lowest), left if self._mode.divides else left > 0
