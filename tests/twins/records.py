"""The fewest records to suppress of a class, by looking at every choice of records that can stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tests.twins.loss import LOSS_TWINS, TwinRelease
from tests.twins.search import BruteForce, NodeResult, ProblemSpec, Rows


def choices(brute: BruteForce, rows: Rows) -> Iterator[Rows]:
    """Yield one choice of rows for each number of records of each combination of sensitive values.

    Where records belong to persons, of each combination and person.
    """
    first = len(brute.data.quasi_identifiers)
    kinds: dict[tuple[object, ...], Rows] = {}
    for row in rows:
        person = brute.data.persons[row] if brute.data.persons else None
        kinds.setdefault((person, *brute.data.records[row][first:]), []).append(row)
    for numbers in product(*(range(len(own) + 1) for own in kinds.values())):
        yield [row for own, number in zip(kinds.values(), numbers, strict=True) for row in own[:number]]


def most_that_stay(brute: BruteForce, rows: Rows, reference: Rows) -> int:
    """Return how many records of a class can stay under a reference, 0 when none can."""
    most = 0
    for staying in choices(brute, rows):
        if len(staying) > most and brute.holds(staying, reference):
            most = len(staying)
    return most


def fewest_under_release(brute: BruteForce, classes: list[Rows], limit: int) -> int | None:
    """Return the fewest records to suppress when p is that of what stays; None beyond the limit.

    Something stays. Exponential in all records at once.
    """
    best = None
    everyone = sum(len(rows) for rows in classes)
    for chosen in product(*(list(choices(brute, rows)) for rows in classes)):
        staying = [rows for rows in chosen if rows]
        reference = [row for rows in staying for row in rows]
        gone = everyone - len(reference)
        if not reference or gone > limit or (best is not None and gone >= best):
            continue
        if all(brute.holds(rows, reference) for rows in staying):
            best = gone
    return best


class RecordsBruteForce(BruteForce):
    """Every node, with as few records suppressed in each class as can be; p is the input's."""

    def evaluate(self, levels: tuple[int, ...]) -> NodeResult | None:
        """Return what a node gives, None when it may not be released; without models of the whole table."""
        classes = self.classes(levels)
        left = [most_that_stay(self, rows, self._everyone) for rows in classes]
        gone = len(self._everyone) - sum(left)
        if gone > self.problem.limit or not any(left):
            return None
        suppressed = frozenset(
            row for rows, number in zip(classes, left, strict=True) for row in rows[number:]
        )
        sizes = tuple(number for number in left if number)
        kept = TwinRelease(self.data, levels, sizes, suppressed, 0, self.problem.k)
        objective = LOSS_TWINS[self.problem.metric](kept, self.problem.aggregate)
        return NodeResult(levels, objective, suppressed, kept_suppressed=False)


def plain(spec: ProblemSpec) -> ProblemSpec:
    """Return the problem without what the brute force of records leaves out."""
    own = tuple(each for each in spec.constraints if each.model != "vulnerability")
    return replace(spec, constraints=own, keep_rows=False, moving_reference=False)


def kinds(rows: list[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    """Count equal rows."""
    return Counter(rows)
