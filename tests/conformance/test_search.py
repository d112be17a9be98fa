"""Every registered search algorithm conforms; one that lies does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anonymizer.core.outcome import Outcome
from anonymizer.search.base import Problem
from anonymizer.search.control import Control
from anonymizer.search.lattice import Lattice
from anonymizer.search.registry import SEARCH_ALGORITHMS
from anonymizer.testing import check_search_algorithm


def test_there_are_algorithms_to_check() -> None:
    assert len(SEARCH_ALGORITHMS) > 0


OF_NUMBERS = {"microaggregation"}
"""Refuse the text columns of the suite; tests/search/test_microaggregation_models.py has tables for them."""


@pytest.mark.parametrize("name", sorted(set(SEARCH_ALGORITHMS) - OF_NUMBERS))
def test_conforms(name: str) -> None:
    check_search_algorithm(SEARCH_ALGORITHMS[name]())


class Boaster(Lattice):
    """Claims a lower loss than the release has."""

    name = "boaster"

    def search(self, problem: Problem, control: Control) -> Outcome:
        found = super().search(problem, control)
        if found.objective is None:
            return found
        return replace(found, objective=found.objective - 0.1, bound=found.objective - 0.1)


class Spender(Lattice):
    """Suppresses more than it may."""

    name = "spender"

    def search(self, problem: Problem, control: Control) -> Outcome:
        return super().search(replace(problem, limit=problem.table.records), control)


class Careless(Lattice):
    """Leaves out a constraint."""

    name = "careless"

    def search(self, problem: Problem, control: Control) -> Outcome:
        return super().search(replace(problem, class_constraints=problem.class_constraints[1:]), control)


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [(Boaster, "the release has loss"), (Spender, "the limit is"), (Careless, "fails k-anonymity")],
)
def test_a_false_outcome_is_found(broken: type[Lattice], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_search_algorithm(broken())
