"""Loading a table: column types, values in their order, and records encoded as distinct rows.

Types are detected and values parsed exactly. If the distinct rows do not fit in memory, the engine that
stores them counts the tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import numpy as np

from anonymizer.data.open import open_file
from anonymizer.data.relation import Coding, DistinctRows, KeyWords, Relation
from anonymizer.data.values import (
    NUMBER,
    PADDED,
    Key,
    absent_texts,
    detecting_key_of,
    key_of,
    looks_coded,
    number_key,
    split_absent,
)
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray, freeze, rank
from anonymizer.model.dates import ISO, ISO_PERIODS, DateFormat, Moment, date_remedy, iso_moment, shown_form
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import MISSING, SUPPRESSED, in_natural_order
from anonymizer.model.measure import Measure
from anonymizer.model.table import (
    BLANKS,
    COMMA,
    POINT,
    Code,
    Column,
    Numerals,
    QuasiIdentifier,
    RowPiece,
    SensitiveAttribute,
    Table,
    TableSource,
    ValueType,
)
from anonymizer.model.units import UnitsByName

MOSTLY = Decimal("0.9")
"""Share of numbers among the records from which other texts are taken for errors."""

_NOT_FINITE = frozenset({"nan", "inf", "infinity"})
_SHOWN = 40


def detect(
    where: str, counts: Mapping[str, int], numerals: Numerals = POINT, *, mixed: bool = False
) -> ValueType:
    """Return the type of a column that declares none.

    Parameters
    ----------
    where: file and column, for messages.
    counts: records of each distinct text, without missing values.
    numerals: how numbers are written.
    mixed: whether a column is text where nearly all records are numbers, and not refused.

    Raises
    ------
    DataError: nearly all records are numbers and the others are not, or the others are NaN or infinite.
    """
    if not counts:
        return ValueType.TEXT
    if looks_coded(counts):
        return ValueType.TEXT
    for candidate in (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE):
        key = detecting_key_of(candidate, numerals)
        if all(key(text) is not None for text in counts):
            return candidate
    if not mixed:
        _refuse_mixed(where, counts, numerals)
    return ValueType.TEXT


def _refuse_mixed(where: str, counts: Mapping[str, int], numerals: Numerals) -> None:
    key = key_of(ValueType.NUMBER, numerals)
    others = {text: count for text, count in counts.items() if key(text) is None}
    if len(others) == len(counts):
        return
    records = sum(counts.values())
    strange = sum(others.values())
    not_finite = all(text.lstrip("+-").lower() in _NOT_FINITE for text in others)
    if not_finite or records - strange >= MOSTLY * records:
        are = "is a number" if records - strange == 1 else "are numbers"
        raise DataError(
            f"{where}: {records - strange} of {records} records {are}, {_others(others)}; "
            "if such a text means a missing value, add it to input.missing; otherwise set `type: text`"
        )


def _others(counts: Mapping[str, int]) -> str:
    """Return how many records have another text, and the smallest such text."""
    number = sum(counts.values())
    text = _shown(min(counts))
    return f"{number} are not, such as {text!r}" if number > 1 else f"1 is not: {text!r}"


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def wrong_weights(relation: Relation, name: str, absent: Collection[str], numerals: Numerals = POINT) -> str:
    """Return in how many records a column of weights lacks a positive number, and what would do; else "".

    Parameters
    ----------
    absent: texts of missing values.

    Raises
    ------
    DataError: no such column.
    """
    dictionary = relation.dictionary(name)
    texts = [text for text, _ in dictionary if text is not None]
    absent = absent_texts(texts, absent, ValueType.NUMBER, numerals)
    faults = [_fault_of_weight(text, absent, numerals) for text, _ in dictionary]
    wrong = [code for code, fault in enumerate(faults) if fault]
    if not wrong:
        return ""
    records = dict.fromkeys(("zero", "negative", "missing", "not a number"), 0)
    for code in wrong:
        records[faults[code]] += dictionary[code][1]
    why = ", ".join(f"{number:,} {fault}" for fault, number in records.items() if number)
    code, place = wrong[0], ""
    if relation.ordered:
        codes = relation.codes(name)
        first = int(np.argmax(np.isin(codes, wrong)))
        code, place = int(codes[first]), f", first in record {first + 1:,}"
    text = str(dictionary[code][0])
    value = "" if faults[code] == "missing" else f": {_shown(text)!r}"
    remedy = "give these records a positive weight, or leave them out of the file"
    if numerals == POINT and not _fault_of_weight(text, absent, COMMA) and faults[code] == "not a number":
        remedy = "write it with a decimal point, or set input.decimal: ',' if the file has decimal commas"
    what = f"{sum(records.values()):,} of {relation.rows:,} records ({why})"
    return f"lacks a positive number in {what}{place}{value}; {remedy}"


def _fault_of_weight(text: str | None, absent: Collection[str], numerals: Numerals) -> str:
    """Return why a text is not a positive number; "" if it is."""
    if text is None or text in absent or not text.strip():
        return "missing"
    number = key_of(ValueType.NUMBER, numerals)(text)
    if not isinstance(number, Decimal):
        return "not a number"
    return "" if number > 0 else "negative" if number else "zero"


class NotDates(DataError):
    """A column that was declared to have dates and has others: what was found, and the remedy in a config."""

    def __str__(self) -> str:
        """Return the whole message; a command without a config takes the first part only."""
        return "; ".join(self.args)


def parse(
    where: str,
    counts: Mapping[str, int],
    declared: ValueType,
    numerals: Numerals = POINT,
    dates: DateFormat = ISO,
    inherited: str = "",
) -> dict[str, Key]:
    """Return the key of each distinct text.

    Parameters
    ----------
    inherited: where the type is from, such as "the input", if the config does not declare it.

    Raises
    ------
    DataError: a text is not a value of the declared type; NaN and infinity are not numbers.
    """
    key = key_of(declared, numerals, dates)
    keys = {text: key(text) for text in counts}
    others = {text: count for text, count in counts.items() if keys[text] is None}
    if others and declared is ValueType.DATE:
        declared_as = f"{inherited} has dates" if inherited else "declared date"
        found = f"{where}: {declared_as}, but {_not_dates(counts, others, dates)}"
        raise NotDates(found, date_remedy(list(counts), dates))
    if others:
        strange, example = sum(others.values()), _shown(min(others))
        one = "an integer" if declared is ValueType.INTEGER else f"a {declared}"
        fault = "too large for" if all(map(_too_large, others)) else "not"
        found = f"are {fault} {declared}s, such as" if strange > 1 else f"is {fault} {one}:"
        declared_as = f"{inherited} has {_PLURALS[declared]}" if inherited else f"declared {declared}"
        raise DataError(
            f"{where}: {declared_as}, but {strange} of {sum(counts.values())} records {found} "
            f"{example!r}; {_fitting(others, numerals)}, or list such values in input.missing"
        )
    return {text: found for text, found in keys.items() if found is not None}


_PLURALS: Mapping[ValueType, str] = {ValueType.INTEGER: "whole numbers", ValueType.NUMBER: "numbers"}
"""What a file has whose columns are of a type, for messages."""


def _too_large(text: str) -> bool:
    """Return whether a text is a number beyond those that can be compared with others."""
    return bool(NUMBER.fullmatch(text)) and math.isinf(float(text))


def _fitting(texts: Collection[str], numerals: Numerals) -> str:
    """Return what helps against texts that are not of the declared type."""
    key = key_of(ValueType.NUMBER, numerals)
    if any(key(text) is None for text in texts):
        comma = key_of(ValueType.NUMBER, COMMA)
        decimal = numerals == POINT and all(comma(text) is not None for text in texts)
        sign = "input.decimal: ',' if the comma is the decimal separator, or " if decimal else ""
        return f"set {sign}`type: text`"
    padded = any(map(PADDED.fullmatch, texts))
    return f"set {'`type: text` (keeps leading zeros) or ' if padded else ''}`type: number`"


_FORMS = 3
"""Most forms of values that a message shows."""


def _not_dates(counts: Mapping[str, int], others: Mapping[str, int], dates: DateFormat) -> str:
    """Return how many records are not dates, and their forms."""
    strange, records = sum(others.values()), sum(counts.values())
    found = "is not a date" if strange == 1 else "are not dates"
    accepted = " or ".join(f'"{form}"' for form in dates.forms) or "YYYY-MM-DD"
    forms: Counter[str] = Counter()
    for text, count in others.items():
        forms[shown_form(text)] += count
    ranked = sorted(forms.items(), key=lambda each: (-each[1], each[0]))
    shown = ", ".join(f"'{form}' ({count:,})" for form, count in ranked[:_FORMS])
    if not dates.forms and [*forms] == ["9999-99-99"]:
        shown += ", the right form, but there is no such day"
    more = ", ..." if len(ranked) > _FORMS else ""
    return (
        f"{strange:,} of {records:,} records {found} in the format {accepted}. The forms of these values "
        f"(9 for a digit, a for a letter): {shown}{more}"
    )


def spelling(texts: Sequence[str]) -> str:
    """Return the published one of several spellings of a value: the shortest, then the smallest.

    >>> spelling(["1.0", "1", "1e0"])
    '1'
    """
    return texts[0] if len(texts) == 1 else min(texts, key=lambda text: (len(text), text))


def usual_spelling(counts: Mapping[str, int]) -> str:
    """Return the published one of several spellings of a text: that of most records, then the smallest.

    >>> usual_spelling({" flu": 1, "flu": 3, "flu ": 3})
    'flu'
    """
    return min(counts, key=lambda text: (-counts[text], text))


DEFAULT_MISSING = ("",)
"""Texts that are missing values by default."""


@dataclass(frozen=True)
class ColumnRequest:
    """A column to read.

    Attributes
    ----------
    name: of the column.
    type: as declared; None to detect it.
    numerals: decimal sign of numbers in texts; has no effect on stored numbers.
    dates: formats of dates in texts; have no effect on stored dates.
    generalized: whether it is a quasi-identifier: its dates are published in ISO 8601, and its texts are in
        natural order, by the numbers in them, rather than by code point.
    grouped: whether its values are groups, whose labels are in natural order, too.
    inherited: where the type is from, such as "the input", if the config does not declare it.
    unchanged: whether it is released as it is, so that a few texts among numbers are no fault.
    """

    name: str
    type: ValueType | None = None
    numerals: Numerals = POINT
    dates: DateFormat = ISO
    generalized: bool = False
    grouped: bool = False
    inherited: str = ""
    unchanged: bool = False

    def absent_among(self, texts: Collection[str], codes: Collection[str]) -> set[str]:
        """Return the texts of the column that mean a missing value, by the codes of these."""
        if self.type is None:
            return split_absent(texts, codes, self.numerals)[0]
        return absent_texts(texts, codes, self.type, self.numerals, self.dates)


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A column as read, with the codes of the relation's texts.

    Attributes
    ----------
    column: its distinct values.
    codes: code of each position in the relation's dictionary of the column, shape (distinct texts,), int32.
    """

    column: Column
    codes: CodeArray

    @property
    def coding(self) -> Coding:
        """The codes of the relation's texts."""
        return Coding(self.column.name, self.codes, self.column.size)


@dataclass(frozen=True, eq=False)
class Encoded:
    """Records as distinct rows of codes.

    Attributes
    ----------
    codes: the distinct rows, sorted lexicographically, shape (combinations, columns), int32.
    counts: records of each row, shape (combinations,), int64.
    relation, columns: that were encoded.
    rows: row of each record, shape (records,), int32, where records of one distinct row are in several; None
        where they are in one.
    """

    codes: CodeArray
    counts: IntArray
    relation: Relation
    columns: tuple[ReadColumn, ...]
    rows: CodeArray | None = None

    @cached_property
    def combination(self) -> CodeArray:
        """Distinct row of each record, in the order of the input, shape (records,), int32.

        Most runs do not need it, so the records are read again at its first use, for which the relation has
        to be open.
        """
        if self.rows is not None:
            return self.rows
        combination, _ = rank(self.relation.packed([read.coding for read in self.columns]).take_keys())
        freeze(combination)
        return combination


def read_columns(
    relation: Relation, requests: Iterable[ColumnRequest], missing: Sequence[str] = DEFAULT_MISSING
) -> dict[str, ReadColumn]:
    """Read the distinct values of columns.

    Parameters
    ----------
    requests: columns with their declared types.
    missing: texts that are missing values, besides nulls and the text ``<missing>``.

    Returns
    -------
    The columns by name, in the order of the requests.

    Raises
    ------
    DataError: no such column, or its values are not of the declared type, or nearly all are numbers.
    """
    absent = frozenset({*missing, MISSING})
    return {request.name: _read(relation, request, absent) for request in requests}


def read_column(path: Path, name: str, dates: DateFormat = ISO) -> Column:
    """Read one column of a file with default settings.

    Parameters
    ----------
    dates: formats of the column's dates; with any, the column must have dates.

    Raises
    ------
    DataError: the file cannot be read, or as for ``read_columns``.
    """
    kind = ValueType.DATE if dates.forms else None
    with open_file(path) as relation:
        request = ColumnRequest(name, kind, dates=dates, generalized=True)
        return read_columns(relation, [request])[name].column


def notated_texts(relation: Relation, name: str, numerals: Numerals) -> list[str | None]:
    """Return the distinct texts of a column, as in its dictionary; stored numbers with a decimal sign."""
    texts = [text for text, _ in relation.dictionary(name)]
    if numerals == POINT or relation.is_text(name):
        return texts
    return [text if text is None or number_key(text) is None else numerals.written(text) for text in texts]


def unite_spellings(
    relation: Relation, requests: Iterable[ColumnRequest], missing: Sequence[str] = DEFAULT_MISSING
) -> None:
    """Write each value of columns in one way, in place, by the identity of what a run publishes for it.

    Values that are not of a declared type may be those of a release, and are texts. A suppressed one is no
    value, and decides no type.

    Parameters
    ----------
    missing: as for ``read_columns``; missing values with several texts become ``<missing>``.
    """
    absent, found = frozenset({*missing, MISSING, SUPPRESSED}), {}
    for request in requests:
        try:
            read = _read(relation, request, absent)
        except DataError:
            read = _read(relation, replace(request, type=ValueType.TEXT), absent)
        texts = [text for text, _ in relation.dictionary(request.name)]
        new = _united(texts, read)
        if new:
            found[request.name] = new
    if found:
        relation.respell(found)


def _united(texts: Sequence[str | None], read: ReadColumn) -> dict[str, str | None]:
    """Return the one spelling of the value of each text that differs from it."""
    published = [*map(text_identity, read.column.texts)]
    own = dict(zip(texts, (published[code] for code in read.codes.tolist()), strict=True))
    own |= {text: SUPPRESSED for text in texts if text is not None and text_identity(text) == SUPPRESSED}
    absent = [text for text in texts if own[text] == MISSING]
    own |= dict.fromkeys(absent, absent[0] if len(absent) == 1 else None if None in absent else MISSING)
    return {text: value for text, value in own.items() if text is not None and text != value}


def encode(relation: Relation, columns: Sequence[ReadColumn]) -> Encoded:
    """Encode the records by the codes of columns, at least one, and count the distinct rows."""
    with relation.combinations([read.coding for read in columns]) as combinations:
        codes, counts = combinations.fetch()
    for array in (codes, counts):
        freeze(array)
    return Encoded(codes, counts, relation, tuple(columns))


def _read(relation: Relation, request: ColumnRequest, missing: frozenset[str]) -> ReadColumn:
    dictionary = relation.dictionary(request.name)
    if (request.numerals != POINT or request.dates != ISO) and not relation.is_text(request.name):
        texts = [text for text, _ in dictionary if text is not None]
        absent = absent_texts(texts, missing)
        stored = all(iso_moment(text) for text in texts if text not in absent)
        request = replace(request, numerals=POINT, dates=ISO if stored else request.dates)
    read = column_of(relation.name, dictionary, request, missing)
    codes = declared_codes(relation, request.name)
    return replace(read, column=replace(read.column, codes=codes)) if codes else read


def declared_codes(relation: Relation, name: str) -> Mapping[str, Code]:
    """Return the codes of the labels by which a column is read; empty without labels."""
    labels = relation.labels.get(name)
    return {} if labels is None else labels.declared


def column_of(
    source: str,
    dictionary: Sequence[tuple[str | None, int]],
    request: ColumnRequest,
    missing: Collection[str] = DEFAULT_MISSING,
) -> ReadColumn:
    """Read a column from its distinct texts with their records.

    Parameters
    ----------
    source: name of the input in messages.
    dictionary: as of a relation.
    missing: as for ``read_columns``, with ``<missing>``.

    Raises
    ------
    DataError: the values are not of the declared type, or nearly all are numbers.
    """
    where = f"{source}: column '{request.name}'"
    present, kind = _typed(where, dictionary, request, missing)
    parsed = parse(where, present, kind, request.numerals, request.dates, request.inherited)
    spellings = _spellings(parsed)
    keys = sorted(spellings)
    if kind is ValueType.TEXT and (request.generalized or request.grouped):
        keys = [*in_natural_order(map(str, spellings), request.numerals.decimal)]
    code_of = {text: code for code, key in enumerate(keys) for text in spellings[key]}
    rewritten = request.generalized and request.dates != ISO
    published = (lambda text: text.strip(BLANKS)) if kind.numeric else str.strip
    texts = [
        key.text
        if isinstance(key, Moment) and rewritten
        else usual_spelling({text: present[text] for text in spellings[key]})
        if kind is ValueType.TEXT
        else spelling([*map(published, spellings[key])])
        for key in keys
    ]
    padded = kind is not ValueType.DATE and any(text != text.strip() for text in present)
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
    dates = _published_format(keys) if rewritten else request.dates
    column = Column(
        request.name, kind, tuple(texts), counts, numbers, code, request.numerals, absent, padded, dates
    )
    return ReadColumn(column, codes)


def _typed(
    where: str, dictionary: Sequence[tuple[str | None, int]], request: ColumnRequest, missing: Collection[str]
) -> tuple[dict[str, int], ValueType]:
    """Return the texts that are not missing, with their records, and the type of a column.

    Whether a text means a missing value depends on the type, and the type on the texts that do not.
    """
    counts = {text: count for text, count in dictionary if text is not None}
    absent = request.absent_among(counts, missing)
    present = {text: count for text, count in counts.items() if text not in absent}
    return present, request.type or detect(where, present, request.numerals, mixed=request.unchanged)


def _published_format(keys: Iterable[Key]) -> DateFormat:
    """Return the format of dates in ISO 8601; with months, weeks or years only if some dates are such."""
    plain = all(iso_moment(key.text) for key in keys if isinstance(key, Moment))
    return ISO if plain else ISO_PERIODS


def _spellings(parsed: Mapping[str, Key]) -> dict[Key, list[str]]:
    """Return the texts of each value."""
    spellings: dict[Key, list[str]] = {}
    for text, key in parsed.items():
        spellings.setdefault(key, []).append(text)
    return spellings


def _numbers(keys: Sequence[Key], size: int) -> FloatArray:
    """Return the keys of an ordered type as numbers, padded with NaN for a missing value."""
    numbers = np.full(size, np.nan)
    numbers[: len(keys)] = [float(key) for key in keys]
    freeze(numbers)
    return numbers


KEPT = 2
"""Number of rolled-up tables that the engine stores: at the levels in use, and the ones before."""


class EngineTables(TableSource):
    """Tables of distinct rows that an engine stores.

    Parameters
    ----------
    combinations: of the codes of the quasi-identifiers and then the sensitive attributes; stays the caller's.
    folder: as for ``TableSource``.
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
        """Return the table at generalization levels, None if it has more rows than ``most``."""
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
        measure = Measure(counts, units_of_stored(combinations, codes))
        return Table(attributes, self._sensitive, codes, measure, coarse=True)

    def records_in_small_classes(self, levels: Sequence[int], least: int, unit: str | None = None) -> int:
        """Return the number of records in equivalence classes of fewer than ``least`` records or units."""
        return self._rolled_up(levels).records_in_small_groups(len(self._quasi_identifiers), least, unit)

    @property
    def number(self) -> int:
        """Number of distinct rows."""
        return self._combinations.number

    def pieces(self) -> Iterator[RowPiece]:
        """Return all distinct rows in pieces."""
        return self._combinations.pieces()

    def codes(self, keys: Sequence[IntArray]) -> CodeArray:
        """Return the codes of keys."""
        return KeyWords(self._combinations.sizes).unpack(keys)

    def _rolled_up(self, levels: Sequence[int]) -> DistinctRows:
        """Return the distinct rows at levels, rolled up from the coarsest stored ones.

        Those used last are stored: the next question is often for the same levels, or higher ones.
        """
        wanted = tuple(levels)
        finer = [
            held for held in self._held if all(low <= own for low, own in zip(held, wanted, strict=True))
        ]
        nearest = max(finer, key=sum, default=None)
        base = self._combinations if nearest is None else self._held.pop(nearest)
        if nearest is not None:
            self._held[nearest] = base
        if nearest == wanted:
            return base
        coarser: list[CodeArray | None] = [
            lowest_of_node(attribute, level)
            for attribute, level in zip(self._quasi_identifiers, levels, strict=True)
        ]
        rolled = base.rolled_up([*coarser, *(None for _ in self._sensitive)])
        self._held[wanted] = rolled
        if len(self._held) > KEPT:
            self._held.pop(next(iter(self._held))).close()
        return rolled


def units_of_stored(rows: DistinctRows, codes: CodeArray) -> UnitsByName:
    """Return the units of the distinct rows that an engine stores.

    Parameters
    ----------
    codes: of the rows, as fetched.
    """
    return {name: own.fetch().of_rows(codes, rows.sizes) for name, own in rows.units.items()}


def lowest_of_node(attribute: QuasiIdentifier, level: int) -> CodeArray:
    """Return the lowest code with the same node at a level for each code, shape (values,), int32."""
    _, first, node = np.unique(attribute.nodes(level), return_index=True, return_inverse=True)
    lowest: CodeArray = first.astype(np.int32)[node]
    return lowest


def recoded_as(encoded: Encoded, table: Table) -> Encoded:
    """Return records as distinct rows of the lowest codes of their nodes in a coarser table.

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
