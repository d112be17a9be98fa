"""Column statistics of an open input, texts of missing values, number formats, words in column names.

Warnings name texts that look like one value and are two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from anonymizer.data.relation import ColumnStatistics, Relation, column_statistics
from anonymizer.data.table import wrong_weights
from anonymizer.data.values import WHOLE, detecting_key_of, key_of, looks_coded, whole_key
from anonymizer.hierarchy.ready import normalized
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.dates import DateReading, Reading, reading_of
from anonymizer.model.labels import MISSING
from anonymizer.model.table import CODE, COMMA, POINT, Code, Numerals, ValueType
from anonymizer.model.warning import Harm, Warned
from anonymizer.profile.knowledge import unspaced, words_of
from anonymizer.profile.spellings import (
    BESIDE_NUMBERS,
    CLEAR,
    EMPTY,
    begins_or_ends_with_blank,
    padding_warnings,
)

_LONG = 5
"""Minimum number of letters of a word that also matches inside longer words, as in ``iinjury``."""


def names_any(name: str, terms: Iterable[str]) -> bool:
    """Return whether a column's name contains a term as words or, if it is long, inside a word.

    A term of a script without spaces may be anywhere in the name.

    >>> names_any("ihispanic", ["hispanic"]), names_any("language", ["age"]), names_any("E-Mail", ["e mail"])
    (True, False, True)
    """
    words = words_of(name)
    spaced, joined = f" {' '.join(words)} ", "".join(words)
    return any(
        f" {term} " in spaced or ((len(term) >= _LONG or unspaced(term)) and term.replace(" ", "") in joined)
        for term in terms
    )


NEARLY_ALL = 0.8
"""Distinct values per record from which on nearly all values count as different."""

SAMPLE = 5_000
"""Maximum number of distinct values that are read; of more, a sample of about this size."""


_CLOCK = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?( ?[ap]\.?m\.?)?", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnFacts:
    """The statistics of a column.

    Attributes
    ----------
    name: as in the file.
    type: of all its values.
    rows: records of the file.
    missing: records without a value.
    distinct: number of distinct values that are not missing.
    singles: number of values with one record.
    largest: records with the most frequent value.
    entropy: of the values that are not missing, in bits.
    values: distinct values with their records, sorted by code point: all of them or a sample.
    numerals: notation of numbers in the values.
    dates: formats of the values if these, or nearly all, are dates of another form than ISO 8601.
    title: label of the column in the file, such as the text of a question; empty without one.
    codes: labels of the values in the file with their codes; empty if the values have none.
    """

    name: str
    type: ValueType
    rows: int
    missing: int
    distinct: int
    singles: int
    largest: int
    entropy: float
    values: tuple[tuple[str, int], ...]
    numerals: Numerals = POINT
    dates: DateReading | None = None
    title: str = ""
    codes: tuple[tuple[str, Code], ...] = ()

    @property
    def dated(self) -> bool:
        """Whether the values, or nearly all, are dates."""
        return self.type is ValueType.DATE or self.dates is not None

    @property
    def present(self) -> int:
        """Records with a value."""
        return self.rows - self.missing

    @property
    def whole(self) -> bool:
        """Whether ``values`` has all distinct values."""
        return len(self.values) == self.distinct

    @property
    def distinctness(self) -> float:
        """Distinct values per record with a value: 1 if all differ."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def once(self) -> ColumnFacts:
        """The column as if each value had one record."""
        values = tuple((text, 1) for text, _ in self.values)
        rows = len(values)
        return replace(self, rows=rows, missing=0, distinct=rows, singles=rows, largest=1, values=values)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of ``values``."""
        return tuple(text for text, _ in self.values)

    @cached_property
    def clock(self) -> bool:
        """Whether the values are times of day."""
        return self.type is ValueType.TEXT and all(map(_CLOCK.fullmatch, self.texts))

    @cached_property
    def spellings(self) -> tuple[tuple[str, str], ...]:
        """The texts of ``values``, each with its normalized form for ready-made hierarchies."""
        return tuple((text, normalized(text)) for text in self.texts)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return words_of(self.name)

    @cached_property
    def numbers(self) -> FloatArray:
        """``values`` as numbers, ascending, shape (values,); empty for a column of another type."""
        return self._ascending[0]

    @cached_property
    def weights(self) -> IntArray:
        """Records of each of ``numbers``, shape (values,), int64."""
        return self._ascending[1]

    @property
    def ends_in_one_record(self) -> bool:
        """Whether a single record has the largest, or the smallest, of several numbers in ``values``."""
        numbers, weights = self._ascending
        ends = () if len(numbers) == 0 or numbers[0] == numbers[-1] else (numbers[0], numbers[-1])
        return any(int(weights[numbers == end].sum()) == 1 for end in ends)

    @cached_property
    def _ascending(self) -> tuple[FloatArray, IntArray]:
        if not self.type.numeric:
            return np.empty(0), np.empty(0, dtype=np.int64)
        numbers = np.array([self.numerals.number(text) for text, _ in self.values], dtype=np.float64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], np.array([count for _, count in self.values], dtype=np.int64)[order]


def is_fingerprint(column: ColumnFacts) -> bool:
    """Return whether nearly all values differ, so that they link records if they are released exactly."""
    return column.distinctness >= NEARLY_ALL and column.singles > 1


ABSENT = (*CLEAR, MISSING)
"""Texts that never count as values."""

NO_VALUES = frozenset({*ABSENT, *BESIDE_NUMBERS})
"""Texts that are no values of a column whose other texts are numbers or dates."""


def clear_texts(relation: Relation, column: str, spread: ColumnStatistics) -> set[str]:
    """Return the texts of ``CLEAR`` in a column."""
    if not spread.nulls:
        return set()
    if spread.whole:
        return {text for text, _ in relation.dictionary(column) if text is not None}.intersection(CLEAR)
    return texts_among(relation, column, CLEAR)


def texts_among(relation: Relation, column: str, texts: Collection[str]) -> set[str]:
    """Return those of some texts that a column contains."""
    if not relation.profiling.count_matching(column, "|".join(map(re.escape, texts))):
        return set()
    return {text for text in texts if relation.profiling.count_matching(column, re.escape(text))}


def as_setting(found: Collection[str]) -> tuple[str, ...]:
    """Return the value of ``input.missing``: the empty text and the texts found, in a fixed order."""
    known = (*CLEAR, *BESIDE_NUMBERS)
    listed = (text for text in known if text == EMPTY or text in found)
    return (*listed, *sorted(set(found).difference(known)))


LEAST_DATES = 4
"""Minimum number of different whole numbers that are dates, such as 20140131."""

ENOUGH = 5
"""Minimum number of different numbers with possible thousands separators for a warning."""

Texts = Sequence[tuple[str, int]]
"""Distinct texts of a column, or a sample, with their records."""

_POINTED_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*")
_COMMA_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*")
_DIGITS = re.compile(r"\d")

_with_point = key_of(ValueType.NUMBER, POINT)
_with_comma = key_of(ValueType.NUMBER, COMMA)


class NumberFormat(NamedTuple):
    """The notation of numbers in a file.

    Attributes
    ----------
    numerals: of all its columns.
    warnings: columns that may differ, with examples in which every digit is 9.
    """

    numerals: Numerals
    warnings: tuple[str, ...]


def writing_of(columns: Mapping[str, Texts], separator: str | None) -> NumberFormat:
    """Return the notation of numbers in a file, from the columns whose texts are all numbers.

    A file has decimal commas if a column cannot be read otherwise and no column has points that can only be
    decimal.

    Parameters
    ----------
    columns: texts by column.
    separator: of its fields; None if it is not a text file.
    """
    known = {
        name: [each for each in texts if each[0] not in NO_VALUES]
        for name, texts in columns.items()
        if any("," in text or "." in text for text, _ in texts)
    }
    commas = [name for name, texts in known.items() if _is_comma(texts)]
    points = [name for name, texts in known.items() if _is_point(texts)]
    numerals = COMMA if commas and not points else POINT
    warnings = [*_mixed_columns(known), *_mixed_file(commas, points)]
    if numerals == POINT:
        warnings += _thousands(known, separator)
    return NumberFormat(numerals, tuple(warnings))


def has_fractions(column: ColumnFacts) -> bool:
    """Return whether the values are numbers, not all whole, with points or commas whatever the file has."""
    if column.type is ValueType.NUMBER:
        return any(whole_key(column.numerals.plain(text) or "") is None for text in column.texts)
    texts = [each for each in column.values if each[0] not in NO_VALUES]
    return any("," in text for text, _ in texts) and _is_comma(texts)


def blank_warnings(relation: Relation, columns: Sequence[ColumnFacts]) -> list[str]:
    """Return warnings about spaces around values."""
    padded = [each for each in columns if begins_or_ends_with_blank(each.texts)]
    numbers = [each.name for each in padded if each.type.numeric]
    texts = [each.name for each in padded if each.type is ValueType.TEXT and relation.is_text(each.name)]
    return padding_warnings(numbers, texts)


def uneven_codes(texts: Collection[str]) -> str:
    """Return what to check before codes of digits that differ in length are masked from the right; else "".

    >>> uneven_codes(["1067", "10115"])[:73]
    'codes have 4 to 5 digits; masks fill up the shorter ones at the right: if'
    >>> uneven_codes(["01067", "10115"]), uneven_codes(["N1", "EC1A"])
    ('', '')
    """
    lengths = {len(text) for text in texts}
    if len(lengths) < 2 or not all(text.isascii() and text.isdigit() for text in texts):
        return ""
    return (
        f"codes have {min(lengths)} to {max(lengths)} digits; masks fill up the shorter ones at the right: "
        "if these lost zeros at the left, restore them in the file, or codes of different areas become one"
    )


def weight_warnings(
    relation: Relation, name: str, absent: Collection[str], numerals: Numerals, k: int, *, released: bool
) -> Iterator[str]:
    """Yield the warnings about a sampling weight: not positive in every record, or rare values released.

    Parameters
    ----------
    absent: texts of missing values.
    """
    fault = wrong_weights(relation, name, absent, numerals if relation.is_text(name) else POINT)
    if fault:
        what = f"sampling weight '{name}' {fault}; no loss, attack or constraint can use it before"
        yield Warned(what, Harm.DATA)
    counts = [number for text, number in relation.dictionary(name) if text and text not in absent]
    rare = [records for records in counts if records < k]
    if rare and released:
        # As is_fingerprint judges other columns: exact weights link records as incomes do.
        alike = len(counts) < NEARLY_ALL * sum(counts)
        link = "" if alike else ", and link nearly all records to another file from the same survey"
        yield (
            f"sampling weight '{name}' is released unchanged. {len(rare):,} of its {len(counts):,} values "
            f"occur in fewer than k = {k} records each, together in {sum(rare):,} of the records. They "
            f"may reveal the stratum of their records in the survey{link}. Round the weights in the file, or "
            "leave the column out with release: false"
        )


def _is_comma(texts: Texts) -> bool:
    """Return whether all texts can be numbers with decimal commas, and at least one must be."""
    decisive = any(
        ("," in text and not _COMMA_THOUSANDS.fullmatch(text)) or text.count(".") > 1 for text, _ in texts
    )
    return decisive and all(_with_comma(text) is not None for text, _ in texts)


def _is_point(texts: Texts) -> bool:
    """Return whether all texts can be numbers with decimal points, and at least one must be."""
    decisive = any("." in text and not _POINTED_THOUSANDS.fullmatch(text) for text, _ in texts)
    return decisive and all(_with_point(text) is not None for text, _ in texts)


def _mixed_columns(columns: Mapping[str, Texts]) -> Iterator[str]:
    for name, texts in columns.items():
        commas = [each for each in texts if _with_point(each[0]) is None and _with_comma(each[0]) is not None]
        points = [each for each in texts if _with_comma(each[0]) is None and _with_point(each[0]) is not None]
        both = sum(_with_comma(text) is not None and _with_point(text) is not None for text, _ in texts)
        if commas and points and len(commas) + len(points) + both == len(texts):
            yield (
                f"column '{name}' mixes decimal commas and points: {_example(commas)}, {_example(points)}. "
                "So it is read as text. Write all numbers in one notation"
            )


def _mixed_file(commas: Sequence[str], points: Sequence[str]) -> Iterator[str]:
    if commas and points:
        yield (
            f"numbers have decimal commas in {_listed(commas)}, but decimal points in {_listed(points)}, so "
            "columns with commas are read as text; write all numbers in one notation"
        )


def _thousands(columns: Mapping[str, Texts], separator: str | None) -> Iterator[str]:
    """Yield warnings about numbers that are read with decimal points, and may have thousands separators."""
    for name, texts in columns.items():
        grouped = [each for each in texts if _COMMA_THOUSANDS.fullmatch(each[0])]
        plain = sum(_with_point(text) is not None for text, _ in texts)
        if grouped and len(grouped) + plain == len(texts):
            yield (
                f"column '{name}' has commas in numbers: {_example(grouped)}. So it is read as text. If the "
                "commas separate thousands, remove them; if they are decimal commas, set input.decimal to ','"
            )
        pointed = [each for each in texts if "." in each[0]]
        numbers = len(pointed) >= ENOUGH and plain == len(texts) and separator not in (None, ",")
        if numbers and all(_POINTED_THOUSANDS.fullmatch(text) for text, _ in pointed):
            yield (
                f"column '{name}' has three digits after every point: {_example(pointed)}. If the points "
                "separate thousands, set input.decimal to ','"
            )


def _example(texts: Texts) -> str:
    """Return the number of records with some texts, and the most frequent form of the texts."""
    forms: dict[str, int] = {}
    for text, records in texts:
        form = _DIGITS.sub("9", text)
        forms[form] = forms.get(form, 0) + records
    best = max(forms, key=lambda form: (forms[form], form))
    records = sum(forms.values())
    return f"{records:,} {'record' if records == 1 else 'records'} of the form {best} (9 for a digit)"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


_USUAL = re.compile(WHOLE)

_AROUND = r"[ \t]*"
_INTEGER = rf"{_AROUND}(-?[1-9][0-9]{{0,99}}|0){_AROUND}"
_NUMBER: Mapping[Numerals, str] = {
    POINT: rf"{_AROUND}[+-]?([0-9]{{1,99}}\.?[0-9]{{0,99}}|\.[0-9]{{1,99}})([eE][+-]?[0-9]{{1,2}})?{_AROUND}",
    COMMA: rf"{_AROUND}[+-]?([0-9]{{1,99}},?[0-9]{{0,99}}|,[0-9]{{1,99}}"
    rf"|[1-9][0-9]{{0,2}}(\.[0-9]{{3}}){{1,9}}(,[0-9]{{0,99}})?){_AROUND}",
}
"""Pattern for all texts of a column too wide to be read; narrower than the type, so reading succeeds."""


class Measured(NamedTuple):
    """The statistics of all columns of an input.

    Attributes
    ----------
    columns: in the order of the input.
    missing: texts of missing values, with the empty one.
    numerals: notation of numbers in its texts.
    warnings: about texts that can be read in two ways.
    """

    columns: tuple[ColumnFacts, ...]
    missing: tuple[str, ...]
    numerals: Numerals
    warnings: tuple[str, ...]


def measure(relation: Relation) -> Measured:
    """Return the statistics of every column."""
    declared = {name: relation.labels[name].absent for name in relation.columns if name in relation.labels}
    spreads = {
        name: relation.profiling.spread(name, SAMPLE, (*ABSENT, *declared.get(name, ())))
        for name in relation.columns
    }
    texts = {name: spread.sample for name, spread in spreads.items() if relation.is_text(name)}
    writing = writing_of(texts, relation.separator)
    missing: set[str] = set()
    columns = []
    for name, spread in spreads.items():
        missing |= clear_texts(relation, name, spread) | set(declared.get(name, ()))
        numerals = writing.numerals if name in texts else POINT
        facts = _measured(relation, name, spread, numerals)
        if facts.missing > spread.nulls:
            missing |= texts_among(relation, name, BESIDE_NUMBERS)
        own = relation.labels.get(name)
        if own is not None:
            facts = replace(facts, title=own.title, codes=tuple(own.codes.items()))
        columns.append(facts)
    warnings = (*writing.warnings, *blank_warnings(relation, columns))
    return Measured(tuple(with_known_order(columns)), as_setting(missing), writing.numerals, warnings)


def with_known_order(columns: Sequence[ColumnFacts]) -> list[ColumnFacts]:
    """Return columns with the order of day and month that all other columns of dates decide equally."""
    known = {each.dates.decided for each in columns if each.dates is not None}
    known &= {Reading.DAY_FIRST, Reading.MONTH_FIRST}
    if len(known) != 1:
        return list(columns)
    (order,) = known
    return [
        each if each.dates is None or order is None else replace(each, dates=each.dates.resolved(order))
        for each in columns
    ]


def measure_column(relation: Relation, name: str, numerals: Numerals = POINT) -> ColumnFacts:
    """Return the statistics of one column."""
    return _measured(relation, name, relation.profiling.spread(name, SAMPLE, ABSENT), numerals)


def single_extremes(relation: Relation, columns: Iterable[ColumnFacts]) -> list[str]:
    """Return the names of the columns of numbers whose largest or smallest value one record alone has."""
    found = []
    for column in columns:
        whole = column
        if column.type.numeric and not column.whole:
            whole = replace(column, values=tuple(_present(relation, column.name)))
        if whole.ends_in_one_record:
            found.append(column.name)
    return found


def _present(relation: Relation, name: str) -> Iterator[tuple[str, int]]:
    """Yield the distinct texts of a column, without those of ``NO_VALUES``, and the records of each."""
    known = relation.dictionary(name)
    return ((text, records) for text, records in known if text and text not in NO_VALUES)


def _measured(relation: Relation, name: str, spread: ColumnStatistics, numerals: Numerals) -> ColumnFacts:
    """Return the statistics of a column; words for missing values in a column of numbers are missing."""
    kind = _type(relation, name, spread, numerals)
    if kind is ValueType.TEXT:
        without = _without_words(relation, name, spread, numerals)
        if without is not None:
            found = _type(relation, name, without, numerals)
            if found is not ValueType.TEXT:
                kind, spread = found, without
    if kind is ValueType.TEXT and _are_dates_with_words(spread):
        spread = relation.profiling.spread(name, SAMPLE, NO_VALUES)
    spread = _by_value(relation, name, kind, spread, numerals)
    return _facts(relation, name, kind, spread, numerals)


def _by_value(
    relation: Relation, name: str, kind: ValueType, spread: ColumnStatistics, numerals: Numerals
) -> ColumnStatistics:
    """Return the statistics of a column with the spellings of a value as one text.

    The texts of a column too wide to be read are counted only if its sample has values in other spellings.
    """
    key = key_of(kind, numerals)
    if len({key(text) for text, _ in spread.sample}) == len(spread.sample):
        usual = [bool(_USUAL.fullmatch(text)) for text, _ in spread.sample]
        whole = [kind.numeric and whole_key(text) is not None for text, _ in spread.sample]
        mixed = any(usual) and any(is_whole and not own for is_whole, own in zip(whole, usual, strict=True))
        if spread.whole or not (mixed or begins_or_ends_with_blank(text for text, _ in spread.sample)):
            return spread
    texts: dict[Any, tuple[str, int]] = {}
    for text, records in spread.sample if spread.whole else _present(relation, name):
        shown, number = texts.get(key(text), (text, 0))
        texts[key(text)] = min(shown, text, key=lambda each: (len(each), each)), number + records
    return column_statistics([*sorted(texts.values()), (None, spread.nulls)], SAMPLE)


def _facts(
    relation: Relation, name: str, kind: ValueType, spread: ColumnStatistics, numerals: Numerals
) -> ColumnFacts:
    """Return the statistics of a column; dates of any form are dates."""
    facts = ColumnFacts(
        name,
        kind,
        relation.rows,
        spread.nulls,
        spread.distinct,
        spread.singles,
        spread.largest,
        spread.entropy,
        spread.sample,
        numerals,
    )
    found = with_dates(facts)
    if found.dates is None or found.whole:
        return found
    return with_dates(facts, [text for text, _ in _present(relation, name)])


def with_dates(column: ColumnFacts, texts: Sequence[str] | None = None) -> ColumnFacts:
    """Return a column of texts or whole numbers with the formats in which they are dates, if they are.

    Parameters
    ----------
    texts: all distinct values, if the column has a sample only.
    """
    known = column.texts if texts is None else texts
    numbers = column.type is ValueType.INTEGER
    if not (numbers or column.type is ValueType.TEXT) or (numbers and column.distinct < LEAST_DATES):
        return column
    found = reading_of(known)
    if found is None:
        return column
    if found.strange:
        return column if numbers else replace(column, dates=found)
    return replace(column, dates=found, type=ValueType.DATE)


def _are_dates_with_words(spread: ColumnStatistics) -> bool:
    """Return whether a column may have words for missing values, and the others of its sample are dates."""
    texts = [text for text, _ in spread.sample if text not in BESIDE_NUMBERS]
    return (len(texts) < len(spread.sample) or not spread.whole) and reading_of(texts) is not None


def _without_words(
    relation: Relation, name: str, spread: ColumnStatistics, numerals: Numerals
) -> ColumnStatistics | None:
    """Return the statistics without the words of ``BESIDE_NUMBERS``; None if there are none."""
    if spread.whole and not {text for text, _ in spread.sample}.intersection(BESIDE_NUMBERS):
        return None
    # A column too wide to be read is checked again only if its sample is mostly numbers.
    key = key_of(ValueType.NUMBER, numerals)
    numbers = sum(key(text) is not None for text, _ in spread.sample)
    if not spread.whole and 2 * numbers < len(spread.sample):
        return None
    return relation.profiling.spread(name, SAMPLE, NO_VALUES)


def _type(relation: Relation, name: str, spread: ColumnStatistics, numerals: Numerals) -> ValueType:
    """Return the type of all texts of a column."""
    texts = [text for text, _ in spread.sample]
    if not texts or looks_coded(texts):
        return ValueType.TEXT
    for kind in (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE):
        key = detecting_key_of(kind, numerals)
        if all(key(text) is not None for text in texts) and (
            spread.whole or _all_are(relation, name, kind, spread, numerals)
        ):
            return kind
    return ValueType.TEXT


def _all_are(
    relation: Relation, name: str, kind: ValueType, spread: ColumnStatistics, numerals: Numerals
) -> bool:
    """Return whether the texts outside the sample have a type too."""
    present = relation.rows - spread.nulls
    if kind.numeric:
        pattern = _INTEGER if kind is ValueType.INTEGER else _NUMBER[numerals]
        if relation.profiling.count_matching(name, pattern) < present:
            return False
        # An integer is never written like a code, but a number may be.
        return kind is ValueType.INTEGER or not relation.profiling.count_matching(name, CODE.pattern)
    key = key_of(kind)
    # A human life has few more dates than the sample.
    return all(key(text) is not None for text, _ in _present(relation, name))
