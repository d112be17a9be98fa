"""The algorithm ``anatomy``: exact quasi-identifiers, and sensitive values in buckets.

Records are dealt to buckets so that each bucket has as even a share of every sensitive value as possible, or
by the procedure of Xiao and Tao's paper on Anatomy, which takes the most frequent remaining values. Exchanges
between buckets, at random or towards similar records, keep the values of each bucket distinct. Buckets are
numbered by their published values, so that the numbers reveal nothing more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from anonymizer.errors import InputError
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, group_keys, numbered
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.features import Feature, Limit
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import (
    AttackerMeasure,
    CheckerMeasure,
    GroupRecoding,
    Outcome,
    Status,
    Step,
    renumbered,
)
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.plugins import Settings
from anonymizer.privacy.base import describe
from anonymizer.search.base import Control, Progress, SearchAlgorithm, SearchProblem, SearchRun, node_columns
from anonymizer.search.judge import Judge, as_one_class, refuted_as_one_class

NOBODY = -1
"""Marks an empty seat."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a table one by one, in an order that depends on the seed, not on the input.

    Attributes
    ----------
    row: combination of each record, shape (records,), int64.
    value: its sensitive value, shape (records,), int64.
    counts: records with each value, shape (values,), int64.
    queue: the records by value, the most frequent value first, those of one value in random order, shape
        (records,), int64.
    """

    row: IntArray
    value: IntArray
    counts: IntArray
    queue: IntArray

    @classmethod
    def of(cls, table: Table, random: np.random.Generator) -> Records:
        """Return the records of a table with one sensitive attribute."""
        row = np.repeat(np.arange(table.combinations), table.counts)
        value = table.sensitive_codes(table.sensitive_names[0])[row].astype(np.int64)
        counts = np.bincount(value, minlength=table.sensitive[0].column.size).astype(np.int64)
        rank = np.empty(len(counts), dtype=np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
        return cls(row, value, counts, np.lexsort((random.permutation(len(row)), rank[value])))

    def capped(self, cap: int) -> IntArray:
        """Return the queue with at most so many records of each value, shape (remaining records,), int64."""
        ordered = self.value[self.queue]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        lengths = np.diff(np.r_[starts, len(ordered)])
        place = np.arange(len(ordered)) - np.repeat(starts, lengths)
        return self.queue[place < cap]


def highest_cap(counts: IntArray, size: int) -> int:
    """Return the most records of a value such that none exceeds 1 / size of all remaining records.

    For counts c it is the largest L with L * size <= sum of min(c, L). The sum is concave in L and 0 at 0, so
    the inequality also holds below L.

    Parameters
    ----------
    counts: records with each value, shape (values,), int64.
    size: wanted number of records of a bucket, all of different values.

    Returns
    -------
    The cap; 0 with fewer than ``size`` values.
    """
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        fits = middle * size <= int(np.minimum(counts, middle).sum())
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def dealt(queue: IntArray, groups: int) -> IntArray:
    """Deal records to buckets in turn.

    The records of a value follow each other. So no bucket gets two of a value with at most as many records as
    there are buckets, and the numbers of any value differ by at most one between buckets: with ``groups`` =
    floor(n / l) and no value in more than n / l records, all values of a bucket are distinct, and every
    bucket has at least l records. The n mod l records that remain in Xiao and Tao's procedure are dealt like
    all others.

    Parameters
    ----------
    queue: the records by value, shape (records,), int64.
    groups: at most the number of records.

    Returns
    -------
    The record in each seat of each bucket, shape (groups, seats), int64; ``NOBODY`` in the last seat of
    smaller buckets.
    """
    seats = -(-len(queue) // groups)
    padded = np.full(seats * groups, NOBODY, dtype=np.int64)
    padded[: len(queue)] = queue
    return np.ascontiguousarray(padded.reshape(seats, groups).T)


def groups_of(seats: IntArray, records: int) -> IntArray:
    """Return the bucket of each record, shape (records,), int64; ``NOBODY`` for those without a seat."""
    group = np.full(records + 1, NOBODY, dtype=np.int64)
    group[seats] = np.arange(len(seats))[:, None]
    group[-1] = NOBODY
    return group[:-1]


def values_in(seats: IntArray, value: IntArray) -> IntArray:
    """Return the sensitive value in each seat, shape (groups, seats), int64; ``NOBODY`` in empty ones."""
    return np.append(value, NOBODY)[seats]


def all_distinct(values: IntArray) -> bool:
    """Return whether no bucket has a value twice.

    Parameters
    ----------
    values: in each seat, shape (groups, seats), int64.
    """
    ordered = np.sort(values, axis=1)
    return not ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NOBODY)).any()


def published_ranks(table: Table, levels: Sequence[int]) -> IntArray:
    """Return the rank of each combination among the published tuples, shape (combinations,), int64."""
    return numbered(node_columns(table, levels), table.combinations)[0]


@dataclass(frozen=True, eq=False)
class Grouped:
    """Buckets with the verdict on them.

    Attributes
    ----------
    group: bucket of each record, shape (records,), int64; -1 for removed ones.
    groups: number of remaining buckets.
    removed: number of removed records.
    failed: names of the violated constraints.
    checks: what each constraint measured.
    """

    group: IntArray
    groups: int
    removed: int
    failed: tuple[str, ...]
    checks: tuple[CheckerMeasure, ...]

    @property
    def valid(self) -> bool:
        """Whether it may be released."""
        return not self.failed


def violated(checks: Sequence[CheckerMeasure]) -> tuple[str, ...]:
    """Return the names of the constraints that are violated."""
    return tuple(each.constraint for each in checks if not each.satisfied)


class GroupJudge:
    """Applies the constraints of a problem to buckets, and those on singling out to the exact tuples."""

    def __init__(self, problem: SearchProblem, records: Records) -> None:
        self._problem = problem
        self._records = records
        self._attribute = problem.table.sensitive[0]
        self._of_tuples = [each for each in problem.table_constraints if each.model.singles_out]
        self._of_groups = replace(
            problem,
            table_constraints=tuple(each for each in problem.table_constraints if not each.model.singles_out),
            keep_rows=False,
        )
        self.levels = tuple(each.minimum for each in problem.table.quasi_identifiers)
        self.tuples = published_ranks(problem.table, self.levels)

    def provably_violated(self) -> tuple[str, ...]:
        """Return constraints that no grouping satisfies, proven by one bucket of all records."""
        refuted = refuted_as_one_class(self._problem)
        if refuted or self._problem.limit:
            return refuted
        # A unique tuple is unique in any bucket; only removing records could change that.
        return violated(self._measured(np.zeros(len(self._records.row), dtype=np.int64)))

    def judge(self, seats: IntArray) -> Grouped:
        """Return the verdict on buckets.

        Parameters
        ----------
        seats: record in each seat of each group, shape (groups, seats), int64.
        """
        group = groups_of(seats, len(self._records.row))
        capped = int((group < 0).sum())
        problem = replace(self._of_groups, limit=self._of_groups.limit - capped)
        verdict = Judge(problem).judge(self._classes(group, len(seats)))
        numbers = np.append(np.where(verdict.kept, np.cumsum(verdict.kept) - 1, -1), -1)
        group = numbers[group]
        singled = self._measured(group)
        failed, checks = verdict.failed + violated(singled), verdict.checks + singled
        return Grouped(group, int(verdict.kept.sum()), int((group < 0).sum()), failed, checks)

    def _classes(self, group: IntArray, groups: int) -> Classes:
        """Return the buckets as classes, counted by value."""
        seated, size = np.flatnonzero(group >= 0), self._attribute.column.size
        own = group[seated] * size + self._records.value[seated]
        item_of, distinct = group_keys(own, groups * size)
        counts = count(item_of, np.ones(len(seated), dtype=np.int64), len(distinct))
        values = {self._attribute.name: SensitiveCodes(self._attribute, distinct % size)}
        return Classes(distinct // size, Measure(counts), groups, values)

    def _measured(self, group: IntArray) -> tuple[CheckerMeasure, ...]:
        """Return what the models on singling out measure on the remaining records."""
        if not self._of_tuples or not (group >= 0).any():
            return ()
        stays = self.tuples[self._records.row[group >= 0]]
        alike = np.unique(stays, return_inverse=True)[1].astype(np.int64)
        classes = Classes(alike, Measure(np.ones_like(alike)), int(alike.max()) + 1, {})
        return tuple(
            CheckerMeasure(
                describe(each), measured := each.measured(classes), each.holds(classes), None, measured
            )
            for each in self._of_tuples
        )

    def recoding(self, grouped: Grouped, facts: Mapping[str, Any]) -> GroupRecoding:
        """Return the recoding of buckets, numbered by their published values."""
        table, records = self._problem.table, self._records
        published = (self.tuples[records.row], records.value)
        group = renumbered(grouped.group, grouped.groups, published)
        width = grouped.groups + 1
        part_of, keys = group_keys(records.row * width + group + 1, table.combinations * width)
        counts = count(part_of, np.ones(len(part_of), dtype=np.int64), len(keys))
        owner, own = keys // width, keys % width - 1
        split: Table = table.split(owner, counts)
        return GroupRecoding(split, self.levels, own, own < 0, owner, facts)


SWEEPS_BY_CHANCE = 20
"""Average exchanges of each seat: enough to forget the initial order."""

SWEEPS_TOWARDS_SIMILAR = 400
"""Exchanges tried with each bucket; after these few remain that make buckets more similar."""


class Grouping(ABC):
    """Decides which records share a bucket, while the values of the buckets are dealt."""

    @abstractmethod
    def mixed(self, seats: IntArray, records: Records, table: Table, random: np.random.Generator) -> IntArray:
        """Return as many other buckets with distinct values, none smaller than the smallest.

        Parameters
        ----------
        seats: record in each seat, shape (groups, seats), int64; no group has a value twice.
        """


class RandomGrouping(Grouping):
    """Every grouping with distinct values is equally likely.

    Two buckets exchange a record each unless one of them would then have a value twice: a symmetric Markov
    chain, which forgets its start.
    """

    def mixed(self, seats: IntArray, records: Records, table: Table, random: np.random.Generator) -> IntArray:  # noqa: ARG002 - uses values only
        """Return random buckets."""
        seats, values = seats.copy(), values_in(seats, records.value)
        for _ in range(SWEEPS_BY_CHANCE * seats.shape[1]):
            _exchange(seats, values, _pairs(random.permutation(len(seats))), random, None)
        return seats


class SimilarGrouping(Grouping):
    """Records of one bucket have similar quasi-identifiers, as far as exchanges of two records achieve.

    Buckets that are neighbours along a random direction exchange records. Similar buckets reveal less about a
    target's value than random ones: what an adversary learns from quasi-identifiers about values is the same
    for all records of the bucket.
    """

    def mixed(self, seats: IntArray, records: Records, table: Table, random: np.random.Generator) -> IntArray:
        """Return buckets of similar records."""
        seats, values = seats.copy(), values_in(seats, records.value)
        nearness = _Nearness(records, table)
        for _ in range(SWEEPS_TOWARDS_SIMILAR):
            order = np.argsort(nearness.along(seats, random), kind="stable")
            _exchange(seats, values, _pairs(order[int(random.integers(2)) :]), random, nearness)
        return seats


class _Nearness:
    """Distances between records: the sum over quasi-identifiers, each at most its weight.

    Numbers and dates by the share of other values between them, texts 1 unless equal.
    """

    def __init__(self, records: Records, table: Table) -> None:
        ordered = [each for each in table.quasi_identifiers if each.column.type.ordered]
        names = [each.name for each in table.quasi_identifiers]
        codes = table.codes[records.row]
        ranks = [_ranks(each)[codes[:, names.index(each.name)]] for each in ordered]
        self._numbers = _with_nobody(np.column_stack([np.zeros(len(codes)), *ranks]).astype(np.float32))
        texts = [each for each in table.quasi_identifiers if not each.column.type.ordered]
        self._texts = _with_nobody(codes[:, [names.index(each.name) for each in texts]])
        self._weights = np.array([each.weight for each in texts], dtype=np.float32)

    def along(self, seats: IntArray, random: np.random.Generator) -> FloatArray:
        """Return the position of each bucket along a random direction, shape (groups,)."""
        place = self._numbers @ random.normal(size=self._numbers.shape[1])
        for position in range(self._texts.shape[1]):
            steps = random.normal(size=int(self._texts[:, position].max(initial=0)) + 2)
            place = place + float(self._weights[position]) * steps[self._texts[:, position]]
        place[-1] = 0.0
        means = place[seats].sum(axis=1) / (seats != NOBODY).sum(axis=1)
        return np.asarray(means, dtype=np.float64)

    def to(self, record: IntArray, others: IntArray) -> FloatArray:
        """Return the sum of distances from each record to others, 0 for ``NOBODY``, shape (records,)."""
        far = np.abs(self._numbers[record][:, None, :] - self._numbers[others]).sum(axis=2)
        unlike = self._texts[record][:, None, :] != self._texts[others]
        far = far + unlike @ self._weights
        return np.asarray(np.where(others == NOBODY, 0.0, far).sum(axis=1), dtype=np.float64)


def _ranks(attribute: QuasiIdentifier) -> FloatArray:
    """Return the position of each value of an ordered column between 0 and the weight, shape (values,)."""
    size = attribute.column.size
    return np.asarray(np.arange(size) * (attribute.weight / max(size - 1, 1)), dtype=np.float64)


def _with_nobody(features: NDArray[Any]) -> NDArray[Any]:
    """Return features with a row for ``NOBODY`` after the last."""
    return np.concatenate([features, np.zeros_like(features[:1])])


def _pairs(order: IntArray) -> tuple[IntArray, IntArray]:
    """Return neighbours in an order as disjoint pairs."""
    paired = order[: len(order) // 2 * 2]
    return paired[::2], paired[1::2]


def _exchange(
    seats: IntArray,
    values: IntArray,
    pairs: tuple[IntArray, IntArray],
    random: np.random.Generator,
    nearness: _Nearness | None,
) -> None:
    """Exchange one record of each pair of buckets if values stay distinct and distances do not grow.

    Parameters
    ----------
    seats, values: record and value in each seat; changed in place.
    nearness: of records; None for any exchange.
    """
    one, other = pairs
    seat, seat_of_other = random.integers(0, seats.shape[1], (2, len(one)))
    mine, theirs = values[one, seat], values[other, seat_of_other]
    fits: BoolArray = (mine != NOBODY) & (theirs != NOBODY)
    own, others = values[one], values[other]
    places = np.arange(len(one))
    own[places, seat], others[places, seat_of_other] = NOBODY, NOBODY
    fits &= ~(own == theirs[:, None]).any(axis=1) & ~(others == mine[:, None]).any(axis=1)
    chosen = np.flatnonzero(fits)
    one, other, seat, seat_of_other = one[chosen], other[chosen], seat[chosen], seat_of_other[chosen]
    if nearness is not None and len(chosen):
        closer = _closer(seats, (one, seat), (other, seat_of_other), nearness)
        one, other, seat, seat_of_other = (each[closer] for each in (one, other, seat, seat_of_other))
    for array in (seats, values):
        array[one, seat], array[other, seat_of_other] = array[other, seat_of_other], array[one, seat]


def _closer(
    seats: IntArray, one: tuple[IntArray, IntArray], other: tuple[IntArray, IntArray], nearness: _Nearness
) -> BoolArray:
    """Return which exchanges bring records nearer to the others of their bucket."""
    mine, theirs = seats[one], seats[other]
    with_mine, with_theirs = seats[one[0]], seats[other[0]]
    places = np.arange(len(mine))
    with_mine[places, one[1]], with_theirs[places, other[1]] = NOBODY, NOBODY
    before = nearness.to(mine, with_mine) + nearness.to(theirs, with_theirs)
    after = nearness.to(theirs, with_mine) + nearness.to(mine, with_theirs)
    return after < before - 1e-6


class Largest(Grouping):
    """Each bucket takes one record of each of the most frequent remaining values.

    Remaining records join a random bucket without their value.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), figure 3.
    """

    def mixed(
        self,
        seats: IntArray,
        records: Records,
        table: Table,  # noqa: ARG002 - uses values only
        random: np.random.Generator,
    ) -> IntArray:
        """Return the buckets of the procedure; the dealt ones if it makes another number."""
        groups, seated = len(seats), records.queue[np.isin(records.queue, seats)]
        counts = np.bincount(records.value[seated], minlength=len(records.counts)).astype(np.int64)
        size = len(seated) // groups
        if len(seated) // size != groups:
            return seats
        drawn = rounds(counts, size, groups)
        left = np.repeat(np.arange(len(counts)), counts - np.bincount(drawn.ravel(), minlength=len(counts)))
        chosen = _with_left(drawn, left, random)
        own = np.argsort(records.value[seated], kind="stable")
        places = np.flatnonzero(chosen.ravel() != NOBODY)
        found = np.full(chosen.size, NOBODY, dtype=np.int64)
        found[places[np.argsort(chosen.ravel()[places], kind="stable")]] = seated[own]
        rearranged = found.reshape(chosen.shape)
        return rearranged if all_distinct(values_in(rearranged, records.value)) else seats


def rounds(counts: IntArray, size: int, number: int) -> IntArray:
    """Draw one of each of the most frequent remaining values, in each of some rounds.

    Equally frequent values are drawn in turn. While the same values are ahead of these and behind them, whole
    turns are taken at once, so that there are about as many steps as values.

    Parameters
    ----------
    counts: how many there are of each value, shape (values,), int64.
    size: values in a round; at least so many remain.
    number: of rounds.

    Returns
    -------
    The values of each round, shape (rounds, size), int64.
    """
    left, drawn, done = counts.copy(), [], 0
    while done < number:
        order = np.argsort(-left, kind="stable")
        tied = int(left[order[size - 1]])
        ahead, equal = order[left[order] > tied], order[left[order] == tied]
        own = size - len(ahead)
        behind = int(left[left < tied].max(initial=0))
        lead = int(left[ahead].min()) - tied if len(ahead) else None
        block = min(_rounds_at_once(own, len(equal), tied - behind, lead), number - done)
        turn = equal[np.arange(block * own) % len(equal)].reshape(block, own)
        values = np.concatenate([np.tile(ahead, (block, 1)), turn], axis=1)
        left -= np.bincount(values.ravel(), minlength=len(left))
        drawn.append(values)
        done += block
    return np.concatenate(drawn)


def _rounds_at_once(own: int, equal: int, above: int, lead: int | None) -> int:
    """Return the number of rounds in which tied values are drawn in turn before others tie.

    Parameters
    ----------
    own: tied values in a round.
    equal: tied values.
    above: how much more frequent a tied value is than the next.
    lead: how much more frequent the always drawn values are than tied ones; None without any.
    """
    each, turns = own // gcd(own, equal), equal // gcd(own, equal)
    full = above // each
    if lead is not None and turns > each:
        full = min(full, lead // (turns - each))
    return max(full * turns, 1)


def _with_left(drawn: IntArray, left: IntArray, random: np.random.Generator) -> IntArray:
    """Return the values of buckets with the remaining ones, each in a random bucket without it."""
    width = drawn.shape[1]
    chosen = np.concatenate([drawn, np.full((len(drawn), len(left)), NOBODY, dtype=np.int64)], axis=1)
    for place, value in enumerate(left.tolist(), start=width):
        free = np.flatnonzero(~(chosen == value).any(axis=1))
        if len(free):
            chosen[free[int(random.integers(len(free)))], place] = value
    return chosen


class GroupingName(StrEnum):
    """Which records share a bucket."""

    RANDOM = "random"
    LARGEST = "largest"
    SIMILAR = "similar"


GROUPINGS: Mapping[GroupingName, Grouping] = {
    GroupingName.RANDOM: RandomGrouping(),
    GroupingName.LARGEST: Largest(),
    GroupingName.SIMILAR: SimilarGrouping(),
}
"""The groupings by their names in the config."""


class AnatomySettings(Settings):
    """Parameters of anatomy."""

    grouping: GroupingName = Field(
        default=GroupingName.RANDOM,
        description="which records share a bucket: random, with the most frequent values, or similar",
    )


class Anatomy(SearchAlgorithm):
    """Publishes quasi-identifiers unchanged, and the sensitive values of each bucket in a second table.

    There are as many buckets as the constraints allow. With l-diversity these are floor(n / l), each with l
    or l + 1 records of different values, if no value has more than n / l of the n records. If other
    constraints need it, there are fewer and larger buckets, down to one; if even that fails, the most
    frequent values lose records within the suppression limit.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), section 4; instead of
    a heap of buckets the records are dealt by value and then exchanged.
    """

    name = "anatomy"
    Settings = AnatomySettings
    settings: AnatomySettings
    supports = frozenset({Feature.CLASSES, Feature.EVERY_STEP})
    in_groups = True

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """Why it counts records only."""
        what = (
            "anatomy counts records only: its two tables show how many records a person has in a bucket and "
            "how often each value occurs there, which can reveal the value of the person"
        )
        return {Feature.UNITS: Limit(what)}

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the release of lowest loss, of most buckets among equal ones.

        Raises
        ------
        InputError: there is not exactly one sensitive attribute.
        """
        sensitive = problem.table.sensitive_names
        if len(sensitive) != 1:
            found = f"{len(sensitive)} ({', '.join(sensitive)})" if sensitive else "none"
            raise InputError(
                f"algorithm.name: anatomy needs exactly one sensitive attribute; found {found}; give one "
                "column role: sensitive, or use another algorithm, such as local"
            )
        return _Run(problem, control, self.settings).run()


class _Run(SearchRun):
    def __init__(self, problem: SearchProblem, control: Control, settings: AnatomySettings) -> None:
        super().__init__(control)
        self._problem = problem
        self._random = np.random.default_rng([problem.seed, 0])
        self._records = Records.of(problem.table, self._random)
        self._judge = GroupJudge(problem, self._records)
        self._grouping = settings.grouping
        self._best: tuple[float, GroupRecoding] | None = None

    def run(self) -> Outcome:
        failed = self._judge.provably_violated()
        if failed:
            step = Step({"groups": 1}, None, False, failed)
            self._steps.note(step, lambda own: as_one_class(self._problem, own))
            return self._outcome(Status.INFEASIBLE)
        for cap in self._caps():
            if self._most_groups(cap) or self._ended(len(self._steps)):
                break
        return self._outcome(Status.UNDECIDED if self._best is None else Status.SATISFIED)

    def _caps(self) -> Iterator[int]:
        """Yield the most records of each value: all, then 1 / 2 of all, 1 / 3, within the limit."""
        counts = self._records.counts
        last = int(counts.max())
        yield last
        for size in range(2, int((counts > 0).sum()) + 1):
            cap = highest_cap(counts, size)
            if not self._problem.admits(int((counts - np.minimum(counts, cap)).sum())):
                return
            if cap < last:
                last = cap
                yield cap

    def _most_groups(self, cap: int) -> bool:
        """Try fewer and fewer buckets until they are valid and none is removed, then more again.

        Returns
        -------
        Whether any grouping is valid without removing more records than the cap does.
        """
        queue = self._records.capped(cap)
        failing = None
        for groups in _numbers(len(queue), self._problem.minimum_size):
            if self._try(queue, groups):
                self._refine(queue, groups, failing)
                return True
            if self._ended(len(self._steps)):
                return False
            failing = groups
        return False

    def _refine(self, queue: IntArray, valid: int, failing: int | None) -> None:
        """Bisect between a valid number of buckets and an invalid one."""
        while failing is not None and failing - valid > 1 and not self._ended(len(self._steps)):
            middle = (valid + failing) // 2
            valid, failing = (middle, failing) if self._try(queue, middle) else (valid, middle)

    def _try(self, queue: IntArray, groups: int) -> bool:
        """Judge the records in so many buckets, and keep them if they are the best so far.

        Returns
        -------
        Whether they are valid with all records; if buckets are removed, fewer buckets may lose less.
        """
        self._control.tell(lambda: Progress(len(self._steps), len(self._steps) + 1, None, None))
        seats = dealt(queue, groups)
        grouped = self._judge.judge(seats)
        objective, answers, mixed = None, tuple[AttackerMeasure, ...](), grouped
        if grouped.valid:
            mixed, grouping = self._mixed(seats, grouped)
            recoding = self._judge.recoding(mixed, _facts(mixed, grouping))
            broken = self._problem.gate.first_violated(self._problem.table, recoding)
            answers = self._problem.gate.answers(recoding)
            if broken:
                self._note(groups, None, replace(mixed, failed=broken), answers)
                return False
            objective = self._problem.loss(recoding, "algorithm anatomy")
            if self._best is None or (objective, -mixed.groups) < (self._best[0], -self._best[1].groups):
                self._best = objective, recoding
        self._note(groups, objective, mixed, answers)
        return grouped.valid and grouped.removed == len(self._records.queue) - len(queue)

    def _note(
        self, groups: int, objective: float | None, found: Grouped, answers: tuple[AttackerMeasure, ...]
    ) -> None:
        """Log a step."""
        step = Step({"groups": groups}, objective, found.valid, found.failed, None, found.removed)
        # Groupings are few, and measured already.
        self._steps.append(replace(step, checks=found.checks, attackers=answers))

    def _mixed(self, seats: IntArray, grouped: Grouped) -> tuple[Grouped, str]:
        """Exchange records between buckets of distinct values if all constraints stay satisfied.

        Returns
        -------
        The buckets, and the name of their grouping.
        """
        values = values_in(seats, self._records.value)
        if len(seats) > 1 and all_distinct(values):
            random = np.random.default_rng([self._problem.seed, len(seats)])
            grouping = GROUPINGS[self._grouping]
            rearranged = grouping.mixed(seats, self._records, self._problem.table, random)
            mixed = self._judge.judge(rearranged)
            if rearranged is not seats and mixed.valid and mixed.removed <= grouped.removed:
                return mixed, self._grouping.value
        return grouped, "dealt"

    def _outcome(self, status: Status) -> Outcome:
        objective, recoding = self._best or (None, None)
        # With no record lost and no value changed, a metric of cells measures no loss at all.
        best = (
            recoding is not None
            and not recoding.removed.any()
            and Feature.AGGREGATE in self._problem.metric.supports
        )
        number = len(self._steps)
        return self._finished(status, (objective, recoding), objective if best else None, number, number)


def _facts(grouped: Grouped, grouping: str) -> dict[str, object]:
    """Return the facts about buckets for the report."""
    sizes = np.bincount(grouped.group[grouped.group >= 0])
    return {
        "groups": grouped.groups,
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "grouping": grouping,
    }


def _numbers(records: int, smallest: int) -> Iterator[int]:
    """Yield numbers of buckets to try, from the most with enough records down to one."""
    last, size = 0, smallest
    while size <= records:
        groups = records // size
        if groups != last:
            yield groups
        last, size = groups, size + max(1, size // 4)
    if last > 1:
        yield 1
