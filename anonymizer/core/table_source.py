"""Tables of the same records, told apart as finely as is asked, where the finest does not fit in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from anonymizer.core.arrays import CodeArray
from anonymizer.core.kept_regions import CodedRows, RegionStore
from anonymizer.core.table import Table


class TableSource(ABC):
    """What an engine counts when it is asked.

    A value that is generalized stands in a table as the lowest code of its node: generalized further, it is
    published as all values of the node are, and only then may it be published.
    """

    @abstractmethod
    def at(self, levels: Sequence[int], most: int) -> Table | None:
        """Return the table of records told apart by their nodes at generalization levels.

        Its quasi-identifiers may be used from these levels on.

        Parameters
        ----------
        levels: one for each quasi-identifier, within what it allows.
        most: combinations that are wanted at most.

        Returns
        -------
        None where there are more.
        """

    @abstractmethod
    def records_in_small_classes(self, levels: Sequence[int], least: int) -> int:
        """Count the records in equivalence classes of fewer than some number of records.

        Parameters
        ----------
        levels: of generalization, one for each quasi-identifier.
        least: records of a class that is not small.
        """

    @abstractmethod
    def in_regions(
        self, levels: Sequence[int], codes: CodeArray, coded: CodedRows, *, every: bool
    ) -> RegionStore:
        """Return all combinations, told apart by their values, in the regions that a search begins to cut.

        Parameters
        ----------
        levels: of generalization, one for each quasi-identifier.
        codes: a code under the nodes at these levels of each region, shape (regions, quasi-identifiers),
            int32; no two regions have the same nodes.
        coded: what is summed up.
        every: whether every combination is in one of them; the others are left out.
        """
