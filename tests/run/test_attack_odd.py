"""``anonymizer attack`` on odd files: a defined result for every attack, or one message that helps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from tests.helpers.messages import exchange
from tests.run.commands import Done, assert_message, call

HEAD = ("a", "b", "s")
PAIR = [HEAD, ("1", "2", "x"), ("3", "4", "y")]
Rows = Sequence[Sequence[str]]


def attacked(
    folder: Path,
    release: Rows,
    original: Rows,
    second: Rows | None = None,
    attacks: Sequence[Any] = (),
    options: Sequence[str] = ("--json",),
) -> Done:
    """Write the files and attack."""
    quasi = {"role": "quasi-identifier"}
    config = {
        "input": {"path": "original.csv"},
        "attributes": {"a": quasi, "b": quasi, "s": {"role": "sensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": list(attacks),
    }
    paths = {}
    for name, rows in {"release": release, "original": original, "second": second}.items():
        paths[name] = folder / f"{name}.csv"
        text = "".join(",".join(row) + "\n" for row in rows or [])
        paths[name].write_text(text, encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    more = () if second is None else ("--second", paths["second"])
    own = ("attack", paths["release"], "-c", folder / "config.json", "--original", paths["original"])
    return call(*own, *more, *options)


@pytest.mark.parametrize(
    ("release", "original"),
    [
        pytest.param([HEAD, ("1", "2", "x")], [HEAD, ("1", "2", "x")], id="one record"),
        pytest.param([HEAD] + [("1", "1", "x")] * 5, [HEAD] + [("1", "1", "x")] * 5, id="constant"),
        pytest.param(
            [HEAD, ("<missing>", "2", "x"), ("<missing>", "2", "<missing>"), ("3", "<missing>", "x")],
            [HEAD, ("", "2", "x"), ("", "2", ""), ("3", "", "x")],
            id="missing values",
        ),
    ],
)
def test_every_attack_has_a_number(release: Rows, original: Rows, tmp_path: Path) -> None:
    done = attacked(tmp_path, release, original, release)
    assert done.code == 0, done.err
    entries = done.json["attacks"]
    assert {each["attack"] for each in entries} >= {"linkage", "interval", "intersection", "vulnerability"}
    for each in entries:
        assert 0 <= each["low"] <= each["success"] <= each["high"] <= 1
        assert 0 <= each["baseline"] <= 1


def test_constant_files_give_the_baseline(tmp_path: Path) -> None:
    rows = [HEAD] + [("1", "1", "x")] * 5
    for each in attacked(tmp_path, rows, rows, rows).json["attacks"]:
        assert each["success"] == each["baseline"]


def test_columns_of_one_file_only_are_named(tmp_path: Path) -> None:
    release = [("a", "z", "s"), ("1", "9", "x"), ("3", "9", "y")]
    original = [("a", "b", "q", "s"), ("1", "2", "0", "x"), ("3", "2", "0", "y")]
    done = attacked(tmp_path, release, original)
    (found,) = (each for each in done.json["attacks"] if each["attack"] == "linkage")
    assert found["knowledge"]["attributes"] == ["a"]
    assert found["details"]["left_out"] == {"release": ["z"], "original": ["b", "q"]}
    assert found["success"] == 1


@pytest.mark.parametrize(
    ("release", "original", "second"),
    [
        ([("c", "s"), ("1", "x")], PAIR, None),
        (PAIR, [("c", "s"), ("1", "x")], None),
        ([HEAD], PAIR, None),
        (PAIR, [HEAD], None),
        (PAIR, PAIR, [HEAD]),
    ],
    ids=["another release", "another original", "empty release", "empty original", "empty second"],
)
def test_files_that_cannot_be_compared_are_refused(
    release: Rows, original: Rows, second: Rows | None, tmp_path: Path, message: SnapshotAssertion
) -> None:
    done = attacked(tmp_path, release, original, second)
    assert done.code == 2
    given = f"release {release}, original {original}, second {second}"
    assert exchange(given, done.err.strip(), tmp_path) == message


def test_an_original_of_other_people_is_told(tmp_path: Path) -> None:
    """Nothing that needs to know who became which is run, and each says so; who asks for it is refused."""
    others = [HEAD, ("7", "8", "x"), ("9", "9", "y")]
    done = attacked(tmp_path, PAIR, others, options=["--json", "--force"])
    assert done.code == 0
    assert {"linkage", "interval"}.isdisjoint(each["attack"] for each in done.json["attacks"])
    said = done.err.splitlines()
    assert all(line.startswith("not run: ") for line in said)
    (line,) = (line for line in said if line.startswith("not run: linkage"))
    assert "no released record covers the values of an original one" in line
    refused = attacked(tmp_path, PAIR, others, attacks=["linkage"], options=["--force"])
    assert refused.code == 2
    assert_message(refused.err, ("attacks[0]", "linkage", "aligned: true"))


def test_quiet_says_nothing(tmp_path: Path) -> None:
    attacked(tmp_path, PAIR, PAIR)
    done = call("attack", tmp_path / "release.csv", "-c", tmp_path / "config.json", "--quiet")
    assert (done.code, done.err) == (0, "")


def numbered(values: Sequence[int]) -> Rows:
    return [HEAD, *((str(value), "2", "x") for value in values)]


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("held", "code", "said"),
    [
        (range(10), 0, "10 of 10 records"),
        (range(5), 0, "5 of 10 records"),
        (range(4), 2, "only 4 of 10 records"),
        (range(1), 2, "only 1 of 10 records"),
        (range(50, 60), 2, "only 0 of 10 records"),
    ],
)
def test_how_many_records_can_stem_from_the_original_is_said_first(
    held: range, code: int, said: str, tmp_path: Path
) -> None:
    release, original = numbered(range(10)), numbered(held)
    done = attacked(tmp_path, release, original, options=[])
    assert done.code == code
    if code:
        assert_message(done.err, ("original.csv", said, "release.csv", "--force"))
        assert done.out == ""
    forced = attacked(tmp_path, release, original, options=["--force"])
    assert forced.code == 0, forced.err
    first, *others = forced.out.splitlines()
    assert first.startswith(said.removeprefix("only "))
    assert "original.csv" in first
    assert all(line.endswith(".") for line in others)
    assert others
    if not code:
        assert done.out == forced.out
    told = attacked(tmp_path, release, original, options=["--force", "--json"]).json
    assert told["warnings"] == [first]


def test_one_original_is_the_origin_of_one_record_only(tmp_path: Path) -> None:
    done = attacked(tmp_path, numbered([1] * 10), numbered([1, 1]))
    assert done.code == 2
    assert_message(done.err, ("only 2 of 10 records",))


def test_a_quasi_identifier_that_the_original_lacks_is_named(tmp_path: Path) -> None:
    original = [("a", "s"), *((row[0], row[2]) for row in PAIR[1:])]
    done = attacked(tmp_path, PAIR, original)
    assert done.code == 2
    assert_message(done.err, ("original.csv", "lacks the quasi-identifier column 'b' of", "--force"))
    forced = attacked(tmp_path, PAIR, original, options=["--json", "--force"])
    assert forced.code == 0
    (found,) = (each for each in forced.json["attacks"] if each["attack"] == "linkage")
    assert found["knowledge"]["attributes"] == ["a"]


def test_masked_numbers_in_the_order_of_the_original_need_no_force(tmp_path: Path) -> None:
    masked = [HEAD, *((str(value + 0.5), "2.25", "x") for value in range(10))]
    refused = attacked(tmp_path, masked, numbered(range(10)))
    assert refused.code == 2
    assert_message(refused.err, ("only 0 of 10", "aligned: true"))
    attacks = [{"attack": "linkage", "aligned": True}]
    done = attacked(tmp_path, masked, numbered(range(10)), attacks=attacks, options=[])
    assert done.code == 0, done.err
    assert done.out.startswith("row i of ")
    assert "(aligned: true)" in done.out.splitlines()[0]


def test_python_says_it_too(tmp_path: Path) -> None:
    release, half, few = (
        pd.DataFrame(numbered(values)[1:], columns=list(HEAD)) for values in (range(10), range(5), range(4))
    )
    attacked(tmp_path, numbered(range(10)), numbered(range(10)))
    config = tmp_path / "config.json"
    (warning,) = an.attack(release, half, config).attrs["warnings"]
    assert warning.startswith("5 of 10 records")
    with pytest.raises(an.InputError, match=r"only 4 of 10 records.*force=True"):
        an.attack(release, few, config)
    (warning,) = an.attack(release, few, config, force=True).attrs["warnings"]
    assert warning.startswith("4 of 10 records")
    assert "warnings" not in an.attack(release, None, config).attrs
