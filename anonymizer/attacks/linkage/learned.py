"""Record linkage by a distance learned from true matches, heuristically or with a proof.

The distance is learned from all records (the worst case), and its success is also measured on records it
was not learned from. The proof is an upper bound on the correct links of any weights of a family.

The mixed-integer program of Torra and Abril (fewest wrong links) is solved by HiGHS through OR-Tools.
Conditions are added as weights violate them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Distance,
    Euclidean,
    Linked,
    Linking,
    standard_scale,
)
from anonymizer.attacks.linkage.families import Family
from anonymizer.attacks.linkage.linkers import NearestLinking, nearest, uncovered
from anonymizer.attacks.linkage.local_search import Climb, Fast, Fit, Learner, probed
from anonymizer.attacks.linkage.pairs import Chosen, Pairs, Rows, check, deviations
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.system import run_interruptibly

if TYPE_CHECKING:
    from ortools.math_opt.python.mathopt import SolveResult, Variable

NOTHING = 1e-12
"""A gap that is above minus this for all weights needs no condition."""
BROKEN = 1e-5
"""A condition is violated if it is below 0 by more than this."""
STRICT = 1e-9
"""A gap below this, scaled to the least value -1 in the family, is a tie."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Conditions K_i + row @ w >= 0; K_i is 1 for an original that is linked wrongly.

    Attributes
    ----------
    record: the original of each, shape (cuts,), int64.
    rows: shape (cuts, weights), float64; at least -1 for all weights of the family.
    """

    record: IntArray
    rows: FloatArray

    def __add__(self, other: Cuts) -> Cuts:
        """Return the concatenation."""
        return Cuts(np.concatenate([self.record, other.record]), np.concatenate([self.rows, other.rows]))


class Separation:
    """Finds the conditions that weights violate most.

    A gap divided by its least value in the family is a condition, with the smallest valid big M.

    Parameters
    ----------
    excluded: originals without conditions, shape (records,).
    """

    def __init__(self, rows: Rows, family: Family, excluded: BoolArray) -> None:
        depth = -family.least(rows.gaps)
        useful = (depth > NOTHING) & ~excluded[rows.record]
        self._record = rows.record[useful]
        self._rows = rows.gaps[useful] / depth[useful, None]

    def broken(self, weights: FloatArray, wrong: FloatArray) -> Cuts:
        """Return the most violated condition of each original, if any.

        Parameters
        ----------
        wrong: K_i, shape (records,); -2 returns the least condition of each original, violated or not.
        """
        missed = self._rows @ weights + wrong[self._record]
        order = np.lexsort((missed, self._record))
        _, first = np.unique(self._record[order], return_index=True)
        most = order[first]
        most = most[missed[most] < -BROKEN]
        return Cuts(self._record[most], self._rows[most])


@dataclass(frozen=True, eq=False)
class Widest:
    """The weights that satisfy conditions by the widest margin.

    Attributes
    ----------
    weights: shape (weights,).
    contradiction: originals that no weights link all correctly without ties, shape (originals,), int64; empty
        if the margin is positive.
    """

    weights: FloatArray
    contradiction: IntArray


def widest(cuts: Cuts, family: Family, cone: FloatArray) -> Widest | None:
    """Return the weights that maximize the least ``row @ w``; None if the solver finds none.

    If the maximum is 0, a mixture of the rows has no positive value in the family: their originals contradict
    each other. The mixture is the dual solution; it is verified.

    Parameters
    ----------
    cone: further conditions of the family, rows that must give at least 0, shape (conditions, weights).
    """
    # The import is slow.
    from scipy.optimize import linprog  # noqa: PLC0415

    size = len(family.total)
    conditions = np.concatenate([family.cone, cone])
    left = np.zeros((len(cuts.rows) + len(conditions), size + 1))
    left[:, :size] = -np.concatenate([cuts.rows, conditions])
    left[: len(cuts.rows), size] = 1.0
    found = linprog(
        np.append(np.zeros(size), -1.0),
        left,
        np.zeros(len(left)),
        np.append(family.total, 0.0)[None],
        [1.0],
        bounds=(None, None),
        method="highs",
    )
    if found.status != 0:
        return None
    shares = np.maximum(-found.ineqlin.marginals[: len(cuts.rows)], 0.0)
    mixture = shares @ cuts.rows
    contradictory = float(-family.least(-mixture[None])[0]) <= STRICT * float(shares.sum())
    record = np.unique(cuts.record[shares > 0]) if contradictory else np.empty(0, dtype=np.int64)
    return Widest(found.x[:size], record)


WHOLE = 1e-6
"""A bound this close to a whole number is that number."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The result of the solver.

    Attributes
    ----------
    weights: shape (weights,); None if none exist or none were found in time.
    wrong: K_i of each original, shape (records,); zeros without weights.
    bound: lower bound on the sum of K_i.
    """

    weights: FloatArray | None
    wrong: FloatArray
    bound: float


class LinkProgram:
    """Minimizes the sum of K_i, 0 or 1, subject to the conditions found so far."""

    def __init__(self, family: Family, records: int) -> None:
        # The import is slow.
        from ortools.math_opt.python import mathopt  # noqa: PLC0415

        self._mathopt = mathopt
        self._records = records
        self._model = mathopt.Model()
        single = np.count_nonzero(family.cone, axis=1) == 1
        held = set(np.nonzero(family.cone[single])[1].tolist())
        self._weights = [
            self._model.add_variable(lb=0.0 if position in held else -np.inf)
            for position in range(len(family.members))
        ]
        self._wrong: dict[int, Variable] = {}
        self._model.add_linear_constraint(mathopt.LinearSum(self._terms(family.total)) == 1.0)
        self._fewer = self._model.add_linear_constraint(ub=float(records))
        self.restrict(family.cone[~single])

    def restrict(self, cone: FloatArray) -> None:
        """Add conditions row @ w >= 0, shape (conditions, weights)."""
        for row in cone:
            self._model.add_linear_constraint(self._mathopt.LinearSum(self._terms(row)) >= 0.0)

    def add(self, cuts: Cuts) -> None:
        """Add conditions K_i + row @ w >= 0."""
        for record, row in zip(cuts.record.tolist(), cuts.rows, strict=True):
            if record not in self._wrong:
                variable = self._model.add_variable(lb=0.0, ub=1.0)
                self._wrong[record] = variable
                self._model.objective.set_linear_coefficient(variable, 1.0)
                self._fewer.set_coefficient(variable, 1.0)
            terms = [*self._terms(row), self._wrong[record]]
            self._model.add_linear_constraint(self._mathopt.LinearSum(terms) >= 0.0)

    def exclude(self, contradiction: IntArray) -> None:
        """Add the condition that at least one of some originals is linked wrongly."""
        terms = [self._wrong[record] for record in contradiction.tolist()]
        self._model.add_linear_constraint(self._mathopt.LinearSum(terms) >= 1.0)

    def relaxed(self, seconds: float) -> Solved:
        """Solve the relaxation with K_i between 0 and 1."""
        return self._solved(seconds, whole=False)

    def fewer(self, wrong: int, seconds: float) -> Solved:
        """Find the fewest wrong links below ``wrong``; a bound of ``wrong`` proves that there are none."""
        # The margin of half a link keeps rounding errors from excluding a solution.
        self._fewer.upper_bound = wrong - 0.5
        solved = self._solved(seconds, whole=True)
        self._fewer.upper_bound = float(self._records)
        return Solved(solved.weights, solved.wrong, float(min(np.ceil(solved.bound - WHOLE), wrong)))

    def _terms(self, row: FloatArray) -> list[object]:
        return [float(row[position]) * self._weights[position] for position in np.flatnonzero(row)]

    def _solved(self, seconds: float, *, whole: bool) -> Solved:
        """Solve in a thread, so that Ctrl-C interrupts at once; the solver then ends by its time limit."""
        mathopt = self._mathopt
        for variable in self._wrong.values():
            variable.integer = whole
        # The objective is a whole number: a gap below one proves a solution.
        parameters = mathopt.SolveParameters(
            time_limit=timedelta(seconds=seconds), relative_gap_tolerance=0.0, absolute_gap_tolerance=0.99
        )
        result = run_interruptibly(
            lambda: mathopt.solve(self._model, mathopt.SolverType.HIGHS, params=parameters)
        )
        assert result is not None, "no stop function is given"
        return self._read(result)

    def _read(self, result: SolveResult) -> Solved:
        reason = self._mathopt.TerminationReason
        wrong = np.zeros(self._records)
        # The objective is bounded.
        if result.termination.reason in (reason.INFEASIBLE, reason.INFEASIBLE_OR_UNBOUNDED):
            return Solved(None, wrong, np.inf)
        bound = max(result.termination.objective_bounds.dual_bound, 0.0)
        if not result.has_primal_feasible_solution():
            return Solved(None, wrong, bound)
        wrong[list(self._wrong)] = result.variable_values(list(self._wrong.values()))
        return Solved(np.array(result.variable_values(self._weights)), wrong, bound)


SEARCHES = 100
"""Line searches around each solution of the program."""
NEAR = 3
"""Masked records that each distance and each solution adds per original."""
ROUNDS = 20
"""Maximum number of rounds that add conditions which the relaxation violates."""
NEAREST = -2.0
"""In place of K_i: returns a condition of every original, violated or not."""
MOMENT = 0.01
"""Minimum remaining time for another solution, in seconds."""


class Exact(Learner):
    """Starts with the result of ``Fast``, then solves mixed-integer programs for fewer wrong links.

    A program has the conditions found so far and counts ties as correct links until they are excluded. So its
    bounds hold for all weights, and if it is infeasible, no weights have fewer wrong links. The first
    conditions are those that its relaxation violates. Each solution is counted on all pairs without ties and
    improved by line searches; then the conditions that it violates are added. For a solution by ties alone, a
    combinatorial cut excludes that all its originals are linked correctly (Codato and Fischetti, Operations
    Research 54, 2006). The search ends with the proof, with a solution that violates nothing, or by the time
    limit.

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
        self._never: BoolArray = pairs.never_linkable()
        self._open = int((~self._never).sum())
        self._chosen: Chosen = probed(pairs, random, NEAR)
        self._program = LinkProgram(pairs.family, pairs.records)
        size = len(pairs.family.members)
        self._cone = np.empty((0, size))
        self._cuts = Cuts(np.empty(0, dtype=np.int64), np.empty((0, size)))

    @property
    def _left(self) -> float:
        return self._ends - time.monotonic()

    def of(self, fit: Fit) -> Fit:
        """Return the fit with the best weights and the best bound found within the time limit."""
        self._begin(fit.weights)
        while not fit.proven and self._left > MOMENT:
            solved = self._program.fewer(self._open - fit.right, self._left)
            fit = replace(fit, bound=min(fit.bound, self._open - int(solved.bound)))
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
        everyone = np.full(self._pairs.records, NEAREST)
        for weights in (self._pairs.family.equal(), best):
            self._add_broken(weights, everyone)
        for _ in range(ROUNDS):
            if self._left < MOMENT:
                break
            solved = self._program.relaxed(self._left)
            if solved.weights is None or not self._add_broken(solved.weights, solved.wrong):
                break

    def _learn_from(self, solved: Solved, fit: Fit) -> Fit | None:
        """Add the conditions that a solution violates; return the best fit, None without any progress."""
        assert solved.weights is not None, "of() checks this"
        family, wrong = self._pairs.family, np.rint(solved.wrong)
        cone = family.cuts(solved.weights)
        self._program.restrict(cone)
        self._cone = np.concatenate([self._cone, cone])
        right = wrong[self._cuts.record] == 0
        centre = widest(Cuts(self._cuts.record[right], self._cuts.rows[right]), family, self._cone)
        excluded = centre is not None and len(centre.contradiction) > 0
        if centre is not None and excluded:
            self._program.exclude(centre.contradiction)
        weights = solved.weights if centre is None else centre.weights
        self._chosen.add_nearest(family.allowed(weights)[None], NEAR)
        better = self._improved(fit, family.allowed(weights))
        added = self._add_broken(weights, wrong)
        return better if added or excluded or len(cone) or better is not fit else None

    def _add_broken(self, weights: FloatArray, wrong: FloatArray) -> int:
        """Add the conditions that weights violate most; return their number."""
        cuts = Separation(self._chosen.rows(), self._pairs.family, self._never).broken(weights, wrong)
        self._program.add(cuts)
        self._cuts = self._cuts + cuts
        return len(cuts.record)

    def _improved(self, fit: Fit, weights: FloatArray) -> Fit:
        """Return the fit with better weights if a search around ``weights`` finds any."""
        climb = Climb(self._chosen.rows(), self._pairs.family, self._random)
        climb.consider(fit.weights)
        climb.consider(weights)
        climb.run(SEARCHES)
        right = int(self._pairs.right(climb.best).sum())
        return replace(fit, weights=climb.best, right=right) if right > fit.right else fit


BLOCK = 2_000_000
"""Numbers in one block."""


@dataclass(frozen=True)
class HeldOut:
    """Success of weights on held-out originals, among all masked records.

    Attributes
    ----------
    records: held-out originals.
    right: correct links with weights learned from the other originals.
    equal: correct links with equal weights.
    """

    records: int
    right: int
    equal: int


@dataclass(frozen=True, eq=False)
class Learned:
    """A distance learned from originals whose true matches are known.

    Attributes
    ----------
    family: of the distance.
    units: standard deviation of each attribute of the originals, shape (attributes,).
    fit: the weights with their correct links of the records that they were learned from, the worst case.
    records: originals.
    equal: correct links with equal weights, the Euclidean distance.
    held_out: success on held-out originals; None with fewer than two originals.
    """

    family: Family
    units: FloatArray
    fit: Fit
    records: int
    equal: int
    held_out: HeldOut | None

    @property
    def success(self) -> float:
        """Share of the originals that are linked correctly, in sample."""
        return self.fit.right / self.records

    @property
    def bound(self) -> float:
        """Upper bound on the success of all weights of the family."""
        return self.fit.bound / self.records

    def parameters(self, names: Sequence[str]) -> dict[str, float]:
        """Return the weights by label, given the names of the attributes."""
        labels = self.family.labels(names)
        return {label: float(weight) for label, weight in zip(labels, self.fit.weights, strict=True)}

    def importance(self, names: Sequence[str]) -> dict[str, float]:
        """Return the share of each attribute in the linkage, sum 1."""
        shares = self.family.importance(self.fit.weights)
        return {name: float(share) for name, share in zip(names, shares, strict=True)}

    def distances(self, original: FloatArray, masked: FloatArray) -> FloatArray:
        """Return the learned distance of each original to each masked record, shape (originals, masked).

        Parameters
        ----------
        original, masked: shape (records, attributes), in the units of the files.
        """
        left, right = original / self.units, masked / self.units
        distances = np.empty((len(left), len(right)))
        step = max(BLOCK // max(len(right) * len(self.fit.weights), 1), 1)
        for start in range(0, len(left), step):
            differences = left[start : start + step, None, :] - right
            distances[start : start + step] = self.family.features(differences) @ self.fit.weights
        return distances


def learn(
    original: FloatArray, masked: FloatArray, family: Family, learner: Learner, random: np.random.Generator
) -> Learned:
    """Learn the weights with the most correct links, and measure the success on held-out originals.

    The held-out success uses the fast learner, with any ``learner``.

    Parameters
    ----------
    original: shape (records, attributes), float64, finite.
    masked: shape (at least as many records, attributes), first the true matches in the order of the
        originals.
    family: of the same number of attributes.
    random: the source of all randomness, the split included.

    Raises
    ------
    InputError: the shapes do not fit together, or a number is missing or infinite.
    """
    check(original, masked)
    units = deviations(original)
    left, right = original / units, masked / units
    pairs = Pairs(left, right, family)
    fit = learner.fit(pairs, random)
    equal = int(pairs.right(family.equal()).sum())
    return Learned(family, units, fit, len(original), equal, _held_out(left, right, family, random))


def _held_out(
    original: FloatArray, masked: FloatArray, family: Family, random: np.random.Generator
) -> HeldOut | None:
    records = len(original)
    if records < 2:
        return None
    order = random.permutation(records)
    known, others = np.sort(order[: records // 2]), np.sort(order[records // 2 :])
    strangers = np.arange(records, len(masked))
    training = Pairs(original[known], masked[np.concatenate([known, others, strangers])], family)
    test = Pairs(original[others], masked[np.concatenate([others, known, strangers])], family)
    weights = Fast().fit(training, random).weights
    right, equal = test.right(weights), test.right(family.equal())
    return HeldOut(len(others), int(right.sum()), int(equal.sum()))


PASSES = 100
"""Approximate number of times that learning compares all pairs."""


class LearnedLinking(Linking):
    """Links each original with the nearest record by learned weights.

    The weights are learned on the records that they link, so the success is an upper estimate for adversaries
    who must guess the weights; the details have the success on held-out records. A class that covers an
    original is at distance 0 with any weights, so only originals that no class covers matter. Weights are
    learned for attributes that are published as single numbers; equal weights of all attributes are used if
    they link more.
    """

    name = "learned"

    def __init__(self, family: Callable[[int], Family], learner: Learner) -> None:
        self._family = family
        self._learner = learner

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared."""
        return PASSES * len(uncovered(space)) * space.cells + NearestLinking(Euclidean).work(space)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Learn the weights, and link by them."""
        plain = nearest(Euclidean(space))
        equal = _share(space, plain)
        points = _points(space)
        if not points or equal == 1 or not len(uncovered(space)):
            return Linked(plain, {"learned": False, "equal_weights": equal})
        learned = self._learn(space, points, random)
        weighted = nearest(Weighted(space, points, learned))
        better = _share(space, weighted) > equal
        details = _details(space, points, learned) | {"learned": better, "equal_weights": equal}
        return Linked(weighted if better else plain, details)

    def _learn(self, space: ComparisonSpace, points: list[int], random: np.random.Generator) -> Learned:
        """Learn from the targets with their true matches, then the other records of the release."""
        truth = space.truth
        originals, own = np.repeat(truth.original, truth.counts), np.repeat(truth.release, truth.counts)
        others = space.sizes - np.bincount(own, minlength=len(space.sizes))
        masked = np.concatenate([own, np.repeat(np.arange(len(others)), others)])
        left, right = zip(*(_scaled(space, position) for position in points), strict=True)
        return learn(
            np.column_stack(left)[originals],
            np.column_stack(right)[masked],
            self._family(len(points)),
            self._learner,
            random,
        )


class Weighted(Distance):
    """A learned distance.

    Parameters
    ----------
    points: positions of the compared attributes.
    """

    name = "weighted"
    # An attribute may have weight 0, and products of differences may cancel.
    exact = False

    def __init__(self, space: ComparisonSpace, points: list[int], learned: Learned) -> None:
        super().__init__(space)
        self._points = points
        self._learned = learned

    @property
    def width(self) -> int:
        """Numbers that are held for each pair."""
        return len(self._points) + len(self._learned.fit.weights)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the distances."""
        stacked = np.stack([self.differences(position, originals) for position in self._points], axis=-1)
        features = self._learned.family.features(stacked / self._learned.units)
        distances: FloatArray = features @ self._learned.fit.weights
        return distances


def _points(space: ComparisonSpace) -> list[int]:
    """Return the positions of the attributes whose compared values are all single numbers."""
    return [position for position in range(len(space.meanings)) if _single(space, position).all()]


def _single(space: ComparisonSpace, position: int) -> BoolArray:
    meaning = space.meanings[position]
    if meaning.column.numbers is None:
        return np.zeros(1, dtype=bool)
    texts = space.classes[:, position]
    published: BoolArray = meaning.low[texts] == meaning.high[texts]
    return np.append(published, ~np.isnan(meaning.column.numbers[space.originals[:, position]]))


def _scaled(space: ComparisonSpace, position: int) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of the originals and of the classes in standard deviations."""
    meaning = space.meanings[position]
    assert meaning.column.numbers is not None, "points are numbers"
    scale = standard_scale(meaning.column)
    return (
        scale(meaning.column.numbers)[space.originals[:, position]],
        scale(meaning.low)[space.classes[:, position]],
    )


def _share(space: ComparisonSpace, right: FloatArray) -> float:
    return float(right @ space.truth.counts) / space.truth.records


def _details(space: ComparisonSpace, points: list[int], learned: Learned) -> dict[str, Any]:
    names = [space.names[position] for position in points]
    return {
        "in_sample": learned.success,
        "bound": learned.bound,
        "held_out": None if learned.held_out is None else asdict(learned.held_out),
        "weights": learned.parameters(names),
        "importance": learned.importance(names),
        "not_compared": [name for name in space.names if name not in names],
    }
