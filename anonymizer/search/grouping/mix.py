"""Exchange records between groups, whose values stay distinct, by chance or to make groups similar."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.grouping.deal import NOBODY, Records, values_in

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
