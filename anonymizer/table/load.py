"""Read columns as distinct values in their order, and encode records as combinations of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anonymizer.core.arrays import CodeArray, FloatArray, IntArray, freeze
from anonymizer.core.table import MISSING, Column, ValueType, pack
from anonymizer.engines.base import Relation
from anonymizer.engines.open import open_file
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
    """

    name: str
    type: ValueType | None = None


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


@dataclass(frozen=True, eq=False)
class Encoded:
    """Records as combinations of codes.

    Attributes
    ----------
    codes: the distinct combinations, sorted lexicographically, shape (combinations, columns), int32.
    counts: records of each combination, shape (combinations,), int64.
    combination: of each record, in the order of the input, shape (records,), int32.
    """

    codes: CodeArray
    counts: IntArray
    combination: CodeArray


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
    codes = [read.codes[relation.codes(read.column.name)] for read in columns]
    keys = _keys(codes, [read.column.size for read in columns])
    distinct, inverse = np.unique(keys, return_inverse=True)
    combination: CodeArray = inverse.astype(np.int32)
    # One record of each combination, whichever comes last, has all its codes.
    representative = np.empty(len(distinct), dtype=np.int64)
    representative[combination] = np.arange(len(combination), dtype=np.int64)
    matrix = np.column_stack([column[representative] for column in codes])
    counts = np.bincount(combination, minlength=len(distinct)).astype(np.int64, copy=False)
    for array in (matrix, counts, combination):
        freeze(array)
    return Encoded(matrix, counts, combination)


def _keys(codes: Sequence[CodeArray], sizes: Sequence[int]) -> IntArray:
    """Return a key per record whose order is the lexicographic order of its codes."""
    keys = pack(codes, sizes)
    if keys is not None:
        return keys
    # Two ranks below 2**31 always fit one key, so columns are ranked in one after another.
    ranks, size = codes[0], sizes[0]
    for column, width in zip(codes[1:], sizes[1:], strict=True):
        pairs = pack([ranks, column], [size, width])
        assert pairs is not None
        distinct, inverse = np.unique(pairs, return_inverse=True)
        ranks, size = inverse.astype(np.int32), len(distinct)
    return ranks.astype(np.int64)


def _read(relation: Relation, request: ColumnRequest, missing: frozenset[str]) -> ReadColumn:
    dictionary = relation.dictionary(request.name)
    present = {text: count for text, count in dictionary if text is not None and text not in missing}
    where = f"{relation.name}: column '{request.name}'"
    kind = request.type or detect(where, present)
    spellings: dict[Key, list[str]] = {}
    for text, key in parse(where, present, kind).items():
        spellings.setdefault(key, []).append(text)
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
    missing_code = len(keys) if lacking else None
    return ReadColumn(Column(request.name, kind, tuple(texts), counts, numbers, missing_code), codes)


def _numbers(keys: Sequence[Key], size: int) -> FloatArray:
    """Return the keys of an ordered type as numbers, NaN for the missing value after them."""
    numbers = np.full(size, np.nan)
    numbers[: len(keys)] = [float(key) for key in keys]
    freeze(numbers)
    return numbers
