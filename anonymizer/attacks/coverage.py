"""What published texts mean to an adversary who knows the original values and the hierarchies.

An adversary without further knowledge takes the covered values as equally likely.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.adversary import (
    ValueCoverage,
)
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import CLOSED, MISSING, SET, SUPPRESSED
from anonymizer.model.recoding import distinct_nodes, value_labels
from anonymizer.model.table import Column, QuasiIdentifier, ValueType

_NONE: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Reading:
    """The codes of the original values that a text covers, ascending, and its ends as numbers."""

    codes: IntArray
    low: float = np.nan
    high: float = np.nan


def meanings_of(
    attributes: Sequence[QuasiIdentifier],
    labels: Sequence[Sequence[str | None]],
    missing: Collection[str] = ("",),
    levels: Sequence[int | None] | None = None,
) -> tuple[ValueCoverage, ...]:
    """Return the coverage of the published texts of each quasi-identifier; see ``meaning_of``."""
    known = [None] * len(attributes) if levels is None else levels
    return tuple(
        meaning_of(each, own, missing, level)
        for each, own, level in zip(attributes, labels, known, strict=True)
    )


def meaning_of(
    attribute: QuasiIdentifier,
    labels: Sequence[str | None],
    missing: Collection[str] = ("",),
    level: int | None = None,
) -> ValueCoverage:
    """Return the coverage of the published texts of a quasi-identifier.

    ``*`` covers every value; nodes of the hierarchy, intervals ``[a, b]`` and sets ``{a, b}`` cover their
    members. A number that no original record has, such as a mean or a masked one, covers no value but is its
    own interval. Any other unknown text covers nothing.

    Parameters
    ----------
    attribute: of the original, with its hierarchy.
    labels: distinct texts; None for a null.
    missing: texts that are read as missing, in addition to nulls and ``<missing>``.
    level: of the texts, None if it may be any. A text that labels nodes of several levels then covers the
        values of all these nodes.
    """
    reader = _Reader(attribute, labels, frozenset({MISSING, *missing}), level)
    readings = [reader.read(label) for label in labels]
    sizes = [len(reading.codes) for reading in readings]
    return ValueCoverage(
        attribute.column,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([_NONE, *(reading.codes for reading in readings)]),
        np.array([reading.low for reading in readings], dtype=np.float64),
        np.array([reading.high for reading in readings], dtype=np.float64),
        attribute.hierarchy,
        attribute.leaf,
    )


class _Reader:
    """Reads the texts of one column."""

    def __init__(
        self,
        attribute: QuasiIdentifier,
        labels: Sequence[str | None],
        missing: frozenset[str],
        level: int | None,
    ) -> None:
        self._column = attribute.column
        self._missing = frozenset(map(text_identity, missing))
        self._missing_numbers = {self._as_number(each) for each in missing} - {None}
        self._code = {text_identity(text): code for code, text in enumerate(self._column.present)}
        self._by_leaf = np.argsort(attribute.leaf, kind="stable")
        self._leaves = attribute.leaf[self._by_leaf]
        self._attribute = attribute
        wanted = {text_identity(each) for each in labels if each is not None}
        self._nodes = _nodes_by_label(attribute, wanted - self._missing, level)

    def read(self, label: str | None) -> _Reading:
        """Return the coverage of a text."""
        identity = "" if label is None else text_identity(label)
        if label is None or identity in self._missing or self._as_number(label) in self._missing_numbers:
            absent = self._column.missing
            return _Reading(_NONE if absent is None else np.array([absent], dtype=np.int64))
        if identity == SUPPRESSED:
            return self._of(np.arange(self._column.size))
        if identity in self._nodes:
            return self._of(np.unique(np.concatenate([self._under(node) for node in self._nodes[identity]])))
        if identity in self._code:
            return self._of(np.array([self._code[identity]]))
        return self._interval(identity) or self._set(identity) or self._number(identity)

    def _under(self, node: int) -> IntArray:
        tree = self._attribute.hierarchy
        ends = np.searchsorted(self._leaves, [tree.first_leaf[node], tree.last_leaf[node]])
        return self._by_leaf[ends[0] : ends[1]]

    def _of(self, codes: IntArray) -> _Reading:
        codes = codes.astype(np.int64)
        numbers = self._column.numbers
        if numbers is None or np.isnan(numbers[codes]).all():
            return _Reading(codes)
        return _Reading(codes, float(np.nanmin(numbers[codes])), float(np.nanmax(numbers[codes])))

    def _interval(self, label: str) -> _Reading | None:
        low, high, _ = CLOSED.read(label, self._as_number) or (None, None, True)
        return None if low is None or high is None else _Reading(self._between(low, high), low, high)

    def _between(self, low: float, high: float) -> IntArray:
        numbers = self._column.numbers
        assert numbers is not None, "only numbers and dates have intervals"
        present = numbers[: len(self._column.present)]
        return np.arange(np.searchsorted(present, low, "left"), np.searchsorted(present, high, "right"))

    def _set(self, label: str) -> _Reading | None:
        members = SET.read(label)
        if members is None:
            return None
        codes = [self.read(member).codes for member in members]
        return self._of(np.unique(np.concatenate([_NONE, *codes])))

    def _number(self, label: str) -> _Reading:
        number = self._as_number(label)
        return _Reading(_NONE) if number is None else _Reading(self._between(number, number), number, number)

    def _as_number(self, text: str) -> float | None:
        return None if self._column.numbers is None else self._column.number(text)


def coverage_of_ranges(
    name: str, releases: Sequence[Sequence[Sequence[tuple[float, float]] | None]]
) -> list[ValueCoverage]:
    """Return the coverage of ranges of numbers, over the ends that any release mentions.

    Two texts have a common number iff they cover a common end.

    Parameters
    ----------
    name: of the column.
    releases: for each text of each release its ranges; None for a missing value.

    Returns
    -------
    A coverage for each release, of one column.
    """
    ranges = [own for texts in releases for each in texts for own in each or ()]
    ends = [low if np.isfinite(low) else high for low, high in ranges]
    ends += [high for low, high in ranges if np.isfinite(low) and np.isfinite(high)]
    numbers = np.unique(np.array([end for end in ends if np.isfinite(end)], dtype=np.float64))
    size = len(numbers)
    lacking = any(each is None for texts in releases for each in texts)
    column = Column(
        name,
        ValueType.NUMBER,
        (*map(str, numbers.tolist()), *([MISSING] if lacking else [])),
        np.ones(size + lacking, dtype=np.int64),
        np.append(numbers, [np.nan] * lacking),
        size if lacking else None,
    )
    found = []
    for texts in releases:
        codes: list[IntArray] = []
        for each in texts:
            if each is None:
                codes.append(np.array([size], dtype=np.int64))
                continue
            covered = np.zeros(size, dtype=bool)
            whole = (-np.inf, np.inf) in each
            for low, high in each:
                covered[np.searchsorted(numbers, low, "left") : np.searchsorted(numbers, high, "right")] = (
                    True
                )
            codes.append(np.append(np.flatnonzero(covered), [size] * (whole and lacking)).astype(np.int64))
        own = [numbers[each[each < size]] for each in codes]
        found.append(
            ValueCoverage(
                column,
                np.concatenate([[0], np.cumsum([len(each) for each in codes])]).astype(np.int64),
                np.concatenate([_NONE, *codes]),
                np.array([each.min() if len(each) else np.nan for each in own]),
                np.array([each.max() if len(each) else np.nan for each in own]),
            )
        )
    return found


def _nodes_by_label(attribute: QuasiIdentifier, labels: set[str], level: int | None) -> dict[str, list[int]]:
    """Return the nodes that each label names, at one level or at any.

    Parameters
    ----------
    labels: their identities.
    """
    tree, wanted = attribute.hierarchy, labels - {SUPPRESSED}
    by_label: dict[str, list[int]] = {}
    spelled = value_labels(attribute)
    for each in range(tree.height + 1) if level is None else [level]:
        names = spelled if each == 0 else tree.labels
        own = {text_identity(names[node]): int(node) for node in np.flatnonzero(tree.level == each)}
        for label in wanted & own.keys():
            by_label.setdefault(label, []).append(own[label])
    if level is None and wanted - by_label.keys():
        # Local recoding adds the level to the name of the higher of two nodes with one label.
        canonical, names = distinct_nodes(attribute)
        distinct = {text_identity(names[node]): [node] for node in np.unique(canonical).tolist()}
        by_label |= {label: distinct[label] for label in wanted & distinct.keys() - by_label.keys()}
    return by_label


@dataclass(frozen=True, eq=False)
class UniformExpansion:
    """Pairs of a text and a value that it covers, and the value's share of the text.

    Attributes
    ----------
    texts, values: shape (pairs,), int64.
    shares: shape (pairs,), float64; sum 1 for each text that covers a value.
    """

    texts: IntArray
    values: IntArray
    shares: FloatArray


def expand_uniformly(meaning: ValueCoverage) -> UniformExpansion:
    """Return equal shares for the values that each text of a column covers.

    A number that no original record has, such as a mean, counts for the nearest original number, the lower on
    a tie.
    """
    sizes = meaning.sizes
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shares = 1 / sizes[owners]
    numbers = meaning.column.numbers
    alone = np.flatnonzero((sizes == 0) & ~np.isnan(meaning.low))
    if numbers is None or not len(alone):
        return UniformExpansion(owners, meaning.values, shares)
    nearest = _nearest(numbers[: len(meaning.column.present)], meaning, alone)
    return UniformExpansion(
        np.concatenate([owners, alone]),
        np.concatenate([meaning.values, nearest]),
        np.concatenate([shares, np.ones(len(alone))]),
    )


def _nearest(present: FloatArray, meaning: ValueCoverage, texts: IntArray) -> IntArray:
    if len(present) < 2:
        return np.zeros(len(texts), dtype=np.int64)
    middle = (meaning.low[texts] + meaning.high[texts]) / 2
    above = np.clip(np.searchsorted(present, middle), 1, len(present) - 1)
    return np.where(middle - present[above - 1] <= present[above] - middle, above - 1, above)


def same_values(values: SensitiveCodes, published: SensitiveCodes) -> ValueCoverage:
    """Return the coverage of a released sensitive attribute: each value covers the equal original value.

    Parameters
    ----------
    values, published: of the original and of the release.
    """
    own, other = values.attribute.column, published.attribute.column
    code = {text_identity(text): position for position, text in enumerate(own.present)}
    by_number = {}
    if own.numbers is not None:
        by_number = {number: position for position, number in enumerate(own.numbers[: len(own.present)])}
    found = []
    for position, text in enumerate(other.texts):
        if position == other.missing:
            found.append(own.missing)
        elif (identity := text_identity(text)) in code or other.numbers is None:
            found.append(code.get(identity))
        else:
            found.append(by_number.get(other.numbers[position]))
    exists = np.array([each is not None for each in found], dtype=np.int64)
    nothing = np.full(len(found), np.nan)
    codes = np.array([each for each in found if each is not None], dtype=np.int64)
    return ValueCoverage(own, np.concatenate([[0], np.cumsum(exists)]), codes, nothing, nothing)


def codes_in(other: SensitiveCodes, own: SensitiveCodes) -> IntArray:
    """Return the code in ``other`` of each value of ``own``, -1 for none, shape (values,), int64."""
    same = same_values(other, own)
    codes = np.full(own.attribute.column.size, -1, dtype=np.int64)
    codes[np.flatnonzero(same.sizes)] = same.values
    return codes


def labels_in_release(known: Sequence[str | None], published: Sequence[str]) -> IntArray:
    """Return the position of each published text among known ones, -1 for none, shape (texts,), int64.

    Another spelling of a text counts if the text itself is not known.
    """
    exact = {label: code for code, label in enumerate(known)}
    spelled = {text_identity(label): code for label, code in exact.items() if label is not None}
    places = [exact.get(label, spelled.get(text_identity(label), -1)) for label in published]
    return np.array(places, dtype=np.int64)
