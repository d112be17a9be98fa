"""Searches: from a problem to an outcome, under a budget, with attack checks and progress.

Attacks are the last check of a candidate and run once per recoding.
"""

from __future__ import annotations

import hashlib
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar
from zlib import crc32

import numpy as np

from anonymizer.attacks.base import AttackResult
from anonymizer.errors import InputError, Interrupted
from anonymizer.loss.base import LossMetric
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, Packing
from anonymizer.model.classes import Classes, SensitiveCodes, released
from anonymizer.model.features import Feature, Supporter, SuppressionMethod
from anonymizer.model.recoding import AttackerMeasure, Outcome, Published, Recoding, Status
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute, Table, TableSource
from anonymizer.plugins import PlugIn, Registry
from anonymizer.privacy.base import ClassConstraint, ReleaseConstraint, TableConstraint, describe
from anonymizer.search.steps import StepLog


class Progress(NamedTuple):
    """How far a search is.

    Attributes
    ----------
    evaluated, candidates: number of candidates evaluated so far, and of all.
    best, bound: loss of the incumbent and proven lower bound; None without one.
    """

    evaluated: int
    candidates: int
    best: float | None
    bound: float | None


GRACE = 1.05
"""Of the time of a budget, in which what begins before its end should end."""


@dataclass
class Control:
    """A budget, a way to stop, and a listener.

    Time is asked for as a part of the budget, so that a search does not know which clock ends it.

    Attributes
    ----------
    seconds, cpu_seconds, nodes, steps: the budget; None is no limit. ``cpu_seconds`` is processor time,
        user and system, of this process and its threads.
    work: proposals of local recoding, some hundred thousand of which take a second; None is no limit. Set
        where nobody set a budget.
    stopped: returns at every step whether the user wants the search to end.
    listen: receives the progress, at most every tenth of a second.
    below: objective of another search; an algorithm may end as infeasible once it has proven that no recoding
        is below.
    explained: whether steps are read: accepted ones and the one refused last then say what each constraint
        measured, and all are chosen with more care, which matters where evaluating one takes long.
    explain_all: whether every step says what each constraint measured.
    memory: shared by searches of one problem that differ in ``below`` and in the levels that they allow: by
        algorithm, what one leaves for the others. None shares nothing.
    """

    seconds: float | None = None
    cpu_seconds: float | None = None
    nodes: int | None = None
    steps: int | None = None
    work: int | None = None
    stopped: Callable[[], bool] = lambda: False
    listen: Callable[[Progress], None] | None = None
    below: float = math.inf
    explained: bool = True
    explain_all: bool = False
    memory: dict[str, Any] | None = None
    started: float = field(default_factory=time.monotonic)
    cpu_started: float = field(default_factory=time.process_time)
    _told: float = 0.0

    def log(self) -> StepLog:
        """Return the log of a search, without steps."""
        return StepLog(explained=self.explained, every=self.explain_all)

    @property
    def elapsed(self) -> float:
        """Seconds since the search began, by the wall clock."""
        return time.monotonic() - self.started

    def _clocks(self) -> dict[str, tuple[float, float]]:
        """Return each limit of time by its name: its seconds, and those that are over."""
        found = {}
        if self.seconds is not None:
            found["seconds"] = self.seconds, self.elapsed
        if self.cpu_seconds is not None:
            found["cpu_seconds"] = self.cpu_seconds, time.process_time() - self.cpu_started
        return found

    @property
    def allowed(self) -> float | None:
        """Seconds of the shorter limit of time; None without one."""
        return min((limit for limit, _ in self._clocks().values()), default=None)

    @property
    def left(self) -> float | None:
        """Seconds until time is over at the earliest, on one processor; None without a limit of time."""
        return min((max(limit - over, 0.0) for limit, over in self._clocks().values()), default=None)

    @property
    def spent(self) -> float:
        """Part of the time that is over, by the clock that is further; 0 without a limit of time."""
        part = 0.0
        for limit, over in self._clocks().values():
            part = max(part, over / limit if limit > 0 else math.inf)
        return part

    @property
    def unlimited(self) -> bool:
        """Whether there is no budget."""
        return self.allowed is None and self.nodes is None and self.steps is None

    def out_of_time(self) -> bool:
        """Return whether the user wants the search to end or its time is over."""
        return self.stopped() or self.spent >= 1

    def too_late_for(self, part: float) -> bool:
        """Return whether something that takes such a part of the time would end later than ``GRACE``."""
        return self.spent + part > GRACE

    def less(self, part: float) -> Self:
        """Return the budget without a part of the time that is left."""
        clocks = self._clocks().items()
        kept = {name: limit - part * max(limit - over, 0.0) for name, (limit, over) in clocks}
        return replace(self, seconds=kept.get("seconds"), cpu_seconds=kept.get("cpu_seconds"))

    def exhausted(self, evaluated: int, steps: int) -> bool:
        """Return whether the budget is spent."""
        return (
            self.spent >= 1
            or (self.nodes is not None and evaluated >= self.nodes)
            or (self.steps is not None and steps >= self.steps)
        )

    def tell(self, progress: Callable[[], Progress]) -> None:
        """Pass the progress to the listener, if there is one and the last report is old enough."""
        now = time.monotonic()
        if self.listen is not None and now - self._told >= 0.1:
            self._told = now
            self.listen(progress())


class Stage(IntEnum):
    """When an attack runs; each stage has its own random numbers and so its own targets."""

    SEARCH = 0
    AUDIT = 1


SeenBy = Callable[[Table, Recoding], AdversaryView]
"""Returns the view of a candidate with its original, given the searched table."""


class AttackCheck:
    """Attacks candidates that satisfy all other constraints, and remembers the results.

    Parameters
    ----------
    constraints: those measured by attacks; without any, every candidate passes.
    seed: of the run.
    every_step: whether every candidate that satisfies all other constraints is attacked, not only those that
        would be the release.
    seen: returns the view of a candidate, given the searched table; needed with constraints.
    """

    def __init__(
        self,
        constraints: Sequence[ReleaseConstraint] = (),
        seed: int = 0,
        *,
        every_step: bool = False,
        seen: SeenBy | None = None,
    ) -> None:
        self.constraints = tuple(constraints)
        self._seed, self._seen = seed, seen
        self.every_step = every_step and bool(constraints)
        self._reached: dict[tuple[bytes, str], AttackerMeasure] = {}
        self._refused: dict[tuple[bytes, str], float] = {}

    @property
    def open(self) -> bool:
        """Whether every candidate passes."""
        return not self.constraints

    def asking(self, constraints: Sequence[ReleaseConstraint]) -> Self:
        """Return an attack check of other constraints that shares the results of this one."""
        other = type(self)(constraints, self._seed, every_step=self.every_step, seen=self._seen)
        other._reached, other._refused = self._reached, self._refused
        return other

    def first_violated(self, table: Table, recoding: Recoding) -> tuple[str, ...]:
        """Return the first constraint that an attack violates on a candidate, with the measured value.

        Parameters
        ----------
        table: the searched one.
        recoding: of this table; it releases at least one record.

        Returns
        -------
        Names for the steps of a search; empty when the candidate passes.
        """
        if self.open:
            return ()
        key = fingerprint(recoding)
        refused = self._refuted(key)
        if refused is not None:
            constraint, measured = refused
            return (f"{describe(constraint)} {measured:.4g} in the audit",)
        assert self._seen is not None, "attackers see candidates"
        view: AdversaryView | None = None
        for constraint in self.constraints:
            asked = key, _asked(constraint)
            if asked not in self._reached:
                view = view or self._seen(table, recoding)
                self._reached[asked] = _measure(constraint, view, self.random(constraint, Stage.SEARCH))
            if not self._reached[asked].satisfied:
                return (f"{describe(constraint)} {self._reached[asked].measured:.4g}",)
        return ()

    def estimate(self, recoding: Recoding) -> str | None:
        """Return the constraint whose estimate alone rejects a candidate; None if it is surely invalid.

        A candidate that passed in the search and not in the audit is rejected by an estimate, as only the
        random numbers differ.

        Parameters
        ----------
        recoding: that ``first_violated`` has rejected.
        """
        refused = self._refuted(fingerprint(recoding))
        if refused is not None:
            return describe(refused[0])
        rejected = next(each for each in self.answers(recoding) if not each.satisfied)
        return rejected.constraint if rejected.estimated else None

    def _refuted(self, key: bytes) -> tuple[ReleaseConstraint, float] | None:
        """Return the first constraint that a candidate violated in an audit, with its measure there."""
        for constraint in self.constraints if self._refused else ():
            measured = self._refused.get((key, _measured_by(constraint)))
            if measured is not None and not constraint.holds(measured):
                return constraint, measured
        return None

    @property
    def estimating(self) -> tuple[str, ...]:
        """The constraints that were estimated at least once so far."""
        drawn = {found.constraint for found in self._reached.values() if found.estimated}
        return tuple(describe(each) for each in self.constraints if describe(each) in drawn)

    def answers(self, recoding: Recoding) -> tuple[AttackerMeasure, ...]:
        """Return what the attackers reached on a candidate, without those that were not asked about it."""
        key = fingerprint(recoding)
        asked = ((key, _asked(constraint)) for constraint in self.constraints)
        return tuple(self._reached[each] for each in asked if each in self._reached)

    def measures(self, recoding: Recoding) -> Iterator[tuple[int, ReleaseConstraint, float]]:
        """Yield the constraints that attackers were asked about, by position, and what counts against each.

        Of a candidate that an audit refuted, that is its measure there.
        """
        key = fingerprint(recoding)
        for place, constraint in enumerate(self.constraints):
            refused = self._refused.get((key, _measured_by(constraint)))
            reached = self._reached.get((key, _asked(constraint)))
            if refused is not None:
                yield place, constraint, refused
            elif reached is not None:
                yield place, constraint, reached.measured

    def excess(self, recoding: Recoding) -> float:
        """Return the largest measured success on a candidate over the allowed one, 1 where unknown."""
        key, found = fingerprint(recoding), [1.0]
        for constraint in self.constraints:
            reached, allowed = self._reached.get((key, _asked(constraint))), constraint.model.allowed_success
            if reached is not None and allowed:
                found.append(reached.measured / float(allowed))
        return max(found)

    def refused(self, recoding: Recoding) -> bool:
        """Return whether a candidate was refused; a search with attack checks returns none of these."""
        return bool(self._refused) and self._refuted(fingerprint(recoding)) is not None

    def refuse(self, recoding: Recoding, violated: Sequence[tuple[ReleaseConstraint, float]]) -> None:
        """Refuse a candidate from now on.

        Parameters
        ----------
        violated: the constraints that it violated after it had passed, with what was measured.
        """
        key = fingerprint(recoding)
        self._refused |= {(key, _measured_by(each)): measured for each, measured in violated}

    def random(self, constraint: ReleaseConstraint, stage: Stage) -> np.random.Generator:
        """Return the random numbers of an attack; they depend on no other attack, nor on what is counted."""
        name = describe(replace(constraint, unit=None))
        return np.random.default_rng([self._seed, crc32(name.encode()), stage])


def _measure(
    constraint: ReleaseConstraint, view: AdversaryView, random: np.random.Generator
) -> AttackerMeasure:
    before = _position(random)
    found = constraint.attacked(view, random)
    measured = constraint.model.worst(found)
    satisfied = constraint.holds(measured)
    drawn = _position(random) != before
    estimated = drawn and (satisfied or constraint.holds(constraint.model.least(found)))
    attackers = tuple(_attacker(each) for each in found)
    return AttackerMeasure(describe(constraint), measured, satisfied, estimated, attackers)


def _position(random: np.random.Generator) -> tuple[Any, ...]:
    """Return what changes when a number is drawn or another generator is spawned."""
    source = random.bit_generator
    return source.state, getattr(source.seed_seq, "n_children_spawned", None)


def _attacker(found: AttackResult) -> dict[str, Any]:
    """Return the number of one attacker, and whether it learned (null for one that does not learn)."""
    return {
        "attack": found.attack,
        "success": float(found.success),
        "baseline": float(found.baseline),
        "low": found.low,
        "high": found.high,
        "ceiling": None if found.ceiling is None else float(found.ceiling),
        "learned": found.details.get("learned"),
        **({"best_guess": found.details["best_guess"]} if "best_guess" in found.details else {}),
    }


def _asked(constraint: ReleaseConstraint) -> str:
    return f"{describe(constraint)} {sorted(constraint.parameters().items())}"


def _measured_by(constraint: ReleaseConstraint) -> str:
    """Return the constraint without its threshold."""
    rest = {key: value for key, value in constraint.parameters().items() if key != "max"}
    return f"{describe(constraint)} {sorted(rest.items())}"


def fingerprint(recoding: Recoding) -> bytes:
    """Return a digest that differs between any two recodings of a table."""
    found = hashlib.blake2b(digest_size=16)
    found.update(np.packbits(np.stack([recoding.suppressed, recoding.removed])).tobytes())
    if recoding.owner is not None:
        found.update(recoding.owner.tobytes() + recoding.table.counts.tobytes())
    for column in (*recoding.published(), *recoding.class_columns()):
        found.update(repr(column.labels).encode() + column.codes.tobytes())
    return found.digest()


@dataclass(frozen=True, eq=False)
class UnitLimit:
    """Most units that may be lost: a unit is lost if any of its records is suppressed.

    Attributes
    ----------
    unit: its name; the table counts it.
    most: units that may be lost.
    number: units in the table.
    records: returns the most records that a number of units may have together, or more.
    """

    unit: str
    most: int
    number: int
    records: Callable[[int], int]

    @classmethod
    def of_records(cls, unit: str, most: Callable[[int], int], unit_of: IntArray) -> Self:
        """Return the limit on the units of some records.

        Parameters
        ----------
        most: returns how many of a number of units may be lost.
        unit_of: unit of each record, shape (records,), int64; if negative, the record is one of its own.
        """
        sizes = np.bincount(unit_of[unit_of >= 0])
        own = np.ones(int(np.count_nonzero(unit_of < 0)), dtype=np.int64)
        sizes = np.sort(np.concatenate([sizes[sizes > 0], own]))[::-1]
        records = np.concatenate([[0], np.cumsum(sizes)])
        return cls(unit, most(len(sizes)), len(sizes), lambda units: int(records[min(units, len(sizes))]))


Problem = TypeVar("Problem", bound="SearchProblem")


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """The table, constraints and objective of a search.

    Attributes
    ----------
    table: the frequency table with its hierarchies and the levels that may be used.
    class_constraints, table_constraints: the release must satisfy all of them.
    metric: to be minimised.
    limit: most records that may be suppressed; with ``unit_limit`` those of as many units, so that no release
        within that one suppresses more.
    keep_rows: whether suppressed records stay, with ``*`` in every quasi-identifier, if their class satisfies
        the constraints.
    moving_reference: whether p is the distribution in the release, not in the input.
    k: of the config's k-anonymity, None without one.
    suppression: what is suppressed of a violating class.
    gate: constraints measured by attacks.
    seed: of all random numbers.
    source: finer tables of the same records if ``table`` is generalized to the highest allowed levels because
        the full one does not fit in memory; None if ``table`` is the full one.
    most: distinct rows that a table from the source may have in memory.
    placing: whether the outcome must say in which region each distinct row of the source ends, as columns
        outside the table are released.
    unit_limit: most units that may be lost; None where the limit counts records alone.
    """

    table: Table
    class_constraints: tuple[ClassConstraint, ...]
    table_constraints: tuple[TableConstraint, ...]
    metric: LossMetric
    limit: int
    keep_rows: bool
    moving_reference: bool
    k: int | None
    suppression: SuppressionMethod = SuppressionMethod.CLASSES
    gate: AttackCheck = field(default_factory=AttackCheck)
    seed: int = 0
    source: TableSource | None = None
    most: int = 0
    placing: bool = False
    unit_limit: UnitLimit | None = None

    @property
    def minimum_size(self) -> int:
        """No class with fewer records satisfies every constraint."""
        return max((each.minimum_size for each in self.class_constraints), default=1)

    @property
    def has_scenarios(self) -> bool:
        """Whether a constraint is on an adversary who knows some of the quasi-identifiers only."""
        return any(each.knowledge is not None for each in (*self.class_constraints, *self.table_constraints))

    @property
    def for_all_knowledge(self) -> Self:
        """The problem in which the adversary of every scenario knows all quasi-identifiers.

        A release that satisfies it satisfies this one if merges of satisfying classes satisfy each model.
        """
        return replace(
            self,
            class_constraints=tuple(each.of_everything for each in self.class_constraints),
            table_constraints=tuple(each.of_everything for each in self.table_constraints),
        )

    @property
    def smallest_class(self) -> tuple[int, str | None]:
        """The least size of a class and its unit, None for records; of several, the one that asks for most.

        A class of so many units has at least so many records too.
        """
        best: tuple[int, str | None] = (self.minimum_size, None)
        for each in self.class_constraints:
            if each.unit is not None and each.minimum_units >= best[0]:
                best = each.minimum_units, each.unit
        return best

    def of_knowledge(self, known: frozenset[str]) -> Self:
        """The problem on the quasi-identifiers that adversaries know, for whom these are all there are.

        Its class constraints are those of scenarios in which an adversary may know just them.
        """
        own = tuple(
            each.of_everything
            for each in self.class_constraints
            if each.knowledge is not None and known in each.knowledge
        )
        names = [each.name for each in self.table.quasi_identifiers]
        places = [place for place, name in enumerate(names) if name in known]
        return projection(replace(self, class_constraints=own), places)

    @property
    def divided(self) -> bool:
        """Whether rows stay divided by units, as it matters whose records are suppressed."""
        return self.suppression is SuppressionMethod.RECORDS and not self.table.measure.plain

    def admits(self, suppressed: int) -> bool:
        """Return whether so many records may be suppressed; all of them only if they stay with ``*``.

        With ``unit_limit`` this is necessary, not sufficient: see ``admits_units``.
        """
        return suppressed <= self.limit and (suppressed < self.table.records or self.keep_rows)

    def admits_units(self, lost: int) -> bool:
        """Return whether so many units may be lost; any number where the limit counts records."""
        return self.unit_limit is None or lost <= self.unit_limit.most

    def units_lost(self, classes: Classes, items: BoolArray) -> int:
        """Return how many units are lost if some items are suppressed; 0 where the limit counts records.

        Parameters
        ----------
        items: which items of the classes, shape (items,), bool.
        """
        return 0 if self.unit_limit is None else classes.measure.number(self.unit_limit.unit, items)

    def losing_at_most(self, units: int) -> Self:
        """Return the problem with another limit on units."""
        assert self.unit_limit is not None, "the limit counts units"
        own = replace(self.unit_limit, most=units)
        return replace(self, limit=own.records(units), unit_limit=own)

    def loss(self, recoding: Recoding, kind: str) -> float:
        """Return the loss of a recoding of the table by the metric.

        Parameters
        ----------
        kind: what the recoding is, as a message names it.

        Raises
        ------
        InputError: the metric has no value for this kind of recoding.
        """
        value = self.metric.value(released(recoding, self.k))
        if value is None:
            what = f"objective.metric: '{self.metric.name}' is not defined for {kind}"
            raise InputError(f"{what}; use another metric, such as loss")
        return value


def weighs_differently(problem: SearchProblem) -> bool:
    """Return whether the loss is a mean by sampling weights that are not all equal."""
    if not problem.metric.by_weights:
        return False
    weights = problem.table.row_weights
    return bool((weights != weights[:1]).any())


def projection(problem: Problem, places: Sequence[int]) -> Problem:
    """Return the problem on some attributes, whose certain losses are losses of the whole problem too."""
    table = problem.table
    own = tuple(table.quasi_identifiers[place] for place in places)
    packing = Packing(table.combinations)
    for place in places:
        packing.add(table.quasi_identifier_codes(place), table.quasi_identifiers[place].column.size)
    for codes, size in table.others:
        packing.add(codes, size)
    keys, measure = table.measure.merged(packing, divided=problem.divided)
    people = None if table.population is None else table.population.projected(places)
    # Records that are suppressed one by one move p: what fails under p of the input may hold under another.
    moved = problem.moving_reference and problem.suppression is SuppressionMethod.RECORDS
    fixed = (each for each in problem.class_constraints if not (moved and each.model.uses_reference))
    return replace(
        problem,
        table=Table(
            own,
            table.sensitive,
            packing.unpack(keys),
            measure,
            population=people,
            sampling=table.sampling,
        ),
        class_constraints=tuple(fixed),
        table_constraints=(),
        moving_reference=False,
        gate=AttackCheck(),
    )


def judged_attributes(
    table: Table, constraints: Sequence[ClassConstraint | TableConstraint]
) -> list[SensitiveAttribute]:
    """Return the sensitive attributes with a constraint; all of them if one combines them."""
    combined = any(each.combined for each in constraints)
    named = {each.attribute for each in constraints}
    return [each for each in table.sensitive if combined or each.name in named]


def nodes_at(table: Table, levels: Sequence[int], rows: IntArray | slice = slice(None)) -> CodeArray:
    """Return the nodes of some rows of a table at some levels, shape (rows, quasi-identifiers), int32."""
    return np.stack([*node_columns(table, levels, rows)], axis=1)


def node_columns(
    table: Table, levels: Sequence[int], rows: IntArray | slice = slice(None)
) -> Iterator[CodeArray]:
    """Yield what ``nodes_at`` returns column by column: all columns together may not fit in memory."""
    for place, (attribute, level) in enumerate(zip(table.quasi_identifiers, levels, strict=True)):
        yield attribute.nodes(level)[table.quasi_identifier_codes(place)[rows]]


def sensitive_codes(
    table: Table, rows: IntArray | CodeArray | BoolArray | slice = slice(None)
) -> dict[str, SensitiveCodes]:
    """Return the sensitive values of some rows of a table, by attribute name."""
    return {
        each.name: SensitiveCodes(each, table.sensitive_codes(each.name)[rows].astype(np.int64))
        for each in table.sensitive
    }


Candidate = TypeVar("Candidate")


class Incumbent(Generic[Candidate]):
    """The best valid candidate so far; only one that loses less replaces it.

    Attributes
    ----------
    found: the candidate; None before the first.
    objective: its objective, infinite before the first.
    """

    def __init__(self) -> None:
        self.found: Candidate | None = None
        self.objective = math.inf

    def offer(self, candidate: Candidate, objective: float) -> bool:
        """Take a candidate if it loses less than the incumbent; return whether it does."""
        if self.found is not None and not objective < self.objective:
            return False
        self.found, self.objective = candidate, objective
        return True


def offer_outcome(incumbent: Incumbent[Outcome], outcome: Outcome) -> bool:
    """Offer the outcome of a search to an incumbent; without a recoding it is none."""
    if outcome.recoding is None:
        return False
    return incumbent.offer(outcome, math.inf if outcome.objective is None else outcome.objective)


class SearchRun:
    """One run of a search: its steps so far, and whether the user has ended it."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._steps = control.log()
        self._interrupted = False

    def _ended(self, evaluated: int) -> bool:
        """Return whether the user or the budget ends the search."""
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(evaluated, len(self._steps))

    def _finished(
        self,
        status: Status,
        best: tuple[float | None, Recoding | None],
        bound: float | None,
        candidates: int,
        evaluated: int,
    ) -> Outcome:
        """Return the outcome.

        Parameters
        ----------
        best: objective and recoding of the best candidate; None without one.

        Raises
        ------
        Interrupted: the user ended the search before it found a release.
        """
        objective, recoding = best
        if self._interrupted and status is Status.UNDECIDED:
            raise Interrupted("interrupted before a release was found; nothing was written")
        return Outcome(
            status,
            recoding,
            objective,
            bound,
            candidates,
            evaluated,
            self._steps.ended(),
            self._control.elapsed,
            self._interrupted,
        )


class SearchAlgorithm(PlugIn, Supporter):
    """Searches for the recoding of lowest loss that satisfies every constraint.

    Class attributes
    ----------------
    supports: the features that it carries out. With ``UNITS`` and ``UNIT_LIMIT`` it keeps to
        ``SearchProblem.unit_limit``, which a ``Judge`` checks; with ``PSEUDONYMS`` it compares lists of rows;
        with ``OUT_OF_CORE`` it searches a source of tables if the frequency table does not fit in memory.
    in_groups: whether the release is two tables joined by bucket (Anatomy).
    chooses: whether it only chooses one of the others.
    full_domain: whether it publishes one level of each attribute, which loses more than others.
    own_nodes: whether each record has nodes of the hierarchies of its own, and nothing else is published.
    aggregates: whether it publishes numbers that are not in the input.
    by_codes: whether an out-of-core recoding can be applied to any record by its codes; otherwise only
        columns of the table can be released.

    Attributes
    ----------
    reasons: why another algorithm chose it, a clause each.
    """

    supports = frozenset({Feature.CLASSES})
    in_groups: ClassVar[bool] = False
    chooses: ClassVar[bool] = False
    full_domain: ClassVar[bool] = False
    own_nodes: ClassVar[bool] = False
    aggregates: ClassVar[bool] = False
    by_codes: ClassVar[bool] = True
    reasons: tuple[str, ...] = ()

    def narrowed(self, asked: Sequence[Feature]) -> SearchAlgorithm:  # noqa: ARG002 - of those that choose
        """Return the algorithm for a config that asks for some features; asked of one that chooses."""
        return self

    def beyond_memory(self, problem: SearchProblem, *, joins: bool) -> SearchAlgorithm:  # noqa: ARG002
        """Return the algorithm for a problem with a source; asked of one that chooses.

        Parameters
        ----------
        joins: whether an engine can join the records to their recoding.
        """
        return self

    @property
    def hindrance(self) -> str | None:
        """What keeps the algorithm from its usual work on this machine, as a sentence; None for nothing."""
        return None

    @classmethod
    def suppressions(cls) -> frozenset[SuppressionMethod]:
        """Return the supported methods of suppression."""
        return frozenset(each for each in SuppressionMethod if each.feature in cls.supports)

    @property
    def most_parts(self) -> float:
        """Most parts into which rows are divided by units, as parts of a row may be published differently.

        0 if they are not: all records of a distinct row are published alike.
        """
        return 0

    def publishes(
        self,
        attributes: Sequence[QuasiIdentifier],  # noqa: ARG002 - of others
        method: SuppressionMethod,  # noqa: ARG002 - of others
    ) -> frozenset[Published]:
        """Return what it may publish of each of some quasi-identifiers; asked if it supports ``NUMBERS``."""
        if self.full_domain:
            return frozenset({Published.LEVEL})
        return frozenset({Published.NODES} if self.own_nodes else {Published.NODES, Published.INTERVALS})

    def in_intervals(self) -> tuple[str, SearchAlgorithm] | None:
        """Return an override, and with it the algorithm, that publishes numbers as intervals.

        None where it does so already, or never does.
        """
        return None

    def out_of_core_gaps(self, problem: SearchProblem) -> Iterator[str]:  # noqa: ARG002 - any problem
        """Yield the parameters and properties of a problem that it does not support out of core.

        Called only if it supports ``OUT_OF_CORE``.
        """
        yield from ()

    @abstractmethod
    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best recoding found, with its proven bound.

        Deterministic: the same problem and the same number of steps give the same outcome.
        """

    def first(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return a release from which another search may start; by default the whole search.

        Parameters
        ----------
        problem: without attack checks.
        """
        return self.search(problem, control)


SEARCH_ALGORITHMS: Registry[SearchAlgorithm] = Registry(
    "search algorithm", SearchAlgorithm, "anonymizer.search", "anonymizer.search_algorithms"
)


def algorithm_of(name: Any) -> type[SearchAlgorithm] | None:
    """Return the algorithm that a report names; None if it is not installed."""
    return SEARCH_ALGORITHMS[name] if isinstance(name, str) and name in SEARCH_ALGORITHMS else None


FULL_DOMAIN = "lattice"
"""The algorithm that proves the best full-domain recoding, and judges each scenario by its own classes."""

FULL_DOMAIN_FEATURES = frozenset(
    {
        Feature.CLASSES,
        Feature.RECORDS,
        Feature.CELLS,
        Feature.EVERY_STEP,
        Feature.APPLY,
        Feature.WHOLE,
        Feature.UNIT_LIMIT,
        Feature.PSEUDONYMS,
        Feature.UNITS,
        Feature.STORED_UNITS,
        Feature.UNITS_OUT_OF_CORE,
        Feature.POPULATION,
        Feature.SCENARIOS,
        Feature.EXACT_SCENARIOS,
        Feature.NUMBERS,
        Feature.RECIPE,
        Feature.OUT_OF_CORE,
    }
)
"""What it carries out: also what ``auto`` does, which chooses others only where they can do the same."""

QUICK = "mondrian"
"""The algorithm that is quick for any number of columns."""


def search_with(name: str, problem: SearchProblem, control: Control, **parameters: Any) -> Outcome:
    """Return the outcome of another algorithm, as a start or for comparison.

    Algorithms do not import each other; this loads one by name.

    Parameters
    ----------
    parameters: those that differ from the defaults.
    """
    return _built(name, parameters).search(problem, control)


def first_with(name: str, problem: SearchProblem, control: Control, **parameters: Any) -> Outcome:
    """Return the first release of another algorithm, as a start."""
    return _built(name, parameters).first(problem, control)


def _built(name: str, parameters: Mapping[str, Any]) -> SearchAlgorithm:
    plug_in = SEARCH_ALGORITHMS[name]
    return plug_in(plug_in.Settings.model_validate(parameters))
