"""Tables of the same records, told apart as finely as is asked, where the finest does not fit in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

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
