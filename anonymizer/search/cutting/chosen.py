"""Which of the open regions are cut, and what goes to the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Chosen:
    """The cuts of a level.

    Attributes
    ----------
    cut: regions that are cut, shape (regions,), bool.
    axis: position of the quasi-identifier along which each is cut, shape (regions,), int64; -1 without a cut.
    starts: the parts of region i that go to the left are ``left[starts[i]:starts[i + 1]]``, shape
        (regions + 1,), int64.
    left: numbers of parts, as the region's Frames have it, in the order in which they were cut, int64;
        ``Axis.named`` says which nodes or units they are.
    target: records on the left, shape (regions,), int64. In a relaxed cut some records of the last part on
        the left may be on the right.
    gain: loss that each cut saves, in records, shape (regions,), float64.
    tried: cuts whose loss was computed.
    """

    cut: BoolArray
    axis: IntArray
    starts: IntArray
    left: IntArray
    target: IntArray
    gain: FloatArray
    tried: int

    @classmethod
    def joined(cls, several: Sequence[Chosen]) -> Chosen:
        """Return the cuts of regions one after the other."""
        sizes = [np.diff(each.starts) for each in several]
        return cls(
            np.concatenate([each.cut for each in several]),
            np.concatenate([each.axis for each in several]),
            np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
            np.concatenate([each.left for each in several]),
            np.concatenate([each.target for each in several]),
            np.concatenate([each.gain for each in several]),
            sum(each.tried for each in several),
        )
