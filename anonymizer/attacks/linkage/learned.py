"""Record linkage by a distance learned from true matches, heuristically or with a proof.

The distance is learned from all records (the worst case), and its success is also measured on records it
was not learned from. The proof is an upper bound on the correct links of any weights of a family.

The mixed-integer program of Torra and Abril (fewest wrong links) is solved by HiGHS through OR-Tools, with a
class in place of each masked record: a target is worth 1 / records of its class, and tied classes share.
Conditions are added as weights violate them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Distance,
    Distancing,
    Euclidean,
    Linked,
    Linking,
    uncovered,
)
from anonymizer.attacks.linkage.families import Family
from anonymizer.attacks.linkage.linkers import NearestLinking, nearest
from anonymizer.attacks.linkage.local_search import Climb, Fast, Fit, Learner, probed
from anonymizer.attacks.linkage.pairs import SMALL, TIE, Chosen, Pairs, Rows, Targets
from anonymizer.model.adversary import Links
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.system import run_interruptibly

if TYPE_CHECKING:
    from ortools.math_opt.python.mathopt import SolveResult, Variable

NOTHING = 1e-12
"""A gap that is above minus this for all weights is never negative."""
BROKEN = 1e-5
"""A condition is violated if it is below 0 by more than this."""
STRICT = 1e-9
"""A gap below this, scaled to the least value -1 in the family, is a tie."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Conditions K_i + row @ w >= 0; K_i is 1 for a target whose class is not nearest.

    Attributes
    ----------
    target, classes: of each condition, shape (cuts,), int64.
    rows: shape (cuts, weights), float64; at least -1 for all weights of the family.
    ties: records that share with the target in a tie, shape (cuts,), float64: 0 if a tie costs nothing.
    """

    target: IntArray
    classes: IntArray
    rows: FloatArray
    ties: FloatArray

    @classmethod
    def none(cls, weights: int) -> Cuts:
        """Return no conditions."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, np.empty((0, weights)), np.empty(0))

    def __add__(self, other: Cuts) -> Cuts:
        """Return the concatenation."""
        return Cuts(
            np.concatenate([self.target, other.target]),
            np.concatenate([self.classes, other.classes]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.ties, other.ties]),
        )

    def only(self, some: IntArray) -> Cuts:
        """Return some of the conditions."""
        return Cuts(self.target[some], self.classes[some], self.rows[some], self.ties[some])


class Separation:
    """Finds the conditions that weights violate most, or that they only tie.

    A gap divided by its least value in the family is a condition, with the smallest valid big M. A class that
    is at most tied under all weights, so that its share is in the caps, costs no more in a tie.

    Parameters
    ----------
    caps: records among which each target is at best, shape (targets,); infinite ones need no conditions.
    """

    def __init__(self, rows: Rows, family: Family, caps: FloatArray) -> None:
        depth = -family.least(rows.gaps)
        most = -family.least(-rows.gaps)
        # A gap that is never negative may still be a tie.
        useful = (depth > NOTHING) | ((depth >= -TIE) & (most > TIE))
        useful &= np.isfinite(caps)[rows.target]
        self._cuts = Cuts(
            rows.target,
            rows.classes,
            rows.gaps / np.where(depth > NOTHING, depth, np.maximum(most, NOTHING))[:, None],
            np.where(most <= TIE, 0.0, rows.sizes),
        ).only(np.flatnonzero(useful))
        self._gaps = rows.gaps[useful]

    def broken(self, weights: FloatArray, wrong: FloatArray) -> Cuts:
        """Return the most violated condition of each target, if any.

        Parameters
        ----------
        wrong: K_i, shape (targets,); -2 returns the least condition of each target, violated or not.
        """
        target = self._cuts.target
        missed = self._cuts.rows @ weights + wrong[target]
        order = np.lexsort((missed, target))
        _, first = np.unique(target[order], return_index=True)
        most = order[first]
        return self._cuts.only(most[missed[most] < -BROKEN])

    def tied(self, weights: FloatArray, right: BoolArray) -> Cuts:
        """Return the conditions of targets in ``right`` that weights do not satisfy strictly."""
        return self._cuts.only(np.flatnonzero((self._gaps @ weights <= TIE) & right[self._cuts.target]))


@dataclass(frozen=True, eq=False)
class Widest:
    """The weights that satisfy conditions by the widest margin.

    Attributes
    ----------
    weights: shape (weights,).
    contradiction: positions of conditions that no weights satisfy together, shape (conditions,), int64; empty
        if the margin is positive.
    """

    weights: FloatArray
    contradiction: IntArray


def widest(cuts: Cuts, strict: BoolArray, family: Family, cone: FloatArray) -> Widest | None:
    """Return the weights that maximize the least ``row @ w`` of strict conditions; None if there are none.

    The other conditions must give at least 0. If the maximum is 0, a mixture of the rows has no positive
    value in the family: the conditions contradict each other. The mixture is the dual solution; it is
    verified.

    Parameters
    ----------
    cone: further conditions of the family, rows that must give at least 0, shape (conditions, weights).
    """
    # The import is slow.

    size = len(family.total)
    conditions = np.concatenate([cuts.rows, family.cone, cone])
    left = np.zeros((len(conditions), size + 1))
    left[:, :size] = -conditions
    left[np.flatnonzero(strict), size] = 1.0
    found = scipy.optimize.linprog(
        np.append(np.zeros(size), -1.0),
        left,
        np.zeros(len(left)),
        np.append(family.total, 0.0)[None],
        [1.0],
        bounds=[(None, None)] * size + [(None, 1.0)],
        method="highs",
    )
    if found.status != 0:
        return None
    shares = np.maximum(-found.ineqlin.marginals[: len(cuts.rows)], 0.0)
    mixture = shares @ cuts.rows
    total = float(shares[strict].sum())
    contradictory = total > 0 and float(-family.least(-mixture[None])[0]) <= STRICT * total
    return Widest(
        found.x[:size], np.flatnonzero(shares > 0) if contradictory else np.empty(0, dtype=np.int64)
    )


FINE = 1e-4
"""Smallest difference in expected correct links that the program tells apart."""
WHOLE = 1e-3
"""A number of units this close to a whole number is that number."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The result of the solver.

    Attributes
    ----------
    weights: shape (weights,); None if none exist or none were found in time.
    wrong: K_i of each target, shape (targets,); zeros without weights.
    tied: whether the program counts each condition with a tie as tied, shape (conditions,).
    bound: lower bound on the lost links.
    """

    weights: FloatArray | None
    wrong: FloatArray
    tied: BoolArray
    bound: float


class LinkProgram:
    """Minimizes the lost links subject to the conditions found so far.

    A wrong target (K_i = 1) loses what it is worth at best. A condition that is not satisfied strictly
    (T_ij = 1) loses what the tie costs; where ties alone satisfy conditions, T_ij is enforced by ``exclude``.

    Parameters
    ----------
    worth: records of each target, shape (targets,).
    caps: records among which each is at best, shape (targets,); infinite ones lose nothing.
    """

    def __init__(self, family: Family, worth: IntArray, caps: FloatArray) -> None:
        # The import is slow.
        from ortools.math_opt.python import mathopt  # noqa: PLC0415

        self._mathopt = mathopt
        self._worth, self._caps = worth, caps
        self._model = mathopt.Model()
        single = np.count_nonzero(family.cone, axis=1) == 1
        held = set(np.nonzero(family.cone[single])[1].tolist())
        self._weights = [
            self._model.add_variable(lb=0.0 if position in held else -np.inf)
            for position in range(len(family.members))
        ]
        self._wrong: dict[int, Variable] = {}
        self._shared: dict[int, Variable] = {}
        self._ties: dict[int, Variable] = {}
        self._shares: set[tuple[int, ...]] = set()
        self.cuts = Cuts.none(len(family.members))
        self._model.add_linear_constraint(mathopt.LinearSum(self._terms(family.total)) == 1.0)
        self._fewer = self._model.add_linear_constraint(ub=np.inf)
        self._units = lcm(*(int(cap) for cap in np.unique(caps[np.isfinite(caps)])))
        self.restrict(family.cone[~single])

    @property
    def step(self) -> float:
        """Smallest difference between two numbers of lost links, or ``FINE`` if it may be smaller."""
        return max(1 / self._units, FINE)

    def restrict(self, cone: FloatArray) -> None:
        """Add conditions row @ w >= 0, shape (conditions, weights)."""
        for row in cone:
            self._model.add_linear_constraint(self._mathopt.LinearSum(self._terms(row)) >= 0.0)

    def add(self, cuts: Cuts) -> None:
        """Add conditions K_i + row @ w >= 0."""
        for target, row in zip(cuts.target.tolist(), cuts.rows, strict=True):
            if target not in self._wrong:
                self._wrong[target] = self._lossy(self._worth[target] / self._caps[target], whole=True)
            terms = [*self._terms(row), self._wrong[target]]
            self._model.add_linear_constraint(self._mathopt.LinearSum(terms) >= 0.0)
        self.cuts += cuts

    def exclude(self, contradiction: IntArray, strict: BoolArray) -> None:
        """Add that a target of some conditions is wrong, or that one of the strict conditions is a tie."""
        targets = np.unique(self.cuts.target[contradiction]).tolist()
        ties = [self._tie(row) for row in contradiction[strict[contradiction]].tolist()]
        terms = [self._wrong[target] for target in targets] + [tie for tie in ties if tie is not None]
        self._model.add_linear_constraint(self._mathopt.LinearSum(terms) >= 1.0)

    def share(self, target: int, rows: IntArray) -> bool:
        """Add what a target loses if all of these conditions are ties; return False if it is known."""
        sizes = float(self.cuts.ties[rows].sum())
        lost = self._loss(target, sizes)
        key = (target, *rows.tolist())
        if len(rows) < 2 or not np.isfinite(sizes) or key in self._shares:
            return False
        self._shares.add(key)
        terms = [-lost * self._ties[row] for row in rows.tolist()]
        total = self._mathopt.LinearSum([self._shared[target], *terms])
        self._model.add_linear_constraint(total >= lost * (1 - len(rows)))
        self._count(self._caps[target] + sizes)
        return True

    def _tie(self, row: int) -> Variable | None:
        """Return T of a condition; None if a tie costs all that the target is worth."""
        target, ties = int(self.cuts.target[row]), float(self.cuts.ties[row])
        if not np.isfinite(ties):
            return None
        if row not in self._ties:
            if target not in self._shared:
                self._shared[target] = self._lossy(1.0, whole=False)
            tie = self._ties[row] = self._model.add_variable(lb=0.0, ub=1.0)
            terms = [self._shared[target], -self._loss(target, ties) * tie]
            self._model.add_linear_constraint(self._mathopt.LinearSum(terms) >= 0.0)
            self._count(self._caps[target] + ties)
        return self._ties[row]

    def _loss(self, target: int, ties: float) -> float:
        cap = self._caps[target]
        return float(self._worth[target] * (1 / cap - 1 / (cap + ties)))

    def _count(self, records: float) -> None:
        self._units = lcm(self._units, int(records))

    def _lossy(self, lost: float, *, whole: bool) -> Variable:
        """Return a new variable that loses links."""
        variable = self._model.add_variable(lb=0.0, ub=1.0 if whole else np.inf)
        self._model.objective.set_linear_coefficient(variable, float(lost))
        self._fewer.set_coefficient(variable, float(lost))
        return variable

    def relaxed(self, seconds: float) -> Solved:
        """Solve the relaxation with K_i and T_ij between 0 and 1."""
        return self._solved(seconds, whole=False)

    def fewer(self, lost: float, seconds: float) -> Solved:
        """Find fewer lost links; a bound of ``lost`` proves that there are none."""
        counted = 1 / self._units >= FINE
        # What the program can lose, if it is less; half of the difference allows for rounding errors.
        less = (np.ceil(lost * self._units - WHOLE) - 1) / self._units if counted else lost - FINE
        self._fewer.upper_bound = (less + lost) / 2
        solved = self._solved(seconds, whole=True)
        self._fewer.upper_bound = np.inf
        bound = np.ceil(solved.bound * self._units - WHOLE) / self._units if counted else solved.bound
        return replace(solved, bound=float(min(bound, lost if counted else less)))

    def _terms(self, row: FloatArray) -> list[object]:
        return [float(row[position]) * self._weights[position] for position in np.flatnonzero(row)]

    def _solved(self, seconds: float, *, whole: bool) -> Solved:
        """Solve in a thread, so that Ctrl-C interrupts at once; the solver then ends by its time limit."""
        mathopt = self._mathopt
        for variable in (*self._wrong.values(), *self._ties.values()):
            variable.integer = whole
        # Numbers of lost links differ by a step: a gap below it proves a solution.
        parameters = mathopt.SolveParameters(
            time_limit=timedelta(seconds=seconds),
            relative_gap_tolerance=0.0,
            absolute_gap_tolerance=0.99 * self.step,
        )
        result = run_interruptibly(
            lambda: mathopt.solve(self._model, mathopt.SolverType.HIGHS, params=parameters)
        )
        assert result is not None, "no stop function is given"
        return self._read(result)

    def _read(self, result: SolveResult) -> Solved:
        reason = self._mathopt.TerminationReason
        wrong, tied = np.zeros(len(self._worth)), np.zeros(len(self.cuts.target), dtype=bool)
        # The objective is bounded.
        if result.termination.reason in (reason.INFEASIBLE, reason.INFEASIBLE_OR_UNBOUNDED):
            return Solved(None, wrong, tied, np.inf)
        bound = max(result.termination.objective_bounds.dual_bound, 0.0)
        if not result.has_primal_feasible_solution():
            return Solved(None, wrong, tied, bound)
        wrong[list(self._wrong)] = result.variable_values(list(self._wrong.values()))
        ties = np.array(result.variable_values(list(self._ties.values())))
        tied[list(self._ties)] = ties > 1 / 2
        return Solved(np.array(result.variable_values(self._weights)), wrong, tied, bound)


SEARCHES = 100
"""Line searches around each solution of the program."""
NEAR = 3
"""Classes that each distance and each solution adds per target."""
ROUNDS = 20
"""Maximum number of rounds that add conditions which the relaxation violates."""
NEAREST = -2.0
"""In place of K_i: returns a condition of every target, violated or not."""
MOMENT = 0.01
"""Minimum remaining time for another solution, in seconds."""


class Exact(Learner):
    """Improves the fast learner's weights by the mixed-integer program, and proves a bound.

    The program asks for fewer lost links; if it is infeasible, no weights lose fewer. The first conditions
    are those that its relaxation violates. Each solution is counted on all pairs and improved by line
    searches; then the conditions that it violates are added. For conditions that only ties satisfy, a
    combinatorial cut demands that one of their targets is wrong or one of them is a tie (Codato and
    Fischetti, Operations Research 54, 2006). The search ends with the proof, with a solution that violates
    nothing, or by the time limit.

    Source: Torra, Navarro-Arribas and Abril, Supervised learning for record linkage through weighted means
    and OWA operators (Control and Cybernetics 39, 2010).

    Parameters
    ----------
    seconds: time limit of the programs; results depend on the machine only if it is reached.
    fast: learner of the first weights.
    """

    def __init__(self, seconds: float = 60.0, fast: Fast | None = None) -> None:
        self._seconds = seconds
        self._fast = fast or Fast()

    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found and the proven bound."""
        fit = self._fast.fit(pairs, random)
        if fit.proven:
            return fit
        return _Proof(pairs, random, time.monotonic() + self._seconds).of(fit)


class _Proof:
    """One run of the exact learner."""

    def __init__(self, pairs: Pairs, random: np.random.Generator, ends: float) -> None:
        self._pairs, self._random, self._ends = pairs, random, ends
        self._caps = pairs.caps()
        self._most = float((pairs.targets.worth / self._caps).sum())
        self._chosen: Chosen = probed(pairs, random, NEAR)
        self._program = LinkProgram(pairs.family, pairs.targets.worth, self._caps)
        self._cone = np.empty((0, len(pairs.family.members)))

    @property
    def _left(self) -> float:
        return self._ends - time.monotonic()

    def of(self, fit: Fit) -> Fit:
        """Return the fit with the best weights and the best bound found within the time limit."""
        self._begin(fit.weights)
        while not fit.proven and self._left > MOMENT:
            solved = self._program.fewer(self._most - fit.right, self._left)
            fit = replace(fit, bound=max(min(fit.bound, self._most - solved.bound), fit.right))
            if solved.weights is None:
                break
            better = self._learn_from(solved, fit)
            if better is None:
                break
            fit = better
        return fit

    def _begin(self, best: FloatArray) -> None:
        """Add conditions around the best weights, then those that the relaxation violates."""
        self._chosen.add_nearest(best[None], NEAR)
        everyone = np.full(self._pairs.number, NEAREST)
        for weights in (self._pairs.family.equal(), best):
            self._add(self._separation().broken(weights, everyone))
        for _ in range(ROUNDS):
            if self._left < MOMENT:
                break
            solved = self._program.relaxed(self._left)
            if solved.weights is None:
                break
            if not self._add(self._separation().broken(solved.weights, solved.wrong)):
                break

    def _learn_from(self, solved: Solved, fit: Fit) -> Fit | None:
        """Add what a solution violates; return the best fit, None without any progress."""
        assert solved.weights is not None, "of() checks this"
        family, wrong = self._pairs.family, np.rint(solved.wrong)
        cone = family.cuts(solved.weights)
        self._program.restrict(cone)
        self._cone = np.concatenate([self._cone, cone])
        cuts = self._program.cuts
        some = np.flatnonzero(wrong[cuts.target] == 0)
        strict = (cuts.ties > 0) & ~solved.tied
        own = cuts.only(some)
        centre = widest(own, strict[some], family, self._cone)
        excluded = centre is not None and len(centre.contradiction) > 0
        if centre is not None and excluded:
            self._program.exclude(some[centre.contradiction], strict)
        progress = self._shares(solved) or excluded or len(cone) > 0
        weights = solved.weights if centre is None else centre.weights
        level = own.rows[~strict[some]]
        weights = family.allowed(_on_ties(weights, level, np.concatenate([family.cone, self._cone]), family))
        self._chosen.add_nearest(weights[None], NEAR)
        self._chosen.add_tied(weights, wrong == 0)
        better = self._improved(fit, weights)
        separation = self._separation()
        added = self._add(separation.broken(weights, wrong) + separation.tied(weights, wrong == 0))
        return better if progress or added or better is not fit else None

    def _shares(self, solved: Solved) -> bool:
        """Add what targets with several ties lose; return whether there are any."""
        rows = np.flatnonzero(solved.tied)
        targets = self._program.cuts.target[rows]
        found = [
            self._program.share(target, rows[targets == target]) for target in np.unique(targets).tolist()
        ]
        return any(found)

    def _separation(self) -> Separation:
        return Separation(self._chosen.rows(), self._pairs.family, self._caps)

    def _add(self, cuts: Cuts) -> int:
        """Add conditions that the program does not have yet; return their number."""
        known = self._program.cuts
        keys = np.concatenate([own.target * self._pairs.classes + own.classes for own in (known, cuts)])
        _, first = np.unique(keys, return_index=True)
        new = np.sort(first[first >= len(known.target)]) - len(known.target)
        self._program.add(cuts.only(new))
        return len(new)

    def _improved(self, fit: Fit, weights: FloatArray) -> Fit:
        """Return the fit with better weights if a search around ``weights`` finds any."""
        climb = Climb(self._chosen.rows(), self._pairs.family, self._random)
        climb.consider(fit.weights)
        climb.consider(weights)
        climb.run(SEARCHES)
        found = [(self._pairs.right(own), own) for own in (weights, climb.best)]
        right, best = max(found, key=lambda each: each[0])
        return replace(fit, weights=best, right=right) if right > fit.right + SMALL else fit


CLOSE = 1e-7
"""A condition below this is meant to be a tie: the solver's tolerance."""


def _on_ties(weights: FloatArray, level: FloatArray, cone: FloatArray, family: Family) -> FloatArray:
    """Return the nearest weights on which conditions that are almost ties are ties, without rounding errors.

    Parameters
    ----------
    level: conditions that may be ties, shape (conditions, weights).
    """
    rows = np.concatenate([own[np.abs(own @ weights) <= CLOSE] for own in (level, cone)])
    if not len(rows):
        return weights
    left = np.concatenate([rows, family.total[None]])
    right = np.append(np.zeros(len(rows)), 1.0)
    moved, *_ = np.linalg.lstsq(left, right - left @ weights, rcond=None)
    return np.asarray(weights + moved, dtype=np.float64)


FOLDS = 2
"""Parts of the targets; each is linked by weights learned from the others."""


@dataclass(frozen=True)
class HeldOut:
    """Success of weights on targets that they were not learned from, among all classes.

    Attributes
    ----------
    records: held-out records.
    right: expected correct links with weights learned from the other targets.
    equal: expected correct links with equal weights.
    """

    records: int
    right: float
    equal: float


@dataclass(frozen=True, eq=False)
class Learned:
    """A distance learned from targets whose true classes are known.

    Attributes
    ----------
    family: of the distance.
    fit: the weights with their correct links of the targets that they were learned from, the worst case.
    shares: chance that a record of each target is linked correctly by them, shape (targets,), float64.
    records: that are linked.
    equal: expected correct links with equal weights, the Euclidean distance.
    held_out: success on held-out targets; None with fewer than two.
    others: as ``shares``, by weights that were learned from other targets; None with fewer than two.
    """

    family: Family
    fit: Fit
    shares: FloatArray
    records: int
    equal: float
    held_out: HeldOut | None
    others: FloatArray | None = None

    @property
    def success(self) -> float:
        """Share of the records that are linked correctly, in sample."""
        return self.fit.right / self.records

    @property
    def bound(self) -> float:
        """Upper bound on the success of all weights of the family."""
        return self.fit.bound / self.records

    def details(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the results for the report: the weights by label, and the share of each attribute, sum 1."""
        labels, shares = self.family.labels(names), self.family.importance(self.fit.weights)
        return {
            "equal_weights": self.equal / self.records,
            "in_sample": self.success,
            "bound": self.bound,
            "held_out": None if self.held_out is None else asdict(self.held_out),
            "weights": dict(zip(labels, self.fit.weights.tolist(), strict=True)),
            "importance": dict(zip(names, shares.tolist(), strict=True)),
        }


def learn(
    targets: Targets,
    family: Family,
    learner: Learner,
    random: np.random.Generator,
    *,
    at_most: float | None = None,
) -> Learned:
    """Learn the weights with the most correct links, and measure the success on held-out targets.

    The held-out success uses the fast learner, with any ``learner``.

    Parameters
    ----------
    family: of as many attributes as the targets.
    random: the source of all randomness, the split included.
    at_most: asks only for the success in sample, and for weights only if equal ones link at most this share.
    """
    pairs = Pairs(targets, family)
    equal = pairs.shares(family.equal())
    linked = float(equal @ targets.worth)
    if at_most is not None and linked > at_most * targets.records:
        fit = Fit(family.equal(), linked, float(targets.records))
    else:
        fit = learner.fit(pairs, random)
    held_out, others = None, None
    if pairs.number > 1 and at_most is None:
        others = held_out_shares(targets, family, random)
        held_out = HeldOut(targets.records, float(others @ targets.worth), linked)
    return Learned(family, fit, pairs.shares(fit.weights), targets.records, linked, held_out, others)


def held_out_shares(
    targets: Targets, family: Family, random: np.random.Generator, searches: int = 1000
) -> FloatArray:
    """Return the chance that a record of each target is linked correctly by weights learned from others.

    Parameters
    ----------
    searches: of the fast learner.
    """
    number = len(targets.own)
    shares = np.zeros(number)
    parts = np.array_split(random.permutation(number), FOLDS)
    for part in parts:
        known = np.setdiff1d(np.arange(number), part)
        weights = Fast(searches).fit(Pairs(targets.only(known), family), random).weights
        shares[part] = Pairs(targets.only(part), family).shares(weights)
    return shares


PASSES = 100
"""Approximate number of times that learning compares all pairs."""


class LearnedLinking(Linking):
    """Links each original with the nearest class by learned weights.

    The weights are learned on the records that they link, so the success is an upper estimate for adversaries
    who must guess the weights; the details have the success on held-out records. If every target is covered
    by its class, it is at distance 0 under any weights of gaps, and there is nothing to learn.

    Parameters
    ----------
    family: of the distances, by the number of attributes.
    distance: whose part of each attribute is weighted, a sum of squares of its differences.
    at_most: of a constraint, see ``learn``; None for everything that a report shows.
    """

    name = "learned"
    # Weights of few targets fit these too well.
    draws = 2

    def __init__(
        self,
        family: Callable[[int], Family],
        learner: Learner,
        distance: Distancing = Euclidean,
        at_most: float | None = None,
    ) -> None:
        self._family = family
        self._learner = learner
        self._distance = distance
        self._at_most = at_most

    def _is_certain(self, space: ComparisonSpace) -> bool:
        """Return whether every target is at distance 0 under all weights."""
        return self._distance.exact and not len(uncovered(space))

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared."""
        if self._is_certain(space):
            return NearestLinking(Euclidean).work(space)
        return PASSES * len(np.unique(space.truth.original)) * space.cells

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Learn the weights, and link by them; others say of whom weights learned from others are sure."""
        apart = deepcopy(random)
        linked, weighted = self.learned(space, random)
        if weighted is None or not space.ranked or self._at_most is not None:
            return linked
        distance = self.held_out(space, apart)
        return linked if distance is None else replace(linked, others=nearest(distance))

    def learned(self, space: ComparisonSpace, random: np.random.Generator) -> tuple[Linked, Distance | None]:
        """Return the links by learned weights, and the distance; None if there is nothing to learn."""
        if self._is_certain(space):
            plain = nearest(Euclidean(space))
            equal = _share(space, plain.right)
            found = {"learned": False, "equal_weights": equal, "bound": equal}
            return replace(plain, details=found), None
        distance, family = self._distance(space), self._family(len(space.names))
        targets = compared(space, distance)
        learned = learn(targets, family, self._learner, random, at_most=self._at_most)
        found = {"learned": learned.fit.right > learned.equal + SMALL} | learned.details(space.names)
        found |= distance.details
        weighted = WeightedDistance(distance, family, learned.fit.weights)
        doubt = nearest(weighted).doubt if space.ranked else None
        return Linked(learned.shares, found, doubt=doubt), weighted

    def held_out(self, space: ComparisonSpace, random: np.random.Generator) -> Distance | None:
        """Return the distance with weights for each half of the originals that were learned from the other.

        None if there is nothing to learn, or nobody to learn from.
        """
        if self._is_certain(space):
            return None
        distance, family = self._distance(space), self._family(len(space.names))
        fold = np.empty(len(space.records), dtype=np.int64)
        fold[random.permutation(len(fold))] = np.arange(len(fold)) % FOLDS
        targets, of_target = compared(space, distance), fold[space.truth.original]
        known = [np.flatnonzero(of_target != own) for own in range(FOLDS)]
        if not all(len(own) for own in known):
            return None
        learner = Fast(HELD_OUT_SEARCHES)
        weights = [learner.fit(Pairs(targets.only(own), family), random).weights for own in known]
        return FoldedDistance([WeightedDistance(distance, family, own) for own in weights], fold)


HELD_OUT_SEARCHES = 200
"""Line searches of weights for held-out originals in a portfolio, which has many attackers."""


class FoldedDistance(Distance):
    """Another distance for each fold of the originals, such as one that was learned from the others.

    Parameters
    ----------
    distances: for each fold.
    fold: of each original, shape (originals,), int64.
    """

    name = "folded"
    exact = False

    def __init__(self, distances: Sequence[Distance], fold: IntArray) -> None:
        super().__init__(distances[0].space)
        self._distances, self._fold = distances, fold

    @property
    def width(self) -> int:
        return max(each.width for each in self._distances)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the distances of each original by its fold."""
        found = np.empty((len(originals), len(self.space.sizes)))
        for fold, distance in enumerate(self._distances):
            own = np.flatnonzero(self._fold[originals] == fold)
            found[own] = distance.rows(originals[own])
        return found


class WeightedDistance(Distance):
    """A distance of a family with given weights.

    Parameters
    ----------
    distance: whose differences are weighted.
    """

    name = "weighted"
    # A weight may be 0.
    exact = False

    def __init__(self, distance: Distance, family: Family, weights: FloatArray) -> None:
        super().__init__(distance.space)
        self._distance, self._family, self._weights = distance, family, weights

    @property
    def details(self) -> dict[str, Any]:
        return self._distance.details

    @property
    def width(self) -> int:
        return len(self._weights) + len(self.space.meanings)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the weighted sums."""
        own = [
            self._distance.differences(position, originals) for position in range(len(self.space.meanings))
        ]
        found: FloatArray = self._family.features(np.stack(own, axis=-1)) @ self._weights
        return found


def compared(space: ComparisonSpace, distance: Distance) -> Targets:
    """Return the true links of a comparison space as targets, with the differences of a distance."""
    return targets_of_links(space.truth, len(space.names), distance.differences, space.sizes, space.breadth)


def targets_of_links(
    truth: Links,
    attributes: int,
    differences: Callable[[int, IntArray], FloatArray],
    sizes: IntArray,
    breadth: FloatArray,
) -> Targets:
    """Return true links as targets.

    Parameters
    ----------
    attributes: number of compared attributes.
    differences: of the attribute at a position between some rows and every class, shape (rows, classes).
    sizes, breadth: as in ``Targets``.
    """

    def of_targets(targets: IntArray) -> FloatArray:
        rows, row_of = np.unique(truth.original[targets], return_inverse=True)
        own = [differences(position, rows) for position in range(attributes)]
        return np.stack(own, axis=-1)[row_of]

    return Targets(of_targets, attributes, truth.release, truth.counts, sizes, breadth)


def _share(space: ComparisonSpace, right: FloatArray) -> float:
    return float(right @ space.truth.counts) / space.truth.records
