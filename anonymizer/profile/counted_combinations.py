"""The same counts where records do not come to this process: the engine counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.core.arrays import IntArray
from anonymizer.engines.base import Relation
from anonymizer.profile.combinations import CELLS, Combinations, Together


class CountedCombinations(Combinations):
    """Counts of combinations of columns that an engine returns.

    Parameters
    ----------
    relation, work: as for ``Combinations``.
    """

    def together(self, names: Sequence[str], k: int) -> Together:
        """Return how many records some columns single out together."""
        alone, below = self._relation.in_small_classes(names, k)
        return Together(len(names), self._relation.rows, k, alone, below)

    def _cells(self, one: str, other: str) -> IntArray | None:
        """Return the records of each pair of values, shape (values, values); None where that is too many."""
        rows, columns = (len(self._relation.dictionary(name)) for name in (one, other))
        if rows * columns > CELLS:
            return None
        found = self._relation.group_counts((one, other))
        cells: IntArray = np.zeros((rows, columns), dtype=np.int64)
        cells[found.codes[:, 0], found.codes[:, 1]] = found.counts
        return cells


def combinations_of(relation: Relation) -> Combinations:
    """Return what counts the combinations of a relation; one in order counts them fastest by its codes."""
    return Combinations(relation) if relation.ordered else CountedCombinations(relation)
