"""Originals compared with a recoded release.

A generalized value counts in equal parts for each original value that it covers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.attacks.coverage import UniformExpansion, codes_in, expand_uniformly, same_values
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, AnatomyRelease, Original, PublishedTable
from anonymizer.model.arrays import FloatArray, IntArray, count, numbered
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.table import Column
from anonymizer.utility.base import Bins, Comparison, Estimate, Query

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class ExpandedColumn:
    """A published attribute, and the original values that its texts cover.

    Attributes
    ----------
    codes: published text of each distinct row, shape (rows,), int64.
    texts: number of published texts.
    values: number of original values.
    parts: share of each original value in each text.
    """

    codes: IntArray
    texts: int
    values: int
    parts: UniformExpansion

    @classmethod
    def unchanged(cls, codes: IntArray, values: int) -> ExpandedColumn:
        """Return an attribute that is released unchanged."""
        every = np.arange(values)
        return cls(codes, values, values, UniformExpansion(every, every, np.ones(values)))

    @classmethod
    def suppressed(cls, rows: int, values: int) -> ExpandedColumn:
        """Return an attribute published as ``*`` in every record."""
        parts = UniformExpansion(
            np.zeros(values, dtype=np.int64), np.arange(values), np.full(values, 1 / values)
        )
        return cls(np.zeros(rows, dtype=np.int64), 1, values, parts)

    def sums(self, of_values: FloatArray) -> FloatArray:
        """Return the mean of a number over the values of each text, shape (texts,)."""
        weights = self.parts.shares * of_values[self.parts.values]
        return np.bincount(self.parts.texts, weights=weights, minlength=self.texts).astype(np.float64)

    def in_bins(self, bins: Bins) -> csr_matrix:
        """Return the share of each bin in each text, shape (texts, bins)."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up

        where = (self.parts.texts, bins.of_value[self.parts.values])
        return csr_matrix((self.parts.shares, where), shape=(self.texts, bins.number))


class ExpandedEstimate(Estimate):
    """An estimate in which each published value counts in equal parts for the values that it covers.

    Within a distinct row the attributes are assumed to be independent.

    Parameters
    ----------
    columns: the attributes by name.
    counts: records of each distinct row, shape (rows,), int64.
    """

    def __init__(self, columns: Mapping[str, ExpandedColumn], counts: IntArray) -> None:
        self._columns = columns
        self._counts = counts

    @property
    def records(self) -> int:
        return int(self._counts.sum())

    def expected(self, query: Query) -> float:
        """Return the sum over all rows of records times the share that matches the query."""
        records = self._counts.astype(np.float64)
        for name, wanted in query.wanted.items():
            column = self._columns[name]
            records *= column.sums(wanted.astype(np.float64))[column.codes]
        return float(records.sum())

    def marginal(self, attribute: str) -> FloatArray:
        column = self._columns[attribute]
        by_text = np.bincount(column.codes, weights=self._counts, minlength=column.texts)
        parts = column.parts
        weights = by_text[parts.texts] * parts.shares
        return np.bincount(parts.values, weights=weights, minlength=column.values).astype(np.float64)

    def joint(self, one: Bins, other: Bins) -> FloatArray:
        from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up

        first, second = self._columns[one.attribute], self._columns[other.attribute]
        shape = (first.texts, second.texts)
        pairs = csr_matrix((self._counts.astype(np.float64), (first.codes, second.codes)), shape=shape)
        joint = first.in_bins(one).T @ (pairs @ second.in_bins(other))
        return np.asarray(joint.toarray(), dtype=np.float64)


def comparison_of(adversary: AdversaryView) -> Comparison:
    """Return the comparison of the attributes that the release and the originals share.

    Raises
    ------
    InputError: the view has no original records.
    """
    original = adversary.original
    if original is None:
        raise InputError(
            f"{adversary.release.source}: utility is measured against the original records; provide them"
        )
    columns = {meaning.column.name: meaning.column for meaning in original.meanings}
    columns |= {name: own.attribute.column for name, own in original.sensitive.items()}
    sensitive = tuple(original.sensitive)
    codes = _codes(original)
    return Comparison(
        adversary.release.source,
        columns,
        original.names,
        sensitive,
        counted(columns, codes, original.counts),
        _of_release(adversary, original)
        if adversary.grouped is None
        else _of_groups(adversary.grouped, original),
        _suppressed(columns, {name: codes[name] for name in sensitive}, original.counts),
        adversary,
    )


def counted(columns: dict[str, Column], codes: dict[str, IntArray], counts: IntArray) -> ExpandedEstimate:
    """Return exact counts of the original records.

    Parameters
    ----------
    columns: the values of each attribute, by name.
    codes: value of each distinct row by attribute, shape (rows,).
    counts: records of each distinct row, shape (rows,), int64.
    """
    own = {name: ExpandedColumn.unchanged(codes[name], column.size) for name, column in columns.items()}
    return ExpandedEstimate(own, counts)


def _suppressed(
    columns: dict[str, Column], sensitive: dict[str, IntArray], counts: IntArray
) -> ExpandedEstimate:
    """Return the estimate from the sensitive values alone."""
    keys, first = numbered([*sensitive.values()], len(counts))
    own = {
        name: ExpandedColumn.unchanged(sensitive[name][first], column.size)
        if name in sensitive
        else ExpandedColumn.suppressed(len(first), column.size)
        for name, column in columns.items()
    }
    return ExpandedEstimate(own, count(keys, counts, len(first)))


def _codes(original: Original) -> dict[str, IntArray]:
    own = {name: original.codes[:, position].astype(np.int64) for position, name in enumerate(original.names)}
    return own | {name: each.codes for name, each in original.sensitive.items()}


def _of_release(adversary: AdversaryView, original: Original) -> ExpandedEstimate:
    release = adversary.release
    columns = _quasi_identifiers(original, release)
    for name, own in original.sensitive.items():
        published = release.sensitive[name]
        meaning = same_values(own, published)
        size = own.attribute.column.size
        columns[name] = ExpandedColumn(published.codes, len(meaning.sizes), size, expand_uniformly(meaning))
    return ExpandedEstimate(columns, release.counts)


def _of_groups(grouped: AnatomyRelease, original: Original) -> ExpandedEstimate:
    """Return an estimate in which each record has every value of its bucket in equal parts."""
    columns = _quasi_identifiers(original, grouped)
    held = grouped.sensitive
    shares = held.counts / grouped.sizes[held.owners]
    for name, own in original.sensitive.items():
        value = codes_in(own, SensitiveCodes(held.attribute, held.values))
        known = value[held.values] >= 0
        parts = UniformExpansion(held.owners[known], value[held.values[known]], shares[known])
        columns[name] = ExpandedColumn(grouped.group, len(grouped.groups), own.attribute.column.size, parts)
    return ExpandedEstimate(columns, grouped.counts)


def _quasi_identifiers(
    original: Original, published: PublishedTable | AnatomyRelease
) -> dict[str, ExpandedColumn]:
    columns = {}
    for name, meaning in zip(original.names, original.meanings, strict=True):
        codes = published.codes[:, published.names.index(name)].astype(np.int64)
        columns[name] = ExpandedColumn(
            codes, len(meaning.sizes), meaning.column.size, expand_uniformly(meaning)
        )
    return columns
