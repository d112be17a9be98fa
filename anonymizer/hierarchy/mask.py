"""Characters masked one after the other, as for postal codes."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from pydantic import Field, field_validator

from anonymizer.core.table import Column
from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.base import HierarchySource, OptionalSettings
from anonymizer.hierarchy.graph import Tree, tree_of_rows

MASK = "*"
"""What stands for a masked character."""

MOST_LEVELS = 64
"""Levels that are masked one by one before ``steps`` have to be given."""


class Side(StrEnum):
    """The end of a value at which masking starts."""

    RIGHT = "right"
    LEFT = "left"

    def masked(self, value: str, length: int, characters: int) -> str:
        """Return a value padded to ``length`` with that many characters masked from this end."""
        if self is Side.RIGHT:
            return value[: length - characters].ljust(length, MASK)
        return value[max(len(value) - length + characters, 0) :].rjust(length, MASK)


class MaskSettings(OptionalSettings):
    """From which end characters are masked, and how many at each level."""

    side: Side = Field(default=Side.RIGHT, alias="from", description="The end at which masking starts.")
    steps: tuple[int, ...] | None = Field(
        default=None,
        min_length=1,
        description="Characters masked at levels 1, 2, ..., ascending; default one more at each level. A "
        "last level * follows unless the steps mask everything.",
    )

    @field_validator("steps")
    @classmethod
    def _ascend(cls, steps: tuple[int, ...] | None) -> tuple[int, ...] | None:
        for before, after in pairwise((0, *(steps or ()))):
            if after <= before:
                raise ValueError(f"{after} after {before}; accepted: ascending numbers of characters from 1")
        return steps


class MaskSource(HierarchySource[MaskSettings]):
    """Level i replaces i more characters by ``*``; shorter values are padded with ``*`` at the masked end.

    Padding makes all values of a level equally long, so the length of a masked value is not published.
    """

    name: ClassVar[str] = "mask"
    Settings = MaskSettings
    rule_built = True

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the masked forms of the column's values.

        Raises
        ------
        HierarchyError: values so long that they would make more than 64 levels.
        """
        length = max(map(len, column.present), default=1)
        steps = self.settings.steps or range(1, max(length, 1))
        kept = [step for step in steps if step < length]
        if len(kept) >= MOST_LEVELS:
            raise HierarchyError(
                f"column '{column.name}': {self.describe()} would have {len(kept) + 1} levels, the longest "
                f"value having {length} characters; give steps: [...] with fewer than {MOST_LEVELS} numbers"
            )
        side = self.settings.side
        levels = [[side.masked(value, length, step) for value in column.present] for step in kept]
        return tree_of_rows([column.present, *levels])
