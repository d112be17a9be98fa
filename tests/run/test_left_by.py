"""Labels for all but the most frequent values: README.txt lists what they leave out, and nothing hidden."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import anonymizer as an
from anonymizer.report.legend import WIDTH, legend
from tests.run.commands import call

TOWNS = {"Ulm": 60, "Bonn": 50, "Köln, Ost": 40, "Aalen": 24, **{f"Dorf {number}": 4 for number in range(12)}}
K = 10
FREQUENT = {"hierarchy": {"frequency": {"rare": 20}}}


def people() -> pd.DataFrame:
    towns = [town for town, number in TOWNS.items() for _ in range(number)]
    # Those of Aalen are in classes that are too small.
    sexes = [f"x{place % 4}" if town == "Aalen" else "fm"[place % 2] for place, town in enumerate(towns)]
    return pd.DataFrame({"sex": sexes, "town": towns, "job": towns[::-1], "pay": towns[::-1]})


def job(folder: Path, frame: pd.DataFrame, **others: Any) -> Path:
    frame.to_csv(folder / "people.csv", index=False)
    config = {
        "input": {"path": "people.csv"},
        "attributes": {
            "sex": "quasi-identifier",
            "town": {"role": "quasi-identifier", **FREQUENT},
            "job": {"role": "sensitive", "labels": "range", **FREQUENT},
            "pay": {"role": "insensitive", "labels": "range", **FREQUENT},
        },
        "constraints": [{"model": "k-anonymity", "k": K}],
        "suppression": {"limit": 0.2},
        "output": {"path": "release.csv"},
        **others,
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return path


def said(readme: str) -> dict[tuple[str, str], list[str]]:
    """Return the values that a legend lists, by column and label."""
    flat = re.sub(r"\n {6}", " ", readme)
    found = re.findall(
        r"^  (all but .*) \(in (\w+)\): another value than (.*), unknown which$", flat, re.MULTILINE
    )
    return {(column, label): re.findall(r'"([^"]*)"', values) for label, column, values in found}


LEVELS = {"levels": {"min": 1, "max": 1}}


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "others",
    [
        {"algorithm": {"name": "lattice"}},
        {"algorithm": {"name": "local"}},
        {"algorithm": {"name": "mondrian"}},
        {"algorithm": {"name": "lattice"}, "engine": {"name": "duckdb"}},
        {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.2, "keep_rows": True}},
        {"algorithm": {"name": "lattice"}, "input": {"path": "people.csv", "person": "id"}},
    ],
    ids=["levels", "local", "mondrian", "duckdb", "kept", "persons"],
)
def test_the_legend_lists_what_a_label_leaves_out(tmp_path: Path, others: dict[str, Any]) -> None:
    frame, attributes = people(), {}
    if "person" in others.get("input", {}):
        frame["id"] = np.arange(len(frame))
        attributes = {"id": "identifier"}
    path = job(tmp_path, frame, **others)
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["attributes"] |= attributes
    config["attributes"]["town"] |= LEVELS
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    done = call("run", path, "-o", tmp_path / "out", "--quiet")
    assert done.code == 0, done.err
    share = tmp_path / "out" / "share"
    readme = (share / "README.txt").read_text(encoding="utf-8")
    assert readme == legend(json.loads((share / "report.public.json").read_text(encoding="utf-8")))
    assert max(map(len, readme.splitlines())) <= WIDTH
    released = pd.read_csv(share / "release.csv", dtype=str, keep_default_na=False)
    found = said(readme)
    for name in ("town", "job", "pay"):
        counts = Counter(released[name])
        (label,) = (text for text in counts if text.startswith("all but"))
        own = [text for text, number in counts.items() if text not in (label, "*") and number >= K]
        assert found[name, label] == sorted(own), name
        number = int(re.findall(r"\d+", label)[0])
        assert sorted(TOWNS, key=lambda town: -TOWNS[town])[:number] == ["Ulm", "Bonn", "Köln, Ost", "Aalen"]
        listed = (own != [] and len(own) == number) or f"{number - len(own)} other" in " ".join(
            readme.split()
        )
        assert listed, name
        assert not [text for text in TOWNS if counts[text] == 0 and text in found[name, label]]
    by_recipient = "person" not in others.get("input", {})
    assert call("audit", share / "release.csv").code == (0 if by_recipient else 1)


@pytest.mark.parametrize("algorithm", ["local", "mondrian"])
def test_a_rare_value_published_by_itself_elsewhere_is_not_left_out(tmp_path: Path, algorithm: str) -> None:
    frame = people()[["sex", "town"]]
    frame = frame[frame["sex"].isin(["f", "m"])]
    here = pd.DataFrame({"sex": ["m"] * 14 + ["f"] * 3, "town": ["Weiler"] * 17})
    path = job(tmp_path, pd.concat([frame, here]), algorithm={"name": algorithm})
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["attributes"] = {name: config["attributes"][name] for name in ("sex", "town")}
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    done = call("run", path, "-o", tmp_path / "out", "--quiet", "--set", "suppression.limit=0")
    assert done.code == 0, done.err
    share = tmp_path / "out" / "share"
    released = Counter(pd.read_csv(share / "release.csv", dtype=str)["town"])
    found = said((share / "README.txt").read_text(encoding="utf-8"))
    assert released["Weiler"] >= K
    assert found["town", "all but the 3 most frequent"] == ["Bonn", "Köln, Ost", "Ulm"]


def test_a_town_that_is_suppressed_is_counted_and_not_named(tmp_path: Path) -> None:
    path = job(tmp_path, people().drop(columns=["job", "pay"]))
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["attributes"] = {name: config["attributes"][name] for name in ("sex", "town")}
    config["attributes"]["sex"] = {"role": "quasi-identifier", "levels": {"max": 0}}
    config["attributes"]["town"] |= LEVELS
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    done = call("run", path, "-o", tmp_path / "out", "--quiet")
    assert done.code == 0, done.err
    texts = [each.read_text(encoding="utf-8") for each in (tmp_path / "out" / "share").iterdir()]
    assert not any("Aalen" in text for text in texts)
    readme = " ".join((tmp_path / "out" / "share" / "README.txt").read_text(encoding="utf-8").split())
    assert 'another value than "Bonn", "Köln, Ost", "Ulm" and 1 other not listed here' in readme


def test_saved_from_python_it_is_the_same(tmp_path: Path) -> None:
    config = yaml.safe_load(job(tmp_path, people()).read_text(encoding="utf-8"))
    config["attributes"]["town"] |= LEVELS
    del config["input"], config["output"]
    an.anonymize(people(), config).save(tmp_path / "saved")
    found = said((tmp_path / "saved" / "share" / "README.txt").read_text(encoding="utf-8"))
    assert {name for name, _ in found} == {"town", "job", "pay"}


def test_without_such_labels_nothing_is_said(tmp_path: Path) -> None:
    path = job(tmp_path, people())
    done = call("run", path, "-o", tmp_path / "out", "--quiet", "--set", "attributes.town=quasi-identifier")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert "town" not in report["release"]["left_by"]


def test_values_of_fewer_records_than_k_are_not_listed(tmp_path: Path) -> None:
    pays = ["Ulm"] * 120 + ["Bonn"] * 60 + ["Rar"] * (K - 1) + [f"Dorf {number}" for number in range(11)]
    frame = pd.DataFrame({"sex": ["f", "m"] * 100, "pay": pays})
    pay = {"role": "insensitive", "labels": "range", "hierarchy": {"frequency": {"rare": 5}}}
    config = job(tmp_path, frame, attributes={"sex": "quasi-identifier", "pay": pay})
    done = call("run", config, "-q")
    assert done.code == 0, done.err
    readme = (tmp_path / "people-release" / "share" / "README.txt").read_text(encoding="utf-8")
    listed = [value for values in said(readme).values() for value in values]
    assert {"Ulm", "Bonn"} <= set(listed)
    assert "Rar" not in listed
