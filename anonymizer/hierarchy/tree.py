"""A tree in the config."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict, Field, RootModel, model_validator

from anonymizer.hierarchy.source import DiGraph, HierarchySource, Tree, UserTree, pad
from anonymizer.model.table import Column
from anonymizer.plugins import label_text


class TreeSettings(RootModel[dict[Any, Any]]):
    """The tree: one key, the root, with the nodes under it."""

    model_config = ConfigDict(frozen=True)

    root: dict[Any, Any] = Field(
        description="One key, the root, usually '*'. Each node has a mapping of nodes, a list of values, "
        "one value, or nothing, which makes the node a value itself."
    )

    @model_validator(mode="after")
    def _one_root(self) -> TreeSettings:
        if len(self.root) != 1:
            names = ", ".join(f"'{key}'" for key in self.root) or "none"
            raise ValueError(f"{len(self.root)} roots: {names}; accepted: one, such as '*', over all others")
        for _ in _nodes(self.root):
            pass
        return self


class TreeSource(HierarchySource[TreeSettings]):
    """The nested mapping of the config; leaves are list items, single values and keys without a value."""

    name: ClassVar[str] = "tree"
    Settings = TreeSettings
    rule_built = False

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the tree, padded to one depth.

        Raises
        ------
        HierarchyError: two nodes of one level have the same label.
        """
        graph: UserTree = DiGraph()
        for node, parent, label in _nodes(self.settings.root):
            graph.add_node(node, label=label)
            if parent is not None:
                graph.add_edge(parent, node)
        return pad(graph, f"column '{column.name}': {self.describe()}")


def _nodes(top: dict[Any, Any]) -> Iterator[tuple[int, int | None, str]]:
    """Yield number, parent's number and label of every node, parents first, in the order of the text."""
    numbers = count()
    waiting: list[tuple[int | None, Any, Any]] = [(None, key, below) for key, below in reversed(top.items())]
    while waiting:
        parent, key, below = waiting.pop()
        node, label = next(numbers), _text(key)
        yield node, parent, label
        waiting.extend((node, child, under) for child, under in reversed(_children(label, below)))


def _children(label: str, below: Any) -> list[tuple[Any, Any]]:
    if below is None:
        return []
    if not isinstance(below, (dict, list)):
        return [(below, None)]
    if not below:
        raise ValueError(f"'{label}' has an empty list; remove the list to make '{label}' a value")
    if isinstance(below, dict):
        return list(below.items())
    pairs: list[tuple[Any, Any]] = []
    for item in below:
        pairs.extend(item.items() if isinstance(item, dict) else [(item, None)])
    return pairs


def _text(value: Any) -> str:
    """Return a label, without blanks at its ends."""
    text: str = label_text(value).strip()
    if "\0" in text:
        shown = text.replace("\0", "\\0")
        raise ValueError(f"'{shown}' contains a NUL byte; remove it, CSV cannot contain one")
    return text
