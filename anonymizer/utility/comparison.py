"""Originals compared with a recoded release.

A generalized value counts in equal parts for each original value that it covers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.attacks.adversary_view import same_values
from anonymizer.attacks.generalized_values import UniformExpansion, expand_uniformly
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, AnatomyRelease, Original
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.counting import count, numbered
from anonymizer.model.table import Column
from anonymizer.utility.base import Bins, Comparison, Estimate, Query

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class SpreadColumn:
    """An attribute as published.

    Attributes
    ----------
    codes: text of each combination, shape (combinations,).
    texts: number of distinct texts.
    values: number of original values.
    parts: of each text.
    """

    codes: IntArray
    texts: int
    values: int
    parts: UniformExpansion

    @classmethod
    def as_it_is(cls, codes: IntArray, values: int) -> SpreadColumn:
        """Return an attribute that is published unchanged."""
        every = np.arange(values)
        return cls(codes, values, values, UniformExpansion(every, every, np.ones(values)))

    @classmethod
    def kept_suppressed(cls, combinations: int, values: int) -> SpreadColumn:
        """Return an attribute published as ``*`` in every record."""
        parts = UniformExpansion(
            np.zeros(values, dtype=np.int64), np.arange(values), np.full(values, 1 / values)
        )
        return cls(np.zeros(combinations, dtype=np.int64), 1, values, parts)

    def sums(self, of_values: FloatArray) -> FloatArray:
        """Return the sum of a number over the parts of each text, shape (texts,)."""
        weights = self.parts.shares * of_values[self.parts.values]
        return np.bincount(self.parts.texts, weights=weights, minlength=self.texts).astype(np.float64)

    def in_bins(self, bins: Bins) -> csr_matrix:
        """Return the part of each text in each bin, shape (texts, bins)."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up

        where = (self.parts.texts, bins.of_value[self.parts.values])
        return csr_matrix((self.parts.shares, where), shape=(self.texts, bins.number))


class SpreadEstimate(Estimate):
    """A table of combinations whose published values are spread, each attribute by itself.

    Within a combination the attributes are taken for independent: nothing published tells otherwise.

    Parameters
    ----------
    columns: the attributes by name.
    counts: records of each combination, shape (combinations,), int64.
    """

    def __init__(self, columns: Mapping[str, SpreadColumn], counts: IntArray) -> None:
        self._columns = columns
        self._counts = counts

    @property
    def records(self) -> int:
        """Number of records there are."""
        return int(self._counts.sum())

    def expected(self, query: Query) -> float:
        """Return the sum over all combinations of records times the parts that satisfy the query."""
        records = self._counts.astype(np.float64)
        for name, wanted in query.wanted.items():
            column = self._columns[name]
            records *= column.sums(wanted.astype(np.float64))[column.codes]
        return float(records.sum())

    def marginal(self, attribute: str) -> FloatArray:
        """Return the expected number of records with each value."""
        column = self._columns[attribute]
        by_text = np.bincount(column.codes, weights=self._counts, minlength=column.texts)
        parts = column.parts
        weights = by_text[parts.texts] * parts.shares
        return np.bincount(parts.values, weights=weights, minlength=column.values).astype(np.float64)

    def joint(self, one: Bins, other: Bins) -> FloatArray:
        """Return the expected number of records in each pair of bins."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up

        first, second = self._columns[one.attribute], self._columns[other.attribute]
        shape = (first.texts, second.texts)
        together = csr_matrix((self._counts.astype(np.float64), (first.codes, second.codes)), shape=shape)
        joint = first.in_bins(one).T @ (together @ second.in_bins(other))
        return np.asarray(joint.toarray(), dtype=np.float64)


def comparison_of(scene: AdversaryView) -> Comparison:
    """Return what the measures compare: the attributes that the release and the originals share.

    Raises
    ------
    InputError: the scene has no original records.
    """
    original = scene.original
    if original is None:
        raise InputError(
            f"{scene.release.source}: utility is measured against the original records; provide them"
        )
    columns = {meaning.column.name: meaning.column for meaning in original.meanings}
    columns |= {name: own.attribute.column for name, own in original.sensitive.items()}
    sensitive = tuple(original.sensitive)
    codes = _codes(original)
    return Comparison(
        scene.release.source,
        columns,
        original.names,
        sensitive,
        counted(columns, codes, original.counts),
        _of_release(scene, original) if scene.grouped is None else _of_groups(scene.grouped, original),
        _suppressed(columns, {name: codes[name] for name in sensitive}, original.counts),
        scene,
    )


def counted(columns: dict[str, Column], codes: dict[str, IntArray], counts: IntArray) -> SpreadEstimate:
    """Return records as they are.

    Parameters
    ----------
    columns: the values of each attribute, by name.
    codes: value of each combination by attribute, shape (combinations,).
    counts: records of each combination, shape (combinations,), int64.
    """
    own = {name: SpreadColumn.as_it_is(codes[name], column.size) for name, column in columns.items()}
    return SpreadEstimate(own, counts)


def _suppressed(
    columns: dict[str, Column], sensitive: dict[str, IntArray], counts: IntArray
) -> SpreadEstimate:
    """Return records of which only the sensitive values are published."""
    keys, first = numbered([*sensitive.values()], len(counts))
    own = {
        name: SpreadColumn.as_it_is(sensitive[name][first], column.size)
        if name in sensitive
        else SpreadColumn.kept_suppressed(len(first), column.size)
        for name, column in columns.items()
    }
    return SpreadEstimate(own, count(keys, counts, len(first)))


def _codes(original: Original) -> dict[str, IntArray]:
    own = {name: original.codes[:, position].astype(np.int64) for position, name in enumerate(original.names)}
    return own | {name: each.codes for name, each in original.sensitive.items()}


def _of_release(scene: AdversaryView, original: Original) -> SpreadEstimate:
    release = scene.release
    columns = {}
    for name, meaning in zip(original.names, original.meanings, strict=True):
        codes = release.codes[:, release.names.index(name)].astype(np.int64)
        columns[name] = SpreadColumn(
            codes, len(meaning.sizes), meaning.column.size, expand_uniformly(meaning)
        )
    for name, own in original.sensitive.items():
        published = release.sensitive[name]
        meaning = same_values(own, published)
        size = own.attribute.column.size
        columns[name] = SpreadColumn(published.codes, len(meaning.sizes), size, expand_uniformly(meaning))
    return SpreadEstimate(columns, release.counts)


def _of_groups(grouped: AnatomyRelease, original: Original) -> SpreadEstimate:
    """Return records in groups, each of them with every value of its group in the same parts."""
    columns = {}
    for name, meaning in zip(original.names, original.meanings, strict=True):
        codes = grouped.codes[:, grouped.names.index(name)].astype(np.int64)
        columns[name] = SpreadColumn(
            codes, len(meaning.sizes), meaning.column.size, expand_uniformly(meaning)
        )
    held = grouped.sensitive
    shares = held.counts / grouped.sizes[held.owners]
    for name, own in original.sensitive.items():
        same = expand_uniformly(same_values(own, SensitiveCodes(held.attribute, held.values)))
        value = np.full(held.attribute.column.size, -1, dtype=np.int64)
        value[same.texts] = same.values
        known = value[held.values] >= 0
        parts = UniformExpansion(held.owners[known], value[held.values[known]], shares[known])
        columns[name] = SpreadColumn(grouped.group, len(grouped.groups), own.attribute.column.size, parts)
    return SpreadEstimate(columns, grouped.counts)
