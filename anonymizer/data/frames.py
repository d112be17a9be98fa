"""DataFrames as relations: encoded once by pandas, counted in numpy.

To be written to a file, a frame is loaded into DuckDB as texts. Only what opens a frame imports this module:
pandas takes half a second, and files do without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_string_dtype

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
    FRAME,
    EngineOptions,
    MissingTexts,
    Naming,
    RewrittenNumbers,
    mixed_numbers,
    name_columns,
)
from anonymizer.data.texts import value_text
from anonymizer.data.values import absent_texts
from anonymizer.errors import DataError, plural
from anonymizer.model.arrays import CodeArray, IntArray, first_items, group_rows, ranks_of
from anonymizer.model.labels import MISSING
from anonymizer.model.table import CODE


def record_texts(series: pd.Series[Any]) -> tuple[NDArray[np.intp], list[str | None]]:
    """Return the distinct texts of a column and the position of each record's among them.

    Returns
    -------
    Positions, shape (records,), and the texts in the order of first occurrence, None for missing values.
    """
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

    is_frame = True

    def __init__(self, frame: pd.DataFrame, options: EngineOptions) -> None:
        naming = check_frame(frame, strict_header=options.strict_header).spelled_as(options.spelling)
        self._missing = options.missing
        self._given = frame
        self._frame = frame if self._missing is None else _with_nulls(frame, self._missing)
        if options.numbers is not None:
            self._frame = _with_sign(self._frame, options.numbers)
        self._options = options
        self._read: dict[str, _Column] = {}
        self._stored: Relation | None = None
        self.name = FRAME
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
    def frame(self) -> pd.DataFrame:
        """The DataFrame; must not be modified."""
        return self._frame

    def as_given(self, released: pd.Series[Any], column: str) -> pd.Series[Any]:
        """Return a released column in the type that it had before missing values became nulls.

        It has nulls otherwise: a type that has them in any case would tell of suppressed missing values.
        """
        if column not in self.columns or released.isna().any():
            return released
        own, given = (each.dtypes.iloc[self.position(column)] for each in (self._frame, self._given))
        return released.astype(given) if own != given and released.dtype == own else released

    def relabel(self, labels: Mapping[str, Sequence[str | float | None]]) -> None:
        """Replace the values of columns in every record; numbers are float64, labels texts."""
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

    def frame(self) -> pd.DataFrame:
        """Return the records as a DataFrame with a new index.

        Recoded columns keep their type if all released texts are values of the column, else they are text;
        numbers in place of labels are float64.
        Unchanged columns keep their type. Unused categories are removed.
        """
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
) -> pd.Series[Any]:
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
    if column not in relation.columns:
        kind = "int64" if isinstance(replacement.labels[0], int) else "str"
        labels: pd.Series[Any] = pd.Series(replacement.labels, dtype=kind)
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


def _with_nulls(frame: pd.DataFrame, missing: MissingTexts) -> pd.DataFrame:
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

    return pd.concat(columns, axis=1)


def _with_sign(frame: pd.DataFrame, numbers: RewrittenNumbers) -> pd.DataFrame:
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
            raise mixed_numbers(FRAME, name)
        if changed and name in numbers.judged | numbers.columns:
            series = series.map(
                lambda value, new=new: new.get(value, value) if isinstance(value, str) else value,
                na_action="ignore",
            )
        columns[index] = series

    return pd.concat(list(columns.values()), axis=1)


def _texts_in(series: pd.Series[Any]) -> set[str]:
    """Return the texts among the values of a column; lists and mappings in it have no hash."""
    present = series.dropna()
    values = present if present.dtype == object else present.unique()
    return {value for value in values if isinstance(value, str)}


def only_used(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column without its unused categories."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.remove_unused_categories()
    arrow: Any = getattr(series.dtype, "pyarrow_dtype", None)
    if hasattr(arrow, "index_type"):
        # Selected values keep the whole dictionary of Arrow, so a new one is made.
        return series.astype(pd.ArrowDtype(arrow.value_type)).astype(series.dtype)
    return series


def _is_text(dtype: Any) -> bool:
    return dtype.name != "object" and is_string_dtype(dtype)


def check_frame(frame: pd.DataFrame, *, strict_header: bool = False) -> Naming:
    """Return the names of the columns of a DataFrame.

    Raises
    ------
    DataError: it has no records or columns, a name is not a string, or as for ``name_columns``.
    """
    columns = list(frame.columns)
    if not columns or not len(frame):
        found = f"{plural(len(frame), 'record')}, {plural(len(columns), 'column')}"
        raise DataError(f"{FRAME}: {found}; at least one of each is needed")
    for column in columns:
        if not isinstance(column, str):
            raise DataError(f"{FRAME}: column name {column!r} is not a string; rename it with df.columns")
    return name_columns(FRAME, columns, strict=strict_header, place="df.columns")


def open_in_database(frame: pd.DataFrame, options: EngineOptions) -> DuckRelation:
    """Return a DataFrame as a relation in a new database, with every value as its text."""
    database = Database(options)
    arrays = {}
    for index in range(frame.shape[1]):
        codes, texts = record_texts(frame.iloc[:, index])
        arrays[f"c{index}"] = np.array(texts, dtype=object)[codes]
    selected = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in arrays)
    with database.holding("frame", arrays):
        database.run(f"CREATE TABLE records AS SELECT {selected} FROM frame")
    return DuckRelation(database, FRAME, check_frame(frame))


class FrameKind:
    """The data frames of pandas without types of Arrow, which are worked with as they are."""

    def to_pandas(self, given: Any) -> pd.DataFrame:
        """Return a frame as one of pandas.

        Raises
        ------
        DataError: as for ``name_columns``.
        """
        name_columns(FRAME, list(map(str, given.columns)))
        frame: pd.DataFrame = given
        return frame

    def from_pandas(self, released: pd.DataFrame) -> Any:
        """Return a frame of pandas as one of this kind."""
        return released
