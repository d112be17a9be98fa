"""Columns that are left out without being identifiers, and sampling weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.config.load import load_config
from anonymizer.errors import ConfigError
from anonymizer.model.table import Role
from tests.helpers.messages import exchange
from tests.run.commands import CONFIG, call


def table(records: int = 240) -> pd.DataFrame:
    """Return records of which the first 20 have weights of their own."""
    return pd.DataFrame(
        {
            "age": [str(20 + number % 40) for number in range(records)],
            "sex": ["FM"[number % 2] for number in range(records)],
            "remarks": [f"remark {number % 7}" for number in range(records)],
            "wgt": [f"{1000 + number}.5" if number < 20 else "250" for number in range(records)],
        }
    )


def config(**weight: Any) -> dict[str, Any]:
    return {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [10, 20]}}},
            "sex": {"role": "quasi-identifier"},
            "remarks": {"role": "drop"},
            "wgt": {"role": "weight", **weight},
        },
        "constraints": [{"model": "k-anonymity", "k": 5}],
    }


def test_dropped_columns_are_left_out_and_weights_stay_as_they_are() -> None:
    given = table()
    result = an.anonymize(given, config())
    assert list(result.data) == ["age", "sex", "wgt"]
    assert sorted(result.data["wgt"]) == sorted(given["wgt"])
    roles = {name: each["role"] for name, each in result.report.to_dict()["attributes"].items()}
    assert (roles["remarks"], roles["wgt"]) == ("drop", "weight")


def test_a_weight_can_be_left_out() -> None:
    result = an.anonymize(table(), config(release=False))
    assert list(result.data) == ["age", "sex"]
    assert not result.report.to_dict()["warnings"]


def test_weights_of_few_records_are_a_warning(message: SnapshotAssertion) -> None:
    warnings = an.anonymize(table(), config()).report.to_dict()["warnings"]
    assert exchange("20 of 21 weights belong to one record", "\n".join(warnings)) == message
    even = table().assign(wgt="250")
    assert not an.anonymize(even, config()).report.to_dict()["warnings"]


def test_exact_numbers_that_nearly_all_differ_are_found(message: SnapshotAssertion) -> None:
    asked = config(release=False)
    asked["attributes"] |= {"lab": {"role": "insensitive"}, "mood": {"role": "insensitive"}}
    mood = [str(number % 5) for number in range(240)]
    given = table().assign(lab=[f"{number}.25" for number in range(240)], mood=mood)
    findings = an.anonymize(given, asked).report.to_dict()["exposure"]["findings"]
    said = "\n".join(each["sentence"] for each in findings)
    assert exchange("240 values of 'lab' in 240 records", said) == message
    assert [each["columns"][0] for each in findings] == ["lab", "lab"]


def test_attacks_take_the_weights() -> None:
    asked = {**config(), "attacks": [{"attack": "uniqueness", "weights": "wgt"}]}
    found = an.anonymize(table(), asked).report.to_dict()["attacks"][0]
    assert found["details"]["population"]["records"] == sum(map(float, table()["wgt"]))


@pytest.mark.parametrize(
    "column",
    [
        {"role": "weight", "release": False},
        {"role": "identifier"},
        {"role": "insensitive", "release": False},
        {"role": "drop", "type": "number"},
        {"role": "weight", "hierarchy": {"intervals": {"width": [10]}}},
        {"role": "weights"},
    ],
)
def test_refused_roles(column: dict[str, Any], message: SnapshotAssertion) -> None:
    asked = {**config(), "attacks": [{"attack": "uniqueness", "weights": "wgt"}]}
    asked["attributes"]["wgt"] = column
    with pytest.raises(ConfigError) as refused:
        load_config(asked)
    assert exchange(str(column), str(refused.value)) == message


def test_a_config_keeps_release_for_weights_only() -> None:
    loaded = load_config(config())
    assert loaded.attributes["remarks"].role is Role.DROP
    shown = loaded.to_dict()["attributes"]
    assert shown["remarks"] == {"role": "drop"}
    assert shown["wgt"] == {"role": "weight", "release": True}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_every_command_leaves_dropped_columns_out(suffix: str, tmp_path: Path) -> None:
    given = table()
    data = tmp_path / f"people{suffix}"
    given.to_csv(data, index=False) if suffix == ".csv" else given.to_parquet(data)
    path = tmp_path / "job.json"
    asked = {**config(), "input": {"path": data.name}, "output": {"path": f"release{suffix}"}}
    path.write_text(json.dumps(asked))
    release = tmp_path / "release" / "share" / f"release{suffix}"
    assert call("run", path, "-o", tmp_path / "release").code == 0
    read = pd.read_csv(release) if suffix == ".csv" else pd.read_parquet(release)
    assert list(read) == ["age", "sex", "wgt"]
    assert call("audit", release).code == 0
    assert call("audit", release, "--report", tmp_path / "release" / "report.json").code == 0
    assert call("check", data, "-c", path).code == 0
    assert call("attack", release, "-c", path).code == 0
    again = tmp_path / "again.json"
    again.write_text(json.dumps({**asked, "apply": "release/report.json"}))
    done = call("run", again, "-o", tmp_path / "second")
    assert done.code == 0, done.err
    assert call("audit", tmp_path / "second" / "share" / f"release{suffix}").code == 0


def test_a_role_is_set_on_the_command_line(tmp_path: Path) -> None:
    given = {**CONFIG, "input": {"path": "people.csv"}}
    path = tmp_path / "job.json"
    path.write_text(json.dumps(given))
    header = ",".join(given["attributes"])
    lines = [f"n{n},{20 + n % 9},{10000 + n % 3},{'FM'[n % 2]},{'ABC'[n % 3]},t{n}" for n in range(90)]
    (tmp_path / "people.csv").write_text("\n".join([header, *lines, ""]))
    done = call("run", path, "-o", tmp_path / "r", "--set", "attributes.note.role=drop")
    assert done.code == 0, done.err
    assert "note" not in (tmp_path / "r/share/release.csv").read_text().splitlines()[0]
