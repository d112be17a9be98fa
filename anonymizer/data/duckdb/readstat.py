"""Files of SPSS, Stata and SAS: their value labels become the texts that people read.

All are read with pyreadstat in pieces, whose columns become arrays at once: Python's values take much memory.
Values that the file declares missing stay kinds of missing: each is the text of its label.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from anonymizer.data.arrow import number_column
from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.database import Database, text_of
from anonymizer.data.duckdb.relation import DuckRelation, InputFormat
from anonymizer.data.foreign import needing
from anonymizer.data.source import FileSource, name_columns
from anonymizer.errors import DataError
from anonymizer.model.identity import text_identity
from anonymizer.model.table import Code

CELLS = 2_000_000
"""Values that are read at once; each is an object of Python of some 32 bytes until it is in an array."""

Reader: TypeAlias = Callable[..., tuple[Mapping[str, list[Any]], Any]]
"""A function of pyreadstat."""


class Readstat(InputFormat):
    """A file with numbers, texts, dates, labels of values and columns, and declared missing values.

    A column is read by its labels if every value has one. Else its values are read as they are stored: the
    labels are then of some special values, and 97 years stay a number.

    Class attributes
    ----------------
    reader: name of the function of pyreadstat.
    declared: whether it can return values that are declared missing.
    """

    reader: str
    declared = True

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:  # noqa: ARG002
        """Load the file in pieces.

        Raises
        ------
        DataError: empty, not of this format, two values of a column with one label.
        InputError: pyreadstat is not installed.
        """
        path = source.path
        with needing(path):
            import pyarrow as pa  # noqa: PLC0415 - an extra
            import pyreadstat  # noqa: PLC0415

        with path.open("rb") as file:
            if not file.read(1):
                raise DataError(f"{path}: the file is empty; {self.kind} with records is needed")
        try:
            names, columns, facts = self._read(path, getattr(pyreadstat, self.reader))
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ArithmeticError, ValueError) as error:
            raise source.damaged(error) from None
        if not names:
            raise DataError(f"{path}: the file is empty; {self.kind} with records is needed")
        naming = name_columns(str(path), names, strict=self.options.strict_header)
        arrays: dict[str, Any] = {}
        terms, labels = [], []
        for place, name in enumerate(naming.columns):
            declared = _Declared.of(facts, names[place], of_texts=columns[place].of_texts)
            read = columns[place].read(f"{path}: column '{name}'", declared)
            columns[place].pieces.clear()
            arrays[f"v{place}"], arrays[f"k{place}"] = read.values, read.absent
            terms.append(f"{read.term(place)} AS c{place}")
            labels.append(read.labels)
        table = pa.table({name: array for name, array in arrays.items() if array is not None})
        arrays.clear()
        with database.holding("given", table.to_reader()):
            database.run(f"CREATE TABLE records AS SELECT {', '.join(terms)} FROM given")
        relation = DuckRelation(database, str(path), naming)
        relation.labels = dict(zip(relation.columns, labels, strict=True))
        return relation

    def _read(self, path: Path, reader: Reader) -> tuple[list[str], list[_Column], Any]:
        """Return the names of the columns, the columns, and what the file says about them."""
        given: dict[str, Any] = {"user_missing": True} if self.declared else {}
        if self.dialect.encoding != "utf-8":
            given["encoding"] = self.dialect.encoding
        _, facts = reader(str(path), metadataonly=True, **given)
        names, records = list(facts.column_names), facts.number_rows
        kinds = facts.readstat_variable_types
        columns = [_Column(kinds[name]) for name in names]
        at_once, offset = max(CELLS // max(len(names), 1), 1), 0
        while names and offset != records:
            piece, facts = reader(
                str(path), row_limit=at_once, row_offset=offset, output_format="dict", **given
            )
            lists = list(piece.values())
            for column, values in zip(columns, lists, strict=True):
                column.add(values)
            found = len(lists[0])
            offset += found
            if found < at_once:
                break
        return names, columns, facts


class _Declared(NamedTuple):
    """What a file declares about a column.

    Attributes
    ----------
    title, measure: as for ``ColumnLabels``.
    labels: of values.
    ranges: of missing values, each from its lowest to its highest.
    letters: whether texts among the values are, which are then numbers.
    """

    title: str
    measure: str
    labels: Mapping[Code, str]
    ranges: Sequence[tuple[Code, Code]]
    letters: bool

    @classmethod
    def of(cls, facts: Any, name: str, *, of_texts: bool) -> _Declared:
        """Return what the facts of a file are about one of its columns."""
        labels = facts.variable_value_labels.get(name, {}).items()
        measure = str(facts.variable_measure.get(name) or "")
        return cls(
            str(facts.column_names_to_labels.get(name) or "").strip(),
            "" if measure == "unknown" else measure,
            {code: label.strip() for code, label in labels if label.strip()},
            [(each["lo"], each["hi"]) for each in facts.missing_ranges.get(name, ())],
            not of_texts,
        )

    def is_missing(self, code: Code) -> bool:
        """Return whether a code is declared missing."""
        if isinstance(code, str):
            return self.letters or (code, code) in self.ranges
        return any(low <= code <= high for low, high in self.ranges)  # type: ignore[operator]

    def text(self, code: Code) -> str:
        """Return the text of a kind of missing: its label, or a text by its code."""
        if code in self.labels:
            return self.labels[code]
        if isinstance(code, str):
            return f".{code}" if self.letters else code
        return f"missing {_plain(code)}"


def _plain(code: Code) -> Code:
    """Return a code without the fraction of a whole number."""
    return int(code) if isinstance(code, float) and code.is_integer() else code


@dataclass(frozen=True, eq=False)
class _Read:
    """A column as it is read.

    Attributes
    ----------
    values: of the column, in Arrow, null for missing ones.
    labels: of the column.
    absent: texts of kinds of missing, null for others; None without any.
    kind: type in DuckDB of numbers that have such texts beside them.
    """

    values: Any
    labels: ColumnLabels
    absent: Any = None
    kind: str = ""

    def term(self, place: int) -> str:
        """Return SQL for the column, given the place in the names of its arrays."""
        if self.absent is None:
            return f"v{place}"
        return f"coalesce(k{place}, {text_of(f'v{place}', self.kind)})"


@dataclass(eq=False)
class _Column:
    """The values of a column, in pieces.

    Attributes
    ----------
    kind: type in the file, such as ``string``.
    pieces: arrays of numbers, or arrays of Arrow.
    letters: of each piece, the letters of missing values in place of numbers; None without any.
    """

    kind: str
    pieces: list[Any] = field(default_factory=list)
    letters: list[Any] = field(default_factory=list)

    @property
    def of_texts(self) -> bool:
        """Whether the values are texts."""
        return self.kind == "string"

    def add(self, values: list[Any]) -> None:
        """Add the values of a piece."""
        import pandas as pd  # noqa: PLC0415 - quick start-up
        import pyarrow as pa  # noqa: PLC0415 - an extra

        letters = None
        if self.of_texts:
            # A blank text is how these files write a missing one.
            self.pieces.append(pa.array([text or None for text in values], pa.large_string()))
        elif isinstance(next((each for each in values if each is not None), None), date | time):
            self.pieces.append(pa.array(values))
        else:
            dtype = np.float32 if self.kind == "float" else np.float64
            try:
                self.pieces.append(np.array(values, dtype=dtype))
            except ValueError:
                whole = pd.Series(values, dtype=object)
                numbers = pd.to_numeric(whole, errors="coerce")
                letters = whole.where(numbers.isna(), None)
                self.pieces.append(numbers.to_numpy(dtype))
        self.letters.append(letters)

    def read(self, where: str, declared: _Declared) -> _Read:
        """Return the whole column by its labels, or as it is stored.

        Raises
        ------
        DataError: two values have one label.
        """
        import pyarrow as pa  # noqa: PLC0415 - an extra

        bare = ColumnLabels(declared.title, measure=declared.measure)
        if self.of_texts:
            texts = pa.chunked_array(self.pieces, pa.large_string())
            if declared.labels or declared.ranges:
                return self._coded(where, declared, texts.to_pandas())
            return _Read(texts, bare)
        stored = next((each.type for each in self.pieces if isinstance(each, pa.Array)), None)
        if stored is not None:
            pieces = [
                each if isinstance(each, pa.Array) else pa.nulls(len(each), stored) for each in self.pieces
            ]
            return _Read(pa.chunked_array(pieces, stored), bare)
        if declared.labels or declared.ranges or any(each is not None for each in self.letters):
            return self._coded(where, declared, self._codes())
        return _Read(number_column(self._whole()), bare)

    def _whole(self) -> Any:
        return np.concatenate(self.pieces) if self.pieces else np.empty(0)

    def _codes(self) -> Any:
        """Return the numbers, with the letters of missing values among them."""
        import pandas as pd  # noqa: PLC0415 - quick start-up

        if all(each is None for each in self.letters):
            return pd.Series(self._whole())
        pieces = zip(self.pieces, self.letters, strict=True)
        whole: Any = pd.concat(
            [
                pd.Series(own).astype(object) if other is None else other.where(other.notna(), pd.Series(own))
                for own, other in pieces
            ],
            ignore_index=True,
        )
        return whole

    def _coded(self, where: str, declared: _Declared, values: Any) -> _Read:
        """Return a column whose codes may have labels or be kinds of missing."""
        import pandas as pd  # noqa: PLC0415 - quick start-up
        import pyarrow as pa  # noqa: PLC0415 - an extra

        places, found = pd.factorize(values)
        codes = cast("list[Code]", found.tolist())
        at = pa.array(places, mask=places < 0)
        absent = {code: declared.text(code) for code in codes if declared.is_missing(code)}
        own = {code: label for code, label in declared.labels.items() if not declared.is_missing(code)}
        labels = ColumnLabels(
            declared.title, {}, {text: _plain(code) for code, text in absent.items()}, declared.measure
        )
        if own and own.keys() >= set(codes) - absent.keys():
            texts = [absent.get(code) or own[code] for code in codes]
            _check_distinct(where, texts, codes)
            by_label = _by_label(own, codes)
            return _Read(pa.array(texts, pa.large_string()).take(at), replace(labels, codes=by_label))
        _check_kinds(where, absent, codes)
        if self.of_texts:
            texts = [absent.get(code) or str(code) for code in codes]
            return _Read(pa.array(texts, pa.large_string()).take(at), labels)
        gone = np.array([*(code in absent for code in codes), True])[places]
        numbers = pd.to_numeric(values.where(~gone), errors="coerce").to_numpy(self.pieces[0].dtype)
        stored = number_column(numbers)
        if not absent:
            return _Read(stored, labels)
        kinds = pa.array([absent.get(code) for code in codes], pa.large_string())
        kind = "BIGINT" if pa.types.is_integer(stored.type) else "DOUBLE"
        return _Read(stored, labels, kinds.take(at), kind)


def _by_label(labels: Mapping[Code, str], present: Collection[Code]) -> dict[str, Code]:
    """Return the code of each label, in the order of the codes; one that occurs if several have it."""
    known = set(present)
    order = sorted(labels.items(), key=lambda each: (each[0] not in known, isinstance(each[0], str), each[0]))
    codes: dict[str, Code] = {}
    for code, label in order:
        codes.setdefault(label, _plain(code))
    return codes


def _check_kinds(where: str, absent: Mapping[Code, str], codes: Sequence[Code]) -> None:
    """Check that no kind of missing values is read as another one, or as a value, is.

    Raises
    ------
    DataError: one is.
    """
    kinds = list(absent.values())
    values = {str(_plain(code)) for code in codes if code not in absent} if absent else set()
    wrong = [text for place, text in enumerate(kinds) if text in values or text in kinds[:place]]
    if wrong:
        raise DataError(
            f"{where}: the label '{wrong[0]}' of missing values is another value, or stands for two kinds of "
            "them; give them different labels"
        )


def _check_distinct(where: str, texts: Sequence[str], codes: Sequence[Code]) -> None:
    """Check that no text stands for two values, or for a value and a missing one.

    Raises
    ------
    DataError: one does.
    """
    first: dict[str, Code] = {}
    for text, code in zip(texts, codes, strict=True):
        other = first.setdefault(text_identity(text), code)
        if other != code:
            low, high = sorted((_plain(other), _plain(code)), key=str)
            raise DataError(
                f"{where}: the values {low} and {high} have the same label '{text}'; give them "
                "different labels"
            )
