"""Frames of pandas with columns of Arrow: cast to types that are worked with, and back.

Results have the types of the input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from anonymizer.data.arrow import WayBack, worked_column
from anonymizer.data.frames import FrameKind
from anonymizer.data.source import FRAME, name_columns


class ArrowKind(FrameKind):
    """The data frames of pandas, of whose columns only those with types of Arrow are cast.

    Attributes
    ----------
    ways: back to the types that were given, by column.
    """

    def __init__(self) -> None:
        self.ways: dict[str, WayBack] = {}

    def to_pandas(self, given: pd.DataFrame) -> pd.DataFrame:
        """Return the frame, with Arrow's types that are worked with."""
        names = name_columns(FRAME, list(map(str, given.columns))).columns
        found = {}
        for place, name in enumerate(names):
            array = _arrow_values(given.iloc[:, place])
            if array is not None:
                worked = self.worked(name, array)
                if worked.type != array.type:
                    found[place] = worked
        return _with_columns(given, found)

    def from_pandas(self, released: pd.DataFrame) -> pd.DataFrame:
        """Return the frame, whose columns of Arrow have the types that they were given in."""
        found = {}
        for place, name in enumerate(released.columns):
            array = _arrow_values(released.iloc[:, place])
            if name in self.ways and array is not None:
                found[place] = self.ways[name].restore(array)
        return _with_columns(released, found)

    def worked(self, name: str, column: Any) -> Any:
        """Return a column in a type that is worked with, and note its way back."""
        worked, back = worked_column(f"{FRAME}: column '{name}'", column)
        if back is not None:
            self.ways[name] = back
        return worked


def _arrow_values(series: pd.Series[Any]) -> Any:
    """Return the values of a column with a type of Arrow; None for other types."""
    if not isinstance(series.dtype, pd.ArrowDtype):
        return None
    array = pa.array(series.array, from_pandas=False)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _with_columns(frame: pd.DataFrame, columns: Mapping[int, Any]) -> pd.DataFrame:
    """Return a DataFrame with columns of Arrow in other types, given by their places."""
    if not columns:
        return frame
    new = frame.copy(deep=False)
    for place, values in columns.items():
        array: Any = pd.arrays.ArrowExtensionArray(values)
        new.isetitem(place, array)
    return new
