"""Markov chains whose stationary distribution is the posterior of all assignments of values to records.

``SideBySide`` sweeps the records of several chains in numpy; ``kernel.Compiled`` does the same in a kernel,
with equal bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anonymizer.attacks.definetti.groups import Groups
from anonymizer.attacks.definetti.model import Joints, NaiveBayes, Randoms
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray

ROUNDS = 2
"""Pairings per sweep in groups of three or more records."""

RECORDS = 1 << 13
"""Most records of chains that are swept side by side; larger arrays do not fit in the processor's cache."""

LEAST = 1e-148
"""Least likelihood of a record beside that of its likeliest value: the product of two is not 0."""


@dataclass(frozen=True, eq=False)
class LatentAssignment:
    """The records of the open groups one by one, group by group; their values are to be assigned.

    Attributes
    ----------
    base: first entry of each record's kind, shape (records,), int64.
    group: of each record, numbered without gaps, shape (records,), int64.
    start: first record of each record's group, shape (records,), int64.
    number: records in each group, shape (groups,), int64.
    rank: the values of each group with multiplicity, as positions among its distinct ones, shape (records,),
        int64.
    """

    base: IntArray
    group: IntArray
    start: IntArray
    number: IntArray
    rank: IntArray

    @classmethod
    def of(cls, groups: Groups) -> LatentAssignment:
        """Return the records of the open groups."""
        chosen = np.flatnonzero(groups.open)
        kinds = np.repeat(
            np.arange(len(groups.counts)), np.where(groups.open[groups.group], groups.counts, 0)
        )
        number = groups.sizes[chosen]
        owner = np.repeat(np.arange(len(chosen)), number)
        start = (np.cumsum(number) - number)[owner]
        owners = np.repeat(np.arange(groups.number), np.diff(groups.starts))
        times = np.where(groups.open[owners], groups.value_counts, 0)
        rank = np.repeat(np.arange(len(groups.values)) - groups.starts[owners], times)
        return cls(groups.first[kinds], owner, start, number, rank)

    def draw_random(self, random: np.random.Generator) -> IntArray:
        """Assign the values of each group at random; return the entry of each record, shape (records,)."""
        order = np.lexsort((random.random(len(self.rank)), self.group))
        return self.base + self.rank[order]


class Moments(NamedTuple):
    """What some sweeps have found.

    Attributes
    ----------
    sums, squares: of the probability of each entry, and of its square, over the sweeps, shape
        (chains, entries); 0 in groups that are not open.
    traces: log-probability of all features after each sweep, shape (chains, sweeps).
    """

    sums: FloatArray
    squares: FloatArray
    traces: FloatArray


class Chains(ABC):
    """Gibbs samplers that alternate between the parameters and the assignment of values to records.

    Given the parameters the groups are independent, so all are updated at once. In each group the i-th record
    is paired with the (r - i)-th, modulo the size, for a random r; every two records are paired for one r.
    Two records swap their values with the posterior probability of the swapped assignment (heat bath), which
    leaves the posterior distribution invariant.

    The chains know nothing of each other.

    Parameters
    ----------
    randoms: of each chain alone; what a chain draws does not depend on those beside it.

    Attributes
    ----------
    number: of chains.
    rounds: of pairs in a sweep.
    chances: table of all features that the next sweep uses, shape (chains, rows, sensitive values).
    counts: records with each feature and sensitive value, shape as ``chances``.
    sums, squares: to which sweeps add the expected records of each entry, and their squares, shape
        (chains, entries).
    """

    chances: FloatArray
    counts: IntArray | CodeArray
    sums: FloatArray
    squares: FloatArray

    def __init__(
        self, groups: Groups, assignment: LatentAssignment, model: NaiveBayes, randoms: Randoms
    ) -> None:
        self.model, self.randoms, self.number = model, randoms, len(randoms)
        self._people = groups.counts[groups.kind].astype(np.float64)
        self._sizes = assignment.number
        # In groups of two, only the sum 1 pairs the records.
        self._twos = np.flatnonzero(assignment.number == 2)
        self.rounds = ROUNDS if int(assignment.number.max(initial=0)) > 2 else 1
        self._parameters = model.start(self.number)
        self._most = int((assignment.number // 2).sum())

    def run(self, sweeps: int, before: Callable[[int], None]) -> Moments:
        """Sweep all records some times.

        Parameters
        ----------
        before: is called with the number of sweeps done, before each.
        """
        traces = np.empty((self.number, sweeps))
        self.sums[:] = self.squares[:] = 0
        for sweep in range(sweeps):
            before(sweep)
            self._parameters = self.model.drawn(self.counts, self._parameters, self.randoms)
            logs = self.model.show(self._parameters, self.chances)
            self._sweep()
            traces[:, sweep] = (self.counts * logs).reshape(self.number, -1).sum(axis=1)
        return Moments(self.sums / self._people, self.squares / self._people**2, traces)

    def drawn_sums(self, random: np.random.Generator) -> tuple[IntArray, int]:
        """Return the sum of the positions of pairs in each group, at random, and how many pairs it makes."""
        drawn = random.random(len(self._sizes))
        drawn *= self._sizes
        sums = drawn.astype(np.int64)
        sums[self._twos] = 1
        # Two records of a group of even size are paired with themselves, if the sum is even.
        paired = sums | self._sizes
        paired &= 1
        return sums, self._most - len(sums) + int(paired.sum())

    @abstractmethod
    def _sweep(self) -> None:
        """Let the records of some pairs swap their values."""


@dataclass(frozen=True, eq=False)
class _Swaps:
    """Pairs of records that may swap their values.

    Attributes
    ----------
    one, other: the two records of each pair, shape (pairs,), int64, ascending in ``one``.
    to_one, to_other: their entries after the swap, shape (pairs,), int64.
    likelihoods: of the features of both records after the swap, shape (2, pairs).
    chance: posterior probability of the swap, shape (pairs,); 0 where both values are equal.
    alone: the records that are in no pair, shape (records,), int64.
    """

    one: IntArray
    other: IntArray
    to_one: IntArray
    to_other: IntArray
    likelihoods: tuple[FloatArray, FloatArray]
    chance: FloatArray
    alone: IntArray


class SideBySide(Chains):
    """Chains whose records and entries follow each other chain by chain in one array.

    Small arrays cost a call each, however few their elements.
    """

    def __init__(
        self, groups: Groups, assignment: LatentAssignment, model: NaiveBayes, randoms: Randoms
    ) -> None:
        super().__init__(groups, assignment, model, randoms)
        self._assignment, self._records = assignment, len(assignment.base)
        entries, secrets = int(groups.first[-1]), model.secrets
        kinds = groups.kind[assignment.base]
        own, record = np.unique(kinds, return_inverse=True)
        joints = Joints.of(model, own, self._records)
        self._parts, self._cells = joints.parts, len(joints.parts) * secrets
        self._rows = [
            self._side_by_side(row[record.reshape(-1)] * secrets, self._cells) for row in joints.row.T
        ]
        rows = model.rows * secrets
        self._places = [self._side_by_side(row * secrets, rows) for row in model.row[kinds].T]
        self.chances = np.ones((self.number, model.rows, secrets))
        self._base = self._side_by_side(assignment.base, entries)
        self._start = self._side_by_side(assignment.start, self._records)
        self._value = self._side_by_side(groups.entry_values, 0)
        drawn = np.stack([assignment.draw_random(random) for random in randoms])
        self._entry = (drawn + np.arange(self.number)[:, None] * entries).ravel()
        self._within = np.arange(self._records) - assignment.start
        self._size = assignment.number[assignment.group]
        self.sums, self.squares = np.zeros((self.number, entries)), np.zeros((self.number, entries))
        self.counts = self._counted()

    def _side_by_side(self, positions: IntArray, apart: int) -> IntArray:
        """Return the positions in every chain, each so far from those before; a single chain shares them."""
        if self.number == 1:
            return positions
        return (positions + np.arange(self.number)[:, None] * apart).ravel()

    def _counted(self) -> IntArray:
        values, cells = self._value[self._entry], self.chances.size
        places = np.concatenate([place + values for place in self._places])
        return np.bincount(places, minlength=cells).reshape(self.chances.shape)

    def _sweep(self) -> None:
        joint = self._joint()
        values = self._value[self._entry]
        current = self._likelihoods(joint, slice(None), values)
        for turn in range(self.rounds):
            swaps = self._proposed(joint, current)
            if turn == self.rounds - 1:
                expected = self._expectation(swaps)
                self.sums += expected
                expected *= expected
                self.squares += expected
            self._swap(swaps, current)
        self.counts = self._counted()

    def _joint(self) -> FloatArray:
        """Return how likely the features of each row of the bins are, flat."""
        first, *others = self._parts.T
        product: FloatArray = self.chances.take(first, axis=1)
        for part in others:
            product *= self.chances.take(part, axis=1)
        return product.ravel()

    def _likelihoods(self, joint: FloatArray, records: IntArray | slice, values: IntArray) -> FloatArray:
        """Return how likely the features of records are, given values, beside their likeliest value."""
        first, *others = self._rows
        product: FloatArray = joint[first[records] + values]
        for row in others:
            product *= joint[row[records] + values]
        return np.maximum(product, LEAST, out=product)

    def _proposed(self, joint: FloatArray, current: FloatArray) -> _Swaps:
        """Return a random pairing with the probability of each swap.

        Parameters
        ----------
        current: likelihood of each record's features.
        """
        one, other, alone = self._pairs()
        of_one, of_other = self._entry[one], self._entry[other]
        apart = self._base[one] - self._base[other]
        value, another = self._value[of_one], self._value[of_other]
        likelihoods = self._likelihoods(joint, one, another), self._likelihoods(joint, other, value)
        chance = likelihoods[0] * likelihoods[1]
        total = current[one] * current[other]
        total += chance
        chance /= total
        # Who have the same value cannot swap it.
        chance[value == another] = 0
        return _Swaps(one, other, of_other + apart, of_one - apart, likelihoods, chance, alone)

    def _expectation(self, swaps: _Swaps) -> FloatArray:
        """Return the expected records of each entry after the swaps, shape (chains, entries)."""
        stay = 1 - swaps.chance
        entries = np.stack(
            [self._entry[swaps.one], swaps.to_one, self._entry[swaps.other], swaps.to_other], axis=1
        )
        weights = np.stack([stay, swaps.chance, stay, swaps.chance], axis=1)
        expected = np.bincount(
            np.concatenate([entries.ravel(), self._entry[swaps.alone]]),
            weights=np.concatenate([weights.ravel(), np.ones(len(swaps.alone))]),
            minlength=len(self._value),
        )
        return expected.astype(np.float64, copy=False).reshape(self.number, -1)

    def _swap(self, swaps: _Swaps, current: FloatArray) -> None:
        """Swap the values of pairs at random, and note the likelihoods."""
        ends = swaps.one.searchsorted(np.arange(self.number + 1) * self._records)
        pairs = np.diff(ends).tolist()
        drawn = [random.random(number) for random, number in zip(self.randoms, pairs, strict=True)]
        swapped = (np.concatenate(drawn) < swaps.chance).nonzero()[0]
        one, other = swaps.one[swapped], swaps.other[swapped]
        self._entry[one], self._entry[other] = swaps.to_one[swapped], swaps.to_other[swapped]
        current[one], current[other] = (own[swapped] for own in swaps.likelihoods)

    def _pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the two records of each pair, shape (pairs,), int64 each, and the records in none."""
        sums = np.stack([self.drawn_sums(random)[0] for random in self.randoms])
        partner = sums.take(self._assignment.group, axis=1)
        partner -= self._within
        partner += self._size * (partner < 0)
        one = (partner > self._within).ravel().nonzero()[0]
        alone = (partner == self._within).ravel().nonzero()[0]
        return one, self._start[one] + partner.ravel()[one], alone
