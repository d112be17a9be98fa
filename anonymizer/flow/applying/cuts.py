"""Cuts of regions as they are kept, and the regions that other records belong to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel

from anonymizer.errors import InputError
from anonymizer.flow.applying.applied import Applied, AppliedNodes
from anonymizer.flow.applying.encoding import Numbers, Rows
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.outcome import CutTree
from anonymizer.model.table import Hierarchy, QuasiIdentifier, Table

Named = tuple[int, str]
"""A node of a hierarchy by its level and its label, which are the same for whatever values it is built."""


class KeptCuts(BaseModel):
    """A tree of cuts; nodes are named by their place in ``nodes``.

    Attributes
    ----------
    attributes: the quasi-identifiers, in the order of the file.
    nodes: that occur, of each quasi-identifier.
    levels: at which the first regions are classes.
    first: nodes of each of the first regions.
    axis: quasi-identifier of each cut, -1 for a region that was not cut.
    left: the left side of each cut; the right one is the next region.
    listed_right: 1 where the parts listed go to the right, and all others to the left.
    starts, parts: the parts of region i are ``parts[starts[i]:starts[i + 1]]``.
    published: nodes of each region that was not cut, in the order of the regions.
    """

    attributes: list[str]
    nodes: list[list[Named]]
    levels: list[int]
    first: Rows
    axis: Numbers
    left: Numbers
    listed_right: Numbers
    starts: Numbers
    parts: Numbers
    published: Rows

    def leaves(self, name: str) -> list[str]:
        """Return the values of an attribute that occur as they are."""
        own = self.nodes[self.attributes.index(name)] if name in self.attributes else []
        return [label for level, label in own if level == 0]

    def finest(self, attributes: Sequence[QuasiIdentifier]) -> list[int]:
        """Return for each quasi-identifier the lowest level that a node of the cuts is of.

        Values that lie under the same node at this level go the same way down the cuts.

        Raises
        ------
        InputError: the cuts are not of these quasi-identifiers.
        """
        self.check(attributes)
        return [
            min([first, *(level for level, _ in named), each.hierarchy.height])
            for each, first, named in zip(attributes, self.levels, self.nodes, strict=True)
        ]

    def check(self, attributes: Sequence[QuasiIdentifier]) -> None:
        """Check that the cuts are of these quasi-identifiers.

        Raises
        ------
        InputError: they are not.
        """
        if self.attributes != [each.name for each in attributes]:
            raise InputError(f"recoding.json: has cuts of {', '.join(self.attributes)}, in this order")


def keep_cuts(tree: CutTree, attributes: Sequence[QuasiIdentifier]) -> KeptCuts:
    """Return cuts with their nodes named."""
    ends = tree.published[tree.axis < 0]
    owner = np.repeat(np.arange(len(tree.axis)), np.diff(tree.starts))
    parts, nodes = np.zeros_like(tree.parts), []
    first, published = (np.zeros(own.shape, dtype=np.int64) for own in (tree.first, ends))
    for position, attribute in enumerate(attributes):
        mine = tree.axis[owner] == position
        used = np.unique(np.concatenate([tree.first[:, position], ends[:, position], tree.parts[mine]]))
        first[:, position] = np.searchsorted(used, tree.first[:, position])
        published[:, position] = np.searchsorted(used, ends[:, position])
        parts[mine] = np.searchsorted(used, tree.parts[mine])
        own = attribute.hierarchy
        nodes.append([(int(own.level[node]), own.labels[node]) for node in used.tolist()])
    return KeptCuts(
        attributes=[each.name for each in attributes],
        nodes=nodes,
        levels=list(tree.levels),
        first=first,
        axis=tree.axis,
        left=tree.left,
        listed_right=tree.listed_right.astype(np.int64),
        starts=tree.starts,
        parts=parts,
        published=published,
    )


def applied_cuts(kept: KeptCuts, table: Table) -> Applied:
    """Return what the regions of earlier records publish of the combinations of a table.

    A combination goes down the cuts. Where one of its values was in no earlier record that came to a cut, it
    goes to the side that is published more generally. At the end, it must lie under all nodes that its region
    is published as; where it does not, or is in no region from the start, nothing can be published of it.

    Raises
    ------
    InputError: the cuts are not of these quasi-identifiers.
    """
    kept.check(table.quasi_identifiers)
    try:
        walk = _Walk(kept, table)
        region = walk.regions()
        nodes, covered = walk.published(region)
    except IndexError:
        raise InputError("recoding.json: its cuts do not fit each other") from None
    return AppliedNodes(table, nodes, ~covered)


class _Walk:
    """The way of combinations down the cuts."""

    def __init__(self, kept: KeptCuts, table: Table) -> None:
        self._kept = kept
        self._table = table
        own = table.quasi_identifiers
        self._nodes = [_found(names, each.hierarchy) for names, each in zip(kept.nodes, own, strict=True)]
        self._leaf = [each.leaf[table.quasi_identifier_codes(i)] for i, each in enumerate(own)]
        self._axis, self._left = kept.axis, kept.left

    def regions(self) -> IntArray:
        """Return the region that each combination ends in, -1 without one, shape (combinations,)."""
        region = self._first()
        listed = self._listed()
        while True:
            moving = np.flatnonzero((region >= 0) & (self._axis[region] >= 0))
            if not len(moving):
                return region
            here = region[moving]
            right = np.zeros(len(moving), dtype=bool)
            for position, (level, keys) in enumerate(listed):
                mine = np.flatnonzero(self._axis[here] == position)
                cuts = here[mine]
                tree = self._table.quasi_identifiers[position].hierarchy
                part = tree.ancestors[level[cuts], self._leaf[position][moving[mine]]]
                known = _among(cuts * len(tree.labels) + part, keys)
                right[mine] = known == self._listed_right[cuts]
            region[moving] = self._left[here] + right

    @property
    def _listed_right(self) -> BoolArray:
        flags: BoolArray = self._kept.listed_right.astype(np.bool_)
        return flags

    def _first(self) -> IntArray:
        """Return the region that each combination begins in, -1 without one."""
        key: dict[tuple[int, ...], int] = {}
        for number, nodes in enumerate(self._kept.first):
            found = tuple(int(own[node]) for own, node in zip(self._nodes, nodes, strict=True))
            key[found] = number
        own = [
            each.hierarchy.ancestors[min(level, each.hierarchy.height), leaf]
            for each, level, leaf in zip(
                self._table.quasi_identifiers, self._kept.levels, self._leaf, strict=True
            )
        ]
        distinct, inverse = np.unique(np.stack(own, axis=1), axis=0, return_inverse=True)
        numbers = np.array([key.get(tuple(row), -1) for row in distinct.tolist()], dtype=np.int64)
        return numbers[inverse.ravel()]

    def _listed(self) -> list[tuple[IntArray, IntArray]]:
        """Return for each quasi-identifier the level of each cut's parts, and sorted keys of cut and part."""
        owner = np.repeat(np.arange(len(self._axis)), np.diff(self._kept.starts))
        parts = self._kept.parts
        found = []
        for position, attribute in enumerate(self._table.quasi_identifiers):
            mine = self._axis[owner] == position
            cuts, own = owner[mine], parts[mine]
            named = np.array([each[0] for each in self._kept.nodes[position]], dtype=np.int64)
            level = np.zeros(len(self._axis), dtype=np.int64)
            level[cuts] = np.minimum(named[own], attribute.hierarchy.height)
            nodes = self._nodes[position][own]
            keys = cuts[nodes >= 0] * len(attribute.hierarchy.labels) + nodes[nodes >= 0]
            found.append((level, np.sort(keys)))
        return found

    def published(self, region: IntArray) -> tuple[CodeArray, BoolArray]:
        """Return the nodes that each combination is published as, and whether it lies under all of them."""
        place = np.cumsum(self._axis < 0) - 1
        kept = self._kept.published.reshape(-1, len(self._nodes))
        covered = region >= 0
        nodes = np.zeros((len(region), len(self._nodes)), dtype=np.int32)
        rows = np.flatnonzero(covered)
        for position, (own, leaf) in enumerate(zip(self._nodes, self._leaf, strict=True)):
            tree = self._table.quasi_identifiers[position].hierarchy
            found = own[kept[place[region[rows]], position]]
            # A node that no value lies under is not in the tree of these values.
            there = np.maximum(found, 0)
            under = (tree.first_leaf[there] <= leaf[rows]) & (leaf[rows] < tree.last_leaf[there])
            covered[rows] &= under & (found >= 0)
            nodes[rows, position] = there
        return nodes, covered


def _found(names: Sequence[Named], tree: Hierarchy) -> IntArray:
    """Return the node of each name, -1 for what the tree lacks."""
    nodes = {
        (int(level), label): node
        for node, (level, label) in enumerate(zip(tree.level, tree.labels, strict=True))
    }
    return np.array([nodes.get((level, label), -1) for level, label in names], dtype=np.int64)


def _among(keys: IntArray, known: IntArray) -> BoolArray:
    """Tell which keys are among sorted ones."""
    if not len(known):
        return np.zeros(len(keys), dtype=np.bool_)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found: BoolArray = known[place] == keys
    return found
