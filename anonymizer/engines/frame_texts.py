"""The text that a value of a DataFrame stands for."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas


def record_texts(series: pandas.Series[Any]) -> tuple[NDArray[np.intp], list[str | None]]:
    """Return the distinct texts of a column and the position of each record's among them.

    Returns
    -------
    Positions, shape (records,), and the texts in the order of their first record, None for missing values.
    """
    from pandas.api.types import infer_dtype  # noqa: PLC0415  files are read without pandas

    # Objects may be equal and yet differ in their text, such as 1 and True, or not be comparable at all.
    mixed = series.dtype == object and infer_dtype(series, skipna=True) != "string"
    if mixed or _is_nested(series.dtype):
        series = series.map(value_text, na_action="ignore")
    codes, values = series.factorize()
    # An index gives its single-precision numbers as doubles, an array as they are.
    distinct = np.asarray(values) if values.dtype.kind == "f" else values
    texts: list[str | None] = [value_text(value) for value in distinct]
    positions = codes.astype(np.intp)
    if (positions < 0).any():
        positions[positions < 0] = len(texts)
        texts.append(None)
    if values.dtype.kind == "f":
        negative_zero = _negative_zeros(series)
        if negative_zero.any():
            texts = [
                None if text is None else text.removeprefix("-") if text == "-0" else text for text in texts
            ]
            positions[negative_zero] = len(texts)
            texts.append("-0")
    return _merged(positions, texts)


def _is_nested(dtype: Any) -> bool:
    """Tell whether values are lists or mappings of Arrow, which nothing can sort into distinct ones."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    return arrow is not None and arrow.num_fields > 0 and not hasattr(arrow, "index_type")


def _negative_zeros(series: pandas.Series[Any]) -> NDArray[np.bool_]:
    """Tell which records hold -0.0, which equals 0.0 and would be released as the input had it."""
    numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    negative: NDArray[np.bool_] = (numbers == 0) & np.signbit(numbers)
    return negative


def _merged(
    positions: NDArray[np.intp], texts: list[str | None]
) -> tuple[NDArray[np.intp], list[str | None]]:
    """Join values that differ but have the same text; leave out texts without a record."""
    used = np.zeros(len(texts), dtype=bool)
    used[positions] = True
    place: dict[str | None, int] = {}
    new = [place.setdefault(text, len(place)) if used[i] else -1 for i, text in enumerate(texts)]
    return np.array(new, dtype=np.intp)[positions], list(place)


def value_text(value: Any) -> str:
    """Return what the cast of the same value in a Parquet file gives."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        return str(value).removesuffix(".0")
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    return _nested_text(value) if isinstance(value, list | np.ndarray | dict) else str(value)


def _nested_text(value: Any) -> str:
    """Return the text of a list or mapping."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"'{key}': {_part_text(part)}" for key, part in value.items()) + "}"
    return f"[{', '.join(map(_part_text, value))}]"


def _part_text(value: Any) -> str:
    return "NULL" if value is None else value_text(value)
