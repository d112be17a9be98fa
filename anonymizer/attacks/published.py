"""A release as its recipient counts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.core.classes import Classes, SensitiveCodes
from anonymizer.core.grouping import count, group_keys
from anonymizer.core.table import SUPPRESSED
from anonymizer.errors import InputError, suggestion

_KEYS = 1 << 62
"""A packed key stays below this."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """The distinct combinations of published values with their records.

    Attributes
    ----------
    source: what messages call the file.
    names: of the quasi-identifiers.
    labels: distinct published texts of each quasi-identifier; None for a null.
    codes: position in ``labels`` for each combination and quasi-identifier, shape (combinations,
        quasi-identifiers), int32.
    sensitive: sensitive values of the combinations by attribute.
    counts: records of each combination, shape (combinations,), int64.
    weights: by column of sampling weights, the sum over those records, shape (combinations,), float64.
    """

    source: str
    names: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    codes: CodeArray
    sensitive: Mapping[str, SensitiveCodes]
    counts: IntArray
    weights: Mapping[str, FloatArray] = field(default_factory=dict)
    _classes: dict[tuple[str, ...], Classes] = field(default_factory=dict, init=False, repr=False)

    @property
    def records(self) -> int:
        """Number of records of the release."""
        return int(self.counts.sum())

    @property
    def sensitive_names(self) -> list[str]:
        """Names of the sensitive attributes."""
        return list(self.sensitive)

    def known(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return the quasi-identifiers that an adversary knows, in the order of the release; None: all.

        Raises
        ------
        InputError: a name is none of them.
        """
        if names is None:
            return self.names
        for name in names:
            if name not in self.names:
                what = f"{self.source}: an adversary cannot know '{name}', which is no quasi-identifier"
                raise InputError(f"{what}; {suggestion(name, self.names)}")
        return tuple(name for name in self.names if name in names)

    def classes(self, names: Sequence[str] | None = None) -> Classes:
        """Return the classes of records that look alike to who knows these quasi-identifiers.

        Raises
        ------
        InputError: a name is no quasi-identifier.
        """
        known = self.known(names)
        if known not in self._classes:
            class_of, number = self._grouped(known)
            self._classes[known] = Classes(class_of, self.counts, number, self.sensitive)
        return self._classes[known]

    def _grouped(self, known: Sequence[str]) -> tuple[IntArray, int]:
        keys, space = np.zeros(len(self.counts), dtype=np.int64), 1
        for name in known:
            position = self.names.index(name)
            size = len(self.labels[position])
            if space * size >= _KEYS:
                keys, distinct = group_keys(keys, space)
                space = len(distinct)
            keys, space = keys * size + self.codes[:, position], space * size
        class_of, distinct = group_keys(keys, space)
        return class_of, len(distinct)

    @property
    def blanks(self) -> BoolArray:
        """Which cells are published as ``*``, shape (combinations, quasi-identifiers), bool."""
        columns = [
            np.array([label == SUPPRESSED for label in labels], dtype=bool)[self.codes[:, position]]
            for position, labels in enumerate(self.labels)
        ]
        return np.column_stack(columns)

    def count_matching(self, items: IntArray, known: Sequence[str]) -> IntArray:
        """Return how many records of the release have the same values as each item in these columns.

        Parameters
        ----------
        items: combinations, shape (items,), int64.

        Returns
        -------
        Records that look the same, shape (items,), int64; all of them when nothing is known.
        """
        class_of, number = self._grouped(known)
        sizes: IntArray = count(class_of, self.counts, number)[class_of[items]]
        return sizes
