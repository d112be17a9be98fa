"""The interface and the registry of hierarchy sources, and the source of a column without ``hierarchy``.

Hierarchies are trees: nodes keyed ``(level, label)``, edges from parent to child. The key makes publishing
safe by construction: two nodes of one level with the same label are the same node. A tree is compiled to
preorder arrays. Small values can be merged with small siblings into one node. Trees of networkx are accepted
wherever trees are read.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.labels import distinct
from anonymizer.hierarchy.levels import Levels
from anonymizer.model.arrays import CodeArray, IntArray, freeze
from anonymizer.model.dates import iso_moment
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import MISSING, SUPPRESSED, Form, exact, interval_of
from anonymizer.model.table import Column, Hierarchy, ValueType
from anonymizer.plugins import Registry, Settings

if TYPE_CHECKING:
    import networkx as nx

K = TypeVar("K", bound=Hashable)


class DiGraph(Generic[K]):
    """A directed graph with the methods of that of networkx, in the same order, which hierarchies need.

    Importing networkx takes longer than building the hierarchies of most runs.

    >>> graph = DiGraph([("*", "a"), ("*", "b")])
    >>> list(graph.successors("*")), list(graph.predecessors("b")), list(graph)
    (['a', 'b'], ['*'], ['*', 'a', 'b'])

    Attributes
    ----------
    nodes: attributes of each node.
    """

    def __init__(self, edges: Iterable[tuple[K, K]] = ()) -> None:
        self.nodes: dict[K, dict[str, Any]] = {}
        self._below: dict[K, dict[K, None]] = {}
        self._above: dict[K, dict[K, None]] = {}
        self.add_edges_from(edges)

    def __iter__(self) -> Iterator[K]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self.nodes

    def add_node(self, node: K, **attributes: Any) -> None:
        """Add a node, or attributes to one."""
        self.add_nodes_from((node,))
        self.nodes[node].update(attributes)

    def add_nodes_from(self, nodes: Iterable[K]) -> None:
        """Add nodes; those that it has stay."""
        for node in nodes:
            if node not in self.nodes:
                self.nodes[node] = {}
                self._below[node] = {}
                self._above[node] = {}

    def add_edge(self, parent: K, child: K) -> None:
        """Add an edge and the nodes that it lacks."""
        self.add_edges_from(((parent, child),))

    def add_edges_from(self, edges: Iterable[tuple[K, K]]) -> None:
        """Add edges and the nodes that it lacks."""
        for edge in edges:
            self.add_nodes_from(edge)
            parent, child = edge
            self._below[parent][child] = None
            self._above[child][parent] = None

    def remove_node(self, node: K) -> None:
        """Remove a node and its edges."""
        for parent in self._above.pop(node):
            self._below[parent].pop(node, None)
        for child in self._below.pop(node):
            self._above[child].pop(node, None)
        del self.nodes[node]

    def edges(self) -> Iterator[tuple[K, K]]:
        """Yield the edges by parent, in the order in which nodes and edges were added."""
        return ((parent, child) for parent, below in self._below.items() for child in below)

    def successors(self, node: K) -> Iterator[K]:
        """Yield the children of a node."""
        return iter(self._below[node])

    def predecessors(self, node: K) -> Iterator[K]:
        """Yield the parents of a node."""
        return iter(self._above[node])

    def in_degree(self) -> Iterator[tuple[K, int]]:
        """Yield each node with the number of its parents."""
        return ((node, len(parents)) for node, parents in self._above.items())

    def out_degree(self, node: K) -> int:
        """Return the number of children of a node."""
        return len(self._below[node])


Node: TypeAlias = tuple[int, str]
Tree: TypeAlias = DiGraph[Node]
KeyedTree: TypeAlias = "Tree | nx.DiGraph[Node]"
UserTree: TypeAlias = "DiGraph[Any] | nx.DiGraph[Any]"

TOP = SUPPRESSED
"""Label of the root of every rule-built hierarchy."""


class LeveledTree(DiGraph[Node]):
    """A tree whose graph is made when it is first asked for; most runs only need its arrays.

    Attributes
    ----------
    levels: the tree; None as soon as the graph is made, which can be changed.
    """

    levels: Levels | None

    def __init__(self, levels: Levels) -> None:
        self.levels = levels

    def __getattr__(self, name: str) -> Any:
        if name not in ("nodes", "_below", "_above") or self.levels is None:
            raise AttributeError(name)
        levels, self.levels = self.levels, None
        super().__init__()
        self.add_node((levels.height, levels.labels[-1][0]))
        self.add_edges_from(levels.edges())
        return getattr(self, name)


def levels_of(tree: KeyedTree) -> Levels | None:
    """Return a tree by levels; None if it is a graph."""
    return tree.levels if isinstance(tree, LeveledTree) else None


def leaves_of(tree: Tree) -> Sequence[str]:
    """Return the labels at level 0."""
    levels = levels_of(tree)
    return levels.labels[0] if levels else [label for level, label in tree if level == 0]


def root_node(tree: Tree) -> Node:
    """Return the root of a tree."""
    levels = levels_of(tree)
    return (levels.height, levels.labels[-1][0]) if levels else max(tree)


def tree_of_rows(levels: Sequence[Sequence[str]], top: str = TOP) -> Tree:
    """Return the tree of values by their label at each level, with a root above them.

    Parameters
    ----------
    levels: for each level from 0 up, the label of every value, shape (levels, values).
    top: label of the root, one level above the last of ``levels``.
    """
    rows = [*levels, [top] * len(levels[0])]
    found = Levels.of_rows(rows) if len(levels[0]) else None
    if found is not None:
        return LeveledTree(found)
    tree: Tree = DiGraph()
    tree.add_node((len(levels), top))
    for level, (lower, upper) in enumerate(pairwise(rows)):
        pairs = dict.fromkeys(zip(upper, lower, strict=True))
        tree.add_edges_from(((level + 1, parent), (level, child)) for parent, child in pairs)
    return tree


def pad(graph: UserTree, name: str) -> Tree:
    """Return any tree, such as one of networkx, with nodes keyed ``(level, label)``.

    Leaves of unequal depth are padded to one depth by repeating their label upward.

    Parameters
    ----------
    graph: edges from parent to child. The label of a node is its attribute ``label``; without it, the label
        of a key of the form ``(level, label)``; otherwise the key as text.
    name: of the hierarchy in messages.

    Raises
    ------
    HierarchyError: not one tree, or two nodes of one level have the same label.
    """
    root = root_of(graph, name)
    depth: dict[Hashable, int] = {root: 0}
    order: list[Any] = [root]
    for node in order:
        for child in graph.successors(node):
            depth[child] = depth[node] + 1
            order.append(child)
    if len(order) < len(graph):
        lost = next(node for node in graph if node not in depth)
        raise HierarchyError(
            f"{name}: '{_label(graph, lost)}' is part of a cycle; remove an edge of the cycle"
        )
    return _keyed(graph, order, depth, name)


def root_of(graph: UserTree, name: str) -> Any:
    """Return the root: the only node without a parent; every other node must have one.

    Raises
    ------
    HierarchyError: no root, several roots, or a node with several parents.
    """
    roots = [node for node, parents in graph.in_degree() if parents == 0]
    if len(roots) != 1:
        if not roots and graph:
            found = "none, because edges form a cycle; remove one of them"
            raise HierarchyError(f"{name}: a hierarchy has exactly one root; found {found}")
        raise _not_one_root(name, [_label(graph, node) for node in roots])
    for node, parents in graph.in_degree():
        if parents > 1:
            first, second = [_label(graph, parent) for parent in graph.predecessors(node)][:2]
            raise HierarchyError(
                f"{name}: '{_label(graph, node)}' has two parents, '{first}' and '{second}'; keep one"
            )
    return roots[0]


def _keyed(graph: UserTree, order: Sequence[Any], depth: dict[Hashable, int], name: str) -> Tree:
    height = max(depth.values())
    tree: Tree = DiGraph()
    owner: dict[Node, Any] = {}
    for node in order:
        label = _label(graph, node)
        level = height - depth[node]
        lowest = level if graph.out_degree(node) else 0
        chain = [(step, label) for step in range(level, lowest - 1, -1)]
        for key in chain:
            first = owner.setdefault((key[0], text_identity(label)), node)
            if first is not node:
                raise _repeated(graph, first, node, key, name)
        tree.add_nodes_from(chain)
        tree.add_edges_from(pairwise(chain))
        if depth[node]:
            tree.add_edge((level + 1, _parent(graph, node)), chain[0])
    return tree


def _repeated(graph: UserTree, first: Any, second: Any, key: Node, name: str) -> HierarchyError:
    """Return the error for two nodes of one level whose labels are one text."""
    parents = dict.fromkeys((_parent(graph, first), _parent(graph, second)))
    above = " and ".join(f"under '{parent}'" for parent in parents)
    if key[0] == 0:
        return HierarchyError(f"{name}: value '{key[1]}' is listed more than once, {above}; keep one")
    return HierarchyError(
        f"{name}: level {key[0]} has two nodes '{key[1]}', {above}; give the nodes of a level different "
        "labels, because only labels are published"
    )


def _parent(graph: UserTree, node: Any) -> str:
    return next((_label(graph, above) for above in graph.predecessors(node)), "nothing")


def _label(graph: UserTree, node: Any) -> str:
    given = graph.nodes[node].get("label")
    if given is not None:
        return str(given).strip()
    keyed = isinstance(node, tuple) and len(node) == 2 and isinstance(node[0], int)
    return str(node[1] if keyed else node).strip()


def _not_one_root(name: str, roots: Sequence[str]) -> HierarchyError:
    """Return the error for no root or several."""
    named = ", ".join(f"'{label}'" for label in roots[:5])
    found = (
        f"found {len(roots)}: {named}; add one node above them"
        if roots
        else "found none; add one node above all others, such as *"
    )
    return HierarchyError(f"{name}: a hierarchy has exactly one root; {found}")


def to_networkx(hierarchy: Hierarchy, records: IntArray) -> nx.DiGraph[Node]:
    """Return a hierarchy as a tree of networkx, with edges from parent to child; it can be read again.

    Nodes are ``(level, label)`` with the attributes ``label``, ``level``, ``leaves`` (values under the node)
    and ``count`` (records under it).

    Parameters
    ----------
    records: at each leaf, shape (leaves,), int64.
    """
    import networkx as nx  # noqa: PLC0415 - only results for users are its graphs

    sums = np.concatenate([[0], np.cumsum(records)])
    counts = (sums[hierarchy.last_leaf] - sums[hierarchy.first_leaf]).tolist()
    keys = list(zip(hierarchy.level.tolist(), hierarchy.labels, strict=True))
    tree: nx.DiGraph[Node] = nx.DiGraph()
    for key, leaves, count in zip(keys, hierarchy.leaf_counts().tolist(), counts, strict=True):
        tree.add_node(key, label=key[1], level=key[0], leaves=leaves, count=count)
    parents = hierarchy.parent.tolist()
    tree.add_edges_from((keys[parent], key) for key, parent in zip(keys, parents, strict=True) if parent >= 0)
    return tree


def compile_tree(tree: KeyedTree, name: str) -> Hierarchy:
    """Return the arrays of a tree whose nodes are keyed ``(level, label)``; linear in the number of nodes.

    Parameters
    ----------
    tree: edges from parent to child; children keep the order in which they were added.
    name: of the hierarchy in messages.

    Raises
    ------
    HierarchyError: not exactly one root, a node with two parents, an edge that does not go down by one level,
        or a leaf that is not at level 0.
    """
    levels = levels_of(tree)
    if levels is not None:
        return levels.compiled()
    parents = _parents(tree, name)
    nodes = _preorder(tree, parents, name)
    position = {node: index for index, node in enumerate(nodes)}
    level = np.fromiter((node[0] for node in nodes), np.int32, len(nodes))
    parent = np.fromiter((position[parents[node]] if node in parents else -1 for node in nodes), np.int32)
    first, last, ancestors = _ranges(level)
    for array in (parent, level, first, last, ancestors):
        freeze(array)
    return Hierarchy(tuple(label for _, label in nodes), parent, level, first, last, ancestors)


def _parents(tree: KeyedTree, name: str) -> dict[Node, Node]:
    parents: dict[Node, Node] = {}
    for parent, child in tree.edges():
        if child in parents:
            raise HierarchyError(
                f"{name}: '{child[1]}' (level {child[0]}) has two parents, '{parents[child][1]}' and "
                f"'{parent[1]}'; keep one"
            )
        if parent[0] != child[0] + 1:
            raise HierarchyError(
                f"{name}: '{child[1]}' (level {child[0]}) is under '{parent[1]}' (level {parent[0]}); "
                "a parent is exactly one level higher"
            )
        parents[child] = parent
    return parents


def _preorder(tree: KeyedTree, parents: dict[Node, Node], name: str) -> list[Node]:
    roots = [node for node in tree if node not in parents]
    if len(roots) != 1:
        raise _not_one_root(name, [label for _, label in roots])
    children: dict[Node, list[Node]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    order: list[Node] = []
    stack = roots
    while stack:
        node = stack.pop()
        order.append(node)
        below = children.get(node)
        if below:
            stack.extend(reversed(below))
        elif node[0] != 0:
            raise HierarchyError(
                f"{name}: '{node[1]}' (level {node[0]}) has no values under it; add values or remove it"
            )
    return order


def _ranges(level: CodeArray) -> tuple[CodeArray, CodeArray, CodeArray]:
    """Return first leaf, last leaf and ancestors; the nodes of a level divide the leaves in preorder."""
    is_leaf = level == 0
    first = (np.cumsum(is_leaf) - is_leaf).astype(np.int32)
    leaves = int(is_leaf.sum())
    last = np.empty_like(first)
    ancestors = np.empty((int(level[0]) + 1, leaves), dtype=np.int32)
    for height in range(len(ancestors)):
        nodes = np.flatnonzero(level == height)
        last[nodes] = np.append(first[nodes[1:]], leaves)
        ancestors[height] = np.repeat(nodes, last[nodes] - first[nodes])
    return first, last, ancestors


def merge_small(hierarchy: Hierarchy, records: Mapping[str, int], least: int) -> Tree:
    """Return a hierarchy with one more level above the values, in which small values are merged.

    Under the lowest node with several values, those of fewer than ``least`` records become one node
    ``other``, prefixed by the label of that node unless it is the root. If together they have fewer than
    ``least`` records, the next smallest value joins them. The labels reveal which values are rare.

    Parameters
    ----------
    records: of each value; 0 for values without an entry.
    least: minimum number of records of a value that is not merged, at least 1.
    """
    labels = np.array(hierarchy.labels, dtype=object)
    counts = np.array([records.get(labels[node], 0) for node in hierarchy.ancestors[0]], dtype=np.int64)
    level = _lowest_shared(hierarchy)
    parents = hierarchy.ancestors[level, np.arange(hierarchy.leaves)].astype(np.int64)
    merged = _merged(parents, counts, least)
    nodes = np.unique(parents[merged])
    named = ["other" if node == 0 else f"{labels[node]}, other" for node in nodes.tolist()]
    # No other label may be the same: only labels are published.
    names = distinct([*hierarchy.labels, *named])[len(labels) :]
    other = dict(zip(nodes.tolist(), names, strict=True))
    rows = [labels[each].tolist() for each in [hierarchy.ancestors[0], *hierarchy.ancestors[:-1]]]
    for leaf in np.flatnonzero(merged).tolist():
        # Up to the node above them all: below it, merged values have one path.
        for step in range(1, level[leaf] + 1):
            rows[step][leaf] = other[parents[leaf]]
    return tree_of_rows(rows, hierarchy.labels[0])


def _lowest_shared(hierarchy: Hierarchy) -> IntArray:
    """Return for each leaf the level of its lowest ancestor with several leaves, shape (leaves,), int64."""
    sizes = hierarchy.leaf_counts()[hierarchy.ancestors]
    shared = sizes > 1
    # In a tree of a single value no node has several leaves; the root counts as one that has.
    shared[-1] = True
    level: IntArray = shared.argmax(axis=0).astype(np.int64)
    return level


def _merged(parents: IntArray, counts: IntArray, least: int) -> np.ndarray:
    """Return which leaves are merged, shape (leaves,): small ones, and others to reach ``least``."""
    order = np.lexsort((counts, parents))
    grouped = parents[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    total = np.cumsum(counts[order])
    before = np.repeat(total[starts] - counts[order][starts], sizes)
    # All smaller leaves have fewer than ``least`` records together: so this one is small itself, or joins.
    needed = total - before - counts[order] < least
    small = counts[order] < least
    some_small = np.repeat(np.logical_or.reduceat(small, starts), sizes)
    several = np.repeat(sizes > 1, sizes)
    chosen = (small | needed) & some_small & several
    merged = np.zeros(len(order), dtype=np.bool_)
    merged[order] = chosen
    return merged


S = TypeVar("S", bound=BaseModel)


class OptionalSettings(Settings):
    """Parameters that are all optional: the key alone, as in ``{auto: }``, means the defaults."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "null"]})

    @model_validator(mode="before")
    @classmethod
    def _key_alone(cls, value: Any) -> Any:
        return {} if value is None else value


def identities(text: str) -> frozenset[Hashable]:
    """Return the identities of a text in a column whose type is unknown.

    >>> identities("1.0") & identities("1") == {1}
    True
    """
    plain = text_identity(text)
    number, moment = exact(plain.replace(",", ".")), iso_moment(plain)
    return frozenset(each for each in (plain, number, moment) if each is not None)


class HierarchySource(ABC, Generic[S]):
    """One way to build a hierarchy; ``hierarchy: {NAME: SETTINGS}`` in the config.

    A class with a ``name`` in a module of this room, or in an entry point of the group
    ``anonymizer.hierarchy_sources``, is found without registration.

    Attributes
    ----------
    name: the key in the config; a source without a name has no key.
    Settings: pydantic model that validates the value under the key.
    rule_built: whether the leaves are the distinct values of the input; if not, the source lists them.
    content: what a column contains that is recoded along it, for recipients.
    by_level: the setting with one item for each level between the values and ``*``; None without one.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[BaseModel]]
    rule_built: ClassVar[bool]
    content: ClassVar[str] = "groups of a hierarchy"
    by_level: ClassVar[str | None] = None

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def build(self, column: Column, folder: Path) -> Tree:
        """Return the tree for a column, nodes keyed ``(level, label)``, all leaves at level 0.

        Missing values are placed afterwards.

        Parameters
        ----------
        column: with the values to generalize.
        folder: that relative paths in the settings start from.

        Raises
        ------
        HierarchyError: the settings do not fit the column, or the result is not one tree.
        """

    @classmethod
    def forms(
        cls,
        settings: Mapping[str, Any],  # noqa: ARG003 - names of groups have no form
        kind: str | None,  # noqa: ARG003
        level: int | None,  # noqa: ARG003
    ) -> tuple[Form, ...]:
        """Return the forms of the labels that can be published.

        Parameters
        ----------
        settings: as in a public report.
        kind: declared type of the column; None if the type is not public.
        level: of the column; None if it varies or is not public.
        """
        return ()

    @property
    def fixed_height(self) -> bool:
        """Whether the settings alone decide the number of levels; if not, no level of it is public."""
        return not self.rule_built

    @property
    def masks_right(self) -> bool:
        """Whether characters are masked from the right, so that shorter values are filled up there."""
        return False

    def files(self, folder: Path) -> list[Path]:  # noqa: ARG002 - sources without files need no folder
        """Return the files of the hierarchy."""
        return []

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:
        """Return the levels that can have all of some published texts, derived without the input's values.

        Parameters
        ----------
        texts: distinct, without ``*``, ``<missing>`` and the empty text; empty if all records have ``*``.
        folder: that relative paths in the settings start from.

        Returns
        -------
        None if the settings do not decide it, as for a rule that builds a tree from the input's values.

        Raises
        ------
        HierarchyError: the result is not one tree.
        OSError: a file cannot be read.
        """
        if self.rule_built:
            return None
        counts = np.ones(len(texts), dtype=np.int64)
        tree = self.build(Column("of the release", ValueType.TEXT, tuple(texts), counts, None, None), folder)
        top = max(tree)
        if not texts:
            return frozenset({top[0]} if top[1] == TOP else ())
        # The type of the column is unknown, and a release has the spelling of its values.
        by_level: dict[int, set[Hashable]] = {}
        for level, label in tree:
            by_level.setdefault(level, set()).update(identities(label))
        shown = [identities(text) for text in texts]
        return frozenset(
            level for level, labels in by_level.items() if not any(map(labels.isdisjoint, shown))
        )

    def levels_by_text(self, texts: Sequence[str], folder: Path) -> Mapping[str, frozenset[int]] | None:
        """Return the levels that can have each of some published texts, derived without the input's values.

        A value of a hierarchy that lists its values has level 0 alone, even if a group of no other value has
        its name. A text outside the hierarchy has no level.

        Parameters
        ----------
        texts, folder: as for ``levels_of``.

        Returns
        -------
        None if the settings do not decide it.

        Raises
        ------
        HierarchyError, OSError: as for ``levels_of``.
        """
        if self.rule_built:
            found = {text: self.levels_of([text], folder) for text in texts}
            known = {text: levels for text, levels in found.items() if levels is not None}
            return known if len(known) == len(found) else None
        counts = np.ones(len(texts), dtype=np.int64)
        by_identity: dict[Hashable, set[int]] = {}
        tree = self.build(Column("of the release", ValueType.TEXT, tuple(texts), counts, None, None), folder)
        for level, label in tree:
            for identity in identities(label):
                by_identity.setdefault(identity, set()).add(level)
        levels_of = {
            text: frozenset[int]().union(*(by_identity.get(each, ()) for each in identities(text)))
            for text in texts
        }
        return {text: frozenset({0}) if 0 in levels else levels for text, levels in levels_of.items()}

    def levels_shown(
        self, published: Collection[str], folder: Path, *, starred: bool, beyond: bool
    ) -> frozenset[int] | None:
        """Return the levels at which a column of a release can be; None if its texts do not decide it.

        Parameters
        ----------
        published: the texts of the column.
        folder: that relative paths in the settings start from; a file of the hierarchy can be missing.
        starred: whether ``*`` may be of suppressed values.
        beyond: whether values outside the hierarchy are under its root.
        """
        shown = [text for text in published if text not in ("", SUPPRESSED, MISSING)]
        # A column of * alone does not decide its level if * is not only the root.
        if not shown and (starred or SUPPRESSED not in published):
            return None
        try:
            possible = self.levels_of(shown, folder)
            if shown and SUPPRESSED in published and not (starred or beyond):
                with_star = self.levels_of([SUPPRESSED], folder)
                possible = possible if possible is None or with_star is None else possible & with_star
        except (OSError, HierarchyError):
            return None
        return None if beyond and not possible else possible

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return the properties of a column, besides a value itself, that decide the place of the value.

        In plain JSON types; if they are equal for two columns, common values have equal places. By default, a
        tree that a rule builds depends on all values and counts.
        """
        if not self.rule_built:
            return {}
        return digest([column.present, column.counts[: len(column.present)].tolist()])

    def depends_on_records(self, column: Column) -> bool:
        """Return whether other values or counts in a column can move a value, so that only the tree tells."""
        return "values_sha256" in self.depends_on(column)

    def left_by(self, label: str) -> int | None:  # noqa: ARG002 - of any label
        """Return of how many values a label is "all but these"; None for any other label."""
        return None

    def covers(self, label: str, text: str, column: Column) -> bool:
        """Return whether a group has the place of a value that no record of the tree's column has.

        By default, a group of numbers whose label is an interval around it.

        Parameters
        ----------
        label: of a node above level 0.
        column: that the tree was built for.
        """
        plain = column.numerals.plain(text) if column.type.numeric else None
        found, number = interval_of(label, column.numerals.decimal), exact(plain or "")
        return found is not None and number is not None and found.holds(number)

    def as_for(self, column: Column, before: Mapping[str, Any]) -> HierarchySource[Any]:
        """Return a source that places the values of a column as those of an earlier one.

        Parameters
        ----------
        before: ``depends_on`` of the earlier column.

        Raises
        ------
        HierarchyError: the tree depends on the earlier values, so that there is no such source.
        """
        if self.depends_on(column) == before:
            return self
        raise HierarchyError(
            f"column '{column.name}': {self.describe()} depends on the records, so new records would get "
            "another hierarchy; run on all records without apply, or first repeat the earlier run with "
            "hierarchy intervals, file, tree, or order with values"
        )

    def describe(self) -> str:
        """Return the name of this hierarchy in messages."""
        return f"hierarchy '{self.name}'"


class FlatSource(HierarchySource[Settings]):
    """Two levels: the value and ``*``; the source of a column without ``hierarchy``."""

    rule_built = True

    def __init__(self) -> None:
        super().__init__(Settings())

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return every value under the root."""
        return tree_of_rows([column.present])

    fixed_height = True

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: every value is under the root."""
        return {}

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return level 0, or level 1 if all records have ``*``."""
        return frozenset({0 if texts else 1})

    def describe(self) -> str:
        return "hierarchy of two levels"


def digest(content: Any) -> dict[str, Any]:
    """Return the digest of values in plain JSON types, for ``HierarchySource.depends_on``."""
    return {"values_sha256": hashlib.sha256(json.dumps(content).encode()).hexdigest()}


HIERARCHY_SOURCES: Registry[HierarchySource[Any]] = Registry(
    "hierarchy source",
    HierarchySource,
    "anonymizer.hierarchy",
    "anonymizer.hierarchy_sources",
)
"""Every ``HierarchySource`` with a name."""


def make_source(mapping: Mapping[str, Any], where: str) -> HierarchySource[Any]:
    """Return the source for a mapping of one key, as under ``hierarchy:``.

    Parameters
    ----------
    mapping: the source's name with its settings.
    where: the place of the mapping in messages.

    Raises
    ------
    HierarchyError: not one key, or settings that the source refuses.
    InputError: no source has the name.
    """
    if len(mapping) != 1:
        raise HierarchyError(f"{where}: {sorted(mapping)}; accepted: one of {', '.join(HIERARCHY_SOURCES)}")
    [(name, value)] = mapping.items()
    kind = HIERARCHY_SOURCES[name]
    try:
        return kind(kind.Settings.model_validate(value))
    except ValidationError as error:
        faults = [
            ".".join([where, name, *map(str, fault["loc"])])
            + f": {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False, include_context=False)
        ]
        raise HierarchyError("\n".join(faults)) from None
