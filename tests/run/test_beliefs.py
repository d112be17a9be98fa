"""What an adversary believes about one person, by command, from Python and as a constraint."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pytest
import yaml

import anonymizer as an
from anonymizer.attacks.definetti import Feature, every_world
from tests.attacks.exchangeable import dealt
from tests.attacks.literature import rows_of
from tests.attacks.test_definetti_sampler import some_groups
from tests.run.commands import call
from tests.twins import exchangeable as twin


def kifer(folder: Path, number: int, width: int) -> tuple[Path, Path]:
    """Write a table of the paper as an Anatomy release with its config; return both paths."""
    head, *rows = rows_of(f"kifer2009_table{number}_qit")
    names = head[1 : 1 + width]
    with (folder / "t.qit.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*names, "group"], *([*row[1 : 1 + width], row[-1]] for row in rows)])
    values = Counter(tuple(row) for row in rows_of(f"kifer2009_table{number}_st")[1:])
    with (folder / "t.st.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("group", "disease", "count"), *((*own, count) for own, count in values.items())]
        )
    roles: dict[str, Any] = {name: {"role": "quasi-identifier", "type": "text"} for name in names}
    config = {
        "attributes": {**roles, "disease": {"role": "sensitive"}},
        "constraints": [{"model": "l-diversity", "l": 2}],
        "algorithm": {"name": "anatomy"},
        "attacks": ["definetti"],
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(config))
    return folder / "t.qit.csv", folder / "job.yaml"


def test_tuple_12_has_cancer_with_chance_5_32(tmp_path: Path) -> None:
    release, config = kifer(tmp_path, 6, 1)
    done = call("attack", release, "-c", config, "--target", "12", "--json")
    assert done.code == 0, done.err
    (cancer,) = [each for each in done.json["beliefs"] if each["value"] == "Cancer"]
    assert cancer["random_worlds"] == 0.5
    assert cancer["definetti"] == cancer["low"] == cancer["high"] == pytest.approx(5 / 32)
    assert done.json["attacks"] == []
    said = call("attack", release, "-c", config, "--target", "12").out
    assert "row 12: disease Cancer: random worlds 0.5000, deFinetti 0.1562" in said


def test_table_5_reports_a_quarter_without_the_truth(tmp_path: Path) -> None:
    release, config = kifer(tmp_path, 5, 3)
    (found,) = call("attack", release, "-c", config, "--json").json["attacks"]
    assert found["low"] <= 0.25 + 1e-12 <= found["high"] + 2e-12
    assert found["success"] == pytest.approx(0.25)


@pytest.mark.parametrize("seed", [*range(8), 11])
def test_going_through_all_worlds_is_exact(seed: int) -> None:
    people, secrets = some_groups(seed)
    case = dealt(people, secrets)
    found = every_world(case.groups, [Feature(size) for size in case.sizes], 1.0)
    assert found is not None
    exact = twin.posterior(people, secrets, case.sizes)
    for group, own in enumerate(exact):
        for person, believed in enumerate(own):
            for secret, chance in believed.items():
                entry = case.entry(group, person, secret)
                assert found.chances[entry] == pytest.approx(float(chance), abs=1e-9)
            entries = [case.entry(group, person, secret) for secret in believed]
            best = found.chances[entries] == found.chances[entries].max()
            assert best.tolist() == [chance == max(believed.values()) for chance in believed.values()]


def records(number: int) -> pd.DataFrame:
    random = Random(4)
    rows = [(random.randint(20, 69), random.choice("FM"), random.choice("abcd")) for _ in range(number)]
    return pd.DataFrame(rows, columns=["age", "sex", "disease"])


def job(*constraints: dict[str, Any], **config: Any) -> dict[str, Any]:
    return {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5, 10, 50]}}},
            "sex": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive"},
        },
        "constraints": list(constraints),
        **config,
    }


def shares(released: pd.DataFrame, names: list[str]) -> dict[Any, Counter[str]]:
    """Return the number of records with each disease in each class."""
    found: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in released.to_dict("records"):
        found[tuple(str(row[name]) for name in names)][row["disease"]] += 1
    return found


@pytest.mark.slow
def test_a_result_tells_the_beliefs_about_a_person() -> None:
    data = records(60)
    result = an.anonymize(data, job({"model": "k-anonymity", "k": 10}))
    person = data.iloc[7]
    found = result.beliefs({"age": person["age"], "sex": person["sex"]})
    own = shares(result.data, ["age", "sex"])
    texts = [str(value) for value in result.data.loc[7, ["age", "sex"]]] if len(result.data) == 60 else []
    assert set(found["sensitive"]) == {"disease"}
    assert found["random_worlds"].sum() == pytest.approx(1)
    assert found["definetti"].sum() == pytest.approx(1)
    assert found["inference"].between(0, 1).all()
    expected = [{value: count / sum(each.values()) for value, count in each.items()} for each in own.values()]
    assert dict(zip(found["value"], found["random_worlds"], strict=True)) in [
        pytest.approx(each) for each in expected
    ], texts
    assert (found["low"] <= found["definetti"]).all()
    with pytest.raises(an.InputError, match="target row 1: no record of the input has age 999"):
        result.beliefs({"age": 999})
    with pytest.raises(an.InputError, match="the input has no column 'sexx'; did you mean 'sex'"):
        result.beliefs({"age": person["age"], "sexx": person["sex"]})
    with pytest.raises(an.InputError, match="int; accepted"):
        result.beliefs(3)
    rows = pl.from_pandas(data.iloc[7:8])
    assert result.beliefs(rows)["random_worlds"].tolist() == found["random_worlds"].tolist()


@pytest.mark.slow
def test_a_file_of_persons_is_found_by_what_the_release_covers(tmp_path: Path) -> None:
    data = records(60)
    result = an.anonymize(data, job({"model": "k-anonymity", "k": 10}))
    result.data.to_csv(tmp_path / "release.csv", index=False)
    data[["age", "sex"]].iloc[:2].to_csv(tmp_path / "persons.csv", index=False)
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job({"model": "k-anonymity", "k": 10})))
    arguments = ("attack", tmp_path / "release.csv", "-c", tmp_path / "job.yaml", "--json")
    found = call(*arguments, "--target", tmp_path / "persons.csv").json["beliefs"]
    assert {each["target"] for each in found} == {"row 1", "row 2"}
    data.to_csv(tmp_path / "data.csv", index=False)
    known = call(*arguments, "--target", "1", "--original", tmp_path / "data.csv").json["beliefs"]
    worlds = {each["value"]: each["random_worlds"] for each in found if each["target"] == "row 1"}
    assert worlds == pytest.approx({each["value"]: each["random_worlds"] for each in known})
    assert all(each["inference"] is not None for each in known)
    for target, words in (("0", "accepted: 1 to"), ("nobody", "neither a row number nor a file")):
        done = call(*arguments, "--target", target)
        assert done.code == 2
        assert words in done.err


@pytest.mark.parametrize("algorithm", ["lattice", "anatomy"])
def test_the_largest_belief_is_bounded(algorithm: str) -> None:
    data = records(90)
    believed = {"model": "belief", "max": 0.45, "attack": "random-worlds", "over": "every"}
    result = an.anonymize(
        data,
        job(
            {"model": "l-diversity", "l": 2},
            believed,
            algorithm={"name": algorithm},
            suppression={"limit": 1},
        ),
    )
    entry = next(each for each in result.report["constraints"] if each["model"] == "belief")
    groups = result.data if result.sensitive_table is None else result.sensitive_table
    if result.sensitive_table is None:
        own = shares(result.data, ["age", "sex"])
        largest = max(Fraction(max(each.values()), sum(each.values())) for each in own.values())
    else:
        sizes = groups.groupby("group")["count"]
        largest = max(Fraction(int(each.max()), int(each.sum())) for _, each in sizes)
    assert entry["measured"] == pytest.approx(float(largest))
    assert largest <= Fraction(45, 100)
    asked = [each for step in result.report["steps"] for each in step.get("attackers", ())]
    assert {each["attack"] for own in asked for each in own["attackers"]} <= {"random-worlds"}
    assert asked or algorithm == "anatomy"


@pytest.mark.slow
def test_definetti_bounds_what_correlations_reveal() -> None:
    """Sick smokers: random worlds promise 1/2 in every pair, the release says more."""
    random = Random(1)
    rows = [("y" if random.random() < 0.9 else "n", "cancer") for _ in range(16)]
    rows += [("y" if random.random() < 0.1 else "n", value) for value in "abc" for _ in range(8)]
    data = pd.DataFrame(rows, columns=["smoker", "disease"])
    attributes = {"smoker": {"role": "quasi-identifier"}, "disease": {"role": "sensitive"}}
    config = {
        "attributes": attributes,
        "constraints": [{"model": "l-diversity", "l": 2}],
        "algorithm": {"name": "anatomy"},
    }
    loose = an.anonymize(data, config)
    assert loose.beliefs(data[["smoker"]].head(1))["definetti"].max() > 0.6
    config["constraints"] = [{"model": "l-diversity", "l": 2}, {"model": "belief", "max": 0.75}]
    strict = an.anonymize(data, config)
    assert strict.report["constraints"][1]["measured"] <= 0.75
    assert strict.report["recoding"]["groups"] < loose.report["recoding"]["groups"]


DAYS = ["19.03.2024", "16.02.2024", "13.11.2024", "01.08.2024", "25.10.2024", "", "09.08.2024", "04.10.2024"]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["lattice", "anatomy"])
def test_dates_of_any_format_and_missing_values_are_found(algorithm: str, tmp_path: Path) -> None:
    """Each target is found as the same data with ISO dates, where nothing is rewritten."""
    rows = [(day, "xyz"[place % 3]) for place, day in enumerate(DAYS * 3)]
    written = {
        "german": (rows, "%d.%m.%Y", "n.a."),
        "iso": ([("-".join(day.split(".")[::-1]), value) for day, value in rows], None, "<missing>"),
    }
    found: dict[str, list[Any]] = {}
    for name, (own, form, missing) in written.items():
        adm: dict[str, Any] = {"role": "quasi-identifier", "type": "date"}
        adm |= {"hierarchy": {"date": {"levels": ["quarter", "year"]}}, **({"format": form} if form else {})}
        config = {
            "input": {"path": f"{name}.csv", "missing": ["", missing]},
            "attributes": {"adm": adm, "dx": {"role": "sensitive"}},
            "constraints": [{"model": "l-diversity", "l": 2}],
            "algorithm": {"name": algorithm},
            "attacks": ["definetti"],
            "suppression": {"limit": 1},
        }
        data = pd.DataFrame([(day or missing, value) for day, value in own], columns=["adm", "dx"])
        data.to_csv(tmp_path / f"{name}.csv", index=False)
        data[["adm"]].iloc[4:6].to_csv(tmp_path / f"{name}-persons.csv", index=False)
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(config))
        assert call("run", tmp_path / f"{name}.yaml", "-q").code == 0
        folder = tmp_path / f"{name}-release" / "share"
        release = folder / ("release.csv" if algorithm == "lattice" else "release.qit.csv")
        command = ("attack", release, "-c", tmp_path / f"{name}.yaml", "--json")
        original, persons = tmp_path / f"{name}.csv", tmp_path / f"{name}-persons.csv"
        for further in (
            ("--original", original, "--target", "5"),
            ("--original", original, "--target", "6"),
            ("--target", persons),
            ("--target", persons, "--original", original),
            ("--target", "1"),
        ):
            done = call(*command, *further)
            assert done.code == 0, done.err
            found.setdefault(name, []).append(done.json["beliefs"])
    assert found["german"] == found["iso"]


def test_targets_may_be_rows_of_an_anatomy_release(tmp_path: Path) -> None:
    """Its dates are in ISO 8601, whatever the format of the input."""
    adm = {"role": "quasi-identifier", "type": "date", "format": "%d.%m.%Y"}
    config = {
        "attributes": {"adm": adm, "dx": {"role": "sensitive"}},
        "constraints": [{"model": "l-diversity", "l": 2}],
        "algorithm": {"name": "anatomy"},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(config))
    release = tmp_path / "t.qit.csv"
    release.write_text("adm,group\n2024-03-19,1\n2024-02-16,1\n")
    (tmp_path / "t.st.csv").write_text("group,dx,count\n1,x,1\n1,y,1\n")
    (tmp_path / "persons.csv").write_text("adm,group\n2024-02-16,1\n")
    done = call("attack", release, "-c", tmp_path / "job.yaml", "--target", tmp_path / "persons.csv")
    assert done.code == 0, done.err
    assert "row 1: dx x: random worlds 0.5000" in done.out


def test_the_bucket_of_a_person_in_anatomy_may_be_known() -> None:
    data = records(60)
    result = an.anonymize(data, job({"model": "l-diversity", "l": 2}, algorithm={"name": "anatomy"}))
    row = result.data.iloc[0]
    found = result.beliefs({name: row[name] for name in ("age", "sex", "group")})
    bucket = result.sensitive_table[result.sensitive_table["group"] == row["group"]]
    expected = (bucket.set_index("disease")["count"] / bucket["count"].sum()).to_dict()
    assert dict(zip(found["value"], found["random_worlds"], strict=True)) == pytest.approx(expected)
