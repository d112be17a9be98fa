"""Small tables by trying everything: levels, records to suppress, cells to blank, partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import inf, log2
from typing import Any

from tests.fuzz.cases import MISSING, ROOT, Attribute, Case
from tests.fuzz.models import OF_THE_TABLE, Record, all_of, entries, over_classes

Cell = tuple[str, int]
"""What is published of a cell, and its level; -1 for a blank."""

BLANK: Cell = (ROOT, -1)


class TooClose(Exception):
    """A verdict is too close to a threshold, or a choice is not fixed by the definitions."""


@dataclass(frozen=True)
class Solution:
    """What is published: cells of each record, None for one that counts as suppressed.

    Attributes
    ----------
    kept_suppressed: whether suppressed records stay with ``*`` in every quasi-identifier.
    levels: of a full-domain recoding.
    """

    cells: tuple[tuple[Cell, ...] | None, ...]
    kept_suppressed: bool = False
    levels: tuple[int, ...] | None = None

    def classes(self) -> list[list[int]]:
        """Return the records of each class, the starred one last."""
        found: dict[Any, list[int]] = {}
        for i, own in enumerate(self.cells):
            if own is not None:
                found.setdefault(tuple(label for label, _ in own), []).append(i)
        gone = [i for i, own in enumerate(self.cells) if own is None]
        return [*found.values(), *([gone] if gone and self.kept_suppressed else [])]


class Truth:
    """The problem of a case, for definitions to be applied to it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.quasi_identifiers = case.of_role("quasi-identifier")
        self.sensitive = case.of_role("sensitive")
        self.records: list[Record] = list(zip(*(each.cells for each in self.sensitive), strict=True))
        self.size = case.size
        self.moving = case.config["reference"] == "release"
        self.keep_rows = bool(case.config["suppression"].get("keep_rows"))
        own = entries(case.config["constraints"], self.sensitive)
        self.of_classes = [each for each in own if each[0]["model"] not in OF_THE_TABLE]
        self.of_table = [each for each in own if each[0]["model"] in OF_THE_TABLE]
        asked = [each["k"] for each in case.config["constraints"] if "k" in each]
        self.k = max(asked, default=None)
        self.metric = case.config["objective"]["metric"]
        self.aggregate = case.config["objective"].get("aggregate", "arithmetic-mean")

    # ------------------------------------------------------------------------------------------------ models

    def class_holds(self, records: Sequence[int], reference: Sequence[int]) -> bool:
        """Tell whether records may be a class.

        Raises
        ------
        TooClose: it cannot be told.
        """
        return self._hold(self.of_classes, [list(records)], reference)

    def table_holds(self, classes: Sequence[Sequence[int]]) -> bool:
        """Tell whether the constraints of the whole release hold."""
        return self._hold(self.of_table, classes, [])

    def _hold(self, asked: Sequence[Any], classes: Sequence[Sequence[int]], reference: Sequence[int]) -> bool:
        rows = [[self.records[i] for i in own] for own in classes]
        known = [self.records[i] for i in reference]
        found = all_of([over_classes(each, rows, known, self.sensitive, name).holds for each, name in asked])
        if found is None:
            raise TooClose
        return found

    @cached_property
    def uses_reference(self) -> bool:
        """Whether some model compares with a distribution."""
        names = ("t-closeness", "basic-beta-likeness", "enhanced-beta-likeness", "delta-disclosure")
        return any(each["model"] in names for each, _ in self.of_classes)

    # ---------------------------------------------------------------------------------------------- metrics

    def covered(self, attribute: Attribute, cell: Cell) -> set[str]:
        """Return the leaves under what is published."""
        assert attribute.paths is not None
        label, level = cell
        if level < 0:
            return set(attribute.paths)
        return {value for value, path in attribute.paths.items() if path[level] == label}

    def cell_loss(self, attribute: Attribute, cell: Cell) -> Fraction:
        """Return (n - 1)/(m - 1)."""
        assert attribute.paths is not None
        leaves = len(attribute.paths)
        if cell == BLANK:
            return Fraction(1)
        return Fraction(len(self.covered(attribute, cell)) - 1, leaves - 1) if leaves > 1 else Fraction(0)

    def cell_ncp(self, attribute: Attribute, cell: Cell) -> Fraction:
        """Return the certainty penalty of a cell."""
        if cell == BLANK:
            return Fraction(1)
        everything = set(attribute.values)
        own = self.covered(attribute, cell) & everything
        if attribute.kind == "text":
            return Fraction(len(own), len(everything)) if len(own) > 1 else Fraction(0)
        if MISSING in own:
            return Fraction(int(len(own) > 1))
        numbers = [_number(attribute, value) for value in everything - {MISSING}]
        within = [_number(attribute, value) for value in own]
        width = max(numbers) - min(numbers)
        return (max(within) - min(within)) / width if width else Fraction(0)

    def cell_precision(self, attribute: Attribute, cell: Cell) -> Fraction:
        """Return level / height."""
        assert attribute.paths is not None
        if cell == BLANK:
            return Fraction(1)
        return Fraction(cell[1], len(next(iter(attribute.paths.values()))) - 1)

    @cached_property
    def cell_costs(self) -> dict[str, Callable[[Attribute, Cell], Fraction]]:
        """The metrics of cells."""
        return {"loss": self.cell_loss, "ncp": self.cell_ncp, "precision": self.cell_precision}

    @cached_property
    def other_metrics(self) -> dict[str, Callable[[Solution], float | None]]:
        """The metrics without an aggregate."""
        return {
            "height": self._height,
            "average-class-size": self._average_class_size,
            "discernibility": self._discernibility,
            "nonuniform-entropy": self._bits,
        }

    def metrics(self, solution: Solution) -> list[str]:
        """Return the metrics that what is published determines; the fuzz judges those that it defines."""
        unknown = {"nonuniform-entropy"} | (set() if solution.levels is not None else {"precision"})
        return [name for name in (*self.cell_costs, *self.other_metrics) if name not in unknown]

    def objective(
        self, solution: Solution, metric: str | None = None, aggregate: str | None = None
    ) -> float | None:
        """Return a metric of what is published, by default the one of the case."""
        metric = metric or self.metric
        if metric in self.cell_costs:
            return self._of_cells(solution, self.cell_costs[metric], aggregate or self.aggregate)
        return self.other_metrics[metric](solution)

    @staticmethod
    def _height(solution: Solution) -> float | None:
        return None if solution.levels is None else sum(solution.levels)

    def _average_class_size(self, solution: Solution) -> float:
        sizes = [len(own) for own in solution.classes()]
        return sum(sizes) / len(sizes) / (self.k or min(sizes))

    def _discernibility(self, solution: Solution) -> float:
        gone = sum(own is None for own in solution.cells)
        sizes = [len(own) for own in solution.classes()]
        kept = sizes[:-1] if gone and solution.kept_suppressed else sizes
        return sum(size * size for size in kept) + gone * self.size

    def _of_cells(
        self, solution: Solution, cost: Callable[[Attribute, Cell], Fraction], aggregate: str
    ) -> float:
        means, weights = [], [each.weight for each in self.quasi_identifiers]
        for position, attribute in enumerate(self.quasi_identifiers):
            own = [
                Fraction(1) if cells is None else cost(attribute, cells[position]) for cells in solution.cells
            ]
            means.append(sum(own, Fraction(0)) / self.size)
        if aggregate == "maximum":
            return float(max(means))
        total = sum(weights, Fraction(0))
        if aggregate == "arithmetic-mean":
            return float(sum(weight * mean for weight, mean in zip(weights, means, strict=True)) / total)
        result = 1.0
        for weight, mean in zip(weights, means, strict=True):
            result *= float(1 + mean) ** float(weight / total)
        return result - 1

    def _bits(self, solution: Solution) -> float:
        assert solution.levels is not None
        total = 0.0
        for attribute, level in zip(self.quasi_identifiers, solution.levels, strict=True):
            assert attribute.paths is not None
            nodes = [attribute.paths[value][level] for value in attribute.values]
            of_value, of_node = Counter(attribute.values), Counter(nodes)
            pairs = zip(attribute.values, nodes, strict=True)
            total += sum(log2(of_node[node] / of_value[value]) for value, node in pairs)
            gone = Counter(node for node, own in zip(nodes, solution.cells, strict=True) if own is None)
            everyone = sum(gone.values())
            total += sum(count * log2(everyone / count) for count in gone.values())
        return total

    # --------------------------------------------------------------------------------------------- lattices

    def nodes(self) -> Iterator[tuple[int, ...]]:
        """Yield all allowed levels."""
        return product(*(range(each.low, each.high + 1) for each in self.quasi_identifiers))

    def at(self, levels: Sequence[int]) -> list[tuple[Cell, ...]]:
        """Return the cells of each record at some levels."""
        columns = []
        for each, level in zip(self.quasi_identifiers, levels, strict=True):
            assert each.paths is not None
            columns.append([(each.paths[value][level], level) for value in each.values])
        return list(zip(*columns, strict=True))

    def without(
        self,
        cells: Sequence[tuple[Cell, ...]],
        gone: set[int],
        levels: Any = None,
        *,
        kept_suppressed: bool = False,
    ) -> Solution:
        """Return a solution in which some records are suppressed."""
        own = tuple(None if i in gone else each for i, each in enumerate(cells))
        return Solution(own, kept_suppressed and bool(gone), levels)

    def by_classes(self, levels: tuple[int, ...]) -> Solution | None:
        """Return what ``method: classes`` releases at some levels."""
        cells, everyone = self.at(levels), list(range(self.size))
        classes = self.without(cells, set()).classes()
        gone = {i for own in classes if not self.class_holds(own, everyone) for i in own}
        if len(gone) > self.case.limit:
            return None
        if self.keep_rows and any(all(label == ROOT for label, _ in own) for own in cells):
            # A suppressed record might look like one that is published at its own level.
            raise TooClose
        if self.keep_rows and gone and self.class_holds(sorted(gone), everyone):
            kept = self.without(cells, gone, levels, kept_suppressed=True)
            if self.table_holds(kept.classes()):
                return kept
        while True:
            stays = [i for i in everyone if i not in gone]
            reference = stays if self.moving else everyone
            failing = {
                i
                for own in classes
                if own[0] not in gone and not self.class_holds(own, reference)
                for i in own
            }
            if not failing:
                break
            gone |= failing
        found = self.without(cells, gone, levels)
        valid = len(gone) < self.size and len(gone) <= self.case.limit
        return found if valid and self.table_holds(found.classes()) else None

    def by_records(self, levels: tuple[int, ...]) -> Solution | None:
        """Return what ``method: records`` releases at some levels, each class keeping as much as it can.

        Raises
        ------
        TooClose: the definitions leave open which records go, and it matters.
        """
        if (self.moving and self.uses_reference) or self.of_table or self.keep_rows:
            raise TooClose
        cells, everyone = self.at(levels), list(range(self.size))
        gone: set[int] = set()
        for own in self.without(cells, set()).classes():
            stays = next(
                stays
                for size in range(len(own), -1, -1)
                for stays in combinations(own, size)
                if not stays or self.class_holds(stays, everyone)
            )
            gone |= set(own) - set(stays)
        if len(gone) > self.case.limit or len(gone) == self.size:
            return None
        return self.without(cells, gone, levels)

    def best(self, method: Callable[[tuple[int, ...]], Solution | None]) -> float | None:
        """Return the lowest objective over all nodes of the lattice; None where none is valid."""
        found = [self.objective(own) for own in map(method, self.nodes()) if own is not None]
        return min((each for each in found if each is not None), default=None)

    # ------------------------------------------------------------------------------------------------ cells

    def best_by_cells(self) -> float | None:
        """Return the lowest objective over all levels and all choices of cells.

        A record counts as suppressed where nothing but ``*`` would be published of it and at least one of
        these is a blank. Where its levels publish nothing but ``*`` it may be suppressed, too, or belong to
        the class of all such records. Suppressed records are within the limit; they are removed, or stay
        where they make a class that holds.
        """
        best = inf
        known: dict[tuple[int, ...], bool] = {}
        everyone = list(range(self.size))

        def holds(own: Sequence[int]) -> bool:
            if tuple(own) not in known:
                known[tuple(own)] = self.class_holds(own, everyone)
            return known[tuple(own)]

        if self.of_table or (self.moving and self.uses_reference and self.case.limit):
            raise TooClose
        masks = list(product((False, True), repeat=len(self.quasi_identifiers)))
        for levels in self.nodes():
            cells = self.at(levels)
            options = [{None, *(suppressed_if_empty(own, mask) for mask in masks)} for own in cells]
            for chosen in product(*options):
                if not self._allowed(chosen):
                    continue
                own = Solution(chosen)
                cost = self.objective(own)
                if cost is not None and cost < best - 1e-12 and all(map(holds, own.classes())):
                    best = cost
        return None if best == inf else best

    def _allowed(self, chosen: Sequence[Any]) -> bool:
        gone = sum(own is None for own in chosen)
        return gone <= self.case.limit and gone < self.size

    # ------------------------------------------------------------------------------------------------ local

    def best_local(self) -> float | None:
        """Return the lowest loss over all partitions and choices of records to suppress.

        Each class is published at the lowest nodes that its records share.
        """
        if self.of_table or (self.moving and self.uses_reference and self.case.limit) or self.keep_rows:
            raise TooClose
        if self.aggregate != "arithmetic-mean" or self.metric not in ("loss", "ncp"):
            raise TooClose
        everyone, best = list(range(self.size)), inf
        costs: dict[tuple[int, ...], float] = {}

        def cost(block: tuple[int, ...]) -> float:
            if block not in costs:
                costs[block] = self._block_cost(block) if self.class_holds(block, everyone) else inf
            return costs[block]

        for gone in range(min(self.case.limit, self.size - 1) + 1):
            for stays in combinations(everyone, self.size - gone):
                for blocks in partitions(stays):
                    total = sum(map(cost, blocks))
                    best = min(best, (total + gone) / self.size)
        return None if best == inf else best

    def _block_cost(self, block: Sequence[int]) -> float:
        cost = self.cell_loss if self.metric == "loss" else self.cell_ncp
        total, weights = Fraction(0), Fraction(0)
        for each in self.quasi_identifiers:
            assert each.paths is not None
            weights += each.weight
            paths = [each.paths[each.values[i]] for i in block]
            levels = range(each.low, each.high + 1)
            common = [level for level in levels if len({path[level] for path in paths}) == 1]
            if not common:
                return inf
            total += each.weight * cost(each, (paths[0][common[0]], common[0]))
        return float(total / weights) * len(block)


def suppressed_if_empty(cells: tuple[Cell, ...], mask: Sequence[bool]) -> tuple[Cell, ...] | None:
    """Return what is published where some cells are blanked; None for a record that counts as suppressed."""
    own = tuple(BLANK if blank and cell[0] != ROOT else cell for cell, blank in zip(cells, mask, strict=True))
    if all(label == ROOT for label, _ in own) and BLANK in own:
        return None
    return own


def partitions(items: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to divide items into blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [item for item in rest if item not in others]
            for blocks in partitions(left):
                yield [(first, *others), *blocks]


def _number(attribute: Attribute, value: str) -> Fraction:
    return Fraction(date.fromisoformat(value).toordinal()) if attribute.kind == "date" else Fraction(value)
