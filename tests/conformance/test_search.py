"""Every registered search algorithm conforms; one that lies does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from anonymizer.model.table import Table
from anonymizer.search.base import SEARCH_ALGORITHMS, SearchAlgorithm
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.testing import check_search_algorithm
from anonymizer.testing.samples import numeric_tables, tables
from tests.conformance.liars import LIARS, Hoarder, Sentimental, Shallow, Spender, Unattacked


def test_there_are_algorithms_to_check() -> None:
    assert len(SEARCH_ALGORITHMS) > 0


Samples = Callable[[int, int], Iterator[Table]]
TAKES_NUMBERS = {"microaggregation"}
SLOW = ("local", "auto")
"""They improve until their budget ends."""


def check_few(name: str, samples: Samples, number: int) -> None:
    """Run the suite on so many tables, for slow algorithms with a budget and on fewer."""
    if name in SLOW:
        check_search_algorithm(SEARCH_ALGORITHMS[name](), 0, lambda seed: samples(seed, number // 3), 8)
    else:
        check_search_algorithm(SEARCH_ALGORITHMS[name](), 0, lambda seed: samples(seed, number))


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", SEARCH_ALGORITHMS)
def test_conforms(name: str) -> None:
    # The lattice solves programmes for suppressed cells; the slow tests show it more tables.
    check_few(name, numeric_tables if name in TAKES_NUMBERS else tables, 6 if name == "lattice" else 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCH_ALGORITHMS)
def test_conforms_on_numbers_without_hierarchies(name: str) -> None:
    check_few(name, numeric_tables, 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCH_ALGORITHMS)
def test_conforms_on_more_tables(name: str) -> None:
    samples = numeric_tables if name in TAKES_NUMBERS else tables
    # What is picked is one of the others, which see all tables.
    number = 5 if name == "auto" else 12
    check_search_algorithm(
        SEARCH_ALGORITHMS[name](),
        1,
        lambda own: samples(own, number),
        30 if name in SLOW else None,
    )


def check_often(algorithm: SearchAlgorithm) -> None:
    """Run the suite with several seeds."""
    # The attackers of the first seed mind nothing.
    first = 1 if isinstance(algorithm, Unattacked) else 0
    for seed in range(first, 20):
        check_search_algorithm(algorithm, seed)


# Attackers are asked often before one is lied to; tests/run/test_linkage_risk.py has the same fault.
DEARLY = {Hoarder, Sentimental, Shallow, Spender, Unattacked}


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        pytest.param(broken, said, marks=[pytest.mark.slow] * (broken in DEARLY))
        for broken, said in LIARS.items()
    ],
)
def test_a_false_outcome_is_found(broken: type[Lattice], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_often(broken())
