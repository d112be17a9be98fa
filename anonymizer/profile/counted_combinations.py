"""The same counts where records do not come to this process: the engine counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.model.arrays import IntArray
from anonymizer.profile.combinations import JointUniqueness, UniquenessProfile
from anonymizer.profile.pair_tables import CELLS


class CountedCombinations(UniquenessProfile):
    """Counts of combinations of columns that an engine returns.

    Parameters
    ----------
    relation, work: as for ``Combinations``.
    """

    def together(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return how many records some columns single out together."""
        alone, below = self._relation.in_small_classes(names, k)
        return JointUniqueness(len(names), self._relation.rows, k, alone, below)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with the records of each pair of values, unless these are too many."""
        widths = {name: len(self._relation.dictionary(name)) for name in names}
        for one, other in combinations(names, 2):
            if widths[one] * widths[other] <= CELLS:
                found = self._relation.group_counts((one, other))
                cells: IntArray = np.zeros((widths[one], widths[other]), dtype=np.int64)
                cells[found.codes[:, 0], found.codes[:, 1]] = found.counts
                yield (one, other), cells


def combinations_of(relation: Relation) -> UniquenessProfile:
    """Return what counts the combinations of a relation; one in order counts them fastest by its codes."""
    return UniquenessProfile(relation) if relation.ordered else CountedCombinations(relation)
