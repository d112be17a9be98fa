"""Sampling weights of records, read as exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from anonymizer.data.relation import Groups, Relation
from anonymizer.data.table import ReadColumn, wrong_weights
from anonymizer.errors import DataError, InputError, plural
from anonymizer.model.arrays import IntArray, count_exactly
from anonymizer.model.population import LARGEST
from anonymizer.model.spelling import suggested
from anonymizer.model.table import POINT, Column, Numerals, SamplingWeights, ValueType
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.people.units import without_unit
from anonymizer.plan.columns import Columns
from anonymizer.plan.counting import Counting


def check_weight_columns(relation: Relation, names: Sequence[str]) -> None:
    """Check that a file has the columns of sampling weights.

    Raises
    ------
    InputError: it lacks one.
    """
    for name in names:
        if name not in relation.columns:
            what = f"{relation.name}: weights column '{name}' does not exist"
            raise InputError(f"{what}; {suggested(name, relation.columns)}")


def check_weights(columns: Columns, relation: Relation, name: str) -> Numerals:
    """Check that a column of sampling weights has a positive number in every record; return their notation.

    Raises
    ------
    DataError: there is no such column, or a weight is not a positive number.
    """
    numerals = columns.numerals if relation.is_text(name) else POINT
    fault = wrong_weights(relation, name, columns.missing, numerals)
    if fault:
        raise DataError(f"{relation.name}: column '{name}' {fault}")
    return numerals


def sampling_of(
    columns: Columns, counting: Counting, relation: Relation
) -> tuple[ReadColumn, SamplingWeights] | None:
    """Return the column of weights by which losses are averaged, and its weights; None without one.

    Raises
    ------
    DataError: as for ``exact_weights``, or a record lacks the unit that it must have.
    """
    if counting.loss_unit is not None:
        return _shares_of_units(counting, relation, counting.loss_unit)
    name = counting.loss_weights
    if name is None:
        return None
    relation.position(name)
    dictionary = relation.dictionary(name)
    texts = [str(text) for text, _ in dictionary]
    found, scale = _exact(columns, relation, name, texts)
    distinct, codes = np.unique(np.array(found, dtype=np.int64), return_inverse=True)
    shown = dict(zip(codes.tolist(), texts, strict=True))
    records = np.array([number for _, number in dictionary], dtype=np.int64)
    counts = count_exactly(codes, records, len(distinct))
    labels, numbers = tuple(shown[code] for code in range(len(distinct))), distinct / scale
    column = Column(name, ValueType.NUMBER, labels, counts, numbers, None, columns.numerals)
    return ReadColumn(column, codes.astype(np.int32)), SamplingWeights(name, distinct, scale)


def _shares_of_units(counting: Counting, relation: Relation, unit: str) -> tuple[ReadColumn, SamplingWeights]:
    """Return the key of a unit, coded by the weight of the records with each key, and these weights."""
    name = counting.units[unit]
    relation.position(name)
    dictionary, absent = relation.dictionary(name), counting.absent
    records = np.array([number for _, number in dictionary], dtype=np.int64)
    unknown = np.array([text in absent for text, _ in dictionary], dtype=np.bool_)
    missing = int(records[unknown].sum())
    if missing and counting.required:
        raise DataError(without_unit(relation, unit, name, missing))
    if missing and unit == HOUSEHOLD and PERSON in counting.units:
        # A weight belongs to a key, and the household of such a record follows from that of its person.
        raise DataError(
            f"{relation.name}: column '{name}' is empty in {plural(missing, 'record')}, so the records of "
            f"each household cannot be counted; fill in the column, or set objective.unit: {PERSON}"
        )
    sizes, numbers = np.where(unknown, 1, records), np.where(unknown, records, 1)
    weights, codes = SamplingWeights.of_units(unit, name, sizes, numbers)
    counts = count_exactly(codes, records, len(weights.values))
    shares = weights.values / weights.scale
    column = Column(name, ValueType.NUMBER, tuple(map(str, shares.tolist())), counts, shares, None)
    return ReadColumn(column, codes), weights


def exact_weights(
    columns: Columns, relation: Relation, name: str, groups: Groups, place: int
) -> tuple[IntArray, int]:
    """Return the weight of each group times a scale, shape (groups,), int64, and the scale.

    Parameters
    ----------
    relation: whose groups they are.
    place: of the column of weights in the groups.

    Raises
    ------
    DataError: a weight is not a positive number, or has too many digits to be added exactly.
    """
    scaled, scale = _exact(columns, relation, name, groups.values[place])
    return np.array(scaled, dtype=np.int64)[groups.codes[:, place]], scale


AS_FLOAT = 13
"""Number of digits from which on a weight is a floating-point number: R and pandas write 15 to 17."""

ROUNDED = 6
"""Digits that remain of such a weight after its point, or of one below 1 from the first that is not 0."""


def _exact(
    columns: Columns, relation: Relation, name: str, texts: Sequence[str | None]
) -> tuple[list[int], int]:
    """Return the weights written as texts times a scale that makes them whole, and the scale.

    Each weight is rounded by itself, so that a weight is the same in the input and in its release.

    Raises
    ------
    DataError: as for ``exact_weights``.
    """
    numerals = check_weights(columns, relation, name)
    weights = [Decimal(numerals.plain(str(text)) or "").normalize() for text in texts]
    few = [_rounded(each) for each in weights]
    most = [own if _as_float(each) else each for each, own in zip(weights, few, strict=True)]
    for tried in (most, few):
        digits = max(0, *(-int(each.as_tuple().exponent) for each in tried))
        scaled = [int(each.scaleb(digits)) for each in tried]
        if max(scaled, default=0) * relation.rows <= LARGEST and 10**digits <= LARGEST:
            return scaled, 10**digits
    raise DataError(
        f"{relation.name}: the weights in column '{name}' differ too much, or are too large, to be added "
        f"exactly, even rounded to {ROUNDED} decimals; raise the smallest ones, or divide all by the same "
        "number"
    )


def _as_float(weight: Decimal) -> bool:
    return len(weight.as_tuple().digits) >= AS_FLOAT


def _rounded(weight: Decimal) -> Decimal:
    """Return a positive weight with ``ROUNDED`` decimals, or as many significant digits if it is below 1.

    >>> _rounded(Decimal("504.5696202531645")), _rounded(Decimal("0.000123456789"))
    (Decimal('504.569620'), Decimal('0.000123457'))
    """
    decimals = max(ROUNDED, ROUNDED - 1 - weight.adjusted())
    if -int(weight.as_tuple().exponent) <= decimals:
        return weight
    return weight.quantize(Decimal(1).scaleb(-decimals))


def rounding_warnings(columns: Columns, relation: Relation, names: Iterable[str | None]) -> list[str]:
    """Return the warnings about columns of weights that are summed rounded, as they could not be exactly.

    Parameters
    ----------
    names: of the columns; those that are None or not in the relation are passed over.
    """
    found = []
    for name in dict.fromkeys(names):
        if name is None or name not in relation.columns:
            continue
        dictionary = relation.dictionary(name)
        scaled, scale = _exact(columns, relation, name, [text for text, _ in dictionary])
        numerals = check_weights(columns, relation, name)
        rounded = sum(
            records
            for (text, records), own in zip(dictionary, scaled, strict=True)
            if Fraction(numerals.plain(str(text)) or "") != Fraction(own, scale)
        )
        if rounded:
            found.append(
                f"{relation.name}: {rounded:,} of {relation.rows:,} records have weights in column '{name}' "
                f"with too many digits for exact sums. For sums, they are rounded to {ROUNDED} decimals, "
                f"or to {ROUNDED} significant digits if they are below 1. The file and the release keep all "
                "digits"
            )
    return found
