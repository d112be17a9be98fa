"""Assignments of records to the classes of a local recoding, with the costs of joining and leaving.

Atoms are distinct rows that some class, cost or constraint distinguishes. Every class is published at its
lowest common ancestors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anonymizer.loss.base import ArithmeticMean, CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import (
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    add_up,
    count,
    group_keys,
    numbered,
    overlaps,
)
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.measure import UnitKeys
from anonymizer.model.recoding import NodeRecoding, Recoding
from anonymizer.search.base import SearchProblem, judged_attributes, sensitive_codes, weighs_differently
from anonymizer.search.partition.trees import NONE, AllowedTrees, Joins, allowed_trees, lowest_nodes

SUPPRESSION_COST = 1.0
"""Loss of a suppressed record: every cell costs 1, and the shares of the weights add up to 1."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Distinct rows that differ for some class, cost or constraint.

    Attributes
    ----------
    nodes: smallest allowed nodes, shape (atoms, quasi-identifiers), int32.
    counts: records of each atom, shape (atoms,), int64.
    atom_of: atom of each combination of the table, shape (combinations,), int64.
    sensitive: value codes of the sensitive attributes with a constraint, by name, shape (atoms,).
    keys: the unit of each atom.
    """

    nodes: CodeArray
    counts: IntArray
    atom_of: IntArray
    sensitive: dict[str, SensitiveCodes]
    keys: UnitKeys

    @property
    def number(self) -> int:
        """Number of atoms."""
        return len(self.counts)


class LocalProblem:
    """The atoms of a problem with the trees that generalize them.

    Parameters
    ----------
    problem: its metric guides the search if it is a sum of cell costs, else ``loss`` does.

    Attributes
    ----------
    additive: whether the guide is the problem's own metric, and all records count alike.
    bounded: whether the metric is a mean of cell costs, which has a bound.
    metric: the guide.
    trees: the allowed nodes.
    atoms: to be assigned to classes.
    joins: costs of joined node vectors.
    size, unit: of the smallest class, and what it counts; None for records.
    """

    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        metric = problem.metric
        self.bounded = isinstance(metric, CellMetric) and isinstance(metric.aggregate, ArithmeticMean)
        self.additive = self.bounded and not weighs_differently(problem)
        self.metric = metric if isinstance(metric, CellMetric) else LeafShareLoss()
        self.trees: AllowedTrees = allowed_trees(problem.table.quasi_identifiers, self.metric)
        self.atoms = self._atoms()
        self.joins = Joins(self.trees)
        self.records = problem.table.records
        self.size, self.unit = problem.smallest_class

    def _atoms(self) -> Atoms:
        problem, table = self.problem, self.problem.table
        judged = judged_attributes(table, [*problem.class_constraints, *problem.table_constraints])
        names = [each.name for each in judged]
        nodes, keys = lowest_nodes(table, self.trees), table.measure.keys()
        columns = [*nodes.T, *map(table.sensitive_codes, names), *keys]
        atom_of, first = numbered(columns, table.combinations)
        values = sensitive_codes(table, first)
        return Atoms(
            nodes[first],
            count(atom_of, table.counts, len(first)),
            atom_of,
            {name: values[name] for name in names},
            keys.at(first),
        )

    def classes(self, atoms: IntArray, counts: IntArray, class_of: IntArray, number: int) -> Classes:
        """Return classes of parts of atoms for the constraints; arrays of shape (parts,)."""
        sensitive = {name: own.at(atoms) for name, own in self.atoms.sensitive.items()}
        return Classes(class_of, self.atoms.keys.measure(atoms, counts), number, sensitive)

    def weights(self, atoms: IntArray, counts: IntArray) -> IntArray:
        """Return what parts of atoms add to the size of a class, at most, shape (parts,), int64.

        A class of parts that add up to less than ``size`` is too small.
        """
        if self.unit is None:
            return counts
        return np.where(self.atoms.keys.by_name[self.unit][atoms] < 0, counts, 1)

    def costs(self, nodes: CodeArray) -> FloatArray:
        """Return the cost of a record in classes with these nodes, (classes,); infinite with ``NONE``."""
        impossible: BoolArray = (nodes == NONE).any(axis=-1)
        known = self.trees.costs(np.where(impossible[..., None], 0, nodes))
        return np.where(impossible, np.inf, known)


SUPPRESSED = -1
"""Class number of suppressed records."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """Parts of atoms with their classes; every class is published at its lowest common ancestors.

    Attributes
    ----------
    atoms: atom of each part, shape (parts,), int64; parts are sorted by class, then by atom, and distinct.
    counts: records of each part, shape (parts,), int64, positive.
    class_of: class of each part, shape (parts,), int64, ``SUPPRESSED`` for suppressed records.
    nodes: published nodes of each class, shape (classes, quasi-identifiers), int32, all rows different.
    """

    ground: LocalProblem
    atoms: IntArray
    counts: IntArray
    class_of: IntArray
    nodes: CodeArray

    @classmethod
    def of(cls, ground: LocalProblem, atoms: IntArray, counts: IntArray, labels: IntArray) -> Assignment:
        """Build the assignment of parts to classes.

        Parameters
        ----------
        atoms, counts: of each part, shape (parts,); parts with equal atom and label are joined.
        labels: any class numbers, shape (parts,), negative for suppressed; classes with equal lowest common
            ancestors become one.
        """
        suppressed = labels < 0
        distinct, class_of = np.unique(labels[~suppressed], return_inverse=True)
        nodes = common_nodes(ground, atoms[~suppressed], class_of.reshape(-1), len(distinct))
        number, first = numbered((nodes + 1).T, len(nodes))
        merged = np.full(len(atoms), SUPPRESSED, dtype=np.int64)
        merged[~suppressed] = number[class_of.reshape(-1)]
        width = ground.atoms.number
        keys, records = add_up((merged + 1) * width + atoms, counts, (len(first) + 1) * width)
        return cls(ground, keys % width, records, keys // width - 1, nodes[first])

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.nodes)

    def on(self, ground: LocalProblem) -> Assignment | None:
        """Return the same classes for another problem; None if its atoms are not the same."""
        same = np.array_equal(self.ground.atoms.atom_of, ground.atoms.atom_of)
        return replace(self, ground=ground) if same else None

    def same(self, other: Assignment) -> bool:
        """Return whether another assignment has equal classes of equal atoms."""
        mine = self.ground.atoms.atom_of, self.atoms, self.counts, self.class_of
        theirs = other.ground.atoms.atom_of, other.atoms, other.counts, other.class_of
        return all(np.array_equal(one, its) for one, its in zip(mine, theirs, strict=True))

    @cached_property
    def first(self) -> int:
        """Number of suppressed parts, which come first."""
        return int(np.searchsorted(self.class_of, 0))

    @cached_property
    def starts(self) -> IntArray:
        """First part of each class and, last, the number of parts, shape (classes + 1,), int64."""
        return np.searchsorted(self.class_of, np.arange(self.classes + 1)).astype(np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each class, shape (classes,), int64."""
        return count(self.class_of[self.first :], self.counts[self.first :], self.classes)

    @cached_property
    def costs(self) -> FloatArray:
        """Cost of a record of each class, shape (classes,), float64."""
        return self.ground.costs(self.nodes)

    @cached_property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return int(self.counts[: self.first].sum())

    @property
    def kept(self) -> IntArray:
        """Records of each atom that are not suppressed, shape (atoms,), int64."""
        return count(self.atoms[self.first :], self.counts[self.first :], self.ground.atoms.number)

    @cached_property
    def total(self) -> float:
        """Sum of the records' costs."""
        return float(self.sizes @ self.costs) + self.suppressed * SUPPRESSION_COST

    @cached_property
    def spare(self) -> tuple[IntArray, IntArray]:
        """How much more than the smallest size each part's class has, and what the part adds to its size.

        In records, or in the unit of the smallest size; both of shape (parts of classes,), int64.
        """
        ground, class_of = self.ground, self.class_of[self.first :]
        atoms, counts = self.atoms[self.first :], self.counts[self.first :]
        sizes, added = self.sizes, counts
        if ground.unit is not None:
            sizes = ground.classes(atoms, counts, class_of, self.classes).sizes_in(ground.unit)
            unit_of = ground.atoms.keys.by_name[ground.unit][atoms]
            space = int(unit_of.max(initial=0)) + 1
            groups, distinct = group_keys(class_of * space + np.maximum(unit_of, 0), self.classes * space)
            known = unit_of >= 0
            alone = np.bincount(groups[known], minlength=len(distinct))[groups] == 1
            added = np.where(known, alone, counts).astype(np.int64)
        return np.maximum(sizes[class_of] - ground.size, 0), added

    @property
    def loss(self) -> float:
        """Mean of the records' costs."""
        return self.total / self.ground.records


def common_nodes(ground: LocalProblem, atoms: IntArray, class_of: IntArray, number: int) -> CodeArray:
    """Return the lowest common ancestors of classes of atoms, shape (classes, quasi-identifiers), int32.

    ``NONE`` where no allowed node covers a class.

    Parameters
    ----------
    atoms, class_of: of the parts, shape (parts,), in any order; every class has a part.
    """
    if not number:
        return np.zeros((0, ground.trees.attributes), dtype=np.int32)
    order = np.argsort(class_of, kind="stable")
    starts = np.searchsorted(class_of[order], np.arange(number))
    return ground.trees.common_of_groups(ground.atoms.nodes[atoms[order]], starts)


BLOCK = 64
"""Node vectors that are compared with all classes at once."""

PAIRS = 1 << 16
"""Pairs of node vectors that are compared at once."""


def cheapest_class(
    assignment: Assignment, nodes: CodeArray, counts: IntArray, excluded: IntArray
) -> tuple[IntArray, FloatArray]:
    """Return the class that records join at the least rise of the total cost.

    Parameters
    ----------
    nodes, counts: of the joining records, shapes (joining, quasi-identifiers), (joining,).
    excluded: a class that each may not join, shape (joining,).

    Returns
    -------
    Class and rise, both of shape (joining,); the rise is infinite without a class.
    """
    own = assignment
    best = np.zeros(len(counts), dtype=np.int64)
    rise = np.full(len(counts), np.inf)
    if not own.classes:
        return best, rise
    before = own.sizes * own.costs
    for start in range(0, len(counts), BLOCK):
        block = slice(start, start + BLOCK)
        rises = own.ground.joins.matrix(nodes[block], own.nodes)
        rises *= counts[block] + own.sizes[:, None]
        rises -= before[:, None]
        columns = np.arange(rises.shape[1])
        rises[excluded[block], columns] = np.inf
        best[block] = rises.argmin(axis=0)
        rise[block] = rises[best[block], columns]
    return best, rise


def disjoint(group_of: IntArray, members: IntArray, worth: FloatArray, number: int) -> BoolArray:
    """Choose disjoint groups, those of highest worth first.

    Parameters
    ----------
    group_of, members: group and member of each entry, shape (entries,); members are in [0, number).
    worth: of each group, shape (groups,); equal ones go by position.

    Returns
    -------
    Which groups are chosen, shape (groups,); every other one shares a member with a chosen one of higher
    worth.
    """
    rank = np.empty(len(worth), dtype=np.int64)
    rank[np.argsort(-worth, kind="stable")] = np.arange(len(worth))
    chosen = np.zeros(len(worth), dtype=bool)
    while len(group_of):
        lowest = np.full(number, len(worth), dtype=np.int64)
        np.minimum.at(lowest, members, rank[group_of])
        first = np.zeros(len(worth), dtype=bool)
        first[group_of] = True
        first[group_of[lowest[members] < rank[group_of]]] = False
        chosen |= first
        used = np.zeros(number, dtype=bool)
        used[members[first[group_of]]] = True
        blocked = np.zeros(len(worth), dtype=bool)
        blocked[group_of[used[members]]] = True
        open_entries = ~blocked[group_of]
        group_of, members = group_of[open_entries], members[open_entries]
    return chosen


def cheapest_in_zone(
    ground: LocalProblem,
    joining: tuple[CodeArray, IntArray, IntArray],
    classes: tuple[CodeArray, IntArray, IntArray],
) -> tuple[IntArray, FloatArray]:
    """Return the class of its own zone that each part joins at the least rise of the total cost.

    Parameters
    ----------
    joining: nodes, records and zone of each joining part.
    classes: nodes, size and zone of each class.

    Returns
    -------
    Class and rise, both of shape (joining,); -1 and infinite if the part can join no class of its zone.
    """
    nodes, counts, zones = joining
    by_zone = np.argsort(classes[2], kind="stable")
    own, sizes, own_zones = classes[0][by_zone], classes[1][by_zone], classes[2][by_zone]
    before = sizes * ground.costs(own)
    first, last = np.searchsorted(own_zones, zones), np.searchsorted(own_zones, zones, side="right")
    best, rise = np.full(len(counts), -1, dtype=np.int64), np.full(len(counts), np.inf)
    ends = np.cumsum(last - first)
    start = 0
    while start < len(counts):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + PAIRS)), start + 1)
        spans = (last - first)[start:stop]
        part = np.repeat(np.arange(start, stop), spans)
        position = np.arange(len(part)) - np.repeat(np.cumsum(spans) - spans, spans) + first[part]
        rises = (counts[part] + sizes[position]) * ground.joins.costs(nodes[part], own[position])
        rises -= before[position]
        order = np.lexsort((rises, part))
        lead = order[np.flatnonzero(np.diff(part[order], prepend=-1))]
        best[part[lead]], rise[part[lead]] = by_zone[position[lead]], rises[lead]
        start = stop
    best[np.isinf(rise)] = -1
    return best, rise


def voronoi(
    assignment: Assignment, share: float, most: int, random: np.random.Generator
) -> tuple[IntArray, int]:
    """Divide classes into zones around random centres, each class in the zone of its cheapest join.

    Parameters
    ----------
    share: of the classes that become centres.
    most: classes to divide; of more, those nearest to a random one.

    Returns
    -------
    Zone of each class, shape (classes,), int64, -1 for none; and the number of zones.
    """
    own = assignment
    region = np.arange(own.classes)
    if own.classes > most:
        centre = int(random.integers(own.classes))
        costs = own.ground.joins.costs(own.nodes[centre], own.nodes)
        region = np.sort(np.argsort(costs, kind="stable")[:most])
    zones = max(int(share * len(region)), 1)
    centres = np.sort(random.choice(region, zones, replace=False))
    least, zone = np.full(len(region), np.inf), np.zeros(len(region), dtype=np.int64)
    for start in range(0, zones, BLOCK):
        costs = own.ground.joins.matrix(own.nodes[centres[start : start + BLOCK]], own.nodes[region])
        nearest = costs.argmin(axis=1)
        cost = costs[np.arange(len(region)), nearest]
        closer = cost < least
        least[closer], zone[closer] = cost[closer], start + nearest[closer]
    zone_of_class = np.full(own.classes, -1, dtype=np.int64)
    zone_of_class[region] = zone
    return zone_of_class, zones


def cheapest_partner(assignment: Assignment, seeds: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the cheapest class to merge with for some classes, and the rise, both (seeds,)."""
    own = assignment
    partner, rise = cheapest_class(own, own.nodes[seeds], own.sizes[seeds], seeds)
    return partner, rise - own.sizes[seeds] * own.costs[seeds]


def recoding_of(assignment: Assignment, *, kept_suppressed: bool) -> NodeRecoding:
    """Return the recoding; combinations with records in several classes are split.

    Parameters
    ----------
    kept_suppressed: whether suppressed records stay as one class.
    """
    own, table = assignment, assignment.ground.problem.table
    combination, part, counts = _shares(own)
    order = np.lexsort((part, combination))
    combination, part, counts = combination[order], part[order], counts[order]
    class_of = own.class_of[part]
    suppressed = class_of < 0
    nodes = own.ground.atoms.nodes[own.atoms[part]]
    nodes[~suppressed] = own.nodes[class_of[~suppressed]]
    removed = np.zeros_like(suppressed) if kept_suppressed else suppressed
    published = own.ground.trees.node[nodes]
    if len(combination) == table.combinations:
        return NodeRecoding(table, published, suppressed, removed)
    return NodeRecoding(table.split(combination, counts), published, suppressed, removed, combination)


def _shares(assignment: Assignment) -> tuple[IntArray, IntArray, IntArray]:
    """Assign the parts of each atom to its combinations, in order.

    Returns
    -------
    combination, part and records of each share, each of shape (shares,), int64.
    """
    table, atom_of = assignment.ground.problem.table, assignment.ground.atoms.atom_of
    combinations, parts = np.argsort(atom_of, kind="stable"), np.argsort(assignment.atoms, kind="stable")
    # Both sequences divide the same records, atom after atom.
    one, other, records = overlaps(table.counts[combinations], assignment.counts[parts])
    return combinations[one], parts[other], records


def assignment_of(ground: LocalProblem, recoding: Recoding) -> Assignment:
    """Return the classes of a recoding of the problem's table, or of this table split."""
    positions = range(ground.trees.attributes)
    published = np.stack([recoding.cells(position).codes for position in positions], axis=1)
    labels = np.unique(published, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    owner = recoding.owners
    return Assignment.of(
        ground,
        ground.atoms.atom_of[owner],
        recoding.table.counts,
        np.where(recoding.suppressed, SUPPRESSED, labels),
    )


def without_part(assignment: Assignment) -> CodeArray:
    """Return the lowest common ancestors of each part's class without that part.

    Returns
    -------
    Nodes, shape (parts of classes, quasi-identifiers), int32; the part's own nodes if it is alone.
    """
    own, trees = assignment, assignment.ground.trees
    nodes = own.ground.atoms.nodes[own.atoms[own.first :]]
    starts = own.starts[:-1] - own.first
    class_of = own.class_of[own.first :]
    first = _least_of_others(trees.first[nodes], starts, class_of)
    last = -_least_of_others(-trees.last[nodes], starts, class_of)
    # Climbing starts at a remaining member: the class's first part, or its second if the first leaves.
    stays = starts[class_of]
    lengths = np.diff(np.append(starts, len(nodes)))
    leads = np.arange(len(nodes)) == stays
    stays = stays + (leads & (lengths[class_of] > 1))
    alone = lengths[class_of] == 1
    first[alone], last[alone] = trees.first[nodes[alone]], trees.last[nodes[alone]]
    return trees.covering(nodes[stays], first, last)


def _least_of_others(values: CodeArray, starts: IntArray, class_of: IntArray) -> CodeArray:
    """Return for each row the least value of the other rows of its group, column by column."""
    least = np.minimum.reduceat(values, starts, axis=0)[class_of]
    at_least = values == least
    times = np.add.reduceat(at_least.astype(np.int32), starts, axis=0)[class_of]
    above = np.where(at_least, np.iinfo(values.dtype).max, values)
    second = np.minimum.reduceat(above, starts, axis=0)[class_of]
    return np.where(at_least & (times == 1), second, least)


def savings(assignment: Assignment) -> FloatArray:
    """Return the fall of the total cost if a part leaves its class, shape (parts of classes,)."""
    own = assignment
    class_of, counts = own.class_of[own.first :], own.counts[own.first :]
    rest = own.sizes[class_of] - counts
    after = rest * own.ground.costs(without_part(own))
    return own.sizes[class_of] * own.costs[class_of] - np.where(rest > 0, after, 0.0)
