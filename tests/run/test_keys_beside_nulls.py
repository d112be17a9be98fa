"""Keys of persons are numbers also where records lack one, however the missing keys are written and read."""

import json
from pathlib import Path

import duckdb
import pytest

from anonymizer.cli.main import main

RECORDS = (
    "pid,age,dx\n1,20,flu\n1.0,20,cold\n2,20,flu\n,20,flu\n3,30,cold\n3e0,30,flu\n-9,30,cold\n-9.0,30,flu\n"
)


@pytest.mark.quick(3)
@pytest.mark.parametrize("marker", [{}, {"missing": ""}])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_spellings_are_one_person_beside_records_without_a_key(
    marker: dict[str, str], engine: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(RECORDS)
    if suffix == "parquet":
        read = f"read_csv('{tmp_path / 'a.csv'}', all_varchar=true, nullstr='')"
        duckdb.sql(f"COPY (SELECT * FROM {read}) TO '{tmp_path / 'a.parquet'}'")
    config = {
        "input": {"path": f"a.{suffix}", "person": "pid", "missing": ["", "-9"]},
        "attributes": {
            "pid": {"role": "identifier"},
            "age": {"role": "quasi-identifier"},
            "dx": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 3}],
        "engine": {"name": engine},
        "output": marker,
    }
    (tmp_path / "c.json").write_text(json.dumps(config))

    assert main(["run", str(tmp_path / "c.json"), "-q", "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    # 1, 2, 3 and three records without a key, each of which counts as a person.
    assert report["units"]["person"]["units"] == 6
    assert report["units"]["person"]["records_without"] == 3
    assert report["recoding"]["levels"] == {"age": 0}
    [measured] = [each["measured"] for each in report["constraints"]]
    assert measured == 3
