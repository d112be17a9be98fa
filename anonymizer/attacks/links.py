"""Links from original to released records: of known pairs, and a largest set of possible ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anonymizer.attacks.joins import CoveringJoin
from anonymizer.model.adversary import (
    Links,
    ValueCoverage,
)
from anonymizer.model.arrays import CodeArray, IntArray, count, group_keys, numbered

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
    from scipy.sparse import csgraph, csr_matrix  # noqa: PLC0415  quick start-up

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
    return bool(
        csgraph.connected_components(graph, connection="strong", return_labels=False) == len(released)
    )


def _flow(sources: IntArray, targets: IntArray, records: IntArray, released: IntArray) -> Links:
    """Return the links of a maximum flow from the original to the released records."""
    from scipy.sparse import csgraph, csr_matrix  # noqa: PLC0415  quick start-up

    if not len(sources):
        return NOTHING
    left, right = len(records), len(released)
    source, sink = left + right, left + right + 1
    rows = np.concatenate([np.full(left, source), sources, left + np.arange(right)])
    columns = np.concatenate([np.arange(left), left + targets, np.full(right, sink)])
    room = np.concatenate([records, np.minimum(records[sources], released[targets]), released])
    graph = csr_matrix((room.astype(np.int32), (rows, columns)), shape=(sink + 1, sink + 1))
    flow = csgraph.maximum_flow(graph, source, sink).flow.tocoo()
    used = (flow.data > 0) & (flow.row < left) & (flow.col >= left) & (flow.col < source)
    return links_of_pairs(flow.row[used], flow.col[used] - left, flow.data[used].astype(np.int64))
