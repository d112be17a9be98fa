"""Scenes read from files: sampling weights, and a second release."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from anonymizer.adversary.files import adversary_from_files
from anonymizer.adversary.release import read_release
from anonymizer.config.load import load_config
from anonymizer.errors import InputError
from anonymizer.job.source import open_as, open_release
from anonymizer.plan.plan import plan_of
from tests.attacks.published import one

CONFIG = {
    "attributes": {
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": {"from": "right"}}},
        "sex": {"role": "quasi-identifier"},
        "ill": {"role": "sensitive"},
        "w": {"role": "insensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 1}],
}


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["zip,sex,ill,w", *lines]) + "\n", encoding="utf-8")
    return path


def test_weights_are_added_up(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", "10,m,flu,2.5", "10,m,flu,4", "10,m,cold,1", "11,f,flu,8")
    with open_release(path) as relation:
        table = read_release(plan_of(load_config(CONFIG)).columns, relation, ["w"])
    assert sorted(zip(table.counts.tolist(), table.weights["w"].tolist(), strict=True)) == [
        (1, 1.0),
        (1, 8.0),
        (2, 6.5),
    ]
    expected = one("uniqueness", table, weights="w").details["population"]
    assert expected["records"] == 15.5
    assert expected["expected_uniques"]["negative-binomial"] == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    ("line", "name", "message"),
    [
        (
            "10,m,flu,0",
            "w",
            r"r\.csv: column 'w' lacks a positive number in 2 of 2 records \(2 zero\), first in record 1: ",
        ),
        (
            "10,m,flu,much",
            "w",
            r"\(2 not a number\), first in record 1: 'much'; give these records a positive",
        ),
        ("10,m,flu,", "w", r"in 2 of 2 records \(2 missing\), first in record 1; give"),
        ('10,m,flu,"2,5"', "w", "'2,5'; write it with a decimal point, or set input.decimal: ',' if"),
        ("10,m,flu,3", "W", "weights column 'W' does not exist"),
    ],
)
def test_bad_weights_are_refused(tmp_path: Path, line: str, name: str, message: str) -> None:
    with (
        open_release(written(tmp_path / "r.csv", line, line)) as relation,
        pytest.raises(InputError, match=message),
    ):
        read_release(plan_of(load_config(CONFIG)).columns, relation, [name])


def test_second_release(tmp_path: Path) -> None:
    """By zip two values, by sex two values, and everybody is given away by both."""
    lines = ["10,m,flu,1", "10,f,cold,1", "21,m,cough,1", "21,f,asthma,1"]
    original = written(tmp_path / "o.csv", *lines)
    first = written(tmp_path / "a.csv", "10,*,flu,1", "10,*,cold,1", "21,*,cough,1", "21,*,asthma,1")
    second = written(tmp_path / "b.csv", "*,m,flu,1", "*,f,cold,1", "*,m,cough,1", "*,f,asthma,1")
    config = load_config(CONFIG)
    with open_release(first) as one_, open_release(second) as other, open_as(config, original) as own:
        scene = adversary_from_files(plan_of(config), one_, own, other)
    found = one("intersection", scene)
    assert (found.success, found.baseline, found.records) == (Fraction(1), Fraction(0), 4)
