"""A partition of numbers as a recoding."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.recoding import RegionColumn
from anonymizer.model.table import MISSING, SUPPRESSED, PublishedValues, QuasiIdentifier, Table, ValueType
from anonymizer.search.regions.mdav_aggregate import step_exponent
from anonymizer.search.regions.mdav_classes import AggregatedColumn
from anonymizer.search.regions.mdav_space import numbers_of, span_of


def region_column(attribute: QuasiIdentifier, own: AggregatedColumn) -> RegionColumn:
    """Return what an attribute is published as: one value for each class, whether texts are equal or not."""
    distinct, position = np.unique(own.published, return_inverse=True)
    texts = [*texts_of(attribute, distinct), SUPPRESSED]
    label = np.where(own.mixed, len(distinct), position.ravel())
    labels = [texts[each] for each in label.tolist()]
    return RegionColumn(_values(attribute, own), labels, np.arange(len(labels), dtype=np.int32))


def _values(attribute: QuasiIdentifier, own: AggregatedColumn) -> PublishedValues:
    """Return what the aggregates stand for: all values of the column in the range of their originals."""
    column, numbers = attribute.column, numbers_of(attribute)
    known = numbers if column.missing is None else numbers[: column.missing]
    none = np.isnan(own.low)
    first = np.where(none, len(known), np.searchsorted(known, np.where(none, 0, own.low), side="left"))
    last = np.where(none, column.size, np.searchsorted(known, np.where(none, 0, own.high), side="right"))
    first, last = np.where(own.mixed, 0, first), np.where(own.mixed, column.size, last)
    records = np.concatenate([[0], np.cumsum(column.counts)])
    return PublishedValues(
        None, last - first, records[last] - records[first], own.low, own.high, own.mixed, None
    )


def texts_of(attribute: QuasiIdentifier, numbers: FloatArray) -> list[str]:
    """Return the published texts of distinct numbers; a value of the column keeps its spelling there."""
    column = attribute.column
    spelled: dict[float, str] = {}
    for number, text in zip(numbers_of(attribute).tolist(), column.texts, strict=True):
        spelled.setdefault(number, text)
    exponent, kind, written = step_exponent(attribute), column.type, column.numerals.written
    return [
        MISSING if np.isnan(number) else spelled.get(number) or written(_text(number, exponent, kind))
        for number in numbers.tolist()
    ]


def _text(number: float, exponent: int, kind: ValueType) -> str:
    """Write a multiple of a power of ten without an exponent and without trailing zeros; a date as a date.

    >>> _text(39.5, -4, ValueType.NUMBER), _text(57812300.0, 2, ValueType.INTEGER)
    ('39.5', '57812300')
    >>> _text(738945.0, 0, ValueType.DATE)
    '2024-02-29'
    """
    if kind is ValueType.DATE:
        return date.fromordinal(int(number)).isoformat()
    steps = Decimal(repr(number)).scaleb(-exponent).to_integral_value()
    exact = steps.scaleb(exponent)
    return f"{exact.normalize():f}" if exact else "0"


def sse_over_sst(
    table: Table, suppressed: BoolArray, columns: Sequence[AggregatedColumn], class_of: IntArray
) -> float:
    """Return the mean over the attributes of the share of their variance that the release loses.

    SSE is the sum over records of (value - published value) squared, SST that of (value - mean) squared; an
    attribute without variance is left out. A suppressed cell is taken as published as the mean, a missing
    value is not counted. So standardised attributes have equal weights, as in the literature on MDAV
    (Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 2002, doi:10.1109/69.979982).

    Parameters
    ----------
    suppressed: rows of the table without published values, shape (rows,), bool.
    columns: by class, one per quasi-identifier.
    class_of: class of each row, shape (rows,), int64.
    """
    shares = []
    for position, (attribute, own) in enumerate(zip(table.quasi_identifiers, columns, strict=True)):
        codes = table.quasi_identifier_codes(position)
        hidden = suppressed | own.mixed[class_of]
        share = _lost_variance(
            attribute, codes, table.counts, np.where(hidden, np.nan, own.published[class_of])
        )
        if share is not None:
            shares.append(share)
    return float(np.mean(shares)) if shares else 0.0


def _lost_variance(
    attribute: QuasiIdentifier, codes: CodeArray, counts: IntArray, published: FloatArray
) -> float | None:
    half = span_of(attribute)
    if half == 0:
        return None
    numbers = numbers_of(attribute)[codes]
    known: BoolArray = ~np.isnan(numbers)
    values, records = numbers[known] / half, counts[known]
    mean = np.average(values, weights=records)
    shown = np.where(np.isnan(published[known]), mean, published[known] / half)
    return float(records @ (values - shown) ** 2 / (records @ (values - mean) ** 2))
