"""Annealing of a local recoding: the compiled moves on one region of the classes after the other.

The whole table is one region; of a large table, a class with its nearest ones is. The records of a region are
heated and cooled, and the result is taken where it costs less. Each round takes twice as many proposals for a
record as the one before, so that a longer search cools more slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anonymizer.compiled import Room
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, numbered
from anonymizer.search.local.improvers import LEAST_GAIN, Improver, Proposal, ProposalAcceptance
from anonymizer.search.partition.assignment import SUPPRESSED, Assignment, LocalProblem
from anonymizer.search.partition.kernel import (
    CLASS,
    DRAWS,
    GONE,
    HEAD,
    MODULE,
    ROW,
    SIZE,
    UNIT,
    VALUES,
    Draws,
    Neighbours,
    World,
    anneal,
    begin,
    nearest,
)
from anonymizer.search.partition.limits import KernelLimits, limits_of
from anonymizer.search.partition.merging import thinned
from anonymizer.search.partition.trees import NONE, ONE, AllowedTrees, priced
from anonymizer.search.partition.validity import AssignmentJudge, Validity

ROWS = 40_000
"""Most distinct rows that are one region: the nearest of each are found by comparing all pairs."""

RECORDS = 1 << 16
"""Most records of it: more take longer than most budgets, and a region that a budget cuts short is lost."""

REGION = 1 << 14
"""Records of a region of a table with more."""

BLOCK = 2_048
"""Rows among which a quick search looks for the nearest ones."""

NEAR = 24
"""Nearest rows of each row, from which targets are drawn."""

DEPTH = 100
"""Proposals for each record in the first round."""

FIRST_DEPTH = 50
"""The same for a quick search."""

QUICK_DEPTH, DEEPEST = 200, 12_800
"""The most where nobody said how long the search may take, and the most of all."""

PROPOSALS = 150_000
"""Proposals that take as long as a step of the other improvers."""

SHALLOW = 4
"""Proposals for each record where the kernel does not know all conditions."""

CHUNK = 1 << 16
"""Proposals between two looks at the clock."""

HOT, COLD = 0.012, 0.0006
"""The first and the last temperature, in lost records for the root of the median size of a class."""

USUAL = 0.1
"""Cost of a record up to which these hold; where records cost more, near classes differ more, too."""

AT_ONCE = 512
"""Rows whose nearest ones are found before the clock is asked again."""


class NearRows:
    """The nearest rows of each distinct row of a problem, found when they are first asked for."""

    def __init__(self, ground: LocalProblem, rows: CodeArray) -> None:
        self._known = np.zeros(len(rows), dtype=bool)
        codes, tables, places, sizes, place = [], [], [], [], 0
        for attribute in range(ground.trees.attributes):
            own, code = _few(ground.trees, rows[:, attribute])
            pairs = ground.joins.climbed(np.repeat(own, len(own)), np.tile(own, len(own)))
            codes.append(code.astype(np.int32))
            tables.append(pairs.astype(np.float32))
            places.append(place)
            sizes.append(len(own))
            place += len(pairs)
        known = Neighbours(
            np.stack(codes),
            np.zeros(len(rows), dtype=np.int32),
            np.array(places, dtype=np.int32),
            np.concatenate(tables),
            np.array(sizes, dtype=np.int32),
            np.full((len(rows), NEAR), -1, dtype=np.int32),
            np.zeros(len(rows), dtype=np.float32),
            np.zeros(NEAR, dtype=np.float32),
        )
        self._room = Room(MODULE, [known])

    def of(self, rows: IntArray, ended: Callable[[], bool]) -> IntArray | None:
        """Return the nearest rows of some rows, shape (chosen, near), the nearest first, -1 for no more.

        None if ``ended`` says so before all are found.
        """
        known: Neighbours = self._room.values[0]
        wanted = rows[~self._known[rows]]
        for start in range(0, len(wanted), AT_ONCE):
            if ended():
                return None
            some = wanted[start : start + AT_ONCE]
            known.wanted[: len(some)] = some
            self._room.run(nearest, known, len(some))
            self._known[some] = True
        return known.near[rows].astype(np.int64)


MOST_NODES = 1_024
"""Most nodes of an attribute whose pairs are tabulated."""


def _few(trees: AllowedTrees, nodes: CodeArray) -> tuple[CodeArray, IntArray]:
    """Return the distinct nodes, raised until there are few, and the number of each row's."""
    own, code = np.unique(nodes, return_inverse=True)
    code = code.reshape(-1)
    while len(own) > MOST_NODES and (trees.parent[own] != NONE).any():
        above = trees.parent[own]
        own, higher = np.unique(np.where(above == NONE, own, above), return_inverse=True)
        code = higher.reshape(-1)[code]
    return own, code


def _blocks(ground: LocalProblem, rows: CodeArray) -> list[IntArray]:
    """Return the positions of rows in blocks of near ones, halved at the attribute that costs most."""
    waiting, found = [np.arange(len(rows))], []
    while waiting:
        block = waiting.pop()
        if len(block) <= BLOCK:
            found.append(block)
            continue
        inside = rows[block]
        # Nodes are numbered in preorder, so the first and the last one meet where all do.
        costs = ground.joins.climbed(inside.min(axis=0), inside.max(axis=0))
        order = np.argsort(inside[:, int(costs.argmax())], kind="stable")
        waiting += np.array_split(block[order], 2)
    return found


class Annealing(Improver):
    """Anneals a region of the classes, deeper in each round.

    Parameters
    ----------
    ended: whether the budget is spent; a region is given up then.
    deepest: most proposals for each record; from then on it changes nothing.
    near: of the whole table, by its rows; for searches on the same table.
    quick: whether the search ends soon.
    """

    name = "annealing"

    def __init__(
        self,
        ground: LocalProblem,
        validity: Validity,
        judge: AssignmentJudge,
        acceptance: ProposalAcceptance,
        ended: Callable[[], bool],
        deepest: int,
        near: dict[bytes, NearRows],
        *,
        quick: bool = False,
    ) -> None:
        self._ground = ground
        self._validity = validity
        self._judge = judge
        self._acceptance = acceptance
        self._ended = ended
        self._deepest = deepest
        self._known_near = near
        self._forest = priced(ground.trees)
        row_of, first = numbered(ground.atoms.nodes.T, ground.atoms.number)
        self._row_of = row_of
        self._rows = np.ascontiguousarray(ground.atoms.nodes[first])
        self._whole = len(first) <= ROWS and ground.records <= RECORDS
        self._done = 0
        self._quick, self._depth = quick, FIRST_DEPTH if quick else DEPTH
        # Under p of the release, which moves, the numbers are those of the start.
        found = limits_of(ground, validity.references)
        self.limits: KernelLimits = replace(found, complete=found.complete and not validity.moving)
        self.effort = self._effort()

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Anneal one region."""
        own = assignment
        if self._depth > self._deepest:
            return own
        inside = self._region(own, random)
        parts = np.flatnonzero(inside)
        atoms = np.repeat(own.atoms[parts], own.counts[parts])
        labels = np.repeat(own.class_of[parts], own.counts[parts])
        outside = own.suppressed - int((labels < 0).sum())
        room = 0 if self._validity.moving else self._ground.problem.limit - outside
        room = room if self.limits.complete else 0
        found = self._annealed(atoms, labels, (own.loss, room, self._empty(own)), random)
        self._go_deeper(len(atoms))
        if found is None:
            return own
        if not self.limits.complete:
            return self._acceptance.taken(own, _zones(own, *found))
        result = _replaced(own, ~inside, found[0], found[2])
        if own.total - result.total <= LEAST_GAIN:
            return own
        if self._judge.admits(result):
            return result
        return self._thinned(own, result) if self._ground.problem.table_constraints else own

    def _thinned(self, own: Assignment, found: Assignment) -> Assignment:
        """Return new classes merged until they are valid together, or the old ones where that costs more.

        Of what all classes show together, the kernel knows their number alone.
        """
        fewer = thinned(found, self._judge, self._ended)
        return own if fewer is None or own.total - fewer.total <= LEAST_GAIN else fewer

    def _empty(self, own: Assignment) -> int | None:
        """Return how many classes more there may be, None if any number."""
        problem = self._ground.problem
        kept = self._ground.records - own.suppressed
        most = [each.most_classes(kept) for each in problem.table_constraints]
        return min((max(each - own.classes, 0) for each in most if each is not None), default=None)

    @cached_property
    def _near(self) -> NearRows:
        """Those of the whole table, which many searches end without."""
        key = self._rows.tobytes()
        if key not in self._known_near:
            self._known_near[key] = NearRows(self._ground, self._rows)
        return self._known_near[key]

    def _go_deeper(self, records: int) -> None:
        """Double the proposals for each record once all have had theirs."""
        self._done += records
        if self._done >= self._ground.records:
            self._done = 0
            if self.limits.complete:
                self._depth *= 2
        self.effort = self._effort()

    def _effort(self) -> float:
        records = self._ground.records if self._whole else REGION
        return max(self._depth * records / PROPOSALS, 1.0)

    def _region(self, own: Assignment, random: np.random.Generator) -> BoolArray:
        """Return which parts are in the region; suppressed ones are, where they may come back."""
        if self._whole:
            return (own.class_of >= 0) | self.limits.complete
        centre = int(random.integers(own.classes))
        costs = self._ground.joins.costs(own.nodes[centre], own.nodes)
        order = np.argsort(costs, kind="stable")
        reached = np.cumsum(own.sizes[order])
        chosen = order[: int(np.searchsorted(reached, REGION)) + 1]
        inside = np.zeros(own.classes + 1, dtype=bool)
        inside[chosen] = True
        inside[SUPPRESSED] = self.limits.complete
        return inside[own.class_of]

    def _annealed(
        self,
        atoms: IntArray,
        labels: IntArray,
        given: tuple[float, int, int | None],
        random: np.random.Generator,
    ) -> tuple[IntArray, IntArray, IntArray] | None:
        """Return the atoms of the records of a region, their classes before, and from 1 after.

        Suppressed ones are in -1 before and ``GONE`` after; None if the budget ended.

        Parameters
        ----------
        given: the cost of a record, on average; records that may be suppressed; classes that there may be
            more, None for any number.
        """
        cost, room, empty = given
        rows = self._row_of[atoms]
        order = np.argsort(rows, kind="stable")
        atoms, labels, rows = atoms[order], labels[order], rows[order]
        distinct, classes = np.unique(labels, return_inverse=True)
        classes = classes.reshape(-1) + int(distinct[0] >= 0)
        world = self._world(atoms, rows, classes, empty)
        if world is None:
            return None
        numbers, draws = self.limits.limits, Draws(np.zeros((CHUNK, DRAWS)), np.zeros(CHUNK))
        arrays = Room(MODULE, [world, numbers, draws])
        world, numbers, draws = arrays.values
        arrays.run(begin, world)
        sizes = world.classes[1:-2, SIZE]
        unit = ONE * sqrt(float(np.median(sizes[sizes > 0]))) * max(cost / USUAL, 1.0)
        steps = self._depth * len(atoms)
        hot, cold = HOT, COLD
        if not self.limits.complete:
            # What is not known to the kernel fails less often where little changes.
            steps, hot = SHALLOW * len(atoms), COLD
        for start in range(0, steps, CHUNK):
            if self._ended():
                return None
            some = min(CHUNK, steps - start)
            ways = (start + np.arange(some)) / steps
            draws.heats[:some] = unit * hot * (cold / hot) ** ways * random.standard_exponential(some)
            random.random(out=draws.uniform)
            arrays.run(anneal, world, numbers, draws, some, room)
        return atoms, labels, world.records[:, CLASS].astype(np.int64)

    def _near_rows(self, rows: IntArray) -> IntArray | None:
        """Return the nearest of some rows to each of them, by their positions, shape (rows, near)."""
        if not self._whole:
            return NearRows(self._ground, self._rows[rows]).of(np.arange(len(rows)), self._ended)
        place = np.full(len(self._rows) + 1, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        found = self._near_in_blocks(rows) if self._quick else self._near.of(rows, self._ended)
        if found is None:
            return None
        near = place[found]
        # Those of the region first, in their order.
        ordered: IntArray = np.take_along_axis(near, np.argsort(near < 0, axis=1, kind="stable"), axis=1)
        return ordered

    def _near_in_blocks(self, rows: IntArray) -> IntArray | None:
        """Return the nearest rows of some rows in their blocks, shape (rows, near), -1 for no more."""
        found = np.full((len(rows), NEAR), -1, dtype=np.int64)
        for block in _blocks(self._ground, self._rows[rows]):
            own = rows[block]
            near = NearRows(self._ground, self._rows[own]).of(np.arange(len(own)), self._ended)
            if near is None:
                return None
            found[block] = np.where(near < 0, -1, own[near])
        return found

    def _world(self, atoms: IntArray, rows: IntArray, classes: IntArray, empty: int | None) -> World | None:
        """Return the records of a region, given by atom, row and class, sorted by row; None if ended.

        Parameters
        ----------
        empty: classes that may be opened at most, None for any number.
        """
        numbers = self.limits.limits
        distinct, row_of = np.unique(rows, return_inverse=True)
        row_of = row_of.reshape(-1)
        first = np.searchsorted(row_of, np.arange(len(distinct) + 1))
        near = self._near_rows(distinct)
        if near is None:
            return None
        values = self.limits.values_of(self._ground, atoms)
        records = np.full((len(atoms), VALUES + values.shape[1]), -1, dtype=np.int32)
        records[:, CLASS], records[:, ROW], records[:, VALUES:] = classes, row_of, values
        unit = self._ground.unit
        if unit is not None:
            records[:, UNIT] = self._ground.atoms.keys.by_name[unit][atoms]
        used = int(classes.max()) + 1
        number = max(used, len(atoms) // max(numbers.smallest, 1))
        number = 3 + (number if empty is None else min(number, used - 1 + empty))
        width = self._ground.trees.attributes
        own = np.zeros((number, 6), dtype=np.int64)
        own[:, HEAD] = -1
        return World(
            records,
            own,
            np.zeros((number, width), dtype=np.int32),
            np.zeros((number, width), dtype=np.int32),
            np.zeros((number, len(numbers.caps)), dtype=np.int32),
            self._rows[distinct],
            np.column_stack([first[:-1], first[1:], near]).astype(np.int32),
            self._forest,
            np.zeros((len(atoms) + number + 1, 5), dtype=np.int64),
        )


def _replaced(own: Assignment, stays: BoolArray, atoms: IntArray, classes: IntArray) -> Assignment:
    """Return an assignment with the classes of some records in place of the parts that do not stay."""
    return Assignment.of(
        own.ground,
        np.concatenate([own.atoms[stays], atoms]),
        np.concatenate([own.counts[stays], np.ones_like(atoms)]),
        np.concatenate([own.class_of[stays], np.where(classes == GONE, SUPPRESSED, classes + own.classes)]),
    )


def _zones(own: Assignment, atoms: IntArray, before: IntArray, after: IntArray) -> Proposal:
    """Return new classes as a proposal of the fewest records that change together."""
    number = int(after.max()) + 1
    pairs = csr_array(
        (np.ones(len(before)), (before, after + own.classes)), shape=(own.classes + number,) * 2
    )
    zone = connected_components(pairs, directed=False)[1].astype(np.int64)
    zones, zone_of = np.unique(zone[before], return_inverse=True)
    zone_of_class = np.full(own.classes, -1, dtype=np.int64)
    zone_of_class[before] = zone_of.reshape(-1)
    return Proposal(zone_of_class, len(zones), atoms, np.ones_like(atoms), zone_of.reshape(-1), after)
