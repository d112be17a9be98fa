"""Sensitive and insensitive columns that are released in the groups of their hierarchy.

The reference is a file whose values somebody replaced by hand: it gives the same release and measures.
There, a group of wages is the number it begins with, which has the order of the group.
"""

from __future__ import annotations

from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import anonymizer
from anonymizer.data.frames import FrameRelation
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions
from anonymizer.errors import InputError
from tests.helpers.slow import slow_but
from tests.run.commands import call
from tests.run.spark_runs import facts, ran
from tests.run.spark_runs import released as in_parquet
from tests.spark import engine, running

RECORDS = 300
WIDTH = 7


def patients(seed: int = 1) -> pd.DataFrame:
    """Return texts of made-up records; some scores and times are missing."""
    random = np.random.default_rng(seed)
    score = [f"{value:.3f}" for value in random.normal(0, 10, RECORDS)]
    days = [f"2014-{random.integers(1, 13):02d}-{random.integers(1, 29):02d}" for _ in range(RECORDS)]
    return pd.DataFrame(
        {
            "age": random.integers(20, 60, RECORDS).astype(str),
            "sex": random.choice(["f", "m"], RECORDS),
            "wage": random.integers(0, 300, RECORDS).astype(str),
            "score": ["" if number % 17 == 0 else text for number, text in enumerate(score)],
            "seen": days,
        }
    )


COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": {"width": [10, 20]}}},
    "sex": "quasi-identifier",
    "wage": {"role": "sensitive", "type": "integer", "hierarchy": {"intervals": {"width": [WIDTH]}}},
    "score": {"role": "insensitive", "type": "number", "hierarchy": {"intervals": {"width": [2.5]}}},
    "seen": {"role": "insensitive", "type": "date", "hierarchy": {"date": {"levels": ["month", "year"]}}},
}
CONFIG: dict[str, Any] = {
    "input": {"path": "patients.csv"},
    "constraints": [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "l": 3},
        {"model": "t-closeness", "t": 0.3},
    ],
    "suppression": {"limit": 0.1},
    "attacks": ["vulnerability", "homogeneity"],
}


def config(**labels: str) -> dict[str, Any]:
    """Return the config with the labels of some columns."""
    columns = deepcopy(COLUMNS)
    for name in ("wage", "score", "seen"):
        if name in labels:
            columns[name]["labels"] = labels[name]
        elif columns[name]["role"] == "insensitive":
            columns[name] = "insensitive"
    return deepcopy(CONFIG) | {"attributes": columns}


def by_hand(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the records with the groups in place of the values, computed in the plainest way."""

    def scores(text: str) -> str:
        low = np.floor(float(text) / 2.5) * 2.5 if text else 0
        return f"[{low:g}, {low + 2.5:g})" if text else text

    return frame.assign(
        wage=frame["wage"].map(lambda text: str(int(text) // WIDTH * WIDTH)),
        score=frame["score"].map(scores),
        seen=frame["seen"].str[:7],
    )


def written(folder: Path, frame: pd.DataFrame, raw: dict[str, Any], name: str = "patients") -> Path:
    """Write records and config; return the config's path."""
    frame.to_csv(folder / f"{name}.csv", index=False)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(raw | {"input": raw["input"] | {"path": f"{name}.csv"}}))
    return path


def released(folder: Path) -> pd.DataFrame:
    """Return the texts of a release."""
    return released_by(folder, ",")


def released_by(folder: Path, separator: str) -> pd.DataFrame:
    """Return the texts of a release with another separator."""
    return pd.read_csv(folder / "share" / "release.csv", dtype=str, keep_default_na=False, sep=separator)


def run(path: Path, out: Path, *further: str) -> dict[str, Any]:
    """Run a config; return the report."""
    done = call("run", path, "-o", out, "--json", *further)
    assert done.code == 0, done.err
    return done.json


ALL = {"wage": "range", "score": "range", "seen": "range"}


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", slow_but(2, ["lattice", "mondrian", "local", "auto"]))
def test_a_run_equals_one_of_a_file_with_the_groups(algorithm: str, tmp_path: Path) -> None:
    frame = patients()
    raw = config(**ALL) | {"algorithm": {"name": algorithm}, "budget": {"steps": 200}}
    own = run(written(tmp_path, frame, raw), tmp_path / "own")
    columns: dict[str, Any] = {
        **raw["attributes"],
        "wage": {"role": "sensitive", "type": "integer"},
        "score": "insensitive",
        "seen": "insensitive",
    }
    other = run(
        written(tmp_path, by_hand(frame), raw | {"attributes": columns}, "by_hand"), tmp_path / "other"
    )
    grouped = released(tmp_path / "other")
    grouped["wage"] = [f"{low}-{int(low) + WIDTH - 1}" for low in grouped["wage"]]
    rows = [sorted(map(tuple, frame.to_numpy())) for frame in (released(tmp_path / "own"), grouped)]
    assert rows[0] == rows[1]
    for key in ("constraints", "loss", "recoding"):
        assert own[key] == other[key]
    successes = [[(each["attack"], each["success"]) for each in report["attacks"]] for report in (own, other)]
    assert successes[0] == successes[1]


def test_recipient_and_author_verify_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(written(tmp_path, patients(), config(**ALL)), tmp_path / "out")
    assert call("audit", tmp_path / "out/share/release.csv").code == 0
    done = call("audit", tmp_path / "out/share/release.csv", "--report", tmp_path / "out/report.json")
    assert done.code == 0, done.out
    assert "values of the release against the input" not in done.out
    monkeypatch.chdir(tmp_path / "out")
    assert call("audit", "share/release.csv", "--report", "report.json").out == done.out
    legend = (tmp_path / "out/share/README.txt").read_text()
    assert "wage: numbers in intervals (sensitive)" in legend
    assert "seen: periods of dates" in legend
    assert "2024-05: a month" in legend


@pytest.mark.quick(1)
@pytest.mark.parametrize("column", ["wage", "score", "seen"])
def test_an_altered_group_is_found(column: str, tmp_path: Path) -> None:
    run(written(tmp_path, patients(), config(**ALL)), tmp_path / "out")
    path = tmp_path / "out/share/release.csv"
    frame = released(tmp_path / "out")
    groups = [text for text in frame[column].unique() if text]
    frame.loc[frame[column] == groups[0], column] = groups[1]
    frame.to_csv(path, index=False)
    assert call("audit", path, "--report", tmp_path / "out/report.json").code == 1


@pytest.mark.quick(2)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".csv.gz"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_engine_and_format_releases_the_groups(engine: str, suffix: str, tmp_path: Path) -> None:
    raw = config(**ALL) | {"engine": {"name": engine}, "output": {"path": f"release{suffix}"}}
    report = run(written(tmp_path, patients(), raw), tmp_path / "out")
    path = tmp_path / "out/share" / f"release{suffix}"
    frame = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path, dtype=str)
    usual = run(written(tmp_path, patients(), config(**ALL)), tmp_path / "usual")
    assert report["constraints"] == usual["constraints"]
    expected = released(tmp_path / "usual")
    found = frame.astype(object).fillna("").sort_values(list(frame.columns)).to_numpy().tolist()
    assert found == expected.sort_values(list(expected.columns)).to_numpy().tolist()


def test_out_of_core(tmp_path: Path) -> None:
    raw = config(**ALL) | {"algorithm": {"name": "lattice"}, "attacks": []}
    run(written(tmp_path, patients(), raw), tmp_path / "in memory")
    raw["engine"] = {"name": "duckdb", "options": {"combinations": 270}}
    run(written(tmp_path, patients(), raw), tmp_path / "out of core")
    release = "share/release.csv"
    assert (tmp_path / "in memory" / release).read_bytes() == (
        tmp_path / "out of core" / release
    ).read_bytes()


def test_stored_numbers_and_a_dataframe(tmp_path: Path) -> None:
    frame = patients().astype({"age": int, "wage": int})
    frame["score"] = pd.to_numeric(frame["score"])
    raw = config(wage="midpoint", score="midpoint", seen="range")
    result = anonymizer.anonymize(frame, raw | {"input": {}})
    assert result.data["wage"].dtype == np.float64
    assert set(result.data["wage"] % WIDTH) == {(WIDTH - 1) / 2}
    assert set(result.data["score"].dropna() % 2.5) == {1.25}
    assert result.data["score"].isna().sum() > 0
    frame.to_parquet(tmp_path / "patients.parquet")
    raw |= {"input": {"path": "patients.parquet"}, "output": {"path": "release.parquet"}}
    (tmp_path / "stored.yaml").write_text(yaml.safe_dump(raw))
    run(tmp_path / "stored.yaml", tmp_path / "out")
    stored = pd.read_parquet(tmp_path / "out/share/release.parquet")
    assert stored["wage"].dtype == np.float64
    columns = list(stored.columns)
    expected = result.data.sort_values(columns).reset_index(drop=True)
    pd.testing.assert_frame_equal(
        stored.sort_values(columns).reset_index(drop=True), expected, check_dtype=False
    )
    assert call("audit", tmp_path / "out/share/release.parquet").code == 0


def test_the_dataframe_of_the_caller_is_not_touched() -> None:
    frame = patients()
    before = frame.copy(deep=True)
    anonymizer.anonymize(frame, config(**ALL) | {"input": {}})
    pd.testing.assert_frame_equal(frame, before)


def test_midpoints_with_decimal_commas(tmp_path: Path) -> None:
    frame = patients()
    frame["score"] = frame["score"].str.replace(".", ",", regex=False)
    raw = config(score="midpoint")
    raw["input"] = {"decimal": ",", "separator": ";"}
    frame.to_csv(tmp_path / "patients.csv", index=False, sep=";")
    (tmp_path / "patients.yaml").write_text(
        yaml.safe_dump(raw | {"input": raw["input"] | {"path": "patients.csv"}})
    )
    run(tmp_path / "patients.yaml", tmp_path / "out")
    found = pd.read_csv(tmp_path / "out/share/release.csv", sep=";", dtype=str, keep_default_na=False)
    assert {text.partition(",")[2] for text in found["score"] if text} == {"25", "75"}


def test_three_decimals_after_a_comma_are_no_thousands(tmp_path: Path) -> None:
    frame = patients()
    frame["wage"] = [str(int(wage) * 50).zfill(5) for wage in frame["wage"]]
    frame["wage"] = [f"{wage[:-3].lstrip('0') or '0'},{wage[-3:]}" for wage in frame["wage"]]
    raw = config(wage="range") | {"input": {"decimal": ",", "separator": ";"}}
    raw["attributes"]["wage"] |= {"type": "number", "hierarchy": {"intervals": {"width": [0.125]}}}
    frame.to_csv(tmp_path / "patients.csv", index=False, sep=";")
    path = tmp_path / "patients.yaml"
    path.write_text(yaml.safe_dump(raw | {"input": raw["input"] | {"path": "patients.csv"}}))
    own = run(path, tmp_path / "out")
    assert set(released_by(tmp_path / "out", ";")["wage"]) >= {"[0, 0,125)", "[0,125, 0,25)", "[10, 10,125)"}
    assert call("audit", tmp_path / "out/share/release.csv").code == 0
    frame["wage"] = [f"{float(wage.replace(',', '.')) // 0.125 * 0.125:g}" for wage in frame["wage"]]
    raw = config()
    raw["attributes"]["wage"] = {"role": "sensitive", "type": "number"}
    other = run(written(tmp_path, frame, raw, "by_hand"), tmp_path / "other")
    assert own["constraints"] == other["constraints"]


def test_a_database(tmp_path: Path) -> None:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", patients())
        connection.execute("CREATE TABLE patients AS SELECT * FROM given")
    raw = config(**ALL) | {"input": {"database": "own.duckdb", "table": "patients"}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(raw))
    run(tmp_path / "own.yaml", tmp_path / "out")
    run(written(tmp_path, patients(), config(**ALL)), tmp_path / "usual")
    assert sorted(released(tmp_path / "out")["wage"]) == sorted(released(tmp_path / "usual")["wage"])


def test_check_measures_the_groups_of_an_input_and_of_a_release(tmp_path: Path) -> None:
    raw = config(**ALL)
    path = written(tmp_path, patients(), raw)
    run(path, tmp_path / "out")
    other = raw | {"attributes": raw["attributes"] | {"wage": {"role": "sensitive", "type": "integer"}}}
    hand = written(tmp_path, by_hand(patients()), other, "by_hand")
    found = call("check", tmp_path / "patients.csv", "-c", path, "--json").json
    expected = call("check", tmp_path / "by_hand.csv", "-c", hand, "--json").json
    for key in ("classes", "constraints", "measures"):
        assert found[key] == expected[key]
    own = call("check", tmp_path / "out/share/release.csv", "-c", path, "--json").json
    assert all(each["satisfied"] for each in own["constraints"])


def test_an_attack_with_the_original_compares_groups(tmp_path: Path) -> None:
    path = written(tmp_path, patients(), config(**ALL))
    report = run(path, tmp_path / "out")
    done = call(
        "attack",
        tmp_path / "out/share/release.csv",
        "-c",
        path,
        "--original",
        tmp_path / "patients.csv",
        "--json",
    )
    assert done.code == 0, done.err
    own = {
        each["attack"]: each["success"] for each in done.json["attacks"] if each["attack"] == "homogeneity"
    }
    assert own == {
        each["attack"]: each["success"] for each in report["attacks"] if each["attack"] == "homogeneity"
    }


@pytest.mark.slow
def test_exact_values_are_found_and_groups_are_not(tmp_path: Path) -> None:
    def rare(report: dict[str, Any]) -> set[str]:
        found = report["exposure"]["findings"]
        return {name for each in found if each["kind"] == "rare-values" for name in each["columns"]}

    exact = run(written(tmp_path, patients(), config()), tmp_path / "exact")
    assert "score" in rare(exact)
    wide = config(**ALL)
    wide["attributes"]["wage"]["hierarchy"] = {"intervals": {"width": [60]}}
    wide["attributes"]["score"]["hierarchy"] = {"intervals": {"width": [100]}}
    assert not rare(run(written(tmp_path, patients(), wide), tmp_path / "grouped"))
    unprotected = "no constraint protects the sensitive attribute 'wage', which is released"
    for labels, how in (({}, "unchanged"), (ALL, "in groups")):
        raw = config(**labels) | {"constraints": [{"model": "k-anonymity", "k": 5}]}
        warnings = run(written(tmp_path, patients(), raw), tmp_path / how)["warnings"]
        assert f"{unprotected} {how}" in warnings


REFUSED = {
    "two columns": ({"labels": "low-high"}, "accepted: range, midpoint"),
    "no hierarchy": ({"labels": "range", "hierarchy": None}, "add a hierarchy"),
    "a distance": ({"labels": "range", "distance": "hierarchical"}, "accepted: equal, ordered"),
    "only a top": ({"labels": "range", "hierarchy": {"auto": {"levels": 1}}}, "nothing between the values"),
    "open ends": ({"labels": "midpoint", "hierarchy": {"auto": {"levels": 2}}}, "has no midpoint"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_groups_is_refused(name: str, tmp_path: Path) -> None:
    changes, message = REFUSED[name]
    raw = config(**ALL)
    raw["attributes"]["wage"] = {
        key: each for key, each in (raw["attributes"]["wage"] | changes).items() if each is not None
    }
    frame = patients()
    frame["wage"] = frame["wage"].astype(int) + 1
    done = call("run", written(tmp_path, frame, raw), "-o", tmp_path / "out")
    assert done.code == 2
    assert message in done.err
    assert "wage" in done.err
    assert not (tmp_path / "out").exists()


def test_an_insensitive_column_has_a_hierarchy_only_with_labels(tmp_path: Path) -> None:
    raw = config(**ALL)
    del raw["attributes"]["score"]["labels"]
    done = call("run", written(tmp_path, patients(), raw), "-o", tmp_path / "out")
    assert done.code == 2
    assert "insensitive columns with labels" in done.err


def test_groups_are_not_appended(tmp_path: Path) -> None:
    path = written(tmp_path, patients(), config(**ALL) | {"algorithm": {"name": "lattice"}})
    run(path, tmp_path / "first")
    raw = config(**ALL) | {
        "algorithm": {"name": "lattice"},
        "apply": {"report": "first/report.json"},
    }
    done = call("run", written(tmp_path, patients(2), raw, "further"), "-o", tmp_path / "out")
    assert done.code == 2
    assert "attributes.wage.labels" in done.err
    assert (
        "with apply, columns that are not generalized cannot be released in groups; if the earlier"
        in done.err
    )
    assert "run on all records without apply, else remove labels" in done.err


@pytest.mark.spark
def test_spark_releases_groups_too(tmp_path: Path) -> None:
    frame = patients().astype({"age": "int64", "wage": "int64"}).assign(seen=lambda own: own["seen"])
    frame["score"] = pd.to_numeric(frame["score"])
    frame.to_parquet(tmp_path / "patients.parquet", index=False)
    raw = config(wage="midpoint", score="range", seen="range")
    raw |= {"output": {"path": "release.parquet"}, "algorithm": {"name": "lattice"}}
    raw["input"] = {"path": str(tmp_path / "patients.parquet")}
    with running():
        by_spark = ran(raw | {"engine": engine()}, tmp_path / "spark")
    in_memory = ran(raw, tmp_path / "memory")
    assert facts(by_spark) == facts(in_memory)
    assert in_parquet(tmp_path / "spark") == in_parquet(tmp_path / "memory")


def test_an_engine_that_keeps_values_as_they_are_says_so() -> None:
    class Engine(FrameRelation):
        relabel = Relation.relabel

    told = "cannot release column 'wage' in groups; remove its labels"
    with closing(Engine(patients(), EngineOptions())) as relation, pytest.raises(InputError, match=told):
        relation.relabel({"wage": ["few"]})


def test_texts_of_groups_out_of_order_are_refused_where_order_counts() -> None:
    words = {"hierarchy": {"tree": {"*": {"b": {"low": None}, "a": {"middle": None}, "c": {"top": None}}}}}
    frame = patients().assign(wage=np.resize(["low", "middle", "top"], RECORDS))
    raw = config(wage="range")
    raw["attributes"]["wage"] |= {"type": "text", "distance": "equal", **words}
    raw["constraints"][2]["t"] = 0.9
    found = anonymizer.anonymize(frame, raw | {"input": {}}).data
    assert set(found["wage"]) == {"a", "b", "c"}
    raw["attributes"]["wage"]["distance"] = "ordered"
    with pytest.raises(InputError, match=r"attributes\.wage\.labels: the texts of its groups, such as 'b'"):
        anonymizer.anonymize(frame, raw | {"input": {}})


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    wages=st.lists(st.integers(-50, 400) | st.none(), min_size=40, max_size=120),
    width=st.integers(2, 60),
    form=st.sampled_from(["range", "midpoint"]),
)
def test_every_value_lies_in_its_group(wages: list[int | None], width: int, form: str) -> None:
    frame = pd.DataFrame({"age": "1", "wage": pd.array(wages, dtype="Int64")})
    if frame["wage"].nunique() < 2:
        return
    raw = {
        "attributes": {
            "age": "quasi-identifier",
            "wage": {
                "role": "sensitive",
                "type": "integer",
                "hierarchy": {"intervals": {"width": [width], "origin": -1}},
                "labels": form,
            },
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    found = anonymizer.anonymize(frame, raw).data["wage"]
    expected = []
    for wage in wages:
        if wage is None:
            expected.append("")
            continue
        low = (wage + 1) // width * width - 1
        high = low + width - 1
        expected.append(f"{low} to {high}" if form == "range" else f"{(low + high) / 2:g}")
    shown = ["" if pd.isna(each) else f"{each:g}" if form == "midpoint" else str(each) for each in found]
    assert sorted(shown) == sorted(expected)


@pytest.mark.quick(1)
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_a_draft_for_decimal_commas_runs(digits: int, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    score = [f"{value:.{digits}f}".replace(".", ",") for value in random.uniform(0, 4, RECORDS)]
    frame = patients().drop(columns=["score", "seen"]).assign(score=score)
    frame.to_csv(tmp_path / "patients.csv", index=False, sep=";")
    assert call("init", tmp_path / "patients.csv", "--sensitive", "score").code == 0
    done = call("run", tmp_path / "patients.yaml", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "t-closeness(score)" in done.out


def test_anatomy_publishes_the_groups(tmp_path: Path) -> None:
    raw = config(wage="range") | {"algorithm": {"name": "anatomy"}, "attacks": []}
    raw["constraints"] = [{"model": "l-diversity", "l": 3}]
    run(written(tmp_path, patients(), raw), tmp_path / "own")
    columns = {**raw["attributes"], "wage": {"role": "sensitive", "type": "integer"}}
    frame = patients().assign(wage=by_hand(patients())["wage"])
    run(written(tmp_path, frame, raw | {"attributes": columns}, "by_hand"), tmp_path / "other")
    own, other = tmp_path / "own/share", tmp_path / "other/share"
    assert (own / "release.qit.csv").read_bytes() == (other / "release.qit.csv").read_bytes()
    groups, hand = (pd.read_csv(each / "release.st.csv", dtype=str) for each in (own, other))
    hand["wage"] = [f"{low}-{int(low) + WIDTH - 1}" for low in hand["wage"]]
    assert sorted(map(tuple, groups.to_numpy())) == sorted(map(tuple, hand.to_numpy()))


def test_numbers_in_place_of_labels_beside_groups(tmp_path: Path) -> None:
    raw = config(wage="midpoint", score="range")
    raw["attributes"]["age"] |= {"labels": "low-high"}
    path = written(tmp_path, patients(), raw)
    run(path, tmp_path / "out")
    release = tmp_path / "out/share/release.csv"
    assert {"age_low", "age_high"} <= set(released(tmp_path / "out").columns)
    assert call("audit", release, "--report", tmp_path / "out/report.json").code == 0
    found = call("check", release, "-c", path, "--json").json
    assert all(each["satisfied"] for each in found["constraints"])


def test_persons_and_groups(tmp_path: Path) -> None:
    """A person with three records in one group counts once in it."""
    frame = pd.concat([patients().assign(pid=range(RECORDS))] * 3, ignore_index=True)
    raw = config(wage="range") | {"input": {"person": "pid"}, "algorithm": {"name": "lattice"}}
    raw["attributes"]["pid"] = "identifier"
    path = written(tmp_path, frame, raw)
    report = run(path, tmp_path / "out")
    single = config(wage="range") | {"algorithm": {"name": "lattice"}}
    other = run(written(tmp_path, patients(), single, "single"), tmp_path / "single")
    assert [each["measured"] for each in report["constraints"]] == [
        each["measured"] for each in other["constraints"]
    ]
    assert report["recoding"] == other["recoding"]
