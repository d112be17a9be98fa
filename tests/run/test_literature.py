"""Every small table of the literature by command, with the numbers that its source states."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.attacks.literature import TABLES, literature
from tests.run.commands import call


def files(folder: Path, table: str, attacks: list[Any]) -> tuple[Path, Path, dict[str, Any]]:
    """Write a table and a config of it; return their paths and the known answers."""
    names, rows, answers = literature(table)
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    roles = {name: {"role": "quasi-identifier", "type": "text"} for name in names[:-1]}
    config = {
        "attributes": {**roles, names[-1]: {"role": "sensitive", "type": "text"}},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": attacks,
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(config))
    return folder / "table.csv", folder / "job.yaml", answers["computed"]


@pytest.mark.parametrize("table", TABLES)
def test_check_and_attack_find_the_known_answers(tmp_path: Path, table: str) -> None:
    data, config, known = files(tmp_path, table, ["homogeneity", "vulnerability", "background"])
    done = call("check", data, "-c", config, "--json")
    assert done.code in (0, 1), done.err
    measures = {each["model"]: each["measured"] for each in done.json["measures"]}
    assert measures["k-anonymity"] == known["k"]
    assert measures["l-diversity"] == known["distinct_l"]
    assert measures["entropy-l-diversity"] == pytest.approx(float(known["entropy_l"]))
    assert measures["alpha-k-anonymity"][1] == pytest.approx(
        float(Fraction(str(known["max_confidence_alpha"])))
    )
    assert measures["t-closeness"] == pytest.approx(float(Fraction(str(known["t_equal_distance"]))))
    attacked = call("attack", data, "-c", config, "--json")
    assert attacked.code == 0, attacked.err
    by_aim = {
        each["knowledge"].get("target", each["attack"]): each["success"] for each in attacked.json["attacks"]
    }
    for aim, key in (
        ("re-identification", "reidentification_posterior"),
        ("attribute-inference", "attribute_inference_posterior"),
    ):
        if key in known:
            assert by_aim[aim] == pytest.approx(float(Fraction(str(known[key]))))
