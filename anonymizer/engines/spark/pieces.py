"""Work that processes of Spark do with the combinations of some regions, by numpy."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from anonymizer.engines.spark.keys import KeyWords
from anonymizer.model.arrays import IntArray
from anonymizer.model.out_of_core import RegionRows, Work, never_stopped

Result = TypeVar("Result")

PIECES = 8
"""That a batch is divided into, if it has so many regions: several processes can work on it."""

RESULT = "piece INT, result BINARY"
"""What comes back of a piece: its number, and what the work returned, pickled."""


def noted_schema(keys: KeyWords) -> str:
    """Return what comes back of a piece where its rows are noted: a row as above, with the number of regions.

    Then a row for each of the piece, without a result: its keys, records, and its region from 0 on.
    """
    words = "".join(f", {name} BIGINT" for name in keys.names)
    return f"{RESULT}, regions INT, n BIGINT, region INT{words}"


def pieces_of(batches: Sequence[IntArray]) -> list[IntArray]:
    """Divide batches of regions, each ascending; the same way on every cluster."""
    return [
        piece for batch in batches for piece in np.array_split(batch, min(len(batch), PIECES)) if len(piece)
    ]


def working(keys: KeyWords, work: Work[Result], *, stopped: bool) -> Callable[[Any], Any]:
    """Return what Spark calls with the rows of a piece, in its processes.

    Parameters
    ----------
    keys: how the codes of the rows are packed.
    stopped: whether the user wants to end, so that the work does only what it has to.
    """

    def worked(rows: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        done = work(_given(keys, rows), _at_once if stopped else never_stopped)
        numbers = rows.column("piece").slice(0, 1).combine_chunks().cast(pa.int32())
        return pa.table({"piece": numbers, "result": pa.array([pickle.dumps(done.result)], pa.binary())})

    return worked


def noting(keys: KeyWords, work: Work[Result], *, stopped: bool) -> Callable[[Any], Any]:
    """Return the same where rows are noted; the parameters are those of ``working``."""

    def noted(rows: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        done = work(_given(keys, rows), _at_once if stopped else never_stopped)
        number = pa.array(np.full(rows.num_rows, rows.column("piece")[0].as_py(), dtype=np.int32))
        first = pa.table(
            {
                "piece": number.slice(0, 1),
                "result": pa.array([pickle.dumps(done.result)], pa.binary()),
                "regions": pa.array([int(done.region.max()) + 1], pa.int32()),
            }
        )
        others = {"piece": number, "region": pa.array(done.region.astype(np.int32))}
        others |= {name: rows.column(name) for name in ("n", *keys.names)}
        told = pa.concat_tables([first, pa.table(others)], promote_options="default")
        names = ["piece", "result", "regions", "n", "region", *keys.names]
        return told.select(names)

    return noted


def _given(keys: KeyWords, rows: Any) -> RegionRows:
    """Return the rows of a piece."""
    return RegionRows(
        keys.unpack([rows.column(name).to_numpy() for name in keys.names]),
        rows.column("n").to_numpy().astype(np.int64, copy=False),
        rows.column("region").to_numpy().astype(np.int64),
    )


def _at_once() -> bool:
    """Tell that work is to end as soon as it can."""
    return True
