"""The figures of the Adult table, generalised by the command itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.run.commands import Done, call
from tests.shared import shared

LEVELS = {
    "sex": 0,
    "age": 3,
    "race": 0,
    "marital-status": 1,
    "education": 2,
    "native-country": 1,
    "workclass": 1,
    "salary-class": 0,
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """Adult at fixed levels, classes under 5 dropped."""
    folder = tmp_path_factory.mktemp("adult")
    hierarchies = shared("data", "adult", "hierarchies")
    attributes: dict[str, Any] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": {"file": str(hierarchies / f"{name}.csv")},
            "levels": {"min": level, "max": level},
        }
        for name, level in LEVELS.items()
    }
    config = {
        "input": {"path": str(shared("data", "adult", "data.csv.gz"))},
        "attributes": {**attributes, "occupation": {"role": "sensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "suppression": {"limit": 1},
    }
    (folder / "adult.json").write_text(json.dumps(config), encoding="utf-8")
    done = call("run", folder / "adult.json", "--json")
    assert done.code == 0, done.err
    return folder / "adult-release" / "share" / "release.csv", done


def measures(table: Path) -> dict[tuple[str, str | None], Any]:
    """Return the measures by model and what tells its probes apart."""
    done = call("check", table, "--qi", ",".join(LEVELS), "--sensitive", "occupation", "--json")
    assert done.code == 0, done.err
    return {(each["model"], choice(each)): each["measured"] for each in done.json["measures"]}


def choice(measure: dict[str, Any]) -> str | None:
    """Return what tells the probes of one model apart."""
    keys = ("l",) if measure["model"] == "recursive-cl-diversity" else ("distance", "absent", "target")
    return next((str(measure["parameters"][key]) for key in keys if key in measure["parameters"]), None)


@pytest.mark.slow
def test_the_generalised_table(release: tuple[Path, Done]) -> None:
    path, done = release
    assert done.json["release"]["rows"] == 29_390
    assert done.json["release"]["classes"] == 296
    assert done.json["recoding"]["levels"] == LEVELS
    found = measures(path)
    assert found["k-anonymity", None] == 5
    assert found["alpha-k-anonymity", None] == [5, pytest.approx(0.83333, abs=5e-6)]
    assert found["l-diversity", None] == 2
    assert found["entropy-l-diversity", None] == pytest.approx(1.5692, abs=5e-5)
    assert found["basic-beta-likeness", None] == pytest.approx(133.61069, abs=5e-6)
    assert found["t-closeness", "equal"] == pytest.approx(0.89037087, abs=5e-9)
    assert found["delta-disclosure", "ignored"] == pytest.approx(4.902387, abs=5e-7)
    assert found["delta-disclosure", "violates"] == "Infinity"
    assert found["recursive-cl-diversity", "2"] == 5.0


def test_the_smallest_c_is_exclusive(release: tuple[Path, Done], tmp_path: Path) -> None:
    path, _ = release
    attributes = {name: {"role": "quasi-identifier"} for name in LEVELS}
    for c, code in ((5.0, 1), (5.001, 0)):
        config = {
            "attributes": {**attributes, "occupation": {"role": "sensitive"}},
            "constraints": [{"model": "recursive-cl-diversity", "c": c, "l": 2}],
        }
        (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
        assert call("check", path, "-c", tmp_path / "c.json").code == code


def test_the_raw_table() -> None:
    found = measures(shared("data", "adult", "data.csv.gz"))
    assert found["alpha-k-anonymity", None][1] == 1.0
    assert found["l-diversity", None] == 1
    assert found["basic-beta-likeness", None] == pytest.approx(3350.3333, abs=5e-5)
    assert found["t-closeness", "equal"] == pytest.approx(0.99970161, abs=5e-9)
