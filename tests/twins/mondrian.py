"""Mondrian region by region and record by record, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from tests.twins.loss import certainty_penalty, leaf_share
from tests.twins.microdata import Microdata, Value, in_order
from tests.twins.search import BruteForce, ProblemSpec

Combination = tuple[Value, ...]
Region = dict[Combination, int]
"""Records of each combination, in the order of the table."""

Part = tuple[int, list[Combination]]
"""Where a part stands in the natural order, and what of a region lies in it."""

TRIES = 8


def in_table_order(data: Microdata) -> list[Combination]:
    """Return the distinct records, sorted by the natural order of their values."""
    ranks = [
        {value: rank for rank, value in enumerate(in_order(set(data.column(position))))}
        for position in range(len(data.quasi_identifiers) + len(data.sensitive))
    ]
    return sorted(
        set(data.records), key=lambda record: [own[v] for own, v in zip(ranks, record, strict=True)]
    )


class TwinAxis:
    """One quasi-identifier; ``labels`` says how it is published.

    Parameters
    ----------
    metric: ``loss`` or ``ncp``.
    """

    def __init__(self, data: Microdata, position: int, metric: str, labels: str) -> None:
        self.data, self.position, self.metric = data, position, metric
        self.spec = data.quasi_identifiers[position]
        self.values = in_order(set(data.column(position)))
        self.labels = labels if labels == "hierarchy" or self.spec.numeric else "set"
        self.share = self.spec.weight / sum(own.weight for own in data.quasi_identifiers)

    def level(self, region: Region) -> int:
        """Return the lowest allowed level at which the region has one node."""
        present = {own[self.position] for own in region}
        return next(
            level
            for level in range(self.spec.minimum, self.spec.height + 1)
            if len({self.spec.paths[value][level] for value in present}) == 1
        )

    def parts(self, region: Region) -> list[list[Combination]]:
        """Return the parts of a region in the order in which they are cut."""
        level = self.spec.minimum
        natural: list[Value] = self.values
        if self.labels == "hierarchy":
            level = max(self.level(region) - 1, level)
            natural = list(self.spec.paths)
        nodes = list(dict.fromkeys(self.spec.paths[value][level] for value in natural))
        found: dict[str, list[Combination]] = {node: [] for node in nodes}
        for own in region:
            found[self.spec.paths[own[self.position]][level]].append(own)
        parts = [own for own in found.values() if own]
        if self.labels == "hierarchy" or not self.spec.numeric:
            parts.sort(key=lambda own: -sum(region[each] for each in own))
        return parts

    def published(self, region: Region) -> frozenset[Value]:
        """Return the values of the input, or leaves, that the label of a region stands for."""
        paths, present = self.spec.paths, {own[self.position] for own in region}
        if self.labels == "hierarchy":
            level = self.level(region)
            node = paths[next(iter(present))][level]
            return frozenset(value for value in paths if paths[value][level] == node)
        low = self.spec.minimum
        nodes = {paths[value][low] for value in present}
        unit = frozenset(value for value in self.values if paths[value][low] in nodes)
        if self.labels == "set":
            return unit
        if None in unit and len(unit) > 1:
            return frozenset(paths)
        ranks = [self.values.index(value) for value in unit]
        return frozenset(self.values[min(ranks) : max(ranks) + 1])

    def cost(self, region: Region) -> float:
        """Return what a record costs in a region."""
        if self.labels == "hierarchy":
            cell = {"loss": leaf_share, "ncp": certainty_penalty}[self.metric]
            return cell(self.data, self.position, self.level(region), next(iter(region))[self.position])
        values = self.published(region)
        if self.metric == "loss":
            others = len(self.spec.paths) - 1
            return (len(values) - 1) / others if others else 0.0
        if not self.spec.numeric:
            return len(values) / len(self.values) if len(values) > 1 else 0.0
        if None in values:
            return 1.0 if len(values) > 1 else 0.0
        known = [value for value in self.values if value is not None]
        span = max(known) - min(known)  # type: ignore[operator, type-var]
        return (max(values) - min(values)) / span if span else 0.0  # type: ignore[operator, type-var]


@dataclass
class Column:
    """A proposed cut: the part it lies in or behind, the records on the left, the loss it leaves."""

    axis: int
    part: int
    target: int
    loss: float
    followed: bool


class TwinMondrian:
    """Cuts one region after the other; ``relaxed`` shares the records of the median part.

    Parameters
    ----------
    minimum, fewest: no cut leaves fewer records, or persons, on a side; they decide which cuts are tried.
    """

    def __init__(
        self, problem: ProblemSpec, labels: str, minimum: int, *, relaxed: bool, fewest: int = 1
    ) -> None:
        self.data = problem.data
        self.brute = BruteForce(problem)
        self.labels, self.relaxed = labels, relaxed
        self.axes = [
            TwinAxis(self.data, position, problem.metric, labels)
            for position in range(len(self.data.quasi_identifiers))
        ]
        self.minimum, self.fewest = minimum, fewest
        self.rows: dict[Combination, list[int]] = {}
        for row, record in enumerate(self.data.records):
            self.rows.setdefault(record, []).append(row)

    def start(self, levels: Sequence[int] | None = None) -> list[Region]:
        """Return the classes at some levels, by default the highest allowed ones."""
        highest = [spec.maximum for spec in self.data.quasi_identifiers]
        found: dict[tuple[str, ...], Region] = {}
        for own in in_table_order(self.data):
            cells = zip(self.data.quasi_identifiers, own, highest if levels is None else levels, strict=False)
            key = tuple(spec.paths[cell][level] for spec, cell, level in cells)
            found.setdefault(key, {})[own] = len(self.rows[own])
        return list(found.values())

    def run(self, start: list[Region] | None = None) -> list[Region]:
        """Return the regions that cannot be cut, from the highest allowed levels or another start."""
        waiting, done = list(start or self.start()), []
        while waiting:
            region = waiting.pop()
            sides = self.cut(region)
            if sides is None:
                done.append(region)
            else:
                waiting.extend(sides)
        return done

    def published(self, region: Region) -> tuple[frozenset[Value], ...]:
        """Return what a region is published as."""
        return tuple(axis.published(region) for axis in self.axes)

    def cost(self, region: Region) -> float:
        """Return the loss of all records of a region."""
        return sum(axis.share * axis.cost(region) for axis in self.axes) * sum(region.values())

    def holds(self, region: Region) -> bool:
        """Tell whether a region satisfies the models; p is that of the input."""
        rows = [row for own, count in region.items() for row in self.rows[own][:count]]
        return self.brute.holds(rows, list(range(len(self.data.records))))

    def cut(self, region: Region) -> tuple[Region, Region] | None:
        """Return the sides of the best cut of a region that leaves two satisfying ones."""
        parts = [axis.parts(region) for axis in self.axes]
        opened = [self.whole_cuts(region, own) for own in parts]
        columns = [
            Column(axis, part, target, self.loss(region, parts[axis], part, target), followed)
            for axis, own in enumerate(opened)
            for part, target, followed in self.proposals(region, parts[axis], own)
        ]
        tries = [0] * len(parts)
        while columns:
            best = min(columns, key=lambda column: column.loss)
            if best.loss == inf:
                return None
            sides = self.sides(region, parts[best.axis], best.part, best.target)
            if all(self.holds(side) for side in sides):
                return sides
            cuts = opened[best.axis]
            if cuts.get(best.part) == best.target:
                del cuts[best.part]
            best.loss = inf
            if best.followed:
                tries[best.axis] += 1
                if tries[best.axis] <= TRIES and cuts:
                    best.part = self.nearest(region, cuts)
                    best.target = cuts[best.part]
                    best.loss = self.loss(region, parts[best.axis], best.part, best.target)
        return None

    def whole_cuts(self, region: Region, parts: list[list[Combination]]) -> dict[int, int]:
        """Return the records on the left of each cut behind a part that leaves enough on both sides."""
        size, upto, found = sum(region.values()), 0, {}
        for number, own in enumerate(parts[:-1]):
            upto += sum(region[each] for each in own)
            sides = parts[: number + 1], parts[number + 1 :]
            if min(upto, size - upto) >= self.minimum and min(map(self.persons, sides)) >= self.fewest:
                found[number] = upto
        return found

    def persons(self, parts: list[list[Combination]]) -> int:
        """Return how many persons have a record in some parts; who is unknown is somebody else."""
        rows = [row for own in parts for each in own for row in self.rows[each]]
        own = [self.data.persons[row] if self.data.persons else None for row in rows]
        return len(set(own) - {None}) + own.count(None)

    @staticmethod
    def nearest(region: Region, cuts: dict[int, int]) -> int:
        """Return the cut that halves the region best, the first of equals."""
        size = sum(region.values())
        return min(cuts, key=lambda part: abs(2 * cuts[part] - size))

    def proposals(
        self, region: Region, parts: list[list[Combination]], cuts: dict[int, int]
    ) -> Iterator[tuple[int, int, bool]]:
        """Return part and target of the cuts that are tried at first, and whether another follows."""
        if self.relaxed:
            half, upto = sum(region.values()) // 2, 0
            if len(parts) > 1 and half >= self.minimum:
                for number, own in enumerate(parts):
                    upto += sum(region[each] for each in own)
                    if upto >= half:
                        yield number, half, True
                        return
            return
        if cuts:
            nearest = self.nearest(region, cuts)
            for part in dict.fromkeys((nearest, min(cuts), max(cuts))):
                yield part, cuts[part], part == nearest

    def sides(
        self, region: Region, parts: list[list[Combination]], part: int, target: int
    ) -> tuple[Region, Region]:
        """Return both sides: the parts before the cut on the left, and of its own what the target leaves."""
        left = {own: region[own] for before in parts[:part] for own in before}
        middle = {own: region[own] for own in region if own in parts[part]}
        taken = target - sum(left.values())
        share: Callable[[Region, int], Region] = self.in_order if self.labels == "hierarchy" else self.spread
        left |= share(middle, taken)
        ordered = {own: left[own] for own in region if left.get(own)}
        right = {own: count - left.get(own, 0) for own, count in region.items() if count > left.get(own, 0)}
        return ordered, right

    @staticmethod
    def in_order(middle: Region, taken: int) -> Region:
        """Take the first records."""
        found = {}
        for own, count in middle.items():
            found[own] = min(count, taken)
            taken -= found[own]
        return found

    @staticmethod
    def spread(middle: Region, taken: int) -> Region:
        """Take records at regular intervals: the i-th when a multiple of total / taken lies in (i-1, i]."""
        total, found, position = sum(middle.values()), dict.fromkeys(middle, 0), 0
        for own, count in middle.items():
            for _ in range(count):
                position += 1
                found[own] += position * taken // total > (position - 1) * taken // total
        return found

    def loss(self, region: Region, parts: list[list[Combination]], part: int, target: int) -> float:
        """Return the loss of both sides, up to rounding."""
        return round(sum(self.cost(side) for side in self.sides(region, parts, part, target)), 9)
