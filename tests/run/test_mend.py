"""`run --mend`: what a release shows is mended in its config, which then gives the same release."""

from __future__ import annotations

import html
import json
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
import yaml

from tests.run.commands import Done, call

K: dict[str, Any] = {"model": "k-anonymity", "k": 5}
AGE = {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": {"width": [5, 10, 20, 40]}}}
PEOPLE: dict[str, Any] = {"age": AGE, "sex": "quasi-identifier"}


def people(number: int = 300) -> pd.DataFrame:
    random = Random(7)
    return pd.DataFrame(
        {
            "age": [random.randint(20, 69) for _ in range(number)],
            "sex": [random.choice("fm") for _ in range(number)],
        }
    )


def written(folder: Path, frame: pd.DataFrame, columns: dict[str, Any], **others: Any) -> Path:
    frame.to_csv(folder / "people.csv", index=False)
    config = {
        "input": {"path": "people.csv"},
        "attributes": {**PEOPLE, **columns},
        "constraints": [K],
        "suppression": {"limit": 0.05},
        "algorithm": {"name": "mondrian"},
        "attacks": ["uniqueness"],
        "bound": "none",
        **others,
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def mended(path: Path, *more: str) -> Done:
    return call("run", path, "-o", path.with_name("out"), "--mend", "--json", *more)


def kinds(done: Done) -> list[str]:
    return [each["kind"] for each in done.json["exposure"]["findings"]]


def unique(release: pd.DataFrame, columns: Sequence[str]) -> float:
    """Return the share of rows that are alone with some columns."""
    rows = list(release[list(columns)].astype(str).itertuples(index=False))
    sizes = Counter(rows)
    return sum(sizes[row] == 1 for row in rows) / len(rows)


def released(path: Path) -> pd.DataFrame:
    return pd.read_csv(path.with_name("out") / "share" / "release.csv", dtype=str, keep_default_na=False)


def assert_repeats(path: Path) -> None:
    """The config beside the report gives the same bytes, wherever it is run from."""
    own = path.with_name("out") / "mended.yaml"
    again = call("run", own, "-o", path.with_name("again"))
    assert again.code == 0, again.err
    files = [path.with_name(name) / "share" / "release.csv" for name in ("out", "again")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_column_that_singles_out_becomes_a_quasi_identifier(tmp_path: Path) -> None:
    frame = people().assign(fare=[f"{7 + number * 1.37:.2f}" for number in range(300)])
    path = written(tmp_path, frame, {"fare": "insensitive"})
    before = call("run", path, "-o", tmp_path / "out", "--json")
    assert kinds(before) == ["singled-out", "rare-values"]
    assert unique(released(path), frame.columns) == 1
    done = mended(path, "--overwrite")
    assert done.code == 0, done.err
    assert kinds(done) == []
    assert unique(released(path), frame.columns) == 0
    (entry,) = done.json["exposure"]["mended"]
    assert entry["kind"] == "singled-out"
    assert entry["loss_before"] == before.json["search"]["objective"]
    assert entry["loss_after"] == done.json["search"]["objective"] > entry["loss_before"]
    assert_repeats(path)


def few_are_unique(folder: Path, alone: int) -> Path:
    """Return a job on 300 people of whom some have a club of their own, in groups that are large enough."""
    frame = pd.DataFrame({"age": [20 + number % 5 for number in range(300)], "sex": ["f", "m"] * 150})
    clubs = [f"club {number}" if number < alone else "none" for number in range(300)]
    frame = frame.assign(club=clubs, town=["north", "south", "south"] * 100)
    acknowledged = ["rare-values:club"] if alone else []
    columns = {"club": "insensitive", "town": "insensitive"}
    return written(folder, frame, columns, acknowledge=acknowledged)


@pytest.mark.page
def test_a_few_who_are_unique_are_no_finding_and_have_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = few_are_unique(tmp_path, 6)
    monkeypatch.chdir(tmp_path)
    printed = call("run", path.name, "--quiet").out
    content = json.loads(Path("people-release/report.json").read_text(encoding="utf-8"))["exposure"]
    assert (content["unique"], content["findings"]) == (0.02, [])
    found = call("run", path.name, "-o", "other", "--json", "--set", "exposure.unique=0").json["exposure"]
    assert "mend" not in found
    assert content["mend"]["set"] == found["findings"][0]["set"] != []
    lines = printed.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("Who also knows"))
    command = lines[at + 1].removeprefix("  mend: anonymizer ")
    page = Path("people-release/report.html").read_text(encoding="utf-8")
    assert content["mend"]["remedy"] in html.unescape(page)
    again = call(*shlex.split(command), "--quiet")
    assert again.code == 0, again.err
    assert (
        unique(pd.read_csv("people-release/share/release.csv", dtype=str), ["age", "sex", "club", "town"])
        == 0
    )


def test_nobody_who_is_unique_needs_no_remedy(tmp_path: Path) -> None:
    path = few_are_unique(tmp_path, 0)
    assert "mend" not in call("run", path, "-o", tmp_path / "out", "--json").json["exposure"]
    assert "mend:" not in call("run", path, "-o", tmp_path / "out", "--overwrite").out


def test_nothing_to_mend_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, people(), {})
    plain = call("run", path, "-o", tmp_path / "plain", "--json")
    done = mended(path)
    assert done.json["exposure"]["mended"] == []
    assert "mended" not in plain.json["exposure"]
    files = [tmp_path / name / "share" / "release.csv" for name in ("plain", "out")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert not (tmp_path / "out" / "mended.yaml").exists()


def test_a_column_that_tells_a_secret_becomes_one(tmp_path: Path) -> None:
    """Whoever has a boat survived: its column gets the constraints of the other secret."""
    random = Random(1)
    survived = [random.random() < 0.4 for _ in range(300)]
    boats = [random.choice("ABCD") if each else "" for each in survived]
    frame = people().assign(boat=boats, survived=["yes" if each else "no" for each in survived])
    diverse = {"model": "l-diversity", "l": 2, "attribute": "survived"}
    path = written(
        tmp_path, frame, {"boat": "insensitive", "survived": "sensitive"}, constraints=[K, diverse]
    )
    done = mended(path)
    assert done.code == 0, done.err
    assert kinds(done) == []
    assert done.json["config"]["attributes"]["boat"]["role"] == "sensitive"
    asked = [each["attribute"] for each in done.json["constraints"] if each["model"] == "l-diversity"]
    assert asked == ["survived", "boat"]
    assert_repeats(path)


def test_units_are_counted_that_shared_columns_put_together(tmp_path: Path) -> None:
    random = Random(3)
    incomes = [f"{random.gauss(300, 90):.2f}" for _ in range(100)]
    homes = [number // 3 for number in range(300)]
    frame = people().assign(hid=homes, income=[incomes[home] for home in homes])
    path = written(tmp_path, frame, {"hid": "identifier", "income": "insensitive"})
    done = mended(path)
    assert done.code == 0, done.err
    assert kinds(done) == []
    assert "unit" in [each["kind"] for each in done.json["exposure"]["mended"]]
    assert any(each["parameters"].get("unit") == "hid" for each in done.json["constraints"])
    sizes = Counter(released(path).itertuples(index=False))
    assert min(sizes.values()) >= 5
    assert_repeats(path)


def test_rare_texts_are_merged_and_rare_numbers_grouped(tmp_path: Path) -> None:
    rare = [f"rare {number}" for number in range(10)]
    jobs = ["clerk", "nurse"] * 145 + rare
    wages = [str(1000 + 13 * number) for number in range(300)]
    path = written(tmp_path, people().assign(job=jobs, wage=wages), {"job": "sensitive", "wage": "sensitive"})
    done = mended(path)
    assert done.code == 0, done.err
    assert kinds(done) == []
    assert [each["kind"] for each in done.json["exposure"]["mended"]] == ["rare-values", "rare-values"]
    for name in ("job", "wage"):
        assert released(path)[name].value_counts().min() >= 5
    assert not set(rare) & set(released(path)["job"])
    assert_repeats(path)


def test_a_weight_is_rounded_and_never_dropped(tmp_path: Path) -> None:
    weights = {"North": 512.25, "East": 498.5, "South": 601.75, "West": 455.125}
    random = Random(5)
    regions = [random.choice(list(weights)) for _ in range(300)]
    frame = people().assign(region=regions, weight=[weights[each] for each in regions])

    def columns(up: list[str], down: list[str]) -> dict[str, Any]:
        halves = {"tree": {"*": {"up": up, "down": down}}}
        region = {"role": "quasi-identifier", "hierarchy": halves, "levels": {"min": 1}}
        return {"region": region, "weight": "weight"}

    # Whatever intervals weights are in, they and the half tell one of these regions.
    path = written(tmp_path, frame, columns(["North", "East"], ["South", "West"]))
    assert kinds(done := mended(path)) == ["undone"]
    assert "calibrate" in done.json["exposure"]["findings"][0]["remedy"]
    path = written(tmp_path, frame, columns(["East", "West"], ["North", "South"]))
    done = mended(path, "--overwrite")
    assert done.code == 0, done.err
    assert kinds(done) == []
    assert [each["kind"] for each in done.json["exposure"]["mended"]] == ["undone"]
    own = released(path)["weight"].astype(float)
    assert set(own) <= {width * number for width in (50, 100, 200) for number in range(1, 20)}
    assert own.mean() == pytest.approx(frame["weight"].mean(), rel=0.2)
    assert_repeats(path)


def test_what_no_release_survives_is_taken_back(tmp_path: Path) -> None:
    """Four homes are never five; what else is mended stays."""
    homes = [f"h{number % 4}" for number in range(300)]
    codes = [f"{number // 2}" for number in range(300)]
    frame = people().assign(hid=homes, rent=[400 + 10 * int(each[1]) for each in homes], code=codes)
    columns = {"hid": "identifier", "rent": "insensitive", "code": "insensitive"}
    path = written(tmp_path, frame, columns)
    done = mended(path)
    assert done.code == 0, done.err
    assert kinds(done) == ["unit"]
    entries = done.json["exposure"]["mended"]
    assert [each["kind"] for each in entries if "taken_back" in each] == ["unit"]
    kept = [each for each in entries if "taken_back" not in each]
    assert {each["kind"] for each in kept} == {"singled-out"}
    assert len(done.json["constraints"]) == 1
    assert_repeats(path)


def test_secrets_of_which_nothing_would_be_left_are_left_out(tmp_path: Path) -> None:
    """So few people have each illness that one value for the rare ones would be all."""
    illness = [f"illness {number // 3}" for number in range(300)]
    path = written(tmp_path, people().assign(illness=illness), {"illness": "sensitive"})
    done = mended(path)
    assert kinds(done) == []
    assert "illness" not in released(path)
    assert_repeats(path)


def test_strict_refuses_what_cannot_be_mended(tmp_path: Path) -> None:
    """A constraint needs the column whose values nearly all name few."""
    illness = [f"illness {number // 3}" for number in range(300)]
    path = written(
        tmp_path,
        people().assign(illness=illness),
        {"illness": "sensitive"},
        constraints=[K, {"model": "l-diversity", "l": 2, "attribute": "illness"}],
    )
    refused = mended(path, "--strict")
    assert refused.code == 1
    assert "SATISFIED, BUT" in refused.err
    assert not (tmp_path / "out").exists()
    done = mended(path)
    assert done.code == 0
    assert kinds(done) == ["rare-values"]


def test_an_earlier_mended_config_goes_with_its_release(tmp_path: Path) -> None:
    frame = people().assign(fare=[f"{7 + number * 1.37:.2f}" for number in range(300)])
    path = written(tmp_path, frame, {"fare": "insensitive"}, attacks=[])
    assert mended(path).code == 0
    assert (tmp_path / "out" / "mended.yaml").exists()
    own = call("run", tmp_path / "out" / "mended.yaml", "-o", tmp_path / "out", "--overwrite")
    assert own.code == 2, own.out
    assert call("run", path, "-o", tmp_path / "out", "--overwrite").code == 0
    assert not (tmp_path / "out" / "mended.yaml").exists()


@pytest.mark.parametrize("algorithm", ["mondrian", "lattice"])
def test_an_attacker_that_must_be_beaten_stays_a_constraint(tmp_path: Path, algorithm: str) -> None:
    frame = people().assign(fare=[f"{7 + number % 90 * 1.37:.2f}" for number in range(300)])
    attacked = {"model": "linkage-risk", "max": 0.05, "linkage": "learned"}
    others = {"constraints": [K, attacked], "algorithm": {"name": algorithm}}
    path = written(tmp_path, frame, {"fare": "insensitive"}, **others)
    done = mended(path)
    assert done.code == 0, done.err
    assert kinds(done) == []
    assert [each["kind"] for each in done.json["exposure"]["mended"]] == ["singled-out"]
    measured = {each["model"]: each["measured"] for each in done.json["constraints"]}
    assert measured["k-anonymity"] >= 5
    assert measured["linkage-risk"] <= 0.05
    assert_repeats(path)
