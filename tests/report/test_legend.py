"""README.txt of a release: what its values mean and how to read them, from the public report alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anonymizer.hierarchy.file import FileSource
from anonymizer.model.labels import Form
from anonymizer.release.folder import LEGEND_HEAD
from anonymizer.report.legend import HEAD, WIDTH, legend
from tests.run.commands import Job, call, csv_bytes, people, shared_files


def legend_of(job: Job) -> str:
    """Return the legend of a release, after checking that it follows from the public report."""
    share = job.output / "share"
    text = (share / "README.txt").read_bytes().decode("utf-8")
    assert text == legend(json.loads((share / "report.public.json").read_text(encoding="utf-8")))
    return text


def columns_of(text: str) -> dict[str, str]:
    """Return what a legend says of each column."""
    section = text.partition("Columns:\n")[2].partition("\n\n")[0]
    items = re.sub(r"\n {6}", " ", section).splitlines()
    return dict(item.strip().split(": ", 1) for item in items)


def test_a_legend_names_columns_forms_and_commands(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    text = legend_of(job)
    assert columns_of(text) == {
        "age": "numbers in intervals, level 2",
        "zip": "texts with * for each hidden character",
        "sex": "unchanged",
        "diagnosis": "unchanged (sensitive)",
        "note": "unchanged",
    }
    assert "name" not in columns_of(text)
    for words in (
        "k-anonymity: k 3",
        "20-24: whole numbers",
        "01**: a text",
        "*: any value",
        "<missing>: ",
        "anonymizer audit release.csv",
    ):
        assert words in text
    assert "a..f" not in text
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.endswith("\n")
    assert "\r" not in text


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("constraint", "attacker"),
    [
        ({"model": "linkage-risk", "parameters": {"linkage": "nearest", "max": 0.3}}, "nearest"),
        ({"model": "inference-risk", "parameters": {"attack": "inference", "max": 0.8}}, "inference"),
        ({"model": "interval-risk", "parameters": {"max": 0.5}}, "interval"),
        ({"model": "k-anonymity", "parameters": {"k": 3}}, None),
    ],
)
def test_a_condition_on_an_attack_says_that_it_is_by_this_attacker(
    tmp_path: Path, constraint: dict[str, Any], attacker: str | None
) -> None:
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    public = json.loads((job.output / "share" / "report.public.json").read_text(encoding="utf-8"))
    public["constraints"] = [{**public["constraints"][0], "attribute": None, **constraint}]
    said = " ".join(legend(public).split())
    assert ("by the attacker" in said) is (attacker is not None)
    if attacker is not None:
        assert f"; by the attacker {attacker}, while others may succeed more often" in said


def test_the_code_for_python_reads_and_sorts_the_release(tmp_path: Path) -> None:
    rows = [(name, f"{int(age) - 30}", *rest) for name, age, *rest in people()]
    job = Job(tmp_path, data=csv_bytes(rows)).set("output", separator=";", encoding="cp1252")
    assert job.run("--quiet").code == 0
    code = legend_of(job).partition("in R:\n")[2]
    first = code.partition("\n\n")[0]
    second = code.partition("come first:\n")[2].partition("\n\n")[0]
    known: dict[str, Any] = {}
    lines = "\n".join(line.removeprefix("  ") for line in (first + "\n" + second).splitlines())
    exec(lines.replace('"release.csv"', repr(str(job.release))), known)
    expected = pd.read_csv(job.release, sep=";", dtype=str)
    assert sorted(known["records"]["age"]) == sorted(expected["age"])
    ends = [re.match(r"-?\d+", label) for label in known["records"]["age"]]
    assert [int(end[0]) for end in ends if end] == sorted(int(end[0]) for end in ends if end)
    assert len({end[0] for end in ends if end}) > 1


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("algorithm", "ages"),
    [
        ({"name": "mondrian", "labels": "interval"}, "ranges of values"),
        ({"name": "mondrian", "labels": "set"}, "sets of values"),
        ({"name": "mondrian", "mode": "strict"}, "numbers in intervals, some finer than others"),
        ({"name": "local"}, "numbers in intervals, some finer than others"),
    ],
)
def test_a_legend_says_what_an_algorithm_publishes(
    algorithm: dict[str, str], ages: str, tmp_path: Path
) -> None:
    job = Job(tmp_path).set("algorithm", **algorithm)
    assert job.run("--quiet").code == 0
    assert columns_of(legend_of(job))["age"] == ages


def test_both_files_of_anatomy_are_explained(tmp_path: Path) -> None:
    job = Job(tmp_path).set("algorithm", name="anatomy")
    assert job.run("--quiet").code == 0
    text = legend_of(job)
    assert "release.qit.csv and release.st.csv: 60 records" in text
    assert set(columns_of(text).values()) == {"unchanged", "unchanged (sensitive)"}


def test_the_same_release_has_the_same_legend_whatever_the_input(tmp_path: Path) -> None:
    """Suppressed records, names of files and identifiers differ; what is shared does not."""
    texts = []
    for folder, strange in (("one", "Zoë"), ("other", "Ümit")):
        (tmp_path / folder).mkdir()
        rows = [(f"{strange}{number}", *rest) for number, (_, *rest) in enumerate(people())]
        job = Job(tmp_path / folder, data=csv_bytes(rows))
        assert job.run("--quiet").code == 0
        texts.append({path.name: path.read_bytes() for path in (job.output / "share").iterdir()})
    assert texts[0] == texts[1]
    assert set(texts[0]) == shared_files("release.csv")


def test_parquet_and_odd_names_of_columns(tmp_path: Path) -> None:
    names = ["name", 'a "b"', "zip\ncode", "s", "diagnosis", "x" * 90]
    job = Job(tmp_path, data=csv_bytes(people(), names)).set("output", path="release.parquet")
    given = job.config["attributes"]
    job.config["attributes"] = {
        new: given[old]
        for new, old in zip(names, ["name", "age", "zip", "sex", "diagnosis", "note"], strict=True)
    }
    assert job.run("--quiet").code == 0
    text = legend_of(job)
    assert '  "zip\\ncode": texts with *' in text
    assert '  "s": unchanged' in text
    assert "read_csv" not in text
    assert "Generalized columns are texts" in text


def test_a_legend_of_an_earlier_run_is_replaced_and_no_other_file(tmp_path: Path) -> None:
    assert HEAD.startswith(LEGEND_HEAD)
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    assert job.run("--overwrite", "--quiet").code == 0
    own = job.output / "share" / "README.txt"
    own.write_text("my notes", encoding="utf-8")
    done = job.run("--overwrite", "--quiet")
    assert done.code == 2
    assert "contains 'README.txt', which is not part of a release" in done.err
    assert own.read_text(encoding="utf-8") == "my notes"
    own.unlink()
    assert call("audit", job.release).code == 0


BY_RECORD = {"model": "k-anonymity", "k": 2, "unit": "record"}
BY_PERSON = {"model": "k-anonymity", "k": 3, "unit": "person"}
OF_INPUT = {"model": "t-closeness", "t": 0.9, "unit": "record"}
ATTACKED = {"model": "inference-risk", "max": 1, "unit": "record"}


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("constraints", "told"),
    [
        ([BY_RECORD], "To verify that it is true of these records, keep all files"),
        (
            [BY_RECORD, BY_PERSON, OF_INPUT],
            "but for k-anonymity by person and t-closeness (diagnosis), which only the author can",
        ),
        ([BY_PERSON, BY_RECORD], "Only the author can measure k-anonymity by person, as these records do"),
        ([OF_INPUT], "Only the author can measure t-closeness (diagnosis), as these records do"),
        ([ATTACKED], "Only the author can measure inference-risk (diagnosis), as these records do"),
    ],
    ids=["all", "the first", "the last", "the distribution of the input", "an attack"],
)
def test_recipients_are_told_what_their_audit_says(
    constraints: list[dict[str, Any]], told: str, tmp_path: Path
) -> None:
    job = Job(tmp_path).set("input", person="name").constraints(*constraints)
    job.config["reference"] = "input"
    assert job.run("--quiet").code == 0
    text = " ".join(legend_of(job).split())
    assert told in text
    verdict, *_ = re.split("[,:]", call("audit", job.release).out.splitlines()[0])
    assert verdict == ("NOT MEASURED" if "it says NOT MEASURED" in text else "VERIFIED")


def test_weights_that_are_not_released_are_not_named(tmp_path: Path) -> None:
    rows = [(*row[:5], str(number % 3 + 1)) for number, row in enumerate(people())]
    for released in (True, False):
        (tmp_path / str(released)).mkdir()
        job = Job(tmp_path / str(released), data=csv_bytes(rows))
        job.config["attributes"]["note"] = {"role": "weight", "release": released}
        assert job.run("--quiet").code == 0
        assert ("note" in columns_of(legend_of(job))) == released
        assert call("audit", job.release).code == 0


def forms_of(public: dict[str, Any], name: str, **settings: Any) -> set[str]:
    """Return the forms in the legend of a release whose column ``name`` has other settings."""
    changed = json.loads(json.dumps(public))
    own = changed["config"]["attributes"]
    for other in own:
        own[other] = {"role": "insensitive"}
    level = settings.pop("level", None)
    own[name] = {"role": "quasi-identifier", **settings}
    changed["recoding"]["levels"] = {name: level}
    section = legend(changed).partition("Values:\n")[2].partition("\n\n")[0]
    return {line.strip().split(": ")[0] for line in section.splitlines() if not line.startswith(" " * 6)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "forms"),
    [
        ({"type": "text", "hierarchy": {"auto": {}}}, {"a..f", "{a, b}"}),
        ({"type": "text", "hierarchy": {"auto": {"rare": 10}}}, {"a..f", "{a, b}", "ab…"}),
        ({"type": "integer", "hierarchy": {"auto": {"rare": 10}}}, {"20-24", "-5 to -1", "<20, 65+"}),
        ({"type": "number", "hierarchy": {"auto": {}}}, {"[20, 22.5)", "<20, 65+"}),
        ({"type": "date", "hierarchy": {"auto": {}}}, {"2024-01-31..2024-05-02"}),
        ({"type": "text", "hierarchy": {"order": {"sizes": [2, 4]}}, "level": 1}, {"a..f", "{a, b}"}),
        ({"type": "number", "hierarchy": {"order": {"sizes": [2, 4]}}, "level": 2}, {"[20, 24]"}),
        ({"type": "text", "hierarchy": {"order": {"sizes": [2, 4]}}, "level": 3}, set()),
        ({"hierarchy": {"intervals": {"width": [5], "origin": 0}}}, {"20-24", "-5 to -1", "[20, 22.5)"}),
        (
            {"type": "integer", "hierarchy": {"intervals": {"width": [5], "origin": -5}}, "level": 1},
            {"-5 to -1"},
        ),
        ({"hierarchy": {"intervals": {"width": [0.5, 5], "origin": 0}}, "level": 2}, {"[20, 22.5)"}),
        ({"hierarchy": {"intervals": {"width": [5], "origin": 0}}, "level": 2}, set()),
        ({"hierarchy": {"mask": {"from": "left"}}}, {"**01"}),
        ({"hierarchy": {"date": {"levels": ["month", "year"]}}, "level": 2}, {"2024"}),
        ({"hierarchy": {"date": {"levels": ["day", "decade"]}}}, {"2024-05-31", "2020s"}),
        ({"hierarchy": {"file": "a.csv"}, "level": 1}, set()),
    ],
)
def test_forms_are_those_that_a_column_can_have(
    settings: dict[str, Any], forms: set[str], tmp_path: Path
) -> None:
    job = Job(tmp_path).rows(people(20))
    assert job.run("--quiet").code == 0
    public = json.loads(job.public_report.read_text(encoding="utf-8"))
    assert forms_of(public, "zip", **settings) == {*forms, "*", "<missing>"}


@pytest.mark.slow
def test_a_source_says_what_its_columns_contain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(tmp_path).rows(people(20))
    assert job.run("--quiet").code == 0
    public = json.loads(job.public_report.read_text(encoding="utf-8"))
    monkeypatch.setattr(FileSource, "content", "areas")
    monkeypatch.setattr(FileSource, "forms", lambda *_: (Form("A/B", "A or B"),))
    assert forms_of(public, "zip", hierarchy={"file": "a.csv"}) == {"A/B", "*", "<missing>"}
    public["config"]["attributes"]["zip"] = {"role": "quasi-identifier", "hierarchy": {"file": "a.csv"}}
    public["recoding"]["levels"] = {"zip": 1}
    assert columns_of(legend(public))["zip"] == "areas, level 1"
