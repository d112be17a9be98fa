"""Hierarchies whose leaves are the codes of an input that is read by its labels.

Files of SPSS and Stata hold codes, and people read their labels: the labels are the values of a column. A
list of codes, such as those of occupations, has codes as leaves. Which of both it has, its leaves say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.leaves import identity_in, padding
from anonymizer.hierarchy.source import DiGraph, HierarchySource, Node, Tree, leaves_of
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import exact
from anonymizer.model.table import Code, Column, ValueType


def tree_of(source: HierarchySource[Any], column: Column, folder: Path, name: str) -> Tree:
    """Build the tree of a column, with labels as leaves in place of codes.

    Parameters
    ----------
    folder: that relative paths of the source start from.
    name: of the hierarchy in messages.

    Raises
    ------
    HierarchyError: as for ``HierarchySource.build`` and ``labels_of_codes``, or two nodes of a level
        would have one label.
    """
    tree = source.build(column, folder)
    if source.rule_built or not column.codes:
        return tree
    return _in_labels(tree, labels_of_codes(tree, column, name), name)


def labels_of_codes(tree: Tree, column: Column, name: str) -> dict[str, str]:
    """Return the label of each leaf that is a code; nothing if the leaves are labels.

    Leaves are codes if some can only be codes. A leaf that is neither, such as a value that no record can
    have, stays as it is.

    Raises
    ------
    HierarchyError: some can only be codes and others only labels, or all can be both and mean other values.
    """
    if not column.codes:
        return {}
    by_code: dict[Hashable, str] = {}
    for label, code in column.codes.items():
        by_code.setdefault(_identity_of(code), label)
    identity = identity_in(column)
    known = set(map(identity, column.codes))
    leaves = leaves_of(tree)
    as_code = {leaf: by_code[key] for leaf in leaves for key in _identities(leaf) if key in by_code}
    as_label = {leaf for leaf in leaves if identity(leaf) in known}
    codes, labels = [each for each in as_code if each not in as_label], as_label - as_code.keys()
    if codes and labels:
        label = next(each for each in leaves if each in labels)
        raise HierarchyError(
            f"{name} has codes and labels of the input as values: '{codes[0]}' is the code of "
            f"'{as_code[codes[0]]}', and '{label}' is a label; write all values as labels, or all as codes"
        )
    twofold = [each for each in as_code if identity(each) != identity(as_code[each])]
    if twofold and not codes and not labels:
        first = twofold[0]
        raise HierarchyError(
            f"{name}: all its values can be codes or labels of the input, which are not the same: '{first}' "
            f"is the code of '{as_code[first]}', and the label of another code; "
            f"{_remedy(column, by_code, known, identity)}"
        )
    return as_code if codes else {}


def _remedy(
    column: Column,
    by_code: Mapping[Hashable, str],
    known: Collection[Hashable],
    identity: Callable[[str], Hashable],
) -> str:
    """Return how to tell codes from labels: by a value that is only one of both, if there is any."""
    label = next(
        (each for each in column.codes if not any(key in by_code for key in _identities(each))), None
    )
    code = next((each for each in column.codes.values() if identity(str(each)) not in known), None)
    ways = [
        *([] if label is None else [f"'{label}' if they are labels"]),
        *([] if code is None else [f"'{code}' if they are codes"]),
    ]
    return f"add the value {', or '.join(ways)}" if ways else "change the labels in the input"


def _identity_of(code: Code) -> Hashable:
    return text_identity(code) if isinstance(code, str) else exact(str(code))


def _identities(leaf: str) -> Iterable[Hashable]:
    """Yield what a leaf can be as a code: a text or a number."""
    yield text_identity(leaf)
    number = exact(leaf.strip())
    if number is not None:
        yield number


def _in_labels(tree: Tree, labels: Mapping[str, str], name: str) -> Tree:
    """Return a tree with other labels of leaves and of the nodes that only pad them.

    Raises
    ------
    HierarchyError: two nodes of a level would have one label.
    """
    if not labels:
        return tree
    renamed: dict[Node, Node] = {}
    for leaf, label in labels.items():
        for level, _ in [(0, leaf), *padding(tree, leaf, text_identity)]:
            renamed[level, leaf] = (level, label)
    first: dict[Node, Node] = {}
    for node in tree:
        level, label = renamed.get(node, node)
        other = first.setdefault((level, text_identity(label)), node)
        if other != node:
            raise HierarchyError(
                f"{name}: '{other[1]}' and '{node[1]}' of level {level} would both be '{label}', with the "
                "labels of the input for codes; rename the group, or keep one of two equal codes"
            )
    changed: Tree = DiGraph()
    changed.add_nodes_from(renamed.get(node, node) for node in tree)
    changed.add_edges_from(
        (renamed.get(parent, parent), renamed.get(child, child)) for parent, child in tree.edges()
    )
    return changed


_NO_VALUES = Column("of the release", ValueType.TEXT, (), np.zeros(0, dtype=np.int64), None, None)


class CodedSource(HierarchySource[Any]):
    """A hierarchy over codes, for readers who have a release and its report, but not the input.

    Parameters
    ----------
    source: with codes as leaves.
    labels: by code; empty if they are not known. A text that is no group is then the label of a value.
    """

    rule_built = False

    def __init__(self, source: HierarchySource[Any], labels: Mapping[str, str]) -> None:
        super().__init__(source.settings)
        self._source, self._labels = source, labels

    def build(self, column: Column, folder: Path) -> Tree:
        """Return the tree with labels as leaves.

        Raises
        ------
        HierarchyError: the labels are not known, or as for the source.
        """
        name = f"column '{column.name}': {self.describe()}"
        if not self._labels and column.codes:
            return self._source.build(column, folder)  # ``tree_of`` finds the labels
        if not self._labels:
            raise HierarchyError(f"{name} has codes of the input as values, whose labels only the input has")
        return _in_labels(self._source.build(column, folder), self._labels, name)

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:
        """Return the levels that can have all of some published texts."""
        if self._labels or not texts:
            return super().levels_of(texts, folder) if self._labels else self._source.levels_of(texts, folder)
        of_groups, of_values = self._levels(folder)
        found = [of_groups.get(text_identity(text), of_values) for text in texts]
        return frozenset.intersection(*found)

    def levels_by_text(self, texts: Sequence[str], folder: Path) -> Mapping[str, frozenset[int]] | None:
        """Return the levels that can have each of some published texts; a value has level 0 alone."""
        if self._labels:
            return super().levels_by_text(texts, folder)
        of_groups, _ = self._levels(folder)
        return {text: of_groups.get(text_identity(text), frozenset({0})) for text in texts}

    def _levels(self, folder: Path) -> tuple[Mapping[str, frozenset[int]], frozenset[int]]:
        """Return the levels of each group, and those that a value can have."""
        tree = self._source.build(_NO_VALUES, folder)
        values = {
            node for leaf in leaves_of(tree) for node in [(0, leaf), *padding(tree, leaf, text_identity)]
        }
        of_groups: dict[str, frozenset[int]] = {}
        for node in tree:
            if node not in values:
                group = text_identity(node[1])
                of_groups[group] = of_groups.get(group, frozenset()) | {node[0]}
        return of_groups, frozenset(level for level, _ in values)

    @property
    def fixed_height(self) -> bool:
        """Whether the source has the same levels for all data."""
        return self._source.fixed_height

    def files(self, folder: Path) -> list[Path]:
        """Return the files of the source."""
        return self._source.files(folder)

    def describe(self) -> str:
        """Return the name of the source in messages."""
        return self._source.describe()
