"""What models promise to a search: what merging does to verdicts, and what finer classes lose for certain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given

from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.measure import Measure
from anonymizer.model.units import Units
from anonymizer.privacy.base import ClassConstraint, ClassModel, Merging, TableConstraint, TableModel
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import costly, share
from tests.helpers.partitions import Partition, partition, renumbered
from tests.helpers.problems import constraint
from tests.twins.microdata import Microdata, SensitiveSpec, Value
from tests.twins.privacy import CLASS_TWINS
from tests.twins.search import ConstraintSpec

RANDOMS = strategies.randoms()
NAMES = sorted(CLASS_TWINS)


def halves(group: list[Value]) -> Iterator[tuple[list[Value], list[Value]]]:
    """Return every way to split a class in two, up to the identity of records with equal values."""
    counts = Counter(group)
    for chosen in product(*(range(count + 1) for count in counts.values())):
        left = dict(zip(counts, chosen, strict=True))
        one = [value for value, count in left.items() for _ in range(count)]
        other = [value for value, count in counts.items() for _ in range(count - left[value])]
        yield one, other


@pytest.mark.parametrize("name", NAMES)
@share(4)
@given(random=RANDOMS)
def test_certain_losses_are_lost_however_a_class_is_split_in_two(name: str, random: Random) -> None:
    """Where satisfying classes can be merged, the best split is one that stays and one that goes."""
    own = partition(random, most=12)
    spec = ConstraintSpec(name, strategies.parameters(random, name), random.choice(own.data.sensitive).name)
    twin, everyone = CLASS_TWINS[name](spec.parameters), own.everyone(spec.attribute)
    attribute = own.data.attribute(spec.attribute)
    losses = constraint(spec, own.data).certain_losses(own.classes(), own.reference(spec.attribute))
    for group, certain in zip(own.groups(spec.attribute), losses.tolist(), strict=True):
        least = min(
            sum(len(half) for half in pair if half and not twin.holds(half, everyone, attribute))
            for pair in halves(group)
        )
        assert 0 <= certain <= least


@pytest.mark.parametrize("name", NAMES)
@share(4)
@given(random=RANDOMS)
def test_certain_losses_hold_for_any_finer_partition(name: str, random: Random) -> None:
    own = partition(random)
    combined = random.random() < 0.5
    attribute = random.choice(own.data.sensitive).name
    spec = ConstraintSpec(name, strategies.parameters(random, name), attribute, combined)
    bound = constraint(spec, own.data)
    reference = own.reference(attribute)
    certain = bound.certain_losses(own.classes(), reference)
    held = bound.holds(own.classes(), reference)
    assert not certain[held].any()
    assert (certain <= own.classes().sizes).all()
    parts = random.randint(1, 4)
    finer = Partition(own.data, renumbered([c * parts + random.randrange(parts) for c in own.class_of]))
    failing = ~bound.holds(finer.classes(), reference)
    lost = Counter(coarse for coarse, fine in zip(own.class_of, finer.class_of, strict=True) if failing[fine])
    assert all(lost[number] >= losses for number, losses in enumerate(certain.tolist()))


def set_partitions(number: int) -> Iterator[tuple[int, ...]]:
    """Return every way to divide some records into classes, as the class of each."""
    if number == 0:
        yield ()
        return
    for before in set_partitions(number - 1):
        for own in range(max(before, default=-1) + 2):
            yield (*before, own)


PARTITIONS = {number: list(set_partitions(number)) for number in range(1, 7)}

ON_SHARES = {
    "alpha-k-anonymity": {"alpha": 0.5, "k": 2},
    "entropy-l-diversity": {"l": 1.8},
    "recursive-cl-diversity": {"c": 1.5, "l": 2},
}


def of_persons(persons: Sequence[int], values: Sequence[str], class_of: Sequence[int]) -> Classes:
    """Return classes of records with the person of each."""
    data = Microdata((), (SensitiveSpec("s"),), tuple((value,) for value in values))
    own, one = build.classes(data, list(class_of)), np.arange(len(values))
    units = {"person": Units.of_items(one, np.array(persons), len(values))}
    codes = {"s": SensitiveCodes(own.counted("s").counts.attribute, own.sensitive_codes("s"))}
    return Classes(own.class_of, Measure(own.counts, units), own.number, codes)


@pytest.mark.parametrize("name", ON_SHARES)
@costly(4)
@given(random=RANDOMS)
def test_certain_losses_of_persons_hold_for_every_partition(name: str, random: Random) -> None:
    """Records of a person may be apart, so that shares among persons fall when a class is divided."""
    number = random.randint(3, 6)
    persons = [random.randrange(number) for _ in range(number)]
    values = ["a" if random.random() < 0.7 else random.choice("abc") for _ in range(number)]
    model = build.model(name, ON_SHARES[name])
    assert isinstance(model, ClassModel)
    bound = ClassConstraint(attribute="s", unit="person", model=model)
    whole = of_persons(persons, values, [0] * number)
    lost = int(bound.certain_losses(whole, None)[0])
    least = number
    for class_of in PARTITIONS[number]:
        classes = of_persons(persons, values, class_of)
        least = min(least, int(classes.sizes[~bound.holds(classes, None)].sum()))
    assert lost <= least


@pytest.mark.parametrize(
    ("name", "least"), [("alpha-k-anonymity", 6), ("entropy-l-diversity", 3), ("recursive-cl-diversity", 5)]
)
def test_what_no_division_of_persons_satisfies_is_known(name: str, least: int) -> None:
    """Eight persons have value a in two records each, and two of them b in one record."""
    model = build.model(name, ON_SHARES[name])
    assert isinstance(model, ClassModel)
    persons, values = [*range(8), *range(8), 0, 1], ["a"] * 16 + ["b"] * 2
    bound = ClassConstraint(attribute="s", unit="person", model=model)
    lost = bound.certain_losses(of_persons(persons, values, [0] * 18), None)[0]
    assert lost == least


@costly(4)
@given(random=RANDOMS)
def test_what_no_division_guesses_less_often_is_refuted(random: Random) -> None:
    """Against all divisions of the records, those of the failing ones suppressed up to a limit."""
    number, lost = random.randint(2, 6), random.randint(0, 3)
    values = tuple((random.choice("aab"),) for _ in range(number))
    data = Microdata((), (SensitiveSpec("s"),), values)
    target = random.choice(["re-identification", "attribute-inference"])
    model = build.model("vulnerability", {"max": random.choice([0.1, 0.2, 0.4, 0.5, 0.7]), "target": target})
    assert isinstance(model, TableModel)
    bound = TableConstraint(attribute="s" if target == "attribute-inference" else None, model=model)
    refuted = bound.surely_violated(Partition(data, (0,) * number).classes(), lost)
    satisfied = any(
        bound.holds(Partition(data, class_of).classes().part(np.array(kept))[0])
        for class_of in PARTITIONS[number]
        for kept in product((0, 1), repeat=number)
        if max(number - lost, 1) <= sum(kept)
    )
    assert not (refuted and satisfied)


@pytest.mark.parametrize("name", NAMES)
@share(4)
@given(random=RANDOMS)
def test_merging_does_what_the_model_says(name: str, random: Random) -> None:
    own = partition(random)
    attribute = random.choice(own.data.sensitive).name
    combined = random.random() < 0.5
    bound = constraint(
        ConstraintSpec(name, strategies.parameters(random, name), attribute, combined), own.data
    )
    assert isinstance(bound, ClassConstraint)
    reference = own.reference(attribute)
    held = bound.holds(own.classes(), reference)
    merged = renumbered([number // 2 for number in own.class_of])
    after = bound.holds(Partition(own.data, merged).classes(), reference)
    members: dict[int, set[int]] = {}
    for before, now in zip(own.class_of, merged, strict=True):
        members.setdefault(now, set()).add(before)
    for now, classes in members.items():
        verdicts = [bool(held[number]) for number in classes]
        if bound.merging is Merging.ANY and any(verdicts):
            assert after[now]
        if bound.merging is Merging.SATISFYING and all(verdicts):
            assert after[now]


def test_ignored_absence_is_no_promise_about_merging() -> None:
    """A value that was absent may come in below the bound: the claim NONE is needed."""
    ignored = build.model("delta-disclosure", {"delta": 1, "absent": "ignored"})
    violating = build.model("delta-disclosure", {"delta": 1})
    assert isinstance(ignored, ClassModel)
    assert isinstance(violating, ClassModel)
    assert ignored.merging is Merging.NONE
    assert violating.merging is Merging.SATISFYING


def test_parts_of_a_class_weaken_what_merging_promises() -> None:
    """Merging brings parts that only one class has: each must hold by itself."""
    random = Random(0)
    data = strategies.table(random)
    alone = ConstraintSpec("l-diversity", {"l": 2}, "s")
    combined = ConstraintSpec("l-diversity", {"l": 2}, "s", combined=True)
    assert constraint(alone, data).merging is Merging.ANY
    assert constraint(combined, data).merging is Merging.SATISFYING
