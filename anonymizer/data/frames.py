"""DataFrames as relations: encoded once by pandas, counted in numpy.

Frames of other libraries are converted to pandas, and results have the type of the input. To be written to
a file, a frame is loaded into DuckDB as texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.arrow import WayBack, worked_column
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.relation import (
    Projection,
    Relation,
    ReleaseQuery,
    Replacement,
    shuffled_rows,
)
from anonymizer.data.source import (
    EngineOptions,
    MissingTexts,
    Naming,
    RewrittenNumbers,
    mixed_numbers,
    name_columns,
)
from anonymizer.data.values import absent_texts
from anonymizer.distribution import installing
from anonymizer.errors import DataError, InputError, plural
from anonymizer.model.arrays import CodeArray, IntArray, first_items, group_rows, ranks_of
from anonymizer.model.labels import MISSING
from anonymizer.model.table import CODE

if TYPE_CHECKING:
    import pandas


def record_texts(series: pandas.Series[Any]) -> tuple[NDArray[np.intp], list[str | None]]:
    """Return the distinct texts of a column and the position of each record's among them.

    Returns
    -------
    Positions, shape (records,), and the texts in the order of first occurrence, None for missing values.
    """
    from pandas.api.types import infer_dtype  # noqa: PLC0415 - not needed for files

    # Equal objects may have different texts, such as 1 and True, or may not be comparable; pandas would group
    # numbers of more than 64 bits by their first digits.
    mixed = series.dtype == object and infer_dtype(series, skipna=True) != "string"
    if mixed or _is_nested(series.dtype) or series.dtype in (np.longdouble, np.clongdouble):
        series = series.map(value_text, na_action="ignore")
    codes, values = series.factorize()
    # An index returns single-precision numbers as doubles; an array does not.
    distinct = np.asarray(values) if values.dtype.kind == "f" else values
    texts: list[str | None] = [value_text(value) for value in distinct]
    positions = codes.astype(np.intp)
    if (positions < 0).any():
        positions[positions < 0] = len(texts)
        texts.append(None)
    return _merged(positions, texts)


def _is_nested(dtype: Any) -> bool:
    """Return whether values are lists or mappings of Arrow, which pandas cannot factorize."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    return arrow is not None and arrow.num_fields > 0 and not hasattr(arrow, "index_type")


def _merged(
    positions: NDArray[np.intp], texts: list[str | None]
) -> tuple[NDArray[np.intp], list[str | None]]:
    """Merge distinct values with the same text, and remove texts without a record."""
    used = np.zeros(len(texts), dtype=bool)
    used[positions] = True
    place: dict[str | None, int] = {}
    new = [place.setdefault(text, len(place)) if used[i] else -1 for i, text in enumerate(texts)]
    return np.array(new, dtype=np.intp)[positions], list(place)


def value_text(value: Any) -> str:
    """Return the text of a value, as ``text_of`` gives it for the same value in Parquet."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        # Zero has one text, whatever its sign.
        return str(value).removesuffix(".0") if value else "0"
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return "".join(chr(byte) if _is_shown(byte) else f"\\x{byte:02X}" for byte in value)
    return _nested_text(value) if isinstance(value, list | np.ndarray | dict) else str(value)


def _is_shown(byte: int) -> bool:
    """Return whether a byte is a character in the text of bytes, rather than ``\\x00``."""
    return 32 <= byte < 127 and chr(byte) not in "\\'\""


def _nested_text(value: Any) -> str:
    """Return the text of a list or mapping."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"'{key}': {_part_text(part)}" for key, part in value.items()) + "}"
    return f"[{', '.join(map(_part_text, value))}]"


_PLAIN_PART = re.compile(r"[^\s,\[\](){}:='\"\\]+(?: +[^\s,\[\](){}:='\"\\]+)*")
"""Texts inside a list or mapping that need no quotes to be told from its structure."""


def _part_text(value: Any) -> str:
    if value is None:
        return "NULL"
    text = value_text(value)
    if not isinstance(value, str) or (_PLAIN_PART.fullmatch(text) and text.upper() != "NULL"):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


NAME = "the DataFrame"


@dataclass(frozen=True, eq=False)
class _Column:
    """The distinct texts of a column, sorted, a null (None) last, and their positions for each record."""

    texts: tuple[str | None, ...]
    codes: CodeArray

    @cached_property
    def counts(self) -> IntArray:
        return np.bincount(self.codes, minlength=len(self.texts)).astype(np.int64, copy=False)

    @property
    def ranks(self) -> CodeArray:
        """Rank of each text, a null right after the empty text, shape (texts,), int32."""
        order = sorted(range(len(self.texts)), key=lambda i: (self.texts[i] or "", self.texts[i] is None))
        return ranks_of(order)


class FrameRelation(Relation):
    """A DataFrame without its index, whose missing values (None, NaN, NaT, NA) are nulls.

    Raises
    ------
    DataError: without records or columns, a name that is not a string.
    """

    def __init__(self, frame: pandas.DataFrame, options: EngineOptions) -> None:
        naming = check_frame(frame, strict_header=options.strict_header).spelled_as(options.spelling)
        self._missing = options.missing
        self._given = frame
        self._frame = frame if self._missing is None else _with_nulls(frame, self._missing)
        if options.numbers is not None:
            self._frame = _with_sign(self._frame, options.numbers)
        self._options = options
        self._read: dict[str, _Column] = {}
        self._stored: Relation | None = None
        self.name = NAME
        self.columns, self.renamed, self.spelled = naming.columns, naming.warnings, naming.spelled
        self.rows = len(frame)
        self.sha256 = None
        self.separator = None
        # Missing values of a DataFrame are nulls, which are sorted as empty texts.
        self.marker = None if self._missing is None else ""

    def _column(self, name: str) -> _Column:
        if name not in self._read:
            codes, texts = record_texts(self._frame.iloc[:, self.position(name)])
            if self._missing is not None and name in self._missing.recoded:
                texts = [MISSING if text is None else text for text in texts]
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

    def is_text(self, column: str) -> bool:
        """Return whether the values of a column are texts."""
        values: Any = self._frame.iloc[:, self.position(column)].dropna()
        # Lists and mappings in a column of objects have no hash.
        if values.dtype != object:
            values = values.unique()
        return all(isinstance(value, str) for value in values)

    def records_query(self, projection: Projection, *, shuffled: bool = False) -> FrameQuery:
        """Return a query for the released records; copying it to a file creates a database."""
        return FrameQuery(self, projection, shuffled)

    def sort(self, projection: Projection) -> IntArray:
        """Return the numbers of the released records, sorted by the released values."""
        keys = []
        for column in projection.columns:
            if column in projection.replacements:
                replacement = projection.replacements[column]
                keys.append((replacement.codes, len(replacement.labels)))
            else:
                read = self._column(column)
                keys.append((read.ranks[read.codes], len(read.texts)))
        ranks, _ = group_rows(keys, self.rows)
        rows = np.flatnonzero(projection.kept)
        return rows[np.argsort(ranks[rows], kind="stable")]

    @property
    def frame(self) -> pandas.DataFrame:
        """The DataFrame; must not be modified."""
        return self._frame

    def as_given(self, released: pandas.Series[Any], column: str) -> pandas.Series[Any]:
        """Return a released column in the type that it had before missing values became nulls.

        It has nulls otherwise: a type that has them in any case would tell of suppressed missing values.
        """
        if column not in self.columns or released.isna().any():
            return released
        own, given = (each.dtypes.iloc[self.position(column)] for each in (self._frame, self._given))
        return released.astype(given) if own != given and released.dtype == own else released

    def relabel(self, labels: Mapping[str, Sequence[str | float | None]]) -> None:
        """Replace the values of columns in every record; numbers are float64, labels texts."""
        import pandas as pd  # noqa: PLC0415 - not needed for files

        new = self._frame.copy(deep=False)
        for name, own in labels.items():
            kind = "float64" if any(isinstance(label, float) for label in own) else "str"
            shown = pd.Series(list[Any](own), dtype=kind).array
            new.isetitem(self.position(name), shown.take(self.codes(name)))
        self._given = self._frame = new
        self._read.clear()

    def in_database(self) -> Relation:
        """Return the same records in a database, which is closed with this relation."""
        if self._stored is None:
            # Its numbers have the sign of the release already.
            self._stored = open_in_database(self._frame, replace(self._options, numbers=None))
        return self._stored

    def close(self) -> None:
        """Free what was read; a second call does nothing."""
        self._read.clear()
        if self._stored is not None:
            self._stored.close()


@dataclass(frozen=True, eq=False)
class FrameQuery(ReleaseQuery):
    """The released records of a DataFrame.

    Attributes
    ----------
    relation: stays the caller's.
    projection: to the released records.
    shuffled: whether their order is random.
    """

    relation: FrameRelation
    projection: Projection
    shuffled: bool

    def copy(self, path: Path, separator: str | None) -> None:
        """Write the records as texts from a database."""
        relation = self.relation.in_database()
        relation.records_query(self.projection, shuffled=self.shuffled).copy(path, separator)

    def frame(self) -> pandas.DataFrame:
        """Return the records as a DataFrame with a new index.

        Recoded columns keep their type if all released texts are values of the column, else they are text;
        numbers in place of labels are float64.
        Unchanged columns keep their type. Unused categories are removed.
        """
        import pandas as pd  # noqa: PLC0415 - not needed for files

        relation, projection = self.relation, self.projection
        rows = shuffled_rows(projection) if self.shuffled else relation.sort(projection)
        released = {}
        for column in projection.columns:
            replacement = projection.replacements.get(column)
            if column in projection.numbers and replacement is not None:
                labels = np.array([float(label or "nan") for label in replacement.labels], dtype=np.float64)
                released[column] = pd.Series(labels[replacement.codes[rows]])
            elif replacement is not None:
                released[column] = _published(relation, replacement, rows, column)
            else:
                kept = relation.frame.iloc[rows, relation.position(column)]
                released[column] = only_used(kept.reset_index(drop=True))
            released[column] = relation.as_given(released[column], column)
        return pd.DataFrame(released, columns=list(projection.columns))


def _published(
    relation: FrameRelation, replacement: Replacement, rows: IntArray, column: str
) -> pandas.Series[Any]:
    """Return the released values of a replaced or new column, with a new index.

    Parameters
    ----------
    rows: numbers of the released records in their order, shape (released,).

    Returns
    -------
    Of the original's dtype if every released text is the text of one of its values; else text, or categories
    of texts if the original has categories. A text that only looks like a number stays a text: ``3`` for 30
    to 39 is not an age. A new column has whole numbers or texts.
    """
    import pandas as pd  # noqa: PLC0415 - not needed for files

    if column not in relation.columns:
        kind = "int64" if isinstance(replacement.labels[0], int) else "str"
        labels: pandas.Series[Any] = pd.Series(replacement.labels, dtype=kind)
        return labels.take(replacement.codes[rows]).reset_index(drop=True)
    original = relation.frame.iloc[:, relation.position(column)]
    used, places = np.unique(replacement.codes[rows], return_inverse=True)
    labelled = (replacement.labels[code] for code in used)
    texts = [None if relation.marker is not None and text == MISSING else text for text in labelled]
    place = {text: number for number, (text, _) in enumerate(relation.dictionary(column))}
    if set(texts) <= set(place):
        known = first_items(relation.codes(column), len(place))
        positions = known[[place[text] for text in texts]]
        return only_used(original.iloc[positions[places]].reset_index(drop=True))
    if isinstance(original.dtype, pd.CategoricalDtype):
        present = [number for number, text in enumerate(texts) if text is not None]
        code_of = np.full(len(texts), -1)
        code_of[present] = range(len(present))
        categories = pd.Index([texts[number] for number in present], dtype="str")
        return pd.Series(pd.Categorical.from_codes(code_of[places], categories=categories))
    # Another text type, such as Arrow's, is kept.
    dtype = original.dtype if _is_text(original.dtype) else "str"
    return pd.Series(pd.Series(texts, dtype=dtype).array.take(places))


def _with_nulls(frame: pandas.DataFrame, missing: MissingTexts) -> pandas.DataFrame:
    """Return a DataFrame with nulls in place of texts of missing values."""
    columns = []
    for index, name in enumerate(frame.columns):
        series = frame.iloc[:, index]
        codes, texts = record_texts(series)
        read = missing.among(name, [text for text in texts if text is not None])
        absent = np.array([text in read for text in texts], dtype=bool)[codes]
        if absent.any():
            if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub":
                # Whole numbers and truth values of numpy have no null.
                series = series.convert_dtypes()
            series = series.mask(absent)
        columns.append(series)
    import pandas as pd  # noqa: PLC0415 - not needed for files

    return pd.concat(columns, axis=1)


def _with_sign(frame: pandas.DataFrame, numbers: RewrittenNumbers) -> pandas.DataFrame:
    """Return a DataFrame whose texts of numbers have another decimal sign.

    Raises
    ------
    DataError: a column of other texts has numbers to be rewritten.
    """
    columns, number = {}, re.compile(numbers.given.pattern)
    for index, name in enumerate(frame.columns):
        series = frame.iloc[:, index]
        known = _texts_in(series)
        own = {value: numbers.given.plain(value) for value in known if number.fullmatch(value)}
        new = {value: numbers.released.written(plain) for value, plain in own.items() if plain is not None}
        changed = any(value != text for value, text in new.items())
        others = {value for value in known if value not in new or CODE.fullmatch(value)}
        if name in numbers.judged and changed and others - absent_texts(others, (*numbers.absent, MISSING)):
            raise mixed_numbers(NAME, name)
        if changed and name in numbers.judged | numbers.columns:
            series = series.map(
                lambda value, new=new: new.get(value, value) if isinstance(value, str) else value,
                na_action="ignore",
            )
        columns[index] = series
    import pandas as pd  # noqa: PLC0415 - not needed for files

    return pd.concat(list(columns.values()), axis=1)


def _texts_in(series: pandas.Series[Any]) -> set[str]:
    """Return the texts among the values of a column; lists and mappings in it have no hash."""
    present = series.dropna()
    values = present if present.dtype == object else present.unique()
    return {value for value in values if isinstance(value, str)}


def only_used(series: pandas.Series[Any]) -> pandas.Series[Any]:
    """Return a column without its unused categories."""
    import pandas as pd  # noqa: PLC0415

    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.remove_unused_categories()
    arrow: Any = getattr(series.dtype, "pyarrow_dtype", None)
    if hasattr(arrow, "index_type"):
        # Selected values keep the whole dictionary of Arrow, so a new one is made.
        return series.astype(pd.ArrowDtype(arrow.value_type)).astype(series.dtype)
    return series


def _is_text(dtype: Any) -> bool:
    from pandas.api.types import is_string_dtype  # noqa: PLC0415 - not needed for files

    return dtype.name != "object" and is_string_dtype(dtype)


def check_frame(frame: pandas.DataFrame, *, strict_header: bool = False) -> Naming:
    """Return the names of the columns of a DataFrame.

    Raises
    ------
    DataError: it has no records or columns, a name is not a string, or as for ``name_columns``.
    """
    columns = list(frame.columns)
    if not columns or not len(frame):
        found = f"{plural(len(frame), 'record')}, {plural(len(columns), 'column')}"
        raise DataError(f"{NAME}: {found}; at least one of each is needed")
    for column in columns:
        if not isinstance(column, str):
            raise DataError(f"{NAME}: column name {column!r} is not a string; rename it with df.columns")
    return name_columns(NAME, columns, strict=strict_header, place="df.columns")


def open_in_database(frame: pandas.DataFrame, options: EngineOptions) -> DuckRelation:
    """Return a DataFrame as a relation in a new database, with every value as its text."""
    database = Database(options)
    arrays = {}
    for index in range(frame.shape[1]):
        codes, texts = record_texts(frame.iloc[:, index])
        arrays[f"c{index}"] = np.array(texts, dtype=object)[codes]
    selected = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in arrays)
    with database.holding("frame", arrays):
        database.run(f"CREATE TABLE records AS SELECT {selected} FROM frame")
    return DuckRelation(database, NAME, check_frame(frame))


ACCEPTED = "a DataFrame of pandas or polars, an Arrow table, or an object that exports an Arrow stream"


class FrameKind:
    """The data frames of a library.

    Parameters
    ----------
    table_of: returns a frame as a table of Arrow; the frame is not modified.
    frame_of: returns a table of Arrow as a frame of this kind.
    """

    def __init__(self, table_of: Callable[[Any], Any], frame_of: Callable[[Any], Any]) -> None:
        self._table_of, self._frame_of = table_of, frame_of
        self._ways: dict[str, WayBack] = {}

    def to_pandas(self, given: Any) -> pandas.DataFrame:
        """Return a frame as one of pandas, with Arrow's types that are worked with.

        Raises
        ------
        InputError: two columns have one name, or a column has a type that cannot be read.
        """
        import pandas as pd  # noqa: PLC0415
        import pyarrow as pa  # noqa: PLC0415

        table = self._table_of(given)
        repeated = [name for name in table.column_names if table.column_names.count(name) > 1]
        if repeated:
            raise InputError(f"{NAME}: has two columns named '{repeated[0]}'; rename one of them")
        columns = [self._worked(name, table.column(name)) for name in table.column_names]

        def arrow_type(kind: Any) -> Any:
            return None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind)

        worked = pa.table(columns, names=table.column_names)
        converted: pandas.DataFrame = worked.to_pandas(types_mapper=arrow_type)
        return converted

    def from_pandas(self, released: pandas.DataFrame) -> Any:
        """Return a frame of pandas as one of this kind, without index and metadata.

        Columns have the types that they were given in if their values are values of the input.
        """
        import pyarrow as pa  # noqa: PLC0415

        # The metadata of pandas would disclose its index.
        table = pa.Table.from_pandas(released, preserve_index=False).replace_schema_metadata(None)
        for place, name in enumerate(table.column_names):
            if name in self._ways:
                table = table.set_column(place, name, self._ways[name].restore(table.column(place)))
        return self._frame_of(table)

    def _worked(self, name: str, column: Any) -> Any:
        worked, back = worked_column(f"{NAME}: column '{name}'", column)
        if back is not None:
            self._ways[name] = back
        return worked


class PandasKind(FrameKind):
    """The data frames of pandas, of whose columns only those with types of Arrow are cast."""

    def __init__(self) -> None:
        super().__init__(lambda given: given, lambda given: given)

    def to_pandas(self, given: pandas.DataFrame) -> pandas.DataFrame:
        """Return the frame, with Arrow's types that are worked with."""
        names = name_columns(NAME, list(map(str, given.columns))).columns
        found = {}
        for place, name in enumerate(names):
            array = _arrow_values(given.iloc[:, place])
            if array is not None:
                worked = self._worked(name, array)
                if worked.type != array.type:
                    found[place] = worked
        return _with_columns(given, found)

    def from_pandas(self, released: pandas.DataFrame) -> pandas.DataFrame:
        """Return the frame, whose columns of Arrow have the types that they were given in."""
        found = {}
        for place, name in enumerate(released.columns):
            array = _arrow_values(released.iloc[:, place])
            if name in self._ways and array is not None:
                found[place] = self._ways[name].restore(array)
        return _with_columns(released, found)


def _arrow_values(series: pandas.Series[Any]) -> Any:
    """Return the values of a column with a type of Arrow; None for other types."""
    import pandas as pd  # noqa: PLC0415

    if not isinstance(series.dtype, pd.ArrowDtype):
        return None
    import pyarrow as pa  # noqa: PLC0415 - the column is of Arrow

    array = pa.array(series.array, from_pandas=False)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _with_columns(frame: pandas.DataFrame, columns: Mapping[int, Any]) -> pandas.DataFrame:
    """Return a DataFrame with columns of Arrow in other types, given by their places."""
    import pandas as pd  # noqa: PLC0415

    if not columns:
        return frame
    new = frame.copy(deep=False)
    for place, values in columns.items():
        array: Any = pd.arrays.ArrowExtensionArray(values)
        new.isetitem(place, array)
    return new


def frame_kind(frame: Any) -> FrameKind:
    """Return the kind of a data frame.

    Raises
    ------
    InputError: it is not a data frame, or a library for its conversion is not installed.
    """
    import pandas as pd  # noqa: PLC0415 - not needed for files

    if isinstance(frame, pd.DataFrame):
        return PandasKind()
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
        import narwhals  # noqa: PLC0415
        import pyarrow as pa  # noqa: PLC0415
    except ImportError:
        raise InputError(f"got a {found}, which needs more than pandas; {installing('frames')}") from None
    if isinstance(frame, pa.Table):
        return FrameKind(_table_of, lambda table: table)
    try:
        known = narwhals.from_native(frame, eager_only=True)
    except TypeError:  # an object that only exports an Arrow stream
        return FrameKind(_table_of, lambda table: table)
    library: Any = known.__native_namespace__()
    return FrameKind(
        lambda given: _table_of(_exported(narwhals.from_native(given, eager_only=True))),
        lambda table: narwhals.from_arrow(table, backend=library).to_native(),
    )


def _exported(frame: Any) -> Any:
    """Return a frame of narwhals as a table of Arrow.

    Raises
    ------
    DataError: Arrow has no type for a column.
    """
    import narwhals  # noqa: PLC0415

    for name, kind in frame.schema.items():
        try:
            if kind == narwhals.Object:
                # Arrow would hold their addresses in memory.
                raise TypeError("objects of Python")
            frame.select(name).to_arrow()
        except Exception as error:
            reason = str(error).split("\n", 1)[0]
            raise DataError(
                f"{NAME}: column '{name}' has the type {frame.schema[name]}, which Arrow cannot hold "
                f"({reason}); cast it, for example to text, or leave the column out"
            ) from None
    return frame.to_arrow()


def _table_of(frame: Any) -> Any:
    """Return an Arrow table, or an object that exports an Arrow stream, without unnecessary copies."""
    import pyarrow as pa  # noqa: PLC0415

    return frame if isinstance(frame, pa.Table) else pa.table(frame)
