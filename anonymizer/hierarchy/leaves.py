"""Which leaf of a hierarchy is which value of a column: the rule, once, for every source of hierarchies.

In a column of numbers or dates, a leaf is the value that is equal as a number or a date: ``1.0`` is ``1``.
In a column of texts, they are the same if their identities are equal: trimmed, and in NFC. The leaf then gets
the spelling of the column, which level 0 publishes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from anonymizer.data.values import key_of
from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.levels import all_distinct
from anonymizer.hierarchy.source import DiGraph, Node, Tree, leaves_of, levels_of
from anonymizer.model.identity import text_identity
from anonymizer.model.table import Column, ValueType

Identity = Callable[[str], Hashable]
"""Returns what is equal for the texts of one value."""


def identity_in(column: Column) -> Identity:
    """Return the identity of texts as values of a column."""
    if column.type is ValueType.TEXT:
        return text_identity
    kind = ValueType.DATE if column.type is ValueType.DATE else ValueType.NUMBER
    key = key_of(kind, column.numerals, column.dates)

    def identity(text: str) -> Hashable:
        found = key(text.strip())
        return text_identity(text) if found is None else found

    return identity


_PLAIN_NUMBERS = re.compile(r"(?:(?:0|-?[1-9][0-9]{0,17})\n)*")
"""Whole numbers as they are usually written, which a line of any numeric column can be."""


def text_identities(texts: Sequence[str]) -> list[str]:
    """Return the identity of each text; of many in ASCII without a call for each."""
    plain = "".join(texts).isascii()
    return list(map(str.strip if plain else text_identity, texts))


def identities_in(column: Column, texts: Sequence[str]) -> Sequence[Hashable]:
    """Return the identity of each text as a value of a column, as ``identity_in`` does."""
    if column.type is ValueType.TEXT:
        return text_identities(texts)
    if column.type.numeric and _PLAIN_NUMBERS.fullmatch("\n".join([*texts, ""])):
        return list(map(int, texts))
    return list(map(identity_in(column), texts))


def repeated_leaf(labels: Iterable[str], identity: Identity) -> tuple[str, str] | None:
    """Return the first two labels of one value; None if all are of different values."""
    known: dict[Hashable, str] = {}
    for label in labels:
        first = known.setdefault(identity(label), label)
        if first != label:
            return first, label
    return None


def fitted(tree: Tree, column: Column, name: str) -> Tree:
    """Return a tree whose leaves have the spellings of the column's values; other leaves stay.

    Nodes that only pad a leaf are renamed with it. Several spellings of one value become siblings.

    Parameters
    ----------
    name: of the hierarchy in messages.

    Raises
    ------
    HierarchyError: the tree lists a value more than once.
    """
    present = set(column.present)
    leaves = leaves_of(tree)
    if present.issuperset(leaves) or (levels_of(tree) and _as_spelled(leaves, column)):
        return tree
    identity = identity_in(column)
    twice = repeated_leaf(leaves, identity)
    if twice is not None and not present.issuperset(twice):
        first, second = twice
        also = "" if first == second else f", as '{first}' and as '{second}'"
        raise HierarchyError(f"{name}: a value is listed more than once{also}; keep one")
    leaf_of = {identity(label): label for label in leaves}
    spellings: dict[str, list[str]] = {}
    for text in column.present:
        leaf = text if (0, text) in tree else leaf_of.get(identity(text))
        if leaf is not None:
            spellings.setdefault(leaf, []).append(text)
    return _respelled(tree, {leaf: texts for leaf, texts in spellings.items() if texts != [leaf]}, identity)


def _as_spelled(leaves: Sequence[str], column: Column) -> bool:
    """Return whether leaves are of different values, and none has another spelling in the column."""
    identities, others = identities_in(column, leaves), set(column.present).difference(leaves)
    return all_distinct(identities) and set(map(identity_in(column), others)).isdisjoint(identities)


def _respelled(tree: Tree, spellings: Mapping[str, Sequence[str]], identity: Identity) -> Tree:
    """Return the tree with other labels of leaves and of the nodes that only pad them."""
    if not spellings:
        return tree
    names: dict[Node, list[Node]] = {}
    for leaf, texts in spellings.items():
        names[0, leaf] = [(0, text) for text in texts]
        for level, label in padding(tree, leaf, identity):
            if (level, texts[0]) in tree:
                break
            names[level, label] = [(level, texts[0])]
    changed: Tree = DiGraph()
    for node in tree:
        changed.add_nodes_from(names.get(node, [node]))
    for parent, child in tree.edges():
        [above] = names.get(parent, [parent])
        changed.add_edges_from((above, below) for below in names.get(child, [child]))
    return changed


def padding(tree: Tree, leaf: str, identity: Identity) -> Iterable[Node]:
    """Yield the nodes above a leaf, but the root, that have its label and no other child."""
    node: Node = (0, leaf)
    while parents := list(tree.predecessors(node)):
        node = parents[0]
        root = not any(True for _ in tree.predecessors(node))
        if root or tree.out_degree(node) > 1 or identity(node[1]) != identity(leaf):
            return
        yield node
