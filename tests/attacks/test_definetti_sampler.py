"""The sampler of the deFinetti attack, against going through all ways to deal the values out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.attacks.definetti import (
    Expected,
    Posterior,
    SamplerSettings,
    Score,
    Similar,
    expected_accuracy,
)
from tests.attacks.exchangeable import Dealt, dealt, spread
from tests.twins import exchangeable as twin

Case = tuple[list[list[tuple[str, ...]]], list[list[str]]]


def some_groups(seed: int) -> Case:
    """Return a few small groups whose features go with their values."""
    random = Random(seed)
    sizes = random.choice([(2, 2, 2, 2), (3, 3, 2), (4, 2, 2), (2, 1, 3), (5,), (4, 3)])
    people, secrets = [], []
    for size in sizes:
        secrets.append([random.choice("stu") for _ in range(size)])
        people.append(
            [
                tuple(secret if random.random() < 0.6 else random.choice("stu") for _ in range(2))
                for secret in secrets[-1]
            ]
        )
    return people, secrets


def differences(case: Dealt, chances: np.ndarray, exact: list[list[dict[str, Fraction]]]) -> np.ndarray:
    """Return the difference of the chances of each entry."""
    wanted = np.full(len(chances), np.nan)
    for group, own in enumerate(exact):
        for person, believed in enumerate(own):
            for secret, chance in believed.items():
                wanted[case.entry(group, person, secret)] = float(chance)
    return np.abs(chances - wanted)


def assert_close(case: Dealt, found: Posterior, exact: list[list[dict[str, Fraction]]]) -> None:
    """Check that chances are as close as the differences between chains let expect."""
    off = differences(case, found.chances, exact)
    # The errors of a case go together, so that this is about one t statistic of 7 degrees of freedom.
    assert off.mean() <= 4 * spread(found).mean() + 1e-12
    assert off.max() <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "prior"), [*((seed, Fraction(1)) for seed in range(6)), (6, Fraction(1, 2)), (7, Fraction(3))]
)
def test_chances_are_those_of_all_worlds(seed: int, prior: Fraction) -> None:
    people, secrets = some_groups(seed)
    case = dealt(people, secrets)
    found = case.sampled(seed=seed, prior=float(prior))
    assert_close(case, found, twin.posterior(people, secrets, case.sizes, prior))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 20, 2))
def test_chances_of_long_chains_are_those_of_all_worlds(seed: int) -> None:
    people, secrets = some_groups(seed)
    case = dealt(people, secrets)
    found = case.sampled(SamplerSettings(6, 4096, 1.0000001, 10**9), seed=seed)
    exact = twin.posterior(people, secrets, case.sizes, Fraction(1))
    assert_close(case, found, exact)
    # Four standard errors of a chance of one half, from so many independent draws; none where all is known.
    error = 0.0 if found.convergence is None else 2 / found.convergence.draws**0.5
    assert error < 0.1
    assert differences(case, found.chances, exact).max() <= error + 1e-12


@pytest.mark.slow
def test_a_person_of_whom_nothing_is_known_takes_part() -> None:
    people = [[("a", "a"), ("?", "?")], [("a", "b"), ("b", "b")], [("a", "a"), ("b", "b")]]
    secrets = [["s", "t"], ["s", "t"], ["s", "t"]]
    case = dealt(people, secrets)
    assert_close(case, case.sampled(), twin.posterior(people, secrets, case.sizes))


def test_more_values_than_known_people_belong_to_unknown_ones() -> None:
    case = dealt([[("a",)], [("a",), ("b",)]], [["s", "t"], ["s", "t"]])
    assert case.groups.counts.tolist() == [1, 1, 1, 1]
    assert case.groups.codes[:, 0].tolist() == [-1, 0, 0, 1]


@pytest.mark.slow
def test_likeness_weighs_labels_as_a_mixture() -> None:
    people = [[("a",), ("b",)], [("a",), ("c",)], [("b",), ("c",)], [("a",), ("a",)]]
    secrets = [["s", "t"], ["s", "t"], ["s", "t"], ["s", "s"]]
    likeness = np.array([[0.6, 0.3, 0.1], [0.0, 0.25, 0.75]])
    case = dealt(people, secrets)
    exact = twin.mixture(
        people, secrets, [[Fraction(str(x)) for x in row] for row in likeness.tolist()], "abc"
    )
    assert_close(case, case.sampled(features=[Similar(likeness)]), exact)


@pytest.mark.slow
def test_likeness_of_one_value_to_each_label_is_to_tell_values_apart() -> None:
    people, secrets = some_groups(3)
    case = dealt(people, secrets)
    found = case.sampled(features=[Similar(np.eye(size)) for size in case.sizes])
    assert_close(case, found, twin.posterior(people, secrets, case.sizes))


def test_groups_of_one_kind_or_one_value_are_known_without_a_draw() -> None:
    case = dealt([[("a",), ("a",), ("a",)], [("a",), ("b",)]], [["s", "s", "t"], ["t", "t"]])
    found = case.sampled()
    assert found.convergence is None
    assert found.chances.tolist() == [2 / 3, 1 / 3, 1, 1]


def test_a_seed_repeats_and_another_differs() -> None:
    case = dealt(*some_groups(0))
    short = SamplerSettings(2, 32, 1.01, 100)
    assert case.sampled(short, 1).chances.tolist() == case.sampled(short, 1).chances.tolist()
    assert case.sampled(short, 1).chances.tolist() != case.sampled(short, 2).chances.tolist()


def test_chains_stop_when_they_agree_or_at_their_budget() -> None:
    sure = [[("a",), ("a",)], [("b",), ("b",)]], [["s", "s"], ["t", "t"]]
    case = dealt([[("a",), ("b",)]] * 50 + sure[0] * 10, [["s", "t"]] * 50 + sure[1] * 10)
    settled = case.sampled(SamplerSettings(4, 1 << 14, 1.2, 20)).convergence
    assert settled is not None
    assert settled.converged
    assert settled.sweeps < 1 << 13
    assert settled.likelihood < 1.2
    never = case.sampled(SamplerSettings(4, 100, 1.2, 10**6)).convergence
    assert never is not None
    assert not never.converged
    assert never.sweeps <= 100
    assert 2 * never.kept >= never.sweeps


def test_independent_features_give_no_lift() -> None:
    random = Random(5)
    people = [[(random.choice("abc"), random.choice("xy")) for _ in range(2)] for _ in range(1500)]
    case = dealt(people, [["s", "t"] if random.random() < 0.5 else ["s", "u"] for _ in people])
    true = np.zeros(int(case.groups.first[-1]), dtype=np.int64)
    for group in range(len(people)):
        for person, place in enumerate(random.sample(range(2), 2)):
            entries = case.groups.first[case.kinds[group][person]]
            true[entries + place] += 1
    found = case.sampled(SamplerSettings(2, 512, 1.05, 50))
    score = Score.of(case.groups, found.chances, true)
    assert abs(float(score.accuracy) - 0.5) < 4 * 0.5 / np.sqrt(3000)
    assert expected_accuracy(case.groups, found.chances) < 0.56
    assert score.absolute > 0.95


def symmetric(seed: int) -> Case:
    """Return groups that all have the same values once: by symmetry, each has the chance 1 / values."""
    random = Random(seed)
    groups, values, features = random.randint(2, 6), random.randint(2, 5), random.randint(1, 3)
    people = [
        [tuple(random.choice("abc") for _ in range(features)) for _ in range(values)] for _ in range(groups)
    ]
    return people, [list("ABCDE"[:values])] * groups


def covered(seeds: Sequence[int], effort: SamplerSettings) -> tuple[int, list[float], list[float]]:
    """Return how often the interval covers the true share, and the errors of the estimate and the maximum."""
    inside, errors, largest = 0, [], []
    for seed in seeds:
        people, secrets = symmetric(seed)
        case = dealt(people, secrets)
        found = case.sampled(effort, seed)
        own, true = Expected.of(case.groups, found.by_chain), 1 / len(secrets[0])
        inside += own.low <= true + 1e-9 <= own.high + 2e-9
        errors.append(float(np.mean(own.by_chain)) - true)
        largest.append(expected_accuracy(case.groups, found.chances) - true)
    return inside, errors, largest


@pytest.mark.slow
def test_a_symmetric_table_is_expected_to_give_away_nothing() -> None:
    """The mean of the largest noisy chances is too large; guesses of other chains are not."""
    inside, errors, largest = covered(range(40), SamplerSettings(4, 128, 1.05, 200, precise=True))
    assert inside >= 36, "at least 95% of 40, less what chance allows"
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(40)
    assert np.mean(largest) > 0.02


@given(st.integers(0, 10**6))
def test_chains_guess_for_each_other_as_by_lists(seed: int) -> None:
    random = np.random.default_rng(seed)
    case = dealt(*symmetric(seed))
    groups, chains = case.groups, int(random.integers(2, 5))
    entries = int(groups.first[-1])
    chances = random.integers(1, 4, (chains, entries)).astype(float)
    chances /= np.add.reduceat(chances, groups.first[:-1], axis=1)[:, groups.kind]
    found = []
    for own in range(chains):
        right = 0.0
        for kind, records in enumerate(groups.counts.tolist()):
            mine = range(groups.first[kind], groups.first[kind + 1])
            others = [round(sum(chances[other, entry] for other in range(chains) if other != own), 9)
                      for entry in mine]  # fmt: skip
            best = [entry for entry, chance in zip(mine, others, strict=True) if chance == max(others)]
            right += records * sum(chances[own, entry] for entry in best) / len(best)
        found.append(right / groups.people)
    assert Expected.of(groups, chances).by_chain == pytest.approx(found)
