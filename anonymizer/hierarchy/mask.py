"""Characters masked one after the other, as for postal codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.hierarchy.source import HierarchySource, OptionalSettings
from anonymizer.model.table import Column

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

    def __init__(self, settings: MaskSettings, length: int | None = None) -> None:
        """Take the length of the longest value from each column, or as given."""
        super().__init__(settings)
        self._length = length

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return the length to which shorter values are padded, and by which levels are counted."""
        return {"length": self._longest(column)}

    def as_for(self, column: Column, before: Mapping[str, Any]) -> MaskSource:
        """Return the source that pads to the same length.

        Raises
        ------
        HierarchyError: a value is longer.
        """
        length = int(before.get("length", 0))
        if self._longest(column) > length:
            [longest, *_] = sorted(column.present, key=len, reverse=True)
            raise HierarchyError(
                f"column '{column.name}': '{longest}' has more than the {length} characters of the longest "
                f"value that {self.describe()} was built for, so it cannot be masked alike; shorten it, or "
                "leave the record out"
            )
        return MaskSource(self.settings, length)

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels that mask no more than every text shows masked; shorter values show more."""
        lengths = {len(text) for text in texts}
        right = self.settings.side is Side.RIGHT
        masked = min(
            (len(text) - len(text.rstrip(MASK) if right else text.lstrip(MASK)) for text in texts), default=0
        )
        if not texts or (len(lengths) > 1 and masked):
            return frozenset() if texts else None
        steps = self.settings.steps or range(1, masked + 1)
        # Values as they are have several lengths, or nothing masked.
        own = {0} if not masked else set()
        return frozenset(
            own | {level for level, step in enumerate(steps, start=1) if step <= masked and len(lengths) == 1}
        )

    def _longest(self, column: Column) -> int:
        return self._length or max(map(len, column.present), default=1)

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the masked forms of the column's values.

        Raises
        ------
        HierarchyError: values so long that they would make more than 64 levels.
        """
        length = self._longest(column)
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
