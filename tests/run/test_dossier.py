"""`dossier`: a paper and a record beside a report, from the answers that people keep in dossier.yaml."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from anonymizer.config.document import scalar
from anonymizer.report.dossier_record import schema
from tests.run.commands import Done, Job, assert_message, call, people, snapshot

FILES = {"dossier.html", "dossier.yaml", "decisions.json"}
KEYS = {"folder", "written", "release_changed", "not_answered", "open_points", "thresholds"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Job:
    job = Job(tmp_path_factory.mktemp("dossier")).rows(people(200))
    job.config["attacks"] = ["homogeneity", {"attack": "vulnerability", "target": "re-identification"}]
    job.config["acknowledge"] = [
        "rows-are-persons",
        {"finding": "singled-out:note", "because": "seen by the ward only", "by": "the ward"},
    ]
    assert job.run().code == 0
    return job


@pytest.fixture
def job(finished: Job, tmp_path: Path) -> Job:
    """Return a job with a release that a test may change."""
    return finished.copied(tmp_path)


def answers(job: Job) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((job.output / "dossier.yaml").read_text(encoding="utf-8"))
    return content


def answer(job: Job, **given: Any) -> bytes:
    """Write answers into the file that is there, and return its bytes."""
    path = job.output / "dossier.yaml"
    path.write_text(json.dumps(answers(job) | given), encoding="utf-8")
    return path.read_bytes()


def page(job: Job) -> str:
    return (job.output / "dossier.html").read_text(encoding="utf-8")


def decisions(job: Job) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((job.output / "decisions.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema()).validate(content)
    return content


def assert_refused(done: Done, job: Job, before: Mapping[str, bytes], *words: str) -> None:
    assert done.code == 2, done.out + done.err
    assert_message(done.err, words)
    assert snapshot(job.output) == before


def test_the_first_call_writes_questions_and_leaves_the_release_as_it_is(job: Job) -> None:
    before = snapshot(job.output)
    done = call("dossier", job.output)
    assert done.code == 0, done.err
    after = snapshot(job.output)
    assert set(after) - set(before) == FILES
    assert {name: after[name] for name in before} == before
    assert "dossier.yaml" in done.out
    assert "legal_basis" in done.out
    given = answers(job)
    assert given["template"] == "general"
    assert given["release_sha256"] == job.report()["release"]["sha256"]
    assert list(given["columns"]) == [each["column"] for each in job.report()["columns"]]
    assert {given[key] for key in ("purpose", "recipient", "expires")} == {""}
    assert all(not each["decision"] for each in given["open_points"])
    for name in FILES:
        assert (job.output / name).stat().st_mode & 0o077 == 0, "beside report.json, and as private"


def test_the_second_call_puts_answers_in_and_keeps_the_file(job: Job) -> None:
    call("dossier", job.output)
    (point, *_) = answers(job)["open_points"]
    before = answer(
        job,
        purpose="A study of <wards> & beds",
        expires="2029-02-28",
        columns={"age": "in every register"},
        answers={"incident": "Tell the office, 0123"},
        open_points=[{"point": point["point"], "decision": "Accepted by Dr. Dee"}],
    )
    done = call("dossier", job.output, "--json")
    assert done.code == 0, done.err
    assert (job.output / "dossier.yaml").read_bytes() == before
    assert set(done.json) == KEYS
    assert done.json["written"] == ["decisions.json", "dossier.html"]
    assert "purpose" not in done.json["not_answered"]
    assert done.json["open_points"][0] == {"point": point["point"], "decision": "Accepted by Dr. Dee"}
    text = page(job)
    for words in (
        "A study of &lt;wards&gt; &amp; beds",
        "2029-02-28",
        "in every register",
        "Tell the office, 0123",
        "Accepted by Dr. Dee",
        "Acknowledged by the ward: seen by the ward only",
    ):
        assert words in text
    record = decisions(job)
    given = {each["key"]: each["answer"] for each in record["answers"]}
    assert given["purpose"] == "A study of <wards> & beds"
    assert given["contract"] is None
    assert {each["column"]: each["reason"] for each in record["columns"]}["age"] == "in every register"
    assert record["open_points"][0]["decision"] == "Accepted by Dr. Dee"
    assert record["acknowledged"][1] == job.config["acknowledge"][1]


def test_the_same_call_gives_the_same_bytes(job: Job) -> None:
    call("dossier", job.output)
    before = snapshot(job.output)
    assert call("dossier", job.output / "report.json").code == 0
    assert snapshot(job.output) == before


def test_the_record_holds_the_public_report_and_what_was_measured(job: Job) -> None:
    call("dossier", job.output, "--template", "hipaa-expert")
    record, report = decisions(job), job.report()
    assert record["public_report"] == json.loads(job.public_report.read_text(encoding="utf-8"))
    assert record["results"]["constraints"] == report["constraints"]
    assert record["results"]["loss"] == report["loss"]
    assert [each["success"] for each in record["results"]["attacks"]] == [
        each["success"] for each in report["attacks"]
    ]
    assert record["versions"] == report["environment"]
    assert record["template"]["name"] == "hipaa-expert"
    assert all("164.514" in each["source"] for each in record["criteria"])
    text = json.dumps(record)
    assert str(job.folder) not in text
    assert report["input"]["sha256"] not in text


def test_the_schema_refuses_what_is_no_record(job: Job) -> None:
    call("dossier", job.output)
    record = decisions(job)
    validator = Draft202012Validator(schema())
    Draft202012Validator.check_schema(schema())
    for change in ({"schema": 2}, {"extra": 1}, {"answers": "none"}, {"thresholds": [{}]}):
        assert list(validator.iter_errors({**record, **change}))
    for key in record:
        assert list(validator.iter_errors({name: own for name, own in record.items() if name != key}))


def test_a_threshold_that_is_not_met_is_an_open_point_and_no_error(job: Job) -> None:
    done = call("dossier", job.output, "--template", "ema-0070", "--json")
    assert done.code == 0
    least = next(
        each for each in done.json["thresholds"] if each["asks"].startswith("classes of at least 12")
    )
    assert least["met"] is False
    (point,) = (each["point"] for each in done.json["open_points"] if "at least 12, a risk" in each["point"])
    measured = job.report()["constraints"][0]["measured"]
    assert f"is not met: k-anonymity {measured}" in point
    assert "EMA/90915/2016" in point
    assert re.search(r"<td>k-anonymity \d+</td><td class=\"alarm\">fails</td>", page(job))


def test_a_threshold_that_nothing_measures_is_an_open_point(job: Job) -> None:
    done = call("dossier", job.output, "--template", "hipaa-expert", "--json")
    removed = next(each for each in done.json["thresholds"] if "direct identifiers" in each["asks"])
    assert removed["met"] is None
    assert any("`preset: hipaa-expert` in the config" in each["point"] for each in done.json["open_points"])


def test_a_release_that_changed_is_named(job: Job) -> None:
    call("dossier", job.output)
    old = answers(job)["release_sha256"]
    kept = answer(job, purpose="A study", open_points=[{"point": "Something else.", "decision": "yes"}])
    job.config["constraints"][0]["k"] = 12
    assert job.run("--overwrite").code == 0
    assert job.report()["release"]["sha256"] != old
    done = call("dossier", job.output)
    assert done.code == 0
    assert "was written about another release" in done.err
    assert "does not have: Something else." in done.err
    assert "The release has changed." in page(job)
    assert decisions(job)["release"]["answers_of_this_release"] is False
    assert (job.output / "dossier.yaml").read_bytes() == kept
    answer(job, release_sha256=job.report()["release"]["sha256"], open_points=[])
    done = call("dossier", job.output)
    assert done.err == ""
    assert "The release has changed." not in page(job)


def test_own_templates_have_the_form_of_the_shipped_ones(job: Job, tmp_path: Path) -> None:
    own = tmp_path / "ours.yaml"
    own.write_text(
        """
name: ours
title: Files of our house
dated: 2026-05-01
criteria: [{key: alone, name: Alone, asks: 'Is anybody alone?', source: House rule 1, attacks: [homogeneity]}]
questions: [{key: archive, asks: 'Where is it archived?', source: House rule 2}]
thresholds:
  - {asks: classes of four, source: House rule 3, constraint: k-anonymity, at_least: 4}
  - {asks: few are certain, source: House rule 4, attack: homogeneity, at_most: 1}
  - {asks: few are linked, source: House rule 5, attack: linkage, at_most: 0.1}
  - {asks: few are alone, source: House rule 6, exposure: unique, at_most: 1}
signatures: [Archive]
""",
        encoding="utf-8",
    )
    done = call("dossier", job.output, "--template", own, "--json")
    assert done.code == 0, done.err
    asked = {each["asks"]: each["met"] for each in done.json["thresholds"]}
    least = job.report()["constraints"][0]["measured"]
    assert asked["classes of four"] is (least >= 4)
    assert asked["few are certain"] is True
    assert asked["few are linked"] is None
    assert asked["few are alone"] is True
    assert answers(job)["template"] == own.as_posix()
    assert answers(job)["answers"] == {"alone": "", "archive": ""}
    # The second call finds it by dossier.yaml.
    assert call("dossier", job.output).code == 0
    text = page(job)
    assert "Files of our house" in text
    assert "Archive" in text
    assert "House rule 3" in text


@pytest.mark.parametrize("name", ["general", "hipaa-expert", "ema-0070"])
def test_each_template_is_dated_and_cites(name: str, job: Job) -> None:
    assert call("dossier", job.output, "--template", name).code == 0
    record = decisions(job)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["template"]["dated"])
    assert all(each["source"] for each in record["criteria"])
    own = [each for each in record["answers"] if each["source"]]
    assert own
    assert "not a legal opinion" in record["note"]
    assert page(job).count("not a legal opinion") == 2


DAMAGED: dict[str, tuple[Callable[[Any], object], tuple[str, ...]]] = {
    "no JSON": (lambda _: "{", ("report.json", "report")),
    "a list": (lambda _: [1], ("report.json", "is not the report of a release")),
    "older": (lambda own: own | {"schema": 0}, ("schema 0", "accepted: 1", "run the config again")),
    "newer": (lambda own: own | {"schema": 2}, ("schema 2", "accepted: 1")),
    "an older one": (
        lambda own: {key: value for key, value in own.items() if key != "columns"},
        ("'columns' is wrong or missing", "has to be run again"),
    ),
    "a text as a share": (
        lambda own: own | {"attacks": [own["attacks"][0] | {"success": "much"}]},
        ("'attacks.0.success' is wrong or missing",),
    ),
    "no release": (lambda own: own | {"status": "infeasible"}, ("released nothing (infeasible)",)),
    "public": (
        lambda own: {key: value for key, value in own.items() if key != "steps"},
        ("is the public report", "give the report.json"),
    ),
    "details of another kind": (
        lambda own: own | {"attacks": [own["attacks"][0] | {"details": {"base_rate": "much"}}]},
        ("report.json: is damaged",),
    ),
    "a text as a bound": (
        lambda own: own | {"search": own["search"] | {"optimal": False, "gap": 0.1, "bound": "low"}},
        ("report.json: is damaged",),
    ),
    "a strange model": (
        lambda own: own | {"constraints": [own["constraints"][0] | {"model": "k-anonimity"}]},
        ("report.json: ", "k-anonimity", "did you mean 'k-anonymity'?"),
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_reports_are_refused(case: str, job: Job) -> None:
    change, words = DAMAGED[case]
    path = job.output / "report.json"
    changed = change(job.report())
    path.write_text(changed if isinstance(changed, str) else json.dumps(changed), encoding="utf-8")
    before = snapshot(job.output)
    assert_refused(call("dossier", job.output), job, before, *words)


WRONG: dict[str, tuple[dict[str, Any] | str, tuple[str, ...]]] = {
    "an unknown key": ({"porpose": "x"}, ("porpose", "unknown key", "did you mean 'purpose'?")),
    "no such day": ({"expires": "2027-02-31"}, ("expires", "'2027-02-31' is not a day", "2027-02-28")),
    "a day of another form": ({"decided_on": "31.1.2027"}, ("decided_on", "'31.1.2027' is not a day")),
    "expired before": (
        {"decided_on": "2027-05-01", "expires": "2027-04-01"},
        ("expires on 2027-04-01, before it is decided on 2027-05-01",),
    ),
    "no such column": ({"columns": {"agee": "x"}}, ("columns.agee", "no such column", "did you mean 'age'?")),
    "no such question": ({"answers": {"reveiw": "x"}}, ("answers.reveiw", "does not ask", "'review'")),
    "a list as an answer": ({"purpose": ["a"]}, ("purpose", "a list", "accepted: text")),
    "too long": ({"purpose": "x" * 501}, ("purpose", "501 characters", "at most 500", "annex")),
    "an unknown template": ({"template": "hippa"}, ("'hippa'", "ema-0070, general or hipaa-expert")),
    "an unknown key of a point": (
        {"open_points": [{"point": "x", "decided": "y"}]},
        ("open_points[0].decided", "unknown key"),
    ),
    "not YAML": ("purpose: [", ("dossier.yaml", "not valid YAML")),
    "empty": ("", ("dossier.yaml", "the file is empty", "remove the file")),
    "a key twice": ("purpose: a\npurpose: b\n", ("line 2", "purpose")),
    "a list at the top": ("- purpose", ("a list at the top",)),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_answers_are_refused(case: str, job: Job) -> None:
    call("dossier", job.output)
    given, words = WRONG[case]
    if isinstance(given, str):
        (job.output / "dossier.yaml").write_text(given, encoding="utf-8")
    else:
        answer(job, **given)
    before = snapshot(job.output)
    assert_refused(call("dossier", job.output), job, before, *words)


def test_answers_that_are_not_utf_8_are_refused(job: Job) -> None:
    (job.output / "dossier.yaml").write_bytes(b"template: general\npurpose: caf\xe9\n")
    before = snapshot(job.output)
    assert_refused(call("dossier", job.output), job, before, "line 2", "not UTF-8", "save the file as UTF-8")


def test_all_problems_are_named_at_once(job: Job) -> None:
    call("dossier", job.output)
    answer(job, porpose="x", expires="2027-02-31")
    done = call("dossier", job.output)
    assert "has 2 problems" in done.err


def test_what_is_no_release_is_refused(job: Job, tmp_path: Path) -> None:
    before = snapshot(job.output)
    for given, words in (
        (tmp_path / "nothing", ("no such folder", "give the folder of a release")),
        (job.folder, ("has no report.json",)),
        (job.output / "share", ("is what may be handed over", "give the folder that holds it")),
        (job.release, ("is not a report",)),
        (job.public_report, ("is the public report",)),
    ):
        done = call("dossier", given)
        assert_refused(done, job, before, str(given), *words)


def test_a_template_that_does_not_exist_names_what_there_is(job: Job, tmp_path: Path) -> None:
    before = snapshot(job.output)
    done = call("dossier", job.output, "--template", "ema-0700")
    assert_refused(done, job, before, "'ema-0700'", "ema-0070, general or hipaa-expert")
    done = call("dossier", job.output, "--template", tmp_path / "none.yaml")
    assert_refused(done, job, before, "none.yaml", "no such file")


MANY = ", ".join(f"{{key: q{number}, asks: x}}" for number in range(9))

BAD_TEMPLATES = {
    "name: a\ntitle: b\ndated: 2026-02-31": ("dated", "'2026-02-31' is not a day"),
    "name: a\ntitle: b\ndated: ''": ("dated", "has no day"),
    "name: a\ntitle: b": ("dated", "missing"),
    "name: a\ntitle: b\ndated: 2026-01-01\npreset: emma": ("preset", "'emma'"),
    "name: a\ntitle: b\ndated: 2026-01-01\nquestion: []": ("question", "did you mean 'questions'?"),
    "name: a\ntitle: b\ndated: 2026-01-01\nquestions: [{key: purpose, asks: x}]": ("purpose is asked twice",),
    "name: a\ntitle: b\ndated: 2026-01-01\nthresholds: [{asks: x, source: y, attack: linkage}]": (
        "at_most",
        "at_least",
    ),
    "name: a\ntitle: b\ndated: 2026-01-01\nthresholds: [{asks: x, source: y, at_most: 1}]": (
        "constraint, attack, exposure",
    ),
    "name: a\ntitle: b\ndated: 2026-01-01\nsignatures: []": ("signatures",),
    f"name: a\ntitle: b\ndated: 2026-01-01\nquestions: [{MANY}]": ("9 criteria and questions", "at most 8"),
    "name: a\ntitle: b\ndated: 2026-01-01\ncriteria: [{key: c, name: C, asks: x, attacks: [linkeage]}]": (
        "criteria[0].attacks[0]",
        "'linkeage'",
        "did you mean 'linkage'?",
    ),
    "name: a\ntitle: b\ndated: 2026-01-01\ncriteria: [{key: c, name: C, asks: x, attacks: [linkage:me]}]": (
        "unknown target 'me'",
    ),
    "name: a\ntitle: b\ndated: 2026-01-01\nthresholds: [{asks: x, source: y, constraint: k, at_most: 1}]": (
        "thresholds[0].constraint",
        "unknown privacy model 'k'",
    ),
}


@pytest.mark.parametrize("text", BAD_TEMPLATES)
def test_a_damaged_template_is_refused(text: str, job: Job, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    before = snapshot(job.output)
    done = call("dossier", job.output, "--template", path)
    assert_refused(done, job, before, "own.yaml", *BAD_TEMPLATES[text])


def test_another_template_than_that_of_the_answers_is_refused(job: Job) -> None:
    call("dossier", job.output)
    before = snapshot(job.output)
    done = call("dossier", job.output, "--template", "ema-0070")
    assert_refused(
        done, job, before, "dossier.yaml", "'general'", "--template ema-0070", "template: ema-0070"
    )
    assert call("dossier", job.output, "--template", "general").code == 0
    answer(job, template="ema-0070", answers={})
    assert call("dossier", job.output, "--template", "ema-0070").code == 0
    assert "Anonymisation under EMA Policy 0070" in page(job)


def test_a_released_file_that_changed_is_refused(job: Job) -> None:
    job.release.write_bytes(job.release.read_bytes() + b"\n")
    before = snapshot(job.output)
    done = call("dossier", job.output)
    assert_refused(done, job, before, "release.csv", "is not the file of report.json", "SHA-256")


def test_a_report_without_its_files_is_enough(job: Job, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "old.json").write_bytes((job.output / "report.json").read_bytes())
    assert call("dossier", alone / "old.json").code == 0
    assert {each.name for each in alone.iterdir()} == {"old.json", *FILES}


@pytest.mark.parametrize("column", ["a: b", "x # y", "café", '"q"', "-", "2027", "<b>&amp;", "long " * 30])
def test_columns_of_any_name_are_asked_for(column: str, tmp_path: Path) -> None:
    job = Job(tmp_path).rows(people(60))
    content = job.data.decode().replace("note", '"' + column.replace('"', '""') + '"', 1)
    job.data = content.encode()
    job.config["attributes"][column] = job.config["attributes"].pop("note")
    done = job.run()
    assert done.code == 0, done.err
    assert call("dossier", job.output).code == 0
    assert column in answers(job)["columns"]
    answer(job, columns={column: "because"})
    assert call("dossier", job.output).code == 0
    assert "because" in page(job)
    assert "<b>" not in page(job)


def test_a_folder_in_the_place_of_a_file_is_refused(job: Job) -> None:
    (job.output / "dossier.html").mkdir()
    before = snapshot(job.output)
    assert_refused(call("dossier", job.output), job, before, "dossier.html", "is a folder", "move it away")


def test_numbers_as_answers_are_kept_as_they_are_written(job: Job) -> None:
    call("dossier", job.output)
    path = job.output / "dossier.yaml"
    path.write_text(
        path.read_text(encoding="utf-8")
        .replace('contract: ""', "contract: 4711")
        .replace('decides: ""', "decides: 007")
        .replace('environment: ""', "environment:"),
        encoding="utf-8",
    )
    assert scalar("007") == "007"
    assert call("dossier", job.output).code == 0
    given = {each["key"]: each["answer"] for each in decisions(job)["answers"]}
    assert (given["contract"], given["decides"], given["environment"]) == ("4711", "007", None)
