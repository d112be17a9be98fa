"""Interval disclosure against a slow twin, its baseline under permutation, and a planted signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.base import AttackResult
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView
from tests.attacks.published import FEWER, attack, one, refused, release, run
from tests.attacks.scenes import owned, scene
from tests.helpers.messages import exchange
from tests.twins import attacks as twins


def masked(true: Sequence[int | None], published: Sequence[str | None]) -> AdversaryView:
    """Return the scene of one masked number; None became of a suppressed record."""
    rows = [None if text is None else (text,) for text in published]
    return scene(("x",), [(value,) for value in true], rows)


PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=12)
WIDTHS = st.sampled_from(["0.01", "0.1", "0.25", "0.5", "1"])


@FEWER
@given(PAIRS, WIDTHS)
def test_rank_interval_is_what_a_loop_counts(pairs: list[tuple[int, int]], width: str) -> None:
    true, published = zip(*pairs, strict=True)
    found = one("interval", masked(true, [str(own) for own in published]), measure="rid", width=width)
    reach = ceil(Fraction(width) * len(pairs))
    assert found.success == twins.rid(true, published, reach)
    assert found.baseline == twins.rid_by_chance(true, published, reach)
    best = twins.best_rank(true, range(len(true)), reach)
    assert found.details["best_guess"] == pytest.approx(float(best))
    assert found.records == len(pairs)
    assert found.low <= float(found.success) <= found.high


@FEWER
@given(PAIRS, WIDTHS, st.sampled_from(["original", "published"]))
def test_deviation_interval_is_what_a_loop_counts(
    pairs: list[tuple[int, int]], width: str, unit: str
) -> None:
    true, published = zip(*pairs, strict=True)
    spread = true if unit == "original" else published
    mean = Fraction(sum(spread), len(spread))
    deviation = sqrt(sum((own - mean) ** 2 for own in spread) / len(spread))
    reach = float(width) * deviation
    whole = [abs(abs(one_ - other) - reach) for one_ in true for other in published]
    whole += [abs(abs(one_ - other) - 2 * reach) for one_ in true for other in true]
    if 0 < min(whole) < 1e-9:
        return  # on the border, where the last bit of the deviation decides
    own = masked(true, [str(each) for each in published])
    found = one("interval", own, measure="sdid", width=width, deviation=unit)
    assert found.success == twins.sdid(true, published, reach)
    assert found.baseline == twins.sdid_by_chance(true, published, reach)
    best = twins.best_number(true, range(len(true)), reach)
    assert found.details["best_guess"] == pytest.approx(float(best))


@FEWER
@given(PAIRS, WIDTHS, st.sampled_from(["person", "household"]), st.data())
def test_persons_are_near_by_any_of_their_records(
    pairs: list[tuple[int, int]], width: str, unit: str, data: st.DataObject
) -> None:
    true, published = zip(*pairs, strict=True)
    persons = data.draw(st.lists(st.integers(0, 5), min_size=len(pairs), max_size=len(pairs)))
    home = {person: person // 2 for person in persons}
    units = {"person": persons, "household": [home[person] for person in persons]}
    view = masked(true, [str(own) for own in published])
    rows = [(value,) for value in true], [(str(own),) for own in published]
    assert view.original is not None
    view = replace(view, original=owned(view.original, view.release, *rows, units))
    found = one("interval", view, measure="rid", width=width, unit=unit)
    reach, ordered = ceil(Fraction(width) * len(pairs)), sorted(published)

    def inside(value: float, own: float | None) -> Fraction:
        """Return the share of the ranks of a published value, or of all, with the true value inside."""
        ends = [
            twins.around(rank, ordered, reach)
            for rank, each in enumerate(ordered, start=1)
            if own is None or each == own
        ]
        return Fraction(sum(low <= value <= high for low, high in ends), len(ends))

    success = twins.near_persons(true, published, persons, inside)
    chance = twins.near_persons(true, published, persons, lambda value, _: inside(value, None))
    best = float(twins.best_rank(true, units[unit], reach))
    assert found.details["best_guess"] == pytest.approx(best)
    for own, of_persons in ((found.success, success), (found.baseline, chance)):
        if unit == "household":
            assert float(own) == pytest.approx(float(twins.found_households(of_persons, home)))
        else:
            assert float(own) == pytest.approx(float(sum(of_persons.values()) / len(of_persons)))
    assert found.records == len(set(units[unit]))
    assert found.knowledge["unit"] == unit


@FEWER
@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.integers(0, 9)), max_size=9))
def test_persons_of_one_record_each_are_records(pairs: list[tuple[int | None, int]]) -> None:
    true, published = zip(*pairs, (5, 5), strict=True)
    texts = [None if own == 0 else "*" if own == 1 else str(own) for own in published]
    view = masked(true, texts)
    rows = [(value,) for value in true], [None if text is None else (text,) for text in texts]
    assert view.original is not None
    view = replace(
        view, original=owned(view.original, view.release, *rows, {"person": list(range(len(true)))})
    )
    of_persons, of_records = run("interval", view), run("interval", view, unit="record")
    assert of_persons == [
        replace(each, knowledge={**each.knowledge, "unit": "person"}) for each in of_records
    ]


@FEWER
@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_constant_release_is_worth_chance_and_no_more_than_a_guess(true: list[int]) -> None:
    for found in run("interval", masked(true, ["*"] * len(true))):
        assert found.success == found.baseline
        assert float(found.success) <= found.details["best_guess"] + 1e-12


@pytest.mark.parametrize("measure", ["rid", "sdid"])
def test_a_guess_of_zero_is_right_for_nearly_everybody(measure: str) -> None:
    """Of 100 numbers 93 are zeros: middles of wide intervals miss them, a guess of zero does not."""
    true = [0] * 93 + [1000 * each for each in range(1, 8)]
    found = one("interval", masked(true, ["[0, 7000]"] * 100), measure=measure)
    assert found.success < 0.05
    assert found.details["best_guess"] >= 0.93


def test_default_width_and_measures() -> None:
    found = run("interval", masked([1, 2, 3], ["1", "2", "3"]))
    assert [each.knowledge for each in found] == [
        {"attribute": "x", "measure": "rid", "width": 0.05},
        {"attribute": "x", "measure": "sdid", "width": 0.05, "deviation": "original"},
    ]
    assert [each.success for each in found] == [1, 1]


def test_interval_counts_as_its_middle() -> None:
    """Around 15 and 35, half a deviation of 10 wide: 15 and 19 and 35 are inside, 10 and 39 and 30 - just."""
    true = [10, 15, 19, 30, 35, 39]
    own = masked(true, ["[10, 20]"] * 3 + ["[30, 40]"] * 3)
    asked = {"measure": "sdid", "deviation": "published"}
    assert one("interval", own, **asked, width="0.45").success == Fraction(4, 6)
    assert one("interval", own, **asked, width="0.5").success == 1


def test_suppressed_and_missing_records_are_no_targets() -> None:
    own = masked([1, 2, None, 4], ["1", None, "<missing>", "4"])
    found = one("interval", own, measure="rid")
    assert (found.success, found.records) == (1, 2)


def test_only_numbers_are_attacked(message: SnapshotAssertion) -> None:
    rows = [(1, "a", 10), (2, "b", 20)]
    own = scene(("x", "t", "y"), rows, [("1", "a", "20"), ("2", "b", "10")])
    found = run("interval", own, measure="rid", width="0.1")
    assert [each.knowledge["attribute"] for each in found] == ["x", "y"]
    assert one("interval", own, measure="rid", attributes=["y"]).knowledge["attribute"] == "y"
    with pytest.raises(InputError) as refused:
        run("interval", own, attributes=["t"])
    assert exchange("attributes: [t]", refused.value) == message


def test_it_says_what_it_lacks(message: SnapshotAssertion) -> None:
    alone = AdversaryView(release(("x",), [("1",)]))
    assert exchange("no original", refused("interval", alone)) == message
    texts = scene(("t",), [("a",)], [("a",)])
    assert exchange("no numbers", refused("interval", texts)) == message
    assert exchange("aligned", refused("interval", texts, aligned=True)) == message


@pytest.mark.parametrize("width", [0, -1, "x"])
def test_width_is_positive(width: object) -> None:
    with pytest.raises(ValidationError):
        attack("interval", width=width)


def test_planted_signal_is_found_with_its_size() -> None:
    """Of 200 records, 80 are published as they are, the others far away."""
    true = list(range(1, 201))
    published = [str(value) if value <= 80 else str((value + 60) % 120 + 1000) for value in true]
    found = one("interval", masked(true, published), measure="sdid", width="0.01", deviation="published")
    assert found.success == Fraction(80, 200)
    assert found.baseline < found.low < 0.4 < found.high < 0.5
    assert found.baseline == twins.sdid_by_chance(true, [int(own) for own in published], _reach(published))


def _reach(published: Sequence[str]) -> float:
    return float(np.std([int(own) for own in published])) * 0.01


def permuted(seed: int) -> Sequence[AttackResult]:
    random = np.random.default_rng(seed)
    true = random.integers(0, 40, 60)
    return run("interval", masked(true.tolist(), [str(own) for own in random.permutation(true)]), width="0.1")


def test_no_skill_is_invented() -> None:
    inside = [each.low <= each.baseline <= each.high for seed in range(20) for each in permuted(seed)]
    assert sum(inside) >= 36


@pytest.mark.slow
def test_no_skill_is_invented_in_300_seeds() -> None:
    found = [permuted(seed) for seed in range(300)]
    for position in range(2):
        inside = [each[position].low <= each[position].baseline <= each[position].high for each in found]
        assert sum(inside) >= 0.93 * 300


def test_a_column_of_means_is_no_safer_than_its_spread() -> None:
    """All published as the mean: with the original's deviation, those near the mean are disclosed."""
    own = masked([0, 4, 5, 6, 10], ["5"] * 5)
    assert one("interval", own, measure="sdid", width="0.5").success == Fraction(3, 5)
    assert one("interval", own, measure="sdid", width="0.5", deviation="published").success == Fraction(1, 5)
