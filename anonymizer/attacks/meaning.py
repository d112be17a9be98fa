"""Reading what published texts stand for, as whoever knows the original values and the hierarchies does."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import IntArray
from anonymizer.model.recoding import value_labels
from anonymizer.model.table import MISSING, SUPPRESSED, QuasiIdentifier, ValueType

_INTERVAL = re.compile(r"\[(.+), (.+)\]")
_MEMBER = re.compile(r"(?:\\.|[^\\,])+")
_ESCAPED = re.compile(r"\\(.)")
_NONE: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Reading:
    """The codes of the original values that a text stands for, ascending, and its ends as numbers."""

    codes: IntArray
    low: float = np.nan
    high: float = np.nan


def meanings_of(
    attributes: Sequence[QuasiIdentifier],
    labels: Sequence[Sequence[str | None]],
    missing: Collection[str] = ("",),
) -> tuple[ValueCoverage, ...]:
    """Return what the published texts of each of some quasi-identifiers stand for; see ``meaning_of``."""
    return tuple(meaning_of(each, own, missing) for each, own in zip(attributes, labels, strict=True))


def meaning_of(
    attribute: QuasiIdentifier, labels: Sequence[str | None], missing: Collection[str] = ("",)
) -> ValueCoverage:
    """Return what published texts of a quasi-identifier stand for.

    ``*`` is every value; nodes of the hierarchy, intervals ``[a, b]`` and sets ``{a, b}`` what they cover.
    A number that no original record has, such as a mean or a masked one, stands for itself alone, and any
    other text that the original does not know for nothing.

    Parameters
    ----------
    attribute: of the original, with its hierarchy.
    labels: the distinct texts; None for a null.
    missing: texts that are read as missing, as nulls and ``<missing>`` always are.
    """
    reader = _Reader(attribute, labels, frozenset({MISSING, *missing}))
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
        self, attribute: QuasiIdentifier, labels: Sequence[str | None], missing: frozenset[str]
    ) -> None:
        self._column = attribute.column
        self._missing = missing
        self._code = {text: code for code, text in enumerate(self._column.present)}
        self._by_leaf = np.argsort(attribute.leaf, kind="stable")
        self._leaves = attribute.leaf[self._by_leaf]
        self._attribute = attribute
        self._nodes = _nodes_by_label(attribute, {each for each in labels if each is not None} - missing)

    def read(self, label: str | None) -> _Reading:
        """Return what a text stands for."""
        if label is None or label in self._missing:
            absent = self._column.missing
            return _Reading(_NONE if absent is None else np.array([absent], dtype=np.int64))
        if label == SUPPRESSED:
            return self._of(np.arange(self._column.size))
        if label in self._nodes:
            return self._of(np.unique(np.concatenate([self._under(node) for node in self._nodes[label]])))
        if label in self._code:
            return self._of(np.array([self._code[label]]))
        return self._interval(label) or self._set(label) or self._number(label)

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
        found = _INTERVAL.fullmatch(label)
        if found is None:
            return None
        low, high = (self._as_number(end) for end in found.groups())
        if low is None or high is None:
            return None
        return _Reading(self._between(low, high), low, high)

    def _between(self, low: float, high: float) -> IntArray:
        numbers = self._column.numbers
        assert numbers is not None, "only numbers and dates have intervals"
        present = numbers[: len(self._column.present)]
        return np.arange(np.searchsorted(present, low, "left"), np.searchsorted(present, high, "right"))

    def _set(self, label: str) -> _Reading | None:
        if not (label.startswith("{") and label.endswith("}")):
            return None
        members = [member.removeprefix(" ") for member in _MEMBER.findall(label[1:-1])]
        codes = [self.read(_ESCAPED.sub(r"\1", member)).codes for member in members]
        return self._of(np.unique(np.concatenate([_NONE, *codes])))

    def _number(self, label: str) -> _Reading:
        number = self._as_number(label)
        return _Reading(_NONE) if number is None else _Reading(self._between(number, number), number, number)

    def _as_number(self, text: str) -> float | None:
        if self._column.numbers is None:
            return None
        if self._column.type is not ValueType.DATE:
            return self._column.numerals.number(text)
        try:
            return float(date.fromisoformat(text).toordinal())
        except ValueError:
            return None


def _nodes_by_label(attribute: QuasiIdentifier, labels: set[str]) -> dict[str, list[int]]:
    """Return the nodes that each label names: of one level where one has them all, else of every level."""
    tree, wanted = attribute.hierarchy, labels - {SUPPRESSED}
    by_label: dict[str, list[int]] = {}
    spelled = [*value_labels(attribute)]
    for level in range(tree.height + 1):
        names = spelled if level == 0 else tree.labels
        own = {names[node]: [int(node)] for node in np.flatnonzero(tree.level == level)}
        if wanted <= own.keys():
            return own
        for label in wanted & own.keys():
            by_label.setdefault(label, []).extend(own[label])
    return by_label
