"""A release for which the engine joins its records to what the frequency table says of them."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.core.arrays import CodeArray, ranks_of
from anonymizer.core.recoding import Recoding
from anonymizer.engines.coding import Coding
from anonymizer.engines.counted import RecodedRows


def recoded_rows(recoding: Recoding, codings: Sequence[Coding], columns: Sequence[str]) -> RecodedRows:
    """Return what becomes of each row of a recoding's table.

    Parameters
    ----------
    codings: how records become rows of that table, a column of which each is.
    columns: released ones, in the order of the input.
    """
    labels: dict[str, tuple[str, ...]] = {}
    places: dict[str, CodeArray] = {}
    for published in recoding.published():
        if published.name in columns:
            order = sorted(range(len(published.labels)), key=published.labels.__getitem__)
            labels[published.name] = tuple(published.labels[position] for position in order)
            places[published.name] = ranks_of(order)[published.codes]
    table = recoding.table
    return RecodedRows(
        tuple(codings), table.codes, table.counts, ~recoding.removed, tuple(columns), labels, places
    )
