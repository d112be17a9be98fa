"""Rows of a table that become one where they are published alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anonymizer.core.arrays import CodeArray, IntArray, freeze
from anonymizer.core.grouping import add_up
from anonymizer.core.packing import Packing
from anonymizer.core.table import Table

FATES = 3
"""Published, suppressed but there, removed."""


def merged_rows(
    table: Table, nodes: Sequence[CodeArray], fate: NDArray[np.int8]
) -> tuple[Table, NDArray[np.int8]]:
    """Make rows one that are published at the same nodes, with equal sensitive values and the same fate.

    Parameters
    ----------
    nodes: for each quasi-identifier the node that each of its codes is published at, shape (values,), int32.
    fate: of each row, less than ``FATES``, shape (rows,).

    Returns
    -------
    The table, in which the first code with a node stands for all of them; and the fate of each of its rows.
    """
    packing = Packing(table.combinations)
    firsts: list[CodeArray] = []
    for position, own in enumerate(nodes):
        _, first, ranks = np.unique(own, return_index=True, return_inverse=True)
        firsts.append(first.astype(np.int32))
        packing.add(ranks.astype(np.int32)[table.quasi_identifier_codes(position)], len(first))
    for attribute in table.sensitive:
        packing.add(table.sensitive_codes(attribute.name), attribute.column.size)
    packing.add(fate, FATES)
    space = packing.space
    distinct, counts = add_up(packing.take_keys(), table.counts, space)
    codes: CodeArray = packing.unpack(distinct)
    fates = codes[:, -1].astype(np.int8)
    columns = [codes[:, position] for position in range(codes.shape[1] - 1)]
    columns[: len(firsts)] = [first[own] for first, own in zip(firsts, columns, strict=False)]
    merged = _stacked(columns, len(distinct))
    for array in (merged, counts):
        freeze(array)
    return replace(table, codes=merged, counts=counts), fates


def merged_regions(
    table: Table, region_of: IntArray, fate: NDArray[np.int8]
) -> tuple[Table, IntArray, NDArray[np.int8]]:
    """Make rows one that lie in the same region, with equal sensitive values and the same fate.

    Parameters
    ----------
    region_of: of each row, shape (rows,); every row of a region is published alike.
    fate: of each row, less than ``FATES``, shape (rows,).

    Returns
    -------
    The table, in which the codes of a region's first row stand for all of them; and the region and the fate
    of each of its rows.
    """
    regions = int(region_of.max(initial=-1)) + 1
    packing = Packing(table.combinations)
    packing.add(region_of, regions)
    for attribute in table.sensitive:
        packing.add(table.sensitive_codes(attribute.name), attribute.column.size)
    packing.add(fate, FATES)
    space = packing.space
    distinct, counts = add_up(packing.take_keys(), table.counts, space)
    own = packing.unpack(distinct)
    first = np.zeros(regions, dtype=np.int32)
    first[region_of[::-1]] = np.arange(table.combinations - 1, -1, -1, dtype=np.int32)
    rows = first[own[:, 0]]
    columns = [each[rows] for each in table.codes.T[: len(table.quasi_identifiers)]]
    merged = _stacked([*columns, *own.T[1:-1]], len(distinct))
    for array in (merged, counts):
        freeze(array)
    return replace(table, codes=merged, counts=counts), own[:, 0].astype(np.int64), own[:, -1].astype(np.int8)


def _stacked(columns: Sequence[CodeArray], rows: int) -> CodeArray:
    codes = np.empty((len(columns), rows), dtype=np.int32)
    for place, column in enumerate(columns):
        codes[place] = column
    return codes.T
