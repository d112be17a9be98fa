"""The recipient of a release learns nothing confidential from any file."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from anonymizer.attacks.vulnerability import VulnerabilityAttack
from anonymizer.model.report import Report
from anonymizer.report.facts import share_step
from anonymizer.report.legend import legend
from anonymizer.report.public import RECORDS, public_report, unplaced_keys
from tests.helpers.slow import slow_but
from tests.run.commands import CONFIG, Done, Job, call, people, shared_files


def test_it_lacks_what_would_help_an_attacker(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.config["seed"] = 987654321
    job.run()
    text = job.public_report.read_text(encoding="utf-8")
    public, report = json.loads(text), job.report()
    assert "steps" not in public
    assert set(public["search"]) == set(report["search"]) - {
        "seed",
        "seconds",
        "bound_seconds",
        "steps",
        "chosen_because",
    }
    assert set(public["input"]) == {"rows", "columns"}
    assert "path" not in public["config"]["input"]
    assert "seed" not in public["config"]
    for secret in ("987654321", report["input"]["sha256"], "people.csv", str(tmp_path)):
        assert secret not in text
    assert public["release"] == report["release"]
    assert public["constraints"] == report["constraints"]
    assert "engine" not in public["config"]
    assert public["loss"]["nonuniform_entropy"] is None
    assert public["loss"]["discernibility"] == report["loss"]["discernibility"]


def test_losses_that_depend_on_hidden_values_are_not_shown(tmp_path: Path) -> None:
    job = Job(tmp_path).rows(people(400)).attribute("zip", role="quasi-identifier", type="text")
    assert job.run().code == 0
    public = json.loads(job.public_report.read_text(encoding="utf-8"))
    assert (public["loss"]["loss"], public["loss"]["ncp"], public["search"]["objective"]) == (None,) * 3
    assert public["loss"]["precision"] is not None


def test_what_compares_the_release_with_the_input_is_left_out(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.7})
    job.config["reference"] = "input"
    assert job.run().code == 0
    public = json.loads(job.public_report.read_text(encoding="utf-8"))["constraints"]
    assert (public[1]["measured"], public[1]["worst_classes"], public[1]["satisfied"]) == (None, None, True)
    assert public[0]["measured"] == job.report()["constraints"][0]["measured"]


def test_folders_of_hierarchy_files_stay_private(tmp_path: Path) -> None:
    job = Job(tmp_path)
    (tmp_path / "private folder").mkdir()
    path = tmp_path / "private folder" / "sex.csv"
    path.write_text("F,*\nM,*\n", encoding="utf-8")
    job.attribute("sex", role="quasi-identifier", hierarchy={"file": str(path)})
    assert job.run().code == 0
    text = job.public_report.read_text(encoding="utf-8")
    assert "private folder" not in text
    assert json.loads(text)["config"]["attributes"]["sex"]["hierarchy"]["file"] == "sex.csv"


def content(**counts: Any) -> dict[str, Any]:
    release = {"path": "p", "sha256": "s", "rows": 90, "suppressed_records": 10, "suppressed_cells": 0}
    return {
        "schema": 1,
        "status": "satisfied",
        "warnings": [],
        "config": {"seed": 1, "input": {"path": "x"}, "attributes": {}, "objective": {"metric": "loss"}},
        "input": {"path": "x", "sha256": "y", "rows": 100, "columns": 3},
        "release": {**release, "classes": 9, **counts},
        "search": {
            "seed": 1,
            "seconds": 1.0,
            "steps": 2,
            "objective": 0.5,
            "bound": 0.5,
            "gap": 0.0,
            "best_possible": 0.4,
        },
        "constraints": [{"worst_classes": counts.get("worst_classes", 7), "verifiable_from_release": True}],
        "loss": {"loss": 0.5, "discernibility": 900},
        "attack_matrix": [{"threat": "linkage", "success": 0.12345}],
        "attacks": [{"attack": "linkage", "knowledge": {}, "records": 90, "success": 0.12345, "details": {}}],
        "steps": [],
    }


@pytest.mark.parametrize(
    ("k", "number", "shown"),
    [(None, 2, None), (None, 3, 3), (2, 2, None), (5, 4, None), (5, 5, 5), (5, 0, 0), (1, 1, None)],
)
def test_counts_below_k_and_3_are_left_out(k: int | None, number: int, shown: int | None) -> None:
    for key in ("rows", "suppressed_records", "suppressed_cells", "classes"):
        public = public_report(Report(content(**{key: number})), k).to_dict()
        assert public["release"][key] == shown
    public = public_report(Report(content(worst_classes=number)), k).to_dict()
    assert public["constraints"][0]["worst_classes"] == shown


def test_what_would_tell_a_hidden_number_of_suppressed_records_is_hidden_too() -> None:
    public = public_report(Report(content(suppressed_records=1, rows=99)), 5).to_dict()
    assert public["input"]["rows"] is None
    assert set(public["loss"].values()) == {None}
    told = ("objective", "bound", "gap", "best_possible")
    assert [public["search"][key] for key in told] == [None] * 4
    assert public["release"]["rows"] == 99


def test_the_internal_report_stays_as_it_was() -> None:
    report = Report(content(suppressed_records=1))
    before = json.dumps(report.to_dict())
    public_report(report, 5)
    assert json.dumps(report.to_dict()) == before


def test_an_attack_by_the_originals_is_hidden_in_the_matrix_whatever_its_threat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a plug-in attack may: re-identification is otherwise measured by the release alone."""
    changes = {"attacks": ["vulnerability"]}
    shown = {row["threat"]: row for row in anonymized([20, 30] * 12, changes, 3)[1]["attack_matrix"]}
    assert shown["re-identification"]["success"] is not None
    monkeypatch.setattr(VulnerabilityAttack, "of_release_alone", False)
    public = anonymized([20, 30] * 12, changes, 3)[1]
    hidden = next(row for row in public["attack_matrix"] if row["threat"] == "re-identification")
    assert (hidden["success"], hidden["baseline"], hidden["contradicted"]) == (None, None, None)
    assert all(each["success"] is None for each in public["attacks"])


CANARIES = {
    "identifier": "Canary Anne Identifier",
    "quasi-identifier": "canaryville",
    "sensitive": "canary disease",
    "insensitive": "canary note 4711",
}


@pytest.fixture
def canary_job(tmp_path: Path) -> Job:
    """A job with one unusual record that is suppressed."""
    rows = [*people(60), (CANARIES["identifier"], "20", "0117", CANARIES["quasi-identifier"],
                          CANARIES["sensitive"], CANARIES["insensitive"])]  # fmt: skip
    job = Job(tmp_path).rows(rows)
    job.config["attributes"]["sex"]["levels"] = {"max": 0}
    return job


def everything_said(job: Job, done: Done) -> dict[str, str]:
    """Return the text of every file that a run wrote, and of what it printed."""
    files = [path for path in job.output.rglob("*") if path.is_file()]
    raw = {path.name: path.read_bytes() for path in files}
    said = {
        name: (gzip.decompress(bytes_) if name.endswith(".gz") else bytes_).decode("utf-8", "replace")
        for name, bytes_ in raw.items()
    }
    return {**said, "stdout": done.out, "stderr": done.err}


@pytest.mark.quick(1)
@pytest.mark.parametrize("output", ["release.csv", "release.csv.gz", "release.parquet"])
def test_no_file_reveals_a_suppressed_record(output: str, canary_job: Job) -> None:
    done = canary_job.set("output", path=output).run()
    assert done.code == 0, done.err
    said = everything_said(canary_job, done)
    internal = {"recoding.json", "report.html", "report.json"}
    assert set(said) == {*shared_files(output), *internal, "stdout", "stderr"}
    found = [(name, canary) for name, text in said.items() for canary in CANARIES.values() if canary in text]
    assert found == []


def test_no_report_holds_an_identifier_or_a_record(tmp_path: Path) -> None:
    job = Job(tmp_path)
    done = job.run("--json")
    said = everything_said(job, done)
    del said["release.csv"]
    # It has the published values that not just a few records have.
    assert not re.search(r"person \d", said.pop("codebook.csv"))
    for name, text in said.items():
        assert not re.search(r"person \d", text), name
        assert "note 1" not in text, name
        assert "asthma" not in text, name


@pytest.mark.parametrize("constraint", [{"model": "l-diversity", "l": 9}, {"model": "k-anonymity", "k": 50}])
def test_a_refusal_reveals_nothing_of_a_record(constraint: dict[str, Any], canary_job: Job) -> None:
    done = canary_job.constraints(constraint).run("--json")
    assert done.code == 1
    for canary in CANARIES.values():
        assert canary not in done.out + done.err


NUMBERS_ONLY = {
    "age": {"role": "quasi-identifier"},
    "zip": {"role": "insensitive"},
    "sex": {"role": "insensitive"},
}
ANY_TABLE = ["vulnerability", "uniqueness", "homogeneity", "background", "skewness", "definetti", "linkage"]
EVERY_ALGORITHM: dict[str, dict[str, Any]] = {
    "lattice": {
        "attacks": [*ANY_TABLE, "inference", "wildcard", {"attack": "vulnerability", "subsets": "all"}]
    },
    "lattice, reference input": {
        "constraints": [{"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.7}],
        "reference": "input",
        "objective": {"metric": "discernibility"},
    },
    "lattice, nothing suppressed": {
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "suppression": {},
        "attacks": ["minimality", {"attack": "linkage", "linkage": "assignment", "overlap": 0.5}],
    },
    "lattice, records": {"suppression": {"limit": 0.1, "method": "records"}, "attacks": ANY_TABLE},
    "lattice, cells": {"suppression": {"limit": 0.1, "method": "cells"}, "attacks": [*ANY_TABLE, "wildcard"]},
    "local": {"algorithm": {"name": "local"}, "attacks": ANY_TABLE},
    "auto": {"algorithm": {"name": "auto"}, "objective": {"metric": "nonuniform-entropy"}},
    "anatomy": {
        "algorithm": {"name": "anatomy"},
        "constraints": [{"model": "l-diversity", "l": 2}],
        "suppression": {},
        "attacks": ["vulnerability", "uniqueness", "homogeneity", "definetti"],
    },
    **{
        f"mondrian, {mode}, {labels}": {
            "algorithm": {"name": "mondrian", "mode": mode, "labels": labels},
            "attributes": NUMBERS_ONLY if labels == "interval" else {},
            "attacks": ANY_TABLE,
        }
        for mode, labels in product(("strict", "relaxed"), ("hierarchy", "interval", "set"))
    },
    **{
        f"microaggregation, {aggregate}, {variable}": {
            "algorithm": {
                "name": "microaggregation",
                "k": 3,
                "aggregate": aggregate,
                "variable": variable,
            },
            "attributes": NUMBERS_ONLY,
            "constraints": [{"model": "k-anonymity", "k": 3}],
            "suppression": {},
            "attacks": [
                "uniqueness",
                "linkage",
                {"attack": "interval", "measure": "rid"},
                {"attack": "interval", "measure": "sdid"},
            ],
        }
        for aggregate, variable in product(("mean", "median"), (False, True))
    },
}
"""What is changed in the config of the small job."""

PRECISE = re.compile(
    r"config/.*|constraints/\[\]/(measured|parameters/.*)|attacks/\[\]/knowledge/(overlap|width|swap_range|rare"
    r"|threshold|noise|missing|year|typing|coding)"
)
"""Where all digits may be shown: what the publisher wrote, and what an audit measures on the release."""

COARSE = re.compile(r"loss/(loss|ncp)|search/(objective|bound|gap|best_possible)")
"""What is rounded to a step by the number of records where the objective is the loss."""


def changed_config(changes: dict[str, Any]) -> dict[str, Any]:
    config = {**deepcopy(CONFIG), "utility": ["marginal-distance"]}
    for section, values in changes.items():
        config[section] = {**config["attributes"], **values} if section == "attributes" else values
    return config


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path of each single value of a report, with the value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}/{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, f"{path}/[]")
    else:
        yield path, value


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(4, EVERY_ALGORITHM))
@pytest.mark.usefixtures("short_chains")
def test_every_key_of_a_report_is_placed_and_every_number_rounded(name: str, tmp_path: Path) -> None:
    job = Job(tmp_path, changed_config(EVERY_ALGORITHM[name])).rows(people(120))
    done = job.run()
    assert done.code == 0, done.err
    report = job.report()
    assert unplaced_keys(report) == [], "place each key in report/public.py: how may a recipient see it?"
    public = json.loads(job.public_report.read_text(encoding="utf-8"))
    # RECORDS follows from the config; the findings of a recipient are the internal ones of public kinds.
    own = {"warnings/[]", "exposure/findings/[]/kind", "exposure/findings/[]/exceeded"}
    assert public["exposure"] == {"findings": report["exposure"]["public"]}
    assert {path for path, _ in leaves(public)} <= {path for path, _ in leaves(report)} | own
    floats = [(path, value) for path, value in leaves(public) if isinstance(value, float)]
    for path, value in floats:
        if PRECISE.fullmatch(path) is None:
            assert value == float(f"{value:.3g}"), path
    step = share_step(report["release"]["rows"], 3)
    assert step is not None
    if report["config"]["objective"]["metric"] == "loss":
        for path, value in floats:
            if COARSE.fullmatch(path):
                assert value == pytest.approx(round(value / step) * step), path
    release = job.release if "anatomy" not in name else job.release.with_name("release.qit.csv")
    assert call("audit", release).code == 0


def test_a_key_that_is_not_placed_does_not_appear() -> None:
    added = content(sst=123.456)
    added["cells"] = {"age": 0.123456}
    added["loss"]["variance"] = 0.123456
    added["constraints"][0]["details"] = {"age": 0.123456}
    added["attacks"][0]["knowledge"] = {"weights": [0.123456], "sensitive": {"age": 0.123456}}
    added["config"]["attributes"] = {"age": {"key": "secret"}}
    text = public_report(Report(added), 5).to_json()
    assert "123" not in text.replace("0.123,", "")
    assert "secret" not in text
    places = ["release.sst", "cells", "loss.variance", "constraints.[].details"]
    knowledge = [f"attacks.[].knowledge.{key}" for key in ("weights", "sensitive")]
    found = unplaced_keys(added)
    assert [path for path in (*places, knowledge[1], "config.attributes.age.key") if path not in found] == []


@pytest.mark.slow
def test_warnings_that_tell_of_the_input_or_the_seed_are_not_public(tmp_path: Path) -> None:
    job = Job(tmp_path, changed_config(EVERY_ALGORITHM["anatomy"]))
    job.rows([("person", "30", " 0117", "F", "flu", " note"), *people(60)])
    assert job.run().code == 0
    assert any("seed" in each for each in job.report()["warnings"])
    shown = json.loads(job.public_report.read_text(encoding="utf-8"))["warnings"]
    assert [each for each in shown if "exact" not in each] == [RECORDS]
    assert len(shown) == 2


def anonymized(
    ages: list[int], changes: dict[str, Any], k: int
) -> tuple[list[tuple[str, ...]], dict[str, Any]]:
    """Return the records of the release, and the public report, of people of these ages."""
    rows = [(*row[:1], str(age), *row[2:]) for row, age in zip(people(len(ages)), ages, strict=True)]
    frame = pd.DataFrame(rows, columns=list(CONFIG["attributes"])).astype({"age": int})
    result = an.anonymize(frame, {**changed_config(changes), "input": {}})
    public = public_report(result.report, k).to_dict()
    return sorted(result.data.astype(str).itertuples(index=False, name=None)), public


ONE_HIDDEN: dict[str, dict[str, Any]] = {
    name: {
        **EVERY_ALGORITHM[name],
        "attacks": ["linkage", "uniqueness", *(["interval"] if "micro" in name else [])],
        "attributes": {**NUMBERS_ONLY, **attributes},
    }
    for name, attributes in {
        "lattice": {"age": CONFIG["attributes"]["age"]},
        "lattice, cells": {"age": CONFIG["attributes"]["age"]},
        "local": {"age": CONFIG["attributes"]["age"]},
        "mondrian, strict, interval": {},
        "microaggregation, median, False": {},
        "microaggregation, median, True": {},
    }.items()
}

AGES = {name: range(20, 600, 5) if "micro" in name else range(20, 60) for name in ONE_HIDDEN}
"""Ages that occur, and that the adversary tries; of means of few, sparse ones leave room."""

NEAR = 10
"""How many ages the adversary tries on each side of the true one: those beyond give another release."""


def consistent(
    name: str, records: int, ages: range, hidden: int
) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Return the ages of one record that give the same release, with the true public report and its own."""
    random = Random(11)
    known = [random.choice(ages) for _ in range(records)]
    released, public = anonymized(known, ONE_HIDDEN[name], 3)
    found = []
    place = ages.index(known[hidden])
    for age in ages[max(place - NEAR, 0) : place + NEAR + 1]:
        other, claimed = anonymized([*known[:hidden], age, *known[hidden + 1 :]], ONE_HIDDEN[name], 3)
        if other == released:
            found.append((age, public, claimed))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(2, ONE_HIDDEN))
def test_no_figure_reveals_one_unknown_value_of_few_records(name: str) -> None:
    """An adversary who knows all values except one has as many candidates with the report as without it."""
    candidates = consistent(name, 50, AGES[name], 7)
    assert len(candidates) > 1, "the release alone leaves several candidates"
    for age, public, claimed in candidates:
        assert claimed == public, age


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(1, ["lattice", "microaggregation, median, False"]))
def test_figures_of_more_records_do_not_tell_one_value_either(name: str) -> None:
    candidates = consistent(name, 120, AGES[name], 7)
    assert len(candidates) > 1
    for age, public, claimed in candidates:
        assert claimed == public, age


def test_an_outlier_that_is_suppressed_does_not_show() -> None:
    """One outlier moves the term of every record in ncp, which no rounding by the number of records hides."""

    def public(top: int) -> tuple[str, dict[str, Any]]:
        incomes = [1000 * (each % 9) for each in range(900)] + [top]
        frame = pd.DataFrame({"income": incomes, "illness": ["ab"[each % 2] for each in range(901)]})
        result = an.anonymize(
            frame,
            {
                "attributes": {
                    "income": {
                        "role": "quasi-identifier",
                        "hierarchy": {"intervals": {"width": [1000, 10000]}},
                        "levels": {"max": 1},
                    },
                    "illness": {"role": "sensitive"},
                },
                "constraints": [{"model": "k-anonymity", "k": 5}],
                "suppression": {"limit": 0.01},
            },
        )
        return str(result.data.to_csv()), public_report(result.report, 5).to_dict()

    assert public(47_000) == public(99_990) == public(2_000_000)


@pytest.mark.slow
def test_the_sum_of_squares_of_sixty_numbers_does_not_tell_one_of_them() -> None:
    random = Random(11)
    numbers = [random.randint(1000, 99999) for _ in range(60)]
    changes = {
        **ONE_HIDDEN["microaggregation, median, False"],
        "constraints": [{"model": "k-anonymity", "k": 5}],
    }
    changes["algorithm"] = {"name": "microaggregation", "k": 5, "aggregate": "median"}
    released, public = anonymized(numbers, changes, 5)
    fitting = 0
    for step in range(-40, 41, 2):
        other, claimed = anonymized([*numbers[:59], numbers[59] + 7 * step], changes, 5)
        fitting += (other, claimed) == (released, public)
        assert other != released or claimed == public, step
    assert fitting > 20


@pytest.mark.slow
def test_types_are_shown_where_the_config_declares_them(tmp_path: Path) -> None:
    """One suppressed ``33.5`` changes integers to numbers, so a detected type depends on hidden values."""

    def types(age: str, folder: Path, **declared: str) -> dict[str, Any]:
        folder.mkdir()
        job = Job(folder).rows([*people(60), ("person", age, "9999", "F", "asthma", "note 1")])
        job.config["attributes"]["age"] |= {"levels": {"max": 1}, **declared}
        job.config["attributes"]["sex"]["levels"] = {"max": 0}
        job.config["attributes"]["zip"]["levels"] = {"max": 3}
        assert job.run().code == 0
        assert "9999" not in job.release.read_text(encoding="utf-8")
        public = json.loads(job.public_report.read_text(encoding="utf-8"))
        return {name: each["type"] for name, each in public["attributes"].items()}

    plain = types("99", tmp_path / "plain")
    assert plain == types("99.5", tmp_path / "fraction")
    assert (plain["age"], plain["zip"], plain["diagnosis"], plain["name"]) == (None, "text", None, None)
    assert types("99", tmp_path / "declared", type="number")["age"] == "number"


def pairs(frame: pd.DataFrame, config: dict[str, Any], row: int, **changes: Any) -> list[dict[str, Any]]:
    """Return the public reports of two tables of equal releases, the second with a hidden value changed."""
    other = frame.copy()
    for name, value in changes.items():
        other.loc[row, name] = value
    results = [an.anonymize(each, config) for each in (frame, other)]
    assert results[0].data.astype(str).equals(results[1].data.astype(str))
    return [public_report(each.report, 3).to_dict() for each in results]


def test_a_verdict_about_hidden_figures_is_hidden(tmp_path: Path) -> None:
    """Whether linkage finds more than 1 / k depends on values below the published labels."""
    job = Job(tmp_path)
    job.config["attacks"] = ["linkage", "uniqueness", "homogeneity", "inference"]
    assert job.run().code == 0
    public = json.loads(job.public_report.read_text(encoding="utf-8"))["attack_matrix"]
    own = {row["threat"]: row for row in job.report()["attack_matrix"]}
    assert {own["linkage"]["contradicted"], own["inference"]["contradicted"]} <= {True, False}
    for row in public:
        shown = None if row["success"] is None else own[row["threat"]]["contradicted"]
        assert row["contradicted"] is shown, row["threat"]
    assert {row["threat"] for row in public if row["contradicted"] is not None} == {"homogeneity"}


def test_a_tie_of_the_third_digit_is_rounded_in_one_way() -> None:
    """A sum of floats ends above or below 0.4225 by its order, which hidden values can decide."""
    tied = [0.42249999999999993, 0.4225, 0.42250000000000004]
    assert len({f"{each:.3g}" for each in tied}) == 2
    reports = [content() for _ in tied]
    for report, value in zip(reports, tied, strict=True):
        report["loss"]["precision"] = report["search"]["objective"] = value
        report["config"]["objective"]["metric"] = "precision"
    public = [public_report(Report(each), None).to_dict() for each in reports]
    assert len({each["loss"]["precision"] for each in public}) == 1
    assert len({each["search"]["objective"] for each in public}) == 1


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, True),
        ({"budget": {"nodes": 10_000}}, None),
        ({"algorithm": {"name": "local"}}, None),
        ({"algorithm": {"name": "mondrian"}}, None),
        ({"suppression": {"limit": 0.1, "method": "cells"}}, None),
        ({"constraints": [{"model": "uniqueness", "max": 0.1}]}, None),
    ],
)
def test_a_proof_is_shown_where_every_run_ends_with_one(
    changes: dict[str, Any], shown: bool | None, tmp_path: Path
) -> None:
    job = Job(tmp_path)
    job.config.update(changes)
    assert job.run().code == 0
    assert json.loads(job.public_report.read_text(encoding="utf-8"))["search"]["optimal"] is shown


@pytest.mark.parametrize(
    ("settings", "constraint", "shown"),
    [
        ({}, {}, False),
        ({"type": "text"}, {}, True),
        ({"distance": "equal"}, {}, True),
        ({}, {"distance": "equal"}, True),
    ],
)
def test_a_measure_does_not_tell_the_kind_of_a_suppressed_value(
    settings: dict[str, Any], constraint: dict[str, Any], *, shown: bool
) -> None:
    """One suppressed code makes texts of numbers, and another ground distance."""
    rows = [*((10, each) for each in "11223"), *((11, each) for each in "34421"), (90, "1"), (91, "2")]
    frame = pd.DataFrame(rows, columns=["a", "s"])
    config = {
        "attributes": {
            "a": {"role": "quasi-identifier", "levels": {"max": 0}},
            "s": {"role": "sensitive", **settings},
        },
        "constraints": [
            {"model": "k-anonymity", "k": 3},
            {"model": "t-closeness", "t": 1, **constraint},
        ],
        "suppression": {"limit": 0.5},
    }
    one, other = pairs(frame, config, 11, s="007")
    assert one["constraints"] == other["constraints"]
    assert (one["constraints"][1]["measured"] is not None) is shown
    assert one["constraints"][0]["measured"] is not None


DAYS = [f"2024-0{1 + each % 2}-1{each % 3}" for each in range(60)]
WORDS = [f"{chr(0x4E00 + each)}{each:02}" for each in range(64)]


@pytest.mark.quick(4)
@pytest.mark.parametrize("metric", ["loss", "height", "precision"])
@pytest.mark.parametrize(
    ("hierarchy", "values", "hidden"),
    [
        ({"date": {}}, [*DAYS, "1970-05-05"], "1970-05-05T10:30:00"),
        ({"mask": {"from": "right"}}, [*WORDS, "777"], "7777777"),
        ({"mask": {"from": "right", "steps": [1, 3, 5]}}, [*WORDS, "777"], "7777777"),
        ({"auto": {}}, [*WORDS, "777"], WORDS[0]),
    ],
)
def test_a_suppressed_value_that_changes_the_number_of_levels_does_not_show(
    hierarchy: dict[str, Any], values: list[str], hidden: str, metric: str
) -> None:
    """A time makes days a level, a longer text a level of a mask, another value one of groups."""
    rows = len(values)
    frame = pd.DataFrame(
        {"q": values, "far": ["x"] * (rows - 1) + ["y"], "s": ["ab"[each % 2] for each in range(rows)]}
    )
    config = {
        "attributes": {
            "q": {"role": "quasi-identifier", "hierarchy": hierarchy},
            "far": {"role": "quasi-identifier", "levels": {"max": 0}},
            "s": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 20}],
        "suppression": {"limit": 0.02},
        "objective": {"metric": metric},
    }
    one, other = pairs(frame, config, rows - 1, q=hidden)
    assert legend(files(one)) == legend(files(other))
    assert one == other
    assert one["recoding"]["levels"] == {"q": None, "far": 0}


def files(public: dict[str, Any]) -> dict[str, Any]:
    """Return a public report as of a release in a file."""
    return public | {"release": public["release"] | {"path": "r.csv", "separator": ",", "encoding": "utf-8"}}


def test_similarity_along_a_hierarchy_from_the_input_is_not_shown() -> None:
    ages = [str(20 + each % 2) for each in range(40)]
    pay = [str(100 * (1 + each % 7)) for each in range(40)]
    frame = pd.DataFrame({"q": [*ages, "90"], "pay": [*pay, "0"]})
    config = {
        "attributes": {
            "q": {"role": "quasi-identifier", "levels": {"max": 0}},
            "pay": {"role": "sensitive", "type": "integer", "hierarchy": {"auto": {"rare": 2}}},
        },
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "suppression": {"limit": 0.05},
        "attacks": [{"attack": "similarity", "level": 1}],
    }
    one, other = pairs(frame, config, 40, pay="99999")
    assert one == other
    assert one["attacks"][0]["success"] is None


def test_the_most_exposed_are_shown_where_they_are_not_few(tmp_path: Path) -> None:
    """A hundredth of these records is one, a tenth several; what needs original records is not shown."""
    job = Job(tmp_path).rows(people(120))
    job.config["attacks"] = ["vulnerability", "linkage"]
    assert job.run().code == 0
    public = json.loads(job.public_report.read_text(encoding="utf-8"))["attacks"]
    own = job.report()["attacks"]
    for each, entry in zip(public, own, strict=True):
        hidden = each["attack"] == "linkage"
        for key in ("tail", "tail_low", "tail_high", "tail_baseline"):
            assert each[key]["0.01"] is None
            assert each[key]["0.1"] == (None if hidden else float(f"{entry[key]['0.1']:.3g}"))
        assert each["ceiling"] == (None if hidden else float(f"{entry['ceiling']:.3g}"))
