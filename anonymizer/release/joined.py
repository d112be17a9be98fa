"""A release for which the engine joins its records to what the search says of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.data.relation import ByCodes, ByRegion, Coding, RecodedRows
from anonymizer.model.arrays import CodeArray, IntArray, ranks_of
from anonymizer.model.counting import count
from anonymizer.model.out_of_core import RegionStore
from anonymizer.model.recoding import Recoding, SharedRecoding


def recoded_rows(recoding: Recoding, codings: Sequence[Coding], columns: Sequence[str]) -> RecodedRows:
    """Return what becomes of each row of a recoding's table.

    Parameters
    ----------
    codings: how records become rows of that table, a column of which each is.
    columns: released ones, in the order of the input.
    """
    table = recoding.table
    found = ByCodes(tuple(codings), table.codes)
    return _rows(recoding, found, columns, np.arange(len(table.counts)), table.counts)


def regions_rows(
    recoding: Recoding, codings: Sequence[Coding], columns: Sequence[str], regions: RegionStore | None
) -> RecodedRows:
    """Return what becomes of each region of a recoding.

    Parameters
    ----------
    codings: how records become combinations that the engine keeps in regions.
    columns: released ones, in the order of the input.
    regions: numbered as those of the recoding, which may have one more of suppressed records.
    """
    assert isinstance(recoding, SharedRecoding), "what was cut are regions"
    region_of = recoding.region_of
    assert region_of is not None, "what was cut are regions"
    kept_suppressed = np.flatnonzero(recoding.suppressed & ~recoding.removed)
    rest = int(region_of[kept_suppressed[0]]) if len(kept_suppressed) else None
    _, first = np.unique(region_of, return_index=True)
    counts = count(region_of, recoding.table.counts, len(first))
    return _rows(recoding, ByRegion(tuple(codings), regions, rest), columns, first, counts)


def _rows(
    recoding: Recoding, found: ByCodes | ByRegion, columns: Sequence[str], rows: IntArray, counts: IntArray
) -> RecodedRows:
    """Return what becomes of some rows of a recoding's table."""
    labels: dict[str, tuple[str, ...]] = {}
    places: dict[str, CodeArray] = {}
    for published in recoding.published():
        if published.name in columns:
            order = sorted(range(len(published.labels)), key=published.labels.__getitem__)
            labels[published.name] = tuple(published.labels[position] for position in order)
            places[published.name] = ranks_of(order)[published.codes[rows]]
    return RecodedRows(found, counts, ~recoding.removed[rows], tuple(columns), labels, places)
