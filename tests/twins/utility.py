"""What a release is good for, record by record: cells are the sets of original values they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

Cell = Sequence[object]
"""The original values that a published cell stands for."""

Row = Sequence[Cell]


def expected(rows: Sequence[Row], wanted: dict[int, set[object]]) -> Fraction:
    """Return the expected number of records with one of the wanted values in each position."""
    total = Fraction(0)
    for row in rows:
        chance = Fraction(1)
        for position, values in wanted.items():
            cell = row[position]
            chance *= Fraction(sum(value in values for value in cell), len(cell)) if cell else 0
        total += chance
    return total


def joint(rows: Sequence[Row], positions: Sequence[int]) -> dict[tuple[object, ...], Fraction]:
    """Return the expected number of records with each combination of values."""
    found: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        cells = [row[position] for position in positions]
        for values in product(*cells):
            part = Fraction(1)
            for cell in cells:
                part /= len(cell)
            found[values] += part  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


def total_variation(one: Sequence[Row], other: Sequence[Row], positions: Sequence[int]) -> Fraction:
    """Return half the sum of the differences of shares; what is not told is a value of its own."""
    first, second = joint(one, positions), joint(other, positions)
    gaps = [
        abs(first.get(key, Fraction(0)) / len(one) - second.get(key, Fraction(0)) / len(other))
        for key in first.keys() | second.keys()
    ]
    lost = abs(sum(first.values()) / len(one) - sum(second.values()) / len(other))
    return (sum(gaps, Fraction(0)) + lost) / 2


def exact(rows: Sequence[Sequence[object]]) -> list[list[Cell]]:
    """Return originals as rows of cells that stand for one value each."""
    return [[(value,) for value in row] for row in rows]


def naive_bayes(
    train: Sequence[tuple[Row, object]], domains: Sequence[Sequence[object]], classes: Sequence[object]
) -> Callable[[Sequence[object]], list[tuple[float, object]]]:
    """Return a model: original values to the probability of each class, by m-estimates of weight 2."""
    totals = Counter(label for _, label in train)

    def chance(position: int, value: object, label: object) -> Fraction:
        size = len(domains[position])
        parts = [
            (Fraction(sum(own == value for own in row[position]), len(row[position])), own)
            for row, own in train
            if row[position]
        ]
        overall = (sum((part for part, _ in parts), Fraction(0)) + Fraction(1, size)) / (len(parts) + 1)
        own = sum((part for part, other in parts if other == label), Fraction(0))
        return (own + 2 * overall) / (totals[label] + 2)

    def ranked(values: Sequence[object]) -> list[tuple[float, object]]:
        found = []
        for label in classes:
            score = (totals[label] + Fraction(1, len(classes))) / (len(train) + 1)
            for position, value in enumerate(values):
                score *= chance(position, value, label)
            found.append((float(score), label))
        return found

    return ranked
