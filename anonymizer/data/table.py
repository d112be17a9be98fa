"""Loading a table: column types, values in their order, and records encoded as distinct rows.

Types are detected and parsed exactly, one distinct value at a time. If the distinct rows do not fit in
memory, the engine that stores them counts the tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np

from anonymizer.data.distinct_rows import DistinctRows, places_of, unpacked
from anonymizer.data.open import open_file
from anonymizer.data.relation import Coding, Relation
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray, freeze
from anonymizer.model.counting import rank
from anonymizer.model.out_of_core import RowPiece, TableSource
from anonymizer.model.table import (
    MISSING,
    POINT,
    Column,
    Numerals,
    QuasiIdentifier,
    SensitiveAttribute,
    Table,
    ValueType,
)

Key: TypeAlias = int | Decimal | str
"""What a value is sorted and told apart by; all keys of a column have one type."""

MOSTLY = Decimal("0.9")
"""From this share of records on, numbers beside other texts are taken for a fault and not for a code."""

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CODE = re.compile(r"[+-]?0[0-9]+|\+[0-9]+|0[0-9]*[eE][0-9]+")
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})
_SHOWN = 40


def integer_key(text: str) -> Key | None:
    """Return the integer of a canonical spelling: no leading zeros, no plus, no minus zero; else None."""
    return int(text) if _INTEGER.fullmatch(text) and math.isfinite(float(text)) else None


def number_key(text: str) -> Key | None:
    """Return the exact value of a finite decimal number, with or without an exponent; else None."""
    return Decimal(text) if _NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def date_key(text: str) -> Key | None:
    """Return the proleptic ordinal of an ISO date, yyyy-mm-dd; else None.

    >>> date_key("2024-02-29"), date_key("2023-02-29")
    (738945, None)
    """
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text).toordinal()
    except ValueError:
        return None


def text_key(text: str) -> Key | None:
    """Return the text."""
    return text


_KEYS: Mapping[ValueType, Callable[[str], Key | None]] = {
    ValueType.INTEGER: integer_key,
    ValueType.NUMBER: number_key,
    ValueType.DATE: date_key,
    ValueType.TEXT: text_key,
}


def key_of(kind: ValueType, numerals: Numerals = POINT) -> Callable[[str], Key | None]:
    """Return what gives the key of a text of a type, None for a text that is not of it.

    >>> key_of(ValueType.NUMBER)("2.5"), key_of(ValueType.NUMBER)("2,5")
    (Decimal('2.5'), None)
    """
    plainly = _KEYS[kind]
    if numerals == POINT or kind not in (ValueType.INTEGER, ValueType.NUMBER):
        return plainly

    def key(text: str) -> Key | None:
        plain = numerals.plain(text)
        return None if plain is None else plainly(plain)

    # A whole number is spelled in one way only, without anything between its thousands.
    return integer_key if kind is ValueType.INTEGER else key


def detect(where: str, counts: Mapping[str, int], numerals: Numerals = POINT) -> ValueType:
    """Return the type of a column that declares none.

    Parameters
    ----------
    where: file and column, for messages.
    counts: records with each distinct text, missing values left out.
    numerals: how numbers are written.

    Raises
    ------
    DataError: nearly all records hold numbers, the others do not, or hold what stands for no number.
    """
    if not counts:
        return ValueType.TEXT
    if looks_coded(counts):
        return ValueType.TEXT
    for candidate in (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE):
        key = key_of(candidate, numerals)
        if all(key(text) is not None for text in counts):
            return candidate
    _refuse_mixed(where, counts, numerals)
    return ValueType.TEXT


def looks_coded(texts: Iterable[str]) -> bool:
    """Tell whether one of some texts is a code rather than a number: a leading zero or plus, or ``0e3``.

    >>> looks_coded(["1", "07"]), looks_coded(["0", "0.7"]), looks_coded(["0e3"]), looks_coded(["1e+05"])
    (True, False, True, False)
    """
    return any(_CODE.fullmatch(text) for text in texts)


def _refuse_mixed(where: str, counts: Mapping[str, int], numerals: Numerals) -> None:
    key = key_of(ValueType.NUMBER, numerals)
    others = {text: count for text, count in counts.items() if key(text) is None}
    if len(others) == len(counts):
        return
    records = sum(counts.values())
    strange = sum(others.values())
    not_finite = all(text.lstrip("+-").lower() in _NOT_FINITE for text in others)
    if not_finite or records - strange >= MOSTLY * records:
        raise DataError(
            f"{where}: {records - strange} of {records} records hold a number, {_others(others)}; "
            "list what stands for a missing value in input.missing, or declare `type: text`"
        )


def _others(counts: Mapping[str, int]) -> str:
    """Return how many records hold an offending text, and the smallest such text."""
    number = sum(counts.values())
    text = min(counts)
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return f"{number} do not, such as {shown!r}" if number > 1 else f"1 does not: {shown!r}"


def parse(
    where: str, counts: Mapping[str, int], declared: ValueType, numerals: Numerals = POINT
) -> dict[str, Key]:
    """Return the key of each distinct text.

    Raises
    ------
    DataError: a text is no value of the declared type; NaN and infinities are no numbers.
    """
    key = key_of(declared, numerals)
    keys = {text: key(text) for text in counts}
    others = {text: count for text, count in counts.items() if keys[text] is None}
    if others:
        records = sum(counts.values())
        raise DataError(
            f"{where}: declared {declared}, which {records - sum(others.values())} of {records} records are, "
            f"{_others(others)}; declare `type: {_fitting(others, numerals)}`, or list it in input.missing"
        )
    return {text: found for text, found in keys.items() if found is not None}


def _fitting(texts: Iterable[str], numerals: Numerals) -> ValueType:
    key = key_of(ValueType.NUMBER, numerals)
    return ValueType.NUMBER if all(key(text) is not None for text in texts) else ValueType.TEXT


def spelling(texts: Sequence[str]) -> str:
    """Return which of several spellings of one value is published: the shortest, then the smallest.

    >>> spelling(["1.0", "1", "1e0"])
    '1'
    """
    return texts[0] if len(texts) == 1 else min(texts, key=lambda text: (len(text), text))


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


KEPT = 2
"""Rolled-up combinations that the engine keeps: where a search looks just now, and what it asked last."""


class EngineTables(TableSource):
    """Tables of the combinations of an engine.

    Parameters
    ----------
    combinations: of the codes of the quasi-identifiers and then the sensitive attributes; stays the caller's.
    folder: as every source has it.
    """

    def __init__(
        self,
        quasi_identifiers: Sequence[QuasiIdentifier],
        sensitive: Sequence[SensitiveAttribute],
        combinations: DistinctRows,
        folder: Path | None = None,
    ) -> None:
        self.folder = folder
        self._quasi_identifiers = tuple(quasi_identifiers)
        self._sensitive = tuple(sensitive)
        self._combinations = combinations
        self._held: dict[tuple[int, ...], DistinctRows] = {}

    def at(self, levels: Sequence[int], most: int) -> Table | None:
        """Return the table of records told apart by their nodes at generalization levels."""
        combinations = self._rolled_up(levels)
        if combinations.number > most:
            return None
        codes, counts = combinations.fetch()
        for array in (codes, counts):
            freeze(array)
        attributes = tuple(
            replace(attribute, minimum=level)
            for attribute, level in zip(self._quasi_identifiers, levels, strict=True)
        )
        return Table(attributes, self._sensitive, codes, counts, coarse=True)

    def records_in_small_classes(self, levels: Sequence[int], least: int) -> int:
        """Count the records in equivalence classes of fewer than some number of records."""
        return self._rolled_up(levels).records_in_small_groups(len(self._quasi_identifiers), least)

    @property
    def number(self) -> int:
        """How many distinct rows there are."""
        return self._combinations.number

    def pieces(self) -> Iterator[RowPiece]:
        """Return all distinct rows, some at a time."""
        return self._combinations.pieces()

    def codes(self, keys: Sequence[IntArray]) -> CodeArray:
        """Return the codes that keys stand for."""
        return unpacked(places_of(self._combinations.sizes), keys)

    def _rolled_up(self, levels: Sequence[int]) -> DistinctRows:
        """Return the combinations at levels, from the coarsest that the engine still has.

        It keeps those used last: the next question is often about the same levels, or those above them.
        """
        asked = tuple(levels)
        finer = [held for held in self._held if all(low <= own for low, own in zip(held, asked, strict=True))]
        nearest = max(finer, key=sum, default=None)
        base = self._combinations if nearest is None else self._held.pop(nearest)
        if nearest is not None:
            self._held[nearest] = base
        if nearest == asked:
            return base
        coarser: list[CodeArray | None] = [
            lowest_of_node(attribute, level)
            for attribute, level in zip(self._quasi_identifiers, levels, strict=True)
        ]
        rolled = base.rolled_up([*coarser, *(None for _ in self._sensitive)])
        self._held[asked] = rolled
        if len(self._held) > KEPT:
            self._held.pop(next(iter(self._held))).close()
        return rolled


def lowest_of_node(attribute: QuasiIdentifier, level: int) -> CodeArray:
    """Return for each code the lowest one of the same node at a level, shape (values,), int32."""
    _, first, node = np.unique(attribute.nodes(level), return_index=True, return_inverse=True)
    lowest: CodeArray = first.astype(np.int32)[node]
    return lowest


def recoded_as(encoded: Encoded, table: Table) -> Encoded:
    """Return records as combinations of the codes that stand for their nodes in a coarser table of them.

    Parameters
    ----------
    encoded: by the quasi-identifiers and the sensitive attributes of the table.
    table: of the same records, at the lowest levels of its quasi-identifiers.
    """
    coarser = tuple(
        replace(read, codes=lowest_of_node(attribute, attribute.minimum)[read.codes])
        for attribute, read in zip(table.quasi_identifiers, encoded.columns, strict=False)
    )
    columns = (*coarser, *encoded.columns[len(coarser) :])
    return Encoded(table.codes, table.counts, encoded.relation, columns)
