"""Hierarchies drawn as text for the terminal or as an SVG picture.

A drawing shows the nodes without padding, and of many children the first ones.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.model.table import Column, Hierarchy, ValueType

if TYPE_CHECKING:
    import networkx as nx
    from rich.text import Text
    from rich.tree import Tree as Drawing


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


ROW = 0.28
"""Inches from one value to the next."""

CHARACTER = 0.085
"""Inches that a character of a label takes, about."""

WIDEST = 40
"""Characters of a label that are shown; the others are cut."""


def svg(hierarchy: Hierarchy, most: int) -> str:
    """Return a picture of a hierarchy: the root at the left, values at the right; text stays text.

    Parameters
    ----------
    most: children drawn under a node, at least 1; the others are counted.
    """
    # Half a second that only pictures need; the figure needs no display.
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.collections import LineCollection  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    graph = _graph(outline(hierarchy, most))
    place = _layout(graph)
    texts = {node: _cut(str(label)) for node, label in graph.nodes(data="label")}
    column = max(map(len, texts.values())) * CHARACTER + 0.5
    depth = max(x for x, _ in place.values())
    lines = max(y for _, y in place.values()) + 1
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "hierarchy"}):
        figure = Figure(figsize=((depth + 1) * column, lines * ROW + 0.3))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-0.05, depth + 1)
        axes.set_ylim(lines, -1)
        edges = [[place[parent], place[child]] for parent, child in graph.edges]
        axes.add_collection(LineCollection(edges, colors="#999999", linewidths=0.8, zorder=0))
        for node, (x, y) in place.items():
            box = {
                "boxstyle": "round,pad=0.2",
                "facecolor": "white",
                "edgecolor": "#666666",
                "linewidth": 0.6,
            }
            axes.text(x, y, texts[node], va="center", fontsize=9, bbox=box, parse_math=False)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _graph(top: Outline) -> nx.DiGraph[int]:
    """Return the nodes numbered in preorder, each with its label."""
    import networkx as nx  # noqa: PLC0415 - what draws in the terminal does without it

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(0, label=top.label)
    waiting = [(0, child) for child in reversed(top.children)]
    while waiting:
        parent, node = waiting.pop()
        number = len(graph)
        graph.add_node(number, label=node.label)
        graph.add_edge(parent, number)
        waiting.extend((number, child) for child in reversed(node.children))
    return graph


def _layout(graph: nx.DiGraph[int]) -> dict[int, tuple[float, float]]:
    """Return where nodes stand: as far right as they are deep, a row for each leaf, others amid their own."""
    depth = {0: 0}
    rows: dict[int, float] = {}
    for number in graph:
        for child in graph.successors(number):
            depth[child] = depth[number] + 1
        if not graph.out_degree(number):
            rows[number] = float(len(rows))
    for number in reversed(list(graph)):
        below = [rows[child] for child in graph.successors(number)]
        if below:
            rows[number] = (below[0] + below[-1]) / 2
    return {number: (float(depth[number]), rows[number]) for number in graph}


def _cut(label: str) -> str:
    return label if len(label) <= WIDEST else label[: WIDEST - 1] + "…"
