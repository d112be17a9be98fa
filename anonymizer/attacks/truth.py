"""Which original records became which released ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.attacks.covering import CoveringJoin
from anonymizer.model.adversary import Links, ValueCoverage
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.counting import count, group_keys, numbered

NOTHING = Links(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
"""No record's fate is told."""


def links_of_pairs(original: IntArray | CodeArray, release: IntArray, counts: IntArray) -> Links:
    """Return links from pairs of combinations, equal ones put together.

    Parameters
    ----------
    original, release: positions of combinations, shape (pairs,).
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
    """Return where each wanted combination stands among known ones, -1 for nowhere.

    Parameters
    ----------
    wanted, known: codes, shape (combinations, columns), int64; the known ones distinct, none negative.

    Returns
    -------
    Positions in ``known``, shape (wanted,), int64.
    """
    possible = (wanted >= 0).all(axis=1)
    both = np.concatenate([known, np.maximum(wanted, 0)])
    keys, first = numbered(both.T, len(both))
    place = np.full(len(first), -1, dtype=np.int64)
    place[keys[: len(known)]] = np.arange(len(known))
    found: IntArray = np.where(possible, place[keys[len(known) :]], -1)
    return found


def same_values(values: SensitiveCodes, published: SensitiveCodes) -> ValueCoverage:
    """Return what the values of a sensitive attribute of a release stand for: the same ones of the original.

    Parameters
    ----------
    values, published: of the original and of the release.
    """
    own, other = values.attribute.column, published.attribute.column
    code = {text: position for position, text in enumerate(own.present)}
    by_number = {}
    if own.numbers is not None:
        by_number = {number: position for position, number in enumerate(own.numbers[: len(own.present)])}
    found = []
    for position, text in enumerate(other.texts):
        if position == other.missing:
            found.append(own.missing)
        elif text in code or other.numbers is None:
            found.append(code.get(text))
        else:
            found.append(by_number.get(other.numbers[position]))
    exists = np.array([each is not None for each in found], dtype=np.int64)
    nothing = np.full(len(found), np.nan)
    codes = np.array([each for each in found if each is not None], dtype=np.int64)
    return ValueCoverage(own, np.concatenate([[0], np.cumsum(exists)]), codes, nothing, nothing)


def codes_in_release(published: SensitiveCodes, own: SensitiveCodes) -> IntArray:
    """Return the code in a release of each sensitive value of the original, -1 for those that it has not.

    Returns
    -------
    Shape (values of the original,), int64.
    """
    same = same_values(published, own)
    codes = np.full(own.attribute.column.size, -1, dtype=np.int64)
    codes[np.flatnonzero(same.sizes)] = same.values
    return codes


def labels_in_release(known: Sequence[str | None], published: Sequence[str]) -> IntArray:
    """Return where each published text stands among those of a release, -1 for nowhere, int64."""
    place = {label: code for code, label in enumerate(known)}
    return np.array([place.get(label, -1) for label in published], dtype=np.int64)


def reconstructed(
    meanings: Sequence[ValueCoverage],
    original: tuple[CodeArray, IntArray],
    published: tuple[CodeArray, IntArray],
) -> Links:
    """Return one way in which the original can have become the release, as many records as possible linked.

    A record can be linked to one whose values all stand for its own. Where recoding is full-domain this is
    the only way; else it is one of several, a maximum flow.

    Parameters
    ----------
    meanings: of the compared columns, sensitive ones among them.
    original, published: codes of the distinct combinations in these columns, shape (combinations, columns),
        and their records.
    """
    (codes, records), (texts, released) = original, published
    left, right = [], []
    for block, pairs in CoveringJoin(meanings, texts.astype(np.int64)).blocks(codes.astype(np.int64)):
        left.append(block[pairs.original])
        right.append(pairs.published)
    sources, targets = np.concatenate(left), np.concatenate(right)
    lone = np.bincount(sources, minlength=len(records)) <= 1
    if lone.all() and np.array_equal(count(targets, records[sources], len(released)), released):
        return links_of_pairs(sources, targets, records[sources])
    return _flow(sources, targets, records, released)


def _flow(sources: IntArray, targets: IntArray, records: IntArray, released: IntArray) -> Links:
    """Return the links that a maximum flow from the original to the released records goes along."""
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
