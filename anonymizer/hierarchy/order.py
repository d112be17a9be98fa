"""Groups of consecutive values, larger at each level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator

from anonymizer.hierarchy.labels import NESTED, distinct, group_label, in_order
from anonymizer.hierarchy.leaves import identity_in
from anonymizer.hierarchy.source import HierarchySource, Tree, digest, tree_of_rows
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import CLOSED, DATES, SET, SIGNED, SPAN, WHOLE, Form
from anonymizer.model.table import Column
from anonymizer.plugins import BoundedInt, Label, Settings, accepts


class OrderSettings(Settings):
    """Sizes of the groups, and the order of the values."""

    sizes: Annotated[
        tuple[BoundedInt, ...],
        Field(
            min_length=1,
            description="Consecutive values in a group at levels 1, 2, ...: at least 2, ascending, each a "
            "multiple of the one before. A last level * follows.",
        ),
        accepts(lambda sizes: sizes[0] >= 2, lambda sizes: f"{sizes[0]}; accepted: a whole number >= 2"),
        NESTED,
    ]
    values: tuple[Label, ...] | None = Field(
        default=None,
        min_length=1,
        description="All values in their order; default the distinct values of the column, by number, date, "
        "for text by the numbers in it.",
    )

    @field_validator("values")
    @classmethod
    def _differ(cls, values: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for value, times in Counter(map(text_identity, values or ())).items():
            if times > 1:
                raise ValueError(f"'{value}' is listed {times} times; accepted: every value once")
        return values if values is None else tuple(value.strip() for value in values)


_FORMS: Mapping[str | None, tuple[Form, ...]] = {
    "integer": (WHOLE, SIGNED),
    "number": (CLOSED,),
    "date": (DATES,),
    "text": (SPAN, SET),
    None: (WHOLE, SIGNED, CLOSED, SPAN, SET),
}
"""Forms of the labels by the declared type of a column."""


class OrderSource(HierarchySource[OrderSettings]):
    """Level i publishes the group of ``sizes[i]`` consecutive values, named by its ends.

    With ``values``, the groups do not depend on the data.
    """

    name: ClassVar[str] = "order"
    Settings = OrderSettings
    rule_built = True
    fixed_height = True
    content = "groups of consecutive values"
    by_level = "sizes"

    @classmethod
    def forms(cls, settings: Mapping[str, Any], kind: str | None, level: int | None) -> tuple[Form, ...]:  # noqa: ARG003 - of all levels
        """Return those of groups named by their ends."""
        return _FORMS.get(kind, ())

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return the values in order, if the settings do not list them."""
        if self.settings.values is not None:
            return {}
        return digest(in_order(column))

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the groups of the column's values; values missing in ``values`` get no place."""
        order = self.settings.values or in_order(column)
        identity = identity_in(column)
        present = {*map(identity, column.present)}
        kept = [place for place, value in enumerate(order) if identity(value) in present]
        levels = [[order[place] for place in kept]]
        for size in self.settings.sizes:
            names = self._names(order, size, column)
            levels.append([names[place // size] for place in kept])
        return tree_of_rows(levels)

    @staticmethod
    def _names(order: Sequence[str], size: int, column: Column) -> list[str]:
        groups = (order[start : start + size] for start in range(0, len(order), size))
        return distinct([group_label(group, column.type) for group in groups])
