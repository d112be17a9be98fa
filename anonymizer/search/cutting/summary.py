"""What a level of Mondrian is chosen from: the parts of each open region along each axis."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Traces


@dataclass(frozen=True, eq=False)
class Groups:
    """The open regions of a level.

    Attributes
    ----------
    records: of each region, shape (regions,), int64.
    traces: of each region, as the coding lists them.
    """

    records: IntArray
    traces: Traces

    @property
    def number(self) -> int:
        """How many regions there are."""
        return len(self.records)


@dataclass(frozen=True, eq=False)
class PartSummary:
    """The parts of the open regions along one axis: ``GROUP BY region, part``.

    Attributes
    ----------
    region: of each part, shape (parts,), int64, ascending; regions of one part need not be listed.
    part: number of each part in its region, as ``Frames`` has it, shape (parts,), int64, ascending in it.
    records: of each part, shape (parts,), int64, positive.
    traces: of each part, as the coding lists them; None where only the records were counted.
    """

    region: IntArray
    part: IntArray
    records: IntArray
    traces: Traces | None = None
