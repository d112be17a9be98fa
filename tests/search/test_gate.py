"""Attackers in the search: the release is the best of those that they do not break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.adversary.candidate import adversary_of
from anonymizer.attacks.base import AttackResult
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import released
from anonymizer.model.recoding import Outcome, Status
from anonymizer.privacy.base import AttackModel, ClassConstraint, ReleaseConstraint, RiskSettings
from anonymizer.privacy.linkage_risk import LinkageRisk
from anonymizer.search import judge
from anonymizer.search.base import AttackCheck, Control, SearchProblem, Stage
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.local.algorithm import Local
from anonymizer.search.mondrian.algorithm import Mondrian
from tests import strategies
from tests.helpers import adult, build
from tests.helpers.examples import costly
from tests.helpers.problems import metric, problem
from tests.strategies import constraint, table
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec


def gate(seed: int = 0, **parameters: Any) -> AttackCheck:
    return AttackCheck(
        [ReleaseConstraint(model=build.model("linkage-risk", parameters))], seed, seen=adversary_of
    )


@st.composite
def specs(draw: st.DrawFn) -> tuple[ProblemSpec, str]:
    """Return a problem, and the share of records that may be linked."""
    random: Random = draw(strategies.randoms())
    data = table(random)
    names = random.choice((["k-anonymity"], ["l-diversity"], ["k-anonymity", "t-closeness"]))
    constraints = tuple(constraint(random, data, name) for name in names)
    limit = random.choice((0, 1, 3, 10)) * len(data.records) // 10
    sizes = [own.parameters["k"] for own in constraints if own.model == "k-anonymity"]
    most = random.choice(("0.1", "0.2", "0.25", "0.3", "0.4", "0.5"))
    return ProblemSpec(
        data,
        constraints,
        "loss",
        limit=limit,
        moving_reference=random.random() < 0.3,
        k=max(sizes, default=None),
    ), most


@given(specs())
def test_the_lattice_finds_the_best_node_that_no_attacker_breaks(asked: tuple[ProblemSpec, str]) -> None:
    spec, most = asked
    # On a full-domain release every record fits one class: nearest linkage is right in classes / records.
    guess = ConstraintSpec("vulnerability", {"max": float(most)})
    valid = BruteForce(replace(spec, constraints=(*spec.constraints, guess))).valid()
    # Without the records left out, the release has another mean and deviation than the original.
    gated = gate(max=most, standardise="original")
    outcome = Lattice().search(replace(problem(spec), gate=gated), Control())
    assert outcome.status is (Status.SATISFIED if valid else Status.INFEASIBLE)
    if not valid:
        return
    assert outcome.optimal
    assert outcome.objective == pytest.approx(min(result.objective for result in valid), abs=1e-9)
    assert outcome.recoding.levels in [
        result.levels for result in valid if result.objective <= outcome.objective + 1e-9
    ]


def small(most: str, limit: float = 0.05, names: tuple[str, ...] = adult.FIVE) -> SearchProblem:
    own = adult.table(names)
    constraints = (ClassConstraint(model=build.model("k-anonymity", {"k": 2})),)
    asked = gate(7, max=most, linkage="learned", distance="weighted-mean")
    return SearchProblem(
        own, constraints, (), metric("loss"), int(limit * own.records), False, False, 2, gate=asked
    )


Ranked = list[tuple[float, float, tuple[int, ...]]]
"""Loss, classes / records and levels of valid nodes."""


def ranked(names: tuple[str, ...], limit: float, most: float) -> Ranked:
    """Return the valid nodes at k = 2 up to the best that passes, by their loss, without the product.

    What is suppressed costs no less than its cells, so nodes whose cells alone cost more come too late.
    """
    columns: list[list[tuple[IntArray, np.ndarray]]] = []
    for name in names:
        values, codes = adult.encoded(name)
        paths, own = adult.paths(name), []
        for level in range(len(paths[values[0]])):
            leaves = [path[level] for path in paths.values()]
            labels = [paths[value][level] for value in values]
            cost = np.array([(leaves.count(label) - 1) / (len(leaves) - 1) for label in labels])
            own.append((np.unique(labels, return_inverse=True)[1][codes], cost[codes]))
        columns.append(own)
    costs = [[float(cost.mean()) for _, cost in own] for own in columns]
    every = product(*(range(len(own)) for own in columns))
    floors = sorted(
        (float(np.mean([own[level] for own, level in zip(costs, levels, strict=True)])), levels)
        for levels in every
    )
    found: Ranked = []
    for floor, levels in floors:
        if any(loss < floor - 1e-12 and risk <= most for loss, risk, _ in found):
            break
        chosen = [own[level] for own, level in zip(columns, levels, strict=True)]
        found += [(*node, levels) for node in judged(chosen, limit)]
    found.sort()
    return found[: next(place for place, node in enumerate(found) if node[1] <= most) + 1]


def judged(chosen: list[tuple[IntArray, np.ndarray]], limit: float) -> list[tuple[float, float]]:
    """Return loss and classes / records of a node; nothing where it is not valid."""
    keys = np.zeros(len(chosen[0][0]), dtype=np.int64)
    for codes, _ in chosen:
        keys = keys * 128 + codes
    _, inverse, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    kept = sizes[inverse] >= 2
    if not kept.any() or (~kept).sum() > int(limit * len(keys)):
        return []
    cost = np.mean([own for _, own in chosen], axis=0)
    return [((cost[kept].sum() + (~kept).sum()) / len(keys), (sizes >= 2).sum() / kept.sum())]


def check_against_exhaustion(outcome: Outcome, names: tuple[str, ...], limit: float, most: float) -> None:
    *broken, passing = ranked(names, limit, most)
    assert broken
    assert outcome.optimal
    assert outcome.objective == pytest.approx(passing[0], abs=1e-9)
    shown = {
        tuple(step.candidate.values()): step.failed[0]
        for step in outcome.steps
        if any(name.startswith("linkage-risk") for name in step.failed)
    }
    for loss, risk, levels in broken:
        if loss < passing[0] - 1e-9:
            assert shown[levels] == f"linkage-risk {round(risk, 12):.4g}"
    kept = released(outcome.recoding, 2)
    assert kept.classes / int(kept.class_sizes.sum()) <= most


@pytest.mark.parametrize(("limit", "most"), [(1, 0.002), (0.05, 0.001)])
@pytest.mark.slow
def test_five_attributes_of_adult(limit: float, most: float) -> None:
    free = Lattice().search(replace(small(str(most), limit), gate=AttackCheck()), Control())
    outcome = Lattice().search(small(str(most), limit), Control())
    assert outcome.objective > free.objective
    check_against_exhaustion(outcome, adult.FIVE, limit, most)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "most"), [(0.02, 0.02)])
def test_nine_attributes_of_adult(limit: float, most: float) -> None:
    outcome = Lattice().search(small(str(most), limit, adult.ALL), Control())
    check_against_exhaustion(outcome, adult.ALL, limit, most)


@pytest.mark.slow
def test_a_budget_of_steps_repeats_what_a_search_had_found() -> None:
    whole = Lattice().search(small("0.002", 1), Control())
    for steps in (10, 20, len(whole.steps) - 1):
        part = Lattice().search(small("0.002", 1), Control(steps=steps))
        assert part.steps == whole.steps[:steps]
        assert part.bound <= whole.objective
        assert part.objective is None or part.objective >= whole.objective


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "steps"), [(Local, 60), (Mondrian, 400)])
def test_what_other_searches_publish_passes_too(algorithm: type, steps: int) -> None:
    names = ("sex", "age", "race")
    asked = small("0.001", names=names)
    budget = Control(steps=steps)
    free = algorithm().search(replace(asked, gate=AttackCheck()), budget)
    outcome = algorithm().search(asked, budget)
    assert asked.gate.first_violated(asked.table, free.recoding)
    assert outcome.status is Status.SATISFIED
    assert not asked.gate.first_violated(asked.table, outcome.recoding)
    assert outcome.objective >= free.objective
    broken = [step for step in outcome.steps if any("linkage-risk" in name for name in step.failed)]
    assert broken
    assert not any(step.accepted for step in broken)
    again = algorithm().search(small("0.001", names=names), Control(steps=steps))
    assert again.steps == outcome.steps


@pytest.mark.parametrize("algorithm", [Local, Mondrian], ids=lambda each: each.name)
def test_what_is_not_found_is_undecided(algorithm: type) -> None:
    outcome = algorithm().search(small("0", names=("sex", "race")), Control(steps=60))
    assert outcome.status is Status.UNDECIDED
    assert outcome.recoding is None


@pytest.mark.slow
def test_a_refused_candidate_is_never_proposed_again() -> None:
    asked = small("0.01", 1)
    first = Lattice().search(asked, Control())
    (constraint,) = asked.gate.constraints
    asked.gate.refuse(first.recoding, [(constraint, 0.02)])
    second = Lattice().search(asked, Control())
    # Only the random numbers of the audit differ: the refused candidate is not proven invalid.
    assert not second.optimal
    assert second.bound <= first.objective
    assert second.estimated == ("linkage-risk",)
    assert second.objective >= first.objective
    assert second.recoding.levels != first.recoding.levels
    refused = [step for step in second.steps if step.failed == ("linkage-risk 0.02 in the audit",)]
    assert [tuple(step.candidate.values()) for step in refused] == [first.recoding.levels]


def drawn(first: float, classes: int) -> float:
    """Return the success of an attack that draws its number, on a release of so many classes."""
    return first * (1 + classes) % 1


class Drawing(AttackModel):
    """The share that an attack finds which draws a number, at least classes / records."""

    name = "drawing"
    sensitive = False
    Settings = RiskSettings

    def attack(self) -> Any:
        return self

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> list[AttackResult]:
        release = adversary.release
        classes = len(np.unique(release.codes, axis=0))
        least, found = classes / release.records, drawn(random.random(), classes)
        return [AttackResult(self.name, {}, found, least, found, max(found, least), release.records)]

    def least(self, found: Sequence[AttackResult]) -> float:
        return float(found[0].baseline)


@pytest.mark.slow
@costly()
@given(specs(), st.booleans())
def test_what_an_estimate_rejects_is_not_proven_invalid(
    asked: tuple[ProblemSpec, str], every_step: bool
) -> None:
    spec, most = asked
    model = Drawing(RiskSettings(max=Decimal(most)))
    gated = AttackCheck([ReleaseConstraint(model=model)], 3, every_step=every_step, seen=adversary_of)
    first = gated.random(gated.constraints[0], Stage.SEARCH).random()
    brute = BruteForce(spec)
    accepted, doubtful = [], []
    for result in brute.valid():
        kept = [set(rows) - result.suppressed for rows in brute.classes(result.levels)]
        classes, records = sum(bool(rows) for rows in kept), sum(map(len, kept))
        if max(drawn(first, classes), round(classes / records, 12)) <= float(most):
            accepted.append(result.objective)
        elif Fraction(classes, records) <= Fraction(most):
            doubtful.append(result.objective)
    outcome = Lattice().search(replace(problem(spec), gate=gated), Control())
    best = min(accepted, default=inf)
    doubts = any(each < best - 1e-9 for each in doubtful)
    if accepted:
        assert outcome.status is Status.SATISFIED
        assert outcome.objective == pytest.approx(best, abs=1e-9)
    else:
        assert outcome.status is (Status.UNDECIDED if doubts else Status.INFEASIBLE)
    assert outcome.estimated == (("drawing",) if doubts else ())
    if accepted or doubts:
        assert outcome.bound == pytest.approx(min(best, *doubtful, inf), abs=1e-9)
        assert outcome.optimal is (bool(accepted) and not doubts)


def test_an_audit_refuses_for_its_own_constraint_only() -> None:
    asked = small("0.01", 1)
    (constraint,) = asked.gate.constraints
    found = Lattice().search(asked, Control()).recoding
    asked.gate.refuse(found, [(constraint, 0.02)])
    assert asked.gate.first_violated(asked.table, found) == ("linkage-risk 0.02 in the audit",)
    assert asked.gate.estimate(found) == "linkage-risk"
    looser = replace(
        constraint, model=constraint.model.loosened(constraint.model.thresholds[0], Decimal("0.02"))
    )
    assert asked.gate.asking([looser]).first_violated(asked.table, found) == ()
    assert asked.gate.asking([]).first_violated(asked.table, found) == ()


@pytest.mark.slow
def test_the_attackers_are_asked_once_for_each_recoding(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, runs = small("0.002", 1), []
    attack = LinkageRisk.attack
    monkeypatch.setattr(LinkageRisk, "attack", lambda *given: runs.append(1) or attack(*given))
    first = Lattice().search(asked, Control())
    number = len(runs)
    second = Lattice().search(asked, Control())
    assert number
    assert len(runs) == number
    assert first.steps == second.steps


@pytest.mark.parametrize(
    ("status", "left"), [(Status.INFEASIBLE, Status.UNDECIDED), (Status.SATISFIED, Status.SATISFIED)]
)
def test_of_a_search_for_weaker_constraints_no_proof_is_left(status: Status, left: Status) -> None:
    found = judge._without_proofs(Outcome(status, None, 0.4, 0.3, 5, 5, best_possible=0.2))
    assert (found.status, found.bound, found.best_possible) == (left, None, None)
    assert found.objective == 0.4
