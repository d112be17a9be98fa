"""Microaggregation: clusters of similar records, each published as its mean.

Individual ranking is microaggregation of each attribute separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anonymizer.errors import InputError, plural
from anonymizer.masking.base import Masking, MaskingInput, require
from anonymizer.model.arrays import FloatArray
from anonymizer.search.microaggregation.mdav import FixedSize, whole_numbers


class IndividualRanking(Masking):
    """Sorts each attribute and replaces every k consecutive values by their mean, the last k to 2k - 1.

    Equal values keep the order of the records. Nothing is random.

    Source: Defays and Nanopoulos (Statistics Canada Symposium 1992, published 1993), individual ranking.

    Parameters
    ----------
    k: minimum number of values with a common mean.
    """

    def __init__(self, k: int) -> None:
        require(k >= 1, f"k = {k}; accepted: 1 or more")
        self._k = k

    def _masked(self, given: MaskingInput) -> FloatArray:
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

    MDAV clusters the records on standardized values, separately for each group of attributes: k records are
    equal on each group, yet mostly distinct on all attributes. Nothing is random.

    Source: Domingo-Ferrer and Torra (DMKD 2005, doi:10.1007/s10618-005-0007-5), MDAV-generic; groups of
    attributes: Nin, Herranz and Torra, How to group attributes in multivariate microaggregation (IJUFKS 16,
    2008, doi:10.1142/S0218488508005285).

    Parameters
    ----------
    k: minimum number of records with a common mean, one for all groups of attributes or one for each.
    groups: attributes of each group, by name or, for arrays, by position; None is one group of all.
        Attributes in no group stay unchanged.
    """

    def __init__(self, k: int | Sequence[int], groups: Sequence[Sequence[Any]] | None = None) -> None:
        self._groups = None if groups is None else [list(group) for group in groups]
        number = 1 if self._groups is None else len(self._groups)
        self._sizes = [k] * number if isinstance(k, int) else list(k)
        require(
            len(self._sizes) == number,
            f"{plural(len(self._sizes), 'value')} of k for {plural(number, 'group')} of attributes; "
            "give one, or one for each",
        )
        require(all(size >= 1 for size in self._sizes), f"k = {k}; accepted: 1 or more")
        named = [name for group in self._groups or [] for name in group]
        require(len(set(named)) == len(named), "an attribute is in several groups; name each once")

    def _masked(self, given: MaskingInput) -> FloatArray:
        masked = given.values.copy()
        for group, k in zip(self._groups or [given.names], self._sizes, strict=True):
            unknown = [str(name) for name in group if name not in given.names]
            if unknown:
                raise InputError(
                    f"masking: the data have no attribute {', '.join(unknown)}; remove it from groups"
                )
            columns = [given.names.index(name) for name in group]
            masked[:, columns] = _means(given.values[:, columns], k)
        return masked


def _means(values: FloatArray, k: int) -> FloatArray:
    """Return the mean of the cluster of each record, shape (records, attributes)."""
    ones = np.ones(len(values), dtype=np.int64)
    # The computed deviation of equal numbers may differ from 0.
    varies = values.max(axis=0) > values.min(axis=0)
    centred = np.where(varies, values - values.mean(axis=0), 0.0)
    # With whole numbers, equal distances are equal on every machine.
    standard = centred / np.where(varies, values.std(axis=0), 1.0)
    shares = FixedSize().cluster(whole_numbers(standard, len(values)), ones, k, lambda _: None)
    clusters = np.empty(len(values), dtype=np.int64)
    clusters[shares.point] = shares.cluster
    sizes = np.bincount(clusters)
    means = np.stack([np.bincount(clusters, column) / sizes for column in values.T], axis=1)
    return means[clusters]
