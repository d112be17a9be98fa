"""Attributes of a table with their hierarchies: each value of the data gets a leaf of the tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.errors import HierarchyError, plural
from anonymizer.hierarchy.graph import Node, Tree, compile_tree
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.arrays import CodeArray, freeze
from anonymizer.model.table import MISSING, Column, Hierarchy, QuasiIdentifier, SensitiveAttribute

NAMED = 5
"""Values that a message names before it counts the rest."""


class Unknown(StrEnum):
    """What to do with a value of the data that the hierarchy lacks."""

    ERROR = "error"
    TOP = "top"


@dataclass(frozen=True)
class Placement:
    """How the values of a column are placed.

    Attributes
    ----------
    folder: that relative paths start from.
    unknown: whether a value that the hierarchy lacks is an error or is placed directly under the root.
    missing_tokens: texts that were read as missing; a leaf of that label takes the missing value.
    remedy: for the message about values that the hierarchy lacks; None is to add them.
    """

    folder: Path
    unknown: Unknown = Unknown.ERROR
    missing_tokens: tuple[str, ...] = ("",)
    remedy: str | None = None


@dataclass(frozen=True)
class LevelRange:
    """The generalization levels that a search may use, both included; None is the level of the root."""

    minimum: int = 0
    maximum: int | None = None


def build_quasi_identifier(
    column: Column,
    source: HierarchySource[Any],
    placement: Placement,
    weight: float = 1.0,
    levels: LevelRange = LevelRange(),
) -> QuasiIdentifier:
    """Return a quasi-identifier with its compiled hierarchy.

    Raises
    ------
    HierarchyError: the hierarchy is not one tree over the column, or has no such levels.
    """
    hierarchy, leaf = place(column, source, placement)
    highest = hierarchy.height if levels.maximum is None else levels.maximum
    where = f"attributes.{column.name}.levels"
    if not 0 <= highest <= hierarchy.height:
        raise HierarchyError(
            f"{where}.max: {highest}; accepted: 0 to {hierarchy.height}, the level of the root"
        )
    if not 0 <= levels.minimum <= highest:
        raise HierarchyError(
            f"{where}.min: {levels.minimum}; accepted: 0 to {highest}, the highest level in use"
        )
    return QuasiIdentifier(column, hierarchy, leaf, weight, levels.minimum, highest)


def build_sensitive_attribute(
    column: Column, source: HierarchySource[Any], placement: Placement, distance: str | None = None
) -> SensitiveAttribute:
    """Return a sensitive attribute with its compiled hierarchy.

    Raises
    ------
    HierarchyError: the hierarchy is not one tree over the column.
    """
    hierarchy, leaf = place(column, source, placement)
    return SensitiveAttribute(column, hierarchy, leaf, distance)


def place(column: Column, source: HierarchySource[Any], placement: Placement) -> tuple[Hierarchy, CodeArray]:
    """Build a column's hierarchy and find the leaf of each of its values.

    A missing value takes the leaf ``<missing>``, otherwise the leaf of the first of ``missing_tokens`` in the
    tree, which is then published as ``<missing>``, otherwise a new leaf directly under the root.

    Returns
    -------
    The hierarchy, and the leaf position of each of the column's codes, shape (values,), int32.

    Raises
    ------
    HierarchyError: the hierarchy is not one tree or, with ``Unknown.ERROR``, lacks values.
    """
    name = f"column '{column.name}': {source.describe()}"
    tree = source.build(column, placement.folder)
    root = max(tree)
    lacking = unplaced(column, tree)
    if lacking and placement.unknown == Unknown.ERROR:
        remedy = f"add {'it' if len(lacking) == 1 else 'them'}, or set unknown: top"
        raise HierarchyError(f"{name} lacks {_list(column, lacking)}; {placement.remedy or remedy}")
    _hang(tree, root, (column.texts[code] for code in lacking), name)
    token = _missing_leaf(tree, placement.missing_tokens, name) if column.missing is not None else None
    if token is None and (column.missing is not None or not column.size):
        _hang(tree, root, [MISSING], name)
    hierarchy = compile_tree(tree, name)
    labels = [hierarchy.labels[node] for node in hierarchy.ancestors[0]]
    position = {label: leaf for leaf, label in enumerate(labels)}
    texts = list(column.texts)
    if token is not None and column.missing is not None:
        texts[column.missing] = token
        hierarchy = _published_as_missing(hierarchy, position[token], name)
    leaf = np.fromiter((position[text] for text in texts), np.int32, len(texts))
    freeze(leaf)
    return hierarchy, leaf


def unplaced(column: Column, tree: Tree) -> list[int]:
    """Return the codes of the values, without missing ones, that a tree lacks."""
    return [code for code, text in enumerate(column.present) if (0, text) not in tree]


def _list(column: Column, codes: list[int]) -> str:
    named = ", ".join(f"'{column.texts[code]}'" for code in codes[:NAMED])
    more = f" and {len(codes) - NAMED} more" if len(codes) > NAMED else ""
    rows = int(column.counts[codes].sum())
    return f"{plural(len(codes), 'value')} ({plural(rows, 'row')}): {named}{more}"


def _hang(tree: Tree, root: Node, values: Iterable[str], name: str) -> None:
    """Place values directly under the root, padded to level 0."""
    for value in values:
        if root[0] == 0:
            raise HierarchyError(f"{name} has a single node, under which no value has a place; add levels")
        chain = [root, *((level, value) for level in range(root[0] - 1, -1, -1))]
        taken = [node for node in chain[1:] if node in tree]
        if taken:
            raise HierarchyError(
                f"{name}: '{value}' cannot be placed under the root, because level {taken[0][0]} has another "
                "node of that label; add it to the hierarchy"
            )
        tree.add_edges_from(pairwise(chain))


def _missing_leaf(tree: Tree, tokens: tuple[str, ...], name: str) -> str | None:
    found = [token for token in dict.fromkeys((MISSING, *tokens)) if (0, token) in tree]
    if len({next(iter(tree.predecessors((0, token)))) for token in found}) > 1:
        raise HierarchyError(
            f"{name} places missing values twice, as '{found[0]}' and as '{found[1]}'; keep one of them"
        )
    return found[0] if found else None


def _published_as_missing(hierarchy: Hierarchy, leaf: int, name: str) -> Hierarchy:
    """Return a hierarchy in which a leaf, and the nodes that only pad it, are published as ``<missing>``."""
    labels = list(hierarchy.labels)
    token = labels[hierarchy.ancestors[0, leaf]]
    for level in range(hierarchy.height):
        node = int(hierarchy.ancestors[level, leaf])
        if labels[node] != token or hierarchy.last_leaf[node] - hierarchy.first_leaf[node] != 1:
            break
        peers = (labels[peer] for peer in np.flatnonzero(hierarchy.level == level) if peer != node)
        if MISSING in peers:
            raise HierarchyError(f"{name}: level {level} has another node '{MISSING}'; rename it")
        labels[node] = MISSING
    return replace(hierarchy, labels=tuple(labels))
