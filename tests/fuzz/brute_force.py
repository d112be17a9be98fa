"""Small tables by trying everything: levels, records to suppress, cells to blank, partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import inf, log2
from typing import Any

from tests.fuzz.cases import Case
from tests.fuzz.columns import MISSING, ROOT, Attribute
from tests.fuzz.models import Asked, Records, View, all_of, entries, over_classes

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
        self.size = case.size
        values = list(zip(*(each.identities for each in self.sensitive), strict=True))
        self.records = Records(values, self.sensitive, case.units, case.weights)
        self.moving = case.config["reference"] == "release"
        self.keep_rows = bool(case.config["suppression"].get("keep_rows"))
        self.whole = case.config["suppression"].get("whole")
        self.asked = entries(case.config, self.sensitive, case.units)
        self.of_classes = [each for each in self.asked if not each.of_table]
        self.of_table = [each for each in self.asked if each.of_table]
        self.several = bool(case.config.get("scenarios")) or case.linked
        self.population = any(each.counts_people for each in self.asked)
        asked = [own for own in self.asked if "k" in own.parameters and not own.counts_people]
        self.k = max((own.parameters["k"] for own in asked if own.scenario is None), default=None)
        self.k_of_reports = max((own.parameters["k"] for own in asked), default=0)
        self.metric = case.config["objective"]["metric"]
        self.aggregate = case.config["objective"].get("aggregate", "arithmetic-mean")

    # ------------------------------------------------------------------------------------------------ models

    def class_holds(self, records: Sequence[int], reference: Sequence[int]) -> bool:
        """Tell whether records may be a class.

        Raises
        ------
        TooClose: it cannot be told.
        """
        if self.several or self.population:
            raise TooClose
        view = View(self.records, [list(records)], reference)
        return self._told(over_classes(each, view).holds for each in self.of_classes)

    @staticmethod
    def _told(verdicts: Iterator[bool | None]) -> bool:
        found = all_of(verdicts)
        if found is None:
            raise TooClose
        return found

    def classes_of(
        self, labels: Sequence[Any], stays: Collection[int], asked: Asked
    ) -> list[list[list[int]]]:
        """Return the classes that a constraint is about, for each set of columns that somebody may know.

        Parameters
        ----------
        labels: what is published of each record, by quasi-identifier.
        """
        names = [each.name for each in self.quasi_identifiers]
        found = []
        for known in asked.known or (tuple(names),):
            at = [names.index(name) for name in known]
            shown = {i: tuple(labels[i][position] for position in at) for i in stays}
            found.append(self._linked(shown) if self.case.linked else grouped(shown))
        return found

    def _linked(self, shown: dict[int, Any]) -> list[list[int]]:
        """Return persons with equal published rows as classes, and each of their rows by itself."""
        persons = self.records.persons
        lists: dict[int, list[Any]] = {}
        for i, own in shown.items():
            lists.setdefault(persons[i], []).append(own)
        whole = grouped({i: tuple(sorted(lists[persons[i]])) for i in shown})
        rows = grouped({i: (tuple(sorted(lists[persons[i]])), own) for i, own in shown.items()})
        return [*whole, *rows]

    def views(
        self,
        labels: Sequence[Any],
        stays: Collection[int],
        reference: Sequence[int],
        asked: Asked,
        paths: Any,
    ) -> Iterator[View]:
        """Yield what a constraint is measured on.

        Parameters
        ----------
        paths: levels of a full-domain recoding, by which people of the population have published values.
        """
        for classes in self.classes_of(labels, stays, asked):
            people, absent = None, False
            if asked.counts_people:
                people, absent = self._people(labels, classes, paths)
            yield View(self.records, classes, reference, people, absent)

    def _people(
        self, labels: Sequence[Any], classes: Sequence[Sequence[int]], levels: Any
    ) -> tuple[list[Fraction], bool]:
        """Return the people of each class, and whether some people have values of no record."""
        own = self.case.population
        if own is None:
            return [self.records.estimate(part) for part in classes], False
        if levels is None:
            raise TooClose
        people: dict[Any, Fraction] = {}
        for row, number in zip(own.rows, own.people, strict=True):
            shown = tuple(
                (each.paths or {})[value][level]
                for each, value, level in zip(self.quasi_identifiers, row, levels, strict=True)
            )
            people[shown] = people.get(shown, Fraction(0)) + number
        known = {
            tuple(
                (each.paths or {})[each.values[i]][level]
                for each, level in zip(self.quasi_identifiers, levels, strict=True)
            )
            for i in range(self.size)
        }
        return [people[tuple(labels[part[0]])] for part in classes], bool(set(people) - known)

    def failing(
        self, labels: Sequence[Any], stays: Collection[int], reference: Sequence[int], levels: Any
    ) -> set[int]:
        """Return the records in classes that violate a constraint."""
        gone: set[int] = set()
        for asked in self.of_classes:
            for view in self.views(labels, stays, reference, asked, levels):
                for at, part in enumerate(view.classes):
                    people = None if view.people is None else [view.people[at]]
                    absent = view.absent and bool(asked.parameters.get("min"))
                    one = View(self.records, [part], reference, people, absent)
                    if not self._told(iter([over_classes(asked, one).holds])):
                        gone |= set(part)
        owners = self.records.units[self.whole or "person"] if self.whole or self.case.linked else None
        if owners is not None:
            lost = {owners[i] for i in gone}
            gone = {i for i in stays if owners[i] in lost}
        return gone

    def table_holds(self, labels: Sequence[Any], stays: Collection[int], levels: Any = None) -> bool:
        """Tell whether the constraints of the whole release hold."""
        return self._told(
            over_classes(asked, view).holds
            for asked in self.of_table
            for view in self.views(labels, stays, [], asked, levels)
        )

    def within_limit(self, gone: Collection[int]) -> bool:
        """Tell whether so many records may be suppressed."""
        owners = self.records.units[self.case.limit_unit]
        return len({owners[i] for i in gone}) <= self.case.limit and len(gone) < self.size

    @cached_property
    def uses_reference(self) -> bool:
        """Whether some model compares with a distribution."""
        names = ("t-closeness", "basic-beta-likeness", "enhanced-beta-likeness", "delta-disclosure")
        return any(each.model in names for each in self.of_classes)

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

    def objective(self, solution: Solution) -> float | None:
        """Return the objective of the case for what is published."""
        if self.metric in self.cell_costs:
            return self._of_cells(solution, self.cell_costs[self.metric], self.aggregate, weighted=True)
        return self.other_metrics[self.metric](solution)

    def loss(self, solution: Solution, metric: str) -> float | None:
        """Return a metric of what is published, as a mean over records and attributes."""
        if metric in self.cell_costs:
            return self._of_cells(solution, self.cell_costs[metric], "arithmetic-mean", weighted=False)
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

    @cached_property
    def shares(self) -> list[Fraction]:
        """The share of each record in the objective: of people, or of the persons of the records."""
        own = self.case.config["objective"]
        weights = [Fraction(1)] * self.size
        if "weights" in own:
            weights = list(self.case.weights or weights)
        elif "unit" in own:
            owners = Counter(self.records.units[own["unit"]])
            weights = [Fraction(1, owners[each]) for each in self.records.units[own["unit"]]]
        return [each / sum(weights, Fraction(0)) for each in weights]

    @property
    def weighted(self) -> bool:
        """Whether the objective is another mean than that over records."""
        return len(set(self.shares)) > 1

    def _of_cells(
        self,
        solution: Solution,
        cost: Callable[[Attribute, Cell], Fraction],
        aggregate: str,
        *,
        weighted: bool,
    ) -> float:
        means, weights = [], [each.weight for each in self.quasi_identifiers]
        for position, attribute in enumerate(self.quasi_identifiers):
            own = [
                Fraction(1) if cells is None else cost(attribute, cells[position]) for cells in solution.cells
            ]
            shares = self.shares if weighted else [Fraction(1, self.size)] * self.size
            means.append(sum((cost * share for cost, share in zip(own, shares, strict=True)), Fraction(0)))
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
        labels = [tuple(label for label, _ in own) for own in cells]
        gone = self._fixpoint(labels, set(), everyone, levels)
        if len(gone) == self.size or not self.within_limit(gone):
            return None
        if self.keep_rows and any(all(label == ROOT for label in own) for own in labels):
            # A suppressed record might look like one that is published at its own level.
            raise TooClose
        if self.keep_rows and gone and (kept := self._kept(cells, labels, gone, levels)):
            return kept
        if self.moving:
            gone = self._fixpoint(labels, gone, None, levels)
        stays = [i for i in everyone if i not in gone]
        if not stays or not self.within_limit(gone) or not self.table_holds(labels, stays, levels):
            return None
        return self.without(cells, gone, levels)

    def _fixpoint(self, labels: Sequence[Any], gone: set[int], reference: Any, levels: Any) -> set[int]:
        """Return the records that go, round by round, until none fails.

        Parameters
        ----------
        reference: records with the distribution p; None for those that stay.
        """
        while len(gone) < self.size:
            stays = [i for i in range(self.size) if i not in gone]
            failing = self.failing(labels, stays, stays if reference is None else reference, levels)
            if not failing:
                break
            gone = gone | failing
        return gone

    def _kept(
        self, cells: Sequence[tuple[Cell, ...]], labels: Sequence[Any], gone: set[int], levels: Any
    ) -> Solution | None:
        """Return a release in which suppressed records stay, if their class holds."""
        if self.population or self.whole:
            raise TooClose
        everyone = list(range(self.size))
        if not self.class_holds(sorted(gone), everyone):
            return None
        starred = [(ROOT,) * len(own) if i in gone else own for i, own in enumerate(labels)]
        if not self.table_holds(starred, everyone, None):
            return None
        return self.without(cells, gone, levels, kept_suppressed=True)

    def by_records(self, levels: tuple[int, ...]) -> Solution | None:
        """Return what ``method: records`` releases at some levels, each class keeping as much as it can.

        Raises
        ------
        TooClose: the definitions leave open which records go, and it matters.
        """
        if (self.moving and self.uses_reference) or self.of_table or self.keep_rows or self.weighted:
            raise TooClose
        cells, everyone = self.at(levels), list(range(self.size))
        gone: set[int] = set()
        for own in self.without(cells, set()).classes():
            stays: Sequence[int] = next(
                stays
                for size in range(len(own), -1, -1)
                for stays in combinations(own, size)
                if not stays or self.class_holds(stays, everyone)
            )
            gone |= set(own) - set(stays)
        return self.without(cells, gone, levels) if self.within_limit(gone) else None

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
        if self.weighted:
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
        return self.within_limit([i for i, own in enumerate(chosen) if own is None])

    # ------------------------------------------------------------------------------------------------ local

    def best_local(self) -> float | None:
        """Return the lowest loss over all partitions and choices of records to suppress.

        Each class is published at the lowest nodes that its records share.
        """
        if self.of_table or (self.moving and self.uses_reference and self.case.limit) or self.keep_rows:
            raise TooClose
        if self.aggregate != "arithmetic-mean" or self.metric not in ("loss", "ncp") or self.whole:
            raise TooClose
        everyone, best = list(range(self.size)), inf
        costs: dict[tuple[int, ...], float] = {}

        def cost(block: tuple[int, ...]) -> float:
            if block not in costs:
                costs[block] = self._block_cost(block) if self.class_holds(block, everyone) else inf
            return costs[block]

        for number in range(1, self.size + 1):
            for stays in combinations(everyone, number):
                gone = [i for i in everyone if i not in stays]
                if not self.within_limit(gone):
                    continue
                lost = float(sum((self.shares[i] for i in gone), Fraction(0)))
                for blocks in partitions(stays):
                    best = min(best, sum(map(cost, blocks)) + lost)
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
        return float(total / weights * sum((self.shares[i] for i in block), Fraction(0)))


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


def grouped(shown: dict[int, Any]) -> list[list[int]]:
    """Return the records with equal keys."""
    found: dict[Any, list[int]] = {}
    for i, key in shown.items():
        found.setdefault(key, []).append(i)
    return list(found.values())
