"""Anatomy from the command line: two files that belong together, or none."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from anonymizer.search.anatomy import GROUPINGS, AnatomySettings, GroupingName
from tests.run.commands import (
    COLUMNS,
    DIAGNOSES,
    assert_message,
    call,
    csv_bytes,
    people,
    read_rows,
    shared_files,
)
from tests.run.grouped import anatomy_job, halves, members, values


def test_the_records_stay_exact_and_their_values_are_in_groups(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    done = job.run()
    assert done.code == 0, done.err
    shared = {path.name for path in (job.output / "share").iterdir()}
    assert shared == shared_files("release.qit.csv", "release.st.csv")
    assert "release.qit.csv  release.st.csv  report.public.json" in done.out
    released = Counter(tuple(row) for rows in members(job).values() for row in rows)
    assert released == Counter((*row[1:4], row[5]) for row in people())
    assert sum(values(job).values(), Counter()) == Counter(row[4] for row in people())
    assert len(members(job)) == 20
    for group, rows in members(job).items():
        assert len(values(job)[group]) == len(rows) == 3


def test_all_options_are_tried() -> None:
    assert set(AnatomySettings.model_fields) == {"grouping"}
    assert [each.value for each in GroupingName] == list(GROUPINGS)


@pytest.mark.quick(1)
@pytest.mark.parametrize("grouping", list(GroupingName))
def test_every_grouping_keeps_the_constraints(grouping: GroupingName, tmp_path: Path) -> None:
    job = anatomy_job(tmp_path, 62).set("algorithm", grouping=grouping.value)
    assert job.run().code == 0
    assert job.report()["recoding"]["grouping"] == grouping.value
    assert len(members(job)) == 20
    assert min(len(own) for own in values(job).values()) == 3
    assert {count for own in values(job).values() for count in own.values()} == {1}
    assert call("audit", job.release).code == 0


def test_every_record_is_in_a_group_that_has_its_value(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    job.rows([(*row[:5], f"{number} {row[4]}") for number, row in enumerate(people())])
    assert job.run().code == 0
    for group, rows in members(job).items():
        assert Counter(row[-1].split()[1] for row in rows) == values(job)[group]


@pytest.mark.parametrize(
    "output",
    [
        *(pytest.param(f"release.{kind}", marks=pytest.mark.slow) for kind in ("csv.gz", "parquet")),
    ],
)
def test_the_files_are_read_back_by_any_name(output: str, tmp_path: Path) -> None:
    job = anatomy_job(tmp_path, output={"path": output})
    done = job.run()
    assert done.code == 0, done.err
    given = [*halves(job), job.release, job.release.with_name("release")]
    for path in given:
        assert call("audit", path).code == 0
        checked = call("check", path, "-c", job.file, "--json").json
        assert checked["rows"] == 60
        assert checked["classes"] == 20
        assert [each["measured"] for each in checked["constraints"]] == [3]
        found = call("attack", path, "-c", job.file, "--original", job.input, "--json").json["attacks"]
        assert {"homogeneity", "vulnerability", "uniqueness", "linkage"} <= {each["attack"] for each in found}
    by_name = call("check", given[0], "--qi", "age,zip,sex", "--json").json["measures"]
    assert {each["attribute"] for each in by_name} == {None, "diagnosis"}


@pytest.mark.slow
def test_the_originals_of_people_who_look_alike_are_those_of_the_release(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path, 90)
    alike = [(name, str(20 + int(age) % 20), "0", *others) for name, age, _, *others in people(90)]
    done = job.rows(alike).run()
    assert done.code == 0, done.err
    attack = call("attack", job.release, "-c", job.file, "--original", job.input, "--json")
    assert attack.code == 0, attack.err
    (found,) = (each for each in attack.json["attacks"] if each["attack"] == "definetti")
    assert found["details"]["judged_by"] == "the true values"
    published = [tuple(row[:-1]) for rows in members(job).values() for row in {tuple(own) for own in rows}]
    assert found["records"] <= len(published)


def test_parquet_has_numbers_where_there_are_some(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path, output={"path": "release.parquet"})
    assert job.run().code == 0
    records, sensitive = (pd.read_parquet(path) for path in halves(job))
    assert records["group"].dtype == sensitive["group"].dtype == sensitive["count"].dtype == "int32"
    assert sensitive["count"].sum() == len(records) == 60


def test_what_finds_people_looks_at_the_exact_values(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path, attacks=["vulnerability", "uniqueness", "homogeneity"])
    assert job.run().code == 0
    alike = Counter(row[1:4] for row in people())
    found = {(each["attack"], each["knowledge"].get("target")): each for each in job.report()["attacks"]}
    assert found["vulnerability", "re-identification"]["success"] == len(alike) / 60
    assert found["uniqueness", None]["success"] == sum(n == 1 for n in alike.values()) / 60
    assert found["vulnerability", "attribute-inference"]["success"] == 1 / 3
    assert found["homogeneity", None]["success"] == 0
    assert any("does not bound re-identification" in each for each in job.report()["warnings"])
    job.constraints(
        {"model": "l-diversity", "l": 3},
        {"model": "vulnerability", "max": 1, "target": "re-identification"},
    )
    assert job.run("--overwrite").code == 0
    assert job.report()["constraints"][1]["measured"] == pytest.approx(len(alike) / 60)
    refused = job.run("--overwrite", "--set", "constraints.1.max=0.5")
    assert refused.code == 1
    assert "INFEASIBLE" in refused.err


def test_the_order_of_the_input_changes_nothing(tmp_path: Path) -> None:
    results = []
    for seed in range(3):
        rows = [[*row[:4], row[4] if number % 7 else "", row[5]] for number, row in enumerate(people(90))]
        if seed:
            Random(seed).shuffle(rows)
        folder = tmp_path / str(seed)
        folder.mkdir()
        job = anatomy_job(folder).rows(rows)
        assert job.run().code == 0
        results.append([path.read_bytes() for path in (*halves(job), job.public_report)])
    assert results[0] == results[1] == results[2]


def test_the_seed_decides_the_groups_and_shuffling_the_order(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    assert job.run().code == 0
    first = members(job)
    assert job.run("--overwrite", "--set", "seed=6").code == 0
    assert members(job) != first
    job.set("output", order="shuffled")
    orders = []
    for _ in range(2):
        assert job.run("--overwrite").code == 0
        orders.append(halves(job)[0].read_bytes())
    assert orders[0] != orders[1]
    assert sorted(orders[0].splitlines()) == sorted(orders[1].splitlines())


def test_a_sorted_release_is_sorted_by_what_is_published(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    job.run()
    rows = read_rows(halves(job)[0])
    assert rows == sorted(rows, key=lambda row: (*row[:-1], int(row[-1])))
    listed = read_rows(halves(job)[1])
    assert listed == sorted(listed, key=lambda row: (int(row[0]), row[1]))
    # Groups are numbered by their records' exact values: the first record is of the first group.
    assert min(rows, key=lambda row: row[:3])[-1] == "1"


def test_one_kind_of_release_replaces_the_other(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    assert job.run().code == 0
    job.set("algorithm", name="mondrian")
    assert job.run().code == 2
    assert job.run("--overwrite").code == 0
    shared = {path.name for path in (job.output / "share").iterdir()}
    assert shared == shared_files("release.csv")
    job.set("algorithm", name="anatomy")
    assert job.run("--overwrite").code == 0
    assert not job.release.exists()
    assert all(path.exists() for path in halves(job))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sex": {"role": "sensitive"}}, ("anatomy", "2 (sex, diagnosis)", "exactly one")),
        ({"diagnosis": {"role": "insensitive"}}, ("found none",)),
    ],
)
def test_it_takes_one_sensitive_attribute(
    change: dict[str, Any], words: tuple[str, ...], tmp_path: Path
) -> None:
    job = anatomy_job(tmp_path)
    job.config["attributes"].update(change)
    job.constraints({"model": "k-anonymity", "k": 2})
    done = job.run()
    assert done.code == 2
    assert_message(done.err, tuple(word for word in words if word != "anatomy"))


@pytest.mark.parametrize(
    ("column", "name"), [("note", "group"), ("diagnosis", "count"), ("diagnosis", "group")]
)
def test_a_column_that_has_the_name_of_a_new_one_is_refused(column: str, name: str, tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    columns = [name if own == column else own for own in COLUMNS]
    job.data = csv_bytes(people(), columns)
    job.config["attributes"] = {
        name if own == column else own: each for own, each in job.config["attributes"].items()
    }
    job.constraints({"model": "l-diversity", "l": 2})
    done = job.run()
    assert done.code == 2
    assert_message(done.err, (f"column '{name}'", "rename it"))


def test_what_cannot_be_grouped_is_infeasible(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    job.constraints({"model": "l-diversity", "l": len(DIAGNOSES) + 1})
    done = job.run()
    assert done.code == 1
    assert "INFEASIBLE" in done.err
    assert "works: --set constraints.0.l=4" in done.err


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "constraint",
    [
        {"model": "entropy-l-diversity", "l": 2.9},
        {"model": "recursive-cl-diversity", "c": 1, "l": 2},
        {"model": "t-closeness", "t": 0.1},
        {"model": "alpha-k-anonymity", "alpha": 0.4, "k": 5},
        {"model": "enhanced-beta-likeness", "beta": 0.6},
        {"model": "k-anonymity", "k": 7},
    ],
)
@pytest.mark.parametrize("reference", ["release", "input"])
def test_other_models_are_constraints_on_groups(
    constraint: dict[str, Any], reference: str, tmp_path: Path
) -> None:
    job = anatomy_job(tmp_path, 90, reference=reference)
    job.constraints({"model": "l-diversity", "l": 2}, constraint)
    done = job.run()
    assert done.code == 0, done.err
    assert call("audit", job.release).code == 0
    report = job.report()
    assert [each["satisfied"] for each in report["constraints"]] == [True, True]
    assert 1 < report["recoding"]["groups"] == len(members(job)) < 45
    assert report["loss"]["loss"] == 0


def test_records_too_many_of_a_value_are_suppressed_within_the_limit(tmp_path: Path) -> None:
    rows = [[*row[:4], "flu" if number < 40 else row[4], row[5]] for number, row in enumerate(people(80))]
    flu = sum(row[4] == "flu" for row in rows)
    job = anatomy_job(tmp_path).rows(rows)
    job.constraints({"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2})
    assert flu > 40
    assert job.run().code == 1
    done = job.run("--set", "suppression.limit=0.3")
    assert done.code == 0, done.err
    assert job.report()["release"]["suppressed_records"] == flu - (80 - flu)
    assert sum(values(job).values(), Counter())["flu"] == 80 - flu


def test_no_record_is_suppressed_where_larger_groups_do(tmp_path: Path) -> None:
    rows = [[*row[:4], "flu" if number < 60 else row[4], row[5]] for number, row in enumerate(people(90))]
    job = anatomy_job(tmp_path).rows(rows)
    done = job.run("--set", "suppression.limit=0.9")
    assert done.code == 0, done.err
    assert job.report()["release"]["suppressed_records"] == 0
    assert all(len(own) >= 3 for own in values(job).values())


def test_the_public_report_names_both_files_and_tells_no_seed(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    job.run()
    public = json.loads(job.public_report.read_text())
    assert public["release"]["path"] == "share/release.qit.csv"
    assert public["release"]["sensitive_table"]["path"] == "share/release.st.csv"
    assert public["release"]["sensitive_table"]["rows"] == 60
    assert "seed" not in public["config"]
    assert public["recoding"]["groups"] == 20
