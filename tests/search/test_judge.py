"""Small tables judged by hand: what is suppressed, what stays with stars, and when nothing is left."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from anonymizer.model.labels import SUPPRESSED
from anonymizer.search.base import Control
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.suppressor import WholeClasses
from tests.helpers.problems import problem
from tests.strategies import problems
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec, Value
from tests.twins.search import ConstraintSpec, ProblemSpec

K2 = ConstraintSpec("k-anonymity", {"k": 2})


def asked(
    classes: dict[str, tuple[Value, ...]], *constraints: ConstraintSpec, numeric: bool = False
) -> ProblemSpec:
    """Return a problem on one quasi-identifier that cannot be generalized: its values are the classes."""
    own = QuasiIdentifierSpec("q", {label: (label, "*") for label in classes})
    records = tuple((label, value) for label, values in classes.items() for value in values)
    return ProblemSpec(Microdata((own,), (SensitiveSpec("s", None, numeric),), records), constraints)


def judged(spec: ProblemSpec) -> CandidateVerdict:
    """Return the verdict on the only node."""
    own = problem(spec)
    return Judge(own).judge(RollUp.of(own.table).classes((0,)))


def kept(verdict: CandidateVerdict) -> str:
    return "".join("ABCDEF"[i] for i in np.flatnonzero(verdict.kept))


def test_failing_classes_are_dropped_within_the_limit() -> None:
    spec = asked({"A": ("a", "b"), "B": ("a",), "C": ("a", "a")}, K2)
    assert judged(replace(spec, limit=0)).failed == ("suppression.limit",)
    verdict = judged(replace(spec, limit=1))
    assert verdict.valid
    assert kept(verdict) == "AC"
    assert verdict.suppressed == 1
    assert verdict.losses.tolist() == [0, 1, 0]


def test_a_release_without_records_is_not_valid() -> None:
    spec = replace(asked({"A": ("a",), "B": ("b",)}, K2), limit=2)
    assert not judged(spec).valid
    kept_suppressed = judged(replace(spec, keep_rows=True))
    assert kept_suppressed.valid
    assert kept_suppressed.kept_suppressed
    assert kept_suppressed.suppressed == 2


GAIN = ConstraintSpec("basic-beta-likeness", {"beta": 1.7}, "s")
SHIFTING = asked({"A": ("a", "a"), "B": ("b",) * 4, "C": ("a",), "D": ("b",)}, K2, GAIN)
"""(1 - 3/8) / (3/8) is below 1.7 in A; without C and D, p(a) is 1/3 and the gain 2."""


@given(spec=problems())
def test_counts_of_values_alone_show_what_the_reference_of_the_release_drops(spec: ProblemSpec) -> None:
    own = problem(spec)
    suppressor = WholeClasses(own)
    classes = RollUp.of(own.table).classes([each.minimum for each in own.table.quasi_identifiers])
    constraints = [each for each in own.class_constraints if each.model.uses_reference]
    kept = suppressor.under_input(classes).least == 0
    by_records = suppressor._units_closed(constraints, classes, kept)
    assert suppressor._closed(constraints, classes, kept).tolist() == by_records.tolist()


@given(spec=problems())
def test_what_p_of_the_input_suppresses_bounds_the_loss(spec: ProblemSpec) -> None:
    own = problem(replace(spec, moving_reference=True))
    judge, rollup = Judge(own), RollUp.of(own.table)
    loss = own.metric.on_lattice(own.table, own.k, own.minimum_size)
    ranges = [range(each.minimum, each.maximum + 1) for each in own.table.quasi_identifiers]
    for levels in product(*ranges):
        classes = rollup.classes(levels)
        first = judge.under_input(classes)
        gone = judge.judge(classes, first).gone
        assert not judge.drops_more or (first.gone <= gone).all()
        least, objective = (loss.at_least(levels, rollup.marginals(each)) for each in (first.gone, gone))
        assert not judge.drops_more or least <= objective + 1e-12


@given(spec=problems())
def test_what_is_ruled_out_by_p_of_the_input_is_worse(spec: ProblemSpec) -> None:
    own = problem(replace(spec, moving_reference=True))
    outcome = Lattice().search(own, Control())
    judge, rollup = Judge(own), RollUp.of(own.table)
    loss = own.metric.on_lattice(own.table, own.k, own.minimum_size)
    for step in outcome.steps:
        if step.proof is not None and outcome.objective is not None:
            levels = tuple(step.candidate[each.name] for each in own.table.quasi_identifiers)
            classes = rollup.classes(levels)
            verdict = judge.judge(classes)
            assert step.suppressed <= verdict.suppressed
            assert outcome.objective < step.at_least
            assert step.at_least <= loss.at_least(levels, rollup.marginals(verdict.gone)) + 1e-12


def test_a_transformation_that_p_of_the_input_makes_worse_is_not_judged_again() -> None:
    tree = {label: (label, group, "*") for label, group in zip("ABCD", "xxyy", strict=True)}
    rows = {"A": "bbbbb", "B": "aabbb", "C": "aabb", "D": "aaaaa"}
    records = tuple((label, value) for label, values in rows.items() for value in values)
    data = Microdata((QuasiIdentifierSpec("q", tree, maximum=2),), (SensitiveSpec("s"),), records)
    closeness = ConstraintSpec("t-closeness", {"t": 0.2}, "s")
    spec = ProblemSpec(data, (closeness,), limit=len(records), moving_reference=True)
    outcome = Lattice().search(problem(spec), Control())
    first, second = outcome.steps[:2]
    assert first.accepted
    assert first.candidate == {"q": 0}
    # Both groups are further from p than 0.2, so nothing would stay.
    assert second.candidate == {"q": 1}
    assert (second.objective, second.suppressed) == (None, len(records))
    assert second.at_least == pytest.approx(1.0)
    assert second.proof == "what p of the input suppresses loses more than the best"


def test_the_reference_of_the_input_stands() -> None:
    verdict = judged(replace(SHIFTING, limit=2))
    assert verdict.valid
    assert kept(verdict) == "AB"


@pytest.mark.parametrize(("limit", "valid"), [(2, False), (4, True)])
def test_the_reference_of_the_release_is_a_fixpoint(limit: int, valid: bool) -> None:
    verdict = judged(replace(SHIFTING, limit=limit, moving_reference=True))
    assert verdict.valid is valid
    assert kept(verdict) == "B"
    assert verdict.suppressed == 4
    assert verdict.losses.tolist() == [0, 0, 1, 1]


def test_records_that_stay_with_stars_leave_the_reference_as_it_is() -> None:
    spec = replace(SHIFTING, limit=2, moving_reference=True, keep_rows=True)
    verdict = judged(spec)
    assert verdict.valid
    assert verdict.kept_suppressed
    assert kept(verdict) == "AB"
    outcome = Lattice().search(problem(spec), Control())
    (column,) = outcome.recoding.published()
    assert not outcome.recoding.removed.any()
    assert {column.labels[code] for code in column.codes} == {"A", "B", SUPPRESSED}


def test_stars_that_fail_a_model_are_removed_and_the_fixpoint_goes_on() -> None:
    spec = asked({"A": ("a", "a"), "B": ("b",) * 4, "C": ("a",), "D": ("c",)}, K2, GAIN)
    verdict = judged(replace(spec, limit=8, moving_reference=True, keep_rows=True))
    assert not verdict.kept_suppressed
    assert kept(verdict) == "B"
    assert verdict.suppressed == 4


def test_values_that_left_do_not_stretch_the_order() -> None:
    """Without C there are two values: their distance is 1, and A is 1/2 away from p."""
    closeness = ConstraintSpec("t-closeness", {"t": 0.45}, "s")
    spec = asked({"A": (1, 1), "B": (2, 2), "C": (3,)}, K2, closeness, numeric=True)
    assert kept(judged(replace(spec, limit=5))) == "AB"
    assert kept(judged(replace(spec, limit=5, moving_reference=True))) == ""


def test_a_model_of_the_whole_table_rejects_what_suppression_does_not_repair() -> None:
    whole = ConstraintSpec("vulnerability", {"max": 0.4})
    spec = asked({"A": ("a", "b"), "B": ("a",), "C": ("a", "a")}, K2, whole)
    assert judged(replace(spec, limit=1)).failed == ("vulnerability",)
    assert judged(replace(spec, limit=1, keep_rows=True)).failed == ("vulnerability",)
    loose = ConstraintSpec("vulnerability", {"max": 0.5})
    assert judged(replace(spec, limit=1, constraints=(K2, loose))).valid
