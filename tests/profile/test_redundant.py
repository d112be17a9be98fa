"""Columns with the same values as others."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.open import open_frame
from anonymizer.profile.column_statistics import measure_column
from anonymizer.profile.combinations import CountedCombinations, UniquenessProfile
from anonymizer.profile.proposal import propose
from tests.profile.columns import column

RECORDS = 400


def table(**columns: list[str]) -> pd.DataFrame:
    random = np.random.default_rng(3)
    ages = [str(age) for age in random.integers(18, 90, RECORDS)]
    return pd.DataFrame({"age": ages, **columns}, dtype=object)


def roles(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    with open_frame(frame) as relation:
        return {each.name: (each.role.value, each.reason) for each in propose(relation).columns}


def test_equal_columns_are_dropped_whatever_their_role_and_type() -> None:
    random = np.random.default_rng(4)
    days = [f"2013-{1 + n % 12:02d}-{1 + n % 28:02d}" for n in random.integers(0, 300, RECORDS)]
    scores = [str(n) for n in random.integers(0, 11_757, RECORDS)]
    mood = [str(n) for n in random.integers(0, 4, RECORDS)]
    found = roles(
        table(screened=days, seen=days, score=scores, v_score=scores, calm=mood, calm_again=mood, third=days)
    )
    dropped = {name: reason for name, (role, reason) in found.items() if role == "drop"}
    assert dropped == {
        "seen": "duplicate of screened, so left out",
        "third": "duplicate of screened, so left out",
        "v_score": "duplicate of score, so left out",
        "calm_again": "duplicate of calm, so left out",
    }


def test_one_to_one_columns_are_said_and_the_one_that_protects_more_stays() -> None:
    random = np.random.default_rng(5)
    places = random.integers(0, 12, RECORDS)
    illness = random.integers(0, 5, RECORDS)
    found = roles(
        table(
            code=[str(7 * n) for n in places],
            city=[f"Town {n}" for n in places],
            label=["abcde"[n] for n in illness],
            diagnosis=["vwxyz"[n] for n in illness],
        )
    )
    assert found["code"] == ("drop", "in a one-to-one relation with city: it adds nothing, so it is left out")
    assert found["city"][0] == "quasi-identifier"
    assert found["label"][0] == "drop"
    assert found["diagnosis"][0] == "sensitive"


def test_of_a_text_and_its_code_the_text_stays() -> None:
    """Whatever comes first or protects more; codes that a ready-made hierarchy knows may stay."""
    random = np.random.default_rng(5)
    places = random.integers(0, 9, RECORDS)
    complaints = ["stomach pain", "sore throat", "broken leg", "high fever", "lost tooth"]
    towns = ["Antioquia", "Caldas", "Bolivar", "Meta", "Sucre", "Tolima", "Nariño", "Huila", "Cauca"]
    illness = random.integers(0, 5, RECORDS)
    found = roles(
        table(
            dept_code=[str(5 + 8 * n) for n in places],
            dept=[towns[n] for n in places],
            diagnosis=[f"D{n}" for n in illness],
            wording=[complaints[n] for n in illness],
        )
    )
    assert [found[name][0] for name in ("dept_code", "dept")] == ["drop", "quasi-identifier"]
    assert [found[name][0] for name in ("diagnosis", "wording")] == ["drop", "sensitive"]
    assert "the texts of diagnosis" in found["wording"][1]


@pytest.mark.parametrize("name", ["weight", "wt", "gewicht"])
def test_a_weight_of_a_stratum_stays(name: str) -> None:
    strata = np.random.default_rng(5).integers(0, 4, RECORDS)
    weights = [("512.25", "498.5", "601.75", "455.125")[n] for n in strata]
    found = roles(table(region=["NESW"[n] for n in strata], **{name: weights}))
    assert found["region"][0] == "quasi-identifier"
    assert found[name][0] == "weight"


def test_columns_whose_values_all_differ_are_duplicates_only_if_they_are_equal() -> None:
    exact = [f"{n}.25" for n in np.random.default_rng(6).permutation(RECORDS)]
    found = roles(table(lab=exact, lab_2=exact, other=[f"{n}.75" for n in range(RECORDS)]))
    assert [found[name][0] for name in ("lab", "lab_2", "other")] == ["insensitive", "drop", "insensitive"]


def test_columns_of_equal_counts_that_differ_stay() -> None:
    half = ["yes", "no"] * (RECORDS // 2)
    turned = ["yes"] * (RECORDS // 2) + ["no"] * (RECORDS // 2)
    assert roles(table(q1=half, q2=turned))["q2"][0] == "insensitive"


def test_a_column_equal_to_a_key_goes_with_it() -> None:
    keys = [f"{number // 4:032x}" for number in range(RECORDS)]
    short = [f"p{number // 4}" for number in range(RECORDS)]
    found = roles(table(person_id=keys, link=short))
    assert [found[name][0] for name in ("person_id", "link")] == ["identifier", "drop"]


@given(st.lists(st.tuples(*[st.sampled_from("abcd")] * 2), min_size=1, max_size=40))
def test_one_to_one_relations_are_found_as_by_hand(records: list[tuple[str, str]]) -> None:
    one, other = (list(values) for values in zip(*records, strict=True))
    by_hand = len(set(one)) == len(set(other)) == len(set(records))
    frame = pd.DataFrame({"one": one, "other": other})
    facts = column("one", one), column("other", other)
    if len(set(one)) != len(set(other)):
        return
    with open_frame(frame) as relation:
        for counter in (UniquenessProfile(relation), CountedCombinations(relation)):
            assert counter.one_to_one(*facts) == by_hand
            assert counter.equal(*facts) == (one == other)


def test_the_cost_of_a_column_is_counted_as_by_hand() -> None:
    random = np.random.default_rng(7)
    frame = table(
        sex=[str(n) for n in random.integers(0, 2, RECORDS)],
        odd=[str(n) for n in random.integers(0, 50, RECORDS)],
    )
    sizes = frame.value_counts(["age", "sex", "odd"])
    with open_frame(frame) as relation:
        found = UniquenessProfile(relation).with_each(["age", "sex"], ["odd"])
        none = UniquenessProfile(relation, work=10).with_each(["age", "sex"], ["odd"])
    assert (found, none) == ({"odd": int((sizes == 1).sum())}, {})


def test_a_date_that_belongs_to_a_key_stays_as_it_is_published_in_a_coarser_form() -> None:
    keys = [f"{number // 4:032x}" for number in range(RECORDS)]
    days = [f"2013-{1 + number // 4 // 28:02d}-{1 + number // 4 % 28:02d}" for number in range(RECORDS)]
    found = roles(table(person_id=keys, married=days))
    assert [found[name][0] for name in ("person_id", "married")] == ["identifier", "quasi-identifier"]


def cities() -> dict[str, list[str]]:
    random = np.random.default_rng(9)
    towns = random.integers(0, 40, RECORDS)
    return {"city": [f"Town {n}" for n in towns], "region": [f"Region {n % 6}" for n in towns]}


def test_a_column_that_another_one_determines_is_said() -> None:
    found = roles(table(**cities()))
    assert found["region"][0] == "quasi-identifier"
    assert found["region"][1].endswith(", determined by city")
    assert "determined" not in found["city"][1]


def test_the_year_of_a_date_is_determined_by_it() -> None:
    random = np.random.default_rng(10)
    days = [f"{2015 + n // 150}-{1 + n % 12:02d}-{1 + n % 28:02d}" for n in random.integers(0, 600, 2_000)]
    frame = pd.DataFrame({"date": days, "year": [day[:4] for day in days]}, dtype=object)
    assert roles(frame)["year"][1].endswith(", determined by date")


def test_what_would_reveal_a_quasi_identifier_is_not_released_unchanged() -> None:
    random = np.random.default_rng(11)
    towns = random.integers(0, 8, RECORDS)
    codes = [str(3 * town + n) for town, n in zip(towns, random.integers(0, 3, RECORDS), strict=True)]
    found = roles(table(city=[f"Town {n}" for n in towns], code=codes, odd=list(reversed(codes))))
    role, reason = found["code"]
    assert role == "quasi-identifier"
    assert "reveals city if it is released unchanged" in reason
    assert found["odd"][0] == "insensitive"


def test_few_repeated_values_determine_others_by_chance_only() -> None:
    exact = [str(n // 2 if n < 20 else n) for n in range(RECORDS)]
    rare = ["no"] * (RECORDS - 5) + ["yes"] * 5
    found = roles(table(code=exact, sex=rare))
    assert "determined" not in found["sex"][1]
    assert found["code"][0] != "quasi-identifier"


def test_what_is_known_of_a_known_place_is_known() -> None:
    random = np.random.default_rng(13)
    towns = random.integers(0, 40, RECORDS)
    rain = [f"{(7 * n % 10) / 10}" for n in towns]
    found = roles(table(city=[f"Town {n}" for n in towns], rain=rain))
    assert found["rain"][0] == "quasi-identifier"
    assert "known to anyone who knows city" in found["rain"][1]


@pytest.mark.parametrize("form", ["{}", "P{:05d}"])
def test_a_number_that_determines_most_of_what_is_known_is_a_key(form: str) -> None:
    random = np.random.default_rng(12)
    persons = random.integers(0, 150, RECORDS)
    sex, region, marital = (random.integers(0, n, 150) for n in (2, 6, 4))
    frame = pd.DataFrame(
        {
            "mom": [form.format(3 * n) for n in persons],
            "sex": [str(sex[n]) for n in persons],
            "region": [str(region[n]) for n in persons],
            "marital": [str(marital[n]) for n in persons],
        },
        dtype=object,
    )
    assert roles(frame)["mom"] == (
        "identifier",
        "determines sex, region, marital, like the number of a person or a household",
    )


@given(st.integers(0, 10**9))
def test_what_a_key_tells_is_found_by_hand(seed: int) -> None:
    """Of each value all records agree; of those that share one enough would differ; and it has no bands."""
    random = Random(seed)
    values, often, bands = random.randint(10, 60), random.randint(1, 3), random.choice([True, False])
    keys = [random.randrange(values) for _ in range(often * values)]
    width = random.randint(2, 12)
    told = [key * 4 // values if bands else key * 7 % width for key in keys]
    for _ in range(random.choice([0, 0, 0, 2])):
        told[random.randrange(len(told))] = 0
    for _ in range(random.choice([0, 0, 30])):
        keys.append(1000 + len(keys))
        told.append(random.randrange(width))
    with open_frame(pd.DataFrame({"key": keys, "told": told}).astype(str)) as relation:
        facts = [measure_column(relation, name) for name in ("key", "told")]
        found = UniquenessProfile(relation).tells(*facts)
    pairs = list(zip(keys, told, strict=True))
    shared = [pair for pair in pairs if keys.count(pair[0]) > 1]
    differ = [
        (len(some) - len({own for own, _ in some}))
        * (1 - max(Counter(value for _, value in some).values()) / len(some))
        >= 20
        for some in (pairs, shared)
        if some
    ]
    ordered = [value for _, value in sorted(pairs)]
    runs = 1 + sum(one != other for one, other in pairwise(ordered))
    distinct = len(set(keys)), len(set(told))
    agree = len(set(pairs)) == distinct[0] > distinct[1] > 1
    assert found == (agree and bool(shared) and all(differ) and runs > 2 * distinct[1])
