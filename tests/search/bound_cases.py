"""Random small problems under k-anonymity whose best local recoding is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import SearchProblem
from tests import strategies
from tests.helpers import adult, build, problems
from tests.twins.local_optimum import CELLS, LocalOptimum
from tests.twins.microdata import Microdata
from tests.twins.search import ConstraintSpec, ProblemSpec

RECORDS = 9
"""Most records of a case in which nearly all differ."""


@dataclass(frozen=True)
class Case:
    """A problem and the twin that knows its optimum."""

    problem: SearchProblem
    twin: LocalOptimum


def case(seed: int) -> Case:
    """Return a problem; some have few distinct combinations with many records each."""
    random = Random(seed)
    data = strategies.table(random, most=RECORDS)
    if random.random() < 0.4:
        few = random.sample(data.records, min(len(data.records), 3))
        repeated = tuple(row for row in few for _ in range(random.randint(1, 4)))
        data = Microdata(data.quasi_identifiers, data.sensitive, repeated)
    k = random.choice((1, 2, 2, 3, 3, 4, 5))
    limit = random.choice((0, 0, 1, 2, len(data.records)))
    metric = random.choice(sorted(CELLS))
    spec = ProblemSpec(data, (ConstraintSpec("k-anonymity", {"k": k}),), metric, limit=limit, k=k)
    own = problems.problem(replace(spec, keep_rows=random.random() < 0.3))
    return Case(own, LocalOptimum(data, k, limit, metric))


def adult_problem(k: int) -> SearchProblem:
    """Return Adult with 9 quasi-identifiers and a limit of 2 %."""
    table = adult.table(adult.ALL)
    constraint = ClassConstraint(model=build.model("k-anonymity", {"k": k}))
    limit = table.records // 50
    return SearchProblem(table, (constraint,), (), problems.metric("loss"), limit, False, False, k)
