"""The original values that each generalized value covers.

Texts are read by an adversary who knows the original values and the hierarchies. A join along the
attributes finds the released distinct rows that cover an original one. An adversary without further
knowledge takes the covered values as equally likely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.pace import step
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.recoding import distinct_nodes, value_labels
from anonymizer.model.table import MISSING, SUPPRESSED, Column, QuasiIdentifier, ValueType

BLOCK = 4096
"""Original rows that are joined at once, unless they have too many pairs."""

PAIRS = 1 << 23
"""Maximum number of pairs in memory."""


@dataclass(frozen=True, eq=False)
class ConsistentPairs:
    """Pairs of an original row and a published row whose values all cover the original ones.

    Attributes
    ----------
    original, published: positions, shape (pairs,), int64; ascending by ``original``, then ``published``.
    """

    original: IntArray
    published: IntArray


def spans(starts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the concatenated positions of several ranges, and the range of each position."""
    of_range = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    return np.arange(len(of_range)) + (starts - first)[of_range], of_range


class CoveringJoin:
    """Joins original rows with the published rows that cover them.

    Attributes are joined one after another, the most selective first: consistent pairs of prefixes are
        extended
    by the values of the originals and the texts that cover them.

    Parameters
    ----------
    meanings: coverage of the texts of each attribute.
    published: texts of each published row, shape (published, attributes).
    """

    def __init__(self, meanings: Sequence[ValueCoverage], published: IntArray) -> None:
        self._order = sorted(range(len(meanings)), key=lambda own: _share(meanings[own]))
        self._meanings = [_Inverse.of(meanings[own]) for own in self._order]
        self._tree = _PrefixTree(published[:, self._order])

    def blocks(self, original: IntArray) -> Iterator[tuple[IntArray, ConsistentPairs]]:
        """Yield blocks of original rows with their pairs.

        Parameters
        ----------
        original: codes, shape (original, attributes); equal ones have the same pairs. Every text covers an
            unknown value, -1.

        Yields
        ------
        Positions of the rows of a block, and the pairs; ``original`` is a position in the block.
        """
        ordered = original[:, self._order]
        order = np.lexsort(ordered.T[::-1])
        waiting = [order[start : start + BLOCK] for start in range(0, len(order), BLOCK)][::-1]
        while waiting:
            block = waiting.pop()
            step(waiting, len(order) - len(block) - sum(map(len, waiting)), len(order))
            covering = self._join(ordered[block])
            if covering is None:
                half = len(block) // 2
                waiting += [block[half:], block[:half]]
            else:
                yield block, covering

    def _join(self, original: IntArray) -> ConsistentPairs | None:
        """Return the pairs of sorted rows; None if they do not fit in memory at once."""
        tree = _PrefixTree(original)
        left, right = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for depth, inverse in enumerate(self._meanings):
            if tree.fan(depth, left) > PAIRS and len(original) > 1:
                return None
            child, pair = tree.children(depth, left)
            values = tree.values[depth][child]
            if inverse.fan(values) > PAIRS and len(original) > 1:
                return None
            texts, of_child = inverse.texts(values)
            parents = right[pair[of_child]]
            found, exists = self._tree.find(depth, parents, texts)
            left, right = child[of_child[exists]], found[exists]
        columns, pair = self._tree.members(right)
        # Originals that differ only in attributes that are not compared share a node.
        rows, pair = tree.members(left[pair])
        columns = columns[pair]
        by_original = np.lexsort((columns, rows))
        return ConsistentPairs(rows[by_original], columns[by_original])


class _PrefixTree:
    """The prefixes of rows as a tree: level j has one node for each vector of the first j + 1 values.

    Nodes of a level are in the order of their values, so the children of a node are consecutive.
    """

    def __init__(self, combinations: IntArray) -> None:
        self.rows = np.lexsort(combinations.T[::-1])
        ordered = combinations[self.rows].astype(np.int64)
        new: BoolArray = np.zeros(len(ordered), dtype=bool)
        new[:1] = True
        above = np.zeros(len(ordered), dtype=np.int64)
        self.values: list[IntArray] = []
        self._starts: list[IntArray] = []
        self._keys: list[IntArray] = []
        self._sizes: list[int] = []
        for column in ordered.T:
            new[1:] |= column[1:] != column[:-1]
            first = np.flatnonzero(new)
            parents, values = above[first], column[first]
            size = int(values.max(initial=0)) + 1
            number = int(parents.max(initial=-1)) + 1
            self.values.append(values)
            self._starts.append(np.searchsorted(parents, np.arange(number + 1)))
            self._keys.append(parents * size + values)
            self._sizes.append(size)
            above = np.cumsum(new) - 1
        self._members = np.append(np.flatnonzero(new), len(ordered))

    def children(self, depth: int, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the children at a level of nodes above it, and the parent's position for each."""
        starts = self._starts[depth]
        return spans(starts[nodes], starts[nodes + 1] - starts[nodes])

    def members(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows at some nodes of the last level, and the node's position for each."""
        places, of_node = spans(self._members[nodes], self._members[nodes + 1] - self._members[nodes])
        return self.rows[places], of_node

    def fan(self, depth: int, nodes: IntArray) -> int:
        """Return the number of children at a level of nodes above it."""
        starts = self._starts[depth]
        return int((starts[nodes + 1] - starts[nodes]).sum())

    def find(self, depth: int, parents: IntArray, values: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the node of a level with a parent and a value, and whether it exists."""
        keys, size = self._keys[depth], self._sizes[depth]
        wanted = parents * size + values
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return place, (values < size) & (keys[place] == wanted)


@dataclass(frozen=True, eq=False)
class _Inverse:
    """The texts that cover each value: for value i, ``entries[starts[i + 1]:starts[i + 2]]``.

    Every text covers the unknown value, -1.
    """

    starts: IntArray
    entries: IntArray

    @classmethod
    def of(cls, meaning: ValueCoverage) -> _Inverse:
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        order = np.argsort(meaning.values, kind="stable")
        starts = np.searchsorted(meaning.values[order], np.arange(meaning.column.size + 1))
        texts = len(meaning.sizes)
        return cls(np.append(0, texts + starts), np.concatenate([np.arange(texts), owners[order]]))

    def fan(self, values: IntArray) -> int:
        """Return the number of pairs of a value and a text that covers it."""
        return int((self.starts[values + 2] - self.starts[values + 1]).sum())

    def texts(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the texts that cover some values, and the value's position for each."""
        starts = self.starts[values + 1]
        places, of_value = spans(starts, self.starts[values + 2] - starts)
        return self.entries[places], of_value


def _share(meaning: ValueCoverage) -> float:
    """Return the mean share of the column's values that a text covers."""
    return len(meaning.values) / max(meaning.column.size * len(meaning.sizes), 1)


_INTERVAL = re.compile(r"\[(.+), (.+)\]")
_MEMBER = re.compile(r"(?:\\.|[^\\,])+")
_ESCAPED = re.compile(r"\\(.)")
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
        self._missing = missing
        self._code = {text: code for code, text in enumerate(self._column.present)}
        self._by_leaf = np.argsort(attribute.leaf, kind="stable")
        self._leaves = attribute.leaf[self._by_leaf]
        self._attribute = attribute
        self._nodes = _nodes_by_label(
            attribute, {each for each in labels if each is not None} - missing, level
        )

    def read(self, label: str | None) -> _Reading:
        """Return the coverage of a text."""
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
        codes = [self.read(member).codes for member in set_members(label)]
        return self._of(np.unique(np.concatenate([_NONE, *codes])))

    def _number(self, label: str) -> _Reading:
        number = self._as_number(label)
        return _Reading(_NONE) if number is None else _Reading(self._between(number, number), number, number)

    def _as_number(self, text: str) -> float | None:
        return None if self._column.numbers is None else self._column.number(text)


_RANGES = (
    (re.compile(r"\[(.+), (.+)\]"), True),
    (re.compile(r"\[(.+), (.+)\)"), False),
    (re.compile(r"(.+) to (.+)"), True),
    (re.compile(r"(.+)\.\.(.+)"), True),
    (re.compile(r"([^-]+)-([^-]+)"), True),
)
"""Texts of ranges of numbers or dates, and whether the second end belongs to them."""


def published_ranges(label: str, number: Callable[[str], float | None]) -> list[tuple[float, float]] | None:
    """Return the ranges of numbers that a published text names, ends included; None for another text.

    Parameters
    ----------
    number: returns the number of a text, None if it is not a number.

    >>> def number(text: str) -> float | None:
    ...     return float(text) if text.lstrip("-").replace(".", "").isdigit() else None
    >>> published_ranges("20-24", number), published_ranges("-5 to -1", number), published_ranges("7", number)
    ([(20.0, 24.0)], [(-5.0, -1.0)], [(7.0, 7.0)])
    >>> published_ranges("65+", number), published_ranges("{3, 5}", number), published_ranges("many", number)
    ([(65.0, inf)], [(3.0, 3.0), (5.0, 5.0)], None)
    """
    alone = number(label)
    if alone is not None:
        return [(alone, alone)]
    if label.startswith("{") and label.endswith("}"):
        members = [published_ranges(each, number) for each in set_members(label)]
        return None if None in members else [own for each in members for own in each or ()]
    for pattern, included in _RANGES:
        found = pattern.fullmatch(label)
        low, high = (None, None) if found is None else (number(end) for end in found.groups())
        if low is not None and high is not None:
            return [(low, high if included else float(np.nextafter(high, -np.inf)))]
    below = number(label[1:]) if label.startswith("<") else None
    if below is not None:
        return [(-np.inf, float(np.nextafter(below, -np.inf)))]
    least = number(label[:-1]) if label.endswith("+") else None
    return None if least is None else [(least, np.inf)]


def set_members(label: str) -> list[str]:
    """Return the texts of the members of a published set ``{a, b}``."""
    members = [member.removeprefix(" ") for member in _MEMBER.findall(label[1:-1])]
    return [_ESCAPED.sub(r"\1", member) for member in members]


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
    """Return the nodes that each label names, at one level or at any."""
    tree, wanted = attribute.hierarchy, labels - {SUPPRESSED}
    by_label: dict[str, list[int]] = {}
    spelled = value_labels(attribute)
    for each in range(tree.height + 1) if level is None else [level]:
        names = spelled if each == 0 else tree.labels
        own = {names[node]: int(node) for node in np.flatnonzero(tree.level == each)}
        for label in wanted & own.keys():
            by_label.setdefault(label, []).append(own[label])
    if level is None and wanted - by_label.keys():
        # Local recoding adds the level to the name of the higher of two nodes with one label.
        canonical, names = distinct_nodes(attribute)
        distinct = {names[node]: [node] for node in np.unique(canonical).tolist()}
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
    nearest: IntArray = np.where(middle - present[above - 1] <= present[above] - middle, above - 1, above)
    return nearest
