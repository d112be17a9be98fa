"""Frequent texts by themselves, and one label for all rarer ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from anonymizer.hierarchy.labels import distinct
from anonymizer.hierarchy.source import HierarchySource, OptionalSettings, Tree, tree_of_rows
from anonymizer.model.labels import OTHERS, Form
from anonymizer.model.table import Column
from anonymizer.plugins import BoundedInt

RARE = 10
"""Minimum number of records of a value that a level keeps by default."""

DOUBLED = 16
"""Maximum number of kept values up to which each level keeps half of those below, and a quarter beyond."""


class FrequencySettings(OptionalSettings):
    """The values that the finest level keeps."""

    rare: BoundedInt = Field(
        default=RARE,
        ge=1,
        description="Minimum number of records of a value that level 1 keeps. Each further level keeps half "
        "of the values, the most frequent ones; of more than 16, a quarter.",
    )


class FrequencySource(HierarchySource[FrequencySettings]):
    """Each level keeps the most frequent values and merges all others, as in ``all but the 8 most frequent``.

    For values without an order, such as places or jobs. The result depends on the distinct values and their
    counts alone.
    """

    name: ClassVar[str] = "frequency"
    Settings = FrequencySettings
    rule_built = True
    content = "frequent values, the others merged"

    @classmethod
    def forms(cls, settings: Mapping[str, Any], kind: str | None, level: int | None) -> tuple[Form, ...]:  # noqa: ARG003 - all have one
        """Return that of all values but the most frequent."""
        return (OTHERS,)

    def left_by(self, label: str) -> int | None:
        """Return how many values the label of the rarer ones leaves out; None for any other label.

        >>> source = FrequencySource(FrequencySettings())
        >>> source.left_by("all but the 1,200 most frequent"), source.left_by("all but the most frequent")
        (1200, 1)
        >>> source.left_by("Ulm") is None
        True
        """
        return OTHERS.read(label)

    def covers(self, label: str, text: str, column: Column) -> bool:  # noqa: ARG002 - any new value is rarer
        """Return whether the label is that of the rarer values."""
        return label not in column.present

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the tree of the column's values; equally frequent ones go by their order in the column."""
        values = column.present
        counts = column.counts[: len(values)]
        ranks = np.empty(len(values), dtype=np.int64)
        ranks[np.argsort(-counts, kind="stable")] = np.arange(len(values))
        # A merged value alone would be shown by the name of its group.
        kept = min(int(np.count_nonzero(counts >= self.settings.rare)), len(values) - 2)
        levels = [list(values)]
        while kept > 0:
            # The number of merged values would tell of suppressed records.
            *_, other = distinct([*values, OTHERS.write(kept)])
            levels.append([v if rank < kept else other for v, rank in zip(values, ranks, strict=True)])
            kept //= 2 if kept <= DOUBLED else 4
        return tree_of_rows(levels)
