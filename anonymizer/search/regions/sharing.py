"""Who of the records with the median value goes to the left in a relaxed cut."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.search.regions.segments import Segments


class Sharing(ABC):
    """Divides rows of some records between two sides, by the order of the table alone."""

    @abstractmethod
    def share(self, counts: IntArray, region: IntArray, taken: IntArray, total: IntArray) -> IntArray:
        """Return the records of each row that go to the left, shape (rows,), int64.

        Parameters
        ----------
        counts: records of each row, shape (rows,), int64.
        region: of each row, ascending.
        taken: records of the row's region that go to the left, out of ``total``, shape (rows,), int64.
        """


def _running(counts: IntArray, region: IntArray) -> IntArray:
    numbers = np.cumsum(np.concatenate([[0], (region[1:] != region[:-1]).astype(np.int64)]))
    return Segments(numbers, int(numbers[-1]) + 1).running(counts)


class InOrder(Sharing):
    """The first records go to the left: at most one combination is divided."""

    def share(
        self,
        counts: IntArray,
        region: IntArray,
        taken: IntArray,
        total: IntArray,  # noqa: ARG002 - the first go, out of however many
    ) -> IntArray:
        """Return the records within the first ``taken`` of their region."""
        before = _running(counts, region) - counts
        return np.clip(taken - before, 0, counts)


class Proportional(Sharing):
    """Every combination is divided in the same proportion, up to rounding.

    A frequent combination then meets different others in every region, where sets and intervals tell the
    regions apart; kept together it would end as one large class of its own.
    """

    def share(self, counts: IntArray, region: IntArray, taken: IntArray, total: IntArray) -> IntArray:
        """Return each row's part of a line on which the left side takes every record at regular intervals."""
        upto = _running(counts, region)
        return upto * taken // total - (upto - counts) * taken // total
