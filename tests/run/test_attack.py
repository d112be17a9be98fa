"""Attacks by the command, after a run and from Python: the same numbers, in the promised shape."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from anonymizer.adversary.release import entry_beside
from anonymizer.attacks.base import ATTACKS
from anonymizer.cli import attacking
from tests.run.commands import COLUMNS, CONFIG, Job, assert_message, call, csv_bytes, people, read_rows

KEYS = [
    *("attack", "knowledge", "success", "baseline", "low", "high", "records", "ceiling"),
    *("tail", "tail_low", "tail_high", "tail_baseline", "seconds", "details"),
]
ASKED: list[Any] = [
    "homogeneity",
    {"attack": "background", "facts": 2},
    {"attack": "uniqueness", "knowledge": ["age", "sex"]},
    {"attack": "vulnerability", "subsets": "all"},
]


def timeless(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "seconds"} for each in entries]


@pytest.fixture
def attacked(tmp_path: Path) -> Job:
    job = Job(tmp_path)
    job.config["attacks"] = ASKED
    done = job.run()
    assert done.code == 0, done.err
    assert done.out.count("\nAttack ") == 5
    return job


def test_a_run_reports_the_attacks_of_its_config(attacked: Job) -> None:
    entries = attacked.report()["attacks"]
    assert [each["attack"] for each in entries] == [
        "homogeneity",
        "background",
        "uniqueness",
        *["vulnerability"] * 2,
    ]
    assert [list(each) for each in entries] == [KEYS] * 5
    for each in entries:
        assert 0 <= each["baseline"] <= 1
        assert 0 <= each["low"] <= each["success"] <= each["high"] <= 1
        assert each["records"] == attacked.report()["release"]["rows"]


def test_the_numbers_are_those_of_the_written_file(attacked: Job) -> None:
    entries = attacked.report()["attacks"]
    rows = [row[:4] for row in read_rows(attacked.release)]
    illness = Counter((tuple(row[:3]), row[3]) for row in rows)
    sizes = Counter(tuple(row[:3]) for row in rows)
    certain = sum(count for (own, _), count in illness.items() if illness[own, _] == sizes[own])
    few = sum(size for own, size in sizes.items() if sum(each == own for each, _ in illness) <= 3)
    pairs = Counter((row[0], row[2]) for row in rows)
    alone = sum(1 for size in pairs.values() if size == 1)
    best = sum(max(count for (each, _), count in illness.items() if each == own) for own in sizes)
    assert [each["success"] for each in entries] == pytest.approx(
        [each / len(rows) for each in (certain, few, alone, len(sizes), best)], abs=1e-15
    )
    subsets = entries[3]["details"]["subsets"]
    assert len(subsets) == 7
    for each in subsets:
        positions = [COLUMNS[1:4].index(name) for name in each["attributes"]]
        assert each["success"] == len({tuple(row[at] for at in positions) for row in rows}) / len(rows)


def test_the_command_and_python_find_what_the_run_found(attacked: Job) -> None:
    done = call("attack", attacked.release, "-c", attacked.file, "--json")
    assert done.code == 0, done.err
    assert list(done.json) == ["attacks"]
    assert timeless(done.json["attacks"]) == timeless(attacked.report()["attacks"])
    frame = pd.read_csv(attacked.release, dtype=str)
    table = an.attack(frame, None, {**CONFIG, "attacks": ASKED})
    assert list(table.columns) == KEYS
    table = table.astype(object).where(table.notna(), None)
    assert timeless(json.loads(json.dumps(table.to_dict("records")))) == timeless(done.json["attacks"])


def test_without_any_every_attack_that_applies_is_run(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    assert job.report()["attacks"] == []
    done = call("attack", job.release, "-c", job.file, "--json")
    run = {each["attack"] for each in done.json["attacks"]}
    assert {"homogeneity", "background", "skewness", "uniqueness", "vulnerability", "wildcard"} <= run
    assert run <= set(ATTACKS)
    assert "similarity" not in run, "no sensitive attribute has a hierarchy"
    lines = call("attack", job.release, "-c", job.file).out.splitlines()
    assert len(lines) == len(done.json["attacks"])
    assert all(line.partition(": ")[0] in ATTACKS and line.endswith(".") for line in lines)


def test_the_public_report_rounds_and_has_the_details_that_decide_about_claims(attacked: Job) -> None:
    public = json.loads(attacked.public_report.read_text(encoding="utf-8"))["attacks"]
    for each, own in zip(public, attacked.report()["attacks"], strict=True):
        decided = {"base_rate", "beyond_guess"} & set(own["details"])
        assert list(each) == [*KEYS[:-2], *(["details"] if decided else [])]
        assert each["success"] == float(f"{own['success']:.3g}")
        assert each.get("details", {}) == {key: float(f"{own['details'][key]:.3g}") for key in decided}


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("attacks", "words"),
    [
        (["similarity"], ("attacks[0]", "similarity needs a hierarchy of a sensitive attribute")),
        (["homogeny"], ("attacks[0].attack", "homogeneity")),
        ([{"attack": "uniqueness", "knowledge": ["zipp"]}], ("attacks[0].knowledge", "zipp", "zip")),
        ([{"attack": "background", "facts": -1}], ("attacks[0].facts", "-1")),
        ([{"attack": "vulnerability", "subsets": "all", "knowledge": ["age"]}], ("attacks[0]", "exclude")),
        ([{"attack": "vulnerability", "size": 2}], ("attacks[0]", "subsets")),
    ],
)
def test_what_cannot_be_asked_is_refused(attacks: list[Any], words: tuple[str, ...], tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    job.config["attacks"] = attacks
    done = call("attack", job.release, "-c", job.write().file)
    assert done.code == 2
    assert_message(done.err, words)


def test_a_release_without_any_quasi_identifier_is_refused(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    (tmp_path / "other.csv").write_text("height,eyes\n1,blue\n", encoding="utf-8")
    done = call("attack", tmp_path / "other.csv", "-c", job.file)
    assert done.code == 2
    assert_message(done.err, ("other.csv", "no quasi-identifier", "zip"))


def test_weights_are_a_column_of_the_release(tmp_path: Path) -> None:
    job = Job(tmp_path).rows([(*row[:5], "2.5") for row in people(60)])
    job.config["attacks"] = [{"attack": "uniqueness", "weights": "note"}]
    assert job.run().code == 0
    entry = job.report()["attacks"][0]
    assert entry["details"]["population"]["records"] == 2.5 * entry["records"]
    done = call("attack", job.release, "-c", job.file, "--json")
    assert timeless(done.json["attacks"]) == timeless([entry])


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "asked",
    [["--original", "people.csv", "--control", "others.csv"], ["--target", "others.csv"], ["--target", "3"]],
    ids=lambda asked: asked[0] + asked[-1],
)
def test_a_release_is_opened_once(asked: list[str], attacked: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    (attacked.folder / "others.csv").write_bytes(csv_bytes(people(20, seed=2)[:3]))
    opened: list[Path] = []
    open_release = attacking.open_foreign_release

    def counted(path: Path, config: Any = None) -> Any:
        opened.append(path)
        return open_release(path, config)

    monkeypatch.setattr(attacking, "open_foreign_release", counted)
    files = [str(attacked.folder / each) if each.endswith(".csv") else each for each in asked]
    done = call("attack", attacked.release, "-c", attacked.file, *files)
    assert done.code == 0, done.err
    assert opened == [attacked.release]


def test_only_the_report_of_a_file_itself_explains_it(tmp_path: Path) -> None:
    report = {"release": {"sha256": "a" * 64, "numbers": {"age": {"empty": "*"}}}}
    (tmp_path / "report.public.json").write_text(json.dumps(report), encoding="utf-8")
    for digest, known in (("a" * 64, {"age": {"empty": "*"}}), ("b" * 64, {})):
        release: Any = SimpleNamespace(name=str(tmp_path / "release.csv"), sha256=digest)
        assert entry_beside(release, "release", "numbers") == known
