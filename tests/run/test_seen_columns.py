"""The table of what the recipient sees, of every kind of run, against the files, counted slowly."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
import yaml

import anonymizer as an
from anonymizer.cli.table import column_lines, text_width
from anonymizer.exposure.finding import Exposure, Finding, Kind
from anonymizer.model.table import Role
from anonymizer.report.columns import (
    HEAD,
    MOST_ROWS,
    UNCHANGED,
    SeenColumn,
    column_entries,
    columns_grid,
    columns_legend,
    share_of,
)
from tests.run.commands import Done, call
from tests.run.spark_runs import config as spark_config
from tests.run.spark_runs import people as spark_people
from tests.run.spark_runs import ran as ran_by_spark
from tests.spark import engine, running

K = 4
AGES = {"intervals": {"width": [5, 10, 40]}}
ATTRIBUTES: dict[str, Any] = {
    "name": {"role": "drop"},
    "row": {"role": "insensitive"},
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGES},
    "town": {"role": "quasi-identifier"},
    "illness": {"role": "sensitive"},
    "pay": {
        "role": "insensitive",
        "type": "integer",
        "hierarchy": {"intervals": {"width": [100, 1000]}},
        "labels": "range",
    },
}
COMMON: dict[str, Any] = {
    "constraints": [{"model": "k-anonymity", "k": K}],
    "suppression": {"limit": 0.1},
    "attacks": ["uniqueness"],
    "bound": "none",
    "output": {"path": "release.csv"},
}


def people(records: int = 240, first: int = 0) -> pd.DataFrame:
    random = Random(first)
    return pd.DataFrame(
        {
            "name": [f"person {first + number}" for number in range(records)],
            "row": [str(first + number) for number in range(records)],
            "age": [str(random.randint(20, 59)) for _ in range(records)],
            "town": [random.choice(["Ulm", "Ulm", "Bonn", "Köln"]) for _ in range(records)],
            "illness": [random.choice(["flu", "flu", "burn"]) for _ in range(records)],
            "pay": [str(random.randint(1000, 1999)) for _ in range(records)],
        }
    )


KINDS: dict[str, dict[str, Any]] = {
    "levels": {"algorithm": {"name": "lattice"}},
    "kept rows": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.3, "keep_rows": True}},
    "local": {"algorithm": {"name": "local"}},
    "nodes": {"algorithm": {"name": "mondrian"}},
    "ranges": {"algorithm": {"name": "mondrian", "labels": "interval"}},
    "cells": {
        "algorithm": {"name": "lattice"},
        "suppression": {"limit": 0.3, "method": "cells", "keep_rows": True},
    },
    "means": {"algorithm": {"name": "microaggregation"}},
    "anatomy": {"algorithm": {"name": "anatomy"}, "constraints": [{"model": "l-diversity", "l": 2}]},
    "persons": {"input": {"path": "people.csv", "person": "name"}},
    "out of core": {"engine": {"name": "duckdb", "options": {"combinations": 100}}},
    "midpoints": {"algorithm": {"name": "lattice"}, "numbers": "midpoint"},
    "two ends": {"algorithm": {"name": "lattice"}, "numbers": "low-high"},
}


def job(folder: Path, frame: pd.DataFrame, **others: Any) -> Path:
    """Write a job of one of the kinds, and return its config."""
    frame.to_csv(folder / "people.csv", index=False)
    attributes = {name: dict(own) for name, own in ATTRIBUTES.items()}
    if others.get("algorithm", {}).get("name") == "microaggregation":
        attributes["town"] = {"role": "insensitive"}
        attributes["age"] = {"role": "quasi-identifier", "type": "integer"}
    if labels := others.pop("numbers", None):
        attributes["age"]["labels"] = labels
    if others.get("engine") is not None:
        # This engine counts what is not in groups.
        del attributes["pay"]["labels"], attributes["pay"]["hierarchy"], attributes["pay"]["type"]
    config = {"input": {"path": "people.csv"}, "attributes": attributes, **COMMON, **others}
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return path


def run(path: Path, *more: str) -> dict[str, Any]:
    done = call("run", path, "-o", path.with_name("out"), "--json", "--quiet", *more)
    assert done.code == 0, done.err
    return done.json


def table_of(report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["column"]: each for each in report["columns"]}


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.quick(4)
@pytest.mark.parametrize("kind", KINDS)
def test_the_table_says_what_the_files_show(tmp_path: Path, kind: str) -> None:
    given = people()
    if kind == "persons":
        given["name"] = [f"person {number // 2}" for number in range(len(given))]
    report = run(job(tmp_path, given, **KINDS[kind]))
    share = tmp_path / "out" / "share"
    released = read(share / ("release.qit.csv" if kind == "anatomy" else "release.csv"))
    table = table_of(report)
    assert list(table) == list(given.columns)
    assert [table["name"][key] for key in HEAD[2:5]] == ["left out", "", ""]
    linked = released.merge(given, on="row", suffixes=("", " before"))
    assert len(linked) == len(released)
    most_of_one = given["name"].value_counts().max() if kind == "persons" else 1
    for name in released.columns.intersection(list(table)):
        own = table[name]
        counts = Counter(released[name])
        stars = counts.pop("*", 0)
        if stars:
            assert own["treatment"].endswith(f", * in {share_of(stars, len(released), K)}")
        else:
            assert "*" not in own["treatment"]
        _check_example(own, counts, stars, K * most_of_one)
        if own["changed"] is not None:
            changed = (linked[name] != linked[f"{name} before"]).sum() if f"{name} before" in linked else 0
            assert own["changed"] == share_of(int(changed), len(released), K)
    unknown = {name for name, own in table.items() if own["changed"] is None}
    expected = {"out of core": set(), "anatomy": {"illness", "pay"}}.get(kind, {"pay"})
    assert unknown >= expected
    assert unknown <= expected | ({"age"} if kind == "out of core" else set())


def _check_example(own: Mapping[str, Any], counts: Counter[str], stars: int, least: int) -> None:
    """Check that an example is a most frequent value, and no rare one."""
    most = max(counts.values(), default=0)
    if own["example"] is None:
        assert most < least
    elif counts:
        assert counts[own["example"]] == most >= least
    else:
        assert (own["example"], stars >= least) == ("*", True)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("kind", "age", "illness"),
    [
        ("levels", "generalized to level ", UNCHANGED),
        ("local", "generalized to level", UNCHANGED),
        ("ranges", "generalized to ranges or sets of values", UNCHANGED),
        ("means", "mean of similar records", UNCHANGED),
        ("anatomy", UNCHANGED, "shuffled within its group"),
        ("midpoints", "generalized to level ", UNCHANGED),
    ],
)
def test_treatments_are_named(tmp_path: Path, kind: str, age: str, illness: str) -> None:
    table = table_of(run(job(tmp_path, people(), **KINDS[kind])))
    assert table["age"]["treatment"].startswith(age)
    assert table["illness"]["treatment"] == illness
    assert table["pay"]["treatment"] == "released in groups"
    assert ("midpoints" in table["age"]["treatment"]) is (kind == "midpoints")


def test_numbers_are_shown_by_their_interval(tmp_path: Path) -> None:
    own = table_of(run(job(tmp_path, people(), **KINDS["two ends"])))["age"]
    released = read(tmp_path / "out" / "share" / "release.csv")
    pairs = Counter(zip(released["age_low"], released["age_high"], strict=True))
    assert own["treatment"].endswith(", as lower and upper end")
    assert own["example"] in {f"[{low}, {high}]" for (low, high), count in pairs.items() if count >= K}


def test_a_weight_is_rounded_and_a_pseudonym_has_no_example(tmp_path: Path) -> None:
    frame = people().assign(weight=[f"{1 + number % 7}.5" for number in range(240)])
    path = job(
        tmp_path, frame, input={"path": "people.csv", "person": {"column": "name", "release_as": "pseudonym"}}
    )
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["attributes"]["weight"] = {
        "role": "weight",
        "hierarchy": {"intervals": {"width": [2, 4]}},
        "labels": "midpoint",
    }
    config["attributes"]["name"] = {"role": "identifier"}
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    table = table_of(run(path))
    assert table["weight"]["treatment"] == "rounded to the middle of a group"
    assert (table["name"]["treatment"], table["name"]["example"]) == ("pseudonym", None)


def test_an_append_has_examples_of_the_whole_release_and_no_share_changed(tmp_path: Path) -> None:
    attributes = {name: own for name, own in ATTRIBUTES.items() if name != "pay"}
    first, second = tmp_path / "first", tmp_path / "second"
    path = job(tmp_path, people().drop(columns="pay"), attributes=attributes)
    assert call("run", path, "-o", first, "--quiet").code == 0
    people(80, first=240).drop(columns="pay").to_csv(tmp_path / "people.csv", index=False)
    done = call("run", path, "-o", second, "-q", "--json", "--set", "apply={report: first/report.json}")
    assert done.code == 0, done.err
    table = table_of(done.json)
    assert {name for name, own in table.items() if own["changed"] is None} == {"age", "town"}
    assert table["age"]["treatment"].startswith("generalized")
    counts = Counter(read(second / "share" / "release.csv")["age"])
    assert counts[table["age"]["example"]] == max(counts.values())
    assert any("earlier release" in sentence for sentence in columns_legend(done.json))


@pytest.mark.spark
def test_spark_has_the_same_table_but_for_what_it_does_not_count(tmp_path: Path) -> None:
    with running():
        data = spark_people(tmp_path / "people.parquet", 200)
        by_spark = table_of(ran_by_spark(spark_config(data, engine()), tmp_path / "spark").to_dict())
    in_memory = table_of(ran_by_spark(spark_config(data), tmp_path / "memory").to_dict())
    for name, own in by_spark.items():
        for key in HEAD[:-1]:
            assert own[key] in (in_memory[name][key], None)
        assert own["finding"] is None
    assert by_spark["age"]["example"] == in_memory["age"]["example"]


def test_python_has_the_rows_of_the_report() -> None:
    frame = people().drop(columns=["name", "pay", "row"])
    result = an.anonymize(frame, qi=["age", "town"], sensitive=["illness"], k=K)
    rows = result.columns
    assert list(rows.columns) == list(HEAD)
    assert rows["column"].tolist() == list(frame.columns)
    assert rows["treatment"].tolist() == [each["treatment"] for each in result.report["columns"]]
    assert "What the recipient sees of each column" in result.to_html()


def test_the_public_report_has_no_table(tmp_path: Path) -> None:
    run(job(tmp_path, people()))
    for path in (tmp_path / "out" / "share").iterdir():
        assert "generalized to level" not in path.read_text(encoding="utf-8")
    assert "columns" not in json.loads((tmp_path / "out" / "share" / "report.public.json").read_bytes())


def gifts(folder: Path, **others: Any) -> Path:
    """Write a job whose release shows too much: one column tells a sensitive one, one has rare values."""
    random = Random(3)
    rows = [(random.choice("fm"), random.choice("ab"), str(number)) for number in range(60)]
    frame = pd.DataFrame(rows, columns=["sex", "illness", "long_name_" * 4])
    frame["ward"] = frame["illness"].map({"a": "A", "b": "B"})
    frame.to_csv(folder / "people.csv", index=False)
    config = {
        "input": {"path": "people.csv"},
        "attributes": {
            "sex": "quasi-identifier",
            "illness": "sensitive",
            "long_name_" * 4: "insensitive",
            "ward": "insensitive",
        },
        **COMMON,
        **others,
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def lines_of(done: Done) -> list[str]:
    """Return the lines of the table on a terminal, without the legend."""
    lines = done.out.splitlines()
    first = lines.index("What the recipient sees of each column:")
    last = next(place for place in range(first, len(lines)) if lines[place].startswith("Example: "))
    return lines[first:last]


@pytest.mark.page
def test_findings_stand_at_their_columns_and_acknowledged_ones_are_marked(tmp_path: Path) -> None:
    read_by_somebody = {"acknowledge": ["predicts:ward", "singled-out:" + "long_name_" * 4]}
    before = table_of(run(gifts(tmp_path)))
    assert before["ward"]["finding"] == ["gives 'illness' away (100 %)"]
    assert before["illness"]["finding"] == ["given away by 'ward' (100 %)"]
    assert before["long_name_" * 4]["finding"] == ["singles out 100 %", "rare values (100 %)"]
    after = table_of(run(gifts(tmp_path, **read_by_somebody), "--overwrite"))
    assert after["ward"]["finding"] == ["gives 'illness' away (100 %) (acknowledged)"]
    assert after["long_name_" * 4]["finding"] == ["rare values (100 %)", "singles out (acknowledged)"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.index("What the recipient sees") < page.index('<nav aria-label="Sections">')


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_the_table_after_the_verdict(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    path = gifts(tmp_path)
    done = call("run", path, "--columns", "--quiet")
    assert done.code == 0, done.err
    lines = lines_of(done)
    assert max(map(len, lines)) <= width
    assert "  ! singles out 100 %; rare values (100 %)" in [line[2:] for line in lines]
    assert done.out.index("SATISFIED, BUT") < done.out.index("What the recipient") < done.out.index("Kept ")
    plain = call("run", path, "--quiet", "--overwrite")
    assert "What the recipient sees" not in plain.out


def test_thirty_long_names_fit_eighty_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = [
        f"{'年齢と性別の区分' if number % 2 else 'a rather long question'} no. {number} of all thirty"
        for number in range(30)
    ]
    frame = pd.DataFrame({name: ["some long answer", "some long answer"] * 20 for name in names})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    config = {
        "input": {"path": "wide.csv"},
        "attributes": {
            name: "quasi-identifier" if place < 3 else "insensitive" for place, name in enumerate(names)
        },
        **COMMON,
    }
    (tmp_path / "wide.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    done = call("run", tmp_path / "wide.yaml", "--columns", "--quiet")
    rows = [line for line in lines_of(done) if "…" in line]
    assert len(rows) == 30
    # A wide character takes two columns.
    assert max(len(line) + sum(ord(each) > 0x2E80 for each in line) for line in rows) <= 80
    starts = {
        (line.find("quasi-") + line.find("insens") + 1) + sum(ord(c) > 0x2E80 for c in line) for line in rows
    }
    assert len(starts) == 1, "the roles are below each other"


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("options", "code", "tables"),
    [
        (["--columns", "--strict"], 1, 0),  # no release, nothing to see
        (["--columns", "--mend"], 0, 1),  # of the release that stays
        (["--columns", "--quiet"], 0, 1),  # hides progress alone
        (["--columns", "--json"], 0, 0),  # the object has it
    ],
)
def test_the_option_beside_others(tmp_path: Path, options: list[str], code: int, tables: int) -> None:
    done = call("run", gifts(tmp_path), *options)
    assert (done.code, done.out.count("What the recipient sees")) == (code, tables)
    if "--json" in options:
        assert done.json["columns"]
    if "--mend" in options:
        assert "gives 'illness' away" not in "".join(lines_of(done))


def test_a_wide_file_has_a_bounded_table_with_its_findings() -> None:
    seen = [SeenColumn(f"c{place}", Role.INSENSITIVE, UNCHANGED, 50, changed=0) for place in range(5000)]
    finding = Finding(Kind.RARE_VALUES, ("c4321",), 10, 0.2, 0.0)
    exposure = Exposure("record", 50, 5, 0, 0, (0, 0), (finding,))
    content = {"columns": column_entries(seen, exposure, (), 5), "exposure": {}}
    grid = columns_grid(content)
    assert len(grid.rows) == MOST_ROWS
    assert grid.rows[-1][0] == "c4321"
    *_, last = columns_legend(content)
    assert last == "4,900 more columns are not shown: 4,900 unchanged. report.json has all of them."


def test_names_are_printed_without_line_ends(tmp_path: Path) -> None:
    with (tmp_path / "odd.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["a\nb", "c"], *[["x", "y\tz"]] * 10])
    config = {
        "input": {"path": "odd.csv"},
        "attributes": {"a\nb": "quasi-identifier", "c": "insensitive"},
        **COMMON,
    }
    (tmp_path / "odd.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    done = call("run", tmp_path / "odd.yaml", "--columns", "--quiet")
    assert "a\\nb" in done.out
    assert "y\\tz" in done.out


def test_what_was_not_measured_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    seen = [SeenColumn("age", Role.QUASI_IDENTIFIER, "generalized to level 1 of 2", 9, starred=0)]
    lines = list(column_lines({"columns": column_entries(seen, None, (), 3)}))
    assert lines[2].split() == [
        "age",
        "quasi-identifier",
        *["generalized", "to", "level", "1", "of", "2"],
        "–",
        "–",
    ]
    assert lines[-2].startswith("–: not measured, as the records do not fit into memory")
    assert not any("!" in line for line in lines)


def test_long_findings_are_wrapped_by_their_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    seen = [SeenColumn("年齢", Role.INSENSITIVE, UNCHANGED, 50, changed=0)]
    findings = tuple(
        Finding(Kind.PREDICTS, ("年齢",), 50, 1.0, 0.9, about=f"性別の区分{number}") for number in range(9)
    )
    exposure = Exposure("record", 50, 5, 0, 0, (0, 0), findings)
    lines = list(column_lines({"columns": column_entries(seen, exposure, (), 5), "exposure": {}}))
    assert max(map(text_width, lines)) <= 80
    said = [line for line in lines if "gives" in line]
    assert len(said) > 3
    assert [line[:6] for line in said] == ["    ! ", *["      "] * (len(said) - 1)]
