"""Random problems for every kind of search: any table, or numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from anonymizer.model.features import SuppressionMethod
from anonymizer.search.base import SearchProblem
from tests.helpers import problems
from tests.strategies import REFERENCED, constraint, sensitive, table
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, Value
from tests.twins.search import ProblemSpec

MakeTable = Callable[[Random, int], Microdata]


@dataclass(frozen=True)
class Asked:
    """One problem, as the twins read it and as the searches do."""

    spec: ProblemSpec
    problem: SearchProblem

    def permuted(self, random: Random, method: SuppressionMethod) -> Asked:
        """Return the problem with the records in another order."""
        records = list(self.spec.data.records)
        random.shuffle(records)
        return asked(replace(self.spec, data=replace(self.spec.data, records=tuple(records))), method)


def asked(spec: ProblemSpec, method: SuppressionMethod) -> Asked:
    """Return a problem; numbers with a tree of two levels lose by their range, as without one."""
    problem = problems.problem(spec)
    own = tuple(
        replace(attribute, by_range=plain.numeric and plain.height == 1 and plain.maximum == 1)
        for attribute, plain in zip(problem.table.quasi_identifiers, spec.data.quasi_identifiers, strict=True)
    )
    searched = replace(problem.table, quasi_identifiers=own)
    return Asked(spec, replace(problem, table=searched, suppression=method))


def any_table(random: Random, most: int) -> Microdata:
    """Return a table whose hierarchies are topped by a star as often as not."""
    data = table(random, most=most)
    if random.random() < 0.5:
        return data
    kept_suppressed = (
        replace(spec, paths={value: (*path[:-1], "*") for value, path in spec.paths.items()})
        if spec.height
        else spec
        for spec in data.quasi_identifiers
    )
    return replace(data, quasi_identifiers=tuple(kept_suppressed))


def numbers(random: Random, most: int) -> Microdata:
    """Return a table of numbers without hierarchies, some of them missing."""
    secret = tuple(sensitive(random, name) for name in ("s", "t")[: random.choice((1, 1, 2))])
    records = random.randint(4, most)
    columns = [_cells(random, records) for _ in range(random.randint(1, 3))]
    own = tuple(
        QuasiIdentifierSpec(
            f"q{i}",
            {value: ("<missing>" if value is None else str(value), "*") for value in dict.fromkeys(cells)},
            numeric=True,
            weight=1.0 if i == 0 else random.choice((1.0, 0.0, 2.5)),
            maximum=1,
        )
        for i, cells in enumerate(columns)
    )
    private = [[random.choice(list(spec.paths or ())) for _ in range(records)] for spec in secret]
    return Microdata(own, secret, tuple(zip(*columns, *private, strict=True)))


def _cells(random: Random, records: int) -> list[Value]:
    known: list[Value] = list(random.sample(range(-3, 40), random.randint(1, 8)))
    cells = [random.choice(known) for _ in range(records)]
    if random.random() < 0.25:
        cells[1:] = [None if random.random() < 0.3 else cell for cell in cells[1:]]
    return cells


def about(random: Random, data: Microdata, models: Sequence[str], metrics: Sequence[str]) -> ProblemSpec:
    """Return a problem with these models, the rest of it at random."""
    constraints = tuple(constraint(random, data, name) for name in models)
    sizes = [own.parameters["k"] for own in constraints if own.model == "k-anonymity"]
    return ProblemSpec(
        data,
        constraints,
        random.choice(metrics),
        random.choice(("arithmetic-mean", "arithmetic-mean", "geometric-mean", "maximum")),
        random.choice((0, 0, 1, 2, 3, 5, 10)) * len(data.records) // 10,
        random.random() < 0.3,
        bool(set(models) & set(REFERENCED)) and random.random() < 0.5,
        sizes[0] if sizes else None,
    )
