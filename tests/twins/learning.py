"""Record linkage in exact numbers, pair by pair, and the best weights by trying a grid of them.

Weights of a grid are whole numbers: only their proportions matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

Number = int | Fraction
Record = Sequence[Number]
Distance = Callable[[Record], Number]
"""Of two records, given their differences."""


def fractions(records: Iterable[Iterable[float]]) -> list[list[Fraction]]:
    return [[Fraction(float(value)) for value in record] for record in records]


def right(original: Sequence[Record], masked: Sequence[Record], distance: Distance, tie: Number) -> Fraction:
    """Return how many records are linked to their own masked record; ties of n count 1/n."""
    found = Fraction(0)
    for i, record in enumerate(original):
        far = [distance([a - b for a, b in zip(record, other, strict=True)]) for other in masked]
        if all(each - far[i] >= -tie for each in far):
            found += Fraction(1, sum(each - far[i] <= tie for each in far))
    return found


def weighted_mean(weights: Sequence[Number]) -> Distance:
    return lambda differences: sum(
        (weight * own * own for weight, own in zip(weights, differences, strict=True))
    )


def owa(weights: Sequence[Number]) -> Distance:
    def distance(differences: Record) -> Number:
        ordered = sorted((own * own for own in differences), reverse=True)
        return sum((weight * own for weight, own in zip(weights, ordered, strict=True)))

    return distance


def bilinear(matrix: Sequence[Sequence[Number]]) -> Distance:
    def distance(differences: Record) -> Number:
        places = range(len(differences))
        return sum(differences[s] * matrix[s][t] * differences[t] for s in places for t in places)

    return distance


def choquet(measure: dict[frozenset[int], Number]) -> Distance:
    """The integral by its definition: what values rise by, times the measure of those as large."""

    def distance(differences: Record) -> Number:
        squares = {place: own * own for place, own in enumerate(differences)}
        found: Number = 0
        before: Number = 0
        for level in sorted(squares.values()):
            found += (level - before) * measure[frozenset(p for p, own in squares.items() if own >= level)]
            before = level
        return found

    return distance


def shares(places: int, steps: int) -> Iterator[list[int]]:
    """Every way to share out so many steps."""
    for cuts in combinations(range(1, steps + places), places - 1):
        ends = (0, *cuts, steps + places)
        yield [ends[place + 1] - ends[place] - 1 for place in range(places)]


def weighted_means(attributes: int, steps: int) -> Iterator[Distance]:
    return map(weighted_mean, shares(attributes, steps))


def owas(attributes: int, steps: int) -> Iterator[Distance]:
    return map(owa, shares(attributes, steps))


def bilinears(attributes: int, steps: int) -> Iterator[Distance]:
    """Forms of two attributes: the trace is 1, the other entry at most a half."""
    assert attributes == 2
    for one, other in product(range(steps + 1), range(-steps, steps + 1)):
        yield bilinear([[2 * one, other], [other, 2 * (steps - one)]])


def metrics(attributes: int, steps: int) -> Iterator[Distance]:
    """The forms of two attributes whose determinant is not negative."""
    assert attributes == 2
    for one, other in product(range(steps + 1), range(-steps, steps + 1)):
        if 4 * one * (steps - one) >= other * other:
            yield bilinear([[2 * one, other], [other, 2 * (steps - one)]])


def choquets(attributes: int, steps: int) -> Iterator[Distance]:
    """Integrals of two attributes: each alone has any measure, both together have 1."""
    assert attributes == 2
    for one, other in product(range(steps + 1), repeat=2):
        alone = {frozenset([0]): one, frozenset([1]): other}
        yield choquet({frozenset(): 0, **alone, frozenset([0, 1]): steps})


def best(original: Sequence[Record], masked: Sequence[Record], distances: Iterable[Distance]) -> Fraction:
    """Return the expected number of records that the best of some distances links rightly."""
    return max(right(original, masked, distance, 0) for distance in distances)
