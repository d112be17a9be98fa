"""What models promise to a search: what merging does to verdicts, and what finer classes lose for certain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from hypothesis import given

from anonymizer.privacy.base import ClassConstraint, ClassModel, Merging
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.partitions import Partition, partition, renumbered
from tests.helpers.problems import constraint
from tests.twins.microdata import Value
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
