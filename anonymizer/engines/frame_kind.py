"""Data frames of several libraries: read as pandas ones, given back as what they were."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from anonymizer.distribution import installing
from anonymizer.errors import InputError

if TYPE_CHECKING:
    import pandas

ACCEPTED = "a DataFrame of pandas or polars, an Arrow table, or what exports an Arrow stream"


class FrameKind(ABC):
    """A library's data frames."""

    @abstractmethod
    def to_pandas(self, frame: Any) -> pandas.DataFrame:
        """Return a frame as one of pandas, its types kept as Arrow's; the frame is not changed."""

    @abstractmethod
    def from_pandas(self, frame: pandas.DataFrame) -> Any:
        """Return a frame of pandas as one of this kind, without index and metadata."""


class PandasKind(FrameKind):
    """pandas itself."""

    def to_pandas(self, frame: Any) -> pandas.DataFrame:
        """Return the frame."""
        given: pandas.DataFrame = frame
        return given

    def from_pandas(self, frame: pandas.DataFrame) -> Any:
        """Return the frame."""
        return frame


class ArrowKind(FrameKind):
    """Arrow tables of pyarrow, and whatever exports a stream of Arrow record batches."""

    def to_pandas(self, frame: Any) -> pandas.DataFrame:
        """Return the frame without copying what need not be."""
        import pyarrow as pa  # noqa: PLC0415 - an extra that pandas alone does without

        table = frame if isinstance(frame, pa.Table) else pa.table(frame)
        return _arrow_to_pandas(table)

    def from_pandas(self, frame: pandas.DataFrame) -> Any:
        """Return an Arrow table."""
        return _pandas_to_arrow(frame)


class NarwhalsKind(FrameKind):
    """Another library that narwhals knows, such as polars.

    Parameters
    ----------
    library: the module of the frames.
    """

    def __init__(self, library: Any) -> None:
        self._library = library

    def to_pandas(self, frame: Any) -> pandas.DataFrame:
        """Return the frame by way of Arrow."""
        import narwhals  # noqa: PLC0415 - an extra that pandas alone does without

        return _arrow_to_pandas(narwhals.from_native(frame, eager_only=True).to_arrow())

    def from_pandas(self, frame: pandas.DataFrame) -> Any:
        """Return a frame of the library."""
        import narwhals  # noqa: PLC0415

        return narwhals.from_arrow(_pandas_to_arrow(frame), backend=self._library).to_native()


def frame_kind(frame: Any) -> FrameKind:
    """Return the kind of a data frame.

    Raises
    ------
    InputError: it is none, or its library or the way to it is not installed.
    """
    import pandas as pd  # noqa: PLC0415 - the command line does without it

    if isinstance(frame, pd.DataFrame):
        return PandasKind()
    if isinstance(frame, str | PurePath):
        raise InputError(
            f"the data are the path {str(frame)!r}; read it, as with pandas.read_csv(path, dtype=str), or "
            "name it in a config as input.path and use: anonymizer run CONFIG"
        )
    found = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    if hasattr(frame, "collect") and not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(f"the data are a {found}, which has no records yet; give what .collect() returns")
    if isinstance(frame, pd.Series) or type(frame).__name__ in ("Series", "ChunkedArray", "Array"):
        raise InputError(f"the data are a {found}, which is one column; accepted: {ACCEPTED}")
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "__narwhals_dataframe__"):
        raise InputError(f"the data are a {found}; accepted: {ACCEPTED}")
    try:
        import narwhals  # noqa: PLC0415
        import pyarrow as pa  # noqa: F401, PLC0415
    except ImportError:
        raise InputError(
            f"the data are a {found}, which needs more than pandas; run: {installing('frames')}"
        ) from None
    try:
        known = narwhals.from_native(frame, eager_only=True)
    except TypeError:
        return ArrowKind()
    return ArrowKind() if known.implementation.is_pyarrow() else NarwhalsKind(known.__native_namespace__())


def _arrow_to_pandas(table: Any) -> pandas.DataFrame:
    import pandas as pd  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    def arrow_type(kind: Any) -> Any:
        return None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind)

    frame: pandas.DataFrame = table.replace_schema_metadata(None).to_pandas(types_mapper=arrow_type)
    return frame


def _pandas_to_arrow(frame: pandas.DataFrame) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    # The metadata would tell of pandas, and the order of its index.
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
