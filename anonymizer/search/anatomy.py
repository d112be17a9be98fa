"""The algorithm ``anatomy``: exact quasi-identifiers, and sensitive values in buckets.

Records are dealt to buckets so that each bucket gets as even a share of every sensitive value as possible,
or by the procedure of Xiao and Tao's paper on Anatomy, which takes the values that are left most often.
Exchanges between buckets, at random or towards similar records, keep the values of each bucket distinct.
Buckets are numbered by what is published of them, so the numbers reveal nothing more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import gcd
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from anonymizer.errors import InputError, Interrupted
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes, released
from anonymizer.model.counting import count, group_keys
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import GroupRecoding
from anonymizer.model.report import Status
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.plugins import Settings
from anonymizer.privacy.base import describe
from anonymizer.search.base import Control, Progress, SearchAlgorithm, SearchProblem
from anonymizer.search.judge import Judge

NOBODY = -1
"""Stands in a seat that no record has."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a table one by one, in an order that depends on the seed and not on the input's.

    Attributes
    ----------
    row: combination of the table that each record is of, shape (records,), int64.
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
        """Return the queue with at most so many records of each value, shape (records left,), int64."""
        ordered = self.value[self.queue]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        lengths = np.diff(np.r_[starts, len(ordered)])
        place = np.arange(len(ordered)) - np.repeat(starts, lengths)
        return self.queue[place < cap]


def highest_cap(counts: IntArray, size: int) -> int:
    """Return how many records may stay of each value for none to exceed 1 / size of the rest.

    With c the counts it is the largest L with L * size <= sum of min(c, L): a concave function of L, 0 at 0,
    so that what holds for L holds for all below.

    Parameters
    ----------
    counts: records with each value, shape (values,), int64.
    size: wanted number of records of a group, all of other values.

    Returns
    -------
    The cap; 0 where there are fewer than ``size`` values.
    """
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        fits = middle * size <= int(np.minimum(counts, middle).sum())
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def dealt(queue: IntArray, groups: int) -> IntArray:
    """Deal records to groups one after another.

    The records of a value follow each other. So no group gets two of a value that has no more records than
    there are groups, and of any value each group gets the same number or one more: with ``groups`` =
    floor(n / l) and no value in more than n / l records all values of a group are distinct, and every group
    has l records at least. The n mod l records that are left in Xiao and Tao's procedure go round like all
    others.

    Parameters
    ----------
    queue: the records by value, shape (records,), int64.
    groups: at most the number of records.

    Returns
    -------
    The record in each seat of each group, shape (groups, seats), int64; ``NOBODY`` in the last seat of groups
    that are one record smaller.
    """
    seats = -(-len(queue) // groups)
    padded = np.full(seats * groups, NOBODY, dtype=np.int64)
    padded[: len(queue)] = queue
    return np.ascontiguousarray(padded.reshape(seats, groups).T)


def groups_of(seats: IntArray, records: int) -> IntArray:
    """Return the group of each record, shape (records,), int64; ``NOBODY`` for those that have no seat."""
    group = np.full(records + 1, NOBODY, dtype=np.int64)
    group[seats] = np.arange(len(seats))[:, None]
    group[-1] = NOBODY
    return group[:-1]


def values_in(seats: IntArray, value: IntArray) -> IntArray:
    """Return the sensitive value in each seat, shape (groups, seats), int64; ``NOBODY`` in empty ones."""
    return np.append(value, NOBODY)[seats]


def all_distinct(values: IntArray) -> bool:
    """Tell whether no group has a value twice.

    Parameters
    ----------
    values: in each seat, shape (groups, seats), int64.
    """
    ordered = np.sort(values, axis=1)
    return not ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NOBODY)).any()


def published_ranks(table: Table, levels: Sequence[int]) -> IntArray:
    """Return the rank of each combination among the published tuples, shape (combinations,), int64."""
    ranks, number = np.zeros(table.combinations, dtype=np.int64), 1
    for position, (attribute, level) in enumerate(zip(table.quasi_identifiers, levels, strict=True)):
        nodes = attribute.nodes(level)[table.quasi_identifier_codes(position)]
        size = len(attribute.hierarchy.labels)
        ranks, distinct = group_keys(ranks * size + nodes, number * size)
        number = len(distinct)
    return ranks


def renumbered(group: IntArray, groups: int, published: Sequence[IntArray]) -> IntArray:
    """Return the groups of records, numbered in the order of what is published of each.

    Groups are compared by their sorted ranks in the first column, then in the next. Those of which the same
    is published keep the order of their numbers, which then nobody can tell apart.

    Parameters
    ----------
    group: of each record, shape (records,), int64; negative for removed ones.
    groups: how many there are, each with a record.
    published: ranks of each record, shape (records,), int64 each.
    """
    seated = np.flatnonzero(group >= 0)
    order = np.zeros(groups, dtype=np.int64)
    number = 1
    for ranks in published:
        own = seated[np.lexsort((ranks[seated], group[seated]))]
        starts = np.searchsorted(group[own], np.arange(groups + 1))
        sizes, space = np.diff(starts), int(ranks.max(initial=0)) + 2
        for place in range(int(sizes.max(initial=0))):
            if number == groups:
                break
            inside = sizes > place
            column = np.zeros(groups, dtype=np.int64)
            column[inside] = ranks[own[starts[:-1][inside] + place]] + 1
            order, distinct = group_keys(order * space + column, number * space)
            number = len(distinct)
    new = np.empty(groups, dtype=np.int64)
    new[np.argsort(order, kind="stable")] = np.arange(groups)
    numbers: IntArray = np.where(group >= 0, new[group], group)
    return numbers


@dataclass(frozen=True, eq=False)
class Grouped:
    """A grouping with what becomes of it.

    Attributes
    ----------
    group: of each record, shape (records,), int64; -1 for those that are removed.
    groups: how many stay.
    removed: number of records that are removed.
    failed: names of what it fails as a whole.
    """

    group: IntArray
    groups: int
    removed: int
    failed: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether it may be released."""
        return not self.failed


class GroupJudge:
    """Applies the constraints of a problem to groups, and those about finding people to the exact tuples."""

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

    def hopeless(self) -> tuple[str, ...]:
        """Return what no grouping satisfies, as all records in one group prove; empty where they do not."""
        group = np.zeros(len(self._records.row), dtype=np.int64)
        verdict = Judge(self._of_groups).judge(self._classes(group, 1))
        if not self._of_groups.admits(verdict.certain):
            return verdict.failed
        # Who is alone with exact values is so in any group; only what is removed could change that.
        return () if self._problem.limit else tuple(self._found(group))

    def judge(self, seats: IntArray) -> Grouped:
        """Tell what becomes of groups.

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
        failed = [*verdict.failed, *self._found(group)]
        return Grouped(group, int(verdict.kept.sum()), int((group < 0).sum()), tuple(failed))

    def _classes(self, group: IntArray, groups: int) -> Classes:
        """Return the groups of the records that have one, counted by value."""
        seated, size = np.flatnonzero(group >= 0), self._attribute.column.size
        own = group[seated] * size + self._records.value[seated]
        item_of, distinct = group_keys(own, groups * size)
        counts = count(item_of, np.ones(len(seated), dtype=np.int64), len(distinct))
        values = {self._attribute.name: SensitiveCodes(self._attribute, distinct % size)}
        return Classes(distinct // size, counts, groups, values)

    def _found(self, group: IntArray) -> list[str]:
        """Return the names of the models about finding people that do not hold on the records that stay."""
        if not self._of_tuples or not (group >= 0).any():
            return []
        stays = self.tuples[self._records.row[group >= 0]]
        alike = np.unique(stays, return_inverse=True)[1].astype(np.int64)
        classes = Classes(alike, np.ones(len(alike), dtype=np.int64), int(alike.max()) + 1, {})
        return [describe(each) for each in self._of_tuples if not each.holds(classes)]

    def recoding(self, grouped: Grouped, facts: Mapping[str, Any]) -> GroupRecoding:
        """Return a grouping as a recoding, its groups numbered by what is published of them."""
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
"""Exchanges that each seat takes part in, on average: enough for what was dealt to be forgotten."""

SWEEPS_TOWARDS_SIMILAR = 400
"""Exchanges that are tried with each group; then few are left that would make groups more similar."""


class Grouping(ABC):
    """Says which records of a value go together with which of another; which values do is dealt.

    Class attributes
    ----------------
    name: as in the config.
    """

    name: ClassVar[str]

    @abstractmethod
    def mixed(self, seats: IntArray, records: Records, table: Table, random: np.random.Generator) -> IntArray:
        """Return as many other groups, none smaller than the smallest, whose values are distinct too.

        Parameters
        ----------
        seats: record in each seat, shape (groups, seats), int64; no group has a value twice.
        """


class RandomGrouping(Grouping):
    """Every grouping whose values are distinct is as likely as any other.

    Two groups exchange a record each unless one of them would then have a value twice: a chain that is as
    likely to go back as forth, and forgets where it began.
    """

    name = "random"

    def mixed(self, seats: IntArray, records: Records, table: Table, random: np.random.Generator) -> IntArray:  # noqa: ARG002 - looks at values alone
        """Return groups by chance."""
        seats, values = seats.copy(), values_in(seats, records.value)
        for _ in range(SWEEPS_BY_CHANCE * seats.shape[1]):
            _exchange(seats, values, _pairs(random.permutation(len(seats))), random, None)
        return seats


class SimilarGrouping(Grouping):
    """Records of one group have similar quasi-identifiers, as far as exchanges of two records make them.

    Groups meet by how they lie along a direction of chance. Similar groups say less of a target's value than
    groups by chance: whoever learns which values go with which quasi-identifiers learns the same of all
    records of the group.
    """

    name = "similar"

    def mixed(self, seats: IntArray, records: Records, table: Table, random: np.random.Generator) -> IntArray:
        """Return groups of similar records."""
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
        """Return where each group lies along a direction of chance, shape (groups,)."""
        place = self._numbers @ random.normal(size=self._numbers.shape[1])
        for position in range(self._texts.shape[1]):
            steps = random.normal(size=int(self._texts[:, position].max(initial=0)) + 2)
            place = place + float(self._weights[position]) * steps[self._texts[:, position]]
        place[-1] = 0.0
        means = place[seats].sum(axis=1) / (seats != NOBODY).sum(axis=1)
        return np.asarray(means, dtype=np.float64)

    def to(self, record: IntArray, others: IntArray) -> FloatArray:
        """Return the sum of distances from each record to others, ``NOBODY`` among them, shape (records,)."""
        far = np.abs(self._numbers[record][:, None, :] - self._numbers[others]).sum(axis=2)
        unlike = self._texts[record][:, None, :] != self._texts[others]
        far = far + unlike @ self._weights
        return np.asarray(np.where(others == NOBODY, 0.0, far).sum(axis=1), dtype=np.float64)


def _ranks(attribute: QuasiIdentifier) -> FloatArray:
    """Return the place of each value of an ordered column between 0 and the weight, shape (values,)."""
    size = attribute.column.size
    return np.asarray(np.arange(size) * (attribute.weight / max(size - 1, 1)), dtype=np.float64)


def _with_nobody(features: NDArray[Any]) -> NDArray[Any]:
    """Return features with a row for ``NOBODY`` after the last."""
    return np.concatenate([features, np.zeros_like(features[:1])])


def _pairs(order: IntArray) -> tuple[IntArray, IntArray]:
    """Return neighbours in an order as pairs, each in one pair at most."""
    paired = order[: len(order) // 2 * 2]
    return paired[::2], paired[1::2]


def _exchange(
    seats: IntArray,
    values: IntArray,
    pairs: tuple[IntArray, IntArray],
    random: np.random.Generator,
    nearness: _Nearness | None,
) -> None:
    """Exchange one record of each pair of groups where no value comes twice, nor distances grow.

    Parameters
    ----------
    seats, values: record and value in each seat; changed in place.
    nearness: of records; None where any exchange will do.
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
    """Tell which exchanges bring records nearer to those that they are with."""
    mine, theirs = seats[one], seats[other]
    with_mine, with_theirs = seats[one[0]], seats[other[0]]
    places = np.arange(len(mine))
    with_mine[places, one[1]], with_theirs[places, other[1]] = NOBODY, NOBODY
    before = nearness.to(mine, with_mine) + nearness.to(theirs, with_theirs)
    after = nearness.to(theirs, with_mine) + nearness.to(mine, with_theirs)
    closer: BoolArray = after < before - 1e-6
    return closer


class Largest(Grouping):
    """Each group takes a record of each of the values of which most are left, so that these go together.

    Who is left in the end joins a group by chance that has not its value.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), figure 3.
    """

    name = "largest"

    def mixed(
        self,
        seats: IntArray,
        records: Records,
        table: Table,  # noqa: ARG002  it looks at values alone
        random: np.random.Generator,
    ) -> IntArray:
        """Return the groups of the procedure; those that were dealt where it makes fewer, or more."""
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
        normalize_input = found.reshape(chosen.shape)
        return normalize_input if all_distinct(values_in(normalize_input, records.value)) else seats


def rounds(counts: IntArray, size: int, number: int) -> IntArray:
    """Draw one of each of the values of which most are left, in each of some rounds.

    Of values of which equally many are left some are drawn in turn. As long as the same values are ahead of
    these, and others behind, whole turns are taken at once: there are about as many steps as values.

    Parameters
    ----------
    counts: how many there are of each value, shape (values,), int64.
    size: values in a round; in none are fewer left.
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
    """Return for how many rounds the tied values are drawn in turn before others are as many.

    Parameters
    ----------
    own: tied values in a round.
    equal: tied values.
    above: how many more there are of a tied value than of the next.
    lead: how many more there are of what is always drawn than of a tied value; None where nothing is.
    """
    each, turns = own // gcd(own, equal), equal // gcd(own, equal)
    full = above // each
    if lead is not None and turns > each:
        full = min(full, lead // (turns - each))
    return max(full * turns, 1)


def _with_left(drawn: IntArray, left: IntArray, random: np.random.Generator) -> IntArray:
    """Return the values of groups with those that are left, each in a group by chance that lacks it."""
    width = drawn.shape[1]
    chosen = np.concatenate([drawn, np.full((len(drawn), len(left)), NOBODY, dtype=np.int64)], axis=1)
    for place, value in enumerate(left.tolist(), start=width):
        free = np.flatnonzero(~(chosen == value).any(axis=1))
        if len(free):
            chosen[free[int(random.integers(len(free)))], place] = value
    return chosen


GROUPINGS: Mapping[str, Grouping] = {
    each.name: each for each in (RandomGrouping(), Largest(), SimilarGrouping())
}
"""The ways by the name that the config gives them."""


class GroupingName(StrEnum):
    """Which records share a group."""

    RANDOM = "random"
    LARGEST = "largest"
    SIMILAR = "similar"


class AnatomySettings(Settings):
    """Parameters of anatomy."""

    grouping: GroupingName = Field(
        default=GroupingName.RANDOM,
        description="which records share a group: random, of the values that are left most often, or similar",
    )


class Anatomy(SearchAlgorithm):
    """Publishes quasi-identifiers as they are, and the sensitive values of each group in a second table.

    Groups are as many as the constraints allow. With l-diversity these are floor(n / l), each with l or l + 1
    records of different values, whenever no value has more than n / l of the n records. Where that is not
    enough for the other constraints there are fewer and larger groups, down to one; where not even that is,
    the most frequent values lose records within the suppression limit.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), section 4; instead of
    a heap of buckets the records are dealt by value and then exchanged.
    """

    name = "anatomy"
    Settings = AnatomySettings
    settings: AnatomySettings
    in_groups = True

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the release of most groups among those of the least loss.

        Raises
        ------
        InputError: there is not exactly one sensitive attribute.
        """
        sensitive = problem.table.sensitive_names
        if len(sensitive) != 1:
            found = f"{len(sensitive)} ({', '.join(sensitive)})" if sensitive else "none"
            raise InputError(
                f"algorithm.name: anatomy publishes the values of one sensitive attribute in groups; found "
                f"{found}; give exactly one column role: sensitive, or use another algorithm, such as local"
            )
        return _Run(problem, control, self.settings).run()


class _Run:
    def __init__(self, problem: SearchProblem, control: Control, settings: AnatomySettings) -> None:
        self._problem = problem
        self._control = control
        self._random = np.random.default_rng([problem.seed, 0])
        self._records = Records.of(problem.table, self._random)
        self._judge = GroupJudge(problem, self._records)
        self._grouping = GROUPINGS[settings.grouping.value]
        self._steps: list[Step] = []
        self._best: tuple[float, GroupRecoding] | None = None
        self._interrupted = False

    def run(self) -> Outcome:
        failed = self._judge.hopeless()
        if failed:
            self._steps.append(Step({"groups": 1}, None, False, failed))
            return self._outcome(Status.INFEASIBLE)
        for cap in self._caps():
            if self._most_groups(cap) or self._ended():
                break
        if self._best is None and self._interrupted:
            raise Interrupted("interrupted before a release was found; nothing was written")
        return self._outcome(Status.UNDECIDED if self._best is None else Status.SATISFIED)

    def _caps(self) -> Iterator[int]:
        """Yield how many records each value may keep: all, then 1 / 2 of all, 1 / 3, within the limit."""
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
        """Try fewer and fewer groups until they are valid and none is removed, then more again.

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
            if self._ended():
                return False
            failing = groups
        return False

    def _refine(self, queue: IntArray, valid: int, failing: int | None) -> None:
        """Halve the range between a number of groups that is valid and one that is not."""
        while failing is not None and failing - valid > 1 and not self._ended():
            middle = (valid + failing) // 2
            valid, failing = (middle, failing) if self._try(queue, middle) else (valid, middle)

    def _try(self, queue: IntArray, groups: int) -> bool:
        """Judge the records in so many groups, and note them where they are the best so far.

        Returns
        -------
        Whether they are valid with all records; where groups have to go, fewer groups may lose less.
        """
        self._control.tell(lambda: Progress(len(self._steps), len(self._steps) + 1, None, None))
        seats = dealt(queue, groups)
        grouped = self._judge.judge(seats)
        objective = None
        if grouped.valid:
            mixed, grouping = self._mixed(seats, grouped)
            recoding = self._judge.recoding(mixed, _facts(mixed, grouping))
            broken = self._problem.gate.broken(self._problem.table, recoding)
            if broken:
                self._steps.append(Step({"groups": groups}, None, False, broken))
                return False
            objective = self._problem.metric.value(released(recoding, self._problem.k))
            if objective is None:
                raise InputError(
                    f"objective.metric: '{self._problem.metric.name}' has no value for records in groups; "
                    "use another metric with anatomy, such as loss"
                )
            if self._best is None or (objective, -mixed.groups) < (self._best[0], -self._best[1].groups):
                self._best = objective, recoding
        self._steps.append(Step({"groups": groups}, objective, grouped.valid, grouped.failed))
        return grouped.valid and grouped.removed == len(self._records.queue) - len(queue)

    def _mixed(self, seats: IntArray, grouped: Grouped) -> tuple[Grouped, str]:
        """Arrange groups of distinct values anew, as long as all constraints hold then, too.

        Returns
        -------
        The groups, and how they came about.
        """
        values = values_in(seats, self._records.value)
        if len(seats) > 1 and all_distinct(values):
            random = np.random.default_rng([self._problem.seed, len(seats)])
            normalize_input = self._grouping.mixed(seats, self._records, self._problem.table, random)
            mixed = self._judge.judge(normalize_input)
            if normalize_input is not seats and mixed.valid and mixed.removed <= grouped.removed:
                return mixed, self._grouping.name
        return grouped, "dealt"

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(len(self._steps), len(self._steps))

    def _outcome(self, status: Status) -> Outcome:
        objective, recoding = (None, None) if self._best is None else self._best
        # No record lost, no value changed: nothing that is measured by cells is lost at all.
        best = recoding is not None and not recoding.removed.any() and self._problem.metric.aggregates
        return Outcome(
            status,
            recoding,
            objective,
            objective if best else None,
            len(self._steps),
            len(self._steps),
            tuple(self._steps),
            self._control.elapsed,
            self._interrupted,
        )


def _facts(grouped: Grouped, grouping: str) -> dict[str, object]:
    """Return what the report says of groups."""
    sizes = np.bincount(grouped.group[grouped.group >= 0])
    return {
        "groups": grouped.groups,
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "grouping": grouping,
    }


def _numbers(records: int, smallest: int) -> Iterator[int]:
    """Yield numbers of groups to try, from the most that have enough records down to one."""
    last, size = 0, smallest
    while size <= records:
        groups = records // size
        if groups != last:
            yield groups
        last, size = groups, size + max(1, size // 4)
    if last > 1:
        yield 1
