"""A hierarchy drawn as text for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonymizer.hierarchy.outline import outline
from anonymizer.model.table import Column, Hierarchy, ValueType

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree as Drawing

NO_COLUMN = Column("", ValueType.TEXT, (), np.zeros(0, np.int64), None, None)
"""What a hierarchy that lists its values is built for when it is looked at without data."""


def draw(hierarchy: Hierarchy, most: int) -> Drawing:
    """Return the tree for a rich console.

    Parameters
    ----------
    hierarchy: what to draw.
    most: children drawn under a node, at least 1; the others are counted.
    """
    from rich.tree import Tree as Drawing  # noqa: PLC0415 - only what draws needs it

    top = outline(hierarchy, most)
    drawing = Drawing(_drawn_label(top.label))
    waiting = [(top, drawing)]
    while waiting:
        node, place = waiting.pop()
        waiting.extend((child, place.add(_drawn_label(child.label))) for child in node.children)
    return drawing


def _drawn_label(label: str) -> Text:
    from rich.text import Text  # noqa: PLC0415 - only what draws needs it

    return Text(label, no_wrap=True, overflow="ellipsis")
