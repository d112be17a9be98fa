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
