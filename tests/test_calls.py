"""Calls from Python: their arguments, warnings, and what a result says and writes."""

from __future__ import annotations

import shlex
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import anonymizer as an
from anonymizer.cli.main import main
from tests.run.commands import Job, people

COLUMNS = ("name", "age", "zip", "sex", "diagnosis", "note")
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"}
CONFIG: dict[str, Any] = {"attributes": ROLES, "constraints": [{"model": "k-anonymity", "k": 2}]}


@pytest.fixture(name="frame", scope="module")
def _frame() -> pd.DataFrame:
    rows = [(30 + n % 4, "FM"[n % 2], ("flu", "cold", "asthma")[n // 4 % 3]) for n in range(48)]
    return pd.DataFrame(rows, columns=list(ROLES))


@pytest.fixture(name="exposed", scope="module")
def _exposed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return records in which a column tells everybody apart."""
    return frame.assign(shoe=[f"shoe {number}" for number in range(48)])


def refused(function: Any, *given: Any, **named: Any) -> str:
    """Return the message of a refusal."""
    with pytest.raises(an.InputError) as caught:
        function(*given, **named)
    return str(caught.value)


def test_what_a_release_shows_is_a_warning(frame: pd.DataFrame, exposed: pd.DataFrame) -> None:
    config = {**CONFIG, "attributes": {**ROLES, "shoe": "insensitive"}}
    with pytest.warns(an.AnonymizerWarning, match="shoe.*remedy") as caught:
        result = an.anonymize(exposed, config)
    findings = result.report["exposure"]["findings"]
    assert [str(each.message).partition("; remedy")[0] for each in caught] == [
        each["sentence"] for each in findings
    ]
    assert {each.filename for each in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        an.anonymize(frame, CONFIG)


def test_columns_that_are_released_unchanged_unnamed_are_a_warning(frame: pd.DataFrame) -> None:
    with pytest.warns(an.AnonymizerWarning, match="'illness': released unchanged, although you did not"):
        an.anonymize(frame, qi=["age", "sex"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        an.anonymize(frame, qi=["age", "sex"], sensitive=["illness"], k=2)


def test_a_result_says_its_verdict_loss_and_columns(frame: pd.DataFrame, exposed: pd.DataFrame) -> None:
    lines = repr(an.anonymize(frame, qi=["age", "sex"], sensitive=["illness"], k=24)).splitlines()
    assert lines[0].startswith("SATISFIED, BUT 'illness' is released with values of fewer than 24 records")
    assert lines[1].startswith("  remedy: ")
    assert lines[2:] == [
        "  loss 0.5; 48 records",
        "  generalized: age",
        "  released unchanged: sex, illness",
    ]
    assert repr(an.anonymize(frame, CONFIG)).startswith("SATISFIED\n  loss ")
    shown = an.anonymize(exposed, {**CONFIG, "attributes": {**ROLES, "shoe": "insensitive"}})
    assert repr(shown).startswith("SATISFIED, BUT ")
    assert "\n  remedy: " in repr(shown)


def test_what_is_asked_of_a_draft(frame: pd.DataFrame) -> None:
    draft = an.init(
        frame.assign(x=1, y=2), qi=["age"], sensitive=["illness"], drop=["x"], identifier=["y"],
        k=3, l=2, t=0.4, limit=0.1,
    )  # fmt: skip
    assert draft["constraints"] == [
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 2, "attribute": "illness"},
        {"model": "t-closeness", "t": 0.4, "attribute": "illness"},
    ]
    assert draft["suppression"] == {"limit": 0.1}
    assert draft["attributes"]["x"]["role"] == "drop"
    assert draft["attributes"]["y"]["role"] == "identifier"


def test_the_command_asks_the_same(frame: pd.DataFrame, tmp_path: Path) -> None:
    data, made = tmp_path / "people.csv", tmp_path / "people.yaml"
    frame.to_csv(data, index=False)
    options = ["--qi", "age", "--sensitive", "illness", "--k", "3", "--l", "2", "--limit", "0.005"]
    assert main(["init", str(data), *options]) == 0
    drafted = yaml.safe_load(made.read_text(encoding="utf-8"))
    own = an.init(frame.astype(str), qi=["age"], sensitive=["illness"], k=3, l=2, limit=0.005)
    assert drafted["constraints"] == own["constraints"]
    assert drafted["suppression"] == own["suppression"] == {"limit": 0.005}
    assert "at most 0.5% of all" in made.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--k", "0"], "k"),
        (["--limit", "2"], "limit"),
        (["--l", "2", "--drop", "illness"], "needs a sensitive"),
    ],
)
def test_what_cannot_be_asked(
    frame: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    frame.to_csv(tmp_path / "people.csv", index=False)
    assert main(["init", str(tmp_path / "people.csv"), *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "people.yaml").exists()


def test_qi_is_another_name(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        an.check(frame, qi=["age"], sensitive=["illness"]),
        an.check(frame, quasi_identifiers=["age"], sensitive=["illness"]),
    )


@pytest.mark.parametrize("name", ["anonymize", "compare", "attack", "measure_utility"])
def test_swapped_arguments(frame: pd.DataFrame, name: str) -> None:
    call = getattr(an, name)
    given = (CONFIG, frame) if name in ("anonymize", "compare") else (CONFIG, frame, frame)
    said = refused(call, *given)
    assert "is a config, but needs to be the records; call " in said
    assert f"{name}(" in said
    assert "30" not in said


def test_records_in_place_of_a_config_are_not_in_the_message(frame: pd.DataFrame) -> None:
    assert "a DataFrame" in refused(an.attack, frame, frame, frame)
    assert refused(an.load_config, frame).startswith("config: got a DataFrame; accepted")


def test_a_result_in_place_of_its_records(frame: pd.DataFrame) -> None:
    result = an.anonymize(frame, CONFIG)
    assert "pass its records, result.data" in refused(an.check, result, qi=["age"])


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"k": 5.0}, "k: 5.0; accepted: a whole number from 1, such as 5"),
        ({"k": "5"}, "k: '5'; accepted: a whole number"),
        ({"k": True}, "k: true; accepted: a whole number"),
        ({"l": 1.5}, "l: 1.5; accepted: a whole number"),
        ({"t": 2}, "t: 2; accepted: a number from 0 to 1"),
        ({"limit": "2%"}, "limit: '2%'; accepted: a number from 0 to 1"),
        ({"suppression": 0.1}, "no argument 'suppression'; did you mean 'limit'?"),
        ({"sensitve": ["illness"]}, "did you mean 'sensitive'?"),
        ({"algorithm": "mondrian"}, "it is a key of the config"),
        ({"person": ["age"]}, "person: a list; accepted: one name"),
        ({"drop": "sex"}, "drop: 'sex'; accepted: a list of names, such as ['sex']"),
        ({"drop": iter(["sex"])}, "accepted: a list of names"),
        ({"drop": [5]}, "drop: 5 in the list; accepted: names of columns"),
        ({"drop": ["age"]}, "'age' is in qi and in drop"),
        ({"l": 2, "drop": ["illness"]}, "needs a sensitive attribute"),
    ],
    ids=lambda each: each if isinstance(each, str) else "-".join(each),
)
def test_wrong_arguments(frame: pd.DataFrame, named: dict[str, Any], said: str) -> None:
    assert said in refused(an.anonymize, frame, qi=["age"], **named)


@pytest.mark.parametrize("vary", [{"constraints.0.k": 3}, {"algorithm.name": "auto"}, ["constraints.0.k=2"]])
def test_what_does_not_vary(frame: pd.DataFrame, vary: Any) -> None:
    assert "accepted: a" in refused(an.compare, frame, CONFIG, vary=vary)


def test_too_few_and_too_many_arguments(frame: pd.DataFrame) -> None:
    assert "call attack(release_df, original_df, config, ...)" in refused(an.attack, frame)
    assert "call check(df, ...)" in refused(an.check, frame, ["age"])


@pytest.mark.parametrize(
    "values", [[[1, 2], [3]] * 24, [{"a": 1}, {"b": 2}] * 24, [{1}, "a"] * 24], ids=["lists", "dicts", "sets"]
)
def test_columns_of_values_without_a_hash(frame: pd.DataFrame, values: list[Any]) -> None:
    given = frame.assign(x=pd.Series(values, dtype=object), y=["1.5", "2.5"] * 24)
    config = {
        "attributes": {**ROLES, "x": "insensitive", "y": "insensitive"},
        "constraints": CONFIG["constraints"],
        "output": {"decimal": ","},
    }
    assert an.anonymize(given, config).report.status == "satisfied"


SAVED: dict[str, dict[str, Any]] = {
    "plain": {},
    "comma": {"output": {"separator": ";", "decimal": ","}},
    "missing": {"output": {"missing": "NA"}},
    "gzip": {"output": {"path": "out.csv.gz"}},
    "levels": {"algorithm": {"name": "lattice"}},
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("sections", SAVED.values(), ids=SAVED)
def test_a_saved_release_is_that_of_the_command(tmp_path: Path, sections: dict[str, Any]) -> None:
    job = Job(tmp_path)
    job.config.update(sections)
    assert job.run().code == 0
    made = pd.DataFrame(people(60), columns=list(COLUMNS))
    report = an.anonymize(made, job.file).save(tmp_path / "saved")
    name = sections.get("output", {}).get("path", "release.csv")
    theirs = (job.release.parent / name).read_bytes()
    own = tmp_path / "saved" / "share" / name
    if name.endswith(".csv"):
        assert own.read_bytes() == theirs
    assert report["release"]["path"] == f"share/{name}"
    audit = an.audit(own)
    assert audit.verified, audit.findings
    assert {each.name for each in (tmp_path / "saved").iterdir()} == {
        each.name for each in job.release.parent.parent.iterdir()
    }


def test_a_saved_release_is_the_verified_one(frame: pd.DataFrame, tmp_path: Path) -> None:
    result = an.anonymize(frame, CONFIG)
    before = result.data.copy(deep=True)
    result.data.loc[0, "illness"] = "changed"
    result.save(tmp_path)
    saved = pd.read_csv(tmp_path / "share" / "release.csv", dtype=str)
    pd.testing.assert_frame_equal(saved, before.astype(str), check_dtype=False)
    said = refused(result.save, tmp_path)
    assert "replace it with overwrite=True" in said
    assert " -o" not in said
    assert "accepted: the path of a folder" in refused(result.save, 5)
    result.save(tmp_path, overwrite=True)


def test_both_tables_of_anatomy_are_saved(frame: pd.DataFrame, tmp_path: Path) -> None:
    config = {**CONFIG, "algorithm": {"name": "anatomy"}, "constraints": [{"model": "l-diversity", "l": 2}]}
    an.anonymize(frame, config).save(tmp_path)
    assert len(list((tmp_path / "share").glob("release.*.csv"))) == 2
    assert an.audit(next((tmp_path / "share").glob("release.*.csv"))).verified


def test_a_result_is_a_page(frame: pd.DataFrame) -> None:
    page = an.anonymize(frame, CONFIG).to_html()
    assert page.startswith("<!")
    assert "The constraint is satisfied" in page


def test_a_run_from_python(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    report = an.run(job.file)
    assert (report.status, report["release"]["path"]) == ("satisfied", "share/release.csv")
    assert "overwrite=True" in refused(an.run, job.file)
    other = tmp_path / "other"
    assert an.run(str(job.file), other)["release"]["sha256"] == report["release"]["sha256"]
    assert an.audit(other / "share" / "release.csv").verified
    assert "give one" in refused(an.run, job.config)
    shutil.rmtree(other)


def test_audit_is_a_function_after_its_room_was_imported() -> None:
    from anonymizer.audit.audit import audit_release

    assert callable(an.audit)
    assert an.audit.__module__ == "anonymizer.api"
    assert audit_release is not an.audit


def test_numbers_of_numpy(frame: pd.DataFrame) -> None:
    draft = an.init(frame, qi=np.array(["age"]), k=np.int64(4), limit=np.float64(0.25))
    assert draft["constraints"][0]["k"] == 4
    assert draft["suppression"]["limit"] == 0.25


def test_a_search_without_candidates_says_so(frame: pd.DataFrame) -> None:
    from matplotlib.figure import Figure

    result = an.anonymize(frame, {**CONFIG, "algorithm": {"name": "mondrian"}})
    axes = result.plot_search(ax=Figure().subplots())
    assert "mondrian does not report the candidates" in axes.texts[0].get_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("https://host/people.csv", "is on the web; download it"),
        ("s3://bucket/people.csv", "is in object storage; copy it here"),
        ("sqlite:///people.db", "is a database that is not read"),
        ("mysql+pymysql://ana:secret@host/people", "is a database that is not read"),
        ("scheme://host/people.csv", "is not on this machine; copy it here"),
    ],
)
def test_places_that_are_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, said: str
) -> None:
    made = tmp_path / "people.yaml"
    assert main(["init", given, "-o", str(made)]) == 2
    first = capsys.readouterr().err
    assert said in first
    assert main(["check", given, "--qi", "age"]) == 2
    assert said in capsys.readouterr().err
    made.write_text(yaml.safe_dump({**CONFIG, "input": {"path": given}}), encoding="utf-8")
    assert main(["run", str(made)]) == 2
    assert said in capsys.readouterr().err
    assert "spark" not in first.lower()
    assert "secret" not in first


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("a.orc", "read_orc"),
        ("b c.xml", "read_xml"),
        ("it's.xls", "read_excel"),
        ("a.json", "read_json"),
    ],
)
def test_files_that_are_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, function: str
) -> None:
    path = tmp_path / name
    path.write_text("", encoding="utf-8")
    assert main(["init", str(path)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "unknown kind of file" in first
    command = second.partition("to convert it: ")[2].partition(" (needs")[0]
    words = shlex.split(command)
    assert words[:2] == ["python", "-c"]
    compile(words[2], "command", "exec")
    assert f"pandas.{function}(" in words[2]
    assert repr(str(path.with_suffix(".csv")))[1:-1] in words[2]
