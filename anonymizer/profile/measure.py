"""Measure the columns of an open input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.core.table import ValueType
from anonymizer.engines.base import Relation
from anonymizer.engines.spread import Spread
from anonymizer.profile.facts import SAMPLE, ColumnFacts
from anonymizer.profile.missing import ABSENT, BESIDE_NUMBERS, as_setting, clear_texts, texts_among
from anonymizer.table.types import KEYS, looks_coded

_PATTERNS: Mapping[ValueType, str] = {
    ValueType.INTEGER: r"-?[1-9][0-9]{0,99}|0",
    ValueType.NUMBER: r"[+-]?([0-9]{1,99}\.?[0-9]{0,99}|\.[0-9]{1,99})([eE][+-]?[0-9]{1,2})?",
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
    """

    columns: tuple[ColumnFacts, ...]
    missing: tuple[str, ...]


def measure(relation: Relation) -> Measured:
    """Return the facts of every column."""
    missing: set[str] = set()
    columns = []
    for name in relation.columns:
        spread = relation.spread(name, SAMPLE, ABSENT)
        missing |= clear_texts(relation, name, spread)
        kind = _type(relation, name, spread)
        if kind is ValueType.TEXT:
            without = _without_words(relation, name, spread)
            if without is not None and (found := _type(relation, name, without)) is not ValueType.TEXT:
                kind, spread = found, without
                missing |= texts_among(relation, name, BESIDE_NUMBERS)
        columns.append(_facts(relation, name, kind, spread))
    return Measured(tuple(columns), as_setting(missing))


def _facts(relation: Relation, name: str, kind: ValueType, spread: Spread) -> ColumnFacts:
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
    )


def _without_words(relation: Relation, name: str, spread: Spread) -> Spread | None:
    """Return the spread without the words that mean missing beside numbers, None if there are none."""
    if spread.whole and not {text for text, _ in spread.sample}.intersection(BESIDE_NUMBERS):
        return None
    # A column too wide to be read is worth a second look only where its sample is mostly numbers.
    numbers = sum(KEYS[ValueType.NUMBER](text) is not None for text, _ in spread.sample)
    if not spread.whole and 2 * numbers < len(spread.sample):
        return None
    return relation.spread(name, SAMPLE, (*ABSENT, *BESIDE_NUMBERS))


def _type(relation: Relation, name: str, spread: Spread) -> ValueType:
    """Return the type that all texts of a column have."""
    texts = [text for text, _ in spread.sample]
    if not texts or looks_coded(texts):
        return ValueType.TEXT
    for kind in (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE):
        key = KEYS[kind]
        if all(key(text) is not None for text in texts) and (
            spread.whole or _all_are(relation, name, kind, spread)
        ):
            return kind
    return ValueType.TEXT


def _all_are(relation: Relation, name: str, kind: ValueType, spread: Spread) -> bool:
    """Tell whether the texts outside the sample are of a type as well."""
    present = relation.rows - spread.nulls
    if kind in _PATTERNS:
        if relation.matching(name, _PATTERNS[kind]) < present:
            return False
        # No integer is written as a code is, but a number may be.
        return kind is ValueType.INTEGER or not relation.matching(name, _CODED)
    key = KEYS[kind]
    absent = (*ABSENT, *BESIDE_NUMBERS)
    # There are not many more dates than the sample holds in a human life.
    return all(key(text) is not None for text, _ in relation.dictionary(name) if text and text not in absent)
