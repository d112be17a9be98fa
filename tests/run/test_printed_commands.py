"""Every command that the program prints runs as it is printed, from the folder in which it is printed."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.run.commands import Done, Job, call, csv_bytes, people

FOLDER = "my desk"
"""The folder of data and config: a name that a shell splits, and not the current folder."""


def printed(text: str) -> list[str]:
    """Return the commands of this program in a text: each begins a line, or ends one after words."""
    found = re.findall(r"(?:^|: )\s*(?:\d+\s+)?(anonymizer [a-z]+ .*)$", text, re.MULTILINE)
    assert len(found) == len(re.findall(r"\banonymizer [a-z]+\b", text)), text
    return found


def execute(commands: list[str]) -> Iterator[Done]:
    """Run commands one after the other."""
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "anonymizer"
        yield call(*words)


def assert_they_run(commands: list[str], number: int) -> None:
    assert len(commands) == number, commands
    for command, done in zip(commands, execute(commands), strict=True):
        assert done.code == 0, (command, done.out, done.err)


def wide(records: int = 300) -> bytes:
    """Return records of which classes of 12 keep little."""
    random = Random(1)
    rows = [
        (
            str(random.randint(18, 90)),
            str(random.randint(10000, 99999)),
            f"job {random.randint(1, 30)}",
            random.choice("fm"),
            str(random.randint(1, 9)),
        )
        for _ in range(records)
    ]
    return csv_bytes(rows, ("age", "zip", "job", "sex", "income"))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with another one in it."""
    (tmp_path / FOLDER).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wide_job(desk: Path, **sections: Any) -> Path:
    """Write a job whose release says little; return the config, relative to the current folder."""
    (desk / FOLDER / "data.csv").write_bytes(wide())
    config = {
        "input": {"path": "data.csv"},
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5, 10, 40]}}},
            "zip": {"role": "quasi-identifier", "type": "text", "hierarchy": {"mask": {"from": "right"}}},
            "job": {"role": "quasi-identifier"},
            "sex": {"role": "quasi-identifier"},
            "income": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 12}],
        **sections,
    }
    (desk / FOLDER / "job.json").write_text(json.dumps(config), encoding="utf-8")
    return Path(FOLDER, "job.json")


@pytest.mark.advice
@pytest.mark.quick(1)
@pytest.mark.parametrize("options", [[], ["-o", "the release"], ["-o", "out", "--overwrite"]], ids=str)
def test_advice_keeps_what_was_asked(options: list[str], desk: Path) -> None:
    config = wide_job(desk)
    given = ["--set", "attributes.income={role: drop}", "--set", 'attributes."sex"={role: insensitive}']
    done = call("run", config, *options, *given, "-q")
    assert done.code == 0, done.err
    commands = printed(done.out)
    assert_they_run(commands, 3)
    report = Path(options[1] if options else f"{FOLDER}/job-release") / "report.json"
    kept = json.loads(report.read_text(encoding="utf-8"))
    assert kept["config"]["attributes"]["income"]["role"] == "drop"
    assert kept["config"]["attributes"]["sex"]["role"] == "insensitive"


@pytest.mark.advice
@pytest.mark.quick(1)
@pytest.mark.page
@pytest.mark.parametrize("options", [[], ["-o", "the release"]], ids=str)
def test_the_advice_of_a_report_runs_beside_the_config(
    options: list[str], desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the release is: the reader of a report knows its config only."""
    done = call("run", wide_job(desk), *options, "--set", "attributes.income.role=drop", "-q")
    assert done.code == 0, done.err
    release = desk / (options[1] if options else f"{FOLDER}/job-release")
    advice = json.loads((release / "report.json").read_text(encoding="utf-8"))["advice"]
    commands = [each["command"] for each in advice["changes"]]
    page = html.unescape((release / "report.html").read_text(encoding="utf-8"))
    assert all(command in page for command in commands)
    monkeypatch.chdir(desk / FOLDER)
    assert_they_run(commands, 3)
    for number in (1, 2, 3):
        again = json.loads(Path(f"job-release-{number}", "report.json").read_text(encoding="utf-8"))
        assert again["config"]["attributes"]["income"]["role"] == "drop"


@pytest.mark.advice
@pytest.mark.slow
def test_advice_leaves_out_what_the_config_needs(desk: Path) -> None:
    """A column that an attack or a utility measure names cannot be dropped by one more --set."""
    config = wide_job(
        desk,
        attacks=[{"attack": "vulnerability", "knowledge": ["sex", "job"]}],
        algorithm={"name": "lattice"},
    )
    done = call("run", config, "-q")
    assert done.code == 0, done.err
    commands = printed(done.out)
    assert commands
    assert_they_run(commands, len(commands))


@pytest.mark.parametrize("options", [[], ["-o", "the release"]], ids=str)
def test_what_works_keeps_what_was_asked(options: list[str], desk: Path) -> None:
    job = Job(desk / FOLDER).constraints({"model": "k-anonymity", "k": 400}, {"model": "l-diversity", "l": 2})
    job.write()
    given = ["--set", "attributes.sex.role=insensitive", "--set", "constraints.0.k=100"]
    done = call("run", Path(FOLDER, job.file.name), *options, *given)
    assert done.code == 1
    commands = printed(done.err)
    assert len(commands) == done.err.count("works: --set ") > 0
    for command in commands:
        assert_they_run([f"{command} --overwrite"], 1)
    report = Path(options[1] if options else f"{FOLDER}/{job.file.stem}-release") / "report.json"
    assert json.loads(report.read_bytes())["config"]["attributes"]["sex"]["role"] == "insensitive"


def test_the_next_command_of_a_draft(desk: Path) -> None:
    Path(FOLDER, "my people.csv").write_bytes(csv_bytes(people(200)))
    for options in ([], ["--overwrite"]):
        done = call("init", Path(FOLDER, "my people.csv"), *options)
        assert done.code == 0, done.err
        assert_they_run(printed(done.out), 1)


def test_data_in_place_of_a_config(desk: Path) -> None:
    Path(FOLDER, "-people.csv").write_bytes(csv_bytes(people(200)))
    Path("-people.csv").write_bytes(csv_bytes(people(200)))
    for path in (f"{FOLDER}/-people.csv", "./-people.csv"):
        done = call("run", path)
        assert done.code == 2
        assert_they_run(printed(done.err), 1)


@pytest.mark.slow
def test_each_run_of_a_comparison(desk: Path) -> None:
    job = Job(desk / FOLDER)
    job.write()
    config = Path(FOLDER, job.file.name)
    done = call(
        "compare", config, "--algorithm", "lattice", "--algorithm", "mondrian", "--workers", "1", "-q"
    )
    assert done.code == 0, done.err
    commands = list(dict.fromkeys(printed(done.out)))
    assert_they_run(commands, len(commands))
    page = (desk / FOLDER / "comparison" / "compare.html").read_text(encoding="utf-8")
    shown = [html.unescape(each) for each in re.findall(r"<code>(anonymizer [^<]*)</code>", page)]
    assert len(shown) == len(commands)


@pytest.mark.page
def test_the_commands_of_a_report_and_a_legend(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(desk / FOLDER).set("output", path="my release.csv")
    done = job.run("--set", "constraints.0.k=4")
    assert done.code == 0, done.err
    page = (job.output / "report.html").read_text(encoding="utf-8")
    monkeypatch.chdir(desk / FOLDER)
    (name,) = re.findall("Save the config below as <code>(.*?)</code>", page)
    (config,) = re.findall(r'aria-label="Config"><code>(.*?)</code>', page, re.DOTALL)
    Path(name).write_text(html.unescape(config), encoding="utf-8")
    (shown,) = re.findall(r'aria-label="Commands"><code>(.*?)</code>', page, re.DOTALL)
    assert_they_run(printed(html.unescape(shown)), 2)
    assert Path("again/share/my release.csv").read_bytes() == job.release.read_bytes()
    monkeypatch.chdir(job.release.parent)
    assert_they_run(printed(Path("README.txt").read_text(encoding="utf-8")), 1)
