"""Column statistics of an open input, missing-value texts, number formats, words in column names.

Number formats include texts that a reader would take for one value although they are two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.data.relation import ColumnStatistics, Relation
from anonymizer.data.table import key_of, looks_coded
from anonymizer.hierarchy.ready import normalized
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import COMMA, MISSING, POINT, SUPPRESSED, Numerals, ValueType

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_LONG = 5
"""Letters from which on a word is looked for inside longer ones, as in ``iinjury``."""


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case.

    >>> words_of("dateOfBirth"), words_of("marital-status"), words_of("HTTPCode2")
    (('date', 'of', 'birth'), ('marital', 'status'), ('http', 'code', '2'))
    """
    return tuple(part.casefold() for part in _PARTS.findall(name))


def names_any(name: str, terms: Iterable[str]) -> bool:
    """Tell whether a column's name holds a term: as its words in a row, or inside a word where it is long.

    >>> names_any("ihispanic", ["hispanic"]), names_any("language", ["age"]), names_any("E-Mail", ["e mail"])
    (True, False, True)
    """
    words = words_of(name)
    spaced, joined = f" {' '.join(words)} ", "".join(words)
    return any(
        f" {term} " in spaced or (len(term) >= _LONG and term.replace(" ", "") in joined) for term in terms
    )


PERSONAL = (
    *("age", "iage", "sex", "isex", "gender", "race", "irace", "ethnic", "hispanic", "skin"),
    *("birth", "birthday", "born", "death", "country", "nation", "native", "citizen", "origin"),
    *("city", "town", "village", "county", "region", "province", "district", "state", "statenum", "urban"),
    *("zip", "zipcode", "postal", "postcode", "plz", "residence", "marital", "married", "civil", "hhcivil"),
    *("education", "school", "degree", "study", "language", "occupation", "profession", "job", "employer"),
    *("workclass", "employment", "industry", "sector", "relationship", "relat", "children", "household"),
    *("family", "height", "eye", "hair", "date", "admission", "discharge", "alter", "geschlecht", "beruf"),
)
"""What others commonly know of a person."""

HEALTH = (
    *("diagnosis", "diagnose", "diagnoses", "disease", "illness", "icd", "icd10", "symptom", "condition"),
    *("treatment", "therapy", "medication", "medicine", "medical", "drug", "hiv", "aids", "cancer", "tumor"),
    *("injury", "disability", "disabled", "health", "pregnant", "pregnancy", "mental", "psychiatric"),
    *("addiction", "genetic", "genome", "surgery", "vaccination", "virus", "blood pressure", "cholesterol"),
    *("bmi", "smoker", "smoking", "alcohol", "krankheit", "befund"),
)
MONEY = (
    *("income", "salary", "wage", "wages", "earning", "earnings", "pay", "payment", "debt", "loan"),
    *("credit", "balance", "savings", "expend", "expenditure", "expenses", "tax", "wealth", "assets"),
    *("capital gain", "capital loss", "capitalgain", "capitalloss", "pension", "benefit", "benefits", "rent"),
    *("mortgage", "gehalt", "einkommen", "lohn", "salaire", "fedtax", "statetax", "taxinc", "revenue"),
)
CONDUCT = (
    *("crime", "criminal", "offence", "offense", "conviction", "convicted", "arrest", "sentence", "verdict"),
    *("fraud", "violation", "grade", "score", "rating", "performance", "evaluation", "complaint"),
)
BELIEF = (
    *("religion", "religious", "faith", "denomination", "politics", "political", "party", "vote", "voting"),
    *("union member", "trade union", "sexual", "orientation", "sexuality", "belief", "opinion"),
)
SENSITIVE = {"health": HEALTH, "money": MONEY, "conduct or results": CONDUCT, "beliefs": BELIEF}
"""What people do not want others to learn, by its subject."""

NEARLY_ALL = 0.8
"""Distinct values per record from which on nearly all of them differ."""

SAMPLE = 5_000
"""Distinct values up to which all are looked at; of more, about so many."""


@dataclass(frozen=True)
class ColumnFacts:
    """A column, measured.

    Attributes
    ----------
    name: as in the file.
    type: that all its values have.
    rows: records of the file.
    missing: records without a value.
    distinct: number of distinct values, a missing one not counted.
    singles: values that one record alone has.
    largest: records with the most frequent value.
    entropy: of the values that are not missing, in bits.
    values: distinct values with their records, sorted by code point: all of them or a sample.
    numerals: how they write numbers.
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

    @property
    def present(self) -> int:
        """Records with a value."""
        return self.rows - self.missing

    @property
    def whole(self) -> bool:
        """Whether all distinct values are at hand."""
        return len(self.values) == self.distinct

    @property
    def distinctness(self) -> float:
        """Distinct values per record that has one: 1 where all differ."""
        return self.distinct / self.present if self.present else 0.0

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values at hand."""
        return tuple(text for text, _ in self.values)

    @cached_property
    def spellings(self) -> tuple[tuple[str, str], ...]:
        """The values at hand, each with its text as ready-made hierarchies compare it."""
        return tuple((text, normalized(text)) for text in self.texts)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return words_of(self.name)

    @cached_property
    def numbers(self) -> FloatArray:
        """The values at hand as numbers, ascending, shape (values,); empty for a column of another type."""
        return self._ascending[0]

    @cached_property
    def weights(self) -> IntArray:
        """Records of each of ``numbers``, shape (values,), int64."""
        return self._ascending[1]

    @cached_property
    def _ascending(self) -> tuple[FloatArray, IntArray]:
        if self.type not in (ValueType.INTEGER, ValueType.NUMBER):
            return np.empty(0), np.empty(0, dtype=np.int64)
        numbers = np.array([self.numerals.number(text) for text, _ in self.values], dtype=np.float64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], np.array([count for _, count in self.values], dtype=np.int64)[order]


EMPTY = ""

CLEAR = (EMPTY, "?", "#N/A", "N/A", "n/a", "NULL", "null", "NaN", "nan", "<NA>", "\\N", SUPPRESSED)
"""Texts that are taken for missing wherever they occur."""

BESIDE_NUMBERS = ("NA", "na", "None", "none", "-", "--", ".", "unknown", "Unknown", "missing", "Missing")
"""Texts that are taken for missing where all the others of a column are numbers or dates."""

ABSENT = (*CLEAR, MISSING)
"""Texts that are never counted as values."""


def clear_texts(relation: Relation, column: str, spread: ColumnStatistics) -> set[str]:
    """Return which of the texts that are taken for missing wherever they occur a column holds."""
    if not spread.nulls:
        return set()
    if spread.whole:
        return {text for text, _ in relation.dictionary(column) if text is not None}.intersection(CLEAR)
    return texts_among(relation, column, CLEAR)


def texts_among(relation: Relation, column: str, texts: Collection[str]) -> set[str]:
    """Return which of some texts a column holds."""
    if not relation.profiling.count_matching(column, "|".join(map(re.escape, texts))):
        return set()
    return {text for text in texts if relation.profiling.count_matching(column, re.escape(text))}


def as_setting(found: Collection[str]) -> tuple[str, ...]:
    """Return what ``input.missing`` should be: the empty text and what else was found, in a fixed order."""
    return tuple(text for text in (*CLEAR, *BESIDE_NUMBERS) if text == EMPTY or text in found)


ENOUGH = 5
"""Different numbers that look like thousands from which on it is worth a word."""

BLANKS = (
    "from others only by blanks before or behind, which makes them other values; take the blanks out of the "
    "file, as str.strip() of pandas does"
)

Texts = Sequence[tuple[str, int]]
"""Distinct texts of a column, or a sample, with their records."""

_POINTED_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_DIGITS = re.compile(r"\d")
_NO_NUMBERS = frozenset({*ABSENT, *BESIDE_NUMBERS})

_with_point = key_of(ValueType.NUMBER, POINT)
_with_comma = key_of(ValueType.NUMBER, COMMA)


@dataclass(frozen=True)
class NumberFormat:
    """How a file writes numbers.

    Attributes
    ----------
    numerals: of all its columns.
    warnings: columns of which they may not be true, with examples whose digits are all 9.
    """

    numerals: Numerals
    warnings: tuple[str, ...]


def writing_of(columns: Mapping[str, Texts], separator: str | None) -> NumberFormat:
    """Return how a file writes numbers, told from the columns whose texts are all numbers.

    Decimal commas are what a file has where a column can be read in no other way and no column has points
    that can only be decimal.

    Parameters
    ----------
    columns: texts by column.
    separator: of its fields, None for what is no text file.
    """
    known = {
        name: [each for each in texts if each[0] not in _NO_NUMBERS]
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


def blank_warnings(columns: Mapping[str, Texts]) -> list[str]:
    """Return which columns have values that differ only by blanks before or behind them."""
    return [
        f"column '{name}': {whitespace_warning(number)}"
        for name, texts in columns.items()
        if (number := differing_by_blanks([text for text, _ in texts]))
    ]


def differing_by_blanks(texts: Sequence[str]) -> int:
    """Return how many of some distinct texts become another one of them without the blanks at their ends.

    >>> differing_by_blanks(["34", " 34 ", "35", " 36"])
    1
    """
    return len(texts) - len({text.strip() for text in texts})


def whitespace_warning(number: int) -> str:
    """Return what is said of values that differ from others by blanks alone."""
    told = "1 value differs" if number == 1 else f"{number:,} values differ"
    return f"{told} {BLANKS}"


def _is_comma(texts: Texts) -> bool:
    """Tell whether texts are all numbers with decimal commas, some of which can be nothing else."""
    decisive = any(
        ("," in text and not _COMMA_THOUSANDS.fullmatch(text)) or text.count(".") > 1 for text, _ in texts
    )
    return decisive and all(_with_comma(text) is not None for text, _ in texts)


def _is_point(texts: Texts) -> bool:
    """Tell whether texts are all numbers with decimal points, some of which can be nothing else."""
    decisive = any("." in text and not _POINTED_THOUSANDS.fullmatch(text) for text, _ in texts)
    return decisive and all(_with_point(text) is not None for text, _ in texts)


def _mixed_columns(columns: Mapping[str, Texts]) -> Iterator[str]:
    for name, texts in columns.items():
        commas = [each for each in texts if _with_point(each[0]) is None and _with_comma(each[0]) is not None]
        points = [each for each in texts if _with_comma(each[0]) is None and _with_point(each[0]) is not None]
        both = sum(_with_comma(text) is not None and _with_point(text) is not None for text, _ in texts)
        if commas and points and len(commas) + len(points) + both == len(texts):
            yield (
                f"column '{name}' mixes decimal commas and points: {_example(commas)}, {_example(points)}; "
                "it is read as text: write all of them one way"
            )


def _mixed_file(commas: Sequence[str], points: Sequence[str]) -> Iterator[str]:
    if commas and points:
        yield (
            f"decimal commas in {_listed(commas)}, decimal points in {_listed(points)}: those with commas "
            "are read as text; write all of them one way"
        )


def _thousands(columns: Mapping[str, Texts], separator: str | None) -> Iterator[str]:
    """Yield what is said of numbers that are read as written with decimal points, and may not be."""
    for name, texts in columns.items():
        grouped = [each for each in texts if _COMMA_THOUSANDS.fullmatch(each[0])]
        plain = sum(_with_point(text) is not None for text, _ in texts)
        if grouped and len(grouped) + plain == len(texts):
            yield (
                f"column '{name}' has commas in numbers: {_example(grouped)}; it is read as text: if they "
                "stand between thousands, take them out, if before a fraction, set input.decimal to ','"
            )
        pointed = [each for each in texts if "." in each[0]]
        numbers = len(pointed) >= ENOUGH and plain == len(texts) and separator not in (None, ",")
        if numbers and all(_POINTED_THOUSANDS.fullmatch(text) for text, _ in pointed):
            yield (
                f"column '{name}' has three digits behind every point: {_example(pointed)}; if the points "
                "stand between thousands, set input.decimal to ','"
            )


def _example(texts: Texts) -> str:
    """Return in how many records of those looked at texts stand, with the most frequent of their forms."""
    forms: dict[str, int] = {}
    for text, records in texts:
        form = _DIGITS.sub("9", text)
        forms[form] = forms.get(form, 0) + records
    best = max(forms, key=lambda form: (forms[form], form))
    records = sum(forms.values())
    return f"{records:,} {'record' if records == 1 else 'records'} like {best}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


_INTEGER = r"-?[1-9][0-9]{0,99}|0"
_NUMBER: Mapping[Numerals, str] = {
    POINT: r"[+-]?([0-9]{1,99}\.?[0-9]{0,99}|\.[0-9]{1,99})([eE][+-]?[0-9]{1,2})?",
    COMMA: r"[+-]?([0-9]{1,99},?[0-9]{0,99}|,[0-9]{1,99}|[1-9][0-9]{0,2}(\.[0-9]{3}){1,9}(,[0-9]{0,99})?)",
}
"""What all texts of a column too wide to be read match; narrower than the type, so that reading succeeds."""

_CODED = r"[+-]?0[0-9]+|\+[0-9]+|0[0-9]*[eE][0-9]+"


@dataclass(frozen=True)
class Measured:
    """The columns of an input.

    Attributes
    ----------
    columns: in the order of the input.
    missing: texts that stand for a missing value, the empty one among them.
    numerals: how its texts write numbers.
    warnings: what its texts leave in doubt.
    """

    columns: tuple[ColumnFacts, ...]
    missing: tuple[str, ...]
    numerals: Numerals
    warnings: tuple[str, ...]


def measure(relation: Relation) -> Measured:
    """Return the facts of every column."""
    spreads = {name: relation.profiling.spread(name, SAMPLE, ABSENT) for name in relation.columns}
    texts = {name: spread.sample for name, spread in spreads.items() if relation.is_text(name)}
    writing = writing_of(texts, relation.separator)
    missing: set[str] = set()
    columns = []
    for name, spread in spreads.items():
        missing |= clear_texts(relation, name, spread)
        numerals = writing.numerals if name in texts else POINT
        facts = _measured(relation, name, spread, numerals)
        if facts.missing > spread.nulls:
            missing |= texts_among(relation, name, BESIDE_NUMBERS)
        columns.append(facts)
    warnings = (*writing.warnings, *blank_warnings(texts))
    return Measured(tuple(columns), as_setting(missing), writing.numerals, warnings)


def _measured(relation: Relation, name: str, spread: ColumnStatistics, numerals: Numerals) -> ColumnFacts:
    """Return the facts of a column; words that mean missing beside numbers are no values of it."""
    kind = _type(relation, name, spread, numerals)
    if kind is ValueType.TEXT:
        without = _without_words(relation, name, spread, numerals)
        if without is not None:
            found = _type(relation, name, without, numerals)
            if found is not ValueType.TEXT:
                kind, spread = found, without
    return _facts(relation, name, kind, spread, numerals)


def _facts(
    relation: Relation, name: str, kind: ValueType, spread: ColumnStatistics, numerals: Numerals
) -> ColumnFacts:
    return ColumnFacts(
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


def _without_words(
    relation: Relation, name: str, spread: ColumnStatistics, numerals: Numerals
) -> ColumnStatistics | None:
    """Return the spread without the words that mean missing beside numbers, None if there are none."""
    if spread.whole and not {text for text, _ in spread.sample}.intersection(BESIDE_NUMBERS):
        return None
    # A column too wide to be read is worth a second look only where its sample is mostly numbers.
    key = key_of(ValueType.NUMBER, numerals)
    numbers = sum(key(text) is not None for text, _ in spread.sample)
    if not spread.whole and 2 * numbers < len(spread.sample):
        return None
    return relation.profiling.spread(name, SAMPLE, (*ABSENT, *BESIDE_NUMBERS))


def _type(relation: Relation, name: str, spread: ColumnStatistics, numerals: Numerals) -> ValueType:
    """Return the type that all texts of a column have."""
    texts = [text for text, _ in spread.sample]
    if not texts or looks_coded(texts):
        return ValueType.TEXT
    for kind in (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE):
        key = key_of(kind, numerals)
        if all(key(text) is not None for text in texts) and (
            spread.whole or _all_are(relation, name, kind, spread, numerals)
        ):
            return kind
    return ValueType.TEXT


def _all_are(
    relation: Relation, name: str, kind: ValueType, spread: ColumnStatistics, numerals: Numerals
) -> bool:
    """Tell whether the texts outside the sample are of a type as well."""
    present = relation.rows - spread.nulls
    if kind in (ValueType.INTEGER, ValueType.NUMBER):
        pattern = _INTEGER if kind is ValueType.INTEGER else _NUMBER[numerals]
        if relation.profiling.count_matching(name, pattern) < present:
            return False
        # No integer is written as a code is, but a number may be.
        return kind is ValueType.INTEGER or not relation.profiling.count_matching(name, _CODED)
    key = key_of(kind)
    absent = (*ABSENT, *BESIDE_NUMBERS)
    # There are not many more dates than the sample holds in a human life.
    return all(key(text) is not None for text, _ in relation.dictionary(name) if text and text not in absent)
