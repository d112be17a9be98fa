"""Frames of other libraries than pandas, which narwhals and Arrow convert to pandas and back.

Results have the types of the input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals
import pandas as pd
import pyarrow as pa

from anonymizer.data.arrow_frames import ArrowKind
from anonymizer.data.source import FRAME
from anonymizer.errors import DataError, InputError


class LibraryKind(ArrowKind):
    """The data frames of a library beside pandas.

    Parameters
    ----------
    table_of: returns a frame as a table of Arrow; the frame is not modified.
    frame_of: returns a table of Arrow as a frame of this kind.
    """

    def __init__(self, table_of: Callable[[Any], Any], frame_of: Callable[[Any], Any]) -> None:
        super().__init__()
        self._table_of, self._frame_of = table_of, frame_of

    def to_pandas(self, given: Any) -> pd.DataFrame:
        """Return a frame as one of pandas, with Arrow's types that are worked with.

        Raises
        ------
        InputError: two columns have one name, or a column has a type that cannot be read.
        """
        table = self._table_of(given)
        repeated = [name for name in table.column_names if table.column_names.count(name) > 1]
        if repeated:
            raise InputError(f"{FRAME}: has two columns named '{repeated[0]}'; rename one of them")
        columns = [self.worked(name, table.column(name)) for name in table.column_names]

        def arrow_type(kind: Any) -> Any:
            return None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind)

        worked = pa.table(columns, names=table.column_names)
        converted: pd.DataFrame = worked.to_pandas(types_mapper=arrow_type)
        return converted

    def from_pandas(self, released: pd.DataFrame) -> Any:
        """Return a frame of pandas as one of this kind, without index and metadata.

        Columns have the types that they were given in if their values are values of the input.
        """
        # The metadata of pandas would disclose its index.
        table = pa.Table.from_pandas(released, preserve_index=False).replace_schema_metadata(None)
        for place, name in enumerate(table.column_names):
            if name in self.ways:
                table = table.set_column(place, name, self.ways[name].restore(table.column(place)))
        return self._frame_of(table)


def library_kind(frame: Any) -> LibraryKind:
    """Return the kind of a frame of another library than pandas."""
    if isinstance(frame, pa.Table):
        return LibraryKind(_table_of, lambda table: table)
    try:
        known = narwhals.from_native(frame, eager_only=True)
    except TypeError:  # an object that only exports an Arrow stream
        return LibraryKind(_table_of, lambda table: table)
    library: Any = known.__native_namespace__()
    return LibraryKind(
        lambda given: _table_of(_exported(narwhals.from_native(given, eager_only=True))),
        lambda table: narwhals.from_arrow(table, backend=library).to_native(),
    )


def _exported(frame: Any) -> Any:
    """Return a frame of narwhals as a table of Arrow.

    Raises
    ------
    DataError: Arrow has no type for a column.
    """
    for name, kind in frame.schema.items():
        try:
            if kind == narwhals.Object:
                # Arrow would hold their addresses in memory.
                raise TypeError("objects of Python")
            frame.select(name).to_arrow()
        except Exception as error:
            reason = str(error).split("\n", 1)[0]
            raise DataError(
                f"{FRAME}: column '{name}' has the type {frame.schema[name]}, which Arrow cannot hold "
                f"({reason}); cast it, for example to text, or leave the column out"
            ) from None
    return frame.to_arrow()


def _table_of(frame: Any) -> Any:
    """Return an Arrow table, or an object that exports an Arrow stream, without unnecessary copies."""
    return frame if isinstance(frame, pa.Table) else pa.table(frame)
