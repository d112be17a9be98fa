"""Provably optimal full-domain search over the lattice of generalization levels.

Proofs at evaluated transformations also hold in boxes of the lattice that are opened later. Transformations
that satisfy all other constraints wait for the attack checks. The frequency table of a transformation is in
memory or counted by an engine.

Where the lattice is too large to count, simulated annealing over the levels of all attributes finds
transformations that are worth counting, by estimated class sizes: hash collisions may make a class look
larger than it is, so what it finds has to be judged as any other candidate.

With local suppression, the transformations are completed in the order of their lower bounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import log
from operator import mul

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TooManyDistinctRows
from anonymizer.loss.base import LOSS_METRICS, LatticeLoss, Marginals, TransformationFacts
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, group_keys
from anonymizer.model.classes import Classes, ClassValues, classes_of_rows
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import (
    FullDomainRecoding,
    Outcome,
    Recoding,
    Step,
    levels_by_name,
)
from anonymizer.model.table import QuasiIdentifier, Table, TableSource
from anonymizer.search.base import (
    FULL_DOMAIN_FEATURES,
    Control,
    SearchAlgorithm,
    SearchProblem,
    nodes_at,
    projection,
    sensitive_codes,
    weighs_differently,
)
from anonymizer.search.judge import CandidateVerdict, Judge, search_with_attack_checks
from anonymizer.search.lattice.frontier import (
    SLICES,
    Combine,
    Frontier,
    Guide,
    LatticeRun,
    Levels,
    Tiles,
    level_entropies,
)
from anonymizer.search.lattice.projections import alone, in_pairs
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.suppressor import Suppressed

Keys = NDArray[np.uint32]
Move = list[tuple[int, int]]

FIRST_CYCLE = 1_000
"""Proposals of the first cycle; each later one has half as many again."""

HOTTEST, COLDEST = 0.036, 0.0007
"""Temperatures at the ends of a cycle, in losses of the incumbent over the square root of the attributes."""

WARMING = 2.5
"""Factor on the first temperature for each cycle in a row that found nothing better."""

CHARGE = 4.0
"""Least price of suppressing all records beyond the limit, in losses of the incumbent."""

LEAST_CHANCE = 0.0625
"""Of each kind of move, beside the share of the four that its success gives."""

REMEMBERED = 400
"""Counted moves by which kinds of moves are rated."""

PROPOSALS, ROWS = 256, 1 << 22
"""Most proposals of a round, and most rows that all of them count together."""

JUDGED = 8
"""A proposal whose classes are judged takes so many times as long as one by size alone."""

CACHED = 1 << 24
"""Numbers of rows in memory at once."""

ODD = np.uint32(2_654_435_769)


def useful_levels(attribute: QuasiIdentifier) -> list[int]:
    """Return the allowed levels of an attribute that merge values of the level before."""
    levels = range(attribute.minimum, attribute.maximum + 1)
    values = [len(np.unique(attribute.nodes(level))) for level in levels]
    return [level for i, level in enumerate(levels) if i == 0 or values[i] < values[i - 1]]


def guiding_loss(problem: SearchProblem, loss: LatticeLoss) -> LatticeLoss:
    """Return the loss by which transformations are chosen: the bits lost if the metric has no bounds."""
    if np.isfinite(loss.worst):
        return loss
    return LOSS_METRICS["nonuniform-entropy"]().on_lattice(problem.table, problem.k, problem.minimum_size)


def chain(attributes: tuple[QuasiIdentifier, ...], loss: LatticeLoss) -> list[Levels]:
    """Return transformations from the most general to the finest one, each a level of one attribute lower.

    The next level is the one that saves most loss for the entropy that it adds, before suppression.
    """
    entropies = [level_entropies(attribute) for attribute in attributes]
    levels = [useful_levels(attribute) for attribute in attributes]
    own = [each.pop() for each in levels]
    found = [tuple(own)]
    while any(levels):
        gains = []
        for place, lower in enumerate(levels):
            if lower:
                saved = loss.floors[place][own[place]] - loss.floors[place][lower[-1]]
                added = entropies[place][lower[-1]] - entropies[place][own[place]]
                gains.append((saved / max(added, 1e-9), -place))
        place = -max(gains)[1]
        own[place] = levels[place].pop()
        found.append(tuple(own))
    return found


def _picked(places: Sequence[int], number: float) -> int:
    """Return one of some places by a number in [0, 1)."""
    return places[int(number * len(places))]


@dataclass(frozen=True)
class _Estimate:
    """The estimated loss of a transformation, and the share of records suppressed beyond the limit.

    Attributes
    ----------
    least: whether both may be higher if looked at more closely.
    """

    loss: float
    excess: float
    least: bool = False


class Annealing:
    """A walk over the levels that improves what it costs, in cycles of falling temperature.

    Parameters
    ----------
    problem: with its table in memory.
    loss: to lower; with bounds.

    Attributes
    ----------
    over: whether a cycle has ended; ``restart`` begins the next.
    smallest: records of a class that is expected to satisfy all constraints.
    """

    def __init__(self, problem: SearchProblem, loss: LatticeLoss) -> None:
        table = problem.table
        self.over = True
        self.smallest = problem.minimum_size
        self._problem, self._loss = problem, loss
        self._levels = [useful_levels(attribute) for attribute in table.quasi_identifiers]
        self._movable = [place for place, own in enumerate(self._levels) if len(own) > 1]
        self._counts = None if (table.counts == 1).all() else table.counts.astype(np.float64)
        self._weights = np.ones(table.combinations) if self._counts is None else self._counts
        bits = min(max((4 * table.combinations).bit_length(), 12), 20)
        self._bins, self._shift = 1 << bits, np.uint32(32 - bits)
        by_size = all(each.by_size for each in problem.class_constraints)
        self._judge = None
        judged = not by_size or problem.table_constraints or problem.unit_limit is not None
        if judged or table.measure.ties is not None:
            # An estimate need not choose among the records of a class.
            self._judge = Judge(replace(problem, suppression=SuppressionMethod.CLASSES))
            self._sensitive = sensitive_codes(table)
        # Hashes of levels are not those of the population's values.
        self._rollup = None if table.population is None else RollUp.of(table)
        # Each set of columns that an adversary may know is judged by itself.
        sets = sum(len(each.knowledge or (None,)) for each in problem.class_constraints)
        rows = table.combinations * (1 if self._judge is None else JUDGED * max(sets, 1))
        self._round = max(1, min(PROPOSALS, ROWS // max(rows, 1)))
        self._random = np.random.default_rng(problem.seed)
        self._numbers = [
            [self._drawn(attribute, level) for level in own]
            for attribute, own in zip(table.quasi_identifiers, self._levels, strict=True)
        ]
        self._cache: dict[tuple[int, int], Keys] = {}
        self._seen: dict[bytes, _Estimate] = {}
        self._length, self._taken = FIRST_CYCLE * 2 // 3, 0
        self._charge, self._hottest = CHARGE, HOTTEST
        self._kind, self._accepted, self._tried = 0, [1.0] * 4, [2.0] * 4
        self._lowest = self._loss.floor([own[0] for own in self._levels])
        self._walk([len(own) - 1 for own in self._levels])
        self._bar = np.inf

    def _drawn(self, attribute: QuasiIdentifier, level: int) -> Keys:
        """Return a random number for each code, equal for codes that the level merges."""
        nodes = attribute.nodes(level)
        drawn = self._random.integers(0, 1 << 32, size=len(attribute.hierarchy.labels), dtype=np.uint32)
        return drawn[nodes]

    def _rows(self, place: int, own: int) -> Keys:
        """Return the numbers of all rows at a level, shape (combinations,)."""
        found = self._cache.get((place, own))
        if found is None:
            found = self._numbers[place][own][self._problem.table.quasi_identifier_codes(place)]
            if (len(self._cache) + 1) * len(found) <= CACHED:
                self._cache[place, own] = found
        return found

    def _walk(self, position: list[int]) -> None:
        """Go to a transformation.

        Parameters
        ----------
        position: place of each attribute's level among the useful ones.
        """
        self._position = np.array(position, dtype=np.int16)
        self._keys = np.zeros(self._problem.table.combinations, dtype=np.uint32)
        for place, own in enumerate(position):
            self._keys += self._rows(place, own)
        floor = self._loss.floor(self._named(self._position))
        self._at = self._counted(floor, self._keys, self._twice(self._keys), self._named(self._position))
        self._scale = max(abs(self._at.loss - self._lowest), 1e-9)
        self._degree = self._scale / max(len(self._movable), 1) ** 0.5

    def _named(self, position: NDArray[np.int16]) -> Levels:
        return tuple(own[i] for own, i in zip(self._levels, position.tolist(), strict=True))

    def restart(self, levels: Levels | None, idle: int = 0, *, again: bool = False) -> None:
        """Begin the next cycle at the incumbent; where the last one ended if there is none.

        Parameters
        ----------
        idle: last cycles in a row that found nothing better; the next is the hotter.
        again: whether to return transformations that are no better than those returned before.
        """
        self.over, self._taken, self._length = not self._movable, 0, self._length + self._length // 2
        self._hottest = HOTTEST * WARMING**idle
        if levels is not None:
            # The highest useful level that is not above merges the same values.
            self._walk(
                [
                    max(i for i, level in enumerate(own) if level <= wanted)
                    for own, wanted in zip(self._levels, levels, strict=True)
                ]
            )
        if again:
            self._bar = np.inf

    def round(self, most: int | None) -> tuple[Levels | None, int]:
        """Walk on for a round.

        Parameters
        ----------
        most: transformations to count; None for any number.

        Returns
        -------
        The transformation of lowest estimated loss, None if none is below all before, and the number of
        counted ones that were not counted before.
        """
        best, before = None, len(self._seen)
        for row in self._random.random((self._round, 5)).tolist():
            if self._taken >= self._length or (most is not None and len(self._seen) - before >= most):
                break
            known = len(self._seen)
            found = self._step(row)
            self._rate(counted=len(self._seen) > known, accepted=found is not None)
            if found is not None and found.excess == 0 and found.loss < self._bar:
                best, self._bar = self._named(self._position), found.loss
        self.over = self._taken >= self._length
        return best, len(self._seen) - before

    def _rate(self, *, counted: bool, accepted: bool) -> None:
        """Note whether the last move was counted, and accepted; the last few hundred moves tell."""
        self._tried[self._kind] += counted
        self._accepted[self._kind] += accepted
        *_, tried = accumulate(self._tried)
        if tried > REMEMBERED:
            self._tried = [each / 2 for each in self._tried]
            self._accepted = [each / 2 for each in self._accepted]

    def _step(self, draws: list[float]) -> _Estimate | None:
        """Propose a move; return the estimate of its transformation if it is accepted."""
        heat = self._hottest * (COLDEST / self._hottest) ** (self._taken / self._length) * self._degree
        self._taken += 1
        moved = self._proposal(draws)
        if not moved:
            return None
        most = self._price(self._at) - heat * log(max(draws[4], 1e-300))
        position = self._position.copy()
        for place, own in moved:
            position[place] = own
        floor = self._loss.floor(self._named(position))
        name = position.tobytes()
        known = self._seen.get(name)
        if floor > most or (known is not None and self._price(known) > most):
            return None
        keys = self._keys.copy()
        for place, own in moved:
            keys += self._rows(place, own)
            keys -= self._rows(place, int(self._position[place]))
        if known is None or known.least:
            sizes = self._hashed(keys)
            self._seen[name] = replace(self._by_size(floor, sizes), least=True)
            if self._price(self._seen[name]) > most:
                return None
            least = np.minimum(sizes, self._hashed(keys * ODD))
            known = self._seen[name] = self._counted(floor, keys, least, self._named(position))
            if self._price(known) > most:
                return None
        self._position, self._keys, self._at = position, keys, known
        self._charge = min(max(self._charge * (1.03 if known.excess else 1 / 1.03), CHARGE), 1e6)
        return known

    def _proposal(self, draws: list[float]) -> Move:
        """Return attributes with their new levels: a step, a jump, a trade of levels or a swap.

        A kind is the likelier the more of its counted moves are accepted: where few columns are below their
        top, most steps and jumps suppress far too much, and swaps keep the loss of the levels. Without a
        move of its kind there are none.
        """
        # A few numbers, for which lists are quicker than arrays.
        rates = [accepted / tried for accepted, tried in zip(self._accepted, self._tried, strict=True)]
        *_, total = accumulate(rates)
        chances = list(accumulate(LEAST_CHANCE + rate / total for rate in rates))
        self._kind = min(bisect_left(chances, draws[0] * chances[-1]), len(rates) - 1)
        return (self._stepped, self._jumped, self._traded, self._swapped)[self._kind](draws[1], draws[2])

    def _stepped(self, first: float, second: float) -> Move:
        """Return one attribute at the next level, up or down."""
        one = _picked(self._movable, first)
        at, top = int(self._position[one]), len(self._levels[one]) - 1
        up = at == 0 or (at < top and second < 0.5)
        return [(one, at + (1 if up else -1))]

    def _jumped(self, first: float, second: float) -> Move:
        """Return one attribute at any other level."""
        one = _picked(self._movable, first)
        other = int(second * (len(self._levels[one]) - 1))
        return [(one, other + (other >= self._position[one]))]

    def _traded(self, first: float, second: float) -> Move:
        """Return one attribute a level higher, and another one a level lower."""
        own = self._position.tolist()
        raised = [place for place in self._movable if own[place] < len(self._levels[place]) - 1]
        if not raised:
            return []
        one = _picked(raised, first)
        lowered = [place for place in self._movable if own[place] > 0 and place != one]
        if not lowered:
            return []
        two = _picked(lowered, second)
        return [(one, own[one] + 1), (two, own[two] - 1)]

    def _swapped(self, first: float, second: float) -> Move:
        """Return two attributes with the levels of each other."""
        one, own = _picked(self._movable, first), self._position.tolist()
        others = [place for place in self._movable if own[place] != own[one]]
        if not others:
            return []
        two = _picked(others, second)
        moved = [(one, own[two]), (two, own[one])]
        return moved if all(level < len(self._levels[place]) for place, level in moved) else []

    def _price(self, estimate: _Estimate) -> float:
        return estimate.loss + estimate.excess * self._charge * self._scale

    def _hashed(self, keys: Keys) -> FloatArray | IntArray:
        """Return the class size of each row, or more if another class has the same hash."""
        hashed = (keys >> self._shift).astype(np.intp)
        return np.bincount(hashed, self._counts, self._bins)[hashed]

    def _twice(self, keys: Keys) -> FloatArray | IntArray:
        return np.minimum(self._hashed(keys), self._hashed(keys * ODD))

    def _by_size(self, floor: float, sizes: FloatArray | IntArray) -> _Estimate:
        """Estimate as if every class of enough records satisfied the constraints."""
        kept: BoolArray = sizes >= self.smallest
        if self._counts is None:
            suppressed = len(kept) - int(np.count_nonzero(kept))
        else:
            suppressed = self._problem.table.records - int(self._counts[kept].sum())
        share = suppressed / self._problem.table.records
        loss = self._loss.approximate(floor, share, lambda: (sizes[kept], self._weights[kept]))
        return _Estimate(loss, self._excess(suppressed))

    def _excess(self, suppressed: int) -> float:
        if self._problem.admits(suppressed):
            return 0.0
        return max(suppressed - self._problem.limit, 1) / self._problem.table.records

    def _counted(self, floor: float, keys: Keys, sizes: FloatArray | IntArray, levels: Levels) -> _Estimate:
        """Estimate by the classes of equal keys where their sizes do not decide."""
        by_size = self._by_size(floor, sizes)
        if self._judge is None or by_size.excess > 0:
            return by_size
        table = self._problem.table
        if self._rollup is not None:
            classes = self._rollup.classes(levels)
        else:
            groups, distinct = group_keys(keys.astype(np.int64), 1 << 32)
            classes = classes_of_rows(groups, table.measure, len(distinct), self._sensitive)
            if not classes.linked:
                names = [each.name for each in table.quasi_identifiers]
                number = len(distinct)
                classes.values = ClassValues(
                    names,
                    lambda: self._published(groups, number, levels),
                    lambda: [each.hierarchy.labels for each in table.quasi_identifiers],
                )
        verdict = self._judge.judge(classes)
        own = verdict.sizes[verdict.kept]
        share = verdict.suppressed / self._problem.table.records
        loss = self._loss.approximate(floor, share, lambda: (own, own))
        excess = self._excess(verdict.suppressed)
        # A violated model of the whole table costs as much as all that may be suppressed.
        missed = (self._problem.limit + 1) / self._problem.table.records if verdict.failed else 0.0
        return _Estimate(max(loss, by_size.loss), excess or missed)

    def _published(self, groups: IntArray, number: int, levels: Levels) -> IntArray:
        """Return the node of each class and quasi-identifier; of several by the same hash one."""
        item = np.empty(number, dtype=np.int64)
        item[groups] = np.arange(len(groups))
        return nodes_at(self._problem.table, levels, item).astype(np.int64)


Finding = Callable[[Frontier], None]


class _Rows:
    """Transformations, put into one array when it is asked for."""

    def __init__(self, width: int) -> None:
        self._stacked = np.zeros((0, width), dtype=np.int64)
        self._further: list[Levels] = []

    def append(self, levels: Levels) -> None:
        self._further.append(levels)

    @property
    def stacked(self) -> IntArray:
        """The levels, shape (transformations, attributes), int64."""
        if self._further:
            self._stacked = np.concatenate([self._stacked, np.array(self._further, dtype=np.int64)])
            self._further = []
        return self._stacked


class Findings:
    """Applies proofs to the open box, and remembers them for later ones.

    Parameters
    ----------
    top: the most general transformation.

    Attributes
    ----------
    box: the open one, None before the first.
    in_pairs: whether pairs of attributes have been looked at.
    """

    def __init__(self, top: Levels) -> None:
        self.box: Frontier | None = None
        self.in_pairs = False
        self._top = top
        self._proven: list[Finding] = []
        self._highest, self._lowest = _Rows(len(top)), _Rows(len(top))
        self._ruled_out = _Rows(len(top))
        self._evaluated = _Rows(len(top))

    def open(self, box: Frontier, aim: float, rounding: float) -> None:
        """Apply all proofs so far that reach a new box.

        Parameters
        ----------
        aim: objective to beat.
        rounding: relative error of bounds and objectives.
        """
        self.box = box
        box.cut(aim, rounding)
        # First what closes most at once: bounds are raised only where something is open.
        box.rule_out_below_each(self._ruled_out.stacked)
        box.mark_each(self._evaluated.stacked)
        if np.isposinf(box.minimum()):
            return
        reached = (self._highest.stacked >= box.lowest) & (self._lowest.stacked <= box.highest)
        for proof in np.flatnonzero(reached.all(axis=1)).tolist():
            self._proven[proof](box)

    def _add(self, finding: Finding, lowest: Levels, highest: Levels) -> None:
        """Apply a proof on transformations from some levels up to others."""
        if self.box is not None:
            finding(self.box)
        self._proven.append(finding)
        self._lowest.append(lowest)
        self._highest.append(highest)

    def mark(self, levels: Levels) -> None:
        """Mark a transformation as evaluated; one of the open box is in no other."""
        if self.box is None or not self.box.contains(levels):
            self._evaluated.append(levels)
        else:
            self.box.mark(levels)

    def rule_out_below(self, levels: Levels) -> None:
        """Rule out all transformations at or below these levels."""
        if self.box is not None:
            self.box.rule_out_below(levels)
        self._ruled_out.append(levels)

    def end(self) -> None:
        """Leave the box and forget what was evaluated: it may be worse than the best of this search alone."""
        self.box, self._evaluated = None, _Rows(len(self._top))

    def raise_above(self, levels: Levels, bound: float) -> None:
        """Bound the objectives of all transformations at or above these levels."""
        if np.isfinite(bound):
            self._add(lambda box: box.raise_above(levels, bound), levels, self._top)

    def raise_below(
        self, levels: Levels, parts: Sequence[FloatArray], lowest: Levels, combine: Combine
    ) -> None:
        """Bound the objectives of all transformations at or below these levels by their parts."""
        self._add(lambda box: box.raise_below(levels, parts, lowest, combine), lowest, levels)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What searches of one problem know of its transformations, whichever levels each of them allows.

    Attributes
    ----------
    valid: objectives of valid transformations that later searches need not evaluate.
    """

    guide: Guide
    findings: Findings
    valid: dict[Levels, float]


def certain_marginals(rollup: RollUp, classes: Classes, losses: IntArray, unplaced: int) -> Marginals:
    """Count the certain losses by their values.

    Parameters
    ----------
    losses: records of each class that every finer transformation loses, shape (classes,), int64.
    unplaced: further records that it loses, in any class.
    """
    whole = losses == classes.sizes
    further = int(losses[~whole].sum()) + unplaced
    return rollup.marginals(classes.counts * whole.take(classes.class_of), further)


def _certain(found: Suppressed) -> int:
    """Return how many records any split of the classes loses."""
    return int(found.certain.sum()) + found.unplaced


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A table with the transformation's codes, also rolled up."""

    table: Table
    rollup: RollUp


class NodeTables(ABC):
    """The frequency tables from which transformations are counted."""

    @abstractmethod
    def focus(self, lowest: Sequence[int], expected: int) -> None:
        """Expect only so many transformations, at or above some levels, until the next call."""

    @abstractmethod
    def lost(self, levels: Levels) -> int | None:
        """Return the certain losses of a transformation that cannot be counted in memory.

        None if it can be counted. The records are in classes too small for the constraints, so every
        transformation below loses them too; they are more than may be suppressed.

        Raises
        ------
        TooManyDistinctRows: it cannot be counted in memory, and may be valid.
        """

    @abstractmethod
    def rollup(self, levels: Levels) -> RollUp:
        """Return a roll-up that counts the classes of a transformation without ``lost``."""

    @abstractmethod
    def whole(self, levels: Levels) -> NodeTable:
        """Return a table at least as fine as the transformation."""


class InMemoryTables(NodeTables):
    """All transformations from one table in memory."""

    def __init__(self, problem: SearchProblem) -> None:
        self._whole = NodeTable(problem.table, RollUp.of(problem.table, divided=problem.divided))
        # After the whole the last roll-ups, together of at most as many rows.
        self._held = [self._whole.rollup]

    def focus(self, lowest: Sequence[int], expected: int) -> None:
        """Roll the table up to the levels if that is likely to save time."""
        below = [each for each in self._held if _below(each.lowest, lowest)]
        found = min(below, key=lambda each: len(each.counts))
        if expected >= FEW:
            found = found.towards(lowest)
        held = [each for each in self._held[1:] if each is not found]
        if found is not self._held[0]:
            held.append(found)
        while sum(len(each.counts) for each in held) > len(self._whole.rollup.counts):
            held.pop(0)
        self._held[1:] = held

    def lost(self, levels: Levels) -> None:  # noqa: ARG002 - any levels
        """Return None: every transformation can be counted."""
        return

    def rollup(self, levels: Levels) -> RollUp:
        """Return the table rolled up to the focus, or the whole one outside of it."""
        return self._held[-1] if _below(self._held[-1].lowest, levels) else self._whole.rollup

    def whole(self, levels: Levels) -> NodeTable:  # noqa: ARG002 - any levels
        """Return the whole table."""
        return self._whole


class OnDemandTables(NodeTables):
    """Tables that an engine counts; the last used ones stay in memory.

    Parameters
    ----------
    problem: with a source.
    """

    def __init__(self, problem: SearchProblem, source: TableSource) -> None:
        self._source = source
        self._most = problem.most
        self._limit = problem.limit
        own = problem.class_constraints
        least = {
            unit: max(each.minimum_units for each in own if each.unit == unit)
            for unit in dict.fromkeys(each.unit for each in own)
        }
        least[None] = problem.minimum_size
        self._least = {unit: size for unit, size in least.items() if size > 1}
        self._records = problem.table.records
        self._held: OrderedDict[Levels, NodeTable] = OrderedDict()

    def focus(self, lowest: Sequence[int], expected: int) -> None:  # noqa: ARG002 - any number
        """Load the table of all these transformations if it fits."""
        self._find(tuple(lowest))

    def lost(self, levels: Levels) -> int | None:
        """Count the records in too small classes if the table does not fit."""
        if self._find(levels) is not None:
            return None
        small = max(
            (
                self._source.records_in_small_classes(levels, least, unit)
                for unit, least in self._least.items()
            ),
            default=0,
        )
        if small > self._limit:
            return small
        raise TooManyDistinctRows(
            f"engine: a candidate has more than {self._most:,} distinct rows, the most that fit in memory. "
            f"It may be the best: only {small:,} of its records {'is' if small == 1 else 'are'} in classes "
            "that are too small, and the suppression limit allows that. Raise engine.memory_limit or "
            "engine.options.combinations, or raise attributes.*.levels.min to exclude such candidates"
        )

    def rollup(self, levels: Levels) -> RollUp:
        """Return a roll-up of a table in memory."""
        return self.whole(levels).rollup

    def whole(self, levels: Levels) -> NodeTable:
        """Return a table in memory."""
        found = self._find(levels)
        assert found is not None, "only called for transformations that can be counted"
        return found

    def _find(self, levels: Levels) -> NodeTable | None:
        """Return a table at or below the levels, counted now if none is in memory."""
        for lowest, held in self._held.items():
            if _below(lowest, levels):
                self._held.move_to_end(lowest)
                return held
        table = self._source.at(levels, self._most)
        if table is None:
            return None
        found = NodeTable(table, RollUp.of(table))
        self._held[levels] = found
        while sum(each.table.combinations for each in self._held.values()) > self._most:
            self._held.popitem(last=False)
        return found


def node_tables(problem: SearchProblem) -> NodeTables:
    """Return the frequency tables of a problem."""
    if problem.source is None:
        return InMemoryTables(problem)
    return OnDemandTables(problem, problem.source)


def _below(lowest: Sequence[int], levels: Sequence[int]) -> bool:
    """Return whether the lowest levels of a table are at or below a transformation."""
    return all(low <= level for low, level in zip(lowest, levels, strict=True))


@dataclass(frozen=True, order=True)
class Candidate:
    """A transformation that waits for attack checks.

    Attributes
    ----------
    objective: of its recoding.
    levels: of the node.
    bound: lower bound over all choices of suppressed records.
    """

    objective: float
    levels: Levels
    bound: float


class PendingCandidates:
    """Candidates by their objective."""

    def __init__(self) -> None:
        self._candidates: list[Candidate] = []

    def __len__(self) -> int:
        return len(self._candidates)

    @property
    def lowest(self) -> float:
        """The lowest objective, infinite if none waits."""
        return self._candidates[0].objective if self._candidates else np.inf

    def add(self, candidate: Candidate) -> None:
        """Let a candidate wait."""
        insort(self._candidates, candidate)

    def best(self) -> Candidate:
        """Take out the candidate with the lowest objective."""
        return self._candidates.pop(0)

    def safest(self) -> Candidate:
        """Take out the candidate with the highest objective, the most likely to pass."""
        return self._candidates.pop()

    def drop(self, objective: float) -> None:
        """Drop candidates that are not below an objective."""
        self._candidates = [each for each in self._candidates if each.objective < objective]


PATIENCE = 32
"""Transformations evaluated before the first attack check, and between two checks until one passes."""

EFFORT = ((1 << 20, 2), (1 << 23, 6))
"""Most cycles of annealing before lattices of at most so many transformations are explored as a whole."""

GROUPS = ((2, 1 << 10), (5, 1 << 16), (10, 1 << 19))
"""Bounds by groups of attributes: after how many cycles at most, and transformations of a group."""

IDLE = 3
"""Cycles in a row that find nothing better before the next bound, or the proof."""

ALONE, SOMETIMES = 16, 16
"""After so many evaluations in a row that settled no others, one in so many looks for proofs."""

FEW = 32
"""A table is rolled up for at least so many open transformations; it takes as long as counting several."""

RECENTLY, SETTLED = 32, 8
"""Where so many evaluations settle fewer than so many transformations each, the coarsest come next."""

LOOKED_AT = 1 << 8
"""Open transformations that are looked at one by one for small classes."""

MEASURED = 10_000
"""Steps of which every judged one is measured by default; all of a long search would fill memory."""

NOT_ATTACKED = "not attacked"
"""Shown in the step of a transformation that satisfies all other constraints, before its attack check."""


def groups_of(attributes: Sequence[QuasiIdentifier], most: int) -> list[list[int]]:
    """Divide attributes into groups whose lattices have at most so many transformations."""
    groups: list[list[int]] = [[]]
    space = 1
    for place, attribute in enumerate(attributes):
        size = attribute.maximum - attribute.minimum + 1
        if groups[-1] and space * size > most:
            groups.append([])
            space = 1
        groups[-1].append(place)
        space *= size
    return groups


class Lattice(SearchAlgorithm):
    """Finds the levels of lowest loss among all that satisfy every constraint, and proves it.

    Every transformation has a lower bound on its objective: at first from its levels alone, then from the
    certain losses of those above. Transformations are evaluated until no open bound is below the incumbent.

    In a large lattice annealing finds the incumbent first, and groups of attributes prove bounds while there
    is none of the whole. The most general transformation is evaluated first there, and
    last where the budget of a smaller lattice ends without a release.

    A transformation is attacked once no open one can be better; if it fails, the next best follows. Until one
    has passed, the most general of those that wait is attacked now and then, so that there is a release at
    the end of the budget.
    """

    name = "lattice"
    supports = FULL_DOMAIN_FEATURES
    full_domain = True

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the optimum, or the incumbent with its bound at the end of the budget."""
        if problem.suppression is SuppressionMethod.CELLS:
            # Other methods of suppression do not need these modules.
            from anonymizer.search.lattice.local_suppression import CellSuppressionSearch  # noqa: PLC0415

            return search_with_attack_checks(
                problem, control, lambda *asked: CellSuppressionSearch(*asked).run()
            )
        return _Run(problem, control).run()


class _Run(LatticeRun):
    """One run of the search.

    Parameters
    ----------
    whole: whether the problem is not a group of another's attributes.
    """

    def __init__(self, problem: SearchProblem, control: Control, *, whole: bool = True) -> None:
        self._loss = problem.metric.on_lattice(problem.table, problem.k, problem.minimum_size)
        super().__init__(control, Tiles(problem.table, self._loss))
        self._problem = problem
        self._table = problem.table
        self._whole = whole
        self._judge = Judge(problem)
        memory = control.memory if whole and problem.gate.open else None
        known: Knowledge | None = None if memory is None else memory.get(Lattice.name)
        if known is None:
            guide = Guide(
                problem.table,
                problem.limit,
                self._loss,
                problem.k or 5,
                shared=self._judge.lossless_merging,
                slices=SLICES if control.explained else 1,
            )
            known = Knowledge(guide, Findings(self._tiles.top), {})
        if memory is not None:
            memory[Lattice.name] = known
        self._knowledge = known
        self._guide, self._findings = known.guide, known.findings
        self._tables = node_tables(problem)
        self._waiting = PendingCandidates()
        self._asked = 0
        # Evaluations in a row that settled no other transformation.
        self._alone = 0
        self._objectives: dict[Levels, float] = {}
        self._valid: dict[Levels, float] = {}
        self._best_levels: Levels | None = None
        self._by_size = self._sizes_decide()
        # Whether the open transformations are evaluated from the coarsest on; which, the coarsest last.
        self._in_order, self._coarsest = False, list[Levels]()
        # Attributes whose levels the last of these share, and the levels to which these are rolled up.
        self._leading, self._rolled_up = set[int](), Levels()
        # When that was last decided: the number of evaluations, and of open transformations.
        self._looked = self._open_then = 0

    def run(self) -> Outcome:
        self._recall()
        bound = self._search()
        if np.isposinf(bound):
            self._prefer_finer()
        elif self._best_levels is None and not self._interrupted and np.isposinf(self._control.below):
            # Not a step, so that the steps so far repeat the search.
            with self._steps.apart():
                self._evaluate_top()
        lowest = self._lowest(bound)
        recoding = None if self._best_levels is None else self._recoded(self._best_levels)
        found = self._outcome(recoding, min(lowest, *self._doubts.values(), np.inf))
        self._remember()
        # Where the search proves nothing anyway, the estimates are not what is missing.
        doubtful = lowest >= self._best and not self._interrupted
        named = [name for name, objective in self._doubts.items() if objective < self._best]
        return replace(found, estimated=tuple(named) if doubtful else ())

    def _recall(self) -> None:
        """Begin with the best of the transformations that earlier searches found valid."""
        for levels, objective in self._knowledge.valid.items():
            if self._tiles.contain(levels):
                self._objectives[levels] = objective
                self._take(Candidate(objective, levels, self._bound(levels)))

    def _remember(self) -> None:
        """Leave for later searches which transformations are valid."""
        self._findings.end()
        self._knowledge.valid.update(self._valid)
        for levels in self._knowledge.valid:
            self._findings.mark(levels)

    def _lowest(self, bound: float) -> float:
        """Return the bound on all transformations from the lowest open one."""
        return max(min(bound, self._unproven), self._projected)

    def _search(self) -> float:
        """Search until the optimum is proven or the budget ends; return the lowest open bound."""
        # With an objective to beat, only transformations that promise to beat it are worth a look.
        if self._tiles.large and np.isposinf(self._control.below):
            if self._whole and not self._control.stopped():
                self._evaluate_top()
            if self._approach():
                return np.inf if self._proven else self._tiles.bound
        if not self._tiles.explorable:
            return self._tiles.bound
        if self._by_size and not self._findings.in_pairs:
            self._project()
        for frontier in self._tiles.in_order(lambda: self._best):
            self._findings.open(frontier, self._aim, self._loss.rounding)
            if np.isposinf(frontier.minimum()) and not self._waiting:
                if self._ended(self._evaluated):
                    return self._tiles.bound
                # A step too, so that the same steps open the same boxes.
                self._steps.append(Step({"move": "box"}, None, accepted=False))
                continue
            bound = self._explore(frontier)
            if bound < np.inf:
                return min(bound, self._tiles.bound)
        return np.inf

    def _sizes_decide(self) -> bool:
        """Return whether hardly any record may be suppressed, so that one small class rules out a node.

        Only where tables of two attributes cost little beside the transformations that they may rule out.
        Distances from a reference fail far above the levels at which classes are too small.
        """
        problem, number = self._problem, len(self._table.quasi_identifiers)
        worth = FEW * number * (number - 1) // 2 <= self._tiles.nodes and not self._tiles.large
        counted = problem.source is None and not self._table.measure.linked
        referring = any(each.model.uses_reference for each in problem.class_constraints)
        few = problem.limit < problem.minimum_size and self._whole and bool(np.isfinite(self._loss.worst))
        return few and worth and counted and not referring

    def _project(self) -> None:
        """Rule out what one or two attributes show to lose too many records; not the most general one."""
        self._findings.in_pairs = True
        smallest, limit, top = self._problem.minimum_size, self._problem.limit, self._tiles.top
        lowest = alone(self._tables.rollup(self._tiles.lowest), smallest, limit)
        for place, level in enumerate(lowest):
            if level > self._tiles.lowest[place]:
                self._findings.rule_out_below((*top[:place], level - 1, *top[place + 1 :]))
        self._tables.focus(lowest, self._tiles.nodes)
        for levels in in_pairs(self._tables.rollup(lowest), smallest, limit):
            if levels != top:
                self._findings.rule_out_below(levels)

    @property
    def _proven(self) -> bool:
        """Whether groups of attributes prove the incumbent optimal, or that there is none."""
        if np.isinf(self._best):
            return self._projected == np.inf
        return bool(self._projected >= self._best - self._loss.rounding * max(1.0, abs(self._best)))

    def _evaluate_top(self) -> None:
        """Evaluate the most general transformation, so that there is a release if it is valid."""
        if self._tiles.top not in self._objectives:
            self._settle(self._tiles.top, learn=False)
        if self._waiting:
            self._ask(self._waiting.safest())

    def _approach(self) -> bool:
        """Improve the incumbent and the bound before the proof; return whether the search ends here."""
        loss = guiding_loss(self._problem, self._loss)
        if self._descend(chain(self._table.quasi_identifiers, loss)):
            return True
        if self._problem.source is not None:
            return False
        walk = Annealing(self._problem, loss)
        most = next((cycles for nodes, cycles in EFFORT if self._tiles.nodes <= nodes), np.inf)
        bounded = self._whole and self._problem.metric.joined([0.0], [1.0]) is not None
        passes = [each for each in GROUPS if bounded and each[0] < most]
        idle = cycles = 0
        while cycles < most and (idle < IDLE or passes):
            if idle >= IDLE or (passes and cycles >= passes[0][0]):
                if self._bound_by_groups(passes.pop(0)[1]) or self._proven:
                    return True
                idle = 0
            best = self._aim
            if self._anneal(walk, min(idle, IDLE)):
                return True
            cycles += 1
            idle = 0 if self._aim < best else idle + 1
        return False

    def _descend(self, down: Sequence[Levels]) -> bool:
        """Bisect a chain of transformations for the lowest valid one; return whether the budget ends."""
        valid, invalid = 0, len(down)
        while invalid - valid > 1:
            if self._ended(self._evaluated):
                return True
            middle = (valid + invalid) // 2
            levels = down[middle]
            if levels not in self._objectives:
                try:
                    self._settle(levels)
                except TooManyDistinctRows:
                    # Lower ones have more.
                    self._objectives[levels] = np.inf
            found = np.isfinite(self._objectives[levels])
            valid, invalid = (middle, invalid) if found else (valid, middle)
        return False

    def _anneal(self, annealing: Annealing, idle: int) -> bool:
        """Anneal for a cycle, counting each round's best; return whether the budget ends."""
        gate_open = self._problem.gate.open
        annealing.restart(self._best_levels, idle, again=not gate_open)
        took = 0.0
        while not annealing.over:
            if self._ended(self._evaluated) or self._control.too_late_for(took):
                return True
            began = self._control.spent
            self._control.tell(lambda: self._progress(self._tiles.bound))
            nodes = self._control.nodes
            levels, counted = annealing.round(None if nodes is None else nodes - self._evaluated)
            self._evaluated += counted
            if levels is None or levels in self._objectives:
                self._steps.append(Step({"move": "anneal"}, None, accepted=False))
            else:
                self._evaluated -= 1
                self._settle(levels)
            took = self._control.spent - began
        if self._waiting:
            self._ask(self._waiting.best())
            if self._waiting and np.isposinf(self._best):
                self._ask(self._waiting.safest())
            if self._best_levels is None or self._aim < self._best:
                annealing.smallest = min(2 * annealing.smallest, self._table.records)
        return False

    def _bound_by_groups(self, most: int) -> bool:
        """Raise the bound by the optima of groups of attributes; return whether the budget ends.

        A transformation suppresses at least the records in classes of its projection on some attributes that
        fail however they are split.

        Parameters
        ----------
        most: transformations of a group.
        """
        metric, attributes = self._problem.metric, self._table.quasi_identifiers
        bounds, weights = [], []
        for group in groups_of(attributes, most):
            own = projection(self._problem, group)
            weight = sum(attributes[place].weight for place in group)
            if weight == 0:
                continue
            weights.append(weight)
            if self._ended(self._evaluated):
                bounds.append(
                    metric.on_lattice(own.table, own.k, own.minimum_size).floor(
                        [attributes[i].minimum for i in group]
                    )
                )
                continue
            search = _Run(own, self._left(), whole=False)
            bounds.append(min(search._lowest(search._search()), search._best))
            # They are of some attributes only: no candidates for the release.
            self._steps += [replace(step, accepted=False) for step in search._steps.ended()]
            self._evaluated += search._evaluated
            self._interrupted = self._interrupted or search._interrupted
            if np.isposinf(bounds[-1]):
                self._projected = np.inf
                return False
        joined = metric.joined(bounds, weights)
        assert joined is not None, "only called for metrics of groups"
        self._projected = max(self._projected, joined - self._loss.rounding * max(1.0, abs(joined)))
        return self._ended(self._evaluated)

    @property
    def _aim(self) -> float:
        """The objective to beat: of the incumbent, or of a waiting candidate that may become it."""
        return min(self._best, self._waiting.lowest)

    def _cut(self) -> None:
        if self._findings.box is not None:
            self._findings.box.cut(self._aim, self._loss.rounding)

    def _explore(self, frontier: Frontier) -> float:
        """Evaluate transformations of a box; return the lowest open bound, infinite if none is open."""
        if frontier.minimum() < np.inf:
            if (self._tiles.fixed or self._knowledge.valid or self._by_size) and self._problem.gate.open:
                frontier.shrink(high=True)
            self._tables.focus(frontier.lowest, int(np.count_nonzero(frontier.open)))
        bound = self._evaluate(frontier)
        while np.isposinf(bound) and self._waiting:
            if self._ended(self._evaluated):
                return self._aim
            self._ask(self._waiting.best())
            bound = self._evaluate(frontier)
        return bound

    def _evaluate(self, frontier: Frontier) -> float:
        """Evaluate transformations until none is open or the budget ends; return the lowest open bound."""
        unsettled = frontier.bounds.size
        before = int(np.count_nonzero(frontier.open))
        self._in_order, self._coarsest = False, []
        self._looked, self._open_then = self._evaluated, before
        while before:
            if self._ended(self._evaluated):
                return frontier.minimum()
            self._control.tell(lambda: self._progress(min(frontier.minimum(), self._tiles.bound)))
            levels = self._next(frontier, before)
            self._settle(levels, proving=True)
            if self._waiting and np.isposinf(self._best) and self._evaluated >= self._asked + PATIENCE:
                self._ask(self._waiting.safest())
            left = int(np.count_nonzero(frontier.open))
            self._alone = self._alone + 1 if left >= before - 1 else 0
            before = left
            # Those that are cut off open again if the candidate that they did not beat fails an attack check.
            narrowed = 0 < left <= unsettled // 2 and not (self._by_size or self._in_order)
            if narrowed and self._problem.gate.open:
                unsettled = left
                lowest = frontier.lowest
                if frontier.shrink(high=bool(self._tiles.fixed)) and frontier.lowest != lowest:
                    self._tables.focus(frontier.lowest, left)
        return np.inf

    def _next(self, frontier: Frontier, number: int) -> Levels:
        """Return the transformation to evaluate next.

        Where sizes decide, the open one of lowest bound, if there are few: most cost only a look at their
        sizes, and the first that is valid loses no more than that bound, or hardly more.

        Parameters
        ----------
        number: of open transformations.
        """
        if self._by_size and number <= LOOKED_AT:
            return frontier.at(int(frontier.bounds.argmin()))
        if self._one_by_one(number):
            return self._coarsest_of(frontier, number)
        return self._guide.choose(frontier, self._aim, self._objectives, many=self._alone >= ALONE)

    def _one_by_one(self, number: int) -> bool:
        """Return whether the open transformations are evaluated from the coarsest on.

        Where none promises to be better and the last ones settled few others each, most have to be evaluated
        anyway; none is evaluated in vain then that a coarser one settles.

        Parameters
        ----------
        number: of open transformations.
        """
        if self._problem.source is not None or self._tiles.large or self._guide.promising:
            return self._in_order
        if not self._in_order and self._evaluated >= self._looked + RECENTLY:
            self._in_order = self._open_then - number < SETTLED * RECENTLY <= number
            self._looked, self._open_then = self._evaluated, number
        return self._in_order

    def _coarsest_of(self, frontier: Frontier, number: int) -> Levels:
        """Return the next open transformation from the coarsest on.

        By the levels of the attributes with most values first, so that many in a row are counted from one
        table that is rolled up to these.

        Parameters
        ----------
        number: of open transformations.
        """
        while self._coarsest and not frontier.is_open(self._coarsest[-1]):
            self._coarsest.pop()
        if not self._coarsest:
            sizes = [each.size for each in self._tables.rollup(frontier.lowest).attributes]
            order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
            self._coarsest = frontier.coarsest_last(order)
            groups = accumulate((frontier.bounds.shape[place] for place in order), mul)
            self._leading = set(order[: sum(FEW * each <= number for each in groups)])
        levels = self._coarsest.pop()
        pairs = enumerate(zip(levels, frontier.lowest, strict=True))
        first = tuple(own if place in self._leading else low for place, (own, low) in pairs)
        if first != self._rolled_up:
            self._rolled_up = first
            self._tables.focus(first, FEW)
        return levels

    def _ask(self, candidate: Candidate) -> None:
        """Run the attack checks on a candidate."""
        self._asked = self._evaluated
        if self._passes(candidate.levels, candidate.objective):
            self._replace(candidate)
            self._waiting.drop(self._best)
        elif self._judge.chooses:
            self._unproven = min(self._unproven, candidate.bound)
        self._cut()

    def _passes(self, levels: Levels, objective: float) -> bool:
        verdict, recoding = self._published(levels)
        gate = self._problem.gate
        broken = gate.first_violated(self._table, recoding)
        step = Step(self._named(levels), objective, not broken, broken, self._loss.floor(levels))
        step = replace(step, suppressed=verdict.suppressed, attackers=gate.answers(recoding))
        self._steps.note(step, lambda own: replace(own, checks=verdict.checks))
        if broken:
            self._doubt(recoding, objective)
        return not broken

    def _doubt(self, recoding: Recoding, objective: float) -> None:
        """Note a candidate that attacks reject; if only by an estimate, it bounds the objective."""
        name = self._problem.gate.estimate(recoding)
        if name is not None:
            self._doubts[name] = min(objective, self._doubts.get(name, np.inf))

    def _named(self, levels: Levels) -> dict[str, int]:
        return levels_by_name(self._table.quasi_identifiers, levels)

    def _bound(self, levels: Levels) -> float:
        """Return the bound of a transformation; outside of the box that of its levels alone."""
        box = self._findings.box
        if box is None or not box.contains(levels):
            return self._loss.floor(levels)
        return box.bound(levels)

    def _settle(self, levels: Levels, *, learn: bool = True, proving: bool = False) -> None:
        """Evaluate a transformation and apply the proofs to all others.

        Parameters
        ----------
        learn: whether it changes which transformations are evaluated next.
        proving: whether one that cannot be better than the incumbent need not be judged.
        """
        if (lost := self._lost(levels)) is not None:
            self._rule_out(levels, lost)
            return
        rollup = self._tables.rollup(levels)
        classes = rollup.classes(levels)
        first = self._judge.under_input(classes)
        quicker = self._judge.drops_more or (self._in_order and not self._judge.chooses)
        if proving and quicker and self._cannot_be_better(levels, rollup, classes, first):
            return
        verdict = self._judge.judge(classes, first)
        if not verdict.valid:
            # Its classes are large enough, so something else decides.
            self._by_size = False
        if learn and not self._in_order:
            self._guide.learn(levels, verdict.suppressed, verdict.certain)
        if verdict.excludes_finer:
            self._findings.rule_out_below(levels)
            self._note(levels, None, verdict)
        else:
            facts = self._facts(levels, rollup, classes, verdict)
            self._findings.raise_above(levels, self._loss.above(facts))
            parts = self._loss.below(facts)
            self._findings.raise_below(levels, parts, facts.certain.lowest, self._loss.combine)
            objective = self._note(levels, facts, verdict)
            if self._whole and not self._is_settled(classes, verdict):
                self._unproven = min(self._unproven, self._bound(levels))
            elif objective < np.inf:
                self._valid[levels] = objective
            self._take(Candidate(objective, levels, self._bound(levels)))
            self._cut()
        self._findings.mark(levels)

    def _lost(self, levels: Levels) -> int | None:
        """Return the records in too small classes of a transformation that these rule out.

        None if they do not, or if that is not looked at before its classes are counted.
        """
        if not self._by_size or levels == self._tiles.top:
            return self._tables.lost(levels)
        small = self._tables.rollup(levels).in_small_classes(levels, self._problem.minimum_size)
        return small if small > self._problem.limit else None

    def _is_settled(self, classes: Classes, verdict: CandidateVerdict) -> bool:
        """Return whether no other choice of suppressed records could make a transformation better, or valid.

        Where records weigh differently, the fewest need not lose least, unless no others can be chosen.
        """
        if not self._judge.chooses or not verdict.settled or not weighs_differently(self._problem):
            return verdict.settled
        whole = (verdict.losses == 0) | (verdict.losses == classes.sizes)
        forced = not verdict.unplaced and verdict.certain == verdict.suppressed
        return verdict.least > self._problem.limit or bool(forced and whole.all())

    def _cannot_be_better(self, levels: Levels, rollup: RollUp, classes: Classes, first: Suppressed) -> bool:
        """Return whether what p of the input suppresses makes a transformation worse than the incumbent.

        That takes no verdict. If so, it is settled, with the proofs for others that do not need what p of the
        release suppresses; where the last proofs settled no others, only now and then.
        """
        if not self._whole or self._problem.gate.every_step or np.isposinf(self._best):
            return False
        suppressed = int(first.of_classes.sum())
        if not self._problem.admits(suppressed) and not self._problem.admits(_certain(first)):
            return False
        whole = self._tables.whole(levels).rollup
        dearer = self._best + self._loss.rounding * max(1.0, abs(self._best))
        # Mostly the number of suppressed records is enough, whatever their values.
        least = self._loss.at_least(levels, whole.unplaced(suppressed)) if self._in_order else -np.inf
        numbers = least > dearer
        if not numbers:
            least = self._loss.at_least(levels, rollup.marginals(first.gone))
        if least <= dearer:
            return False
        if self._alone < ALONE or self._evaluated % SOMETIMES == 0:
            if not self._in_order:
                self._guide.learn(levels, suppressed, _certain(first))
            if numbers:
                sure = whole.unplaced(_certain(first))
            else:
                sure = certain_marginals(rollup, classes, first.certain, first.unplaced)
            facts = TransformationFacts(
                levels, classes.sizes, classes.sizes, 0, sure, sure, lambda: self._recoded(levels), 0
            )
            self._findings.raise_below(levels, self._loss.below(facts), sure.lowest, self._loss.combine)
        elif not self._in_order:
            self._guide.learn(levels, suppressed, None)
        what = "what p of the input suppresses" if self._judge.drops_more else "what is suppressed"
        step = Step(self._named(levels), None, False, (), least, suppressed)
        self._rule(levels, replace(step, proof=f"{what} loses more than the best"))
        self._objectives[levels] = least
        self._findings.mark(levels)
        return True

    def _look_at(self, levels: Levels) -> None:
        """Evaluate a transformation without proofs for others."""
        if self._tables.lost(levels) is not None:
            self._objectives[levels] = np.inf
            return
        rollup = self._tables.rollup(levels)
        classes = rollup.classes(levels)
        verdict = self._judge.judge(classes)
        self._note(levels, self._facts(levels, rollup, classes, verdict), verdict)

    def _rule_out(self, levels: Levels, lost: int) -> None:
        """Rule out a transformation by its certain losses, counted without its classes."""
        if not self._by_size:
            self._guide.learn(levels, lost, lost)
        self._findings.rule_out_below(levels)
        step = Step(self._named(levels), None, False, ("suppression.limit",), self._loss.floor(levels), lost)
        self._rule(levels, replace(step, proof="records in classes that are too small"))
        self._objectives[levels] = np.inf
        self._findings.mark(levels)

    def _rule(self, levels: Levels, step: Step) -> None:
        """Log the step of a transformation that need not be judged; it is if every step is to be measured.

        Out of core its classes may be too many.
        """
        self._evaluated += 1
        self._steps.append(step)
        if self._steps.every and self._problem.source is None:
            verdict = self._judge.judge(self._tables.rollup(levels).classes(levels))
            self._steps.refused(lambda own: replace(own, checks=verdict.checks))

    def _take(self, candidate: Candidate) -> None:
        """Take a valid transformation as the incumbent, or let it wait for the attack checks, if better."""
        if self._problem.gate.open or self._problem.gate.every_step:
            self._replace(candidate)
        elif candidate.objective < self._best:
            self._waiting.add(candidate)

    def _replace(self, candidate: Candidate) -> None:
        """Replace the incumbent by a transformation that passed all checks, if it is better."""
        if candidate.objective < self._best:
            self._best, self._best_levels = candidate.objective, candidate.levels

    def _note(self, levels: Levels, facts: TransformationFacts | None, verdict: CandidateVerdict) -> float:
        """Log the step; return the objective, infinite for an invalid transformation.

        In a group only certain losses count: nothing else is lost in every transformation of the whole.
        """
        objective = np.inf
        if facts is not None and not self._whole:
            parts = [part[-1:] for part in self._loss.below(facts)]
            objective = float(self._loss.combine(parts).item())
        elif facts is not None and verdict.valid:
            objective = self._loss.objective(facts)
        shown = objective if np.isfinite(objective) else None
        accepted = verdict.valid and self._problem.gate.open
        failed = verdict.failed if accepted or verdict.failed else (NOT_ATTACKED,)
        step = Step(self._named(levels), shown, accepted, failed, self._loss.floor(levels))
        step = replace(step, suppressed=verdict.suppressed)
        if verdict.valid and self._whole and self._problem.gate.every_step:
            recoding = self._recoded(levels)
            broken = self._problem.gate.first_violated(self._table, recoding)
            answers = self._problem.gate.answers(recoding)
            step = replace(step, accepted=not broken, failed=broken, attackers=answers)
            if broken:
                self._doubt(recoding, objective)
            if broken and self._judge.chooses:
                self._unproven = min(self._unproven, self._bound(levels))
            objective = np.inf if broken else objective
        first = step.accepted or len(self._steps) < MEASURED
        self._steps.note(step, lambda own: replace(own, checks=verdict.checks), measured=first)
        self._evaluated += 1
        self._objectives[levels] = objective
        return objective

    def _prefer_finer(self) -> None:
        """Descend from the incumbent while a lower level costs the same.

        A level that generalizes no more values than the one below has the same loss, but vaguer labels.
        """
        pending = list(self._right_below())
        while pending:
            finer = pending.pop(0)
            if finer not in self._objectives:
                if self._control.exhausted(self._evaluated, len(self._steps)):
                    return
                self._look_at(finer)
            objective = self._objectives[finer]
            dearer = objective > self._best + self._loss.rounding * abs(self._best)
            asked = self._problem.gate.open or self._problem.gate.every_step
            if not dearer and (asked or self._passes(finer, objective)):
                self._best_levels = finer
                pending = list(self._right_below())

    def _right_below(self) -> Iterator[Levels]:
        """Yield the neighbours one level below the incumbent, in an attribute that costs the same there."""
        if self._best_levels is None:
            return
        for position, attribute in enumerate(self._table.quasi_identifiers):
            level, floors = self._best_levels[position], self._loss.floors[position]
            if level > attribute.minimum and floors[level - 1] == floors[level]:
                yield tuple(each - (i == position) for i, each in enumerate(self._best_levels))

    def _facts(
        self, levels: Levels, rollup: RollUp, classes: Classes, verdict: CandidateVerdict
    ) -> TransformationFacts:
        suppressed = certain = rollup.marginals(verdict.gone)
        if not self._judge.lossless_merging:
            certain = certain_marginals(rollup, classes, verdict.losses, verdict.unplaced)
        whole, sizes = classes.published, verdict.sizes
        if whole is not classes:
            sizes = count(whole.class_of, classes.counts - verdict.gone, whole.number)
        return TransformationFacts(
            levels,
            whole.sizes,
            sizes[sizes > 0],
            verdict.suppressed if verdict.kept_suppressed else 0,
            suppressed,
            certain,
            lambda: self._recoded(levels),
            self._lasting(verdict),
        )

    def _lasting(self, verdict: CandidateVerdict) -> int:
        """Return how many of the released records every valid transformation above releases at least."""
        released = int(verdict.sizes.sum())
        if self._judge.lossless_merging and not self._judge.chooses:
            return released
        return max(released - self._problem.limit, 0)

    def _recoded(self, levels: Levels) -> FullDomainRecoding:
        """Return the recoding at some levels; partly suppressed combinations are split."""
        return self._published(levels)[1]

    def _published(self, levels: Levels) -> tuple[CandidateVerdict, FullDomainRecoding]:
        """Return the verdict on a transformation, and its recoding."""
        whole = self._tables.whole(levels)
        verdict = self._judge.judge(whole.rollup.classes(levels))
        return verdict, FullDomainRecoding.suppressing(
            whole.table, levels, verdict.gone, kept=bool(verdict.kept_suppressed)
        )
