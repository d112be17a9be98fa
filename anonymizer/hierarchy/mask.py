"""Values with more characters masked at each level, as for postal codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.source import HierarchySource, OptionalSettings, Tree, tree_of_rows
from anonymizer.model.labels import MASKED, Form
from anonymizer.model.table import Column
from anonymizer.plugins import BoundedInt, each_follows

MOST_LEVELS = 64
"""Maximum number of levels without explicit ``steps``."""


class Side(StrEnum):
    """The end of a value at which masking starts."""

    RIGHT = "right"
    LEFT = "left"


class MaskSettings(OptionalSettings):
    """The end from which characters are masked, and how many at each level."""

    side: Side = Field(default=Side.RIGHT, alias="from", description="The end at which masking starts.")
    steps: Annotated[
        tuple[BoundedInt, ...] | None,
        Field(
            min_length=1,
            description="Characters masked at levels 1, 2, ..., ascending; default one more at each level. A "
            "last level * follows unless the steps mask everything.",
        ),
        each_follows(
            lambda before, after: after > before,
            "{after} after {before}; accepted: ascending numbers of characters from 1",
            start=0,
        ),
    ] = None


class MaskSource(HierarchySource[MaskSettings]):
    """Level i replaces i more characters by ``*``; shorter values are padded with ``*`` at the masked end.

    Padding makes all values of a level equally long, so the length of a masked value is not published.
    """

    name: ClassVar[str] = "mask"
    Settings = MaskSettings
    rule_built = True
    content = "texts with * for each hidden character"

    @classmethod
    def forms(cls, settings: Mapping[str, Any], kind: str | None, level: int | None) -> tuple[Form, ...]:  # noqa: ARG003 - all have one
        """Return that of texts masked from one end."""
        return (MASKED[settings["from"]],)

    def __init__(self, settings: MaskSettings, length: int | None = None) -> None:
        """Pad to ``length``; None is the length of the longest value of each column."""
        super().__init__(settings)
        self._length = length

    @property
    def masks_right(self) -> bool:
        return self.settings.side is Side.RIGHT

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return the length to which values are padded; it also decides the number of levels."""
        return {"length": self._longest(column)}

    def as_for(self, column: Column, before: Mapping[str, Any]) -> MaskSource:
        """Return a source that pads to the same length.

        Raises
        ------
        HierarchyError: a value is longer.
        """
        length = int(before.get("length", 0))
        if self._longest(column) > length:
            [longest, *_] = sorted(column.present, key=len, reverse=True)
            raise HierarchyError(
                f"column '{column.name}': '{longest}' is longer than the {length} characters that "
                f"{self.describe()} was built for; shorten it, or remove the record"
            )
        return MaskSource(self.settings, length)

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels that mask at most the characters masked in every text."""
        lengths = {len(text) for text in texts}
        form = MASKED[self.settings.side]
        masked = min((len(text) - len(form.shown(text)) for text in texts), default=0)
        if not texts or (len(lengths) > 1 and masked):
            return frozenset() if texts else None
        steps = self.settings.steps or range(1, masked + 1)
        # Values of level 0 differ in length, or have nothing masked.
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
        HierarchyError: the longest value would give more than 64 levels.
        """
        length = self._longest(column)
        steps = self.settings.steps or range(1, max(length, 1))
        kept = [step for step in steps if step < length]
        if len(kept) >= MOST_LEVELS:
            raise HierarchyError(
                f"column '{column.name}': {self.describe()} would have {len(kept) + 1} levels, because the "
                f"longest value has {length} characters; give mask.steps, a list of fewer than {MOST_LEVELS} "
                "numbers such as [2, 4]"
            )
        form = MASKED[self.settings.side]
        levels = [[form.write(value, length, step) for value in column.present] for step in kept]
        return tree_of_rows([column.present, *levels])
