"""DataFrames as relations: encoded once by pandas, counted in numpy.

Frames of other libraries are read as pandas frames, and results have the type of the input. Each value has
one text; a frame is loaded into DuckDB as texts to be written to a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.csv import check_header
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.relation import (
    Groups,
    Projection,
    Relation,
    ReleaseQuery,
    Replacement,
    shuffled_rows,
)
from anonymizer.data.source import EngineOptions
from anonymizer.distribution import installing
from anonymizer.errors import DataError, InputError
from anonymizer.model.arrays import CodeArray, IntArray, ranks_of
from anonymizer.model.counting import count, group_keys

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


NAME = "the DataFrame"


@dataclass(frozen=True, eq=False)
class _Column:
    """The distinct texts of a column, sorted, a null (None) last, and the position of each record's."""

    texts: tuple[str | None, ...]
    codes: CodeArray

    @cached_property
    def counts(self) -> IntArray:
        return np.bincount(self.codes, minlength=len(self.texts)).astype(np.int64, copy=False)

    @property
    def ranks(self) -> CodeArray:
        """Order of each text for sorting: a null right after the empty text."""
        order = sorted(range(len(self.texts)), key=lambda i: (self.texts[i] or "", self.texts[i] is None))
        return ranks_of(order)


class FrameRelation(Relation):
    """A DataFrame, whose missing values (None, NaN, NaT, NA) are nulls; its index plays no part.

    Raises
    ------
    DataError: without records or columns, two columns of one name, a name that is not a text.
    """

    def __init__(self, frame: pandas.DataFrame, options: EngineOptions) -> None:
        check_frame(frame)
        self._frame = frame
        self._options = options
        self._read: dict[str, _Column] = {}
        self._stored: Relation | None = None
        self.name = NAME
        self.columns = tuple(frame.columns)
        self.rows = len(frame)
        self.sha256 = None
        self.separator = None

    def _column(self, name: str) -> _Column:
        if name not in self._read:
            codes, texts = record_texts(self._frame.iloc[:, self.position(name)])
            order = sorted(range(len(texts)), key=lambda i: (texts[i] is None, texts[i] or ""))
            self._read[name] = _Column(tuple(texts[i] for i in order), ranks_of(order)[codes])
        return self._read[name]

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        read = self._column(column)
        return list(zip(read.texts, read.counts.tolist(), strict=True))

    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,), int32."""
        return self._column(column).codes

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct combinations of texts, found by telling records apart column by column."""
        read = [self._column(column) for column in columns]
        groups, number = _ranked([(each.codes, len(each.texts)) for each in read], self.rows)
        first = np.empty(number, dtype=np.int64)
        first[groups] = np.arange(self.rows)
        codes = np.column_stack([each.codes[first] for each in read])
        ones = np.ones(self.rows, dtype=np.int64)
        return Groups(tuple(each.texts for each in read), codes, count(groups, ones, number))

    def is_text(self, column: str) -> bool:
        """Tell whether the values of a column are texts."""
        values = self._frame.iloc[:, self.position(column)]
        return all(isinstance(value, str) for value in values.dropna().unique())

    def records_query(self, projection: Projection, *, shuffled: bool = False) -> FrameQuery:
        """Return the published records; a database is made when they are copied to a file."""
        return FrameQuery(self, projection, shuffled=shuffled)

    def sort(self, projection: Projection) -> IntArray:
        """Return the numbers of the published records, sorted by what is published of them."""
        keys = []
        for column in projection.columns:
            if column in projection.replacements:
                replacement = projection.replacements[column]
                keys.append((replacement.codes, len(replacement.labels)))
            else:
                read = self._column(column)
                keys.append((read.ranks[read.codes], len(read.texts)))
        ranks, _ = _ranked(keys, self.rows)
        rows = np.flatnonzero(projection.kept)
        return rows[np.argsort(ranks[rows], kind="stable")]

    @property
    def frame(self) -> pandas.DataFrame:
        """The DataFrame, which is never changed."""
        return self._frame

    def in_database(self) -> Relation:
        """Return the same records in a database, which is made now and closed with this relation."""
        if self._stored is None:
            self._stored = open_in_database(self._frame, self._options)
        return self._stored

    def close(self) -> None:
        """Forget what was read; a second call does nothing."""
        self._read.clear()
        if self._stored is not None:
            self._stored.close()


class FrameQuery(ReleaseQuery):
    """The published records of a DataFrame.

    Parameters
    ----------
    relation: stays the caller's.
    """

    def __init__(self, relation: FrameRelation, projection: Projection, *, shuffled: bool) -> None:
        self._relation = relation
        self._projection = projection
        self._shuffled = shuffled

    def copy(self, path: Path, separator: str | None) -> None:
        """Write the records as texts, by a database."""
        relation = self._relation.in_database()
        relation.records_query(self._projection, shuffled=self._shuffled).copy(path, separator)

    def frame(self) -> pandas.DataFrame:
        """Return the records as a DataFrame with a new index.

        Recoded columns keep their type where all that is published are values of theirs, else they are text;
        the others keep theirs. Of categories those that are still used stay.
        """
        import pandas as pd  # noqa: PLC0415  reading and writing files does without it

        relation, projection = self._relation, self._projection
        rows = shuffled_rows(projection) if self._shuffled else relation.sort(projection)
        released = {}
        for column in projection.columns:
            replacement = projection.replacements.get(column)
            if replacement is not None:
                released[column] = _published(relation, replacement, rows, column)
            else:
                kept = relation.frame.iloc[rows, relation.position(column)]
                released[column] = only_used(kept.reset_index(drop=True))
        return pd.DataFrame(released, columns=list(projection.columns))


def _published(
    relation: FrameRelation, replacement: Replacement, rows: IntArray, column: str
) -> pandas.Series[Any]:
    """Return what is published as a column, which the DataFrame may have or not."""
    import pandas as pd  # noqa: PLC0415

    if column in relation.columns:
        original = relation.frame.iloc[:, relation.position(column)]
        return published_series(relation, replacement, rows, original)
    # Whole numbers are published, or texts.
    kind = "int64" if isinstance(replacement.labels[0], int) else "str"
    labels: pandas.Series[Any] = pd.Series(replacement.labels, dtype=kind)
    return labels.take(replacement.codes[rows]).reset_index(drop=True)


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


def check_frame(frame: pandas.DataFrame) -> None:
    """Check that a DataFrame has records and columns with proper names.

    Raises
    ------
    DataError: it has not; says what is wrong.
    """
    columns = list(frame.columns)
    if not columns or not len(frame):
        found = f"{len(frame)} records, {len(columns)} columns"
        raise DataError(f"{NAME}: {found}; at least one of each is needed")
    for column in columns:
        if not isinstance(column, str):
            raise DataError(f"{NAME}: column name {column!r} is not a text; rename it with df.columns")
    check_header(NAME, columns)


def _ranked(keys: Sequence[tuple[CodeArray, int]], records: int) -> tuple[IntArray, int]:
    """Number the distinct rows of code columns in lexicographic order.

    Parameters
    ----------
    keys: codes, shape (records,), and number of possible codes of each column.

    Returns
    -------
    The number of each record's row, shape (records,), int64, and how many there are.
    """
    groups, number = np.zeros(records, dtype=np.int64), 1
    for codes, size in keys:
        groups, distinct = group_keys(groups * size + codes, number * size)
        number = len(distinct)
    return groups, number


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
