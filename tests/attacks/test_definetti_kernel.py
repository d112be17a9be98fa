"""Sweeps of the deFinetti attack: compiled and in numpy alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import compiled
from anonymizer.attacks.definetti import sampling
from anonymizer.attacks.definetti.chains import LEAST, LatentAssignment, SideBySide
from anonymizer.attacks.definetti.groups import Groups, groups_of
from anonymizer.attacks.definetti.kernel import Compiled, pays
from anonymizer.attacks.definetti.model import Feature, Joints, NaiveBayes, Similar
from anonymizer.attacks.definetti.sampling import Posterior, SamplerSettings, posterior
from anonymizer.model.arrays import IntArray

SEEDS = st.integers(0, 2**32)
SWEEPS = 5


def some_groups(random: np.random.Generator, records: int, sizes: IntArray, values: int) -> Groups:
    """Return records in groups at random, some of them with unknown features."""
    group = np.sort(random.integers(0, max(records // int(random.integers(2, 12)), 1), records))
    group = np.unique(group, return_inverse=True)[1].reshape(-1)
    secret = random.integers(0, values, records)
    codes = random.integers(0, sizes, (records, len(sizes)))
    # Features go with values, so that chances are not all alike.
    codes = np.where(random.random(codes.shape) < 0.5, secret[:, None] % sizes, codes)
    codes[random.random(codes.shape) < 0.05] = -1
    pairs, number = np.unique(group * values + secret, return_counts=True)
    known = random.random(records) < 0.95
    ones = np.ones(int(known.sum()), dtype=np.int64)
    held = pairs // values, pairs % values, number
    return groups_of(codes[known], group[known], ones, held, values)[0]


def any_model(seed: int) -> tuple[Groups, NaiveBayes]:
    """Return some records, and features of which some are compared by likeness."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, random.choice([4, 40]), int(random.integers(1, 9)))
    groups = some_groups(random, int(random.integers(4, 120)), sizes, int(random.choice([2, 5, 40])))
    features = []
    for size in sizes.tolist():
        likeness = random.random((int(random.integers(1, 5)), size)) + 1e-3
        alike = random.random() < 0.3
        features.append(Similar(likeness / likeness.sum(axis=1, keepdims=True)) if alike else Feature(size))
    return groups, NaiveBayes(groups, features, float(random.choice([1e-6, 0.5, 1, 3])))


@given(SEEDS)
def test_compiled_and_interpreted_sweeps_give_equal_bytes(seed: int) -> None:
    # A context of its own for each example, which a fixture would not be.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("anonymizer.attacks.definetti.model.CELLS", seed % 7 * 40)
        groups, model = any_model(seed)
        assignment = LatentAssignment.of(groups)
        if not len(assignment.base):
            return
        chains = [
            kind(groups, assignment, model, np.random.default_rng(seed).spawn(3))
            for kind in (Compiled, SideBySide)
        ]
        fast, slow = (each.counts[:, :-1].tolist() for each in chains)
        assert fast == slow
        for _ in range(2):
            moments = [each.run(SWEEPS, lambda _: None) for each in chains]
            for one, other in zip(*moments, strict=True):
                assert one.tobytes() == other.tobytes()


@given(SEEDS)
def test_chains_side_by_side_are_those_of_each_alone(seed: int) -> None:
    groups, model = any_model(seed)
    assignment = LatentAssignment.of(groups)
    if not len(assignment.base):
        return
    randoms = np.random.default_rng(seed)
    together = SideBySide(groups, assignment, model, randoms.spawn(3)).run(SWEEPS, lambda _: None)
    for own, random in enumerate(np.random.default_rng(seed).spawn(3)):
        alone = SideBySide(groups, assignment, model, [random]).run(SWEEPS, lambda _: None)
        for one, other in zip(together, alone, strict=True):
            assert one[own].tobytes() == other.tobytes()


@given(SEEDS)
def test_records_stay_in_their_groups_and_so_do_values(seed: int) -> None:
    groups, model = any_model(seed)
    assignment = LatentAssignment.of(groups)
    if not len(assignment.base):
        return
    chains = Compiled(groups, assignment, model, np.random.default_rng(seed).spawn(2))
    found = chains.run(SWEEPS, lambda _: None)
    starts = groups.first[:-1]
    unsure = groups.open[groups.group]
    records = np.add.reduceat(found.sums, starts, axis=1)
    assert np.allclose(records[:, unsure], SWEEPS)
    assert not records[:, ~unsure].any()
    place = groups.group[groups.kind] * groups.size + groups.entry_values
    expected = found.sums[0] * groups.counts[groups.kind]
    held = np.bincount(place, weights=expected, minlength=groups.number * groups.size)
    held = held.reshape(groups.number, groups.size)
    owner = np.repeat(np.arange(groups.number), np.diff(groups.starts))
    wanted = np.zeros((groups.number, groups.size))
    wanted[owner, groups.values] = SWEEPS * groups.value_counts
    assert np.allclose(held[groups.open], wanted[groups.open])


@given(SEEDS)
def test_joined_features_are_as_likely_as_each_by_itself(seed: int) -> None:
    groups, model = any_model(seed)
    kinds = np.arange(len(groups.counts))
    joints = Joints.of(model, kinds, int(seed % 1000))
    table = np.random.default_rng(seed).random((model.rows, model.secrets))
    table[-1] = 1
    each = table[model.row].prod(axis=1)
    together = table[joints.parts].prod(axis=1)[joints.row].prod(axis=1)
    assert np.allclose(each, together)
    assert joints.ends[-1] == len(joints.parts)
    assert joints.widths.sum() == model.row.shape[1]


def test_many_features_do_not_make_a_likelihood_of_zero() -> None:
    random = np.random.default_rng(1)
    groups = some_groups(random, 60, np.full(300, 3), 2)
    model = NaiveBayes(groups, [Feature(3)] * 300, 1e-3)
    assignment = LatentAssignment.of(groups)
    for kind in (Compiled, SideBySide):
        found = kind(groups, assignment, model, random.spawn(2)).run(40, lambda _: None)
        assert np.isfinite(found.sums).all()
    assert LEAST * LEAST > 0


def sampled(case: tuple[Groups, NaiveBayes]) -> Posterior:
    effort = SamplerSettings(2, 64, 1.05, 200)
    return posterior(*case, effort, np.random.default_rng(0).spawn(2))


def test_a_small_table_is_swept_in_numpy_and_a_large_one_by_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = any_model(3)
    assignment = LatentAssignment.of(case[0])
    assert not pays(case[0], assignment, 2, 64)
    assert pays(case[0], assignment, 4, 10**9)
    plain = sampled(case)
    monkeypatch.setattr(sampling, "pays", lambda *_: True)
    fast = sampled(case)
    assert fast.by_chain.tobytes() == plain.by_chain.tobytes()
    assert repr(fast.convergence) == repr(plain.convergence)
    monkeypatch.setattr(compiled, "_code", lambda _: None)
    assert not pays(case[0], assignment, 4, 10**9)
