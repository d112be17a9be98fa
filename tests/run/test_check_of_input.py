"""`check` of a config's own input measures what its run does, and warns of what it found there."""

import json
from pathlib import Path

import pytest

from anonymizer.cli.main import main

RECORDS = "age,dx\n15,flu\n15,cold\n?,flu\n,cold\n-9,flu\n10,cold\n10.0,flu\n"


@pytest.mark.parametrize("labels", ["range", "midpoint", "low-high"])
def test_codes_of_missing_values_are_one_value_whatever_the_labels(
    labels: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(RECORDS)
    age = {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5]}}, "labels": labels}
    config = {
        "input": {"path": "a.csv", "missing": ["", "?", "-9"]},
        "attributes": {"age": age, "dx": {"role": "sensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "c.json").write_text(json.dumps(config))

    code = main(["check", str(tmp_path / "a.csv"), "-c", str(tmp_path / "c.json")])

    shown = capsys.readouterr()
    assert code == 0
    assert "7 records in 3 equivalence classes" in shown.out
    assert "no column has" not in shown.out + shown.err


def test_numbers_of_the_input_are_not_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("age;dx\n10,25;flu\n 10,25;cold\n7,5;flu\n7,50;cold\n")
    (tmp_path / "people.csv").write_text("age\n10,25\n10,250\n10,25\n7,5\n7,5\n7,5\n")
    age = {
        "role": "quasi-identifier",
        "type": "number",
        "hierarchy": {"intervals": {"width": [5]}},
        "labels": "midpoint",
    }
    config = {
        "input": {"path": "a.csv", "separator": ";", "decimal": ",", "population": "people.csv"},
        "attributes": {"age": age, "dx": {"role": "sensitive"}},
        "constraints": [{"model": "k-map", "k": 3}],
    }
    (tmp_path / "c.json").write_text(json.dumps(config))

    assert main(["check", str(tmp_path / "a.csv"), "-c", str(tmp_path / "c.json")]) == 0

    assert "holds  k-map k=3: measured 3" in capsys.readouterr().out
