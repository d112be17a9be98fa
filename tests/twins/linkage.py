"""Record linkage, slowly: every original against every released record, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

Row = Sequence[str]
Covered = Callable[[int, str, str], bool]
"""Tells whether a published text of a column, by its position, stands for a value."""


def classes_over_records(released: Sequence[Row]) -> Fraction:
    """Return the re-identification vulnerability: classes / records."""
    return Fraction(len({tuple(row) for row in released}), len(released))


def exact_linkage(
    original: Sequence[Row],
    released: Sequence[Row],
    became: Sequence[int | None],
    covered: Covered,
    breadth: Callable[[int, str], int],
) -> Fraction:
    """Return the expected share of right links of who takes the narrowest class that fits.

    Every original of a released record has a class that fits.

    Parameters
    ----------
    became: released record of each original one; None for what was removed.
    breadth: how many values a text of a column stands for.
    """
    sizes = Counter(tuple(row) for row in released)
    widths = {}
    for kind in sizes:
        width = 1
        for position, text in enumerate(kind):
            width *= breadth(position, text)
        widths[kind] = width
    right = Fraction(0)
    for row, target in zip(original, became, strict=True):
        if target is None:
            continue
        fitting = [kind for kind in sizes if all(covered(i, kind[i], row[i]) for i in range(len(row)))]
        narrowest = min(widths[kind] for kind in fitting)
        chosen = [kind for kind in fitting if widths[kind] == narrowest]
        if tuple(released[target]) in chosen:
            right += Fraction(1, sum(sizes[kind] for kind in chosen))
    return right / len(released)


def nearest_numbers(original: Sequence[Sequence[float]], masked: Sequence[Sequence[float]]) -> Fraction:
    """Return the expected share of right links by Euclidean distance, record i having become record i."""
    columns = list(zip(*original, strict=True))
    units = []
    for column in columns:
        mean = sum(column) / len(column)
        variance = sum((value - mean) ** 2 for value in column) / len(column)
        units.append(variance**0.5 or 1.0)
    right = Fraction(0)
    for number, row in enumerate(original):
        distances = [
            sum(((a - b) / unit) ** 2 for a, b, unit in zip(row, other, units, strict=True))
            for other in masked
        ]
        least = min(distances)
        ties = [position for position, each in enumerate(distances) if each <= least * (1 + 1e-9)]
        if number in ties:
            right += Fraction(1, len(ties))
    return right / len(masked)


def taken_for(
    values: Sequence[str], parents: Sequence[str], numeric: bool
) -> dict[str, dict[str, list[str]]]:
    """Return, by kind of error and by value, the values for which it may be taken, equally likely.

    Parameters
    ----------
    parents: of the values in the hierarchy.
    """
    found: dict[str, dict[str, list[str]]] = {"year": {}, "typing": {}, "coding": {}}
    for value, parent in zip(values, parents, strict=True):
        siblings = [
            other for other, own in zip(values, parents, strict=True) if own == parent and other != value
        ]
        found["coding"][value] = siblings
        if numeric:
            found["year"][value] = [_nearest(values, int(value) + step) for step in (-1, 1)]
            wrong = [
                value[:place] + digit + value[place + 1 :]
                for place in range(len(value))
                for digit in "0123456789"
                if digit != value[place] and value[place].isdigit()
            ]
            found["typing"][value] = [_nearest(values, int(text)) for text in wrong]
        else:
            found["year"][value] = []
            found["typing"][value] = [
                other
                for other in values
                if len(other) == len(value) and sum(a != b for a, b in zip(other, value, strict=True)) == 1
            ]
    return found


def _nearest(values: Sequence[str], wanted: int) -> str:
    """Return the value nearest to a number, of two the larger."""
    return min(values, key=lambda value: (abs(int(value) - wanted), -int(value)))


def likelihood(
    known: str,
    covered: Sequence[str],
    records: dict[str, int],
    taken: dict[str, dict[str, list[str]]],
    rates: dict[str, float],
    reckoned: float,
) -> float:
    """Return the probability of a known value if a published text covers these values.

    Parameters
    ----------
    records: original records with each value.
    taken: as of ``taken_for``.
    rates: of all kinds of errors.
    reckoned: smallest share of wrong values, and of correct ones, that an adversary reckons with.
    """
    everything, inside = sum(records.values()), sum(records[value] for value in covered)
    total = max(rates["noise"], reckoned) * records[known] / everything
    correct = max(1 - sum(rates.values()), reckoned)
    for value in covered:
        share = records[value] / inside
        total += share * correct * (value == known)
        for kind, by_value in taken.items():
            others = by_value[value] or [value]
            total += share * rates[kind] * others.count(known) / len(others)
    return total


def nearest_with_deleted(
    original: Sequence[Sequence[float]], masked: Sequence[Sequence[float | None]], rounds: int, floor: float
) -> Fraction:
    """Return the expected share of right links by Euclidean distance where cells of the release are deleted.

    Parameters
    ----------
    rounds: in which the square of an unknown difference is improved.
    floor: least mean square of matches as a share of that of independent records.
    """
    columns = range(len(original[0]))
    units = [_deviation([row[own] for row in original]) or 1.0 for own in columns]
    squares = [
        [[None if b is None else ((a - b) / unit) ** 2 for a, b, unit in zip(row, other, units, strict=True)]
         for other in masked]
        for row in original
    ]  # fmt: skip
    pairs = [_mean([pair[own] for row in squares for pair in row]) for own in columns]
    level = pairs
    for _ in range(rounds):
        near = [min(row, key=lambda pair: _filled(pair, level)) for row in squares]
        level = [
            _neutral(_mean([pair[own] for pair in near]), all_pairs, floor)
            for own, all_pairs in zip(columns, pairs, strict=True)
        ]
    right = Fraction(0)
    for number, row in enumerate(squares):
        distances = [_filled(pair, level) for pair in row]
        ties = [place for place, each in enumerate(distances) if each <= min(distances) * (1 + 1e-9)]
        if number in ties:
            right += Fraction(1, len(ties))
    return right / len(masked)


def _deviation(numbers: Sequence[float]) -> float:
    mean = sum(numbers) / len(numbers)
    return (sum((each - mean) ** 2 for each in numbers) / len(numbers)) ** 0.5


def _mean(squares: Sequence[float | None]) -> float:
    known = [each for each in squares if each is not None]
    return sum(known) / len(known) if known else 0.0


def _filled(pair: Sequence[float | None], level: Sequence[float]) -> float:
    return sum(own if each is None else each for each, own in zip(pair, level, strict=True))


def _neutral(matches: float, pairs: float, floor: float) -> float:
    spread = pairs / 2 if pairs > 0 else 1.0
    own = min(max(matches, floor * spread), spread)
    return own * (1 + math.log(spread / own))
