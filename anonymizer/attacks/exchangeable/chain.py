"""A Markov chain over who has which sensitive value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.exchangeable.groups import Groups
from anonymizer.attacks.exchangeable.model import NaiveBayes
from anonymizer.model.arrays import FloatArray, IntArray

ROUNDS = 2
"""Times that people are paired in a sweep, in groups of three and more."""


@dataclass(frozen=True, eq=False)
class LatentAssignment:
    """The people of the groups that leave something to learn, one by one, neighbours in their group.

    Attributes
    ----------
    base: first entry of each person's kind, shape (people,), int64.
    group: of each person, numbered without gaps, shape (people,), int64.
    start: first person of each person's group, shape (people,), int64.
    number: people in each group, shape (groups,), int64.
    rank: the values of each group, each as often as it has it, as position among its distinct ones, shape
        (people,), int64.
    """

    base: IntArray
    group: IntArray
    start: IntArray
    number: IntArray
    rank: IntArray

    @classmethod
    def of(cls, groups: Groups) -> LatentAssignment:
        """Return the people of the open groups."""
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

    def dealt(self, random: np.random.Generator) -> IntArray:
        """Deal the values of each group out at random; return the entry of each person, shape (people,)."""
        order = np.lexsort((random.random(len(self.rank)), self.group))
        entries: IntArray = self.base + self.rank[order]
        return entries


class Chain:
    """Draws parameters given who has which value, then who has which value given parameters; and again.

    Given the parameters the groups are independent, so all are updated at once, and no count that they
    depend on is ever out of date. In each group people are paired: the i-th with the (r - i)-th around a
    circle, r drawn at random, which pairs every two people for one r. Two people swap their values with the
    chance that these are the other way round (heat bath). So each update leaves the posterior distribution
    of all as it is.

    Parameters
    ----------
    random: of this chain alone.
    """

    def __init__(
        self, groups: Groups, seats: LatentAssignment, model: NaiveBayes, random: np.random.Generator
    ) -> None:
        self._seats, self._model, self._random = seats, model, random
        self._entries = int(groups.first[-1])
        self._entry = seats.dealt(random)
        self._parameters = model.start()
        self._position = np.arange(len(seats.base))
        self._within = self._position - seats.start
        self._rounds = ROUNDS if int(seats.number.max(initial=0)) > 2 else 1

    def sweep(self) -> tuple[FloatArray, float]:
        """Update everything once.

        Returns
        -------
        Expected people of each entry in the last update, shape (entries,), 0 in groups that leave nothing to
        learn; and the logarithm of the chance of all features.
        """
        people = np.bincount(self._model.cell[self._entry], minlength=self._model.cells)
        self._parameters = self._model.drawn(people, self._parameters, self._random)
        scores = self._model.scores(self._parameters)
        by_entry = scores[self._model.cell]
        for _ in range(self._rounds - 1):
            self._swap(by_entry)
        return self._swap(by_entry), float(by_entry[self._entry].sum())

    def _swap(self, scores: FloatArray) -> FloatArray:
        """Pair people and swap by chance; return the expected people of each entry, shape (entries,)."""
        one, other = self._pairs()
        base, entry = self._seats.base, self._entry
        to_one = base[one] + entry[other] - base[other]
        to_other = base[other] + entry[one] - base[one]
        gain = scores[to_one] + scores[to_other] - scores[entry[one]] - scores[entry[other]]
        chance = (1 + np.tanh(gain / 2)) / 2
        stay = np.ones(len(entry))
        stay[one] -= chance
        stay[other] -= chance
        expected = np.bincount(
            np.concatenate([entry, to_one, to_other]),
            weights=np.concatenate([stay, chance, chance]),
            minlength=self._entries,
        )
        swapped = self._random.random(len(one)) < chance
        entry[one[swapped]] = to_one[swapped]
        entry[other[swapped]] = to_other[swapped]
        return expected.astype(np.float64, copy=False)

    def _pairs(self) -> tuple[IntArray, IntArray]:
        """Return the two people of each pair, shape (pairs,), int64 each; some people are in none."""
        number = self._seats.number
        sums = (self._random.random(len(number)) * number).astype(np.int64)
        # In groups of two the one sum pairs them, and the other would leave both alone.
        sums[number == 2] = 1
        partner = sums[self._seats.group] - self._within
        partner += np.where(partner < 0, number[self._seats.group], 0)
        one = np.flatnonzero(partner > self._within)
        return one, self._seats.start[one] + partner[one]
