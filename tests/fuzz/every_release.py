"""The best of all releases of a tiny table, under attackers too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import inf

import numpy as np

from anonymizer.model.recoding import NodeRecoding, Outcome, Recoding
from anonymizer.search.base import SearchProblem
from tests.helpers import build
from tests.twins.feasible import Feasibility, Labels, LocalNodes
from tests.twins.linkage import exact_linkage
from tests.twins.local_optimum import CELLS
from tests.twins.search import ConstraintSpec, ProblemSpec

MOST = 40_000
"""Most releases that lose less than an outcome; a problem with more is left out."""

MOST_ATTACKED = 2_000
"""Most of them that an attack of the package is run on."""

Classes = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
"""Rows and levels of each class; all rows that are in none are removed."""


@dataclass(frozen=True)
class Best:
    """What brute force says of an outcome.

    Attributes
    ----------
    valid: whether the outcome may be released; True without one.
    objective: the least loss of all releases; None if none may be released.
    """

    valid: bool
    objective: float | None


class TooMany(Exception):
    """There are more releases than can be tried."""


def best_of(
    spec: ProblemSpec,
    attackers: Sequence[ConstraintSpec],
    own: SearchProblem,
    outcome: Outcome,
    algorithm: str,
) -> Best | None:
    """Return the best release of a problem, None if there are too many to try.

    Parameters
    ----------
    own: the problem, whose attack checks judge what no twin does.
    algorithm: that found the outcome.
    """
    releases = Releases(spec, attackers, own)
    found = None if outcome.recoding is None else releases.classes_of(outcome.recoding)
    valid = found is None or releases.valid(found, outcome.objective)
    below = inf if outcome.objective is None else outcome.objective - 1e-9
    try:
        least = releases.best_full_domain() if algorithm == "lattice" else releases.best(below)
    except TooMany:
        return Best(valid, None) if not valid else None
    if least is None and valid:
        least = outcome.objective
    return Best(valid, least)


class Releases(Feasibility):
    """All releases along the hierarchies of a problem that keeps no suppressed rows.

    Parameters
    ----------
    attackers: constraints that attacks measure.
    own: the same problem of the package.
    """

    def __init__(self, problem: ProblemSpec, attackers: Sequence[ConstraintSpec], own: SearchProblem) -> None:
        super().__init__(problem)
        self._attackers = attackers
        self._own = own
        self._publishing = LocalNodes(problem)
        _, row_of = build.table_and_rows(self.data)
        self._row_of = row_of
        self._cost = cache(self._cost_of)
        self._choices = cache(self._choices_of)

    # ------------------------------------------------------------------------ what they lose

    def _cost_of(self, row: int, levels: tuple[int, ...]) -> float:
        specs, cell = self.data.quasi_identifiers, CELLS[self.problem.metric]
        weights = sum(each.weight for each in specs)
        return sum(
            each.weight / weights * cell(self.data, place, levels[place], self.data.records[row][place])
            for place, each in enumerate(specs)
        )

    def loss(self, classes: Classes) -> float:
        """Return the loss of a release; what is removed loses everything."""
        kept = sum(len(rows) for rows, _ in classes)
        lost = sum(self._cost(row, levels) for rows, levels in classes for row in rows)
        return (lost + len(self._rows) - kept) / len(self._rows)

    # ------------------------------------------------------------------------ which are valid

    def classes_of(self, recoding: Recoding) -> Classes:
        """Return the classes of a recoding of the package; rows that are alike are anybody's."""
        waiting = {row: np.flatnonzero(self._row_of == row).tolist() for row in set(self._row_of.tolist())}
        cells = [recoding.cells(place) for place in range(len(self.data.quasi_identifiers))]
        found: dict[Labels, list[int]] = {}
        for i, (row, records) in enumerate(
            zip(recoding.owners.tolist(), recoding.table.counts.tolist(), strict=True)
        ):
            for _ in range(records):
                record = waiting[row].pop()
                if not recoding.removed[i]:
                    labels = tuple(each.labels[each.codes[i]] for each in cells)
                    found.setdefault(labels, []).append(record)
        return tuple((tuple(rows), self._levels(labels, rows)) for labels, rows in found.items())

    def _levels(self, labels: Labels, rows: Sequence[int]) -> tuple[int, ...]:
        """Return the lowest level of each label on the path of every record of a class.

        Raises
        ------
        ValueError: a label is not on the path of a record.
        """
        found = []
        for place, (spec, label) in enumerate(zip(self.data.quasi_identifiers, labels, strict=True)):
            paths = [spec.paths[value] for value in self.data.column(place, list(rows))]
            shared = [
                level for level in range(spec.height + 1) if all(path[level] == label for path in paths)
            ]
            found.append(shared[0])
        return tuple(found)

    def valid(self, classes: Classes, objective: float | None) -> bool:
        """Return whether an outcome may be released and loses what it says."""
        removed = len(self._rows) - sum(len(rows) for rows, _ in classes)
        held = all(self.holds(list(rows), self._rows) for rows, _ in classes)
        same = objective is not None and abs(self.loss(classes) - objective) <= 1e-9
        return bool(classes) and removed <= self.problem.limit and held and same and self._passes(classes)

    def _passes(self, classes: Classes) -> bool:
        """Return whether a release satisfies the constraints on the whole table, and attackers."""
        return self.table_holds([list(rows) for rows, _ in classes]) and self._refused(classes) is None

    def _refused(self, classes: Classes) -> ConstraintSpec | None:
        others = []
        for each in self._attackers:
            if each.model == "linkage-risk" and "linkage" not in each.parameters:
                if self.linked(classes) > Fraction(str(each.parameters["max"])):
                    return each
            else:
                others.append(each)
        if others and self._own.gate.first_violated(self._own.table, self._recoding(classes)):
            return others[0]
        return None

    def linked(self, classes: Classes) -> Fraction:
        """Return the share of right links of an adversary who takes the narrowest class that fits."""
        specs = self.data.quasi_identifiers
        covering: list[dict[str, set[object]]] = [{} for _ in specs]
        labels: dict[int, Labels] = {}
        for rows, levels in classes:
            own = []
            for place, (spec, level) in enumerate(zip(specs, levels, strict=True)):
                value = self.data.records[rows[0]][place]
                name = f"{level}:{spec.paths[value][level]}"
                present = {each[place] for each in self.data.records}
                leaves = {v for v, path in spec.paths.items() if path[level] == spec.paths[value][level]}
                covering[place][name] = {str(each) for each in leaves & present}
                own.append(name)
            for row in rows:
                labels[row] = tuple(own)
        kept = sorted(labels)
        return exact_linkage(
            [[str(cell) for cell in record[: len(specs)]] for record in self.data.records],
            [labels[row] for row in kept],
            [kept.index(row) if row in labels else None for row in self._rows],
            lambda place, text, value: value in covering[place][text],
            lambda place, text: len(covering[place][text]),
        )

    def _recoding(self, classes: Classes) -> NodeRecoding:
        """Return a release as the package has it, a row for each record."""
        order = np.argsort(self._row_of, kind="stable")
        owner = self._row_of[order]
        table = self._own.table
        levels = np.array([[each.maximum for each in self.data.quasi_identifiers]] * len(self._rows))
        gone = np.ones(len(self._rows), dtype=bool)
        for rows, own in classes:
            levels[list(rows)] = own
            gone[list(rows)] = False
        nodes = np.empty(levels.shape, dtype=np.int32)
        for place, attribute in enumerate(table.quasi_identifiers):
            codes = table.quasi_identifier_codes(place)[self._row_of]
            for level in set(levels[:, place].tolist()):
                at = levels[:, place] == level
                nodes[at, place] = attribute.nodes(level)[codes[at]]
        split = table.split(owner, np.ones(len(owner), dtype=np.int64))
        return NodeRecoding(split, nodes[order], gone[order], gone[order], owner)

    # ------------------------------------------------------------------------ the best one

    def best_full_domain(self) -> float | None:
        """Return the least loss of a full-domain release, None without one."""
        for each in sorted(self.valid_nodes(), key=self.loss):
            if self._refused(each) is None:
                return self.loss(each)
        return None

    def valid_nodes(self) -> Iterator[Classes]:
        """Yield the releases of the nodes that satisfy all but the attackers."""
        for levels in self.nodes():
            found = self.evaluate(levels)
            if found is not None:
                classes = [
                    [row for row in rows if row not in found.suppressed] for rows in self.classes(levels)
                ]
                yield tuple((tuple(rows), levels) for rows in classes if rows)

    def best(self, below: float) -> float | None:
        """Return the least loss below a number of a release, None without one.

        Raises
        ------
        TooMany: they are too many to try.
        """
        found: list[tuple[float, Classes]] = []
        for number in range(self.problem.limit + 1):
            for gone in combinations(self._rows, number):
                rest = tuple(row for row in self._rows if row not in gone)
                room = below * len(self._rows) - number
                for lost, classes in self._divided(rest, room, frozenset()) if rest and room > 0 else ():
                    found.append(((lost + number) / len(self._rows), classes))
                    if len(found) > MOST:
                        raise TooMany
        attacked = any(
            "linkage" in each.parameters or each.model != "linkage-risk" for each in self._attackers
        )
        for tried, (lost, classes) in enumerate(sorted(found)):
            if attacked and tried > MOST_ATTACKED:
                raise TooMany
            if self._passes(classes):
                return lost
        return None

    def _divided(
        self, rows: tuple[int, ...], room: float, taken: frozenset[Labels]
    ) -> Iterator[tuple[float, Classes]]:
        """Yield what some rows lose in classes that hold, and these, if that is below a number.

        Parameters
        ----------
        taken: labels of other classes.
        """
        if not rows:
            yield 0.0, ()
            return
        first, rest = rows[0], rows[1:]
        for number in range(len(rest) + 1):
            for others in combinations(rest, number):
                own = (first, *others)
                choices = [each for each in self._choices(own) if each[0] < room and each[2] not in taken]
                left = tuple(row for row in rest if row not in others) if choices else ()
                for cost, levels, labels in choices:
                    for lost, classes in self._divided(left, room - cost, taken | {labels}):
                        yield cost + lost, ((own, levels), *classes)

    def _choices_of(self, rows: tuple[int, ...]) -> list[tuple[float, tuple[int, ...], Labels]]:
        """Return what a class loses with each vector of labels that its records share; none if it fails."""
        if not self.holds(list(rows), self._rows):
            return []
        found = []
        for labels in self._publishing.labels(list(rows)):
            levels = tuple(
                min(
                    level
                    for level in range(spec.minimum, spec.maximum + 1)
                    if spec.paths[self.data.records[rows[0]][place]][level] == labels[place]
                )
                for place, spec in enumerate(self.data.quasi_identifiers)
            )
            found.append((sum(self._cost(row, levels) for row in rows), levels, labels))
        return sorted(found)
