"""Local recoding against brute force, and what holds for any table and any models."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import InputError, Interrupted
from anonymizer.loss.height import Height
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Outcome, Status
from anonymizer.model.table import Table
from anonymizer.search.auto import with_nodes
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.local import algorithm
from anonymizer.search.local.algorithm import RECORDS, Exact, Local
from anonymizer.search.mondrian.algorithm import Mondrian
from anonymizer.search.partition import trees
from anonymizer.search.partition.assignment import LocalProblem
from anonymizer.search.partition.trees import NONE, AllowedTrees, RowJoins
from tests import strategies
from tests.conformance.asked import about, any_table
from tests.helpers.examples import costly, share
from tests.helpers.messages import exchange
from tests.helpers.problems import problem, with_a_value
from tests.twins.local import TwinLocal
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec

SEEDS = st.integers(0, 2**32)
ENOUGH = 60
"""Steps that suffice for a dozen records."""

MERGEABLE = ("k-anonymity", "l-diversity", "entropy-l-diversity", "t-closeness", "basic-beta-likeness")
"""Models that hold for the union of two classes if they do for both."""


def searched(own: SearchProblem, steps: int = ENOUGH) -> Outcome:
    return Local().search(own, Control(steps=steps))


def small(random: Random, most: int) -> ProblemSpec:
    """Return a problem that the brute force can solve."""
    names = [random.choice(MERGEABLE), "k-anonymity"]
    spec = about(random, any_table(random, most), names, ["loss"])
    plain = tuple(replace(each, combined=False) for each in spec.constraints)
    return replace(
        spec, constraints=plain, aggregate="arithmetic-mean", keep_rows=False, moving_reference=False
    )


def rows_of(outcome: Outcome, spec: ProblemSpec) -> tuple[list[list[int]], int]:
    """Return the records of each class as published, and how many records are removed."""
    assert outcome.recoding is not None
    recoding, data = outcome.recoding, spec.data
    table: Table = recoding.table
    names = [own.column.texts for own in (*table.quasi_identifiers, *table.sensitive)]
    waiting: dict[tuple[str, ...], list[int]] = {}
    for row, record in enumerate(data.records):
        waiting.setdefault(tuple("<missing>" if cell is None else str(cell) for cell in record), []).append(
            row
        )
    columns = recoding.published()
    classes: dict[tuple[str, ...], list[int]] = {}
    removed = 0
    for part in range(table.combinations):
        queue = waiting[tuple(name[code] for name, code in zip(names, table.codes[part], strict=True))]
        own = [queue.pop() for _ in range(int(table.counts[part]))]
        if recoding.removed[part]:
            removed += len(own)
        else:
            key = tuple(column.labels[column.codes[part]] for column in columns)
            classes.setdefault(key, []).extend(own)
    assert not any(waiting.values())
    return list(classes.values()), removed


def contents(outcome: Outcome, spec: ProblemSpec) -> Counter[frozenset[tuple[object, int]]]:
    """Return how often each content of a class occurs."""
    classes, _ = rows_of(outcome, spec)
    return Counter(frozenset(Counter(spec.data.records[row] for row in rows).items()) for rows in classes)


def check_valid(outcome: Outcome, spec: ProblemSpec) -> None:
    """Check a release by the definitions."""
    classes, removed = rows_of(outcome, spec)
    assert removed <= spec.limit
    assert classes
    everyone = [row for rows in classes for row in rows]
    twin = BruteForce(spec)
    kept_suppressed = spec.keep_rows and not removed
    moving = spec.moving_reference and not kept_suppressed
    reference = everyone if moving else list(range(len(spec.data.records)))
    assert all(twin.holds(rows, reference) for rows in classes)
    assert twin.table_holds(classes)


def missed(random: Random, most: int) -> bool:
    """Tell whether the best recoding of a random table was not found; anything wrong fails at once."""
    spec = small(random, most)
    best = TwinLocal(spec).optimum()
    outcome = searched(problem(spec))
    if outcome.status is not Status.SATISFIED:
        assert outcome.status is Status.UNDECIDED or best == inf
        return best < inf
    assert outcome.objective is not None
    assert outcome.objective >= best - 1e-12
    assert outcome.bound is None or outcome.bound <= best + 1e-12
    check_valid(outcome, spec)
    return outcome.objective > best + 1e-12


@share(3)
@given(seed=SEEDS)
def test_a_handful_of_records_is_recoded_in_the_best_way(seed: int) -> None:
    assert not missed(Random(seed), 9)


@pytest.mark.slow
def test_100_tables_are_recoded_in_the_best_way() -> None:
    assert not any(missed(Random(seed), RECORDS) for seed in range(1000, 1100))


@pytest.mark.slow
def test_moves_alone_find_the_best_way_mostly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exact, "applies", staticmethod(lambda _: False))
    assert sum(missed(Random(seed), 9) for seed in range(30)) <= 3


@share(3)
@given(seed=SEEDS)
def test_whatever_is_released_satisfies_every_model(seed: int) -> None:
    spec = with_a_value(strategies.problem(Random(seed)), with_nodes)
    outcome = searched(problem(spec), 8)
    if outcome.status is Status.SATISFIED:
        check_valid(outcome, spec)


@share(3)
@given(seed=SEEDS)
def test_it_is_never_worse_than_the_lattice(seed: int) -> None:
    spec = replace(
        strategies.problem(Random(seed)), metric="loss", aggregate="arithmetic-mean", keep_rows=False
    )
    if spec.moving_reference:
        spec = replace(spec, moving_reference=False)
    best = Lattice().search(problem(spec), Control())
    if best.status is Status.SATISFIED:
        outcome = searched(problem(spec), 1)
        assert outcome.objective is not None
        assert best.objective is not None
        assert outcome.objective <= best.objective + 1e-12


@share(3)
@given(seed=SEEDS)
def test_the_order_of_the_rows_makes_no_difference(seed: int) -> None:
    random = Random(seed)
    spec = about(random, any_table(random, 60), ["k-anonymity", "l-diversity"], ["loss", "ncp"])
    records = list(spec.data.records)
    random.shuffle(records)
    other = replace(spec, data=replace(spec.data, records=tuple(records)))
    one, two = searched(problem(spec), 15), searched(problem(other), 15)
    assert (one.status, one.objective, one.bound, one.steps) == (
        two.status,
        two.objective,
        two.bound,
        two.steps,
    )
    if one.recoding is not None:
        assert contents(one, spec) == contents(two, other)


def wide(seed: int = 0) -> ProblemSpec:
    """Return a problem of 300 records, nearly all different, that takes many steps."""
    random = Random(seed)
    own = tuple(
        QuasiIdentifierSpec(f"q{i}", strategies.tree(random, list("abcdefgh"), 3), maximum=3)
        for i in range(4)
    )
    secret = SensitiveSpec("s", {value: (value, "*") for value in "xyz"})
    columns = [list(spec.paths) for spec in own] + [list(secret.paths or ())]
    records = tuple(tuple(random.choice(values) for values in columns) for _ in range(300))
    constraints = (ConstraintSpec("k-anonymity", {"k": 4}), ConstraintSpec("l-diversity", {"l": 2}, "s"))
    return ProblemSpec(Microdata(own, (secret,), records), constraints, limit=6, k=4)


@pytest.mark.quick(1)
@pytest.mark.parametrize("seconds", [0.05, 0.4])
def test_a_budget_of_steps_repeats_a_run_that_time_ended(seconds: float) -> None:
    spec = wide(3)
    timed = Local().search(problem(spec), Control(cpu_seconds=seconds))
    again = searched(problem(spec), len(timed.steps))
    assert (timed.objective, timed.bound, timed.steps) == (again.objective, again.bound, again.steps)
    assert contents(timed, spec) == contents(again, spec)


def test_a_start_that_compares_many_distributions_has_a_quick_release_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = wide(3)
    monkeypatch.setattr(algorithm, "SLOW", 50_000)
    near = ConstraintSpec("t-closeness", {"t": 0.5}, "s")
    for constraints in (spec.constraints, (*spec.constraints, near)):
        found = searched(problem(replace(spec, constraints=constraints)), 3)
        assert found.steps[0].candidate["move"] == "mondrian"


@pytest.mark.slow
def test_more_steps_never_lose_more() -> None:
    spec = wide(1)
    objectives = [searched(problem(spec), steps).objective for steps in (1, 5, 20, 40)]
    known = [each for each in objectives if each is not None]
    assert known == sorted(known, reverse=True)
    assert known[-1] < known[0]


def test_suppressing_records_is_what_it_does_anyway() -> None:
    spec = wide(2)
    own = problem(spec)
    one = searched(own, 10)
    two = searched(replace(own, suppression=SuppressionMethod.RECORDS), 10)
    assert (one.objective, contents(one, spec)) == (two.objective, contents(two, spec))


def test_stopped_before_anything_was_found(message: SnapshotAssertion) -> None:
    with pytest.raises(Interrupted) as error:
        Local().search(problem(wide()), Control(stopped=lambda: True))
    assert exchange("stopped before a first assignment", error.value) == message


def test_a_metric_without_a_value_is_refused(message: SnapshotAssertion) -> None:
    own = replace(problem(wide()), metric=Height())
    with pytest.raises(InputError) as error:
        searched(own, 10)
    assert exchange("height", error.value) == message


@pytest.mark.slow
def test_stopped_later_the_best_so_far_is_kept() -> None:
    spec = wide()
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > 1_000

    outcome = Local().search(problem(spec), Control(seconds=60, stopped=stopped))
    assert outcome.interrupted
    assert outcome.status is Status.SATISFIED
    check_valid(outcome, spec)


@pytest.mark.slow
def test_progress_shows_the_best_and_the_bound() -> None:
    seen = []
    spec = wide()
    control = Control(steps=60, listen=seen.append)
    control._told = -inf
    outcome = Local().search(problem(spec), control)
    assert seen
    assert all(each.best is not None and each.best >= (outcome.bound or 0.0) for each in seen)
    assert outcome.bound is not None
    assert outcome.objective is not None
    assert 0 < outcome.bound <= outcome.objective


def test_weights_of_zero_cost_nothing() -> None:
    spec = wide()
    free = tuple(replace(own, weight=float(i == 0)) for i, own in enumerate(spec.data.quasi_identifiers))
    spec = replace(spec, data=replace(spec.data, quasi_identifiers=free))
    outcome = searched(problem(spec), 10)
    assert outcome.objective is not None
    assert np.isfinite(outcome.objective)
    check_valid(outcome, spec)


@share(2)
@given(seed=SEEDS)
def test_joins_with_many_rows_cost_what_climbing_says(seed: int) -> None:
    random = Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        most = random.choice((1, 20, trees.TABLE_LIMIT))
        patch.setattr(trees, "TABLE_LIMIT", most)
        patch.setattr(trees, "SEVERAL", min(random.choice((1, 60, 2_000, trees.SEVERAL)), most))
        ground = LocalProblem(problem(small(random, 12)))
        forest, rows = ground.trees, ground.atoms.nodes
        own = RowJoins(forest, ground.joins, rows)
        lengths = np.array([random.randint(0, 5) for _ in range(4)])
        chosen = np.array([random.randrange(len(rows)) for _ in range(lengths.sum())], dtype=np.int64)
        nodes = np.array(
            [
                [random.choice(np.flatnonzero(forest.attribute == place)) for place in range(rows.shape[1])]
                for _ in lengths
            ],
            dtype=np.int32,
        )
        least = np.array([random.choice((0.0, inf)) for _ in chosen], dtype=np.float32)
        found = own.costs(nodes, own.codes[:, chosen], lengths, least)
    vectors = np.repeat(nodes, lengths, axis=0).tolist()
    climbed = [
        sum(climbing(forest, *pair) for pair in zip(one, rows[row].tolist(), strict=True))
        for one, row in zip(vectors, chosen.tolist(), strict=True)
    ]
    np.testing.assert_allclose(found, np.array(climbed) + least, rtol=1e-5)


def climbing(forest: AllowedTrees, one: int, other: int) -> float:
    """Return the cost of the lowest allowed node above one node that covers another one too."""
    while one != NONE and not (
        forest.first[one] <= forest.first[other] and forest.last[other] <= forest.last[one]
    ):
        one = int(forest.parent[one])
    return inf if one == NONE else float(forest.cost[one])


@costly()
@given(random=strategies.randoms())
def test_with_many_attributes_it_starts_from_mondrian_and_stays_valid(random: Random) -> None:
    """As if there were too many level vectors: the models hold, and no loss is above Mondrian's."""
    spec = replace(
        strategies.problem(random), metric=random.choice(("loss", "ncp")), aggregate="arithmetic-mean"
    )
    asked = problem(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonymizer.search.local.start.VECTORS", 1)
        # One vector is all there are where a single attribute has levels.
        patch.setattr("anonymizer.search.local.start.LevelLattice.wide", True)
        patch.setattr("anonymizer.search.local.algorithm.RECORDS", 0)
        patch.setattr("anonymizer.search.local.algorithm.MOVING_RECORDS", 0)
        outcome = Local().search(asked, Control(steps=12))
    other = Mondrian().search(asked, Control())
    if other.recoding is None:
        return
    assert outcome.recoding is not None
    assert outcome.objective <= other.objective + 1e-9
    check_valid(outcome, spec)


@pytest.mark.slow
def test_thirty_attributes_gain_on_mondrian() -> None:
    random = np.random.default_rng(1)
    hidden = random.normal(size=(120, 2)) @ random.normal(size=(2, 30))
    values = np.clip(np.floor(hidden + random.normal(size=hidden.shape) + 4), 0, 7).astype(int)
    tree = {value: (f"{value}", f"{value // 2}-", f"{value // 4}+", "*") for value in range(8)}
    own = tuple(QuasiIdentifierSpec(f"q{i}", tree, maximum=3) for i in range(30))
    data = Microdata(own, (), tuple(map(tuple, values.tolist())))
    spec = ProblemSpec(data, (ConstraintSpec("k-anonymity", {"k": 5}),), limit=6, k=5)
    asked = problem(spec)
    local, mondrian = (each.search(asked, Control(steps=10)) for each in (Local(), Mondrian()))
    assert local.objective < 0.97 * mondrian.objective
    assert len(local.steps) == 10
    check_valid(local, spec)
