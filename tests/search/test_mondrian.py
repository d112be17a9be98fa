"""Mondrian against a twin that cuts region by region in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from anonymizer.model.recoding import Outcome, Status
from anonymizer.model.table import Table
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.search.base import Control
from anonymizer.search.mondrian.algorithm import LabelName, ModeName, Mondrian, MondrianSettings
from tests import strategies
from tests.helpers.examples import quickly
from tests.helpers.problems import problem
from tests.helpers.stubs import AtMost
from tests.twins.microdata import SensitiveSpec
from tests.twins.mondrian import Region, TwinMondrian, in_table_order
from tests.twins.privacy import CLASS_TWINS, ClassTwin, Group
from tests.twins.search import ConstraintSpec, ProblemSpec

LABELS = tuple(LabelName)
MODES = tuple(ModeName)
Class = frozenset[tuple[tuple[str, ...], int]]
"""How many records of each combination a class has."""


class AtMostTwin(ClassTwin):
    """A class has at most some records."""

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return len(group) <= self.of["records"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> int:
        return len(group)


@pytest.fixture
def at_most(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A model that merges violate, and its twin."""
    monkeypatch.setitem(CLASS_TWINS, AtMost.name, AtMostTwin)
    PRIVACY_MODELS.add(AtMost)
    yield
    PRIVACY_MODELS.remove(AtMost.name)


def mondrian(labels: LabelName, mode: ModeName) -> Mondrian:
    return Mondrian(MondrianSettings(labels=labels, mode=mode))


def texts(combination: tuple[object, ...]) -> tuple[str, ...]:
    return tuple("<missing>" if cell is None else str(cell) for cell in combination)


def published(outcome: Outcome) -> Counter[Class]:
    """Return the classes of a release as its reader sees them."""
    assert outcome.recoding is not None
    recoding = outcome.recoding
    columns = recoding.published()
    table: Table = recoding.table
    names = [own.column.texts for own in (*table.quasi_identifiers, *table.sensitive)]
    found: dict[tuple[int, ...], Counter[tuple[str, ...]]] = {}
    for row in np.flatnonzero(~recoding.removed):
        key = tuple(int(column.codes[row]) for column in columns)
        own = tuple(name[code] for name, code in zip(names, table.codes[row], strict=True))
        found.setdefault(key, Counter())[own] += int(table.counts[row])
    return Counter(frozenset(own.items()) for own in found.values())


def expected(twin: TwinMondrian, regions: list[Region]) -> Counter[Class]:
    found: dict[object, Counter[tuple[str, ...]]] = {}
    for region in regions:
        own = found.setdefault(twin.published(region), Counter())
        own.update({texts(combination): count for combination, count in region.items()})
    return Counter(frozenset(own.items()) for own in found.values())


def decided_by_cuts(random: Random) -> ProblemSpec:
    """Return a problem that needs cuts alone: no table models, no suppression, a metric of cells."""
    spec = strategies.problem(random)
    constraints = tuple(
        own
        for own in spec.constraints
        if own.model in CLASS_TWINS and own.parameters.get("absent") != "ignored"
    )
    return replace(
        spec, constraints=constraints, limit=0, moving_reference=False, metric=random.choice(("loss", "ncp"))
    )


def starts_lower(outcome: Outcome) -> bool:
    """Return whether the lattice was searched for a start, as the classes at the highest levels fail."""
    first = outcome.steps[0]
    return any(step.candidate.keys() == first.candidate["levels"].keys() for step in outcome.steps[1:])


def check_lower_start(outcome: Outcome, twin: TwinMondrian) -> None:
    """The cuts are those of the twin from the best recoding of the lattice."""
    names = [own.name for own in twin.data.quasi_identifiers]
    found = [step for step in outcome.steps if step.accepted and step.candidate.keys() == set(names)]
    start = twin.start([found[-1].candidate[name] for name in names])
    assert all(twin.holds(region) for region in start)
    classes = published(outcome)
    assert classes == expected(twin, twin.run(start))
    check_classes(twin, classes)


def check_classes(twin: TwinMondrian, classes: Counter[Class]) -> None:
    """Each class satisfies every model."""
    combinations = {texts(own): own for own in twin.data.records}
    assert all(twin.holds({combinations[own]: count for own, count in each}) for each in classes)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("labels", LABELS)
@quickly(60, 20)
@given(random=strategies.randoms())
def test_cuts_as_the_twin_does(labels: LabelName, mode: ModeName, random: Random) -> None:
    """The same classes, each of which satisfies every model as published: equal labels are one class."""
    spec = decided_by_cuts(random)
    asked = problem(spec)
    twin = TwinMondrian(spec, labels, asked.minimum_size, relaxed=mode is ModeName.RELAXED)
    outcome = mondrian(labels, mode).first(asked, Control())
    if all(twin.holds(region) for region in twin.start()):
        classes = published(outcome)
        assert classes == expected(twin, twin.run())
        check_classes(twin, classes)
    elif outcome.status is Status.SATISFIED:
        check_lower_start(outcome, twin)


@pytest.mark.quick(2)
@pytest.mark.usefixtures("at_most")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("labels", LABELS)
def test_cuts_start_lower_where_merges_violate_a_model(labels: LabelName, mode: ModeName) -> None:
    """A class may satisfy such a model though the one that it is a part of does not."""
    lower = 0
    for seed in range(40):
        data = strategies.table(Random(seed))
        spec = ProblemSpec(data, (ConstraintSpec(AtMost.name, {"records": len(data.records) // 2}),))
        asked = problem(spec)
        outcome = mondrian(labels, mode).search(asked, Control())
        if starts_lower(outcome) and outcome.status is Status.SATISFIED:
            relaxed = mode is ModeName.RELAXED
            check_lower_start(outcome, TwinMondrian(spec, labels, asked.minimum_size, relaxed=relaxed))
            lower += 1
    assert lower >= 5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("labels", LABELS)
@settings(max_examples=15)
@given(random=strategies.randoms())
def test_regions_are_cut_alike_in_small_pieces(labels: LabelName, mode: ModeName, random: Random) -> None:
    """Rows in chunks, regions in batches, large ones by few of their rows, sets listed: no difference."""
    asked = problem(decided_by_cuts(random))
    whole = mondrian(labels, mode).search(asked, Control())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonymizer.search.mondrian.store.CHUNK", 3)
        patch.setattr("anonymizer.search.mondrian.store.BATCH", 4)
        patch.setattr("anonymizer.search.mondrian.algorithm.SAMPLE", 2)
        patch.setattr("anonymizer.search.mondrian.algorithm.LARGE", 3)
        patch.setattr("anonymizer.search.mondrian.algorithm.FEW_ROWS", 0)
        patch.setattr("anonymizer.search.mondrian.labelling.MASKED_UNITS", 2)
        patch.setattr("anonymizer.search.mondrian.labelling.WORD_BITS", random.choice((2, 62)))
        pieces = mondrian(labels, mode).search(asked, Control())
    assert pieces.status is whole.status
    assert (pieces.steps, pieces.evaluated) == (whole.steps, whole.evaluated)
    if whole.recoding is not None:
        assert published(pieces) == published(whole)


def test_the_twin_knows_the_order_of_the_table() -> None:
    for seed in range(20):
        spec = strategies.problem(Random(seed))
        table = problem(spec).table
        names = [own.column.texts for own in (*table.quasi_identifiers, *table.sensitive)]
        rows = [tuple(name[code] for name, code in zip(names, own, strict=True)) for own in table.codes]
        assert rows == [texts(own) for own in in_table_order(spec.data)]
