"""An earlier run that was changed, or asked something else, is refused; nothing is written then."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.append.earlier import MAY_DIFFER, binding_settings
from anonymizer.append.release import AppendedShape
from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.files import InputSettings, OutputSettings
from anonymizer.config.load import load_config
from anonymizer.config.sections import ConfigSections
from anonymizer.release.folder import ReleaseFolder
from tests.helpers.messages import exchange
from tests.run.applied import first_run, go_on
from tests.run.commands import Job, assert_message, call, people, snapshot

ROWS = people(160, 3)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job that has run into ``first/``, which tests leave as it is."""
    return first_run(tmp_path_factory.mktemp("made"), ROWS[:100])


@pytest.fixture
def job(made: Job, tmp_path: Path) -> Job:
    """A job that has run into ``first/``, to be changed."""
    return made.copied(tmp_path)


def assert_refused(job: Job, given: str, message: SnapshotAssertion) -> None:
    before = snapshot(job.folder / "first")
    done = go_on(job, ROWS[100:])
    assert done.code == 2, done.out
    assert_message(done.err, ())
    assert exchange(given, done.err.strip(), job.folder) == message
    assert not (job.folder / "second").exists()
    assert snapshot(job.folder / "first") == before


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_changed_release(job: Job, message: SnapshotAssertion) -> None:
    release = job.folder / "first" / "share" / "release.csv"
    release.write_bytes(release.read_bytes().replace(b"flu", b"cancer", 1))
    assert_refused(job, "one value of release.csv changed", message)


def changes_of_reports() -> list[tuple[str, Callable[[dict[str, Any]], object]]]:
    """Return changes of the internal report, each with a name."""
    return [
        ("another level", lambda report: report["recoding"]["levels"].update(age=0)),
        ("one constraint less", lambda report: report["config"]["constraints"].pop()),
        ("another hash of the release", lambda report: report["release"].update(sha256="0" * 64)),
        ("another type", lambda report: report["attributes"]["zip"].update(type="integer")),
        ("another hash of the recoding", lambda report: report["recoding_file"].update(sha256="0" * 64)),
        ("no recoding", lambda report: report.pop("recoding_file")),
        ("status infeasible", lambda report: report.update(status="infeasible")),
        ("no losses", lambda report: report.pop("loss")),
    ]


@pytest.mark.parametrize(
    ("given", "change"), changes_of_reports(), ids=[name for name, _ in changes_of_reports()]
)
def test_a_changed_report(
    given: str, change: Callable[[dict[str, Any]], object], job: Job, message: SnapshotAssertion
) -> None:
    edit(job.folder / "first" / "report.json", change)
    assert_refused(job, given, message)


def test_a_changed_public_report(job: Job, message: SnapshotAssertion) -> None:
    path = job.folder / "first" / "share" / "report.public.json"
    edit(path, lambda report: report["constraints"].pop())
    assert_refused(job, "report.public.json with one constraint less", message)


def test_a_changed_recoding(job: Job, message: SnapshotAssertion) -> None:
    edit(job.folder / "first" / "recoding.json", lambda kept: kept["levels"].update(age=0))
    assert_refused(job, "recoding.json with another level", message)


@pytest.mark.parametrize(
    "name", ["report.json", "recoding.json", "share/release.csv", "share/report.public.json"]
)
def test_a_missing_file(name: str, job: Job, message: SnapshotAssertion) -> None:
    (job.folder / "first" / name).unlink()
    assert_refused(job, f"without {name}", message)


def test_a_report_that_is_not_json(job: Job, message: SnapshotAssertion) -> None:
    (job.folder / "first" / "report.json").write_text("no")
    assert_refused(job, "report.json is: no", message)


def other_configs() -> list[tuple[str, Callable[[Job], object]]]:
    """Return changes of the config that the earlier run did not have, each with a name."""
    two = ({"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2})
    widths = {"intervals": {"width": [5, 10]}}
    return [
        ("one constraint", lambda job: job.constraints({"model": "k-anonymity", "k": 2})),
        ("another k", lambda job: job.constraints(*two)),
        ("another role", lambda job: job.attribute("note", role="identifier")),
        ("another hierarchy", lambda job: job.attribute("age", role="quasi-identifier", hierarchy=widths)),
        ("one column more", lambda job: job.attribute("more", role="identifier")),
        ("one column less", lambda job: job.config["attributes"].pop("note")),
        ("another missing value", lambda job: job.set("input", missing=["weiß nicht"])),
        ("another reference", lambda job: job.config.update(reference="input")),
        ("suppressed rows kept", lambda job: job.set("suppression", keep_rows=True)),
        ("another suppression", lambda job: job.set("suppression", method="records")),
        ("another algorithm", lambda job: job.set("algorithm", name="anatomy")),
        ("utility", lambda job: job.config.update(utility=["marginal-distance"])),
        ("a table", lambda job: job.config.update(output={"database": "x.duckdb", "table": "t"})),
    ]


@pytest.mark.parametrize(("given", "change"), other_configs(), ids=[name for name, _ in other_configs()])
def test_another_config(
    given: str, change: Callable[[Job], object], job: Job, message: SnapshotAssertion
) -> None:
    change(job)
    assert_refused(job, given, message)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["microaggregation", "anatomy"])
def test_what_cannot_be_applied_is_named(name: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).rows(ROWS[:100]).set("algorithm", name=name).set("budget", seconds=2)
    if name == "microaggregation":
        job.set("algorithm", k=5)
        for other in ("zip", "sex"):
            job.attribute(other, role="insensitive")
    done = job.run("-o", tmp_path / "first", "--quiet")
    assert done.code == 0, done.err
    assert not (tmp_path / "first" / "recoding.json").exists()
    job.config["algorithm"] = {"name": "lattice"}
    assert_refused(job, f"an earlier run with {name}", message)


@pytest.mark.parametrize("hierarchy", [{"auto": {}}, {"order": {"sizes": [4, 8]}}])
def test_grown_hierarchies(hierarchy: dict[str, Any], tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).attribute("age", role="quasi-identifier", hierarchy=hierarchy)
    assert job.rows(ROWS[:100]).run("-o", tmp_path / "first", "--quiet").code == 0
    assert_refused(job, f"age with the hierarchy {hierarchy}", message)


def test_masks_pad_to_the_length_of_the_first_run(job: Job) -> None:
    shorter = [(*row[:2], row[2][:3], *row[3:]) for row in ROWS[100:140]]
    done = go_on(job, shorter, "--set", "suppression.limit=0.9")
    assert done.code == 0, done.err
    longer = [(*row[:2], row[2] + "0", *row[3:]) for row in ROWS[100:140]]
    done = go_on(job, longer, to="third")
    assert done.code == 2
    assert_message(done.err, ("column 'zip'", "longer than the 4 characters"))


def test_unknown_values_are_as_the_config_says(tmp_path: Path, message: SnapshotAssertion) -> None:
    tree = {"tree": {"*": {"person": ["F", "M"]}}}
    job = Job(tmp_path).attribute("sex", role="quasi-identifier", hierarchy=tree)
    assert job.rows(ROWS[:100]).run("-o", tmp_path / "first", "--quiet").code == 0
    new = [(*row[:3], "X", *row[4:]) for row in ROWS[100:104]] + ROWS[104:]
    done = go_on(job, new)
    assert done.code == 2
    assert exchange("4 rows with sex X", done.err.strip(), tmp_path) == message
    job.attribute("sex", role="quasi-identifier", hierarchy={**tree, "unknown": "top"})
    del job.config["apply"]
    assert job.rows(ROWS[:100]).run("-o", tmp_path / "first", "--overwrite", "--quiet").code == 0
    assert go_on(job, new, "--set", "suppression.limit=0.5").code == 0


def test_values_of_another_type(job: Job) -> None:
    done = go_on(job, [(row[0], "old", *row[2:]) for row in ROWS[100:]])
    assert done.code == 2
    assert_message(done.err, ("column 'age'", "the earlier run has whole numbers, but"))


def test_other_columns(job: Job) -> None:
    job.config["attributes"].pop("note")
    job.set("apply", report="first/report.json").write()
    job.input.write_text("name,age,zip,sex,diagnosis\na,20,0117,F,flu\n")
    done = call("run", job.file, "-o", job.folder / "second")
    assert done.code == 2
    assert_message(done.err, ("attributes.note",))


@pytest.mark.parametrize("note", ["insensitive", "identifier"])
def test_a_release_that_changes_after_it_was_read(
    note: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read to decide, and again to be written beside the new records, or to be compared with them."""
    job = Job(tmp_path).attribute("note", role=note).set("output", path="release.parquet")
    assert job.rows(ROWS[:100]).run("-o", tmp_path / "first", "--quiet").code == 0
    release = job.folder / "first" / "share" / "release.parquet"
    content = release.read_bytes()
    queries = AppendedShape.queries

    def changed(*given: Any) -> Any:
        release.write_bytes(content + b" ")
        return queries(*given)

    monkeypatch.setattr(AppendedShape, "queries", changed)
    done = go_on(job, ROWS[100:])
    assert done.code == 2, done.out
    assert_message(done.err, ("release.parquet", "changed while"))
    assert not (job.folder / "second").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_whatever_ends_the_run_leaves_all_as_it_was(
    error: BaseException, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit(*_: object) -> None:
        raise error

    monkeypatch.setattr(ReleaseFolder, "commit", commit)
    before = snapshot(job.folder / "first")
    done = go_on(job, ROWS[100:])
    assert done.code == (130 if error is KeyboardInterrupt else 2)
    assert not (job.folder / "second").exists()
    assert snapshot(job.folder / "first") == before


@pytest.mark.slow
def test_a_run_without_a_recoding_takes_the_earlier_one_away(job: Job) -> None:
    assert (job.folder / "first" / "recoding.json").exists()
    relaxed = "algorithm={name: mondrian, mode: relaxed}"
    done = job.run("-o", job.folder / "first", "--overwrite", "--set", relaxed, "--quiet")
    assert done.code == 0, done.err
    assert not (job.folder / "first" / "recoding.json").exists()


def test_a_frame_is_not_appended(job: Job, message: SnapshotAssertion) -> None:
    config = {**job.config, "apply": "first/report.json"}
    frame = pd.DataFrame(ROWS, columns=["name", "age", "zip", "sex", "diagnosis", "note"])
    for function in (an.anonymize, an.compare):
        with pytest.raises(an.InputError) as refused:
            function(frame, config)
        assert exchange(f"{function.__name__} with apply", refused.value) == message


PROMISES: dict[str, dict[str, Any]] = {
    "scenarios": {
        "scenarios": {"neighbour": {"known": ["zip"], "models": [{"model": "k-anonymity", "k": 20}]}}
    },
    "persons": {"input": {"path": "people.csv", "person": "name"}},
    "pseudonyms": {
        "input": {"path": "people.csv", "person": {"column": "name", "release_as": "pseudonym"}},
        "constraints": [{"model": "k-anonymity", "k": 3}],
    },
    "whole": {
        "input": {"path": "people.csv", "person": "name"},
        "constraints": [{"model": "k-anonymity", "k": 3, "unit": "record"}],
        "suppression": {"limit": 0.1, "whole": "person"},
    },
    "a limit of persons": {
        "input": {"path": "people.csv", "person": "name"},
        "constraints": [{"model": "k-anonymity", "k": 3, "unit": "record"}],
        "suppression": {"limit": 0.1, "unit": "person"},
    },
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("given", PROMISES)
def test_what_the_earlier_run_promised_besides_constraints(
    given: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    """The new config cannot repeat it, and without it the constraints are the same."""
    job = Job(tmp_path).rows(ROWS[:100])
    plain = job.config
    job.config = {**plain, **PROMISES[given]}
    done = job.run("-o", tmp_path / "first", "--quiet")
    assert done.code == 0, done.err
    job.config = {**plain, "constraints": job.config["constraints"]}
    job.constraints(*({k: v for k, v in each.items() if k != "unit"} for each in job.config["constraints"]))
    assert_refused(job, f"earlier run with {given}", message)


def test_keys_that_may_differ_exist_and_any_other_may_not(job: Job) -> None:
    fields = ConfigSections.model_fields
    of_sections = {"attributes": AttributeSettings, "input": InputSettings, "output": OutputSettings}
    # Whoever adds a section says whether a later batch may have it otherwise.
    assert fields.keys() - MAY_DIFFER.keys() == {"constraints", "reference"}
    for section, keys in MAY_DIFFER.items():
        assert section in fields
        assert keys is None or set(keys) <= of_sections[section].model_fields.keys()
    job.attribute("age", **job.config["attributes"]["age"], levels={"max": 2}, weight=2)
    job.attribute("diagnosis", role="sensitive", distance="equal")
    config = load_config({**job.config, "output": {"missing": "NA"}, "seed": 3})
    columns, number = set(job.config["attributes"]), len(job.config["constraints"])
    kept = binding_settings(config, columns, number)
    assert {key[0] for key in kept} == {"attributes", "constraints", "input", "output", "reference"}
    assert {key[1] for key in kept if key[0] in ("input", "output")} == {"missing"}
    assert {key[2] for key in kept if key[0] == "attributes"} == {"role", "type", "levels", "distance"}


def test_a_config_is_compared_with_the_types_that_the_earlier_run_found(job: Job) -> None:
    job.attribute("age", **{**job.config["attributes"]["age"], "type": "integer"})
    assert go_on(job, ROWS[100:]).code == 0
