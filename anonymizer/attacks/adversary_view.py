"""The adversary's view of a release whose recoding is known, and the values that each generalized one covers.

Links from original to released records follow from the recoding, for Anatomy releases from its buckets.

Texts are read by an adversary who knows the original values and the hierarchies. A join along the
attributes finds the released distinct rows that cover an original one. An adversary without further
knowledge takes the covered values as equally likely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.attacks.pace import step
from anonymizer.errors import InputError
from anonymizer.model.adversary import (
    AdversaryView,
    AnatomyRelease,
    AnatomyTruth,
    Links,
    Original,
    Owners,
    PublishedTable,
    ValueCoverage,
)
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, count, group_keys, numbered
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import CLOSED, MISSING, SET, SUPPRESSED
from anonymizer.model.recoding import GroupRecoding, Recoding, distinct_nodes, value_labels
from anonymizer.model.table import Column, QuasiIdentifier, SensitiveAttribute, Table, ValueType

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
    extended by the values of the originals and the texts that cover them.

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


NOTHING = Links(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
"""No links."""


def links_of_pairs(original: IntArray | CodeArray, release: IntArray, counts: IntArray) -> Links:
    """Return links from pairs of distinct rows; equal pairs are added up.

    Parameters
    ----------
    original, release: positions of distinct rows, shape (pairs,).
    counts: records of each pair, shape (pairs,), int64.
    """
    some = counts > 0
    original, release, counts = original[some].astype(np.int64), release[some].astype(np.int64), counts[some]
    if not len(counts):
        return NOTHING
    width = int(release.max()) + 1
    group_of, keys = group_keys(original * width + release, (int(original.max()) + 1) * width)
    return Links(keys // width, keys % width, count(group_of, counts, len(keys)))


def located(wanted: IntArray, known: IntArray) -> IntArray:
    """Return the position of each wanted row among known ones, -1 for none.

    Parameters
    ----------
    wanted, known: codes, shape (rows, columns), int64; the known ones distinct, none negative.

    Returns
    -------
    Positions in ``known``, shape (wanted,), int64.
    """
    possible = (wanted >= 0).all(axis=1)
    both = np.concatenate([known, np.maximum(wanted, 0)])
    keys, first = numbered(both.T, len(both))
    place = np.full(len(first), -1, dtype=np.int64)
    place[keys[: len(known)]] = np.arange(len(known))
    return np.where(possible, place[keys[len(known) :]], -1)


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


def possible_links(
    meanings: Sequence[ValueCoverage], original: CodeArray, published: CodeArray
) -> tuple[IntArray, IntArray]:
    """Return all pairs of an original row and a published row that covers it, shape (pairs,) each.

    Parameters
    ----------
    meanings: coverage of the compared columns, including sensitive ones.
    original, published: codes of the distinct rows in these columns, shape (rows, columns).
    """
    left, right = [], []
    for block, pairs in CoveringJoin(meanings, published.astype(np.int64)).blocks(original.astype(np.int64)):
        left.append(block[pairs.original])
        right.append(pairs.published)
    return np.concatenate(left), np.concatenate(right)


def largest_links(possible: tuple[IntArray, IntArray], records: IntArray, released: IntArray) -> Links:
    """Return a largest set of links from original to released records.

    After full-domain recoding there is only one such set; else this is one of several, a maximum flow.

    Parameters
    ----------
    possible: pairs of rows, from ``possible_links``.
    records, released: of each original and each published row, shape (rows,), int64.
    """
    sources, targets = possible
    lone = np.bincount(sources, minlength=len(records)) <= 1
    if lone.all() and np.array_equal(count(targets, records[sources], len(released)), released):
        return replace(links_of_pairs(sources, targets, records[sources]), forced=True)
    found = _flow(sources, targets, records, released)
    return replace(found, forced=_forced(possible, found, records, released))


def _forced(possible: tuple[IntArray, IntArray], found: Links, records: IntArray, released: IntArray) -> bool:
    """Return whether all released records are linked, and no other links of them fit.

    Other links move records from one released row to the next in a circle, or put a record that has no link
    in the place of one that has.

    Parameters
    ----------
    possible, records, released: as for ``largest_links``.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415  the same

    used = count(found.original, found.counts, len(records))
    own = np.full(len(records), -1, dtype=np.int64)
    own[found.original] = found.release
    sources, targets = possible
    whole = len(np.unique(found.original)) == len(found.original)
    if not whole or found.records != int(released.sum()) or (used < records)[sources].any():
        return False
    moves = own[sources] != targets
    ends = own[sources[moves]], targets[moves]
    graph = csr_matrix((np.ones(int(moves.sum()), dtype=np.int8), ends), shape=(len(released),) * 2)
    return bool(connected_components(graph, connection="strong", return_labels=False) == len(released))


def _flow(sources: IntArray, targets: IntArray, records: IntArray, released: IntArray) -> Links:
    """Return the links of a maximum flow from the original to the released records."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415  the same

    if not len(sources):
        return NOTHING
    left, right = len(records), len(released)
    source, sink = left + right, left + right + 1
    rows = np.concatenate([np.full(left, source), sources, left + np.arange(right)])
    columns = np.concatenate([np.arange(left), left + targets, np.full(right, sink)])
    room = np.concatenate([records, np.minimum(records[sources], released[targets]), released])
    graph = csr_matrix((room.astype(np.int32), (rows, columns)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink).flow.tocoo()
    used = (flow.data > 0) & (flow.row < left) & (flow.col >= left) & (flow.col < source)
    return links_of_pairs(flow.row[used], flow.col[used] - left, flow.data[used].astype(np.int64))


def adversary_of(table: Table, recoding: Recoding) -> AdversaryView:
    """Return the view of a release that is not written, with the table as original and links by the recoding.

    Parameters
    ----------
    table: the searched table.
    recoding: of the table; at least one record is released.
    """
    grouped = None
    if isinstance(recoding, GroupRecoding):
        grouped = grouped_table("the candidate", recoding)
        grouped = replace(grouped, truth=known_truth(grouped, recoding))
    release = published_table("the candidate", recoding) if grouped is None else grouped.tuples
    original = known_original("the input", table, recoding, release)
    return AdversaryView(release, original=original, grouped=grouped)


def published_table(source: str, recoding: Recoding) -> PublishedTable:
    """Return the distinct released rows of a recoding, with their counts.

    Parameters
    ----------
    source: name of the release in messages.
    """
    table, kept = recoding.table, ~recoding.removed
    columns = recoding.published()
    labels = [column.codes for column in columns]
    rows = np.column_stack([*labels, *table.codes[:, len(columns) :].T]).astype(np.int64)[kept]
    keys, first = numbered(rows.T, len(rows))
    codes, width = rows[first], len(columns)
    return PublishedTable(
        source,
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        codes[:, :width].astype(np.int32),
        _sensitive(table.sensitive, codes[:, width:]),
        count(keys, table.counts[kept], len(first)),
    )


def known_original(
    source: str,
    table: Table,
    recoding: Recoding,
    release: PublishedTable,
    missing: Collection[str] = ("",),
) -> Original:
    """Return the original of a release whose recoding is known, with the links of the recoding.

    Parameters
    ----------
    source: name of the input in messages.
    table: the searched table.
    release: counted from the file, or by ``published_table``; of an Anatomy release the exact tuples.
    missing: texts that are read as missing.

    Raises
    ------
    InputError: the release differs from what the recoding publishes.
    """
    width, row_of = len(table.quasi_identifiers), table.row_of
    table = table.undivided
    sensitive = _sensitive(table.sensitive, table.codes[:, width:].astype(np.int64))
    kept, placed = ~recoding.removed, _placed(recoding, release, sensitive)
    return Original(
        source,
        meanings_of(table.quasi_identifiers, release.labels, missing, recoding.levels),
        table.codes[:, :width],
        sensitive,
        table.counts,
        links_of_pairs(_original_rows(recoding, row_of)[kept], placed[kept], recoding.table.counts[kept]),
        release.names,
    )


def _original_rows(recoding: Recoding, row_of: IntArray | None) -> IntArray:
    """Return the row of the original of each row of the recoding's table, shape (rows,), int64."""
    return recoding.owners if row_of is None else row_of[recoding.owners]


def owners_of_records(
    table: Table,
    recoding: Recoding,
    rows: IntArray | CodeArray,
    units: Mapping[str, IntArray],
    release: PublishedTable,
    original: Original,
) -> Owners:
    """Return the owners of released records, given the units of all records of the input.

    Parameters
    ----------
    table: the searched table.
    rows: row of the recoding's table of each record, shape (records,).
    units: of each record, shape (records,), int64; if negative, the record is a unit of its own.
    original: as ``known_original`` returns it.
    """
    placed = _placed(recoding, release, dict(original.sensitive))
    return Owners.of(_original_rows(recoding, table.row_of)[rows], placed[rows], units)


def _placed(recoding: Recoding, release: PublishedTable, sensitive: dict[str, SensitiveCodes]) -> IntArray:
    """Return the released row of each row of the recoding's table, -1 if it is removed, shape (rows,)."""
    kept = ~recoding.removed
    columns = _positions(release.labels, recoding)
    known = [release.codes.astype(np.int64)]
    for name, other in release.sensitive.items():
        own = recoding.table.sensitive_codes(name)[kept]
        columns.append(codes_in(other, sensitive[name])[own])
        known.append(other.codes[:, None].astype(np.int64))
    found = located(np.column_stack(columns), np.concatenate(known, axis=1))
    if (found < 0).any():
        raise InputError(f"{release.source}: is not what the recoding publishes")
    placed = np.full(len(kept), -1, dtype=np.int64)
    placed[kept] = found
    return placed


def _sensitive(attributes: tuple[SensitiveAttribute, ...], codes: IntArray) -> dict[str, SensitiveCodes]:
    return {
        attribute.name: SensitiveCodes(attribute, codes[:, position].astype(np.int64))
        for position, attribute in enumerate(attributes)
    }


def known_truth(grouped: AnatomyRelease, recoding: GroupRecoding) -> AnatomyTruth:
    """Return the true sensitive values of the released records of an Anatomy release, by its recoding.

    Parameters
    ----------
    grouped: the release of the recoding; its buckets are named by their numbers from 1.
    """
    table, kept = recoding.table, ~recoding.removed
    columns = _positions(grouped.labels, recoding)
    names = recoding.class_columns()[0].labels
    columns.append(labels_in_release(grouped.groups, names)[recoding.group_of[kept]])
    own = SensitiveCodes(table.sensitive[0], table.sensitive_codes(table.sensitive_names[0]).astype(np.int64))
    published = SensitiveCodes(grouped.sensitive.attribute, grouped.sensitive.values)
    values = codes_in(published, own)[own.codes[kept]]
    known = np.column_stack([grouped.codes.astype(np.int64), grouped.group])
    rows = located(np.column_stack(columns), known)
    links = links_of_pairs(rows, values, table.counts[kept])
    return AnatomyTruth(links.original, links.release, links.counts)


def grouped_table(source: str, recoding: GroupRecoding) -> AnatomyRelease:
    """Return the Anatomy release of a recoding.

    Parameters
    ----------
    source: name of the release in messages.
    """
    kept, table = ~recoding.removed, recoding.table
    columns, group = recoding.published(), recoding.group_of[kept]
    codes = np.column_stack([column.codes[kept] for column in columns])
    rows, first = numbered([group, *codes.T], len(group))
    own = table.sensitive[0]
    values = SensitiveCodes(own, table.sensitive_codes(own.name)[kept].astype(np.int64))
    held, _ = Classes(group, table.counts[kept], recoding.groups, {own.name: values}).sensitive_counts(
        own.name
    )
    return AnatomyRelease(
        source,
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        codes[first].astype(np.int32),
        recoding.class_columns()[0].labels,
        group[first],
        count(rows, table.counts[kept], len(first)),
        held,
    )


def truth_of_tuples(grouped: AnatomyRelease, original: Original, release: PublishedTable) -> AnatomyTruth:
    """Return the true sensitive values of released records, as far as the original records determine them.

    A tuple in several buckets is left out: its originals do not determine which record is in which bucket.

    Parameters
    ----------
    release: the exact tuples, as ``original`` is linked to them.
    """
    of_row = located(grouped.codes.astype(np.int64), release.codes.astype(np.int64))
    row = np.full(len(release.counts), -1, dtype=np.int64)
    row[of_row] = np.arange(len(of_row))
    row[np.bincount(of_row, minlength=len(row)) > 1] = -1
    links, (name,) = original.links, tuple(original.sensitive)
    own = SensitiveCodes(grouped.sensitive.attribute, grouped.sensitive.values)
    values = codes_in(own, original.sensitive[name])[original.sensitive[name].codes[links.original]]
    whole = np.bincount(links.release, weights=links.counts, minlength=len(row)) == release.counts
    known = (row[links.release] >= 0) & whole[links.release] & (values >= 0)
    pairs = links_of_pairs(row[links.release[known]], values[known], links.counts[known])
    return AnatomyTruth(pairs.original, pairs.release, pairs.counts)


def _positions(labels: Sequence[Sequence[str | None]], recoding: Recoding) -> list[IntArray]:
    """Return the positions of published values among a file's labels, shape (rows,) for each column."""
    kept = ~recoding.removed
    return [
        labels_in_release(known, published.labels)[published.codes[kept]]
        for known, published in zip(labels, recoding.published(), strict=True)
    ]
