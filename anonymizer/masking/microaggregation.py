"""Microaggregation: clusters of similar records, each published as its mean.

Individual ranking is microaggregation of each attribute separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anonymizer.errors import InputError
from anonymizer.masking.base import Given, Masking, require
from anonymizer.masking.mdav import FixedSize, whole_numbers
from anonymizer.model.arrays import FloatArray


class IndividualRanking(Masking):
    """Sorts each attribute and replaces every k consecutive values by their mean, the last k to 2k - 1.

    Equal values are taken in the order of the records. Nothing is random.

    Source: Defays and Nanopoulos (Statistics Canada Symposium 1992, published 1993), individual ranking.

    Parameters
    ----------
    k: values that share their mean at least.
    """

    def __init__(self, k: int) -> None:
        require(k >= 1, f"k = {k}; accepted: 1 or more")
        self._k = k

    def _masked(self, given: Given) -> FloatArray:
        last = max(len(given.values) // self._k, 1) - 1
        group = np.minimum(np.arange(len(given.values)) // self._k, last)
        sizes = np.bincount(group)
        masked = np.empty_like(given.values)
        for position, column in enumerate(given.values.T):
            order = np.argsort(column, kind="stable")
            masked[order, position] = (np.bincount(group, column[order]) / sizes)[group]
        return masked


class Microaggregation(Masking):
    """Replaces the values of k or more records by their mean, one group of attributes after the other.

    Records are grouped by MDAV on standardised values, in every group of attributes anew: the records are
    alike within each group of attributes, yet mostly distinct in all together. Nothing is random.

    Source: Domingo-Ferrer and Torra (DMKD 2005, doi:10.1007/s10618-005-0007-5), MDAV-generic; groups of
    attributes: Nin, Herranz and Torra, How to group attributes in multivariate microaggregation (IJUFKS 16,
    2008, doi:10.1142/S0218488508005285).

    Parameters
    ----------
    k: records that share their mean at least, for all groups of attributes or for each.
    groups: attributes of each group, by name or, for arrays, by position; None is all together. An attribute
        in none stays as it is.
    """

    def __init__(self, k: int | Sequence[int], groups: Sequence[Sequence[Any]] | None = None) -> None:
        self._groups = None if groups is None else [list(group) for group in groups]
        number = 1 if self._groups is None else len(self._groups)
        self._sizes = [k] * number if isinstance(k, int) else list(k)
        require(len(self._sizes) == number, f"{len(self._sizes)} sizes k for {number} groups of attributes")
        require(all(size >= 1 for size in self._sizes), f"k = {k}; accepted: 1 or more")
        named = [name for group in self._groups or [] for name in group]
        require(len(set(named)) == len(named), "an attribute is in several groups; accepted: each in one")

    def _masked(self, given: Given) -> FloatArray:
        masked = given.values.copy()
        for group, k in zip(self._groups or [given.names], self._sizes, strict=True):
            unknown = [str(name) for name in group if name not in given.names]
            if unknown:
                raise InputError(f"masking: no attribute {', '.join(unknown)} in the data")
            columns = [given.names.index(name) for name in group]
            masked[:, columns] = _means(given.values[:, columns], k)
        return masked


def _means(values: FloatArray, k: int) -> FloatArray:
    """Return for each record the mean of its group, shape (records, attributes)."""
    ones = np.ones(len(values), dtype=np.int64)
    # A deviation of equal numbers need not be exactly 0.
    varies = values.max(axis=0) > values.min(axis=0)
    centred = np.where(varies, values - values.mean(axis=0), 0.0)
    # The kernel takes whole numbers, in which equal distances are equal on every machine.
    standard = centred / np.where(varies, values.std(axis=0), 1.0)
    shares = FixedSize().cluster(whole_numbers(standard, len(values)), ones, k, lambda _: None)
    clusters = np.empty(len(values), dtype=np.int64)
    clusters[shares.point] = shares.cluster
    sizes = np.bincount(clusters)
    means = np.stack([np.bincount(clusters, column) / sizes for column in values.T], axis=1)
    masked: FloatArray = means[clusters]
    return masked
