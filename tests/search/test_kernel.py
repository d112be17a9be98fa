"""The kernel of local recoding: compiled and interpreted alike, and conditions as the models judge them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizer import compiled
from anonymizer.model.recoding import Outcome
from anonymizer.privacy.base import TableConstraint
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.local import annealing as annealing_module
from anonymizer.search.local.algorithm import Local
from anonymizer.search.local.annealing import Annealing, NearRows
from anonymizer.search.local.improvers import ProposalAcceptance
from anonymizer.search.partition import kernel
from anonymizer.search.partition.assignment import Assignment, LocalProblem
from anonymizer.search.partition.kernel import excess
from anonymizer.search.partition.limits import limits_of
from anonymizer.search.partition.merging import Thinning, repaired, thinned
from anonymizer.search.partition.validity import AssignmentJudge, Validity
from tests.conformance.asked import about, any_table
from tests.helpers import build
from tests.helpers.problems import problem

SEEDS = st.integers(0, 2**32)
MODELS = (
    "alpha-k-anonymity",
    "basic-beta-likeness",
    "delta-disclosure",
    "enhanced-beta-likeness",
    "entropy-l-diversity",
    "l-diversity",
    "p-sensitive-k-anonymity",
    "recursive-cl-diversity",
    "t-closeness",
)
"""Models that say what the counts of a valid class satisfy."""

RECORDS = 40
STEPS = 8


def asked(seed: int, *, plain: bool = True) -> SearchProblem:
    """Return a problem with k-anonymity and two of the models."""
    random = Random(seed)
    names = [*random.sample(MODELS, 2), "k-anonymity"]
    spec = about(random, any_table(random, RECORDS), names, ["loss"])
    constraints = tuple(replace(each, combined=False) for each in spec.constraints)
    own = replace(spec, constraints=constraints, aggregate="arithmetic-mean", moving_reference=False)
    return problem(own if plain else replace(spec, aggregate="arithmetic-mean"))


def whole(ground: LocalProblem, random: np.random.Generator, most: int) -> Assignment:
    """Return the records in some classes at random."""
    atoms = np.arange(ground.atoms.number)
    return Assignment.of(ground, atoms, ground.atoms.counts, random.integers(most, size=len(atoms)))


@given(SEEDS)
def test_numbers_judge_classes_as_the_models_do(seed: int) -> None:
    ground = LocalProblem(asked(seed))
    validity = Validity(ground)
    known = limits_of(ground, validity.references)
    assert known.complete
    own = whole(ground, np.random.default_rng(seed), 6)
    held = validity.holds(own.atoms, own.counts, own.class_of, own.classes)
    counts = known.counts_of(own, np.arange(1, own.classes + 1), own.classes + 1)[1:]
    sizes = own.sizes
    numbers = [
        size >= known.limits.smallest and excess(known.limits, each, int(size)) == 0.0
        for size, each in zip(sizes, counts, strict=True)
    ]
    assert numbers == held.tolist()


def outcome(seed: int) -> Outcome:
    return Local().search(asked(seed, plain=False), Control(steps=STEPS))


@given(SEEDS)
def test_compiled_and_interpreted_moves_give_equal_bytes(seed: int) -> None:
    # A context of its own for each example, which a fixture would not be.
    with pytest.MonkeyPatch.context() as patched:
        fast = outcome(seed)
        patched.setattr(compiled, "_code", lambda _: None)
        slow = outcome(seed)
    assert (fast.objective, fast.steps, fast.bound) == (slow.objective, slow.steps, slow.bound)
    if fast.recoding is not None and slow.recoding is not None:
        pairs = range(len(fast.recoding.table.quasi_identifiers))
        for place in pairs:
            assert np.array_equal(fast.recoding.cells(place).codes, slow.recoding.cells(place).codes)


@given(SEEDS, st.booleans())
def test_annealed_classes_are_valid_and_cost_less(seed: int, whole_table: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        if not whole_table:
            patched.setattr(annealing_module, "ROWS", 0)
            patched.setattr(annealing_module, "REGION", 12)
        anneals(seed)


def anneals(seed: int) -> None:
    ground = LocalProblem(asked(seed))
    validity, judge = Validity(ground), AssignmentJudge(ground)
    own = whole(ground, np.random.default_rng(seed), 2)
    assume((own.nodes >= 0).all() and judge.admits(own))
    acceptance = ProposalAcceptance(validity, judge, ground.problem.limit)
    annealing = Annealing(ground, validity, judge, acceptance, lambda: False, 200, {})
    found = own
    for _ in range(3):
        before, found = found, annealing.improve(found, np.random.default_rng(seed))
        assert found.total <= before.total
        assert judge.admits(found)
        assert int(found.counts.sum()) == ground.records


@given(SEEDS)
def test_merged_classes_satisfy_what_is_known(seed: int) -> None:
    ground = LocalProblem(asked(seed))
    validity = Validity(ground)
    known = limits_of(ground, validity.references)
    own = whole(ground, np.random.default_rng(seed), 8)
    one = whole(ground, np.random.default_rng(seed), 1)
    assume((one.nodes >= 0).all())
    limit = ground.problem.limit
    for power in (1, 2, 4):
        found = repaired(own, known, limit, power, lambda: False)
        assert found is not None
        assert found.suppressed <= limit
        assert int(found.counts.sum()) == ground.records
        first = found.first
        held = validity.holds(
            found.atoms[first:], found.counts[first:], found.class_of[first:], found.classes
        )
        # Where even all records in one class violate a model, merging ends there.
        everything = validity.holds(one.atoms, one.counts, one.class_of, one.classes)
        assert held.all() or not everything.all() or found.classes == 1


@given(SEEDS)
def test_the_nearest_rows_are_those_of_the_cheapest_joins(seed: int) -> None:
    ground = LocalProblem(asked(seed))
    rows = np.unique(ground.atoms.nodes, axis=0)
    near = NearRows(ground, rows).of(np.arange(len(rows)), lambda: False)
    assert near is not None
    for own, found in enumerate(near):
        prices = ground.joins.costs(rows[own], rows).astype(np.float32)
        prices[own] = np.inf
        known = found[found >= 0]
        assert len(known) == min(near.shape[1], int((prices < np.inf).sum()))
        assert np.allclose(np.sort(prices)[: len(known)], prices[known])


def test_without_a_runtime_kernels_are_interpreted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken.wasm"
    broken.write_bytes(b"no module")
    assert not compiled.runs_compiled(broken)
    assert Local().hindrance is None
    monkeypatch.setattr(compiled, "_code", lambda _: None)
    assert "wasmtime" in (Local().hindrance or "")


def thinning(seed: int) -> Thinning:
    """Return the merges of some classes, by their number or by the values of an attribute."""
    ground, random = LocalProblem(asked(seed)), np.random.default_rng(seed)
    own = whole(ground, random, 12)
    assume((own.nodes >= 0).all())
    names = [None, *ground.atoms.sensitive]
    return Thinning(own, names[int(random.integers(len(names)))], lambda: False)


def ratios(parts: kernel.Parts) -> dict[tuple[int, int], float]:
    """Return what the merge of any two classes costs for what it takes away."""
    alive = [own for own in range(1, len(parts.state)) if parts.state[own, kernel.INTO] == own]
    pairs = ((own, other) for own in alive for other in alive if own != other)
    return {each: kernel._ratio(parts, *each, np.inf) for each in pairs}


@given(SEEDS)
def test_each_merge_is_the_cheapest_for_what_it_takes_away(seed: int) -> None:
    begun, replayed = thinning(seed), thinning(seed)
    begun.reach(10_000)
    when, into = begun._mates.when, begun._parts.state[:, kernel.INTO]
    parts = replayed._parts
    for gone in np.argsort(when)[: begun.merges].tolist():
        # The class that it became part of at that time.
        costs = ratios(parts)
        own = int(into[gone])
        assert costs[own, gone] == min(costs.values()) == costs[gone, own]
        kernel._join(parts, own, gone)
        parts.over[own] = kernel._largest(parts, own)
    assert not ratios(parts) or min(ratios(parts).values()) == np.inf


@given(SEEDS)
def test_merges_are_the_same_compiled_and_interpreted(seed: int) -> None:
    one = thinning(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "_code", lambda _: None)
        other = thinning(seed)
        other.reach(10_000)
    one.reach(10_000)
    assert one.merges == other.merges
    for mine, yours in zip(one._mates, other._mates, strict=True):
        assert np.array_equal(mine, yours)


@given(SEEDS)
def test_fewer_classes_satisfy_models_of_the_whole_release(seed: int) -> None:
    random = Random(seed)
    own = asked(seed)
    names = [None, *(each.name for each in own.table.sensitive)]
    name = random.choice(names)
    target = "re-identification" if name is None else "attribute-inference"
    model = build.model("vulnerability", {"max": random.choice((0.1, 0.3, 0.5, 0.8)), "target": target})
    limited = replace(own, table_constraints=(TableConstraint(attribute=name, model=model),))
    ground = LocalProblem(replace(limited, class_constraints=()))
    fine = whole(ground, np.random.default_rng(seed), 12)
    one = whole(ground, np.random.default_rng(seed), 1)
    assume((one.nodes >= 0).all())
    judge = AssignmentJudge(ground)
    found = thinned(fine, judge, lambda: False)
    # Merges never make a guess better, so one class decides.
    assert (found is not None) == judge.admits(one)
    if found is not None:
        assert judge.admits(found)
        assert found.classes <= fine.classes
