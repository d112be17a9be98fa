"""Load a DataFrame into DuckDB as texts, to write it to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.frame import NAME
from anonymizer.engines.frame_texts import record_texts
from anonymizer.engines.options import EngineOptions

if TYPE_CHECKING:
    import pandas


def open_in_database(frame: pandas.DataFrame, options: EngineOptions) -> DuckRelation:
    """Return a DataFrame as a relation of a new database, every value as its text."""
    database = Database(options)
    arrays = {}
    for index in range(frame.shape[1]):
        codes, texts = record_texts(frame.iloc[:, index])
        arrays[f"c{index}"] = np.array(texts, dtype=object)[codes]
    selected = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in arrays)
    with database.holding("frame", arrays):
        database.run(f"CREATE TABLE records AS SELECT {selected} FROM frame")
    return DuckRelation(database, NAME, list(frame.columns))
