"""Which slots between proposed cuts lie on which side of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.source import Sides


@dataclass(frozen=True, eq=False)
class Ends:
    """Where the sides of cuts end.

    Attributes
    ----------
    cut: regions that have a cut, shape (proposals, regions), bool.
    last, first: last slot on the left and first on the right, shape (proposals, regions), int64.
    """

    cut: BoolArray
    last: IntArray
    first: IntArray

    def sides(self, coding: Coding, traces: Traces) -> list[Sides]:
        """Return the sides of each proposal for the regions that have one.

        Parameters
        ----------
        traces: of the slots, shape (regions, slots).
        """
        upto, onwards = accumulated(coding, traces)
        found = []
        for cut, last, first in zip(self.cut, self.last, self.first, strict=True):
            own = np.flatnonzero(cut)
            left, right = last[own], first[own]
            found.append(Sides([each[own, left] for each in upto], [each[own, right] for each in onwards]))
        return found


def accumulated(coding: Coding, traces: Traces) -> tuple[Traces, Traces]:
    """Return the traces of all slots up to each, and of all from each on, shape (regions, slots)."""
    ufuncs = [own.reduction.ufunc for own in coding.traces]
    upto = [own.accumulate(each, axis=1) for own, each in zip(ufuncs, traces, strict=True)]
    onwards = [
        own.accumulate(each[:, ::-1], axis=1)[:, ::-1] for own, each in zip(ufuncs, traces, strict=True)
    ]
    return upto, onwards
