"""Attributes of a table with their hierarchies: each value of the data gets a leaf of the tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import compress, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.errors import HierarchyError, plural
from anonymizer.hierarchy.coded import tree_of
from anonymizer.hierarchy.leaves import fitted, identities_in, identity_in
from anonymizer.hierarchy.levels import listed
from anonymizer.hierarchy.source import (
    HierarchySource,
    LeveledTree,
    Node,
    Tree,
    compile_tree,
    leaves_of,
    root_node,
)
from anonymizer.model.arrays import CodeArray, freeze
from anonymizer.model.labels import (
    MISSING,
    SUPPRESSED,
    Interval,
    NumberColumns,
    NumberLabels,
    exact,
    interval_of,
    number_text,
)
from anonymizer.model.recoding import Published, distinct_nodes
from anonymizer.model.spelling import nearest_alike, told_apart
from anonymizer.model.table import POINT, Column, Hierarchy, QuasiIdentifier, SensitiveAttribute, ValueType

NAMED = 5
"""Values that a message names before it counts the rest."""


class Unknown(StrEnum):
    """What to do with a value that the hierarchy lacks."""

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
    tree = fitted(tree_of(source, column, placement.folder, name), column, name)
    root = root_node(tree)
    lacking = unplaced(column, tree)
    if lacking and placement.unknown == Unknown.ERROR:
        remedy = f"add {'it' if len(lacking) == 1 else 'them'}, or set unknown: top"
        raise HierarchyError(f"{name} lacks {_list(column, lacking, tree)}; {placement.remedy or remedy}")
    _hang(tree, root, (column.texts[code] for code in lacking), name)
    tokens = (MISSING, *placement.missing_tokens)
    token = None if column.missing is None else _missing_leaf(tree, tokens, column, name)
    if token is None and (column.missing is not None or not column.size):
        _hang(tree, root, [MISSING], name)
    hierarchy = compile_tree(tree, name)
    texts = list(column.texts)
    if token is not None and column.missing is not None:
        texts[column.missing] = token
    # Leaves are in preorder; bytes, unlike an array, are read one by one without an object for each.
    position = listed(texts, compress(hierarchy.labels, (hierarchy.level == 0).tobytes()))
    if token is not None and column.missing is not None:
        hierarchy = _published_as_missing(hierarchy, position[token], name)
    leaf = np.fromiter((position[text] for text in texts), np.int32, len(texts))
    freeze(leaf)
    return hierarchy, leaf


class SourceOf(HierarchySource[Any]):
    """The tree that a source builds for one column, for the values of another one.

    A value that the tree lacks has its place under the lowest group that covers it, else under the root.

    Parameters
    ----------
    source: with its settings.
    column: that decides the tree.
    """

    def __init__(self, source: HierarchySource[Any], column: Column) -> None:
        super().__init__(source.settings)
        self._source, self._column = source, column

    rule_built = True

    def build(self, column: Column, folder: Path) -> Tree:
        """Return the tree with a leaf for each value.

        Raises
        ------
        HierarchyError: the source refuses its column, or a value has the label of a group.
        """
        own, name = self._column, f"column '{column.name}': {self.describe()}"
        tree = fitted(self._source.build(own, folder), column, name)
        nodes = sorted(tree, key=lambda node: node[0])
        for code in unplaced(column, tree):
            text = column.texts[code]
            groups = (node for node in nodes if node[0] and self._source.covers(node[1], text, own))
            _hang(tree, next(groups, nodes[-1]), [text], name)
        return tree

    def describe(self) -> str:
        return self._source.describe()


def source_as_of(source: HierarchySource[Any], before: Column, column: Column) -> HierarchySource[Any]:
    """Return a source that places the values of a column as those of an earlier one.

    Raises
    ------
    HierarchyError: a value has no place.
    """
    if source.depends_on_records(before):
        return SourceOf(source, before)
    return source.as_for(column, source.depends_on(before))


def unplaced(column: Column, tree: Tree) -> list[int]:
    """Return the codes of the values, without missing ones, that a tree lacks."""
    known = set(column.present).intersection(leaves_of(tree))
    return [code for code, text in enumerate(column.present) if text not in known]


def _list(column: Column, codes: list[int], tree: Tree) -> str:
    """Return how many values a tree lacks, and the first of them with the leaves that look like them."""
    leaves = leaves_of(tree)
    named = ", ".join(_with_alike(column.texts[code], leaves) for code in codes[:NAMED])
    more = f" and {len(codes) - NAMED} more" if len(codes) > NAMED else ""
    rows = int(column.counts[codes].sum())
    return f"{plural(len(codes), 'value')} ({plural(rows, 'row')}): {named}{more}"


def _with_alike(text: str, leaves: Sequence[str]) -> str:
    alike = nearest_alike(text, leaves)
    return f"'{text}'" if alike is None else f"'{text}' (the hierarchy has {told_apart(text, alike)})"


def _hang(tree: Tree, root: Node, values: Iterable[str], name: str) -> None:
    """Place values directly under the root, padded to level 0."""
    texts = list(values)
    if isinstance(tree, LeveledTree) and tree.levels is not None and tree.levels.lacks(texts):
        tree.levels = tree.levels.hung(texts)
        return
    for value in texts:
        if root[0] == 0:
            raise HierarchyError(f"{name} has a single node, under which no value has a place; add levels")
        chain = [root, *((level, value) for level in range(root[0] - 1, -1, -1))]
        taken = [node for node in chain[1:] if node in tree]
        if taken:
            raise HierarchyError(
                f"{name}: '{value}' is not a value of the hierarchy, and cannot be placed under the root, "
                f"because level {taken[0][0]} has a node '{value}' already; add the value to the hierarchy"
            )
        tree.add_edges_from(pairwise(chain))


def _missing_leaf(tree: Tree, tokens: tuple[str, ...], column: Column, name: str) -> str | None:
    """Return the leaf of the first token that has one."""
    identity = identity_in(column)
    wanted = dict.fromkeys(map(identity, tokens))
    labels = leaves_of(tree)
    identities = identities_in(column, labels)
    leaves = {each: label for each, label in zip(identities, labels, strict=True) if each in wanted}
    found = [leaves[each] for each in wanted if each in leaves]
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
            what = f"level {level} has the label '{MISSING}', which is the text for missing values"
            raise HierarchyError(f"{name}: {what}; rename the label")
        labels[node] = MISSING
    return replace(hierarchy, labels=tuple(labels))


def in_numbers(
    attribute: QuasiIdentifier, form: NumberLabels, published: Collection[Published], *, hides: bool
) -> QuasiIdentifier:
    """Return a quasi-identifier whose labels are those of ``NumberColumns``.

    Two nodes that may both be published never have the same numbers, so that equivalence classes of the
    release are those of the nodes.

    Parameters
    ----------
    hides: whether cells may be suppressed, or suppressed records stay.

    Raises
    ------
    HierarchyError: naming the column, a label and a remedy.
    """
    try:
        return _in_numbers(attribute, NumberColumns(attribute.name, form), published, hides=hides)
    except ValueError as error:
        raise HierarchyError(f"attributes.{attribute.name}.labels: '{form}' is impossible: {error}") from None


def _in_numbers(
    attribute: QuasiIdentifier, own: NumberColumns, published: Collection[Published], *, hides: bool
) -> QuasiIdentifier:
    column, tree = attribute.column, attribute.hierarchy
    if not column.type.numeric:
        raise ValueError(f"the column's type is {column.type}; set type: integer or number, or labels: range")
    spelled = [_spelled(text, column.numerals.plain(text)) for text in column.present]
    several = Published.INTERVALS in published or (
        Published.NODES in published and attribute.maximum == tree.height
    )
    if column.missing is not None and (hides or several):
        raise ValueError(
            f"missing values and '{SUPPRESSED}' would both be empty; use labels: range, or "
            "algorithm.name: lattice with suppression.method: classes and keep_rows: false"
        )
    if Published.INTERVALS in published and own.form is NumberLabels.MIDPOINT:
        raise ValueError(
            "two different intervals can have the same midpoint; use labels: low-high, or algorithm.name: "
            "lattice"
        )
    texts = (*spelled, *column.texts[len(spelled) :])
    values, labels = attribute.node_values, list(tree.labels)
    usable = (values.covered > 0) & (tree.level >= attribute.minimum) & (tree.level <= attribute.maximum)
    if published == {Published.INTERVALS}:
        usable[:] = False
    nodes = np.flatnonzero(usable).tolist()
    included: dict[str, str] = {}
    excluded: dict[str, str] = {}
    for node in nodes:
        labels[node], found = _label_in_numbers(attribute, own, node)
        if found is not None and found.high is not None and found.low != found.high:
            (included if found.closed else excluded)[labels[node]] = tree.labels[node]
    if own.form is NumberLabels.LOW_HIGH and included and excluded:
        raise ValueError(
            f"the label '{min(included.values())}' includes its upper end, but '{min(excluded.values())}' "
            "does not; use one kind of label in the hierarchy, or labels: range"
        )
    if Published.INTERVALS in published and excluded:
        raise ValueError(
            f"the label '{min(excluded.values())}' of the hierarchy does not include its upper end, but the "
            "algorithm may release intervals that do; set algorithm.name to lattice, local or mondrian"
        )
    taken = {labels[node] for node in nodes}
    for node in np.flatnonzero(~usable).tolist():
        if labels[node] in taken:
            labels[node] += " (unused)"
    changed = replace(
        attribute,
        column=replace(column, texts=texts, numerals=POINT),
        hierarchy=replace(tree, labels=tuple(labels)),
        number_columns=replace(own, excluded=frozenset(excluded)),
    )
    _refuse_equal(attribute, changed, nodes, published)
    return changed


def _spelled(text: str, plain: str | None) -> str:
    """Return a value as the release writes it."""
    number = exact(plain or "")
    spelled = None if number is None else number_text(number)
    if spelled is None:
        what = "has more digits than a 64-bit floating-point number can hold"
        raise ValueError(f"'{text}' {what}; use labels: range")
    return spelled


def _label_in_numbers(
    attribute: QuasiIdentifier, own: NumberColumns, node: int
) -> tuple[str, Interval | None]:
    """Return the label of a node that covers values, and its interval; None if it is released as empty."""
    tree, values, column = attribute.hierarchy, attribute.node_values, attribute.column
    label, ends = tree.labels[node], [float(values.low[node]), float(values.high[node])]
    if np.isnan(ends[0]):
        return MISSING, None
    found = interval_of(label, column.numerals.decimal)
    if tree.level[node] == 0:
        value = exact(repr(ends[0]))
        found = Interval(value, value)
    if found is None or values.mixed[node]:
        if tree.last_leaf[node] - tree.first_leaf[node] == tree.leaves:
            return SUPPRESSED, None
        what = "is not an interval of numbers" if found is None else "covers missing values too"
        raise ValueError(
            f"the hierarchy's label '{label}' {what}; give labels such as 20-29, [20, 22.5), <20 and 65+ to "
            "the hierarchy, or use labels: range"
        )
    for end in ends:
        if not found.holds(exact(repr(end)) or Fraction(0)):
            raise ValueError(
                f"the hierarchy's label '{label}' covers {end:g}, which is outside the interval; correct the "
                "hierarchy, or use labels: range"
            )
    found = found.of_whole_numbers() if column.type is ValueType.INTEGER else found
    named = own.label(found)
    if named is None:
        what = "needs more digits than a 64-bit floating-point number can hold"
        if found.low is None or found.high is None:
            what = "has an open end, so it has no midpoint"
        raise ValueError(
            f"the hierarchy's label '{label}' {what}; use another hierarchy, such as intervals, or "
            f"{'labels: low-high or range' if own.form is NumberLabels.MIDPOINT else 'labels: range'}"
        )
    return named, found


def _refuse_equal(
    before: QuasiIdentifier, after: QuasiIdentifier, nodes: Sequence[int], published: Collection[Published]
) -> None:
    """Check that nodes which may be published together differ in their numbers.

    Raises
    ------
    ValueError: two do not.
    """
    canonical = distinct_nodes(after)[0] if Published.NODES in published else None
    first: dict[tuple[int, str], int] = {}
    for node in nodes:
        level = int(after.hierarchy.level[node]) if canonical is None else 0
        own = node if canonical is None else int(canonical[node])
        label = after.hierarchy.labels[own]
        other = first.setdefault((level, label), own)
        if other != own:
            names = " and ".join(f"'{before.hierarchy.labels[each]}'" for each in (other, own))
            raise ValueError(
                f"the hierarchy's labels {names} would both become {label}; use labels: low-high or range"
                f"{'' if canonical is None else ', or algorithm.name: lattice'}"
            )
