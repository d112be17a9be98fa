"""Published texts as a column of a DataFrame, of the original's type where they are its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.data.relation import Relation, Replacement
from anonymizer.model.arrays import CodeArray, IntArray

if TYPE_CHECKING:
    import pandas


def published_series(
    relation: Relation, replacement: Replacement, rows: IntArray, original: pandas.Series[Any]
) -> pandas.Series[Any]:
    """Return what is published instead of a column, with a new index.

    Parameters
    ----------
    relation: that was opened from the DataFrame.
    rows: numbers of the published records in their order, shape (released,).
    original: the column.

    Returns
    -------
    Of the original's dtype when every published text is that of one of its values; else text, or categories
    of texts where the original has categories. A text that only looks like a number stays a text: ``3`` for
    30 to 39 is no age.
    """
    import pandas as pd  # noqa: PLC0415 - reading and writing files does without it

    used, places = np.unique(replacement.codes[rows], return_inverse=True)
    texts = [replacement.labels[code] for code in used]
    dictionary = [text for text, _ in relation.dictionary(str(original.name))]
    if set(texts) <= set(dictionary):
        place = {text: number for number, text in enumerate(dictionary)}
        known = _first_records(relation.codes(str(original.name)), len(dictionary))
        positions = known[[place[text] for text in texts]]
        return only_used(original.iloc[positions[places]].reset_index(drop=True))
    if isinstance(original.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical.from_codes(places, categories=pd.Index(texts, dtype="str")))
    # A text type of its own, such as Arrow's, holds other texts too.
    dtype = original.dtype if _is_text(original.dtype) else "str"
    return pd.Series(pd.Series(texts, dtype=dtype).array.take(places))


def only_used(series: pandas.Series[Any]) -> pandas.Series[Any]:
    """Return a column without the categories that none of its records has."""
    import pandas as pd  # noqa: PLC0415

    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.remove_unused_categories()
    arrow: Any = getattr(series.dtype, "pyarrow_dtype", None)
    if hasattr(arrow, "index_type"):
        # What Arrow takes from a dictionary keeps all of it, so a new one is made.
        return series.astype(pd.ArrowDtype(arrow.value_type)).astype(series.dtype)
    return series


def _first_records(codes: CodeArray, size: int) -> IntArray:
    """Return the number of one record of each code, shape (size,)."""
    first = np.zeros(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int64)[::-1]
    return first


def _is_text(dtype: Any) -> bool:
    from pandas.api.types import is_string_dtype  # noqa: PLC0415 - reading and writing files does without it

    return dtype.name != "object" and is_string_dtype(dtype)
