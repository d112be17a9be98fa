"""Measure the columns of an open input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.data.relation import ColumnStatistics, Relation
from anonymizer.data.table import key_of, looks_coded
from anonymizer.model.table import COMMA, POINT, Numerals, ValueType
from anonymizer.profile.facts import SAMPLE, ColumnFacts
from anonymizer.profile.missing import ABSENT, BESIDE_NUMBERS, as_setting, clear_texts, texts_among
from anonymizer.profile.writing import blank_warnings, writing_of

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
    spreads = {name: relation.spread(name, SAMPLE, ABSENT) for name in relation.columns}
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
    return relation.spread(name, SAMPLE, (*ABSENT, *BESIDE_NUMBERS))


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
        if relation.count_matching(name, pattern) < present:
            return False
        # No integer is written as a code is, but a number may be.
        return kind is ValueType.INTEGER or not relation.count_matching(name, _CODED)
    key = key_of(kind)
    absent = (*ABSENT, *BESIDE_NUMBERS)
    # There are not many more dates than the sample holds in a human life.
    return all(key(text) is not None for text, _ in relation.dictionary(name) if text and text not in absent)
