"""Every small table of the literature by command, with the numbers that its source states."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil
from pathlib import Path
from random import Random
from statistics import fmean, pstdev
from typing import Any

import pytest
import yaml

from tests.attacks.literature import TABLES, literature, rows_of
from tests.run.commands import call
from tests.run.test_beliefs import kifer
from tests.shared import shared


def files(folder: Path, table: str, attacks: list[Any]) -> tuple[Path, Path, dict[str, Any]]:
    """Write a table and a config of it; return their paths and the known answers."""
    names, rows, answers = literature(table)
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    roles = {name: {"role": "quasi-identifier", "type": "text"} for name in names[:-1]}
    config = {
        "attributes": {**roles, names[-1]: {"role": "sensitive", "type": "text"}},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": attacks,
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(config))
    return folder / "table.csv", folder / "job.yaml", answers["computed"]


@pytest.mark.quick(4)
@pytest.mark.parametrize("table", TABLES)
def test_check_and_attack_find_the_known_answers(tmp_path: Path, table: str) -> None:
    data, config, known = files(tmp_path, table, ["homogeneity", "vulnerability", "background"])
    done = call("check", data, "-c", config, "--json")
    assert done.code in (0, 1), done.err
    measures = {each["model"]: each["measured"] for each in done.json["measures"]}
    assert measures["k-anonymity"] == known["k"]
    assert measures["l-diversity"] == known["distinct_l"]
    assert measures["entropy-l-diversity"] == pytest.approx(float(known["entropy_l"]))
    assert measures["alpha-k-anonymity"][1] == pytest.approx(
        float(Fraction(str(known["max_confidence_alpha"])))
    )
    assert measures["t-closeness"] == pytest.approx(float(Fraction(str(known["t_equal_distance"]))))
    attacked = call("attack", data, "-c", config, "--json")
    assert attacked.code == 0, attacked.err
    by_aim = {each["knowledge"].get("target", each["attack"]): each for each in attacked.json["attacks"]}
    for aim, key in (
        ("re-identification", "reidentification"),
        ("attribute-inference", "attribute_inference"),
    ):
        for when, number in (("prior", "baseline"), ("posterior", "success")):
            assert by_aim[aim][number] == pytest.approx(float(Fraction(known[f"{key}_{when}"])))


def write(path: Path, rows: Iterable[Sequence[object]]) -> Path:
    """Write a CSV file; return its path."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_attack_definitions_go_from_an_eighth_to_a_half_and_from_a_half_to_three_quarters(
    tmp_path: Path,
) -> None:
    data, config, _ = files(tmp_path, "attack_definitions", ["vulnerability"])
    found = call("attack", data, "-c", config, "--json").json["attacks"]
    chances = [(each["knowledge"]["target"], each["baseline"], each["success"]) for each in found]
    assert chances == [("re-identification", 1 / 8, 1 / 2), ("attribute-inference", 1 / 2, 3 / 4)]
    subsets = {"attack": "vulnerability", "subsets": "all"}
    data, config, _ = files(tmp_path, "attack_definitions", [subsets])
    found = call("attack", data, "-c", config, "--json").json["attacks"]
    by_aim = {each["knowledge"]["target"]: each["details"]["subsets"] for each in found}
    known = [(each["attributes"], each["success"]) for each in by_aim["re-identification"]]
    assert known == [(["age"], 3 / 8), (["education"], 1 / 2), (["age", "education"], 1 / 2)]


def test_table_1_says_a_half_under_random_worlds_and_100_101_to_exchangeable_people(tmp_path: Path) -> None:
    """The value of tuple 200 is missing: he smokes like 99 others who all have cancer."""
    data = write(tmp_path / "table.csv", rows_of("kifer2009_table1"))
    config = {
        "attributes": {
            "tuple_id": {"role": "drop"},
            "smoker": {"role": "quasi-identifier"},
            "lung_cancer": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 1}],
    }
    job = tmp_path / "job.yaml"
    job.write_text(yaml.safe_dump(config))
    found = call("attack", data, "-c", job, "--target", "200", "--json").json["beliefs"]
    assert [each["value"] for each in found] == ["n", "y"]
    assert [each["random_worlds"] for each in found] == [1 / 2, 1 / 2]
    for each, chance in zip(found, (1 / 101, 100 / 101), strict=True):
        assert each["definetti"] == each["low"] == each["high"] == pytest.approx(chance, rel=1e-12)
    said = call("attack", data, "-c", job, "--target", "200").out
    assert "row 200: lung_cancer y: random worlds 0.5000, deFinetti 0.9901" in said
    (sure,) = call("attack", data, "-c", job, "--target", "1", "--json").json["beliefs"]
    assert (sure["value"], sure["random_worlds"], sure["definetti"]) == ("n", 1, 1)
    config["attacks"] = [{"attack": "definetti", "prior": 2}]
    job.write_text(yaml.safe_dump(config))
    *_, cancer = call("attack", data, "-c", job, "--target", "200", "--json").json["beliefs"]
    assert cancer["definetti"] == pytest.approx((99 + 2) / (99 + 2 + 2))


@pytest.mark.parametrize("table", ["kifer2009_table3", "kifer2009_table4"])
def test_tables_3_and_4_leave_aids_at_three_quarters(tmp_path: Path, table: str) -> None:
    data, config, _ = files(tmp_path, table, ["definetti"])
    found = call("attack", data, "-c", config, "--target", "1", "--json").json["beliefs"]
    aids = next(each for each in found if each["value"] == "AIDS")
    assert aids["random_worlds"] == aids["definetti"] == 3 / 4


def test_table_5_is_4_diverse_and_leaves_everybody_at_a_quarter_of_each(tmp_path: Path) -> None:
    release, config = kifer(tmp_path, 5, 3)
    measures = call("check", release, "-c", config, "--json").json["measures"]
    measured = {each["model"]: each["measured"] for each in measures}
    assert measured["l-diversity"] == 4
    assert measured["alpha-k-anonymity"] == [4, 1 / 4]
    assert measured["entropy-l-diversity"] == pytest.approx(4)
    assert measured["t-closeness"] == 0
    for row in (1, 12):
        found = call("attack", release, "-c", config, "--target", str(row), "--json").json["beliefs"]
        assert {each["value"]: each["random_worlds"] for each in found} == dict.fromkeys(
            ("AIDS", "Cancer", "Flu", "None"), 1 / 4
        )
    (found,) = call("attack", release, "-c", config, "--json").json["attacks"]
    assert found["baseline"] == 1 / 4


def test_bob_and_umeko(tmp_path: Path) -> None:
    """All four of Bob's class have cancer; in Umeko's a viral infection remains, as heart disease is rare."""
    rare = {"not": ["Heart Disease"], "where": {"age": "<30"}}
    attacks = ["homogeneity", {"attack": "background", "facts": rare}]
    data, config, _ = files(tmp_path, "ldiversity_inpatients_4anonymous", attacks)
    found = call("attack", data, "-c", config, "--json").json["attacks"]
    assert [each["success"] for each in found] == pytest.approx([4 / 12, 6 / 12])


@pytest.mark.parametrize(
    ("table", "salary", "disease"),
    [("3diverse", Fraction(3, 8), Fraction(4, 9)), ("0167close", Fraction(1, 6), Fraction(8, 27))],
)
def test_distances_of_salaries_and_diseases(
    tmp_path: Path, table: str, salary: Fraction, disease: Fraction
) -> None:
    """t of the classes that Li et al. print: 0.375, and 0.167 after recoding."""
    data = write(tmp_path / "table.csv", rows_of(f"tcloseness_salary_disease_{table}"))
    tree = shared("data", "literature", "tcloseness_disease_hierarchy.csv")
    text = {"role": "quasi-identifier", "type": "text"}
    config = {
        "attributes": {
            "record": {"role": "drop"},
            "zip": text,
            "age": text,
            "salary": {"role": "sensitive", "type": "integer", "distance": "ordered"},
            "disease": {"role": "sensitive", "distance": "hierarchical", "hierarchy": {"file": str(tree)}},
        },
        "constraints": [{"model": "t-closeness", "t": 0.5}],
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(config))
    found = call("check", data, "-c", tmp_path / "job.yaml", "--json").json["constraints"]
    measured = {each["attribute"]: each["measured"] for each in found}
    assert measured == pytest.approx({"salary": float(salary), "disease": float(disease)})


def interval_disclosure(true: Sequence[float], masked: Sequence[float], p: float) -> tuple[float, float]:
    """Return rank and deviation based interval disclosure, by the steps of the source, p / 2 each way."""
    ordered, reach, spread = sorted(masked), ceil(p / 2 * len(true)), p / 2 * pstdev(true)
    by_rank = by_deviation = 0
    for value, own in zip(true, masked, strict=True):
        rank = ordered.index(own)
        low, high = ordered[max(rank - reach, 0)], ordered[min(rank + reach, len(true) - 1)]
        by_rank += low <= value <= high
        by_deviation += own - spread <= value <= own + spread
    return by_rank / len(true), by_deviation / len(true)


@pytest.mark.quick(2)
@pytest.mark.parametrize("masking", ["noise", "mean"])
@pytest.mark.parametrize("p", [0.1, 0.2, 0.4])
def test_interval_disclosure_of_incomes(tmp_path: Path, masking: str, p: float) -> None:
    """The width of ``rid`` is half of the source's p; the deviation is that of the original."""
    with gzip.open(shared("data", "casc_census", "data.csv.gz"), "rt", newline="") as file:
        true = [float(row["AGI"]) for row in csv.DictReader(file)]
    random, spread = Random(5), pstdev(true)
    masked = [value + random.gauss(0, spread / 2) for value in true]
    if masking == "mean":
        masked = [fmean(true)] * len(true)
    original = write(tmp_path / "original.csv", [["AGI"], *([value] for value in true)])
    release = write(tmp_path / "release.csv", [["AGI"], *([value] for value in masked)])
    config = {
        "attributes": {"AGI": {"role": "quasi-identifier", "type": "number"}},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": [{"attack": "interval", "width": p / 2, "aligned": True}],
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(config))
    done = call("attack", release, "-c", tmp_path / "job.yaml", "--original", original, "--json")
    found = [each["success"] for each in done.json["attacks"]]
    by_rank, by_deviation = interval_disclosure(true, masked, p)
    assert found[1] == pytest.approx(by_deviation)
    if masking == "noise":
        assert found[0] == pytest.approx(by_rank)
        assert 0.3 < by_rank < 0.95
    else:
        assert by_deviation > 0
