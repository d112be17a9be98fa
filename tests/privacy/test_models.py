"""Every model of classes against its definition, on random classes."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isclose, isinf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.privacy.base import PRIVACY_MODELS, ClassModel, TableModel
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.partitions import Partition, partition
from tests.helpers.problems import constraint
from tests.twins.privacy import CLASS_TWINS, TABLE_TWINS
from tests.twins.search import ConstraintSpec

RANDOMS = strategies.randoms()


def close(own: Any, twin: Any) -> bool:
    if isinstance(twin, list):
        return len(own) == len(twin) and all(map(close, own, twin))
    if isinstance(twin, int):
        return type(own) is int and own == twin
    if isinf(twin):
        return own == twin
    return isclose(own, float(twin), rel_tol=1e-9, abs_tol=1e-12)


def bound(random: Any, name: str) -> tuple[Partition, ConstraintSpec]:
    """Return random classes and the model with random parameters on one of their attributes."""
    classes = partition(random)
    return classes, ConstraintSpec(
        name, strategies.parameters(random, name), random.choice(classes.data.sensitive).name
    )


COUNTED = ("prosecutor-risk", "marketer-risk")
"""Models that count persons with equal quasi-identifiers, compared with loops in test_risks.py."""


def test_every_model_has_a_twin_and_a_loose_and_a_strict_example() -> None:
    counted = {
        name: model
        for name, model in PRIVACY_MODELS.items()
        if not (model.by_attack or model.needs_population or model.needs_households or name in COUNTED)
    }
    assert {name for name, model in counted.items() if issubclass(model, ClassModel)} == set(CLASS_TWINS)
    assert {name for name, model in counted.items() if issubclass(model, TableModel)} == set(TABLE_TWINS)
    for name, model in PRIVACY_MODELS.items():
        assert len(model.examples) >= 2, name
        loose, strict = (build.model(name, model.examples[place]) for place in (0, -1))
        for each in model.thresholds:
            own = [float(getattr(one.settings, each.parameter)) for one in (loose, strict)]
            strictness = [-one if isinf(each.loosest) else abs(one - each.loosest) for one in own]
            assert strictness[0] <= strictness[1], name


@pytest.mark.parametrize("name", sorted(CLASS_TWINS))
@share(3)
@given(random=RANDOMS)
def test_verdict_and_measure_follow_the_definition(name: str, random: Any) -> None:
    classes, spec = bound(random, name)
    own = constraint(spec, classes.data)
    twin = CLASS_TWINS[name](spec.parameters)
    groups, everyone = classes.groups(spec.attribute), classes.everyone(spec.attribute)
    attribute = classes.data.attribute(spec.attribute)
    reference = classes.reference(spec.attribute)
    held = [twin.holds(group, everyone, attribute) for group in groups]
    assert own.holds(classes.classes(), reference).tolist() == held
    assert close(own.measured(classes.classes(), reference), twin.measured(groups, everyone, attribute))


@pytest.mark.parametrize("name", sorted(CLASS_TWINS))
@share(3)
@given(random=RANDOMS)
def test_worst_classes_are_those_with_the_worst_measure(name: str, random: Any) -> None:
    classes, spec = bound(random, name)
    own = constraint(spec, classes.data)
    twin = CLASS_TWINS[name](spec.parameters)
    everyone, attribute = classes.everyone(spec.attribute), classes.data.attribute(spec.attribute)
    measures = [twin.measure(group, everyone, attribute) for group in classes.groups(spec.attribute)]
    worst = twin.measured(classes.groups(spec.attribute), everyone, attribute)
    shown = sum(
        any(map(close_measure, measure, worst)) if isinstance(worst, list) else close_measure(measure, worst)
        for measure in measures
    )
    assert own.worst_classes(classes.classes(), classes.reference(spec.attribute)) == shown


def close_measure(left: Any, right: Any) -> bool:
    return left == right or isclose(left, right, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("name", sorted(CLASS_TWINS))
@share(3)
@given(random=RANDOMS)
def test_missing_values_count_as_the_contract_says(name: str, random: Any) -> None:
    """A missing value is one more value of q and p; it is no distinct one unless made one."""
    classes, spec = bound(random, name)
    everyone = classes.everyone(spec.attribute)
    attribute = classes.data.attribute(spec.attribute)
    own = constraint(spec, classes.data)
    counted = own.view(classes.classes()).view
    if None in everyone and not attribute.missing_is_value:
        assert counted.missing == len(set(everyone)) - 1
    else:
        assert counted.missing is None
    assert counted.sizes.tolist() == [len(group) for group in classes.groups(spec.attribute)]


@pytest.mark.parametrize("name", sorted(CLASS_TWINS))
@share(3)
@given(random=RANDOMS)
def test_no_class_that_satisfies_a_model_has_fewer_values_than_it_says(name: str, random: Any) -> None:
    classes, spec = bound(random, name)
    least = constraint(spec, classes.data).model.least_values or 1
    twin, everyone = CLASS_TWINS[name](spec.parameters), classes.everyone(spec.attribute)
    for group in classes.groups(spec.attribute):
        if twin.holds(group, everyone, classes.data.attribute(spec.attribute)):
            assert len(set(group)) >= least


def counts(records: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Give the counts of the values of each class of at most some records, the largest first."""
    for most in range(1, min(records, largest) + 1):
        yield (most,)
        yield from ((most, *others) for others in counts(records - most, most))


COUNTS = list(counts(12, 12))


@pytest.mark.parametrize(
    ("name", "parameters", "values"),
    [
        *(("l-diversity", {"l": least}, least) for least in (1, 2, 3, 4)),
        *(("entropy-l-diversity", {"l": least}, ceil(least)) for least in (1, 1.2, 2, 2.1, 3.5)),
        *(("recursive-cl-diversity", {"c": 3, "l": least}, least) for least in (1, 2, 3, 4)),
        *(("recursive-cl-diversity", {"c": 1, "l": least}, least + 1) for least in (1, 2, 3, 4)),
        *(("recursive-cl-diversity", {"c": 0.5, "l": least}, least + 2) for least in (1, 2, 3)),
        *(("recursive-cl-diversity", {"c": 0.4, "l": least}, least + 2) for least in (1, 2, 3)),
        *(("p-sensitive-k-anonymity", {"p": p, "k": 3}, p) for p in (1, 2, 3)),
        *(
            ("alpha-k-anonymity", {"alpha": alpha, "k": 3}, v)
            for alpha, v in ((1, 1), (0.5, 2), (0.4, 3), (0.3, 4))
        ),
    ],
)
def test_the_least_values_are_the_fewest_of_all_classes_that_satisfy_a_model(
    name: str, parameters: dict[str, Any], values: int
) -> None:
    twin, attribute = CLASS_TWINS[name](parameters), strategies.table(strategies.Seeded(1)).sensitive[0]
    groups = [[str(value) for value, number in enumerate(own) for _ in range(number)] for own in COUNTS]
    found = min(len(set(group)) for group in groups if twin.holds(group, group, attribute))
    assert build.model(name, parameters).least_values == found == values


@given(random=RANDOMS, target=st.sampled_from(["re-identification", "attribute-inference"]))
def test_vulnerability_follows_the_definition(random: Any, target: str) -> None:
    classes = partition(random)
    attribute = random.choice(classes.data.sensitive).name if target == "attribute-inference" else None
    parameters = {"max": random.choice(strategies.PARAMETERS["vulnerability"]["max"]), "target": target}
    own = constraint(ConstraintSpec("vulnerability", parameters, attribute), classes.data)
    twin = TABLE_TWINS["vulnerability"](parameters)
    groups = classes.groups(attribute or classes.data.sensitive[0].name)
    assert own.measured(classes.classes()) == float(twin.measured(groups))
    assert own.holds(classes.classes()) == twin.holds(groups)
