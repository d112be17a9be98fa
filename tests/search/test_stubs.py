"""How the search reacts to a model that everything or nothing satisfies, and to a metric without bounds."""

from __future__ import annotations

import pytest

from anonymizer.errors import Interrupted
from anonymizer.loss.base import LossMetric
from anonymizer.model.recoding import Status
from anonymizer.privacy.base import ClassConstraint, ClassModel, PrivacyModel, TableConstraint, TableModel
from anonymizer.search.base import Control, Progress, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers import build, stubs
from tests.helpers.problems import metric
from tests.twins.loss import TwinRelease
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.search import BruteForce, ProblemSpec

DATA = Microdata(
    (
        QuasiIdentifierSpec("x", {v: (v, "xy" if v < "z" else "z-", "*") for v in "xyz"}, maximum=2),
        QuasiIdentifierSpec(
            "n", {v: (str(v), "low" if v < 5 else "high", "*") for v in (1, 3, 7, 9)}, maximum=2
        ),
    ),
    (SensitiveSpec("s"),),
    tuple((x, n, s) for x, n, s in zip("xyzxyzxz", (1, 3, 7, 9, 1, 3, 7, 9), "aabbabab", strict=True)),
)


def problem(model: PrivacyModel, loss: LossMetric, *, keep_rows: bool = False) -> SearchProblem:
    classes = (ClassConstraint(model=model),) if isinstance(model, ClassModel) else ()
    tables = (TableConstraint(model=model),) if isinstance(model, TableModel) else ()
    return SearchProblem(
        build.table(DATA), classes, tables, loss, 0, keep_rows, moving_reference=False, k=None
    )


def nodes() -> int:
    return len(list(BruteForce(ProblemSpec(DATA, ())).nodes()))


def test_a_model_that_always_holds_loses_nothing() -> None:
    outcome = Lattice().search(problem(stubs.AlwaysHolds(stubs.NoParameters()), metric("loss")), Control())
    assert outcome.status is Status.SATISFIED
    assert outcome.objective == 0
    assert outcome.optimal
    assert outcome.recoding.levels == tuple(own.minimum for own in DATA.quasi_identifiers)


@pytest.mark.parametrize("keep_rows", [False, True])
@pytest.mark.parametrize("stub", [stubs.AlwaysFails, stubs.WholeAlwaysFails])
def test_a_model_that_always_fails_is_infeasible(stub: type[PrivacyModel], keep_rows: bool) -> None:
    asked = problem(stub(stubs.NoParameters()), metric("loss"), keep_rows=keep_rows)
    outcome = Lattice().search(asked, Control())
    assert outcome.status is Status.INFEASIBLE
    assert outcome.recoding is None
    assert outcome.objective is None
    assert not outcome.optimal


def test_a_metric_without_bounds_is_optimised_by_evaluating_every_node() -> None:
    outcome = Lattice().search(
        problem(stubs.AlwaysHolds(stubs.NoParameters()), stubs.FewClasses()), Control()
    )
    brute = BruteForce(ProblemSpec(DATA, ()))
    fewest = min(len(brute.classes(levels)) for levels in brute.nodes())
    assert outcome.objective == fewest
    assert outcome.optimal
    assert outcome.evaluated == outcome.candidates == nodes()


def test_a_spent_budget_is_undecided() -> None:
    asked = problem(stubs.WholeAlwaysFails(stubs.NoParameters()), metric("loss"))
    outcome = Lattice().search(asked, Control(nodes=1))
    assert outcome.status is Status.UNDECIDED
    assert outcome.evaluated == 1
    assert outcome.bound is not None
    assert Lattice().search(asked, Control(seconds=0)).evaluated == 1


def test_a_metric_without_bounds_proves_nothing_early() -> None:
    asked = problem(stubs.AlwaysHolds(stubs.NoParameters()), stubs.FewClasses())
    outcome = Lattice().search(asked, Control(nodes=2))
    assert outcome.status is Status.SATISFIED
    assert not outcome.optimal
    assert outcome.bound is None
    assert outcome.gap is None


def test_an_interruption_keeps_the_best_found() -> None:
    holds = problem(stubs.AlwaysHolds(stubs.NoParameters()), stubs.FewClasses())
    asked = iter([False, True])
    outcome = Lattice().search(holds, Control(stopped=lambda: next(asked)))
    assert outcome.interrupted
    assert outcome.recoding is not None
    with pytest.raises(Interrupted):
        Lattice().search(holds, Control(stopped=lambda: True))


def test_a_budget_that_ends_before_anything_is_found_leaves_the_most_general_release() -> None:
    holds = problem(stubs.AlwaysHolds(stubs.NoParameters()), stubs.FewClasses())
    outcome = Lattice().search(holds, Control(seconds=0))
    assert outcome.status is Status.SATISFIED
    assert outcome.recoding.levels == (2, 2)
    assert outcome.steps == ()


def test_progress_is_told() -> None:
    told: list[Progress] = []
    asked = problem(stubs.AlwaysHolds(stubs.NoParameters()), metric("loss"))
    Lattice().search(asked, Control(listen=told.append))
    assert told
    assert told[0].candidates == nodes()


def test_the_twin_knows_the_classes() -> None:
    """What the tests above compare with: a release of every record has classes that add up."""
    brute = BruteForce(ProblemSpec(DATA, ()))
    for levels in brute.nodes():
        classes = brute.classes(levels)
        release = TwinRelease(DATA, levels, tuple(map(len, classes)), frozenset(), 0, None)
        assert sum(release.class_sizes) == len(DATA.records)
