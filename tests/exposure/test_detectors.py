"""What a release shows, against a count record by record, and on tables whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.exposure.finding import Finding, Kind
from anonymizer.exposure.measure import DETECTORS, Thresholds, exposure_of
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.table import Role
from tests.twins import exposure as twin

QUASI, INSENSITIVE, SENSITIVE = Role.QUASI_IDENTIFIER, Role.INSENSITIVE, Role.SENSITIVE


def test_each_kind_has_a_detector_and_a_place_in_the_order_of_mending() -> None:
    assert [each.kind for each in DETECTORS] == list(Kind)
    assert sorted(each.mended for each in DETECTORS) == list(range(len(Kind)))
    assert {each.setting for each in DETECTORS} == set(Thresholds._fields)


def codes(values: Sequence[Any]) -> np.ndarray:
    order = sorted(set(values), key=lambda each: (each is None, str(each)))
    return np.array([order.index(each) for each in values], dtype=np.int32)


def column(name: str, role: Role, own: Sequence[Any], shown: Sequence[Any] | None = None) -> ReleasedColumn:
    """Return a column of values, None for a missing one."""
    order = sorted(set(own), key=lambda each: (each is None, str(each)))
    absent = order.index(None) if None in order else None
    dates = all(isinstance(each, date) for each in order if each is not None)
    numeric = dates or all(isinstance(each, int | float) for each in order if each is not None)
    numbers = [
        np.nan if each is None else each.toordinal() if isinstance(each, date) else each for each in order
    ]
    return ReleasedColumn(
        name,
        role,
        codes(own if shown is None else shown),
        codes(own),
        absent,
        np.array(numbers, dtype=np.float64) if numeric else None,
        dates,
    )


def records(*columns: ReleasedColumn, k: int = 3, **others: Any) -> ReleasedRecords:
    return ReleasedRecords(columns, len(columns[0].own), k, **others)


def found(given: ReleasedRecords, kind: Kind, threshold: float = 0.0) -> list[Finding]:
    detector = next(each for each in DETECTORS if each.kind is kind)
    return list(detector.find(given, threshold))


VALUES = st.sampled_from(["a", "b", "c", None])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[Any]], list[int]]:
    """Draw rows of four columns, and whose they are."""
    size = draw(st.integers(1, 12))
    rows = draw(st.lists(st.tuples(*[VALUES] * 4), min_size=size, max_size=size))
    owners = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    return [list(each) for each in zip(*rows, strict=True)], owners


@given(tables(), st.booleans())
def test_who_is_alone_and_whose_value_is_rare(table: tuple[list[list[Any]], list[int]], people: bool) -> None:
    (a, b, c, s), owners = table
    given_units = np.array(owners, dtype=np.int64) if people else None
    own = records(
        column("a", QUASI, a),
        column("b", INSENSITIVE, b),
        column("c", INSENSITIVE, c),
        column("s", SENSITIVE, s),
        units=given_units,
    )
    whose = owners if people else list(range(len(a)))
    exposure = exposure_of(own, Thresholds(unique=0.0))
    seen = list(zip(a, b, c, strict=True))
    assert exposure.units == len(set(whose))
    assert exposure.unique == twin.units_alone(seen, whose, 2)
    assert exposure.below_k == twin.units_alone(seen, whose, 3)
    assert exposure.with_sensitive[0] == twin.units_alone(list(zip(a, b, c, s, strict=True)), whose, 2)
    alone = [each for each in exposure.findings if each.kind is Kind.SINGLED_OUT]
    assert [each.records for each in alone] == ([exposure.unique] if exposure.unique else [])
    rare = {each.columns[0]: each.records for each in exposure.findings if each.kind is Kind.RARE_VALUES}
    counted = {
        name: twin.units_with_rare_values(own, whose, 3) for name, own in zip("bcs", (b, c, s), strict=True)
    }
    assert rare == {name: number for name, number in counted.items() if number}


@given(tables())
def test_an_unknown_column_is_left_out_of_what_acquaintances_see(
    table: tuple[list[list[Any]], list[int]],
) -> None:
    (a, b, c, _), _ = table
    own = records(column("a", QUASI, a), column("b", INSENSITIVE, b), column("c", INSENSITIVE, c))
    exposure = exposure_of(own, Thresholds(), ["singled-out:c"])
    assert exposure.unique == twin.units_alone(list(zip(a, b, strict=True)), range(len(a)), 2)
    assert all("c" not in each.columns for each in exposure.findings if each.kind is Kind.SINGLED_OUT)


@given(tables())
def test_units_are_put_together_by_columns_that_are_constant_in_them(
    table: tuple[list[list[Any]], list[int]],
) -> None:
    (a, b, c, _), keys = table
    own = records(
        *(column(name, INSENSITIVE, each) for name, each in zip("abc", (a, b, c), strict=True)),
        keys={"home": np.array(keys, dtype=np.int64)},
    )
    several = [key for key in set(keys) if keys.count(key) > 1]
    shares = {
        name: np.mean(
            [len({v for v, key in zip(each, keys, strict=True) if key == own}) == 1 for own in several]
        )
        for name, each in zip("abc", (a, b, c), strict=True)
        if len(set(each)) > 1 and several
    }
    by_name = dict(zip("abc", (a, b, c), strict=True))
    sets = [[by_name[name] for name in shares if shares[name] >= least] for least in (0.99, 0.95, 0.9)]
    number = max(
        twin.restored(list(zip(*constant, strict=True)) if constant else [()] * len(a), keys)
        for constant in sets
    )
    if not several:
        number = 0
    assert [each.records for each in found(own, Kind.UNIT)] == ([number] if number else [])


@given(tables())
def test_what_a_column_tells_of_a_secret(table: tuple[list[list[Any]], list[int]]) -> None:
    (a, _, _, s), owners = table
    own = records(column("a", INSENSITIVE, a), column("s", SENSITIVE, s), units=np.array(owners))
    ways = [a, [each is None for each in a]] if None in a else [a]
    shares = [
        right / asked for right, asked in (twin.told(way, s, owners) for way in ways) if asked > 0.05 * len(a)
    ]
    for finding in found(own, Kind.PREDICTS, 0.7):
        assert finding.share in shares
        assert finding.share == max(shares)


@given(tables())
def test_a_hidden_value_is_named_at_most_as_often_as_counted(
    table: tuple[list[list[Any]], list[int]],
) -> None:
    (a, b, c, _), _ = table
    hidden = [each if each is None else f"{each}{other}" for each, other in zip(a, b, strict=True)]
    own = records(column("h", QUASI, hidden, a), column("c", INSENSITIVE, c))
    for finding in found(own, Kind.UNDONE):
        both = list(zip(c, a, strict=True))
        assert finding.records <= max(twin.named(c, a, hidden), twin.named(both, a, hidden))


def test_a_weight_names_the_stratum_that_was_coarsened() -> None:
    random = Random(1)
    strata = [random.choice(["n", "e", "s", "w"]) for _ in range(400)]
    weights = {"n": 512.25, "e": 498.5, "s": 601.75, "w": 455.125}
    own = records(
        column("region", QUASI, strata, ["north" if each in "ne" else "south" for each in strata]),
        column("weight", Role.WEIGHT, [weights[each] for each in strata]),
    )
    (finding,) = found(own, Kind.UNDONE, 0.05)
    assert (finding.columns, finding.about, finding.records) == (("weight",), "region", 400)
    mixed = random.sample(strata, len(strata))
    other = replace(
        own, columns=(own.columns[0], column("weight", Role.WEIGHT, [weights[each] for each in mixed]))
    )
    assert not found(other, Kind.UNDONE, 0.05)


def test_two_columns_name_together_what_none_names_alone() -> None:
    random = Random(3)
    strata = [random.choice("abcd") for _ in range(800)]
    first = [random.choice("xy") for _ in strata]
    # Both columns look drawn by chance; their combination is the stratum.
    second = ["abcd".index(each) // 2 ^ (other == "y") for each, other in zip(strata, first, strict=True)]
    third = ["abcd".index(each) % 2 for each in strata]
    own = records(
        column("stratum", QUASI, strata, ["all"] * 800),
        column("first", QUASI, first),
        column("second", INSENSITIVE, [f"v{each}" for each in second]),
        column("third", INSENSITIVE, [f"w{each}" for each in third]),
    )
    assert not found(own, Kind.UNDONE, 0.05)
    halves = ["ab" if each in "ab" else "cd" for each in strata]
    known = replace(own, columns=(column("stratum", QUASI, strata, halves), *own.columns[1:]))
    (finding,) = found(known, Kind.UNDONE, 0.05)
    assert (finding.columns, finding.about, finding.records) == (("third",), "stratum", 800)
    remedy = next(each for each in DETECTORS if each.kind is Kind.UNDONE).remedy(finding, known)
    assert remedy.roles == {"third": QUASI}


def test_one_household_is_no_second_unit_for_pairs() -> None:
    homes = [place // 2 for place in range(600)]
    age = [str(place % 60) for place in homes]
    own = records(
        column("age", QUASI, age, ["all"] * 600),
        column("rent", INSENSITIVE, [f"r{place % 50}" for place in homes]),
        column("street", INSENSITIVE, [f"s{place // 50}" for place in homes]),
    )
    assert [each.about for each in found(own, Kind.UNDONE, 0.05)] == ["age", "age"]
    assert not found(replace(own, homes=np.array(homes, dtype=np.int64)), Kind.UNDONE, 0.05)


def test_secrets_that_are_rare_are_merged_while_something_is_left() -> None:
    rare = next(each for each in DETECTORS if each.kind is Kind.RARE_VALUES)

    def remedy(role: Role, values: Sequence[str]) -> Any:
        own = records(column("s", role, values))
        (finding,) = found(own, Kind.RARE_VALUES)
        return rare.remedy(finding, own)

    half = ["flu"] * 60 + ["cold"] * 40 + [f"r{place}" for place in range(100)]
    assert remedy(SENSITIVE, half).grouped == {"s": 2}
    assert remedy(INSENSITIVE, half).roles == {"s": QUASI}
    nearly_all = ["flu"] * 8 + [f"r{place}" for place in range(192)]
    assert remedy(SENSITIVE, nearly_all).roles == {"s": Role.DROP}
    # One person is hidden among the many of the next value, of whom little is lost.
    one = ["yes"] * 120 + ["no"] * 79 + ["unsure"]
    assert remedy(SENSITIVE, one).grouped == remedy(INSENSITIVE, one).grouped == {"s": 80}
    assert remedy(SENSITIVE, ["no"] * 199 + ["yes"]).roles == {"s": Role.DROP}


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("stay", lambda first, last, _: (last - first).days),
        ("nights", lambda first, last, _: (last - first).days + 1),
        ("year", lambda first, _, __: first.year),
        ("age", lambda first, _, born: int((first - born).days / 365.2425)),
    ],
)
def test_what_two_dates_compute_is_found(name: str, function: Any) -> None:
    random = Random(2)
    first = [date(2015, 1, 1) + timedelta(random.randrange(2500)) for _ in range(600)]
    last = [each + timedelta(random.randrange(90)) for each in first]
    born = [date(1940, 1, 1) + timedelta(random.randrange(20000)) for _ in first]
    computed = [function(*each) for each in zip(first, last, born, strict=True)]
    years = [each.year for each in first]
    whose = (
        column("first", QUASI, first, years),
        column("last", QUASI, last, years),
        column("born", QUASI, born, [0] * 600),
    )
    (finding,) = found(records(*whose, column(name, SENSITIVE, computed)), Kind.COMPUTED, 0.05)
    assert (finding.columns, finding.records) == ((name,), 600)
    assert name in finding.how
    by_chance = column(name, SENSITIVE, random.sample(computed, len(computed)))
    assert not found(records(*whose, by_chance), Kind.COMPUTED, 0.05)


def test_what_nearly_everybody_has_is_not_computed() -> None:
    """Of 1,000 people with 200 towns and ages few smoke: towns and ages tell nearly all by chance."""
    random = Random(3)
    people = [(random.randint(0, 99), random.randint(0, 1)) for _ in range(1_000)]
    smokes = ["yes" if random.random() < 0.02 else "no" for _ in people]
    towns, coarse = [town for town, _ in people], [town // 50 for town, _ in people]
    whose = column("town", QUASI, towns, coarse), column("sex", QUASI, [sex for _, sex in people])
    assert not found(records(*whose, column("smokes", SENSITIVE, smokes)), Kind.COMPUTED, 0.05)
    told = ["yes" if town < 2 else "no" for town in towns]
    assert found(records(*whose, column("smokes", SENSITIVE, told)), Kind.COMPUTED, 0.05)


def test_who_answered_nothing_answered_no_question() -> None:
    random = Random(4)
    asked = [random.random() < 0.7 for _ in range(600)]
    seats = [random.choice("abcde") if each else None for each in asked]
    smokes = [random.choice(["yes", "no"]) if each else None for each in asked]
    whose = column("seats", QUASI, seats, ["*" for _ in seats])
    assert not found(records(whose, column("smokes", SENSITIVE, smokes)), Kind.COMPUTED, 0.05)


def test_members_of_one_household_tell_nothing_of_others() -> None:
    """Each income is that of a home; another home with its size and rent is rare."""
    random = Random(5)
    homes = np.repeat(np.arange(200), 3)
    rents, incomes = (
        [random.randint(1, 10**6) for _ in range(200)],
        [random.choice("abcd") for _ in range(200)],
    )
    rent = column("rent", QUASI, [rents[home] for home in homes], ["*" for _ in homes])
    own = rent, column("income", SENSITIVE, [incomes[home] for home in homes])
    assert found(records(*own), Kind.COMPUTED, 0.05)
    assert not found(records(*own, keys={"hid": homes.astype(np.int64)}), Kind.COMPUTED, 0.05)


def test_a_computed_column_counts_whom_it_singles_out() -> None:
    first = [date(2020, 1, 1) + timedelta(each % 20) for each in range(200)]
    stays = [each // 20 if each < 20 * 9 else 30 + each for each in range(200)]
    last = [each + timedelta(stay) for each, stay in zip(first, stays, strict=True)]
    own = records(
        column("first", QUASI, first, [0] * 200),
        column("last", QUASI, last, [0] * 200),
        column("stay", INSENSITIVE, stays),
    )
    (finding,) = found(own, Kind.COMPUTED, 0.05)
    assert (finding.records, finding.how) == (20, "stay = last - first")


def test_a_column_that_two_others_determine_is_found_and_one_of_unique_pairs_is_not() -> None:
    random = Random(3)
    grade = [random.choice("abcd") for _ in range(500)]
    step = [random.choice("12345") for _ in range(500)]
    pay = [f"{g}{s}x" for g, s in zip(grade, step, strict=True)]
    coarse = (column("grade", QUASI, grade, [0] * 500), column("step", QUASI, step, [0] * 500))
    (finding,) = found(records(*coarse, column("pay", SENSITIVE, pay)), Kind.COMPUTED, 0.05)
    assert (finding.records, finding.how) == (500, "pay by grade, step")
    unique = (column("grade", QUASI, list(range(500)), [0] * 500), coarse[1])
    assert not found(records(*unique, column("pay", SENSITIVE, random.sample(pay, 500))), Kind.COMPUTED, 0.05)
    constant = column("pay", SENSITIVE, ["x"] * 500)
    assert not found(records(*coarse, constant), Kind.COMPUTED, 0.05)


def test_a_constant_and_one_record_and_none_present_say_nothing_false() -> None:
    everything = records(
        column("q", QUASI, ["x"] * 9), column("i", INSENSITIVE, [None] * 9), column("s", SENSITIVE, ["y"] * 9)
    )
    assert exposure_of(everything, Thresholds()).findings == ()
    one = exposure_of(records(column("q", QUASI, ["x"])), Thresholds())
    assert [each.kind for each in one.findings] == [Kind.SINGLED_OUT]
    assert one.findings[0].columns == ()


def test_acknowledged_findings_are_kept_apart_and_those_that_did_not_occur_are_named() -> None:
    own = records(column("q", QUASI, ["x"] * 9), column("i", INSENSITIVE, [str(each) for each in range(9)]))
    names = ["singled-out:i", "rare-values:i", "rare-values:q", "rows-are-persons"]
    exposure = exposure_of(own, Thresholds(), names)
    assert (exposure.findings, exposure.unused) == ((), ("rare-values:q",))
    assert [each.kind for each in exposure.acknowledged] == [Kind.RARE_VALUES]
    assert exposure.unique == 0


def test_the_public_kinds_do_not_depend_on_keys_and_hidden_values() -> None:
    values = [str(each // 2) for each in range(20)]
    own = records(column("q", QUASI, ["x"] * 20), column("i", INSENSITIVE, values), k=2)
    whose = replace(own, units=np.arange(20) // 2, keys={"home": np.arange(20) // 2})
    assert exposure_of(whose, Thresholds()).findings != exposure_of(own, Thresholds()).findings
    assert exposure_of(whose, Thresholds()).public == exposure_of(own, Thresholds()).public


def test_a_wide_file_says_which_columns_were_not_searched() -> None:
    random = Random(4)
    many = [column(f"n{place}", INSENSITIVE, [random.randrange(5) for _ in range(20)]) for place in range(40)]
    exposure = exposure_of(records(column("q", QUASI, ["x"] * 20), *many), Thresholds())
    assert exposure.left_out == (
        "columns that others compute were searched among the first 30 of 40 columns of numbers and the "
        "first 1 of 1 quasi-identifiers",
    )


def test_a_few_units_that_contradict_do_not_hide_the_others() -> None:
    homes = np.repeat(np.arange(100), 2)
    rent = [str(each) for each in homes]
    for moved in (0, 10, 20, 30):  # four homes of a hundred have two rents
        rent[moved] = "none"
    own = records(column("rent", INSENSITIVE, rent), keys={"home": homes})
    assert [(each.columns, each.records) for each in found(own, Kind.UNIT)] == [(("rent",), 192)]


@given(tables())
def test_values_of_few_households_are_rare(table: tuple[list[list[Any]], list[int]]) -> None:
    (a, _, _, _), homes = table
    own = records(column("a", INSENSITIVE, a), homes=np.array(homes, dtype=np.int64))
    held = {value: {home for other, home in zip(a, homes, strict=True) if other == value} for value in set(a)}
    number = sum(value is not None and len(held[value]) < 3 for value in a)
    assert [each.records for each in found(own, Kind.RARE_VALUES)] == ([number] if number else [])
    assert exposure_of(own, Thresholds()).public[Kind.RARE_VALUES] == any(
        value is not None and a.count(value) < 3 for value in a
    )
