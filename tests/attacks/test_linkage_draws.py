"""Errors of the adversary are drawn several times, and the interval covers targets and errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anonymizer.attacks.base import AttackResult, clopper_pearson
from anonymizer.attacks.linkage.attack import pooled
from tests.helpers.linkage import frame_scene, linkage


def draw(success: float, low: float, high: float, records: int = 100) -> AttackResult:
    details = {"sampled": True, "held_records": 1000, "estimated": False}
    return AttackResult("linkage", {}, success, 0.001, low, high, records, details, ceiling=0.9)


def test_draws_that_differ_as_chance_does_count_all_their_targets():
    found = pooled([draw(0.5, 0.5, 0.5), draw(0.52, 0.52, 0.52), draw(0.48, 0.48, 0.48)], together=False)
    assert found.success == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx(clopper_pearson(150, 300))
    assert found.records == 300
    assert found.details["draws"] == [0.5, 0.52, 0.48]
    assert found.details["estimated"]


def test_draws_that_differ_by_more_are_worth_fewer_targets():
    """The variance of .3, .5 and .7 is .04, sixteen times that of 100 independent targets, .0025."""
    found = pooled([draw(each, each, each) for each in (0.3, 0.5, 0.7)], together=False)
    assert (found.low, found.high) == pytest.approx(clopper_pearson(0.5 * 18, 18))


def test_ties_widen_the_interval_and_few_records_are_all_targets():
    draws = [replace(draw(0.5, 0.4, 0.7), details={**draw(0, 0, 0).details, "held_records": 100})] * 2
    found = pooled(draws, together=True)
    assert found.low == pytest.approx(clopper_pearson(80, 200)[0])
    assert found.high == pytest.approx(clopper_pearson(140, 200)[1])
    assert (found.records, found.details["sampled"]) == (100, False)


@pytest.mark.parametrize(("linking", "draws"), [("nearest", 5), ("assignment", 3), ("probabilistic", 2)])
def test_each_draw_links_a_part_of_the_targets(linking, draws):
    random = np.random.default_rng(2)
    original = pd.DataFrame({name: random.integers(0, 40, 600) for name in "ab"})
    found = linkage(frame_scene(original, original), aligned=True, linkage=linking, knowledge={"noise": 0.2})
    assert len(found.details["draws"]) == draws
    assert len(set(found.details["draws"])) > 1
    assert found.records == 600
    assert found.low < found.success < found.high


@pytest.mark.slow
def test_the_interval_of_an_assignment_covers_other_errors():
    random = np.random.default_rng(3)
    original = pd.DataFrame({name: random.permutation(80) for name in "ab"})
    masked = original + random.normal(0, 4, original.shape).round(1)
    scene = frame_scene(original, masked)
    options = {"aligned": True, "linkage": "assignment", "knowledge": {"noise": 0.2}}
    found = [linkage(scene, seed, **options) for seed in range(40)]
    mean = np.mean([each.success for each in found])
    assert sum(each.low <= mean <= each.high for each in found) >= 36
