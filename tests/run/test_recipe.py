"""The attack minimality on releases that the lattice search really made: whom it names, it is right about."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given

from anonymizer.adversary.candidate import adversary_of
from anonymizer.job.assessment import mechanism_of
from anonymizer.model.adversary import MechanismKnowledge, SensitiveConstraint
from anonymizer.model.recoding import Outcome
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests import strategies
from tests.attacks.published import FEWER, one
from tests.helpers import build
from tests.helpers.problems import problem as problem_of
from tests.twins.search import ConstraintSpec, ProblemSpec


def spec(random: Random, *constraints: ConstraintSpec, **changed: Any) -> ProblemSpec:
    """Return a problem on a random table."""
    own = ProblemSpec(
        strategies.table(random, most=14), constraints, "loss", "arithmetic-mean", 0, False, False, 2
    )
    return replace(own, **changed)


def searched(own: ProblemSpec) -> tuple[SearchProblem, Outcome]:
    """Return the product's problem with what the lattice search finds."""
    problem = problem_of(own)
    return problem, Lattice().search(problem, Control())


DISTINCT = (ConstraintSpec("k-anonymity", {"k": 2}), ConstraintSpec("l-diversity", {"l": 2}, "s"))


@FEWER
@given(strategies.randoms())
def test_who_is_named_is_in_a_part_that_breaks_the_promise(random: Random) -> None:
    """The records of a finer node's classes with fewer than two values are at least as many as are named."""
    own = spec(random, *DISTINCT)
    problem, outcome = searched(own)
    recipe = mechanism_of(problem, outcome)
    if recipe is None:
        assert outcome.recoding is None
        return
    found = one("minimality", replace(adversary_of(problem.table, outcome.recoding), recipe=recipe))
    assert found.success * found.records <= len(broken(own, recipe))


def broken(own: ProblemSpec, recipe: MechanismKnowledge) -> set[int]:
    """Return the records that are in a class of fewer than two values at some node that is a level finer."""
    data = own.data
    told: set[int] = set()
    secret = data.position("s")
    for position, level in enumerate(recipe.levels):
        if level > recipe.lowest[position]:
            levels = [each - (number == position) for number, each in enumerate(recipe.levels)]
            classes: dict[tuple[str, ...], list[int]] = {}
            for row, record in enumerate(data.records):
                paths = [attribute.paths[record[p]] for p, attribute in enumerate(data.quasi_identifiers)]
                key = tuple(path[each] for path, each in zip(paths, levels, strict=True))
                classes.setdefault(key, []).append(row)
            missing_counts = data.attribute("s").missing_is_value
            for rows in classes.values():
                values = {data.records[row][secret] for row in rows}
                if len(values if missing_counts else values - {None}) < 2:
                    told.update(rows)
    return told


def test_what_the_constraints_promise() -> None:
    random = Random(5)
    found = {}
    for model, parameters in (
        ("l-diversity", {"l": 1}),
        ("p-sensitive-k-anonymity", {"p": 1, "k": 3}),
        ("t-closeness", {"t": 1}),
        ("alpha-k-anonymity", {"alpha": 1, "k": 2}),
        ("k-anonymity", {"k": 2}),
    ):
        attribute = None if model == "k-anonymity" else "s"
        recipe = mechanism_of(*searched(spec(random, ConstraintSpec(model, parameters, attribute))))
        assert recipe is not None
        found[model] = [each.distinct for each in recipe.promises], recipe.size
    assert found == {
        "l-diversity": ([1], 1),
        "p-sensitive-k-anonymity": ([1], 3),
        "t-closeness": ([None], 1),
        "alpha-k-anonymity": ([None], 2),
        "k-anonymity": ([], 2),
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"limit": 1},
        {"aggregate": "maximum"},
        {"constraints": (*DISTINCT, ConstraintSpec("vulnerability", {"max": 1}))},
    ],
)
def test_without_that_certainty_there_is_no_recipe(changed: dict[str, Any]) -> None:
    own = spec(Random(7), ConstraintSpec("k-anonymity", {"k": 2}), **changed)
    assert mechanism_of(*searched(own)) is None
    assert mechanism_of(*searched(spec(Random(7), ConstraintSpec("k-anonymity", {"k": 2})))) is not None


def test_a_model_that_counts_the_population_may_be_what_a_finer_release_breaks() -> None:
    problem, outcome = searched(spec(Random(7), *DISTINCT, k=2))
    assert mechanism_of(problem, outcome) is not None
    for name, parameters in (("k-map", {"k": 1}), ("delta-presence", {"max": 1})):
        model = ClassConstraint(model=build.model(name, parameters))
        hidden = replace(problem, class_constraints=(*problem.class_constraints, model))
        assert mechanism_of(hidden, outcome) is None


def test_combined_parts_are_not_told() -> None:
    own = spec(Random(11), ConstraintSpec("l-diversity", {"l": 1}, "s", combined=True))
    recipe = mechanism_of(*searched(own))
    assert recipe is not None
    assert recipe.promises == (SensitiveConstraint("s"),)
