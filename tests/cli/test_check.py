"""``check``: what a file satisfies, and which constraints hold on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.model.arrays import BoolArray, FloatArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.plugins import Settings
from anonymizer.privacy.base import PRIVACY_MODELS, Merging, ScoredClassModel, Threshold, largest_counts
from tests.helpers.messages import exchange
from tests.run.commands import Job, call, snapshot, spawn


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """The small job, written and not run."""
    return Job(tmp_path).write()


@pytest.mark.slow
def test_measures_by_names(job: Job) -> None:
    before = snapshot(job.folder)
    done = spawn("check", job.input, "--qi", "zip, sex", "--sensitive", "diagnosis", "--json")
    assert (done.code, done.err) == (0, "")
    assert set(done.json) == {"constraints", "measures", "rows", "classes"}
    assert (done.json["constraints"], done.json["rows"]) == ([], 60)
    assert set(done.json["measures"][0]) == {"model", "attribute", "parameters", "measured", "worst_classes"}
    assert snapshot(job.folder) == before


@pytest.mark.parametrize("name", ["a, b", 'say "x"', "a;b"])
def test_a_name_with_a_comma_is_named_in_quotes(name: str, tmp_path: Path) -> None:
    inside = name.replace('"', '""')
    data = tmp_path / "odd.csv"
    data.write_text(f'"{inside}",c\n1,x\n1,x\n2,y\n', encoding="utf-8")
    done = call("check", data, "--qi", f'"{inside}"', "--sensitive", "c", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["classes"] == 2
    assert call("check", data, "--qi", f'c, "{inside}"', "--json").json["classes"] == 2
    assert call("check", data, "--qi", "c", "--qi", f'"{inside}"', "--json").json["classes"] == 2


def test_the_help_tells_how_a_name_with_a_comma_is_written() -> None:
    assert '"a, b"' in call("check", "--help").out


def test_a_constraint_that_fails_is_exit_1_and_said(job: Job) -> None:
    done = call("check", job.input, "-c", job.file)
    assert (done.code, done.err) == (1, "")
    assert "FAILS  k-anonymity k=3: measured 1" in done.out.splitlines()
    done = call("check", job.input, "-c", job.file, "--json")
    assert done.code == 1
    assert [each["satisfied"] for each in done.json["constraints"]] == [False, False]


def test_a_release_satisfies_the_config_that_made_it(job: Job) -> None:
    assert call("run", job.file).code == 0
    done = call("check", job.release, "-c", job.file, "--json")
    assert done.code == 0
    assert [each["measured"] for each in done.json["constraints"]] == [3, 2]
    assert done.json["classes"] == job.report()["release"]["classes"]


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--sensitive", "diagnosis"),
        ("--qi", "age", "-c", "job.json"),
        ("-c", "job.json", "--sensitive", "diagnosis"),
        ("--qi", "agee"),
        ("--qi", ","),
        ("--qi", '"age'),
        ("--qi", "age", "--sensitive", '"a"b'),
        ("--qi", "age", "--sensitive", "age"),
        ("-c", "nowhere.json"),
    ],
    ids=" ".join,
)
def test_wrong_usage(
    args: tuple[str, ...], job: Job, monkeypatch: pytest.MonkeyPatch, message: SnapshotAssertion
) -> None:
    monkeypatch.chdir(job.folder)
    done = call("check", "people.csv", *args)
    assert (done.code, done.out) == (2, "")
    assert exchange(" ".join(args), done.err.rstrip()) == message


def test_a_missing_file(job: Job) -> None:
    done = call("check", job.folder / "nowhere.csv", "--qi", "age")
    assert done.code == 2
    assert "nowhere.csv" in done.err


def test_a_release_is_read_as_it_is_written_whatever_the_input_is(job: Job) -> None:
    text = job.input.read_text(encoding="utf-8")
    job.input.write_text(text.replace(",", ";"), encoding="utf-8")
    job.set("input", path=job.input.name, separator=";").write()
    job.input.write_text(text.replace(",", ";"), encoding="utf-8")
    assert call("run", job.file).code == 0
    assert call("check", job.release, "-c", job.file).code == 0
    assert call("check", job.input, "-c", job.file).code == 1
    theirs = job.folder / "theirs.csv"
    theirs.write_text(job.release.read_text(encoding="utf-8").replace(",", ";"), encoding="utf-8")
    done = call("attack", theirs, "-c", job.file)
    assert (done.code, "uniqueness" in done.out) == (0, True)


def test_a_name_with_a_comma_is_quoted_as_in_csv(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text('"city, state",age\nx,1\nx,1\n', encoding="utf-8")
    done = call("check", data, "--qi", '"city, state", age')
    assert (done.code, "2 records in 1 equivalence class\n" in done.out) == (0, True)
    done = call("check", data, "--qi", "nothing")
    assert 'accepted: age, "city, state"' in done.err


class OthersSettings(Settings):
    """Parameters of others."""

    m: int
    times: int = 1


class Others(ScoredClassModel):
    """The records of each class without its most frequent value, times a number, are at least m."""

    name = "others"
    sensitive = True
    Settings = OthersSettings
    settings: OthersSettings
    thresholds = (Threshold("m", 0, whole=True),)
    merging = Merging.ANY
    larger_is_better = True

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        found: FloatArray = self.settings.times * (view.sizes - largest_counts(view.counted)).astype(float)
        return found

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return self.scores(view, reference) >= self.settings.m


@pytest.fixture
def _others() -> Iterator[None]:
    PRIVACY_MODELS.add(Others)
    yield
    PRIVACY_MODELS.remove(Others.name)


@pytest.mark.usefixtures("_others")
def test_a_neutral_threshold_is_not_shown(tmp_path: Path) -> None:
    """It is the loosest of its model, 0 here; another parameter is shown, also if it is 1."""
    data = tmp_path / "people.csv"
    data.write_text("age,ill\n1,a\n1,a\n1,b\n1,c\n2,a\n2,b\n", encoding="utf-8")
    done = call("check", data, "--qi", "age", "--sensitive", "ill")
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert ["others", "times=1", "ill", "1"] in lines
    assert ["l-diversity", "ill", "2"] in lines
    assert ["basic-beta-likeness", "ill", "0.5"] in lines
    shown = call("check", data, "--qi", "age", "--sensitive", "ill", "--json").json["measures"]
    assert {"m": 0, "times": 1} in [each["parameters"] for each in shown]


def test_decimal_commas_are_numbers_without_a_config(tmp_path: Path) -> None:
    data = tmp_path / "a.csv"
    lines = ["size;pay;who", "1,5;2,5;1,0", "1,50;2,50;1", "2;3;2", "2,0;3,0;2,00"]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = call("check", data, "--qi", "size", "--sensitive", "pay", "--json")
    assert done.code == 0, done.err
    found = {each["model"]: each["measured"] for each in done.json["measures"]}
    assert (found["k-anonymity"], found["l-diversity"]) == (2, 1)
    done = call("check", data, "--qi", "size", "--person", "who", "--json")
    of_persons = [each for each in done.json["measures"] if each["parameters"].get("unit") == "person"]
    assert of_persons[0]["measured"] == 1


def test_a_blank_ends_the_name_of_a_column_of_numbers(tmp_path: Path) -> None:
    rows = "".join(f"{number},{number % 2}\n" for number in range(20, 32))
    (tmp_path / "in.csv").write_text(f"gro\u0308ße ,sex\n{rows}", encoding="utf-8")
    config = {
        "input": {"path": "in.csv"},
        "attributes": {
            "größe": {
                "role": "quasi-identifier",
                "hierarchy": {"intervals": {"width": [5, 10]}},
                "labels": "low-high",
            },
            "sex": {"role": "quasi-identifier"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "job.json").write_text(json.dumps(config), encoding="utf-8")
    assert call("run", tmp_path / "job.json").code == 0
    release = tmp_path / "job-release" / "share" / "release.csv"
    assert release.read_text(encoding="utf-8").splitlines()[0] == "größe_low,größe_high,sex"
    done = call("check", release, "-c", tmp_path / "job.json")
    assert (done.code, done.err) == (0, "")


GROUPED = {
    "below zero": (lambda number: str(number - 30), {"intervals": {"width": [20, 40], "origin": 0}}),
    "open ends": (
        str,
        {"intervals": {"width": [20, 40], "origin": 0, "bottom": 20, "top": 100}},
    ),
    "fractions": (lambda number: f"{number}.5", {"intervals": {"width": [20, 40], "origin": 0}}),
    "months": (lambda number: f"2020-{number % 12 + 1:02d}-{number % 28 + 1:02d}", {"date": {}}),
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", GROUPED)
def test_released_groups_are_measured_by_their_order_as_in_the_run(kind: str, tmp_path: Path) -> None:
    written, hierarchy = GROUPED[kind]
    rows = [("", str(20 + n % 7), "", "FM"[n % 2], written(n * n % 130), "") for n in range(80)]
    job = Job(tmp_path).rows(rows).attribute("zip", role="drop")
    job.attribute("diagnosis", role="sensitive", hierarchy=hierarchy, labels="range")
    job.constraints({"model": "k-anonymity", "k": 5}, {"model": "t-closeness", "t": 1})
    done = job.run("--json")
    assert done.code == 0, done.err
    measured = done.json["constraints"][1]["measured"]
    assert measured > 0
    for named in (["--qi", "age,sex", "--sensitive", "diagnosis"], ["-c", job.file]):
        found = call("check", job.release, *named, "--json").json
        by_distance = {
            each["parameters"]["distance"]: each["measured"]
            for each in found["measures"]
            if each["model"] == "t-closeness"
        }
        assert by_distance["ordered"] == measured
        assert by_distance["equal"] != measured
