"""The first assignment of local recoding: greedy classes, then leftovers placed and classes merged.

Level vectors are tried by rising loss; every valid class is taken. A vector at which no class is large enough
is known to be empty, and so is every vector below it. Merging also serves models of the whole table; it ends
once all classes are valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from anonymizer.errors import Interrupted
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, group_keys
from anonymizer.search.partition.assignment import (
    BLOCK,
    SUPPRESSED,
    SUPPRESSION_COST,
    Assignment,
    LocalProblem,
    cheapest_partner,
    disjoint,
)
from anonymizer.search.partition.trees import NONE
from anonymizer.search.partition.validity import AssignmentJudge, Validity, trimmed

WORTHWHILE = 2_000
"""Parts from which on looking for empty vectors costs less than grouping at them."""


class KnownEmpty:
    """Vectors known to be empty: no group there is large enough, nor will any be as parts are taken away.

    Parameters
    ----------
    top: the highest levels, shape (quasi-identifiers,).
    """

    def __init__(self, top: IntArray) -> None:
        self._top = top
        self._known = np.zeros((0, len(top)), dtype=np.int64)
        self._random = np.random.default_rng(0)

    def covers(self, vector: IntArray) -> bool:
        """Return whether a vector is known to be empty."""
        return bool((self._known >= vector).all(axis=1).any())

    def climb(self, vector: IntArray, empty: Callable[[IntArray], bool]) -> None:
        """Learn the highest empty vector on some way from an empty one to the top, by bisection.

        Parameters
        ----------
        empty: returns whether a vector is empty.
        """
        rises = self._random.permutation(np.repeat(np.arange(len(vector)), self._top - vector))
        ways = np.zeros((len(rises) + 1, len(vector)), dtype=np.int64)
        ways[np.arange(1, len(ways)), rises] = 1
        way = vector + np.cumsum(ways, axis=0)
        low, high = 0, len(way)
        while high - low > 1:
            middle = (low + high) // 2
            if empty(way[middle]):
                low = middle
            else:
                high = middle
        below = (self._known <= way[low]).all(axis=1)
        self._known = np.concatenate([self._known[~below], way[low : low + 1]])


VECTORS = 1 << 15
"""Most vectors; in a larger lattice, those on random ways from the bottom to the top."""

NARROWED = 0.7
"""Share of remaining atoms below which their codes are copied."""


@dataclass(frozen=True, eq=False)
class LevelLattice:
    """The distinct levels of each attribute, and vectors of them.

    Attributes
    ----------
    codes: rank of each atom's node at each level, attribute after attribute, shape (all levels, atoms),
        int64; multiplied so that the sum over one level of each attribute identifies the vector of nodes,
        unless ``space`` is None.
    first: row of ``codes`` of each attribute's lowest level, shape (quasi-identifiers,), int64.
    sizes: number of nodes of each attribute at its lowest level.
    space: number of possible sums; None if they do not fit 63 bits.
    means: per attribute, mean cost over all records at each level, shape (levels,), float64.
    vectors: shape (vectors, quasi-identifiers), int64.
    level_of: lowest of these levels with each allowed node, shape (allowed nodes,), int64.
    """

    codes: IntArray
    first: IntArray
    sizes: tuple[int, ...]
    space: int | None
    means: list[FloatArray]
    vectors: IntArray
    level_of: IntArray

    def losses(self, vectors: IntArray, factors: FloatArray) -> FloatArray:
        """Return the loss of some vectors with a factor for the costs of each attribute, shape (vectors,)."""
        total = np.zeros(len(vectors))
        for position, own in enumerate(self.means):
            total += own[vectors[:, position]] * factors[position]
        return total

    @property
    def wide(self) -> bool:
        """Whether there are too many level vectors for ``vectors`` to have all of them."""
        return prod(len(own) for own in self.means) > len(self.vectors)

    @property
    def top(self) -> IntArray:
        """The vector of the highest levels, shape (quasi-identifiers,), int64."""
        return np.array([len(own) - 1 for own in self.means], dtype=np.int64)

    def keying(self, atoms: IntArray) -> Keying:
        """Return the keys of some atoms, shape (chosen,), at any vector."""
        return Keying(self, self.codes[:, atoms], None)


class Keying:
    """Keys of some atoms, equal if their nodes at a level vector are.

    Parameters
    ----------
    codes: of the lattice for at least these atoms, shape (all levels, more atoms), int64.
    chosen: positions of the atoms in ``codes``, None for all.
    """

    def __init__(self, lattice: LevelLattice, codes: IntArray, chosen: IntArray | None) -> None:
        self._lattice = lattice
        self._codes = codes
        self._chosen = chosen

    def narrowed(self, staying: IntArray) -> Keying:
        """Return the keys of some of the atoms, by their positions among these."""
        chosen = staying if self._chosen is None else self._chosen[staying]
        if len(chosen) > NARROWED * self._codes.shape[1]:
            return Keying(self._lattice, self._codes, chosen)
        return Keying(self._lattice, self._codes[:, chosen], None)

    def keys(self, vector: IntArray) -> tuple[IntArray, int]:
        """Return the keys at a vector, shape (atoms,), int64, and the number of possible keys."""
        rows = self._lattice.first + vector
        if self._lattice.space is not None:
            # Row after row, as the sum stays in the processor's cache.
            keys: IntArray = self._codes[rows[0]].copy()
            for row in rows[1:].tolist():
                keys += self._codes[row]
            return keys if self._chosen is None else keys[self._chosen], self._lattice.space
        codes = self._codes if self._chosen is None else self._codes[:, self._chosen]
        keys, space = np.zeros(codes.shape[1], dtype=np.int64), 1
        for row, size in zip(rows.tolist(), self._lattice.sizes, strict=True):
            if space * size >= 2**62:
                keys, distinct = group_keys(keys, space)
                space = len(distinct)
            keys = keys * size + codes[row]
            space *= size
        return keys, space


def level_lattice(ground: LocalProblem) -> LevelLattice:
    """Return the levels of the allowed trees that differ from the one below."""
    codes, sizes, means = [], [], []
    level_of = np.zeros(len(ground.trees.node), dtype=np.int64)
    weights = ground.atoms.counts / ground.records
    for position in range(ground.trees.attributes):
        chains = _levels(ground, position)
        for level in range(len(chains))[::-1]:
            level_of[chains[level]] = level
        ranks = [group_keys(own.astype(np.int64), len(ground.trees.node)) for own in chains]
        codes.append(np.stack([group for group, _ in ranks]))
        sizes.append(len(ranks[0][1]))
        means.append(np.array([float(ground.trees.cost[own] @ weights) for own in chains]))
    heights = [len(own) for own in means]
    space: int | None = prod(sizes)
    if prod(sizes) < 2**62:
        radix = 1
        for position, size in enumerate(sizes):
            codes[position] *= radix
            radix *= size
    else:
        space = None
    first = np.cumsum(heights, dtype=np.int64) - np.array(heights, dtype=np.int64)
    return LevelLattice(np.concatenate(codes), first, tuple(sizes), space, means, _vectors(heights), level_of)


def _levels(ground: LocalProblem, position: int) -> list[CodeArray]:
    """Return the allowed node of each atom at each level, without levels that change none."""
    attribute = ground.problem.table.quasi_identifiers[position]
    trees = ground.trees
    levels = [ground.atoms.nodes[:, position]]
    for level in range(attribute.minimum + 1, attribute.maximum + 1):
        above = trees.parent[levels[-1]]
        own = trees.node[np.where(above == NONE, levels[-1], above)]
        climbs = (above != NONE) & (attribute.hierarchy.level[own] <= level)
        if climbs.any():
            levels.append(np.where(climbs, above, levels[-1]).astype(np.int32))
    return levels


def _vectors(heights: Sequence[int]) -> IntArray:
    """Return all level vectors, or some with the bottom and the top."""
    if np.prod(np.array(heights, dtype=float)) <= VECTORS:
        return np.indices(heights).reshape(len(heights), -1).T.astype(np.int64)
    random = np.random.default_rng(0)
    rises = np.repeat(np.arange(len(heights)), np.array(heights) - 1)
    ways = []
    for _ in range(max(VECTORS // (len(rises) + 1), 1)):
        way = np.zeros((len(rises) + 1, len(heights)), dtype=np.int64)
        way[np.arange(1, len(rises) + 1), random.permutation(rises)] = 1
        ways.append(np.cumsum(way, axis=0))
    return np.unique(np.concatenate(ways), axis=0)


UNASSIGNED = -2
"""Label of ungrouped parts."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of atoms to group, each within its zone.

    Attributes
    ----------
    atoms, counts: shape (parts,), int64.
    zones: zone of each part, shape (parts,), int64, in [0, number); no class spans two.
    number: of zones.
    """

    atoms: IntArray
    counts: IntArray
    zones: IntArray
    number: int

    def take(self, chosen: IntArray, counts: IntArray) -> Parts:
        """Return some parts with new numbers of records."""
        return Parts(self.atoms[chosen], counts, self.zones[chosen], self.number)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Parts with their classes.

    Attributes
    ----------
    labels: class of each part, shape (parts,), int64; ``UNASSIGNED`` without a valid group.
    """

    parts: Parts
    labels: IntArray


def group_greedily(
    parts: Parts, lattice: LevelLattice, vectors: Iterable[IntArray], validity: Validity
) -> Grouped:
    """Make classes of all valid groups, each at the first vector at which it is valid.

    A group that violates a model with a reference distribution is trimmed, and may be valid then.

    Parameters
    ----------
    vectors: levels to group at, in order, each of shape (quasi-identifiers,).
    """
    left, found, labels, next_label = parts, [], [], 0
    keying, known_empty = lattice.keying(parts.atoms), KnownEmpty(lattice.top)
    size, weights = validity.size, validity.weights(parts.atoms, parts.counts)
    for vector in vectors:
        if known_empty.covers(vector):
            continue
        inside, class_of, number = _large_groups(_keys(left, keying, vector), weights, size)
        if not number:
            if len(left.atoms) >= WORTHWHILE:
                known_empty.climb(vector, partial(_is_empty, left, keying, weights, size))
            continue
        amounts = _amounts(left.take(inside, left.counts[inside]), class_of, number, validity)
        taken = amounts > 0
        if not taken.any():
            continue
        found.append(left.take(inside[taken], amounts[taken]))
        labels.append(next_label + class_of[taken])
        next_label += number
        rest = left.counts.copy()
        rest[inside] -= amounts
        staying = np.flatnonzero(rest)
        left, keying = left.take(staying, rest[staying]), keying.narrowed(staying)
        weights = validity.weights(left.atoms, left.counts)
        if not len(staying):
            break
    unassigned = np.full(len(left.atoms), UNASSIGNED, dtype=np.int64)
    return Grouped(_joined([*found, left]), np.concatenate([*labels, unassigned]))


def _joined(several: Sequence[Parts]) -> Parts:
    """Return parts of the same zones one after the other."""
    return Parts(
        np.concatenate([each.atoms for each in several]),
        np.concatenate([each.counts for each in several]),
        np.concatenate([each.zones for each in several]),
        several[0].number,
    )


def _keys(parts: Parts, keying: Keying, vector: IntArray) -> IntArray:
    """Return keys that are equal for parts of one zone with the same nodes at a level vector."""
    keys, space = keying.keys(vector)
    if parts.number == 1:
        return keys
    if space * parts.number >= 2**62:
        keys, _ = group_keys(keys, space)
    return keys * parts.number + parts.zones


def _large_keys(keys: IntArray, weights: IntArray, minimum: int) -> IntArray:
    """Return the keys of groups of enough weight, ascending, some of them several times."""
    # If each part repeats its key at most k times, a sorted list has a key k times exactly if the group has a
    # weight of k. Sorting alone is several times faster than sorting with positions.
    ranked = np.sort(np.repeat(keys, np.minimum(weights, minimum)))
    large = ranked[minimum - 1 :]
    repeated: IntArray = large[large == ranked[: len(large)]]
    return repeated


def _large_groups(keys: IntArray, weights: IntArray, minimum: int) -> tuple[IntArray, IntArray, int]:
    """Return the parts in groups of enough weight, their groups, and the number of groups."""
    large = _large_keys(keys, weights, minimum)
    if not len(large):
        return large, large, 0
    large = large[np.diff(large, prepend=large[0] - 1) != 0]
    group = np.minimum(np.searchsorted(large, keys), len(large) - 1)
    inside = np.flatnonzero(large[group] == keys)
    return inside, group[inside], len(large)


def _is_empty(parts: Parts, keying: Keying, weights: IntArray, minimum: int, vector: IntArray) -> bool:
    """Return whether no group at a vector has enough weight."""
    return not len(_large_keys(_keys(parts, keying, vector), weights, minimum))


def _amounts(parts: Parts, class_of: IntArray, number: int, validity: Validity) -> IntArray:
    """Return the records of each part in valid groups, perhaps trimmed, shape (parts,)."""
    held = validity.holds(parts.atoms, parts.counts, class_of, number)
    amounts = np.where(held[class_of], parts.counts, 0)
    failing = np.flatnonzero(~held[class_of])
    if len(failing) and validity.refers:
        amounts[failing] = trimmed(parts.atoms[failing], parts.counts[failing], class_of[failing], validity)
    return amounts


CANDIDATES = 16
"""Classes that a part may try, the cheapest first."""


class Joining:
    """Joins suppressed parts of an assignment to its classes.

    In every round each part asks the cheapest class that has not refused it. A class is judged with as many
    of these parts as its quota allows; if it becomes invalid, the quota is halved, and a single part is
    refused. So most parts are placed in few rounds under any models.
    """

    def __init__(self, assignment: Assignment, validity: Validity, most: float) -> None:
        self._assignment = assignment
        self._validity = validity
        self._most = most
        first = assignment.first
        self._parts = np.arange(first)
        self._nodes = assignment.ground.atoms.nodes[assignment.atoms[:first]]
        self._counts = assignment.counts[:first]
        self._candidates, self._costs = self._nearest()
        self._tried = np.zeros(first, dtype=np.int64)
        self._joined = np.full(first, SUPPRESSED, dtype=np.int64)
        self._quota = np.full(assignment.classes, first, dtype=np.int64)

    def _nearest(self) -> tuple[IntArray, FloatArray]:
        """Return the cheapest classes of each part, and the rise per record, both (parts, candidates)."""
        own = self._assignment
        width = min(CANDIDATES, own.classes)
        chosen = np.zeros((len(self._parts), width), dtype=np.int64)
        costs = np.zeros((len(self._parts), width))
        before = (own.sizes * own.costs)[:, None]
        for start in range(0, len(self._parts) if width else 0, BLOCK):
            block = slice(start, start + BLOCK)
            rises = own.ground.joins.matrix(self._nodes[block], own.nodes)
            rises *= self._counts[block] + own.sizes[:, None]
            rises -= before
            near = np.sort(np.argpartition(rises, width - 1, axis=0)[:width], axis=0)
            lowest = np.take_along_axis(rises, near, axis=0)
            order = np.argsort(lowest, axis=0, kind="stable")
            chosen[block] = np.take_along_axis(near, order, axis=0).T
            costs[block] = np.take_along_axis(lowest, order, axis=0).T
        return chosen, costs / self._counts[:, None]

    @property
    def nearest(self) -> IntArray:
        """The first choice of each part that has one."""
        first = self._candidates[:, :1]
        return first[self._costs[:, :1] < np.inf]

    def run(self) -> Assignment:
        """Return the assignment with all accepted parts joined."""
        while True:
            asking = np.flatnonzero((self._joined == SUPPRESSED) & (self._tried < self._candidates.shape[1]))
            if len(asking):
                costs = self._costs[asking, self._tried[asking]]
                asking = asking[(costs <= self._most) & (costs < np.inf)]
            if not len(asking):
                break
            self._round(asking)
        own = self._assignment
        labels = own.class_of.copy()
        labels[: own.first] = self._joined
        return Assignment.of(own.ground, own.atoms, own.counts, labels)

    def _round(self, asking: IntArray) -> None:
        target = self._candidates[asking, self._tried[asking]]
        order = np.lexsort((self._costs[asking, self._tried[asking]], target))
        asking, target = asking[order], target[order]
        starts = np.flatnonzero(np.diff(target, prepend=-1))
        rank = np.arange(len(target)) - np.repeat(starts, np.diff(np.append(starts, len(target))))
        within = rank < self._quota[target]
        held = self._held(asking[within], target[within])
        accepted = held[target[within]]
        self._joined[asking[within][accepted]] = target[within][accepted]
        failed = np.unique(target[within][~accepted])
        alone = ~accepted & (self._quota[target[within]] == 1)
        self._tried[asking[within][alone]] += 1
        # A class with one asking part refuses it, whatever its quota is.
        asked = np.bincount(target[within], minlength=len(self._quota))
        single = ~accepted & (asked[target[within]] == 1) & ~alone
        self._tried[asking[within][single]] += 1
        self._quota[failed] = np.maximum(np.minimum(self._quota, asked)[failed] // 2, 1)

    def _held(self, asking: IntArray, target: IntArray) -> BoolArray:
        """Return whether every class is valid with these parts; True for classes without any."""
        own = self._assignment
        touched = np.zeros(own.classes, dtype=bool)
        touched[target] = True
        number = np.cumsum(touched) - 1
        members = np.flatnonzero(touched[own.class_of[own.first :]]) + own.first
        earlier = np.flatnonzero((self._joined != SUPPRESSED) & touched[self._joined])
        parts = np.concatenate([members, earlier, asking])
        classes = np.concatenate([own.class_of[members], self._joined[earlier], target])
        held = np.ones(own.classes, dtype=bool)
        held[touched] = self._validity.holds(
            own.atoms[parts], own.counts[parts], number[classes], int(touched.sum())
        )
        return held


SEEDS = 512
"""Most classes that are merged at once."""


def merged(assignment: Assignment, seeds: IntArray, most: int) -> Assignment:
    """Merge some classes with their cheapest partners, in at most so many pairs.

    The cheapest pairs come first; only the first ``SEEDS`` classes are considered.
    """
    own, seeds = assignment, seeds[:SEEDS]
    partner, rise = cheapest_partner(own, seeds)
    possible = np.flatnonzero(rise < np.inf)
    order = possible[np.argsort(rise[possible], kind="stable")]
    pairs = np.stack([seeds, partner], axis=1)[order]
    groups = np.repeat(np.arange(len(pairs)), 2)
    pairs = pairs[disjoint(groups, pairs.ravel(), -rise[order], own.classes)][:most]
    labels = np.arange(own.classes)
    labels[pairs[:, 0]] = pairs[:, 1]
    class_of = own.class_of.copy()
    class_of[own.first :] = labels[class_of[own.first :]]
    return Assignment.of(own.ground, own.atoms, own.counts, class_of)


ROUNDS = 200
"""Most rounds of merging before the start is given up."""

MERGED_AT_ONCE = 0.05
"""Share of the classes that are merged before models of the whole table are judged again."""


class Start:
    """Finds a first valid assignment.

    Parameters
    ----------
    stopped: whether to give up; both methods raise ``Interrupted`` then.
    """

    def __init__(
        self,
        ground: LocalProblem,
        lattice: LevelLattice,
        validity: Validity,
        judge: AssignmentJudge,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._ground = ground
        self._stopped = stopped
        self._lattice = lattice
        self._validity = validity
        self._judge = judge

    def greedy(self) -> Assignment:
        """Return the valid groups at level vectors of rising loss; the rest is suppressed."""
        atoms = np.arange(self._ground.atoms.number)
        counts = self._ground.atoms.counts
        losses = self._lattice.losses(self._lattice.vectors, np.ones(self._ground.trees.attributes))
        vectors = self._lattice.vectors[np.argsort(losses, kind="stable")]
        parts = Parts(atoms, counts, np.zeros_like(atoms), 1)
        found = group_greedily(parts, self._lattice, self._until_stopped(vectors), self._validity)
        return Assignment.of(self._ground, found.parts.atoms, found.parts.counts, found.labels)

    def _until_stopped(self, vectors: IntArray) -> Iterator[IntArray]:
        for vector in vectors:
            self._go_on()
            yield vector

    def _go_on(self) -> None:
        if self._stopped():
            raise Interrupted("interrupted before a release was found; nothing was written")

    def settled(self, assignment: Assignment) -> Assignment | None:
        """Place leftovers and merge classes until the assignment is valid; None if that fails.

        A part is suppressed, not placed, if that costs less and the limit allows it.
        """
        most, found = SUPPRESSION_COST, assignment
        for _ in range(ROUNDS):
            self._go_on()
            found = self._valid_classes(found)
            found = Joining(found, self._validity, most).run()
            if most < np.inf and self._judge.exceeds_limit(found):
                most = np.inf
                continue
            if self._judge.admits(found):
                return found
            before = found.classes
            found = self._merged(found)
            if found.classes == before:
                return None
        return None

    def _valid_classes(self, assignment: Assignment) -> Assignment:
        """Suppress the classes that are invalid under p of the remaining records, until all are valid."""
        found = assignment
        while True:
            self._validity.refer_to(found.kept)
            held = self._holding(found)
            if held.all():
                return found
            class_of = found.class_of.copy()
            own = class_of[found.first :]
            class_of[found.first :] = np.where(held[own], own, SUPPRESSED)
            found = Assignment.of(self._ground, found.atoms, found.counts, class_of)

    def _holding(self, found: Assignment) -> BoolArray:
        first = found.first
        return self._validity.holds(
            found.atoms[first:], found.counts[first:], found.class_of[first:], found.classes
        )

    def _merged(self, found: Assignment) -> Assignment:
        """Merge the classes nearest to leftovers if these are too many, else the smallest classes."""
        if self._judge.exceeds_limit(found):
            return merged(found, self._asked(found), found.classes)
        seeds = np.argsort(found.sizes, kind="stable")
        return merged(found, seeds, max(int(MERGED_AT_ONCE * found.classes), 1))

    def _asked(self, found: Assignment) -> IntArray:
        """Return the classes nearest to a leftover, those nearest to most leftovers first."""
        nearest = Joining(found, self._validity, np.inf).nearest
        asked = np.bincount(nearest, minlength=found.classes)
        order = np.argsort(-asked, kind="stable")
        return order[asked[order] > 0].astype(np.int64)
