"""One-to-one linkage: the assignment of held records to released ones with the least sum of distances.

Every record that the adversary holds competes, whoever the targets are. Up to ``POOL`` records are assigned
at once. Of more, each sampled target is assigned in its neighbourhood: the classes nearest to it, and the
held records that belong to these classes. Who these are the adversary is told, which makes the estimate too
high; a target whose class is not among the nearest ones is not linked, which makes it too low. The upper end
of the interval allows for those.

Records with equal distances to all classes, and classes with equal distances from all records, are
exchangeable: their expected links are exact. Where other assignments have the same sum, the fewest and the
most links over all of them are found by a tiny reward for true links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from anonymizer.attacks.base import NOTE
from anonymizer.attacks.joins import CoveringJoin
from anonymizer.attacks.linkage.chances import TINY, scaled, steepness
from anonymizer.attacks.linkage.distances import ComparisonSpace, Distance, Distancing, Linked, Linking
from anonymizer.attacks.linkage.linkers import nearest
from anonymizer.attacks.pace import step
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count

POOL = 4000
"""Records, and places among released ones, that are assigned at once; a product of both is limited."""

FEWEST, NEAR = 10, 50
"""Classes in the neighbourhood of a target: the more the better, as many as ``PLACES`` has room for."""

CAUTION = (
    "Each target was assigned among the classes nearest to it only, so that the success may be too low; the "
    "upper end of the interval allows for the other classes."
)
"""What readers of a success in neighbourhoods must know."""

PLACES = 1000
"""Maximum number of released records in one neighbourhood, or in several that are assigned at once."""

SAMPLE = 500
"""Maximum number of targets that are assigned in neighbourhoods, if the config names no other."""

PROBES = 200
"""Maximum number of originals by which the scale of distances is found."""

BREADTH, REWARD = 1e-6, 1e-11
"""Weights of a class's breadth and of true links, relative to the distances; they decide only ties."""


class TogetherLinking(Linking):
    """Links all records together, each released one at most once."""

    # All records are linked for each draw, however few the targets.
    draws = 3

    def __init__(self, distance: Distancing) -> None:
        self._distance = distance

    def most(self, space: ComparisonSpace, budget: int) -> int:
        """Return all targets if everybody is linked at once, else as many neighbourhoods as fit."""
        waiting = Waiting.of(space, exact=self._distance.exact)
        if waiting.at_once:
            return space.truth.records
        neighbours = 1 + _near(space) * int(space.records.sum()) // len(space.sizes)
        return min(budget // (neighbours * space.cells * self._distance.effort(space)), SAMPLE)


class AssignmentLinking(TogetherLinking):
    """The one-to-one assignment of originals to released records with the least sum of distances.

    Sources: Domingo-Ferrer, Muralidhar, "New directions in anonymization: permutation paradigm, verifiability
    by subjects and intruders, transparency to users" (Information Sciences 2016,
    doi:10.1016/j.ins.2015.12.014); the solver: Crouse (IEEE Transactions on Aerospace and Electronic Systems
    2016, doi:10.1109/TAES.2016.140952).
    """

    name = "assignment"

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Return the expected links of the best assignments."""
        return assigned(self._distance(space), random)


def assigned(distance: Distance, random: np.random.Generator) -> Linked:
    """Return the expected links of the assignments with the least sum of distances.

    Several assignments may have this sum: ``right`` is of a random one, ``least`` and ``most`` of those with
    the fewest and the most correct links.
    """
    return matched(distance, random, [lambda pool: pool.expected(random)])[0]


def matched(
    distance: Distance, random: np.random.Generator, solvers: Sequence[Callable[[Pool], FloatArray]]
) -> list[Linked]:
    """Return the links of methods that link the records of a pool together; all have the same pools.

    An assignment does not say how sure its links are: the largest chances over all assignments do.

    Parameters
    ----------
    solvers: each returns the chances of the true links of a pool with the fewest, a random and the most
        correct links, shape (3, links).
    """
    space, ranked = distance.space, distance.space.ranked
    waiting = Waiting.of(space, exact=distance.exact)
    doubt = waiting.doubt.copy()
    chances = [np.tile(waiting.certain, (3, 1)) for _ in solvers]
    reached = waiting.records[space.truth.original] == 0
    number = 0
    for pool in pools(Comparison.of(distance, waiting), random):
        for chance, solve in zip(chances, solvers, strict=True):
            chance[:, pool.links] += solve(pool)
        reached[pool.links] = True
        if ranked:
            own = pool.originals[pool.targets]
            doubt[own] = 1 / pool.chances[pool.targets].max(axis=1, initial=TINY) - 1
        number += 1
    details = {"blocks": number} | distance.details
    if not waiting.at_once:
        alone = nearest(distance).right
        for chance in chances:
            chance[2] = _at_most(distance, chance[2], reached, alone)
        details[NOTE] = " ".join([CAUTION, *([details[NOTE]] if NOTE in details else [])])
    estimated = not (waiting.at_once and waiting.proven)
    about = doubt[space.truth.original] if ranked else None
    return [
        Linked(drawn, dict(details), least, most, estimated=estimated, together=True, doubt=about)
        for least, drawn, most in chances
    ]


def _at_most(distance: Distance, found: FloatArray, reached: BoolArray, alone: FloatArray) -> FloatArray:
    """Return the most that the true links of targets in neighbourhoods count, shape (links,).

    A link that leaves a neighbourhood counts as the others do on average: it would hardly be made more often.
    All together count at least what the nearest record finds.

    Parameters
    ----------
    found, alone: what the true links count in neighbourhoods, and by the nearest record.
    reached: which of them are in a neighbourhood.
    """
    counts = distance.space.truth.counts
    within = int(counts[reached].sum())
    mean = float((found * counts)[reached].sum()) / within if within else 1.0
    most = np.where(reached, found, mean)
    return alone if float(alone @ counts) > float(most @ counts) else most


@dataclass(frozen=True, eq=False)
class Waiting:
    """The records and places that are left once the certain originals are assigned.

    Attributes
    ----------
    records: of each original, shape (originals,), int64.
    places: of each class, shape (classes,), int64.
    certain: probability that a record of each true link is linked correctly as a certain original.
    doubt: about the link of each original, infinite while it waits, shape (originals,), float64.
    proven: whether the certain originals have their places in an assignment of all with the least sum.
    """

    records: IntArray
    places: IntArray
    certain: FloatArray
    doubt: FloatArray
    proven: bool = True

    @classmethod
    def of(cls, space: ComparisonSpace, *, exact: bool) -> Waiting:
        """Return what waits; only of exact distances some originals are certain.

        Certain originals alone are an assignment without any distance. If more have to be assigned, another
        assignment may have a smaller sum, so that nobody is certain unless there are too many for all.
        """
        nobody = np.zeros(len(space.truth.counts)), np.full(len(space.records), np.inf)
        everyone = cls(space.records, space.sizes, *nobody)
        if not (exact and space.by_covering):
            return everyone
        found = everyone._without(space, *_sure(space))
        proven = not found.records.any() or not found.places.any()
        return replace(found, proven=proven) if proven or not everyone.at_once else everyone

    def _without(self, space: ComparisonSpace, originals: IntArray, classes: IntArray) -> Waiting:
        """Return what waits once some originals have places in their only classes."""
        records, truth = self.records.copy(), space.truth
        records[originals] = 0
        own = np.full(len(records), -1, dtype=np.int64)
        own[originals] = classes
        certain = (own[truth.original] == truth.release) / space.sizes[truth.release]
        doubt = np.full(len(records), np.inf)
        doubt[originals] = space.sizes[classes] - 1
        places = self.places - count(classes, space.records[originals], len(self.places))
        return Waiting(records, places, certain, doubt)

    @property
    def at_once(self) -> bool:
        """Whether all waiting records are assigned at once."""
        return int(self.records.sum()) * int(self.places.sum()) <= POOL**2


def _sure(space: ComparisonSpace) -> tuple[IntArray, IntArray]:
    """Return the originals that only one class covers, and this class, if it has places for all of them.

    Their distance is 0.
    """
    originals, classes = [], []
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    for block, pairs in join.blocks(space.originals.astype(np.int64)):
        lone = np.bincount(pairs.original, minlength=len(block))[pairs.original] == 1
        originals.append(block[pairs.original[lone]])
        classes.append(pairs.published[lone])
    own, given = np.concatenate(originals), np.concatenate(classes)
    wanted = count(given, space.records[own], len(space.sizes))
    fits = (wanted <= space.sizes)[given]
    return own[fits], given[fits]


@dataclass(frozen=True, eq=False)
class Pool:
    """Records that are assigned at once.

    Attributes
    ----------
    costs: of each original and class, shape (originals, classes), float64.
    records, places: to assign, shapes (originals,) and (classes,), int64.
    sizes: released records of each class, shape (classes,), int64.
    links: positions of the counted true links, shape (links,), int64.
    ends: original and class of each of them in this pool, shape (2, links), int64.
    worth: targets of each of them, shape (links,), int64.
    scale: of costs that decide.
    steep: surprise per unit of the costs.
    originals: of the rows, shape (originals,), int64.
    targets: places of those whose links are counted, shape (targets,), int64.
    """

    costs: FloatArray
    records: IntArray
    places: IntArray
    sizes: IntArray
    links: IntArray
    ends: IntArray
    worth: IntArray
    scale: float
    steep: float
    originals: IntArray
    targets: IntArray

    @cached_property
    def chances(self) -> FloatArray:
        """Chance of the link of a record with one of each class over all assignments, shape as ``costs``."""
        if not (self.records.any() and self.places.any()):
            return np.zeros(self.costs.shape)
        found = scaled(-self.steep * self.costs, self.records, self.places)
        found /= self.sizes
        found /= self.records[:, None]
        return found

    def expected(self, random: np.random.Generator) -> FloatArray:
        """Return the chances of the true links with the fewest, a random and the most correct links."""
        rows, columns = _alike(self.costs), _alike(self.costs.T)
        own, given = rows[self.ends[0]], columns[self.ends[1]]
        held = np.bincount(rows, weights=self.records)
        free = np.bincount(columns, weights=self.places)
        places = self.places[self.ends[1]]
        each = places / np.maximum(held[own] * free[given] * self.sizes[self.ends[1]], 1)
        reward = np.zeros((len(held), len(free)))
        np.add.at(reward, (own, given), each * self.worth)
        reward = (REWARD * self.scale / max(float(reward.max(initial=0.0)), 1e-300)) * reward
        rewards = reward[rows][:, columns]
        least, most = (
            self._links(self.costs + sign * rewards, (rows, columns), random)[own, given] * each
            for sign in (1, -1)
        )
        if np.allclose(least, most):
            return np.stack([least, most, most])
        drawn = self._links(self.costs, (rows, columns), random)[own, given] * each
        return np.stack([least, drawn, most])

    def _links(
        self, costs: FloatArray, alike: tuple[IntArray, IntArray], random: np.random.Generator
    ) -> FloatArray:
        """Return the records assigned between groups of equal originals and classes, at least costs."""
        records = int(self.records.sum())
        # In file order the solver could find the true links by position.
        rows = random.permutation(np.repeat(np.arange(len(self.records)), self.records))
        places = np.minimum(self.places, records)
        columns = random.permutation(np.repeat(np.arange(len(places)), places))
        first, second = scipy.optimize.linear_sum_assignment(costs[np.ix_(rows, columns)])
        own, given = alike
        found = np.zeros((int(own.max(initial=-1)) + 1, int(given.max(initial=-1)) + 1))
        np.add.at(found, (own[rows[first]], given[columns[second]]), 1.0)
        return found


def _alike(rows: FloatArray) -> IntArray:
    """Return the number of each distinct row, shape (rows,), int64."""
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.ascontiguousarray(rows)]
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The costs of an assignment: distances, and of equal ones the narrower class.

    Attributes
    ----------
    scale: of distances that decide: the median one to a nearest class among a few originals, where it is
        not 0, or else the smallest positive one.
    penalties: of each class for its breadth, shape (classes,), float64.
    """

    distance: Distance
    waiting: Waiting
    scale: float
    penalties: FloatArray

    @classmethod
    def of(cls, distance: Distance, waiting: Waiting) -> Comparison:
        """Return the costs of the waiting records."""
        some = np.flatnonzero(waiting.records)
        some = some[:: max(len(some) // PROBES, 1)]
        rows = [distance.rows(block) for block in distance.blocks(some)]
        closest = np.concatenate([np.empty(0), *(own.min(axis=1) for own in rows)])
        if (closest > 0).any():
            scale = float(np.median(closest[closest > 0]))
        else:
            scale = min((float(own[own > 0].min(initial=1.0)) for own in rows), default=1.0)
        return cls(distance, waiting, scale, BREADTH * scale * _narrowness(distance.space.breadth))

    def everyone(self) -> Pool:
        """Return all waiting records and places."""
        originals = np.flatnonzero(self.waiting.records)
        return self.pool(originals, originals, np.flatnonzero(self.waiting.places))

    def pool(self, targets: IntArray, originals: IntArray, classes: IntArray) -> Pool:
        """Return the pool of some originals and classes, both ascending.

        Parameters
        ----------
        targets: those of the originals whose true links are counted.
        """
        space, truth, waiting = self.distance.space, self.distance.space.truth, self.waiting
        blocks = self.distance.blocks(originals)
        rows = [self.distance.rows(block)[:, classes] for block in blocks]
        costs = np.concatenate([np.empty((0, len(classes))), *rows]) + self.penalties[classes]
        links = np.flatnonzero(np.isin(truth.original, targets) & np.isin(truth.release, classes))
        ends = (originals, truth.original[links]), (classes, truth.release[links])
        return Pool(
            costs,
            waiting.records[originals],
            waiting.places[classes],
            space.sizes[classes],
            links,
            np.stack([np.searchsorted(known, own) for known, own in ends]),
            truth.counts[links],
            self.scale,
            steepness(self.distance, self.scale),
            originals,
            np.searchsorted(originals, targets),
        )


def pools(comparison: Comparison, random: np.random.Generator) -> Iterator[Pool]:
    """Yield the pools in which the targets are assigned, each target in one."""
    distance, waiting = comparison.distance, comparison.waiting
    if not waiting.records.any():
        return
    if waiting.at_once:
        yield comparison.everyone()
        return
    held = distance.space.held
    targets = np.unique(distance.space.truth.original)
    targets = targets[waiting.records[targets] > 0]
    near = _nearest_classes(distance, waiting, targets, random)
    order = np.argsort(near[:, 0], kind="stable")
    for group in _groups(near[order], waiting.places):
        step(near, int(group[0]), len(order))
        own, classes = targets[order[group]], np.unique(near[order[group]])
        rivals = held.original[np.isin(held.release, classes)]
        yield comparison.pool(own, np.union1d(own, rivals[waiting.records[rivals] > 0]), classes)


def _nearest_classes(
    distance: Distance, waiting: Waiting, targets: IntArray, random: np.random.Generator
) -> IntArray:
    """Return the nearest classes of each target with a place, the nearest first, shape (targets, classes)."""
    # Of classes at the same distance, random ones.
    free = random.permutation(np.flatnonzero(waiting.places))
    number = min(_near(distance.space), len(free))
    found = [np.empty((0, number), dtype=np.int64)]
    for block in distance.blocks(targets):
        rows = distance.rows(block)[:, free]
        near = np.argpartition(rows, number - 1, axis=1)[:, :number]
        inner = np.argsort(np.take_along_axis(rows, near, axis=1), axis=1, kind="stable")
        found.append(free[np.take_along_axis(near, inner, axis=1)])
    return np.concatenate(found)


def _near(space: ComparisonSpace) -> int:
    """Return the number of classes in the neighbourhood of a target."""
    return min(NEAR, max(FEWEST, PLACES * len(space.sizes) // int(space.sizes.sum())))


def _groups(near: IntArray, places: IntArray) -> Iterator[IntArray]:
    """Yield positions of targets whose neighbourhoods have at most ``PLACES`` together, or of one target."""
    group: list[int] = []
    taken: set[int] = set()
    for position, classes in enumerate(near.tolist()):
        wider = taken.union(classes)
        if group and int(places[list(wider)].sum()) > PLACES:
            yield np.array(group)
            group, wider = [], set(classes)
        group.append(position)
        taken = wider
    if group:
        yield np.array(group)


def _narrowness(breadth: FloatArray) -> FloatArray:
    """Return the logarithm of the breadth, scaled to [0, 1]."""
    logarithm = np.log(breadth)
    widest = float(logarithm.max(initial=0.0))
    return logarithm / widest if widest > 0 else logarithm
