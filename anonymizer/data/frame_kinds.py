"""What users give as a data frame: of which kind it is, or why it is not accepted."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pandas as pd

from anonymizer.data.frames import FrameKind
from anonymizer.distribution import installing
from anonymizer.errors import InputError

ACCEPTED = "a DataFrame of pandas or polars, an Arrow table, or an object that exports an Arrow stream"


def frame_kind(frame: Any) -> FrameKind:
    """Return the kind of a data frame.

    Raises
    ------
    InputError: it is not a data frame, or a library for its conversion is not installed.
    """
    if isinstance(frame, pd.DataFrame):
        if not any(isinstance(each, pd.ArrowDtype) for each in frame.dtypes):
            return FrameKind()
        from anonymizer.data.arrow_frames import ArrowKind  # noqa: PLC0415 - the columns are of Arrow

        return ArrowKind()
    if isinstance(frame, str | PurePath):
        raise InputError(
            f"got the path {str(frame)!r}, not its records; read it, for example with "
            "pandas.read_csv(path, dtype=str), or set input.path to it in a config for the "
            "command run"
        )
    module = type(frame).__module__.partition(".")[0]
    found = type(frame).__name__ if module == "builtins" else f"{module}.{type(frame).__name__}"
    if hasattr(frame, "collect") and not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(f"got a {found}, which has no records yet; pass the result of .collect()")
    if isinstance(frame, pd.Series) or type(frame).__name__ in ("Series", "ChunkedArray", "Array"):
        raise InputError(f"got a {found}, which is one column; accepted: {ACCEPTED}")
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "__narwhals_dataframe__"):
        raise InputError(f"got a {found}; accepted: {ACCEPTED}")
    try:
        from anonymizer.data.library_frames import library_kind  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError(f"got a {found}, which needs more than pandas; {installing('frames')}") from None
    return library_kind(frame)
