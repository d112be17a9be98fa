"""Singling out, linkability and inference, on the people of a release and on others who were held out."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.attacks.three_questions import excess, three_questions
from anonymizer.errors import InputError
from anonymizer.model.adversary import Original, PublishedTable
from anonymizer.model.owners import Owners
from tests.attacks.published import FEWER, release
from tests.attacks.scenes import _places, original
from tests.helpers.messages import exchange
from tests.run.commands import call
from tests.twins import attacks as twins

NAMES = ("age", "sex", "illness")
SECRETS = ("asthma", "cold", "flu")
AGES = {str(age): (str(age), "0-1" if age < 2 else "2-3", "*") for age in range(4)}
Row = tuple[str, ...]
ROWS = st.tuples(st.sampled_from("0123"), st.sampled_from("MF"), st.sampled_from(SECRETS))


def covers(published: Row, row: Row, places: tuple[int, ...] = (0, 1)) -> bool:
    return all(published[place] in (*AGES.get(row[place], ()), row[place], "*") for place in places)


@pytest.mark.parametrize(("masked", "refused"), [(2, False), (3, True)])
def test_a_release_of_which_few_records_cover_the_original_is_refused(masked: int, refused: bool) -> None:
    rows = [(str(place), "M", "flu") for place in range(4)]
    shown = [("0-1" if age < "2" else "2-3", sex, illness) for age, sex, illness in rows]
    published = release(NAMES, shown, ("illness",))
    became = [None if place < masked else each for place, each in enumerate(shown)]
    files = [
        original(NAMES, rows, published, each, ("illness",), {"age": AGES}) for each in (became, [None] * 4)
    ]
    if refused:
        with pytest.raises(InputError, match=r"only 1 of 4 records fit.*masked.*linkage"):
            three_questions(published, *files)
        return
    assert "of 2 records of the release" in three_questions(published, *files)[0].sentence


@FEWER
@given(st.lists(ROWS, min_size=1, max_size=10), st.lists(ROWS, min_size=1, max_size=10), st.integers(0, 2))
def test_answers_are_what_a_loop_counts(own: list[Row], others: list[Row], level: int) -> None:
    shown = [(AGES[age][level], sex, illness) for age, sex, illness in own]
    published = release(NAMES, shown, ("illness",))
    trees: dict[str, Any] = {"age": AGES}
    files = [
        original(NAMES, rows, published, became, ("illness",), trees)
        for rows, became in ((own, shown), (others, [None] * len(others)))
    ]
    found = {each.question: each for each in three_questions(published, *files)}
    assert list(found) == ["singling-out", "linkability", "inference"]
    for rows, field in ((own, "success"), (others, "control")):
        expected = twins.answers(shown, rows, covers)
        for question, share in expected.items():
            assert getattr(found[question], field) == pytest.approx(float(share)), (question, field)
    for each in found.values():
        assert each.risk == pytest.approx(excess(each.success, each.control))
        assert each.low <= each.risk <= each.high
        assert (each.records, each.held_out) == (len(own), len(others))


OWNED = st.lists(st.tuples(ROWS, st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=10)
"""Records, the person of each, and the level of age at which it is published."""


def with_persons(file: Original, rows: list[Row], release: list[int], persons: list[int]) -> Original:
    distinct = list(dict.fromkeys(rows))
    place = [distinct.index(row) for row in rows]
    own, shown, units = (np.array(each, dtype=np.int64) for each in (place, release, persons))
    return replace(file, owners=Owners.of(own, shown, {"person": units}))


def files_of(
    own: list[tuple[Row, int, int]], others: list[tuple[Row, int, int]], *, persons: bool = True
) -> tuple[list[Row], PublishedTable, list[Original]]:
    """Return what is published, and both files with the person of each record."""
    rows, held = [row for row, *_ in own], [row for row, *_ in others]
    shown = [(AGES[age][level], sex, illness) for (age, sex, illness), _, level in own]
    published = release(NAMES, shown, ("illness",))
    trees: dict[str, Any] = {"age": AGES}
    first = original(NAMES, rows, published, shown, ("illness",), trees)
    second = original(NAMES, held, published, [None] * len(held), ("illness",), trees)
    if persons:
        places = _places(published)
        first = with_persons(first, rows, [places[row] for row in shown], [who for _, who, _ in own])
        second = with_persons(second, held, [0] * len(held), [who for _, who, _ in others])
    return shown, published, [first, second]


@FEWER
@given(OWNED, OWNED)
def test_answers_about_persons_are_what_a_loop_counts(
    own: list[tuple[Row, int, int]], others: list[tuple[Row, int, int]]
) -> None:
    shown, published, files = files_of(own, others)
    found = {each.question: each for each in three_questions(published, *files)}
    publishers = [who for _, who, _ in own]
    for records, field in ((own, "success"), (others, "control")):
        rows, persons = [row for row, *_ in records], [who for _, who, _ in records]
        expected = twins.answers_of_persons(shown, publishers, rows, persons, covers)
        for question, share in expected.items():
            assert getattr(found[question], field) == pytest.approx(float(share)), (question, field)
    for each in found.values():
        assert each.knowledge["unit"] == "person"
        assert each.low <= each.risk <= each.high
        assert (each.records, each.held_out) == tuple(
            len({who for _, who, _ in records}) for records in (own, others)
        )
        assert "held-out person" in each.sentence


@FEWER
@given(OWNED, OWNED)
def test_answers_about_persons_of_one_record_each(
    own: list[tuple[Row, int, int]], others: list[tuple[Row, int, int]]
) -> None:
    """Every figure is that of records."""
    own, others = (
        [(row, len(each) - place, level) for place, (row, _, level) in enumerate(each)]
        for each in (own, others)
    )
    (_, published, persons), (_, _, records) = (
        files_of(own, others, persons=persons) for persons in (True, False)
    )
    by_person, by_record = (three_questions(published, *each) for each in (persons, records))
    for one, other in zip(by_person, by_record, strict=True):
        assert one.knowledge == {**other.knowledge, "unit": "person"}
        assert replace(one, knowledge=other.knowledge) == other


def test_a_person_with_many_records_is_singled_out_once() -> None:
    """Two visits of a lone patient fit: no record is singled out, and the patient is."""
    own: list[tuple[Row, int, int]] = [
        (("0", "M", "flu"), 1, 0),
        (("0", "M", "cold"), 1, 0),
        (("2", "F", "flu"), 2, 0),
        (("2", "F", "flu"), 3, 0),
    ]
    others: list[tuple[Row, int, int]] = [(("0", "M", "asthma"), 9, 0), (("2", "F", "flu"), 9, 0)]
    for persons, success, control, held in ((True, 1 / 3, 1, 1), (False, 0, 0, 2)):
        _, published, files = files_of(own, others, persons=persons)
        found = three_questions(published, *files)[0]
        assert (found.success, found.control, found.held_out) == (pytest.approx(success), control, held)


def test_the_same_people_as_control_leave_no_risk() -> None:
    rows = [("0", "M", "flu"), ("1", "F", "cold"), ("2", "F", "asthma")]
    published = release(NAMES, rows, ("illness",))
    own = original(NAMES, rows, published, rows, ("illness",), {"age": AGES})
    other = original(NAMES, rows, published, [None] * 3, ("illness",), {"age": AGES})
    assert [each.risk for each in three_questions(published, own, other)] == [0, 0, 0]


def test_nobody_to_attack() -> None:
    rows = [("0", "M", "flu")]
    published = release(NAMES, rows, ("illness",))
    own = original(NAMES, rows, published, rows, ("illness",), {"age": AGES})
    gone = original(NAMES, rows, published, [None], ("illness",), {"age": AGES})
    with pytest.raises(InputError, match="has no record to attack"):
        three_questions(published, gone, own)


CONFIG: dict[str, Any] = {
    "input": {"path": "own.csv", "person": "id"},
    "attributes": {
        "id": {"role": "identifier"},
        "age": {
            "role": "quasi-identifier",
            "type": "integer",
            "hierarchy": {"intervals": {"width": [10, 20, 40], "origin": 0}},
        },
        "sex": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 5}],
    "attacks": ["uniqueness"],
}


def people(number: int, first: int = 0) -> pd.DataFrame:
    random = Random(first)
    rows = [
        (f"P{first + each}", random.randint(20, 69), random.choice("MF"), random.choice(SECRETS))
        for each in range(number)
    ]
    return pd.DataFrame(rows, columns=list(CONFIG["attributes"]))


def written(folder: Path, **changed: Any) -> Path:
    people(400).to_csv(folder / "own.csv", index=False)
    people(100, 1000).to_csv(folder / "others.csv", index=False)
    path = folder / "job.json"
    path.write_text(json.dumps({**CONFIG, **changed}), encoding="utf-8")
    assert call("run", path, "-o", folder / "out", "--overwrite", "-q").code == 0
    return path


def attacked(folder: Path, config: Path, *options: Any) -> Any:
    release_path = folder / "out" / "share" / "release.csv"
    return call("attack", release_path, "-c", config, "-q", "--original", folder / "own.csv", *options)


def test_the_command_and_python_answer_alike(tmp_path: Path, message: SnapshotAssertion) -> None:
    config = written(tmp_path)
    control = ("--control", tmp_path / "others.csv")
    said = attacked(tmp_path, config, *control)
    assert said.code == 0, said.err
    assert exchange(control[0], "\n".join(said.out.splitlines()[-3:])) == message
    entries = attacked(tmp_path, config, *control, "--json").json["three_questions"]
    assert [each["sentence"] for each in entries] == said.out.splitlines()[-3:]
    published = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    table = an.attack(published, people(400), config, control_df=people(100, 1000))
    assert table.attrs["three_questions"] == entries
    shares = {each["question"]: each for each in entries}
    assert shares["singling-out"]["success"] == shares["singling-out"]["control"] == 0
    assert shares["inference"]["low"] == 0


@pytest.mark.quick(1)
@pytest.mark.page
@pytest.mark.parametrize("engine", [{"name": "memory"}, {"name": "duckdb"}])
def test_a_run_answers_as_the_command_does(tmp_path: Path, engine: dict[str, Any]) -> None:
    control = {"input": {**CONFIG["input"], "control": "others.csv"}, "engine": engine}
    config = written(tmp_path, **control, suppression={"limit": 0.1})
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    said = attacked(tmp_path, config, "--control", tmp_path / "others.csv", "--json").json
    own, others = (
        [(each["question"], each["control"], each["held_out"]) for each in found["three_questions"]]
        for found in (report, said)
    )
    assert own == others
    public = (tmp_path / "out" / "share" / "report.public.json").read_text(encoding="utf-8")
    assert "three_questions" not in public
    assert "others.csv" not in public
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    sentence = report["three_questions"][0]["sentence"]
    assert sentence.split(";")[0].replace("'", "&#39;") in page


def test_persons_of_a_run_are_what_a_loop_counts(tmp_path: Path, message: SnapshotAssertion) -> None:
    """Patients have three visits each, of other ages and illnesses; without their key records count."""
    config = written(tmp_path)
    random = Random(8)
    files = {}
    for name, patients in (("own.csv", people(60)), ("others.csv", people(20, 1000))):
        frame = patients.loc[patients.index.repeat(3)].reset_index(drop=True)
        frame["age"] += [random.randint(0, 9) for _ in range(len(frame))]
        frame["illness"] = [random.choice(SECRETS) for _ in range(len(frame))]
        frame["visit"] = [f"{name}{place}" for place in range(len(frame))]
        frame.to_csv(tmp_path / name, index=False)
        files[name] = frame.astype(str)
    raw = {**CONFIG, "input": {**CONFIG["input"], "control": "others.csv"}}
    raw["attributes"] = {**CONFIG["attributes"], "visit": {"role": "insensitive"}}
    raw["constraints"] = [{"model": "k-anonymity", "k": 2}]
    config.write_text(json.dumps(raw), encoding="utf-8")
    assert call("run", config, "-o", tmp_path / "out", "--overwrite", "-q").code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    found = {each["question"]: each for each in report["three_questions"]}
    released = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    who = dict(zip(files["own.csv"]["visit"], files["own.csv"]["id"], strict=True))
    shown: list[Row] = list(released[[*NAMES]].itertuples(index=False, name=None))
    publishers = [who[visit] for visit in released["visit"]]

    def fits(published: Row, row: Row, places: tuple[int, ...] = (0, 1)) -> bool:
        return all(
            published[place] == "*" or in_group(published[place], row[place], set()) for place in places
        )

    for name, field in (("own.csv", "success"), ("others.csv", "control")):
        frame = files[name]
        rows: list[Row] = list(frame[[*NAMES]].itertuples(index=False, name=None))
        persons = frame["id"].tolist()
        expected = twins.answers_of_persons(shown, publishers, rows, persons, fits)
        for question, share in expected.items():
            assert found[question][field] == pytest.approx(float(share)), (question, field)
    assert (found["inference"]["records"], found["inference"]["held_out"]) == (60, 20)
    said = attacked(tmp_path, config, "--control", tmp_path / "others.csv", "--json").json
    assert said["three_questions"] == report["three_questions"]
    files["others.csv"].drop(columns="id").to_csv(tmp_path / "others.csv", index=False)
    said = attacked(tmp_path, config, "--control", tmp_path / "others.csv", "--json").json
    assert [each["held_out"] for each in said["three_questions"]] == [60, 60, 60]
    assert exchange("a control without the key", said["warnings"][-1]) == message


REFUSED: dict[str, dict[str, Any]] = {
    "no such file": {"input": {**CONFIG["input"], "control": "nobody.csv"}},
    "people of the input": {"input": {**CONFIG["input"], "control": "own.csv"}},
    "lacks a column": {"input": {**CONFIG["input"], "control": "keys.csv"}},
    "buckets": {
        "input": {"path": "own.csv", "control": "others.csv"},
        "algorithm": {"name": "anatomy"},
        "constraints": [{"model": "l-diversity", "l": 2}],
    },
    "an append": {"input": {"path": "own.csv", "control": "others.csv"}, "apply": "out/report.json"},
    "out of core": {
        "input": {"path": "own.csv", "control": "others.csv"},
        "engine": {"name": "duckdb", "options": {"combinations": 40}},
        "suppression": {"limit": 0.1},
    },
    "another engine": {"input": {"path": "own.csv", "control": "others.csv"}, "engine": {"name": "spark"}},
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", REFUSED)
def test_a_control_that_is_none_is_refused_before_the_search(
    name: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    config = written(tmp_path)
    (tmp_path / "keys.csv").write_text("id\nX1\n", encoding="utf-8")
    config.write_text(json.dumps({**CONFIG, **REFUSED[name]}), encoding="utf-8")
    done = call("run", config, "-o", tmp_path / "other", "-q")
    assert done.code == 2
    assert not (tmp_path / "other" / "share").exists()
    assert exchange(f"{name}: {REFUSED[name]}", done.err.replace(str(tmp_path), "FOLDER")) == message


def test_groups_of_a_sensitive_attribute_that_are_built_from_the_values_are_refused(tmp_path: Path) -> None:
    income = {"role": "sensitive", "type": "integer", "hierarchy": {"auto": {}}, "labels": "range"}
    raw = {**CONFIG, "attributes": {**CONFIG["attributes"], "income": income}}
    config = tmp_path / "job.json"
    for name, first, step in (("own.csv", 0, 1), ("others.csv", 300, 3)):
        incomes = range(first, first + 300 * step, step)
        people(300, first).assign(income=incomes).to_csv(tmp_path / name, index=False)
    config.write_text(json.dumps(raw), encoding="utf-8")
    done = call("run", config, "-o", tmp_path / "out", "-q")
    assert done.code == 0, done.err
    done = attacked(tmp_path, config, "--control", tmp_path / "others.csv")
    assert done.code == 2
    assert "attributes.income.hierarchy: " in done.err
    assert "others.csv would give another one than those of" in done.err
    raw["input"] = {**CONFIG["input"], "control": "others.csv"}
    config.write_text(json.dumps(raw), encoding="utf-8")
    done = call("run", config, "-o", tmp_path / "other", "-q")
    assert done.code == 2
    assert "others.csv would give another one than those of" in done.err


def test_each_scenario_answers_by_its_worst_columns(tmp_path: Path) -> None:
    model = {"model": "k-anonymity", "k": 3}
    scenarios = {
        "neighbour": {"known": ["age"], "models": [model]},
        "anybody": {"known": {"any": 1, "of": ["age", "sex"]}, "models": [model]},
    }
    config = written(tmp_path, scenarios=scenarios)
    done = attacked(tmp_path, config, "--control", tmp_path / "others.csv", "--json")
    entries = done.json["three_questions"]
    assert {(each["scenario"], each["question"]) for each in entries} == {
        (name, question) for name in scenarios for question in ("singling-out", "inference")
    }
    by = {(each["scenario"], each["question"]): each["risk"] for each in entries}
    assert by["anybody", "inference"] >= by["neighbour", "inference"]


def test_who_is_held_out_is_not_in_the_release(tmp_path: Path, message: SnapshotAssertion) -> None:
    config = written(tmp_path)
    done = attacked(tmp_path, config, "--control", tmp_path / "own.csv")
    assert done.code == 2
    assert exchange("--control own.csv", done.err.replace(str(tmp_path), "FOLDER")) == message
    release_path = tmp_path / "out" / "share" / "release.csv"
    done = call("attack", release_path, "-c", config, "-q", "--control", tmp_path / "others.csv")
    assert done.code == 2
    assert exchange("without --original", done.err) == message


GROWN: dict[str, dict[str, Any]] = {
    "age": {"type": "integer", "hierarchy": {"auto": {}}, "levels": {"min": 2, "max": 2}},
    "ward": {"type": "text", "hierarchy": {"frequency": {"rare": 20}}, "levels": {"min": 1, "max": 1}},
}


def grown(folder: Path, name: str) -> tuple[Path, list[Row], list[Row]]:
    """Write an original, and a control whose values are rarer or other ones; return their rows."""
    random = Random(5)

    def drawn(number: int, lowest: int, wards: str) -> list[Row]:
        rows = []
        for _ in range(number):
            age, ward = min(99, max(lowest, int(random.gauss(50, 25)))), random.choice(wards)
            key = str(age) if name == "age" else ward
            likely = "xyz"[min(2, age // 34)] if name == "age" else {"A": "x", "B": "y"}.get(ward, "z")
            rows.append((key, random.choice("fm"), likely if random.random() < 0.9 else random.choice("xyz")))
        return rows

    own, others = drawn(240, 0, "A" * 40 + "B" * 40 + "cdefghij"), drawn(60, 30, "ABcdefghijk")
    # Whose value no record of the original has.
    own = [row for row in own if row[0] != "51"]
    for file, rows in (("own.csv", own), ("others.csv", others)):
        pd.DataFrame(rows, columns=[name, "sex", "dx"]).to_csv(folder / file, index=False)
    config = {
        "input": {"path": "own.csv", "control": "others.csv"},
        "attributes": {
            name: {"role": "quasi-identifier", **GROWN[name]},
            "sex": {"role": "quasi-identifier", "type": "text"},
            "dx": "sensitive",
        },
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "attacks": ["uniqueness"],
    }
    path = folder / "job.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    done = call("run", path, "-o", folder / "out", "--overwrite", "-q")
    assert done.code == 0, done.err
    return path, own, others


def in_group(label: str, value: str, labels: set[str]) -> bool:
    low, _, high = label.partition("-")
    if high:
        return int(low) <= int(value) <= int(high)
    if label.startswith("<") or label.endswith("+"):
        bound = int(label.strip("<+"))
        return int(value) < bound if label.startswith("<") else int(value) >= bound
    return label == value or (label.startswith("all but") and value not in labels)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", GROWN)
def test_a_control_is_read_in_the_hierarchies_of_the_original(tmp_path: Path, name: str) -> None:
    config, own, others = grown(tmp_path, name)
    released = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    shown: list[Row] = list(released.itertuples(index=False, name=None))
    labels = set(released[name])

    def covering(published: Row, row: Row, places: tuple[int, ...] = (0, 1)) -> bool:
        return all(
            in_group(published[0], row[0], labels) if place == 0 else published[1] == row[1]
            for place in places
        )

    said = attacked(tmp_path, config, "--control", tmp_path / "others.csv", "--json").json
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert said["three_questions"] == report["three_questions"]
    found = {each["question"]: each for each in report["three_questions"]}
    for rows, field in ((own, "success"), (others, "control")):
        for question, share in twins.answers(shown, rows, covering).items():
            assert found[question][field] == pytest.approx(float(share)), (question, field)


@pytest.mark.parametrize("name", GROWN)
def test_records_of_another_hierarchy_are_refused(tmp_path: Path, name: str) -> None:
    config, own, _ = grown(tmp_path, name)
    release_path = tmp_path / "out" / "share" / "release.csv"
    part, one = tmp_path / "part.csv", tmp_path / "one.csv"
    pd.DataFrame(own[:100], columns=[name, "sex", "dx"]).to_csv(part, index=False)
    pd.DataFrame([own[0][:2]], columns=[name, "sex"]).to_csv(one, index=False)
    for options in (("--original", part, "--force"), ("--target", one)):
        done = call("attack", release_path, "-c", config, "-q", *options)
        assert done.code == 2
        assert f"attributes.{name}.hierarchy: hierarchy" in done.err
        assert "with the command hierarchy build before the run" in done.err


def test_a_share_of_the_records_may_attack_published_values(tmp_path: Path) -> None:
    """Values at level 0 are those of the file, whatever hierarchy its own records would have."""
    cities = ["Ulm"] * 5 + ["Bonn"] * 6 + ["Jena"] * 4
    pd.DataFrame({"city": cities, "dx": list("abc") * 5}).to_csv(tmp_path / "own.csv", index=False)
    pd.DataFrame({"city": cities[:11], "dx": (list("abc") * 5)[:11]}).to_csv(
        tmp_path / "part.csv", index=False
    )
    raw = {
        "input": {"path": "own.csv"},
        "attributes": {
            "city": {"role": "quasi-identifier", "hierarchy": {"order": {"sizes": [2]}}},
            "dx": "sensitive",
        },
        "constraints": [{"model": "k-anonymity", "k": 3}],
        "attacks": ["linkage"],
    }
    config = tmp_path / "job.json"
    config.write_text(json.dumps(raw), encoding="utf-8")
    assert call("run", config, "-o", tmp_path / "out", "-q").code == 0
    done = call(
        "attack",
        tmp_path / "out" / "share" / "release.csv",
        "-c",
        config,
        "--original",
        tmp_path / "part.csv",
    )
    assert done.code == 0, done.err
    assert done.out.startswith("11 of 15 records")


def test_an_original_without_a_column_is_compared_by_the_others(tmp_path: Path) -> None:
    config, own, _ = grown(tmp_path, "age")
    bare = pd.read_csv(tmp_path / "own.csv").drop(columns="age")
    bare.to_csv(tmp_path / "bare.csv", index=False)
    options = ("--original", tmp_path / "bare.csv", "--control", tmp_path / "others.csv", "--force", "-q")
    done = call("attack", tmp_path / "out" / "share" / "release.csv", "-c", config, *options)
    assert done.code == 0, done.err
    assert len(bare) == len(own)


def test_excess_by_hand() -> None:
    assert excess(0.6, 0.2) == pytest.approx(float(Fraction(1, 2)))
    assert excess(0.1, 0.2) == 0
    assert excess(1.0, 1.0) == 0
