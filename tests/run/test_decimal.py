"""Decimal commas: the same run as with decimal points, in the writing of the file."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.errors import InputError
from tests.helpers.messages import exchange
from tests.helpers.slow import slow_but
from tests.run.commands import call

ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {"name": "lattice"},
    "mondrian": {"name": "mondrian", "labels": "interval"},
    "sets": {"name": "mondrian", "labels": "set"},
    "local": {"name": "local"},
    "means": {"name": "microaggregation", "k": 4},
}
NUMBERS = ("height", "income", "wealth")


def rows() -> list[list[str]]:
    random = Random(11)
    return [
        [
            f"{random.uniform(150, 190):.1f}",
            random.choice(["Linz", "Wien"]),
            f"{random.uniform(900, 1100):.2f}",
            str(random.randrange(1000, 9_000_000)),
        ]
        for _ in range(120)
    ]


def with_commas(text: str) -> str:
    return text.replace(".", ",")


def grouped(text: str) -> str:
    return f"{int(text):,}".replace(",", ".")


def config(name: str, algorithm: dict[str, Any], decimal: str) -> dict[str, Any]:
    with_ranges = algorithm["name"] in ("lattice", "local") or algorithm.get("labels") == "hierarchy"
    height: dict[str, Any] = {"role": "quasi-identifier"}
    if with_ranges:
        height["hierarchy"] = {"intervals": {"width": [2.5, 5, 10, 20, 40]}}
    numeric = algorithm["name"] == "microaggregation"
    return {
        "input": {"path": name, "separator": ";", "decimal": decimal},
        "attributes": {
            "height": height,
            "town": {"role": "insensitive" if numeric else "quasi-identifier"},
            "income": {"role": "sensitive"},
            "wealth": {"role": "insensitive"},
        },
        "constraints": [
            {"model": "k-anonymity", "k": 4},
            {"model": "t-closeness", "t": 0.4, "attribute": "income"},
        ],
        "suppression": {"limit": 0.1},
        "algorithm": algorithm,
        "budget": {"steps": 20},
        "attacks": ["vulnerability", {"attack": "linkage", "linkage": "nearest"}],
    }


def run(folder: Path, algorithm: dict[str, Any], decimal: str) -> tuple[list[list[str]], dict[str, Any]]:
    own = rows()
    if decimal == ",":
        own = [[with_commas(a), town, with_commas(b), grouped(c)] for a, town, b, c in own]
    lines = [";".join(row) for row in [["height", "town", "income", "wealth"], *own]]
    folder.mkdir()
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "config.json"
    path.write_text(json.dumps(config("people.csv", algorithm, decimal)), encoding="utf-8")
    done = call("run", path)
    assert done.code == 0, done.err
    assert call("audit", folder / "config-release" / "share" / "release.csv").code == 0
    report = json.loads((folder / "config-release" / "report.json").read_text(encoding="utf-8"))
    content = (folder / "config-release" / "share" / "release.csv").read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(content), delimiter=";"))[1:], report


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", slow_but(2, ALGORITHMS))
def test_the_release_is_that_of_decimal_points(name: str, tmp_path: Path) -> None:
    """Every number of the release is written as in the input, and everything measured is the same."""
    pointed, before = run(tmp_path / "point", ALGORITHMS[name], ".")
    commas, after = run(tmp_path / "comma", ALGORITHMS[name], ",")
    expected = []
    for height, town, income, wealth in pointed:
        own = height.replace(".", "\\,") if height.startswith("{") else with_commas(height)
        expected.append([own, town, with_commas(income), grouped(wealth)])
    assert sorted(commas) == sorted(expected)
    assert after["loss"] == before["loss"]
    assert [each["measured"] for each in after["constraints"]] == [
        each["measured"] for each in before["constraints"]
    ]
    assert [each["success"] for each in after["attacks"]] == [each["success"] for each in before["attacks"]]
    assert {name: after["attributes"][name]["type"] for name in ("height", "income")} == {
        "height": "number",
        "income": "number",
    }


def test_init_writes_what_run_reads(tmp_path: Path) -> None:
    own = [";".join([with_commas(a), town, with_commas(b), grouped(c)]) for a, town, b, c in rows()]
    path = tmp_path / "people.csv"
    path.write_text("height;town;income;wealth\n" + "\n".join(own) + "\n", encoding="utf-8")
    done = call("init", path)
    assert "semicolon, UTF-8, decimal commas" in done.out
    text = path.with_suffix(".yaml").read_text(encoding="utf-8")
    assert 'decimal: ","' in text
    assert "t-closeness" in text
    assert "l-diversity" not in text
    assert call("run", path.with_suffix(".yaml")).code == 0
    released = (tmp_path / "people-release" / "share" / "release.csv").read_text(encoding="utf-8")
    incomes = {row[2] for row in csv.reader(io.StringIO(released), delimiter=";")}
    # Nearly all differ, so groups are released.
    assert incomes.isdisjoint(line.split(";")[2] for line in own)
    assert all(re.fullmatch(r"income|<[\d,]+|[\d,]+\+|\[[\d,]+, [\d,]+\)", each) for each in incomes)


def test_a_run_says_what_it_reads_as_text(tmp_path: Path) -> None:
    lines = [
        f"{20 + number % 9};{number % 50},{number % 7};{' a' if number % 2 else 'a'}" for number in range(90)
    ]
    (tmp_path / "people.csv").write_text("age;income;b\n" + "\n".join(lines) + "\n", encoding="utf-8")
    columns = {
        "age": {"role": "quasi-identifier"},
        "income": {"role": "sensitive"},
        "b": {"role": "quasi-identifier"},
    }
    settings = {
        "input": {"path": "people.csv"},
        "attributes": columns,
        "constraints": [{"model": "l-diversity", "l": 2}],
    }
    (tmp_path / "c.json").write_text(json.dumps(settings), encoding="utf-8")
    done = call("run", tmp_path / "c.json")
    assert (
        "'income' contains numbers with decimal commas, which are read as text; set input.decimal" in done.out
    )
    assert "spaces around the values of column 'b' are ignored" in done.out


def test_numbers_that_are_stored_as_such_are_read_as_what_they_are() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": [1.125, 2.25, 1.125, 2.25], "kind": ["1,5", "2,5", "1,5", "2,5"]})
    columns = {"height": {"role": "quasi-identifier"}, "kind": {"role": "quasi-identifier", "type": "number"}}
    settings: dict[str, Any] = {
        "attributes": columns,
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "input": {"decimal": ","},
    }
    result = an.anonymize(frame, settings)
    assert result.data.to_dict("list") == frame.sort_values("height").to_dict("list")
    with pytest.raises(InputError, match="declared number, but 4 of 4 records"):
        an.anonymize(frame, {**settings, "input": {}})


def test_stored_numbers_are_not_released_as_texts_that_mean_others(tmp_path: Path) -> None:
    """A release.csv with 1.125 would be read again as 1125, as its config has decimal commas."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": [1.125, 2.25] * 4, "kind": ["1,5", "2,5"] * 4})
    frame.to_parquet(tmp_path / "people.parquet")
    settings: dict[str, Any] = {
        "input": {"path": "people.parquet", "decimal": ","},
        "attributes": {"height": {"role": "insensitive"}, "kind": {"role": "quasi-identifier"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "output": {"path": "release.csv"},
    }
    path = tmp_path / "c.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    done = call("run", path)
    assert done.code == 2
    assert "column 'height' stores numbers" in " ".join(done.err.split())
    settings["output"] = {"path": "release.parquet"}
    path.write_text(json.dumps(settings), encoding="utf-8")
    assert call("run", path).code == 0
    assert call("audit", tmp_path / "c-release" / "share" / "release.parquet").code == 0


def rewritten(folder: Path, algorithm: dict[str, Any], decimal: str) -> list[list[str]]:
    """Run on the records of ``run`` with one sign, released with the other, and return the release."""
    sign = "," if decimal == "." else "."
    settings = config("people.csv", algorithm, decimal) | {"output": {"decimal": sign}}
    path = folder / "other.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    done = call("run", path)
    assert done.code == 0, done.err
    share = folder / "other-release" / "share"
    assert json.loads((share / "report.public.json").read_text())["config"]["output"]["decimal"] == sign
    for report in (share / "report.public.json", share.parent / "report.json"):
        audited = call("audit", share / "release.csv", "--report", report, "--json")
        assert (audited.code, audited.json["findings"]) == (0, [])
    original = ("--original", folder / "people.csv", "--force")
    attack = call("attack", share / "release.csv", "-c", path, *original, "--json")
    assert attack.code == 0, attack.err
    for data in (share / "release.csv", folder / "people.csv"):
        checked = call("check", data, "-c", path, "--json")
        assert checked.code == (data.name == "people.csv"), checked.err
    content = (share / "release.csv").read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(content), delimiter=";"))[1:]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_release_has_the_sign_of_the_output(name: str, tmp_path: Path) -> None:
    """The release of an input with one sign is that of its twin with the other."""
    pointed, _ = run(tmp_path / "point", ALGORITHMS[name], ".")
    commas, _ = run(tmp_path / "comma", ALGORITHMS[name], ",")
    assert rewritten(tmp_path / "comma", ALGORITHMS[name], ",") == pointed
    assert rewritten(tmp_path / "point", ALGORITHMS[name], ".") == sorted(
        [a, b, c, d.replace(".", "")] for a, b, c, d in commas
    )


PEOPLE = (
    "SELECT (i % 5) + 0.5 AS height, (i % 7) / 4.0::DOUBLE AS income, i % 3 AS town, "
    "CASE WHEN i % 4 = 0 THEN NULL ELSE (i % 2) || '.25' END AS wealth FROM range(100) t(i)"
)
EXACT: dict[str, Any] = {
    "attributes": {
        "height": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [2.5, 5]}}},
        "income": {"role": "sensitive"},
        "town": {"role": "quasi-identifier"},
        "wealth": {"role": "insensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 5}],
    "attacks": ["vulnerability"],
}


def stored(folder: Path, output: dict[str, Any], **source: Any) -> Path:
    """Run on stored numbers, and return the folder of the release."""
    (folder / "job.json").write_text(json.dumps({**EXACT, "input": source, "output": output}))
    done = call("run", folder / "job.json", "--quiet", "--overwrite")
    assert done.code == 0, done.err
    return folder / "job-release" / "share"


@pytest.mark.slow
def test_stored_numbers_are_written_with_the_sign(tmp_path: Path) -> None:
    duckdb.sql(f"COPY ({PEOPLE}) TO '{tmp_path}/d.parquet' (FORMAT parquet)")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(f"CREATE TABLE d AS {PEOPLE}")
    share = stored(tmp_path, {"path": "release.csv"}, path="d.parquet")
    points = (share / "release.csv").read_text()
    expected = [[with_commas(cell) for cell in row] for row in csv.reader(io.StringIO(points))]
    expected = [[cell.replace(",,", ",") for cell in row] for row in expected]
    for source in ({"path": "d.parquet"}, {"database": "d.duckdb", "table": "d"}):
        named = {"path": "release.csv", "decimal": ",", "separator": ";"}
        share = stored(tmp_path, named, **source)
        content = (share / "release.csv").read_text()
        assert list(csv.reader(io.StringIO(content), delimiter=";")) == expected
        assert call("audit", share / "release.csv", "--report", share.parent / "report.json").code == 0
    data = (tmp_path / "d.duckdb", "--table", "d")
    assert call("check", *data, "-c", tmp_path / "job.json").code in (0, 1)
    share = stored(tmp_path, {"decimal": ",", "path": "r.parquet"}, path="d.parquet")
    found = duckdb.sql(f"SELECT * FROM '{share}/r.parquet'")
    assert [str(kind) for kind in found.types] == ["VARCHAR", "DOUBLE", "VARCHAR", "VARCHAR"]
    assert {row[0] for row in found.fetchall()} <= {row[0] for row in expected}
    assert call("audit", share / "r.parquet", "--report", share.parent / "report.json").code == 0


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_missing_values_are_no_texts_beside_numbers(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"v": ["1.5", "1.50", None, "2"] * 2, "s": [*"abababab"]})
    output: dict[str, Any] = {"decimal": ","}
    if kind == "csv":
        frame.to_csv(tmp_path / "v.csv", index=False)
        output["missing"] = "NA"
    else:
        frame.to_parquet(tmp_path / "v.parquet")
    given = {
        "input": {"path": f"v.{kind}"},
        "output": {**output, "path": "out.csv"},
        "attributes": {"v": "quasi-identifier", "s": "sensitive"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "c.json").write_text(json.dumps(given), encoding="utf-8")
    done = call("run", tmp_path / "c.json", "-q")
    assert done.code == 0, done.err
    assert "1,5" in (tmp_path / "c-release" / "share" / "out.csv").read_text(encoding="utf-8")


def test_a_data_frame_has_texts_with_the_sign() -> None:
    frame = duckdb.sql(PEOPLE).df()
    texts = frame.astype({"height": "str", "income": "str"})
    result = an.anonymize(texts, {**EXACT, "output": {"decimal": ","}})
    before = an.anonymize(texts, EXACT)
    for name in ("income", "wealth"):
        own = before.data[name].dropna().str.replace(".", ",")
        assert sorted(own) == sorted(result.data[name].dropna())
    attacked = an.attack(result.data, texts, {**EXACT, "attacks": ["linkage"], "output": {"decimal": ","}})
    expected = an.attack(before.data, texts, {**EXACT, "attacks": ["linkage"]})
    assert list(attacked["success"]) == list(expected["success"])


def test_records_are_appended_with_the_sign(tmp_path: Path) -> None:
    settings = config("people.csv", ALGORITHMS["lattice"], ",") | {"output": {"decimal": "."}, "attacks": []}
    settings["constraints"] = settings["constraints"][:1]
    lines = [";".join([with_commas(a), town, with_commas(b), grouped(c)]) for a, town, b, c in rows()]
    (tmp_path / "people.csv").write_text("\n".join(["height;town;income;wealth", *lines]) + "\n")
    path = tmp_path / "job.json"
    path.write_text(json.dumps(settings))
    assert call("run", path, "--quiet").code == 0
    path.write_text(json.dumps(settings | {"apply": "job-release/report.json"}))
    done = call("run", path, "--quiet", "-o", tmp_path / "second")
    assert done.code == 0, done.err
    release = tmp_path / "second" / "share" / "release.csv"
    assert "," not in release.read_text().replace(", ", "")
    assert call("audit", release).code == 0
    path.write_text(json.dumps(settings | {"apply": "job-release/report.json", "output": {"decimal": ","}}))
    done = call("run", path, "--quiet", "-o", tmp_path / "third")
    assert (done.code, "output.decimal: ',', but the earlier run has '.'" in done.err) == (2, True), done.err


@pytest.mark.parametrize("other", ["see 1.5", "007"])
def test_numbers_beside_other_texts_are_not_rewritten(
    other: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    (tmp_path / "people.csv").write_text("age,note\n" + f"1,1.5\n2,{other}\n2,\n1,\n" * 5)
    settings = {
        "input": {"path": "people.csv"},
        "attributes": {"age": {"role": "quasi-identifier"}, "note": {"role": "insensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "output": {"decimal": ","},
    }
    path = tmp_path / "job.json"
    path.write_text(json.dumps(settings))
    done = call("run", path)
    assert done.code == 2
    assert exchange(f"a note {other!r}", done.err.replace(str(tmp_path), "FOLDER")) == message
    with pytest.raises(InputError, match="mixes numbers with other texts"):
        an.anonymize(pd.read_csv(tmp_path / "people.csv", dtype=str), settings)
    (tmp_path / "people.csv").write_text("age,note\n" + f"1,15\n2,{other[:3]}\n" * 5)
    assert call("run", path, "--quiet").code == 0
