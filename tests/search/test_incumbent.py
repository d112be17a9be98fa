"""A release is at least as good as every candidate that a search accepted on the way."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given

from anonymizer.adversary.candidate import adversary_of
from anonymizer.errors import InputError
from anonymizer.job.search import best_left
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Outcome, Status
from anonymizer.privacy.base import ReleaseConstraint
from anonymizer.search import judge
from anonymizer.search.base import SEARCH_ALGORITHMS, AttackCheck, Control, Incumbent, SearchProblem
from anonymizer.search.judge import Rival, search_with_attack_checks
from anonymizer.search.lattice import algorithm, frontier
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.local.algorithm import Local
from anonymizer.search.mondrian.algorithm import LabelName, Mondrian, MondrianSettings
from tests import strategies
from tests.helpers import adult, build
from tests.helpers.examples import costly
from tests.helpers.problems import metric, problem
from tests.twins.search import ConstraintSpec, ProblemSpec


class Clock(Control):
    """A budget of time that ends at some look at the clock."""

    looks = 0

    @property
    def elapsed(self) -> float:
        """Seconds by the number of looks."""
        self.looks += 1
        return float(self.looks)

    def exhausted(self, evaluated: int, steps: int) -> bool:
        """Return whether the time is over, which is looked at."""
        return super().exhausted(evaluated, steps) or self.out_of_time()


def budget(random: Random) -> Control:
    kind, most = random.choice(("seconds", "steps", "nodes", "none")), random.randint(0, 40)
    if kind == "seconds":
        return Clock(seconds=most)
    return Control(steps=most if kind == "steps" else None, nodes=most if kind == "nodes" else None)


def gate(most: str) -> AttackCheck:
    return AttackCheck(
        [ReleaseConstraint(model=build.model("linkage-risk", {"max": most}))], seen=adversary_of
    )


def asked_of(random: Random, spec: ProblemSpec) -> SearchProblem:
    own = problem(spec)
    if random.random() < 0.3:
        own = replace(own, suppression=random.choice([*SuppressionMethod]))
    if random.random() < 0.7:
        own = replace(own, gate=gate(random.choice(("0.05", "0.1", "0.2", "0.3", "0.5"))))
    return own


VARIANTS: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in ("auto", "lattice", "local", "microaggregation")),
    *(("mondrian", {"mode": mode}) for mode in ("strict", "relaxed")),
]


@pytest.fixture
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take even small lattices for large ones."""
    monkeypatch.setattr(frontier, "LARGEST_BOX", 6)
    monkeypatch.setattr(algorithm, "EFFORT", ())
    monkeypatch.setattr(algorithm, "GROUPS", ((1, 2), (2, 12)))
    monkeypatch.setattr(algorithm, "FIRST_CYCLE", 8)


def check(outcome: Outcome) -> None:
    accepted = [step.objective for step in outcome.steps if step.accepted and step.objective is not None]
    if not accepted:
        return
    assert outcome.status is Status.SATISFIED
    assert outcome.objective <= min(accepted) + 1e-9 * max(1, abs(min(accepted)))


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@costly(2)
@given(random=strategies.randoms())
def test_a_release_loses_no_more_than_an_accepted_step(
    variant: tuple[str, dict[str, str]], random: Random
) -> None:
    name, parameters = variant
    plug_in = SEARCH_ALGORITHMS[name]
    if name == "mondrian":
        parameters = {**parameters, "labels": random.choice(("hierarchy", "interval", "set"))}
    own = asked_of(random, strategies.problem(random))
    if own.suppression not in plug_in.suppressions():
        own = replace(own, suppression=SuppressionMethod.CLASSES)
    try:
        outcome = plug_in(plug_in.Settings.model_validate(parameters)).search(own, budget(random))
    except InputError:
        return
    check(outcome)


@pytest.mark.parametrize("name", ["local", "auto"])
@costly(2)
@given(random=strategies.randoms())
def test_local_recoding_loses_no_more_than_mondrian(name: str, random: Random) -> None:
    """With the same constraints, attackers and budget, whatever the metric."""
    own = replace(asked_of(random, strategies.problem(random)), suppression=SuppressionMethod.CLASSES)
    steps = random.choice((None, *range(1, 50)))
    try:
        mondrian = Mondrian(MondrianSettings(labels=LabelName.HIERARCHY)).search(own, Control(steps=steps))
        found = SEARCH_ALGORITHMS[name](SEARCH_ALGORITHMS[name].Settings()).search(own, Control(steps=steps))
    except InputError:
        return
    if mondrian.status is Status.SATISFIED:
        assert found.status is Status.SATISFIED
        assert found.objective <= mondrian.objective + 1e-9 * max(1, abs(mondrian.objective))


def without_trees(own: SearchProblem) -> SearchProblem:
    """Return the problem with numbers that have no level between values and root as bare numbers."""
    columns = tuple(
        replace(each, by_range=each.column.numbers is not None and each.hierarchy.height == 1)
        for each in own.table.quasi_identifiers
    )
    return replace(own, table=replace(own.table, quasi_identifiers=columns))


@costly(2)
@given(random=strategies.randoms())
def test_auto_loses_no_more_than_mondrian_with_the_same_config(random: Random) -> None:
    """Of bare numbers both publish intervals, auto of all columns unless nodes lose less."""
    own = replace(asked_of(random, strategies.problem(random)), suppression=SuppressionMethod.CLASSES)
    own, steps = without_trees(own), random.choice((None, *range(1, 50)))
    try:
        mondrian = Mondrian().search(own, Control(steps=steps))
        found = SEARCH_ALGORITHMS["auto"]().search(own, Control(steps=steps))
    except InputError:
        return
    check(found)
    if mondrian.status is Status.SATISFIED:
        assert found.status is Status.SATISFIED
        assert found.objective <= mondrian.objective + 1e-9 * max(1, abs(mondrian.objective))


@costly(2)
@given(random=strategies.randoms())
def test_attackers_are_answered_as_well_as_by_larger_classes(random: Random) -> None:
    """A guided release passes, is the best that passed, and took no more attacks than the tries allow."""
    own = replace(asked_of(random, strategies.problem(random)), suppression=SuppressionMethod.CLASSES)
    own = replace(own, gate=gate(random.choice(("0.1", "0.2", "0.3", "0.5"))))
    try:
        found = Mondrian(MondrianSettings(labels=LabelName.HIERARCHY)).search(own, Control())
    except InputError:
        return
    attacked = [step for step in found.steps if step.attackers]
    passed = [step for step in attacked if step.accepted]
    guided = [step for step in attacked if any(key.startswith("guesses") for key in step.candidate)]
    assert len(guided) <= judge.TRIES
    assert (found.status is Status.SATISFIED) == bool(passed)
    if passed:
        assert found.objective == min(step.objective for step in passed)
        assert own.gate.first_violated(own.table, found.recoding) == ()


def test_out_of_time_a_first_release_is_found_before_stars() -> None:
    own = small()
    asked = replace(own, gate=gate("0.01"))
    outcome = Mondrian().search(asked, Control(cpu_seconds=0.15))
    assert outcome.status is Status.SATISFIED
    assert len(outcome.recoding.class_sizes()) > 1


@pytest.mark.parametrize("search", [Mondrian(), Local()], ids=["mondrian", "local"])
def test_out_of_steps_one_class_is_released_that_passes(search: Mondrian | Local) -> None:
    """The attack refuses what there is after the last step, and the start would pass."""
    outcome = search.search(replace(small(), gate=gate("0.002")), Control(steps=10))
    assert outcome.status is Status.SATISFIED
    check(outcome)


def test_cuts_that_raise_a_metric_leave_what_they_cut() -> None:
    """Without k, a class is as large as the smallest one on average where there is one class."""
    spec = replace(strategies.problem(Random(5)), metric="average-class-size", limit=0, keep_rows=False)
    spec = replace(
        spec, constraints=(ConstraintSpec("alpha-k-anonymity", {"alpha": 1, "k": 1}, "s"),), k=None
    )
    own = problem(spec)
    for labels in LabelName:
        found = Mondrian(MondrianSettings(labels=labels)).search(own, Control())
        assert found.objective == 1
        assert own.loss(found.recoding, "the release") == 1


def test_ties_are_for_the_incumbent() -> None:
    best: Incumbent[str] = Incumbent()
    assert best.offer("first", inf)
    assert best.offer("better", 0.5)
    assert not best.offer("as good", 0.5)
    assert not best.offer("worse", 0.7)
    assert (best.found, best.objective) == ("better", 0.5)


def small() -> SearchProblem:
    """Return Adult by sex, age and race: few distinct rows, of many records."""
    own = adult.table(adult.FIVE[:3])
    constraint = problem(
        replace(strategies.problem(Random(0)), constraints=(ConstraintSpec("k-anonymity", {"k": 2}),))
    ).class_constraints
    return SearchProblem(own, constraint, (), metric("loss"), 0, False, False, 2, gate=gate("0.006"))


def with_stars(asked: SearchProblem, control: Control) -> Outcome:
    """Return the most general transformation, as a search that is out of time."""
    return Lattice().search(asked, replace(control, nodes=1, seconds=0.0))


@pytest.mark.quick(1)
@pytest.mark.parametrize("first", [True, False])
def test_a_rival_that_loses_more_does_not_replace_the_release(first: bool) -> None:
    asked, rival = small(), Rival("stars", with_stars, first=first)

    def cut(own: SearchProblem, left: Control) -> Outcome:
        return Mondrian().search(own, left)

    alone = search_with_attack_checks(asked, Control(), cut)
    assert with_stars(asked, Control()).objective > alone.objective
    beside = search_with_attack_checks(asked, Control(), cut, rivals=[rival])
    assert beside.objective == alone.objective
    check(beside)


@pytest.mark.slow
def test_a_search_without_time_releases_what_its_quick_rival_found() -> None:
    asked = small()
    cut = Mondrian().search(asked, Control())
    found = Local().search(asked, Control(steps=1))
    assert found.status is Status.SATISFIED
    assert found.objective <= cut.objective + 1e-12
    assert not np.all(found.recoding.suppressed)


@pytest.mark.slow
def test_a_refusal_in_the_audit_leaves_the_releases_that_passed() -> None:
    """The next search may have no time left; its stars do not replace what has passed before."""
    asked = small()

    def found(own: SearchProblem, left: Control) -> Outcome:
        return Mondrian().search(own, left)

    def coarse(own: SearchProblem, left: Control) -> Outcome:
        return Mondrian().search(replace(own, class_constraints=larger), left)

    larger = problem(
        replace(strategies.problem(Random(0)), constraints=(ConstraintSpec("k-anonymity", {"k": 200}),))
    ).class_constraints
    rivals = [Rival("stars", with_stars), Rival("coarse", coarse)]
    first = search_with_attack_checks(asked, Control(), found, rivals=rivals)
    assert first.recoding is not None
    assert first.runners_up
    (constraint,) = asked.gate.constraints
    asked.gate.refuse(first.recoding, [(constraint, 1.0)])
    stars = with_stars(asked, Control())
    left = best_left(stars, first.runners_up, asked.gate)
    passed = [each.objective for each in first.runners_up if not asked.gate.refused(each.recoding)]
    assert left.objective == min(passed)
    assert left.objective < stars.objective
    assert not asked.gate.refused(left.recoding)
    assert best_left(first, first.runners_up, AttackCheck()).recoding is first.recoding
