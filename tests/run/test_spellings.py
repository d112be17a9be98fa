"""Equal values in other spellings, wherever texts meet: the same classes, measures and verdict."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given

import anonymizer as an
from anonymizer.errors import Infeasible
from tests.run.commands import assert_audits, call, read_rows
from tests.strategies import randoms

COLUMNS = ("who", "home", "age", "town", "ill", "income")
TOWNS, ILLNESSES = ("Besançon", "Zürich", "Oslo"), ("grippe aiguë", "asthma", "Überbein")
NOTHING = "-9"


def rows_of(random: Random) -> list[tuple[str, ...]]:
    """Return records of persons, who live in one household and may have several."""
    homes = [str(random.randrange(1, 7)) for _ in range(14)]
    persons = [random.randrange(len(homes)) for _ in range(26)]
    return [
        (
            str(person + 1),  # 0e0 would be a code, not a number
            homes[person],
            str(random.choice((20, 30, 40))),
            random.choice(TOWNS),
            random.choice(ILLNESSES),
            random.choice(("1200", "1500", NOTHING)),
        )
        for person in persons
    ]


def number_form(text: str, random: Random) -> str:
    forms = (text, f"{text}.0", f"{text}.", f" {text}", f"{text} ", f"{text}e0", f"{int(text) * 10}e-1")
    return random.choice(forms)


def text_form(text: str, random: Random) -> str:
    form = unicodedata.normalize(random.choice(("NFC", "NFD")), text)
    return random.choice((form, f" {form}", f"{form} ", f"\u00a0{form}"))


def spelled(rows: Sequence[tuple[str, ...]], random: Random) -> list[tuple[str, ...]]:
    """Return records with each value in a random spelling, and the first of each column in its usual one."""
    form = {3: text_form, 4: text_form}
    return [
        tuple(
            text if record == 0 else form.get(place, number_form)(text, random)
            for place, text in enumerate(row)
        )
        for record, row in enumerate(rows)
    ]


def config_of(k: int, l: int, **settings: Any) -> dict[str, Any]:  # noqa: E741 - its name in the field
    return {
        "input": {"missing": ["", NOTHING], "person": "who", "household": "home"},
        "attributes": {
            "who": "identifier",
            "home": "identifier",
            "age": "quasi-identifier",
            "town": "quasi-identifier",
            "ill": "sensitive",
            "income": "sensitive",
        },
        "constraints": [
            {"model": "k-anonymity", "k": k},
            {"model": "k-anonymity", "k": 2, "unit": "household"},
            {"model": "l-diversity", "l": l, "attribute": "ill", "unit": "record"},
            {"model": "t-closeness", "t": 0.9, "attribute": "income", "unit": "record"},
        ],
        "suppression": {"limit": 0.3},
        "algorithm": {"name": "lattice"},
        **settings,
    }


def identity(text: Any) -> str:
    """Return a value in one spelling, by rules written for this test."""
    if text is None or pd.isna(text):
        return ""
    plain = unicodedata.normalize("NFC", str(text).strip())
    try:
        return str(float(plain))
    except ValueError:
        return plain


@dataclass(frozen=True)
class Outcome:
    """What a run found: none of it depends on spellings."""

    measured: list[Any]
    classes: int
    levels: Any
    rows: Counter[tuple[str, ...]]


def outcome_of(report: dict[str, Any], rows: Sequence[Sequence[Any]]) -> Outcome:
    return Outcome(
        [(each["model"], each["measured"], each["satisfied"]) for each in report["constraints"]],
        report["release"]["classes"],
        report["recoding"]["levels"],
        Counter(tuple(map(identity, row)) for row in rows),
    )


def of_frame(rows: Sequence[tuple[str, ...]], config: dict[str, Any], _: Path) -> Outcome | None:
    try:
        found = an.anonymize(pd.DataFrame(rows, columns=COLUMNS, dtype="str"), config)
    except Infeasible:
        return None
    return outcome_of(found.report.to_dict(), found.data.to_numpy().tolist())


def of_file(rows: Sequence[tuple[str, ...]], config: dict[str, Any], folder: Path) -> Outcome | None:
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=COLUMNS, dtype="str").to_csv(folder / "a.csv", index=False)
    own = {**config, "input": {**config["input"], "path": "a.csv"}}
    (folder / "c.json").write_text(json.dumps(own), encoding="utf-8")
    done = call("run", folder / "c.json", "-q", "--overwrite")
    if done.code:
        assert "INFEASIBLE" in done.err, done.err
        return None
    report = json.loads((folder / "c-release" / "report.json").read_text(encoding="utf-8"))
    release, measured = folder / "c-release" / "share" / "release.csv", report["constraints"]
    if measured[0]["verifiable_from_release"]:
        assert call("audit", release).code == 0
    elif any(each["verifiable_from_release"] for each in measured):
        # Without the first constraint nothing is verified; the owner has what it needs.
        assert call("audit", release).code == 1
        assert call("audit", release, "--report", folder / "c-release" / "report.json").code == 0
    else:
        assert_audits(folder / "c-release")
    return outcome_of(report, read_rows(folder / "c-release" / "share" / "release.csv"))


Running = Callable[[Sequence[tuple[str, ...]], dict[str, Any], Path], "Outcome | None"]


@pytest.mark.parametrize("seed", range(3))
def test_a_frame_in_other_spellings_gives_the_same_run(seed: int) -> None:
    random = Random(seed)
    rows, config = rows_of(random), config_of(2, 2)
    first = of_frame(rows, config, Path())
    assert first is not None
    assert of_frame(spelled(rows, random), config, Path()) == first


@pytest.mark.slow
@given(randoms())
def test_any_frame_in_other_spellings_gives_the_same_run(random: Random) -> None:
    rows, config = rows_of(random), config_of(random.choice((2, 3)), random.choice((1, 2)))
    assert of_frame(spelled(rows, random), config, Path()) == of_frame(rows, config, Path())


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("seed", range(2))
def test_a_file_in_other_spellings_gives_the_same_run(seed: int, engine: str, tmp_path: Path) -> None:
    random = Random(seed)
    rows, config = rows_of(random), config_of(2, 2, engine={"name": engine})
    first = of_file(rows, config, tmp_path / "usual")
    assert of_file(spelled(rows, random), config, tmp_path / "other") == first


def test_sensitive_texts_stay_as_they_are_and_a_quasi_identifier_has_one_spelling(tmp_path: Path) -> None:
    rows = [
        ("1", "1", "20", town, ill, "5")
        for town, ill in zip(["Zu\u0308rich ", "Zürich"] * 3, "abcdef", strict=True)
    ]
    rows += [("2", "2", "20.0", "Zürich", " a", "5")]
    config = config_of(1, 1)
    config["constraints"] = [{"model": "k-anonymity", "k": 2}]
    found = of_file(rows, config, tmp_path)
    assert found is not None
    released = read_rows(tmp_path / "c-release" / "share" / "release.csv")
    assert {(row[0], row[1]) for row in released} == {("20", "Zürich")}
    assert sorted(row[2] for row in released) == sorted(row[4] for row in rows)


def measures_of(done: Any) -> list[tuple[Any, ...]]:
    content = done.json
    return [(each["model"], each["measured"]) for each in content["constraints"] + content["measures"]]


@pytest.mark.slow
def test_check_reads_as_a_run_does(tmp_path: Path) -> None:
    rows = rows_of(Random(8))
    config = config_of(2, 1)
    found = []
    for name, own in (("usual", rows), ("other", spelled(rows, Random(9)))):
        of_file(own, config, tmp_path / name)
        by_config = call("check", tmp_path / name / "a.csv", "-c", tmp_path / name / "c.json", "--json")
        by_names = call(
            "check",
            tmp_path / name / "a.csv",
            "--qi",
            "age,town",
            "--person",
            "who",
            "--sensitive",
            "ill",
            "--json",
        )
        found.append([measures_of(by_config), measures_of(by_names)])
    assert found[0] == found[1]


def write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


PEOPLE = {"age": "quasi-identifier", "s": "sensitive"}


def population_job(folder: Path, ages: Sequence[str], census: Sequence[str], **age: Any) -> Any:
    write(folder / "a.csv", ["age", "s"], [(age, "xy"[place % 2]) for place, age in enumerate(ages)])
    write(folder / "census.csv", ["age"], [(age,) for age in census])
    config = {
        "input": {"path": "a.csv", "population": "census.csv"},
        "attributes": {"age": {"role": "quasi-identifier", **age}, "s": "sensitive"},
        "constraints": [{"model": "k-map", "k": 4}],
    }
    (folder / "c.json").write_text(json.dumps(config), encoding="utf-8")
    return call("run", folder / "c.json", "-q")


@pytest.mark.parametrize("age", [{}, {"type": "integer"}], ids=["inherited", "declared"])
def test_a_population_may_spell_whole_numbers_with_a_fraction(age: dict[str, Any], tmp_path: Path) -> None:
    done = population_job(tmp_path, ["41", "41", "62"] * 2, ["41.0", "62.00"] * 5, **age)
    assert done.code == 0, done.err
    assert "k-map k=4: measured 5" in done.out
    checked = call("check", tmp_path / "a.csv", "-c", tmp_path / "c.json")
    assert "holds  k-map k=4: measured 5" in checked.out


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("ages", "census", "measured"),
    [
        (["41", "41", "62"] * 2, ["41.0", "41", "+62", "62", "6.2e1"] * 2, 4),
        (["01", "01", "2"] * 2, ["01", "01 ", "2", "2", "2"] * 2, 4),
        ([" 2020-01-31", "2020-02-01"] * 2, ["2020-01-31", "2020-02-01 00:00"] * 4, 4),
    ],
)
def test_check_reads_a_population_as_the_run_does(
    ages: list[str], census: list[str], measured: int, tmp_path: Path
) -> None:
    done = population_job(tmp_path, ages, census)
    assert f"k-map k=4: measured {measured}" in done.out, done.err
    for checked in ("a.csv", "c-release/share/release.csv"):
        told = call("check", tmp_path / checked, "-c", tmp_path / "c.json")
        assert f"holds  k-map k=4: measured {measured}" in told.out, told.err


def test_a_message_counts_the_records_of_the_population_alone(tmp_path: Path) -> None:
    done = population_job(tmp_path, ["41", "41", "62"] * 2, ["41.0", "62.5"] * 5)
    assert done.code == 2
    assert "census.csv: column 'age': the input has whole numbers, but 5 of 10 records are not" in done.err


def test_one_person_has_one_pseudonym(tmp_path: Path) -> None:
    write(
        tmp_path / "a.csv", ["who", "q"], [("21", "a"), ("21.0", "a"), (" 22", "a"), ("22", "a"), ("23", "b")]
    )
    config = {
        "input": {"path": "a.csv", "person": {"column": "who", "release_as": "pseudonym"}},
        "attributes": {"who": "identifier", "q": "quasi-identifier"},
        "constraints": [{"model": "k-anonymity", "k": 1}],
    }
    (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
    assert call("run", tmp_path / "c.json", "-q").code == 0
    released = read_rows(tmp_path / "c-release" / "share" / "release.csv")
    assert sorted(Counter(row[0] for row in released).values()) == [1, 2, 2]


@pytest.mark.parametrize("other", ["70", "unknown", "070"])
@pytest.mark.parametrize("fraction", ["", ".0"])
def test_held_out_people_are_found_in_the_input_however_their_key_is_spelled(
    fraction: str, other: str, tmp_path: Path
) -> None:
    people = [(f"{number}{fraction}", "ab"[number % 2], "x") for number in range(8)]
    write(tmp_path / "a.csv", ["who", "q", "s"], people)
    write(tmp_path / "control.csv", ["who", "q", "s"], [("7.0", "a", "x"), (other, "b", "x")])
    config = {
        "input": {"path": "a.csv", "person": "who", "control": "control.csv"},
        "attributes": {"who": "identifier", "q": "quasi-identifier", "s": "sensitive"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
    done = call("run", tmp_path / "c.json", "-q")
    assert done.code == 2
    assert "has records of 1 person of" in done.err


def warnings_of(folder: Path, command: str = "run") -> str:
    asked = (
        [folder / "a.csv", "-c", folder / "c.json"]
        if command == "check"
        else [folder / "c.json", "--overwrite"]
    )
    return call(command, *asked).out


@pytest.fixture(params=["run", "check"])
def said(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., str]:
    """Return the warnings of a command about records and a few settings of the input."""

    def warn(rows: Sequence[Sequence[str]], **given: Any) -> str:
        write(tmp_path / "a.csv", ["who", "q", "s"], rows)
        config = {
            "input": {"path": "a.csv", "person": "who", **given},
            "attributes": {"who": "identifier", "q": "quasi-identifier", "s": "sensitive"},
            "constraints": [{"model": "l-diversity", "l": 1}],
        }
        (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
        lines = warnings_of(tmp_path, request.param).splitlines()
        return "\n".join(line for line in lines if line.startswith("Warning:"))

    return warn


def test_values_that_look_alike_are_warned_about(said: Callable[..., str]) -> None:
    rows = [
        (str(number), "a", ill)
        for number, ill in enumerate(["Gout", "gout.", "gout", "Rash", "rash", "x"] * 2)
    ]
    told = said(rows)
    assert "sensitive column 's': 3 of its values look like others, such as 'Gout' and 'gout'" in told
    assert "look like others" not in said(
        [(str(number), "a", ill) for number, ill in enumerate(["x", " x", "y"])]
    )


@pytest.mark.quick(3)
@pytest.mark.parametrize("word", ["NULL", "n/a", "<NA>", "Unknown", " null"])
def test_words_for_missing_values_are_warned_about(word: str, said: Callable[..., str]) -> None:
    rows = [(str(number), "a", ill) for number, ill in enumerate(["flu", word, word, word])]
    assert f"sensitive column 's' has {word!r} in 3 records" in said(rows)
    assert "looks like a missing value" not in said(rows, missing=["", word.strip()])


def test_keys_that_look_alike_are_warned_about(said: Callable[..., str]) -> None:
    keys = ["A1", "a1", "B2", "B02", "C3.", "C3", "D4"]
    told = said([(key, "a", "x") for key in keys])
    assert "column 'who' has 3 pairs of keys that differ only in capitals" in told
    assert "pairs of keys" not in said([(key, "a", "x") for key in ["1", "1.0", "2", "10", "100"]])


def test_a_code_that_no_column_has_is_warned_about(said: Callable[..., str]) -> None:
    rows = [("1", "a", "7"), ("2", "a", "-1.0"), ("3", "na\u0308 ", "5"), ("99.", "a", "5")]
    told = said(rows, missing=["", "-1", "nä", 99, 77, "none"])
    assert "input.missing: no column has '77', 'none'" in told


@pytest.mark.quick(3)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("forms", ["{0}|{0} | {0}", "{0}|{0}.0|{0}e0"], ids=["blanks", "fractions"])
def test_a_key_that_no_constraint_counts_is_counted_by_value(
    forms: str, command: str, engine: str, tmp_path: Path
) -> None:
    rows = [(form.format(100 + p), str(20 + p), "x") for p in range(12) for form in forms.split("|")]
    rows += [(str(100 + p), "50", "x") for p in range(3)]
    write(tmp_path / "a.csv", ["patient_id", "age", "s"], rows)
    config = {
        "input": {"path": "a.csv"},
        "engine": {"name": engine},
        "attributes": {"patient_id": "drop", "age": "quasi-identifier", "s": "sensitive"},
        "constraints": [{"model": "k-anonymity", "k": 3}],
    }
    (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
    told = warnings_of(tmp_path, command)
    assert "column 'patient_id' repeats: 12 values in 39 records" in told
    assert "12 of 13 classes contain fewer than 3 of these values" in told


def test_a_column_links_records_by_value(tmp_path: Path) -> None:
    rows = [(f"P{p}", "a", form.format(100 + p)) for p in range(6) for form in ("{0}", "{0}.0", " {0}")]
    config = config_of(1, 1)
    config["input"] = {"person": "who"}
    config["attributes"] = {"who": "identifier", "q": "quasi-identifier", "s": "sensitive"}
    config["constraints"] = [{"model": "k-anonymity", "k": 2}]
    found = an.anonymize(pd.DataFrame(rows, columns=["who", "q", "s"]), config)
    assert found.report.to_dict()["units"]["person"]["linked_by"] == {"s": 6}


PAIRS = [f"P{number:03}" for number in range(1, 21)] + [f"p{number}" for number in range(1, 21)]


def alike(folder: Path, column: str, role: str, command: str, **given: Any) -> str:
    """Return what a command tells about a column of keys, of which each looks like another one."""
    rows = [(key, "ab"[row % 2], "x") for row, key in enumerate(PAIRS)]
    write(folder / "a.csv", [column, "age", "s"], rows)
    config = {
        "input": {"path": "a.csv"},
        "attributes": {column: role, "age": "quasi-identifier", "s": "sensitive"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        **given,
    }
    (folder / "c.json").write_text(json.dumps(config), encoding="utf-8")
    if command == "init":
        return call("init", folder / "a.csv", "-o", folder / "d.yaml").out.replace("\n", " ")
    return warnings_of(folder, command)


@pytest.mark.parametrize("command", ["init", "run", "check"])
def test_keys_that_no_setting_names_are_compared_by_name(command: str, tmp_path: Path) -> None:
    told = alike(tmp_path, "patient_id", "drop", command)
    assert "column 'patient_id' has 20 pairs of keys that differ only in capitals" in told
    assert "set input.person: patient_id to protect persons" in told


def test_keys_that_identify_are_compared_unless_rows_are_persons(tmp_path: Path) -> None:
    assert "column 'code' has 20 pairs of keys" in alike(tmp_path, "code", "identifier", "run")
    assert "pairs of keys" not in alike(tmp_path, "code", "insensitive", "run")
    sure = {"acknowledge": ["rows-are-persons"]}
    assert "pairs of keys" not in alike(tmp_path, "code", "identifier", "run", **sure)
    assert "set input.household: household_id to protect households" in alike(
        tmp_path, "household_id", "drop", "check"
    )
