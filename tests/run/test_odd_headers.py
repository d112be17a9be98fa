"""Headers and encodings of real files: named, said once, and refused only where the config asks for it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from tests.helpers.messages import exchange
from tests.run.commands import COLUMNS, CONFIG, call, people

ROLES = {**CONFIG["attributes"], "row": {"role": "identifier"}, "age_2": {"role": "insensitive"}}
NAMED = ("column 1 of 8 has no name", "columns 3 and 8 are both named 'age'")


def written(path: Path) -> Path:
    """Write the people as R's write.csv does, with the numbers of the rows, and a column twice."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *COLUMNS, "age"])
        ages = [row[COLUMNS.index("age")] for row in people()]
        writer.writerows([each + 1, *row, ages[each]] for each, row in enumerate(people()))
    return path


def job(folder: Path, **given: Any) -> Path:
    path = folder / "job.json"
    content = {**CONFIG, "input": {"path": "people.csv", **given}, "attributes": ROLES}
    path.write_text(json.dumps(content))
    return path


@pytest.mark.slow
def test_every_command_names_columns_alike_and_says_so(tmp_path: Path) -> None:
    data = written(tmp_path / "people.csv")
    done = call("init", data)
    assert done.code == 0, done.err
    for warning in NAMED:
        assert done.out.count(warning) == 1
    drafted = yaml.safe_load((tmp_path / "people.yaml").read_text())["attributes"]
    assert list(drafted) == ["row", *COLUMNS, "age_2"]
    assert drafted["row"]["role"] == "identifier"
    done = call("run", job(tmp_path), "-o", tmp_path / "out")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [each for each in report["warnings"] if each.startswith(NAMED)] == report["warnings"][:2]
    done = call("check", data, "--qi", "age,zip", "--sensitive", "diagnosis", "--json")
    assert all(done.err.count(warning) == 1 for warning in NAMED)
    release = tmp_path / "out" / "share" / "release.csv"
    assert call("attack", release, "-c", job(tmp_path), "--original", data).code == 0
    assert call("audit", release).code == 0


def test_a_strict_header_is_refused(tmp_path: Path, message: SnapshotAssertion) -> None:
    written(tmp_path / "people.csv")
    done = call("run", job(tmp_path, strict_header=True), "-o", tmp_path / "out")
    assert done.code == 2
    assert exchange("strict_header: true", done.err.rstrip(), tmp_path) == message
    assert not (tmp_path / "out").exists()


def test_repeated_columns_of_a_frame(tmp_path: Path) -> None:
    frame = pd.DataFrame(people(), columns=list(COLUMNS))
    frame.insert(len(COLUMNS), "age", frame["age"], allow_duplicates=True)
    roles = {name: role for name, role in ROLES.items() if name != "row"}
    result = an.anonymize(frame, {**CONFIG, "attributes": roles})
    assert list(result.data)[-1] == "age_2"
    assert "columns 2 and 7 are both named 'age'" in result.report["warnings"][0]
    with pytest.raises(an.AnonymizerError, match="both named 'age'"):
        an.anonymize(frame, {**CONFIG, "attributes": roles, "input": {"strict_header": True}})


@pytest.mark.quick(1)
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16"])
def test_an_encoding_is_asked_for_once(encoding: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    words = "Zoë" if encoding == "latin-1" else "Zoë “€”"
    lines = [",".join(COLUMNS), *(",".join(map(str, (*row[:-1], words))) for row in people())]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding=encoding)
    asked = call("init", tmp_path / "people.csv")
    assert (asked.code, asked.out) == (2, "")
    assert exchange(f"init of a file in {encoding}", asked.err.rstrip(), tmp_path) == message
    refused = call("run", job(tmp_path))
    assert refused.code == 2
    assert exchange(f"run on a file in {encoding}", refused.err.rstrip(), tmp_path) == message
    answer = asked.err.rstrip().rpartition("--encoding ")[2]
    done = call("init", tmp_path / "people.csv", "--encoding", answer)
    assert done.code == 0, done.err
    drafted = tmp_path / "people.yaml"
    assert yaml.safe_load(drafted.read_text())["input"]["encoding"] == answer
    assert call("run", drafted, "--quiet").code == 0
