"""Hierarchies drawn as text for the terminal or as an SVG picture.

A drawing shows nodes without padding, and the first of many children.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.model.table import Column, Hierarchy, ValueType

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree as Drawing


def draw(hierarchy: Hierarchy, most: int) -> Drawing:
    """Return the tree for a rich console, with unprintable characters in labels escaped.

    Nodes that only repeat the label of their one child are drawn once.

    Parameters
    ----------
    hierarchy: what to draw.
    most: children drawn under a node, at least 1; the others are counted.
    """
    from rich import text, tree  # noqa: PLC0415 - only what draws needs it

    def shown(label: str) -> Text:
        return text.Text(_printable(label), no_wrap=True, overflow="ellipsis")

    below = np.split(*_children(hierarchy))
    root = tree.Tree(shown(hierarchy.labels[0]))
    waiting = [(0, root)]
    while waiting:
        node, drawn = waiting.pop()
        children = below[node]
        for child in children[:most]:
            place = drawn.add(shown(hierarchy.labels[child]))
            waiting.append((_end_of_padding(hierarchy, int(child), below), place))
        if len(children) > most:
            drawn.add(shown(f"... {len(children) - most:,} more"))
    return root


def _children(hierarchy: Hierarchy) -> tuple[np.ndarray, np.ndarray]:
    """Return all nodes but the root, grouped by their parent, and the start of each further group."""
    nodes = np.argsort(hierarchy.parent, kind="stable")[1:]
    starts = np.searchsorted(hierarchy.parent[nodes], np.arange(1, len(hierarchy.parent)))
    return nodes, starts


def _end_of_padding(hierarchy: Hierarchy, node: int, below: list[np.ndarray]) -> int:
    while len(below[node]) == 1 and hierarchy.labels[below[node][0]] == hierarchy.labels[node]:
        node = int(below[node][0])
    return node


def _printable(label: str) -> str:
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in label)


NO_COLUMN = Column("", ValueType.TEXT, (), np.zeros(0, np.int64), None, None)
"""The column of a hierarchy that lists its values, without data."""


ROW = 0.28
"""Distance between values, in inches."""

CHARACTER = 0.085
"""Approximate width of a character, in inches."""

WIDEST = 40
"""Maximum number of characters of a label."""


def svg(hierarchy: Hierarchy, most: int) -> str:
    """Return an SVG picture of a hierarchy: the root at the left, values at the right; text stays text.

    Parameters
    ----------
    most: children drawn under a node, at least 1; the others are counted.
    """
    # Half a second that only pictures need; the figure needs no display.
    from matplotlib import collections, figure, rc_context  # noqa: PLC0415

    nodes, parents = _in_preorder(draw(hierarchy, most))
    place = _layout(parents)
    texts = [_cut(str(node.label)) for node in nodes]
    column = max(map(len, texts)) * CHARACTER + 0.5
    depth = max(x for x, _ in place)
    lines = max(y for _, y in place) + 1
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "hierarchy"}):
        drawn = figure.Figure(figsize=((depth + 1) * column, lines * ROW + 0.3))
        axes = drawn.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-0.05, depth + 1)
        axes.set_ylim(lines, -1)
        below_root = sorted(range(1, len(nodes)), key=parents.__getitem__)
        edges = [[place[parents[child]], place[child]] for child in below_root]
        axes.add_collection(collections.LineCollection(edges, colors="#999999", linewidths=0.8, zorder=0))
        for text, (x, y) in zip(texts, place, strict=True):
            box = {
                "boxstyle": "round,pad=0.2",
                "facecolor": "white",
                "edgecolor": "#666666",
                "linewidth": 0.6,
            }
            axes.text(x, y, text, va="center", fontsize=9, bbox=box, parse_math=False)
        stream = io.StringIO()
        drawn.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _in_preorder(top: Drawing) -> tuple[list[Drawing], list[int]]:
    """Return the nodes, and the position of the parent of each, -1 for the root."""
    nodes: list[Drawing] = []
    parents: list[int] = []
    waiting = [(top, -1)]
    while waiting:
        node, parent = waiting.pop()
        waiting.extend((child, len(nodes)) for child in reversed(node.children))
        nodes.append(node)
        parents.append(parent)
    return nodes, parents


def _layout(parents: Sequence[int]) -> list[tuple[float, float]]:
    """Return (depth, row) of each node: a row for each leaf; other nodes are centred on their children."""
    depths = [0.0]
    below: list[list[int]] = [[] for _ in parents]
    for child, parent in enumerate(parents[1:], start=1):
        depths.append(depths[parent] + 1)
        below[parent].append(child)
    rows = np.cumsum([not children for children in below]) - 1.0
    for node in reversed(range(len(parents))):
        if below[node]:
            rows[node] = (rows[below[node][0]] + rows[below[node][-1]]) / 2
    return list(zip(depths, rows.tolist(), strict=True))


def _cut(label: str) -> str:
    return label if len(label) <= WIDEST else label[: WIDEST - 1] + "…"
