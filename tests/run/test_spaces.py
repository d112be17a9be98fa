"""Spaces around numbers: the same run as without them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import anonymizer as an
from tests.run.commands import call

ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {"name": "lattice"},
    "mondrian": {"name": "mondrian", "labels": "interval"},
    "sets": {"name": "mondrian", "labels": "set"},
    "local": {"name": "local"},
    "means": {"name": "microaggregation", "k": 4},
}


def rows() -> list[list[str]]:
    random = Random(12)
    return [
        [
            f"{random.uniform(150, 190):.1f}",
            str(random.randrange(17, 60)),
            str(random.randrange(900, 950)),
            "x",
        ]
        for _ in range(150)
    ]


def run(folder: Path, algorithm: dict[str, Any], engine: str, space: str) -> tuple[list[list[str]], Any, str]:
    """Run on a file with a space before each number but some, and read the release."""
    folder.mkdir()
    random = Random(5)
    lines = [",".join((space if random.random() < 0.9 else "") + cell for cell in row) for row in rows()]
    (folder / "people.csv").write_text("height,age,wage,note\n" + "\n".join(lines) + "\n")
    plain = algorithm["name"] == "microaggregation" or "labels" in algorithm
    settings = {
        "input": {"path": "people.csv"},
        "attributes": {
            "height": {"role": "quasi-identifier"}
            | ({} if plain else {"hierarchy": {"intervals": {"width": [2.5, 5, 10, 20, 40]}}}),
            "age": {"role": "quasi-identifier"} | ({} if plain else {"hierarchy": {"auto": {}}}),
            "wage": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        "constraints": [
            {"model": "k-anonymity", "k": 4},
            {"model": "t-closeness", "t": 0.5, "attribute": "wage"},
        ],
        "suppression": {"limit": 0.1},
        "algorithm": algorithm,
        "engine": {"name": engine},
        "budget": {"steps": 20},
        "attacks": ["vulnerability"],
    }
    (folder / "c.json").write_text(json.dumps(settings))
    done = call("run", folder / "c.json", "-o", folder / "out")
    assert done.code == 0, done.err
    assert call("audit", folder / "out" / "share" / "release.csv").code == 0
    report = json.loads((folder / "out" / "report.json").read_text())
    content = (folder / "out" / "share" / "release.csv").read_text()
    return list(csv.reader(io.StringIO(content)))[1:], report, done.out


@pytest.mark.quick(2)
@pytest.mark.parametrize("engine", ["memory", pytest.param("duckdb", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_release_is_that_without_spaces(name: str, engine: str, tmp_path: Path) -> None:
    algorithm = ALGORITHMS[name]
    without, before, _ = run(tmp_path / "without", algorithm, engine, "")
    spaced, after, said = run(tmp_path / "spaced", algorithm, engine, " ")
    assert sorted([*row[:2], row[2].strip(), row[3].strip()] for row in spaced) == sorted(without)
    assert any(row[2].startswith(" ") for row in spaced), "sensitive values are released as they are"
    assert after["loss"] == before["loss"]
    assert [each["measured"] for each in after["constraints"]] == [
        each["measured"] for each in before["constraints"]
    ]
    assert after["attributes"]["age"]["type"] == "integer"
    assert after["attributes"]["height"]["type"] == "number"
    warning = "spaces around the numbers of columns 'height', 'age', 'wage' are ignored"
    assert (warning in after["warnings"], warning in before["warnings"]) == (True, False)
    assert warning in said


def test_texts_keep_their_spaces_and_a_run_says_so() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"school": [" 9th", " 10th"] * 6, "weeks": [" 52", " 0"] * 6})
    settings = {
        "attributes": {name: {"role": "quasi-identifier"} for name in frame},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    result = an.anonymize(frame, settings)
    assert set(result.data["school"]) == {" 9th", " 10th"}
    assert set(result.data["weeks"]) == {"52", "0"}
    assert [warning for warning in result.report.to_dict()["warnings"] if "spaces" in warning] == [
        "spaces around the numbers of column 'weeks' are ignored",
        "spaces around the values of column 'school' are ignored",
    ]


def test_illnesses_spelled_in_two_ways_are_said() -> None:
    pandas = pytest.importorskip("pandas")
    random = Random(3)
    frame = pandas.DataFrame({"age": [random.choice((20, 30)) for _ in range(200)]})
    settings = {
        "attributes": {
            "age": {"role": "quasi-identifier"},
            "illness": {"role": "sensitive"},
            "record": {"role": "insensitive"},
            "remark": {"role": "insensitive"},
        },
        "constraints": [{"model": "l-diversity", "l": 2}],
        "attacks": [],
    }

    def warnings(illnesses: str, prefix: str, number: int) -> list[str]:
        columns = {
            "illness": [random.choice(illnesses.split(",")) for _ in range(200)],
            "record": [f"{prefix}{row % number}" for row in range(200)],
            "remark": [f"R{row % 5}" for row in range(200)],
        }
        found: list[str] = an.anonymize(frame.assign(**columns), settings).report.to_dict()["warnings"]
        return found

    assert not warnings("Flu,Asthma,Cold", "R", 100)
    (spelled,) = warnings("Flu,flu,Asthma,hay  fever,Hay Fever,hay fever", "R", 200)
    assert spelled.startswith("sensitive column 'illness': 3 of its values look like others, such as 'hay")
