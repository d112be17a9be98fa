"""Targets and keys of attacks: equal values are found in any spelling, and different values are two."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.run.commands import Done, call

CONFIG: dict[str, Any] = {
    "input": {"path": "x.csv", "separator": ";"},
    "attributes": {"code": {"role": "quasi-identifier"}, "dx": {"role": "sensitive"}},
    "constraints": [{"model": "k-anonymity", "k": 1}],
    "attacks": ["definetti"],
}


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def attacked(folder: Path, codes: Sequence[str], target: str, **of_input: Any) -> Done:
    """Attack a release of exact values, where all with the first code have flu, and nobody else."""
    config = CONFIG | {"input": {**CONFIG["input"], **of_input}}
    (folder / "job.yaml").write_text(json.dumps(config), encoding="utf-8")
    lines = [f"{code};{'flu' if code == codes[0] else dx}" for dx in ("cold", "gout") for code in codes * 3]
    table = written(folder / "x.csv", "code;dx", *lines)
    release = written(folder / "r.csv", "code;dx", *lines)
    known = written(folder / "target.csv", "code", target)
    args = ("attack", release, "-c", folder / "job.yaml", "--original", table, "--target", known)
    return call(*args, "--force", "--json")


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("codes", "target", "of_input"),
    [
        (["01", "1", "2"], "01", {}),
        (["01", "1", "2"], " 01", {}),
        (["1", "01", "2"], "1", {}),
        (["1.0", "1", "v2"], "1.0", {}),
        (["12345678901234567", "12345678901234568"], "12345678901234567", {}),
        (["12345678901234567", "12345678901234568"], "12345678901234567.0", {}),
        (["1,5", "2"], "1,50", {"decimal": ","}),
        (["1,5", "2"], " +1,5", {"decimal": ","}),
        (["1.5", "2"], "15e-1", {}),
        (["Köln", "Bonn"], unicodedata.normalize("NFD", " Köln"), {}),
    ],
)
def test_belief_is_about_the_targets_own_value(
    tmp_path: Path, codes: list[str], target: str, of_input: dict[str, Any]
) -> None:
    done = attacked(tmp_path, codes, target, **of_input)
    assert done.code == 0, done.err
    (belief,) = done.json["beliefs"]
    assert (belief["value"], belief["random_worlds"]) == ("flu", 1)


@pytest.mark.parametrize("target", ["1", "01", "12345678901234569"])
def test_another_value_is_in_no_record(tmp_path: Path, target: str) -> None:
    codes = ["001", "7"] if len(target) < 9 else ["12345678901234567", "12345678901234568"]
    done = attacked(tmp_path, codes, target)
    assert done.code == 2
    assert f"no record of {tmp_path / 'x.csv'} has code {target}" in done.err


def test_keys_are_compared_by_value_and_missing_ones_belong_to_nobody(tmp_path: Path) -> None:
    """Row i of one file is row n - i of the other, so pairs in file order would be wrong."""
    config = CONFIG | {
        "input": {"path": "x.csv", "separator": ";", "decimal": ",", "missing": ["", "-9"]},
        "attributes": {
            "id": {"role": "insensitive"},
            "code": {"role": "quasi-identifier"},
            "dx": {"role": "sensitive"},
        },
        "attacks": [{"attack": "linkage", "key": "id"}],
    }
    (tmp_path / "job.yaml").write_text(json.dumps(config), encoding="utf-8")
    rows = [(f"{number},5", f"c{number}") for number in range(1, 7)]
    table = written(
        tmp_path / "x.csv",
        "id;code;dx",
        *(f"{key};{code};flu" for key, code in rows),
        "-9;c8;flu",
        "-9;c9;flu",
    )
    others = [(key.replace(",5", ",50"), code) for key, code in reversed(rows)]
    release = written(
        tmp_path / "r.csv",
        "id;code;dx",
        *(f"{key};{code};flu" for key, code in others),
        ";c8;flu",
        "-9,0;c9;flu",
    )
    args = ("attack", release, "-c", tmp_path / "job.yaml", "--original", table, "--force", "--json")
    done = call(*args)
    assert done.code == 0, done.err
    (found,) = done.json["attacks"]
    assert found["success"] == 1
