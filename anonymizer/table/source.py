"""Tables counted by the engine that keeps the combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anonymizer.engines.combinations import DistinctRows
from anonymizer.model.arrays import CodeArray, freeze
from anonymizer.model.out_of_core import CodedRows, FirstRegions, RegionStore, TableSource
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute, Table
from anonymizer.table.load import Encoded

KEPT = 2
"""Rolled-up combinations that the engine keeps: where a search looks just now, and what it asked last."""


class EngineTables(TableSource):
    """Tables of the combinations of an engine.

    Parameters
    ----------
    combinations: of the codes of the quasi-identifiers and then the sensitive attributes; stays the caller's.
    """

    def __init__(
        self,
        quasi_identifiers: Sequence[QuasiIdentifier],
        sensitive: Sequence[SensitiveAttribute],
        combinations: DistinctRows,
    ) -> None:
        self._quasi_identifiers = tuple(quasi_identifiers)
        self._sensitive = tuple(sensitive)
        self._combinations = combinations
        self._held: dict[tuple[int, ...], DistinctRows] = {}

    def at(self, levels: Sequence[int], most: int) -> Table | None:
        """Return the table of records told apart by their nodes at generalization levels."""
        combinations = self._rolled_up(levels)
        if combinations.number > most:
            return None
        codes, counts = combinations.fetch()
        for array in (codes, counts):
            freeze(array)
        attributes = tuple(
            replace(attribute, minimum=level)
            for attribute, level in zip(self._quasi_identifiers, levels, strict=True)
        )
        return Table(attributes, self._sensitive, codes, counts, coarse=True)

    def records_in_small_classes(self, levels: Sequence[int], least: int) -> int:
        """Count the records in equivalence classes of fewer than some number of records."""
        return self._rolled_up(levels).records_in_small_groups(len(self._quasi_identifiers), least)

    def in_regions(
        self, levels: Sequence[int], codes: CodeArray, coded: CodedRows, *, every: bool
    ) -> RegionStore:
        """Return all combinations in the regions that a search begins to cut."""
        of_code = tuple(map(lowest_of_node, self._quasi_identifiers, levels))
        own = np.stack([new[codes[:, place]] for place, new in enumerate(of_code)], axis=1)
        return self._combinations.in_regions(FirstRegions(of_code, own, every), coded)

    def _rolled_up(self, levels: Sequence[int]) -> DistinctRows:
        """Return the combinations at levels, from the coarsest that the engine still has.

        It keeps those used last: the next question is often about the same levels, or those above them.
        """
        asked = tuple(levels)
        finer = [held for held in self._held if all(low <= own for low, own in zip(held, asked, strict=True))]
        nearest = max(finer, key=sum, default=None)
        base = self._combinations if nearest is None else self._held.pop(nearest)
        if nearest is not None:
            self._held[nearest] = base
        if nearest == asked:
            return base
        coarser: list[CodeArray | None] = [
            lowest_of_node(attribute, level)
            for attribute, level in zip(self._quasi_identifiers, levels, strict=True)
        ]
        rolled = base.rolled_up([*coarser, *(None for _ in self._sensitive)])
        self._held[asked] = rolled
        if len(self._held) > KEPT:
            self._held.pop(next(iter(self._held))).close()
        return rolled


def lowest_of_node(attribute: QuasiIdentifier, level: int) -> CodeArray:
    """Return for each code the lowest one of the same node at a level, shape (values,), int32."""
    _, first, node = np.unique(attribute.nodes(level), return_index=True, return_inverse=True)
    lowest: CodeArray = first.astype(np.int32)[node]
    return lowest


def recoded_as(encoded: Encoded, table: Table) -> Encoded:
    """Return records as combinations of the codes that stand for their nodes in a coarser table of them.

    Parameters
    ----------
    encoded: by the quasi-identifiers and the sensitive attributes of the table.
    table: of the same records, at the lowest levels of its quasi-identifiers.
    """
    coarser = tuple(
        replace(read, codes=lowest_of_node(attribute, attribute.minimum)[read.codes])
        for attribute, read in zip(table.quasi_identifiers, encoded.columns, strict=False)
    )
    columns = (*coarser, *encoded.columns[len(coarser) :])
    return Encoded(table.codes, table.counts, encoded.relation, columns)
