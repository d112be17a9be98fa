"""Read columns as distinct values in their order, and encode records as combinations of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from anonymizer.engines.base import Relation
from anonymizer.engines.coding import Coding
from anonymizer.engines.open import open_file
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray, freeze
from anonymizer.model.counting import rank
from anonymizer.model.table import MISSING, POINT, Column, Numerals, ValueType
from anonymizer.table.types import Key, detect, parse, spelling

DEFAULT_MISSING = ("",)
"""Texts that are read as missing where the config says nothing."""


@dataclass(frozen=True)
class ColumnRequest:
    """A column to read.

    Attributes
    ----------
    name: of the column.
    type: as declared; None to detect it.
    numerals: how its texts write numbers; numbers that are stored as such are read as what they are.
    """

    name: str
    type: ValueType | None = None
    numerals: Numerals = POINT


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A column as read, with the way from the relation's positions to its codes.

    Attributes
    ----------
    column: its distinct values.
    codes: code of each position in the relation's dictionary of the column, shape (distinct texts,), int32.
    """

    column: Column
    codes: CodeArray

    @property
    def coding(self) -> Coding:
        """How the relation's texts become codes."""
        return Coding(self.column.name, self.codes, self.column.size)


@dataclass(frozen=True, eq=False)
class Encoded:
    """Records as combinations of codes.

    Attributes
    ----------
    codes: the distinct combinations, sorted lexicographically, shape (combinations, columns), int32.
    counts: records of each combination, shape (combinations,), int64.
    relation, columns: what was encoded.
    """

    codes: CodeArray
    counts: IntArray
    relation: Relation
    columns: tuple[ReadColumn, ...]

    @cached_property
    def combination(self) -> CodeArray:
        """Combination of each record, in the order of the input, shape (records,), int32.

        Most runs do without it, so the records are read again when it is first asked for, while the relation
        is open.
        """
        combination, _ = rank(self.relation.packed([read.coding for read in self.columns]).take_keys())
        freeze(combination)
        return combination


def read_columns(
    relation: Relation, requests: Iterable[ColumnRequest], missing: Sequence[str] = DEFAULT_MISSING
) -> dict[str, ReadColumn]:
    """Read the distinct values of columns.

    Parameters
    ----------
    requests: which columns, and what they are declared to hold.
    missing: texts that are read as missing, as nulls and the text ``<missing>`` always are.

    Returns
    -------
    The columns by name, in the order of the requests.

    Raises
    ------
    DataError: no such column, or its values are not of the declared type or of no type at all.
    """
    absent = frozenset({*missing, MISSING})
    return {request.name: _read(relation, request, absent) for request in requests}


def read_column(path: Path, name: str) -> Column:
    """Read one column of a file with default settings.

    Raises
    ------
    DataError: the file cannot be read, or as for ``read_columns``.
    """
    with open_file(path) as relation:
        return read_columns(relation, [ColumnRequest(name)])[name].column


def encode(relation: Relation, columns: Sequence[ReadColumn]) -> Encoded:
    """Encode every record by the codes of one column or more, and count the distinct combinations."""
    with relation.combinations([read.coding for read in columns]) as combinations:
        codes, counts = combinations.fetch()
    for array in (codes, counts):
        freeze(array)
    return Encoded(codes, counts, relation, tuple(columns))


def _read(relation: Relation, request: ColumnRequest, missing: frozenset[str]) -> ReadColumn:
    if request.numerals != POINT and not relation.is_text(request.name):
        request = replace(request, numerals=POINT)
    return column_of(relation.name, relation.dictionary(request.name), request, missing)


def column_of(
    source: str,
    dictionary: Sequence[tuple[str | None, int]],
    request: ColumnRequest,
    missing: Collection[str] = DEFAULT_MISSING,
) -> ReadColumn:
    """Read a column from its distinct texts with their records.

    Parameters
    ----------
    source: what messages call where they come from.
    dictionary: as of a relation.
    missing: as for ``read_columns``, and ``<missing>``.

    Raises
    ------
    DataError: the values are not of the declared type or of no type at all.
    """
    present = {text: count for text, count in dictionary if text is not None and text not in missing}
    where = f"{source}: column '{request.name}'"
    kind = request.type or detect(where, present, request.numerals)
    spellings = _spellings(parse(where, present, kind, request.numerals))
    keys = sorted(spellings)
    code_of = {text: code for code, key in enumerate(keys) for text in spellings[key]}
    texts = [spelling(spellings[key]) for key in keys]
    lacking = len(present) < len(dictionary)
    if lacking:
        texts.append(MISSING)
    positions = (code_of.get(text, len(keys)) if text is not None else len(keys) for text, _ in dictionary)
    codes = np.fromiter(positions, dtype=np.int32, count=len(dictionary))
    counts = np.zeros(len(texts), dtype=np.int64)
    np.add.at(counts, codes, [count for _, count in dictionary])
    numbers = _numbers(keys, len(texts)) if kind.ordered else None
    for array in (codes, counts):
        freeze(array)
    code = len(keys) if lacking else None
    absent = frozenset({*missing, "", MISSING})
    column = Column(request.name, kind, tuple(texts), counts, numbers, code, request.numerals, absent)
    return ReadColumn(column, codes)


def _spellings(parsed: Mapping[str, Key]) -> dict[Key, list[str]]:
    """Return the texts of each value."""
    spellings: dict[Key, list[str]] = {}
    for text, key in parsed.items():
        spellings.setdefault(key, []).append(text)
    return spellings


def _numbers(keys: Sequence[Key], size: int) -> FloatArray:
    """Return the keys of an ordered type as numbers, NaN for the missing value after them."""
    numbers = np.full(size, np.nan)
    numbers[: len(keys)] = [float(key) for key in keys]
    freeze(numbers)
    return numbers
