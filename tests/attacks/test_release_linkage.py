"""Two releases linked without originals."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymizer as an
from anonymizer.attacks.release_linkage import ReleaseLinkage
from anonymizer.masking import AdditiveNoise
from tests import strategies
from tests.helpers.examples import share
from tests.run.commands import call
from tests.twins.attacks import release_linkage

TREE = {"*": {"north": ["a", "b"], "south": ["c", "d", "e"]}}
CITIES = "abcde"


def config(**options: Any) -> dict[str, Any]:
    return {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5, 10]}}},
            "city": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
        },
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": [{"attack": "release-linkage", **options}],
    }


def link(first: pd.DataFrame, second: pd.DataFrame, **options: Any) -> dict[str, Any]:
    found = an.attack(first, None, config(**options), second_df=second)
    return dict(found.iloc[0])


def interval(age: int, width: int) -> str:
    start = age - age % width
    return f"{start}-{start + width - 1}" if width > 1 else str(age)


def generalized(people: list[tuple[int, str]], width: int, level: int) -> pd.DataFrame:
    region = {"a": "north", "b": "north", "c": "south", "d": "south", "e": "south"}
    city = {0: lambda own: own, 1: region.get, 2: lambda _: "*"}[level]
    rows = [(interval(age, width), city(own), number) for number, (age, own) in enumerate(people)]
    return pd.DataFrame(rows, columns=["age", "city", "id"])


@share(3)
@given(
    strategies.randoms(),
    st.sampled_from([1, 5, 10]),
    st.sampled_from([1, 5, 10]),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_it_is_the_definition(random: Random, one: int, other: int, level: int, above: int) -> None:
    people = [(random.randint(20, 45), random.choice(CITIES)) for _ in range(random.randint(2, 14))]
    first, second = generalized(people, one, level), generalized(people, other, above)
    second = second.sample(frac=1, random_state=random.randint(0, 99)).reset_index(drop=True)
    expected = release_linkage(first, second, {"north": "ab", "south": "cde", "*": CITIES})
    found = link(first, second, key="id")
    assert found["success"] == pytest.approx(float(expected.success))
    assert found["details"]["expected"] == pytest.approx(float(expected.expected))
    assert found["ceiling"] >= found["success"]
    assert found["baseline"] == pytest.approx(1 / len(people))
    alone = link(first.drop(columns="id"), second.drop(columns="id"))
    assert alone["success"] == pytest.approx(float(expected.expected))
    assert alone["knowledge"]["target"] == "as the model expects"


def test_what_the_model_expects_is_what_happens_where_its_assumptions_hold() -> None:
    """Independent attributes, everybody in both releases, generalized along the hierarchies."""
    random = np.random.default_rng(5)
    people = [
        (int(age), city)
        for age, city in zip(random.integers(20, 60, 400), random.choice(list(CITIES), 400), strict=True)
    ]
    first, second = generalized(people, 5, 1), generalized(people, 10, 0)
    found = link(first, second, key="id")
    assert found["success"] == pytest.approx(found["details"]["expected"], rel=0.15)
    assert found["success"] > 2 * found["baseline"]
    assert found["success"] <= found["ceiling"]


@pytest.mark.slow
def test_columns_under_other_names_in_any_order_and_units() -> None:
    random = np.random.default_rng(1)
    numbers = pd.DataFrame({name: random.normal(40, 9, 80).round(2) for name in ("age", "pay")})
    first = AdditiveNoise(0.1).mask(numbers, seed=1).round(3).assign(id=range(80))
    second = AdditiveNoise(0.1).mask(numbers, seed=2).round(3).assign(id=range(80))
    given_config = {
        "attributes": {name: {"role": "quasi-identifier", "type": "number"} for name in ("age", "pay")},
        "constraints": [{"model": "k-anonymity", "k": 1}],
    }

    def success(other: pd.DataFrame, **options: Any) -> float:
        own = {**given_config, "attacks": [{"attack": "release-linkage", "key": "id", **options}]}
        return float(an.attack(first, None, own, second_df=other)["success"][0])

    plain = success(second)
    assert plain > 0.3
    changed = second.assign(age=second["age"] * 1000 + 5, pay=second["pay"] / 1000)[["id", "pay", "age"]]
    changed = changed.rename(columns={"age": "AGE"}).iloc[::-1].reset_index(drop=True)
    assert success(changed, columns={"age": "AGE"}) == pytest.approx(plain, abs=0.05)
    assert success(second, linkage="learned") >= plain - 1e-9


def test_learned_weights_find_the_attribute_that_says_who_it_is() -> None:
    random = np.random.default_rng(2)
    people = [(int(age), "a") for age in random.integers(20, 60, 60)]
    first, second = generalized(people, 1, 0), generalized(people, 1, 0)
    second["city"] = random.permutation(list(CITIES) * 12)
    equal = link(first, second, key="id", linkage="learned")
    assert equal["details"]["importance"]["age"] > 0.5
    assert equal["success"] >= equal["details"]["equal_weights"]
    assert equal["details"]["bound"] >= equal["details"]["in_sample"] >= equal["details"]["held_out"] - 1e-9


def test_originals_tell_the_true_links() -> None:
    people = pd.DataFrame({"age": [21, 22, 33, 47], "city": list("abcd")})
    first = generalized(list(people.itertuples(index=False, name=None)), 5, 0).drop(columns="id")
    second = generalized(list(people.itertuples(index=False, name=None)), 10, 0).drop(columns="id")
    found = an.attack(first, people, config(), second_df=second)
    assert found["success"].tolist() == [1.0]
    assert found["details"][0]["truth"] == "reconstructed"


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"linkage": "learned"}, r"needs true links to learn from \(set key"),
        ({"linkage": "assignment"}, "linkage: assignment; accepted: nearest, learned"),
        ({"distance": "owa"}, "distance needs linkage: learned; remove it"),
        ({"linkage": "learned", "distance": "rank"}, "distance: rank; accepted: weighted-mean"),
        ({"knowledge": ["age"], "key": "city"}, "several records; accepted as key"),
    ],
)
def test_what_is_missing_is_said(options: dict[str, Any], what: str) -> None:
    people = generalized([(21, "a"), (33, "a"), (47, "b")], 1, 0)
    with pytest.raises(an.InputError, match=what):
        link(people, people, **options)


def test_without_a_second_release_or_common_columns_it_says_so() -> None:
    people = generalized([(21, "a"), (33, "a"), (47, "b")], 1, 0)
    with pytest.raises(an.InputError, match="needs a second release"):
        an.attack(people, None, config())
    with pytest.raises(an.InputError, match=r"if it has another name in one, set columns"):
        link(people[["age"]], people[["city"]])


def test_the_command_links_two_releases(tmp_path: Path) -> None:
    people = [(21, "a"), (33, "a"), (47, "b"), (48, "d")]
    generalized(people, 5, 1).to_csv(tmp_path / "a.csv", index=False)
    generalized(people, 10, 0).to_csv(tmp_path / "b.csv", index=False)
    (tmp_path / "job.yaml").write_text(
        "attributes:\n"
        "  age: {role: quasi-identifier, hierarchy: {intervals: {width: [5, 10]}}}\n"
        "  city: {role: quasi-identifier, hierarchy: {tree: {'*': {north: [a, b], south: [c, d, e]}}}}\n"
        "  id: {role: sensitive}\n"
        "constraints: [{model: k-anonymity, k: 1}]\n",
        encoding="utf-8",
    )
    files = tmp_path / "a.csv", "-c", tmp_path / "job.yaml", "--second", tmp_path / "b.csv"
    done = call("attack", *files)
    assert done.code == 0, done.err
    assert (
        "An adversary who has both releases and compares age and city is expected to link 100 %" in done.out
    )
    assert (
        "not run: intersection needs original records (--original; without them, the attack release-linkage"
        in done.err
    )


def test_originals_that_fit_one_release_only_do_not_show_who_is_right() -> None:
    people = [(age, city) for age in range(20, 40) for city in CITIES]
    first, second = generalized(people, 5, 1), generalized(people, 7, 1)
    originals = pd.DataFrame(people, columns=["age", "city"])
    first, second = first.drop(columns="id"), second.drop(columns="id")
    found = dict(an.attack(first, originals, config(), second_df=second).iloc[0])
    assert found["knowledge"]["target"] == "as the model expects"
    assert found["knowledge"]["unlinked"]
    sentence = ReleaseLinkage.sentence(found["knowledge"], "3 %", "1 %")
    assert "is expected to link 3 % of the records of the first" in sentence
    assert "no original record fits both releases by the hierarchies of the config" in sentence
    fitting = generalized(people, 10, 1).drop(columns="id")
    found = dict(an.attack(first, originals, config(), second_df=fitting).iloc[0])
    assert found["knowledge"].keys().isdisjoint({"target", "unlinked"})
    sentence = ReleaseLinkage.sentence(found["knowledge"], "3 %", "1 %")
    assert "links 3 % of the records that are in both" in sentence
