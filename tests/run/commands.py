"""Whole runs of the command, on a small job that each test changes as it needs."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from anonymizer.cli.main import main
from anonymizer.commands.run import release_folder

ROOT = Path(__file__).parents[2]
COLUMNS = ("name", "age", "zip", "sex", "diagnosis", "note")
DIAGNOSES = ("asthma", "cancer", "flu", "stroke")

PROGRAM = [sys.executable, "-P", str(Path(__file__).with_name("program.py"))]
"""The command in a process of its own."""

CONFIG: dict[str, Any] = {
    "input": {"path": "people.csv"},
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [10, 20, 40]}}},
        "zip": {"role": "quasi-identifier", "type": "text", "hierarchy": {"mask": {"from": "right"}}},
        "sex": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "constraints": [
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 2},
    ],
    "suppression": {"limit": 0.1},
}


@dataclass(frozen=True)
class Done:
    """What a command left behind: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        content: dict[str, Any] = json.loads(self.out)
        return content


def call(*args: str | Path) -> Done:
    """Run a command in this process, where it takes a tenth of the time."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(arg) for arg in args])
    return Done(code, out.getvalue(), err.getvalue())


def assert_audits(folder: Path, owner: str | None = "VERIFIED") -> None:
    """Audit a release of which no constraint can be measured without the input, and then as its owner.

    Parameters
    ----------
    folder: of the run, whose input is where it was.
    owner: what the audit of its owner says first; None where records of the input fit several rows of the
        release, so that the owner measures nothing either.
    """
    path, internal = folder / "share" / "release.csv", folder / "report.json"
    assert_not_measured(path, folder / "share" / "report.public.json")
    if owner is None:
        assert_not_measured(path, internal)
    else:
        done = call("audit", path, "--report", internal)
        assert (done.code, done.out.splitlines()[0]) == (0, owner), done.out


def assert_not_measured(release: Path, report: Path) -> None:
    """Check that an audit measures no constraint, and finds nothing that contradicts the report."""
    done = call("audit", release, "--report", report, "--json")
    found = done.json
    assert {(each["measured"], each["satisfied"]) for each in found["constraints"]} == {(None, None)}
    notes = ("the report says it holds", "not verifiable from the release alone")
    assert all(any(note in each for note in notes) for each in found["findings"]), found["findings"]
    assert not found["verified"]
    assert done.code == 1


def python(*args: str | Path, **options: Any) -> Done:
    """Run Python in a process of its own, from the checkout."""
    done = subprocess.run(
        [sys.executable, *map(str, args)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def spawn(*args: str | Path, **options: Any) -> Done:
    """Run a command as a user does, in a process of its own."""
    return python(*PROGRAM[1:], *args, **options)


def people(records: int = 60, seed: int = 1) -> list[tuple[str, ...]]:
    """Return made-up records in the order of ``COLUMNS``."""
    random = Random(seed)
    return [
        (
            f"person {number}",
            str(random.randint(20, 59)),
            f"0{random.choice('1234')}{random.choice('12')}{random.choice('789')}",
            random.choice(("F", "M")),
            random.choice(DIAGNOSES),
            f"note {random.randint(1, 9)}",
        )
        for number in range(records)
    ]


def csv_bytes(rows: Sequence[Sequence[str]], columns: Sequence[str] = COLUMNS) -> bytes:
    """Return records as a CSV file with a header."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([columns, *rows])
    return stream.getvalue().encode()


def read_rows(path: Path) -> list[list[str]]:
    """Return the records of a CSV file without its header."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.reader(io.StringIO(content.decode(), newline="")))[1:]


def shared_files(*released: str) -> set[str]:
    """Return the names of all files of share/, given those of the release."""
    described = {f"{name}-metadata.json" for name in released if name.endswith((".csv", ".csv.gz"))}
    return {*released, *described, "report.public.json", "README.txt", "codebook.csv"}


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file under a folder, and its folders, by their path in it."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else b"(folder)" for name, path in found.items()}


def assert_message(err: str, words: tuple[str, ...]) -> None:
    """Check that there is one error, that it holds the words, and that nothing comes after it."""
    assert err.startswith("error: ")
    message = err.removeprefix("error: ")
    assert [word for word in words if word not in message] == []
    assert "Traceback" not in err
    assert message.count("error: ") == 0


@dataclass
class Job:
    """A folder with an input and a config, both to be changed before ``write``."""

    folder: Path
    config: dict[str, Any] = field(default_factory=lambda: deepcopy(CONFIG))
    data: bytes = field(default_factory=lambda: csv_bytes(people()))
    path: str = "job.json"

    @property
    def input(self) -> Path:
        """The data file of the config."""
        return self.folder / str(self.config["input"]["path"])

    @property
    def file(self) -> Path:
        """The config file."""
        return self.folder / self.path

    @property
    def output(self) -> Path:
        """The folder for the release that is used when none is given."""
        return release_folder(self.file)

    @property
    def release(self) -> Path:
        """The released file."""
        return self.output / "share" / str(self.config.get("output", {}).get("path", "release.csv"))

    @property
    def public_report(self) -> Path:
        """The report for the recipient."""
        return self.output / "share" / "report.public.json"

    def set(self, section: str, **values: Any) -> Job:
        """Change keys of a section of the config."""
        self.config[section] = {**self.config.get(section, {}), **values}
        return self

    def attribute(self, name: str, **values: Any) -> Job:
        """Replace the settings of a column."""
        self.config["attributes"][name] = values
        return self

    def constraints(self, *constraints: Mapping[str, Any]) -> Job:
        """Replace the constraints."""
        self.config["constraints"] = list(constraints)
        return self

    def rows(self, rows: Sequence[Sequence[str]]) -> Job:
        """Replace the records."""
        self.data = csv_bytes(rows)
        return self

    def write(self) -> Job:
        """Write both files."""
        self.input.write_bytes(self.data)
        self.write_config()
        return self

    def write_config(self) -> Path:
        """Write the config alone, and return its path."""
        self.file.write_text(json.dumps(self.config), encoding="utf-8")
        return self.file

    def run(self, *args: str | Path) -> Done:
        """Write both files and run the job in this process."""
        self.write()
        return call("run", self.file, *args)

    def report(self) -> dict[str, Any]:
        """Return what the internal report holds."""
        content: dict[str, Any] = json.loads((self.output / "report.json").read_text(encoding="utf-8"))
        return content

    def copied(self, folder: Path) -> Job:
        """Return a job with all that its folder holds in another one, to be changed there."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Job(folder, deepcopy(self.config), self.data, self.path)
