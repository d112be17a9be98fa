"""Searches that do not keep what they promise, each in a way of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonymizer.model.recoding import FullDomainRecoding, NodeRecoding, Outcome, Status
from anonymizer.search.base import AttackCheck, Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice


class Boaster(Lattice):
    """Claims a lower loss than the release has."""

    name = "boaster"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        found = super().search(problem, control)
        if found.objective is None:
            return found
        return replace(found, objective=found.objective - 0.1, bound=found.objective - 0.1)


class Spender(Lattice):
    """Suppresses more than it may."""

    name = "spender"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        return super().search(replace(problem, limit=problem.table.records), control)


class Careless(Lattice):
    """Leaves out a constraint."""

    name = "careless"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        return super().search(replace(problem, class_constraints=problem.class_constraints[1:]), control)


class Sentimental(Lattice):
    """Takes the other distribution for the reference."""

    name = "sentimental"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        return super().search(replace(problem, moving_reference=not problem.moving_reference), control)


class Shallow(Lattice):
    """Does not ask the models of the whole table."""

    name = "shallow"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        return super().search(replace(problem, table_constraints=()), control)


class Unattacked(Lattice):
    """Does not ask the attackers."""

    name = "unattacked"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        return super().search(replace(problem, gate=AttackCheck()), control)


class Hoarder(Lattice):
    """Keeps the rows that it suppresses, though it must not."""

    name = "hoarder"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        return super().search(replace(problem, keep_rows=True), control)


class Pessimist(Lattice):
    """Gives up, and calls that a proof."""

    name = "pessimist"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        return Outcome(Status.INFEASIBLE, None, None, None, 1, 1)


class Forgetful(Lattice):
    """Loses a record of every combination that has several."""

    name = "forgetful"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        found = super().search(problem, control)
        if found.recoding is None:
            return found
        table, rows = problem.table, np.arange(problem.table.combinations)
        own = found.recoding
        assert own.levels is not None
        fewer = table.split(rows, np.maximum(table.counts - 1, 1))
        return replace(
            found, recoding=FullDomainRecoding(fewer, own.levels, own.suppressed, own.removed, rows)
        )


class Liar(Lattice):
    """Publishes the smallest value for everybody."""

    name = "liar"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        found = super().search(problem, control)
        if found.recoding is None:
            return found
        own = problem.table.quasi_identifiers
        nodes = np.tile([attribute.nodes(0)[0] for attribute in own], (problem.table.combinations, 1))
        return replace(
            found,
            recoding=NodeRecoding(
                problem.table, nodes.astype(np.int32), found.recoding.suppressed, found.recoding.removed
            ),
        )


class Whimsical(Lattice):
    """Answers differently every other time."""

    name = "whimsical"

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        self._asked += 1
        limit = problem.limit if self._asked % 2 else 0
        return super().search(replace(problem, limit=limit), control)


LIARS: dict[type[Lattice], str] = {
    Boaster: "the release has loss",
    Spender: "the limit is",
    Careless: "fails k-anonymity",
    Sentimental: "the release fails",
    Shallow: "fails vulnerability",
    Unattacked: "fails linkage-risk",
    Hoarder: "keep_rows is off",
    Pessimist: "all records as one class",
    Forgetful: "more or fewer records",
    Liar: "does not cover its records",
    Whimsical: "two runs differ",
}
"""What the suite for authors says of each."""
