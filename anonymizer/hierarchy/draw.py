"""A hierarchy drawn as text for the terminal."""

from __future__ import annotations

import numpy as np
from rich.text import Text
from rich.tree import Tree as Drawing

from anonymizer.core.hierarchy import Hierarchy
from anonymizer.core.table import Column, ValueType

NO_COLUMN = Column("", ValueType.TEXT, (), np.zeros(0, np.int64), None, None)
"""What a hierarchy that lists its values is built for when it is looked at without data."""


def draw(hierarchy: Hierarchy, most: int) -> Drawing:
    """Return the tree for a rich console.

    Nodes that only repeat the label of their one child are drawn once.

    Parameters
    ----------
    hierarchy: what to draw.
    most: children drawn under a node, at least 1; the others are counted.
    """
    below = np.split(*_children(hierarchy))
    root = Drawing(_line(hierarchy.labels[0]))
    waiting = [(0, root)]
    while waiting:
        node, drawing = waiting.pop()
        children = below[node]
        for child in children[:most]:
            place = drawing.add(_line(hierarchy.labels[child]))
            waiting.append((_end_of_padding(hierarchy, int(child), below), place))
        if len(children) > most:
            drawing.add(_line(f"... {len(children) - most:,} more"))
    return root


def _children(hierarchy: Hierarchy) -> tuple[np.ndarray, np.ndarray]:
    """Return all nodes but the root, grouped by their parent, and where each next parent's begin."""
    nodes = np.argsort(hierarchy.parent, kind="stable")[1:]
    starts = np.searchsorted(hierarchy.parent[nodes], np.arange(1, len(hierarchy.parent)))
    return nodes, starts


def _end_of_padding(hierarchy: Hierarchy, node: int, below: list[np.ndarray]) -> int:
    while len(below[node]) == 1 and hierarchy.labels[below[node][0]] == hierarchy.labels[node]:
        node = int(below[node][0])
    return node


def _line(label: str) -> Text:
    """Return a label on one line, what is not printable escaped."""
    safe = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in label)
    return Text(safe, no_wrap=True, overflow="ellipsis")
