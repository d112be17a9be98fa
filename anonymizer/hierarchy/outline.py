"""What is drawn of a hierarchy: its nodes without padding, and of many children the first ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymizer.model.table import Hierarchy


@dataclass
class Outline:
    """A node to be drawn.

    Attributes
    ----------
    label: on one line, what is not printable escaped.
    children: from top to bottom.
    """

    label: str
    children: list[Outline] = field(default_factory=list)

    def add(self, label: str) -> Outline:
        """Add a child, and return it."""
        self.children.append(Outline(label))
        return self.children[-1]


def outline(hierarchy: Hierarchy, most: int) -> Outline:
    """Return what is drawn of a hierarchy.

    Nodes that only repeat the label of their one child are drawn once.

    Parameters
    ----------
    most: children drawn under a node, at least 1; the others are counted.
    """
    below = np.split(*_children(hierarchy))
    root = Outline(_outlined_label(hierarchy.labels[0]))
    waiting = [(0, root)]
    while waiting:
        node, drawn = waiting.pop()
        children = below[node]
        for child in children[:most]:
            place = drawn.add(_outlined_label(hierarchy.labels[child]))
            waiting.append((_end_of_padding(hierarchy, int(child), below), place))
        if len(children) > most:
            drawn.add(f"... {len(children) - most:,} more")
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


def _outlined_label(label: str) -> str:
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in label)
