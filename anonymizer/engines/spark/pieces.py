"""Work that processes of Spark do with the combinations of some regions, by numpy."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from anonymizer.core.arrays import IntArray
from anonymizer.core.kept_regions import RegionRows, Work, never
from anonymizer.engines.spark.keys import KeyWords

T = TypeVar("T")

PIECES = 8
"""That a batch is divided into, if it has so many regions: several processes can work on it."""

RESULT = "piece INT, result BINARY"
"""What comes back of a piece: its number, and what the work returned, pickled."""


def pieces_of(batches: Sequence[IntArray]) -> list[IntArray]:
    """Divide batches of regions, each ascending; the same way on every cluster."""
    return [
        piece for batch in batches for piece in np.array_split(batch, min(len(batch), PIECES)) if len(piece)
    ]


def working(keys: KeyWords, work: Work[T], *, stopped: bool) -> Callable[[Any], Any]:
    """Return what Spark calls with the rows of a piece, in its processes.

    Parameters
    ----------
    keys: how the codes of the rows are packed.
    stopped: whether the user wants to end, so that the work does only what it has to.
    """

    def worked(rows: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        words = [rows.column(name).to_numpy() for name in keys.names]
        given = RegionRows(
            keys.unpack(words),
            rows.column("n").to_numpy().astype(np.int64, copy=False),
            rows.column("region").to_numpy().astype(np.int64),
        )
        result = pickle.dumps(work(given, _at_once if stopped else never))
        numbers = rows.column("piece").slice(0, 1).combine_chunks().cast(pa.int32())
        return pa.table({"piece": numbers, "result": pa.array([result], pa.binary())})

    return worked


def _at_once() -> bool:
    """Tell that work is to end as soon as it can."""
    return True
