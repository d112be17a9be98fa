"""A project of ARX becomes a folder that ``check`` and ``run`` take without an edit."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from tests.profile.deid_files import IDENTIFYING, INSENSITIVE, SENSITIVE, Described, Made
from tests.run.commands import Done, call

ILLNESSES = ("flu", "asthma", "gout", "NULL")
CITIES = {"Bonn": "west", "Köln": "west", "Jena": "east", "a;b": "east"}


def records(number: int = 240) -> list[list[str]]:
    """Return people with ages, dates of birth, cities, sums of money, grades and illnesses."""
    random = Random(5)
    found = []
    for place in range(number):
        age = random.randint(20, 59)
        found.append(
            [
                f"P{place}",
                str(age) if place % 60 else "NULL",
                f"{random.randint(1, 28):02d}.{random.randint(1, 12):02d}.{2020 - age}",
                random.choice([*CITIES]),
                f"{random.randint(1000, 9999)},{random.randint(10, 99)}",
                random.choice(["low", "middle", "high"]),
                random.choice(ILLNESSES),
                "free text",
            ]
        )
    return found


RECORDS = records()
AGES = [[str(age), f"{age // 10}0s", "*"] for age in range(20, 60)] + [["NULL", "unknown", "*"]]
BIRTHS = [[day, day[-4:], f"{day[-4:-1]}0s"] for day in sorted({record[2] for record in RECORDS})]
PEOPLE = Made(
    {
        "id": Described(IDENTIFYING, levels=[["x", "*"]]),
        "age": Described(kind="Integer", levels=AGES),
        "born": Described(kind="Date/Time", levels=BIRTHS, further={"format": "dd.MM.yyyy", "locale": "DE"}),
        "city": Described(levels=[[city, region, "*"] for city, region in CITIES.items()]),
        "income": Described(kind="Decimal", further={"locale": "DE", "microaggregationFunction": "Median"}),
        "grade": Described(
            kind="Ordinal",
            levels=[["low", "*"], ["middle", "*"], ["high", "*"]],
            further={"format": "low\nmiddle\nhigh"},
        ),
        "illness": Described(SENSITIVE),
        "note": Described(INSENSITIVE),
    },
    RECORDS,
    models=(
        "4-anonymity",
        "distinct-2-diversity for attribute 'illness'",
        "0.9-closeness with equal ground-distance for attribute 'illness'",
    ),
    weights={"age": "0.9", "born": "0.5", "city": "0.5", "income": "0.5", "grade": "0.25"},
    limit="0.25",
)


def made(folder: Path, project: Made, *options: str) -> Done:
    """Write a project and make a folder of it."""
    return call("init", project.write(folder / "people.deid"), *options)


def config(folder: Path) -> dict[str, Any]:
    """Return the config of the folder as plain YAML."""
    content: dict[str, Any] = yaml.safe_load((folder / "people" / "people.yaml").read_text(encoding="utf-8"))
    return content


def assert_runs(folder: Path) -> dict[str, Any]:
    """Run the folder; return the report."""
    done = call("run", folder / "people" / "people.yaml", "--set", "bound=none", "--json")
    assert done.code == 0, done.err
    assert done.json["status"] == "satisfied"
    return done.json


def test_a_project_runs_without_an_edit(tmp_path: Path) -> None:
    done = made(tmp_path, PEOPLE)
    assert (done.code, done.err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "people").iterdir()) == [
        "data.csv",
        "hierarchies",
        "people.yaml",
    ]
    own = config(tmp_path)
    assert own["input"] == {"path": "data.csv", "separator": ";", "decimal": ",", "missing": ["", "NULL"]}
    columns = own["attributes"]
    assert columns["id"] == {"role": "identifier"}
    assert columns["age"] == {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"file": "hierarchies/age.csv"},
        "weight": 0.9,
    }
    assert columns["born"]["format"] == "%d.%m.%Y"
    assert columns["born"]["levels"] == {"max": 2}
    with (tmp_path / "people" / "hierarchies" / "born.csv").open(encoding="utf-8", newline="") as file:
        assert all(row[0][:4] == row[1] and row[0][4] == "-" for row in csv.reader(file))
    assert columns["income"]["type"] == "number"
    assert columns["income"]["hierarchy"] == {"auto": {}}
    assert columns["grade"]["type"] == "text"
    assert (columns["illness"], columns["note"]) == (
        {"role": "sensitive", "type": "text"},
        {"role": "insensitive"},
    )
    assert own["constraints"][1] == {
        "model": "l-diversity",
        "l": 2,
        "attribute": "illness",
        "missing_sensitive": "value",
    }
    assert own["reference"] == "input"
    assert own["suppression"] == {"limit": 0.25, "keep_rows": True}
    folder = tmp_path / "people"
    assert call("check", folder / "data.csv", "-c", folder / "people.yaml").code in (0, 1)
    report = assert_runs(tmp_path)
    assert report["input"]["rows"] == len(RECORDS)
    assert {each["model"] for each in report["constraints"]} == {"k-anonymity", "l-diversity", "t-closeness"}


def test_what_is_not_carried_over_is_named_in_the_config_too(tmp_path: Path) -> None:
    project = replace(PEOPLE, models=(*PEOPLE.models, "(1.0,1.0E-6)-DP"), metric="Classification accuracy")
    done = made(tmp_path, project)
    text = (tmp_path / "people" / "people.yaml").read_text(encoding="utf-8")
    comments = " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    for told in (
        "privacy model (1.0,1.0E-6)-DP: has no counterpart here",
        "quality measure Classification accuracy: has no counterpart here",
        "microaggregation of 'income' (Median): generalized in groups of neighbours",
        "order of the 3 values of 'grade' (Ordinal)",
        "hierarchies of columns that are not generalized: 'id'",
        "hierarchy of 'born': has no root",
        "the settings of its last run: output/",
    ):
        assert told in done.out
        assert told in comments
    assert done.out.index("Carried over with another meaning:") < done.out.index("Not carried over:")


def test_json(tmp_path: Path) -> None:
    done = made(tmp_path, PEOPLE, "--json")
    assert set(done.json) == {"config", "columns", "changed", "left_out"}
    assert done.json["columns"]["age"]["role"] == "quasi-identifier"
    assert done.json["config"]["constraints"][0]["k"] == 4


def test_selected_records_are_a_sample_of_the_others(tmp_path: Path) -> None:
    chosen = [*range(0, 240, 2)]
    project = replace(PEOPLE, selected=chosen, models=("(6)-map",))
    assert made(tmp_path, project).code == 0
    own = tmp_path / "people"
    with (own / "data.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    assert header == [*PEOPLE.columns]
    assert rows == [RECORDS[place] for place in chosen]
    with (own / "population.csv").open(encoding="utf-8", newline="") as file:
        assert [*csv.reader(file, delimiter=";")][1:] == RECORDS
    assert config(tmp_path)["input"]["population"] == {"path": "population.csv"}
    report = assert_runs(tmp_path)
    assert report["constraints"][0]["model"] == "k-map"
    assert report["input"]["rows"] == len(chosen)


def test_hierarchies_place_the_whole_population(tmp_path: Path) -> None:
    """The selected records lack values that the others have."""
    place = next(place for place, record in enumerate(RECORDS) if record[1] == "59")
    columns = {**PEOPLE.columns, "age": Described(kind="Integer", levels=AGES[:39] + AGES[40:])}
    chosen = [each for each, record in enumerate(RECORDS) if record[1] != "59"]
    assert place not in chosen
    project = replace(PEOPLE, columns=columns, selected=chosen, models=("(4)-map",))
    assert made(tmp_path, project).code == 0
    assert config(tmp_path)["attributes"]["age"]["hierarchy"]["unknown"] == "top"
    assert assert_runs(tmp_path)["input"]["rows"] == len(chosen)


def test_weights(tmp_path: Path) -> None:
    """A column without a weight has one half; equal weights are none."""
    assert made(tmp_path, replace(PEOPLE, weights={"age": "0.9"})).code == 0
    assert [
        each.get("weight")
        for each in config(tmp_path)["attributes"].values()
        if each["role"] == "quasi-identifier"
    ] == [0.9, 0.5, 0.5, 0.5, 0.5]
    done = made(tmp_path, replace(PEOPLE, weights=dict.fromkeys(PEOPLE.columns, "0.0")), "--overwrite")
    assert "weights of columns: all are 0" in done.out
    assert "weight" not in config(tmp_path)["attributes"]["age"]


def test_only_selected_records_reach_the_folder(tmp_path: Path) -> None:
    """Nobody wants the others in a release, or beside it."""
    project = replace(PEOPLE, selected=[*range(100)], models=("4-anonymity", "Inclusion"))
    assert made(tmp_path, project).code == 0
    assert not (tmp_path / "people" / "population.csv").exists()
    assert assert_runs(tmp_path)["input"]["rows"] == 100


def test_a_selection_of_other_data(tmp_path: Path) -> None:
    project = replace(PEOPLE, selected=[*range(100)], models=("4-anonymity", "Inclusion"))
    fewer = replace(project, records=RECORDS[:200], selected=None).members()["data/input.csv"]
    path = project.write(tmp_path / "people.deid", {"data/input.csv": fewer})
    done = call("init", path)
    assert done.code == 2
    assert "a selection among 240 records, but data/input.csv in it has another number" in done.err
    assert [each.name for each in tmp_path.iterdir()] == ["people.deid"]


def test_columns_that_do_not_fit_become_text_or_lose_their_hierarchy(tmp_path: Path) -> None:
    odd = {
        **PEOPLE.columns,
        "age": Described(kind="Integer", levels=AGES[:3]),
        "born": Described(kind="Date/Time", further={"format": "MM/dd/yyyy"}),
        "city": Described(levels=[["Bonn", "west", "*"], ["Köln", "west", "all"], ["Jena", "west", "*"]]),
    }
    done = made(tmp_path, replace(PEOPLE, columns=odd, limit="1.0"))
    assert done.code == 0
    columns = config(tmp_path)["attributes"]
    assert columns["age"]["hierarchy"] == {"file": "hierarchies/age.csv", "unknown": "top"}
    assert "hierarchy of 'age': lacks values of the data" in done.out
    assert (columns["born"]["type"], columns["born"]["levels"]) == ("text", {"max": 0})
    assert "type Date/Time of 'born': text, as not all of its values have that type" in done.out
    assert "hierarchy" not in columns["city"]
    assert "hierarchy of 'city': " in done.out
    assert not (tmp_path / "people" / "hierarchies" / "city.csv").exists()


def test_names_of_columns_are_no_paths(tmp_path: Path) -> None:
    columns = {name.replace("city", "a/b: c"): each for name, each in PEOPLE.columns.items()}
    assert made(tmp_path, replace(PEOPLE, columns=columns)).code == 0
    assert config(tmp_path)["attributes"]["a/b: c"]["hierarchy"] == {"file": "hierarchies/a_b_ c.csv"}
    assert_runs(tmp_path)


def test_old_data_are_of_windows(tmp_path: Path) -> None:
    assert made(tmp_path, replace(PEOPLE, encoding="cp1252")).code == 0
    assert config(tmp_path)["input"]["encoding"] == "cp1252"
    assert_runs(tmp_path)


def test_projects_without_constraints_or_quasi_identifiers(tmp_path: Path) -> None:
    rows = [[record[3], record[7]] for record in RECORDS]
    columns = {"city": Described(), "note": Described(SENSITIVE)}
    bare = replace(PEOPLE, columns=columns, models=(), records=rows, limit="1.0")
    done = made(tmp_path, bare)
    assert done.code == 0
    assert "k-anonymity with k = 5 stands in; decide on your constraints" in done.out
    assert_runs(tmp_path)
    columns = {name: Described(INSENSITIVE) for name in columns}
    done = made(tmp_path, replace(bare, columns=columns), "-o", str(tmp_path / "new" / "a.yaml"))
    assert (done.code, done.out) == (2, "")
    assert "no column is quasi-identifying" in done.err
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_there(tmp_path: Path) -> None:
    assert made(tmp_path, PEOPLE).code == 0
    own = tmp_path / "people"
    (own / "mine.txt").write_text("kept")
    before = (own / "people.yaml").read_bytes()
    done = made(tmp_path, replace(PEOPLE, models=("9-anonymity",)))
    assert done.code == 2
    assert "people.yaml: exists; replace it and the files beside it with --overwrite" in done.err
    assert (own / "people.yaml").read_bytes() == before
    assert made(tmp_path, replace(PEOPLE, models=("9-anonymity",)), "--overwrite").code == 0
    assert config(tmp_path)["constraints"][0] == {"model": "k-anonymity", "k": 9}
    assert sorted(path.name for path in own.iterdir()) == [
        "data.csv",
        "hierarchies",
        "mine.txt",
        "people.yaml",
    ]


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data.csv").write_text("mine")
    done = made(tmp_path, PEOPLE, "--overwrite", "-o", str(tmp_path / "other" / "people.yaml"))
    assert done.code == 2
    assert "has other files; a project gets a folder of its own" in done.err
    assert (tmp_path / "other" / "data.csv").read_text() == "mine"
    done = made(tmp_path, PEOPLE, "-o", str(tmp_path / "new" / "own.yml"))
    assert done.code == 0
    assert (tmp_path / "new" / "own.yml").exists()
    assert made(tmp_path, PEOPLE, "-o", str(tmp_path / "no" / "new" / "a.yaml")).code == 2
    assert made(tmp_path, PEOPLE, "-o", str(tmp_path / "new2" / "a.json")).code == 2
    (tmp_path / "people").write_text("a file")
    assert "exists, and is no folder" in made(tmp_path, PEOPLE).err


def test_quotes_within_a_value(tmp_path: Path) -> None:
    """The tool does not double them; what is no CSV at all is refused by its line."""
    data = PEOPLE.members()["data/input.csv"].replace(b"free text", b'5" pipe')
    selected = replace(PEOPLE, selected=[*range(120)], models=("4-anonymity", "Inclusion"))
    for name, project in (("all", PEOPLE), ("some", selected)):
        path = project.write(tmp_path / f"{name}.deid", {"data/input.csv": data})
        assert call("init", path).code == 0
        with (tmp_path / name / "data.csv").open(encoding="utf-8", newline="") as file:
            assert {row[-1] for row in [*csv.reader(file, delimiter=";")][1:]} == {'5" pipe'}
        assert call("run", tmp_path / name / f"{name}.yaml").code == 0
        assert not [*(tmp_path / name).glob("*.loose")]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    data = PEOPLE.members()["data/input.csv"].replace(b"free text", b"\x81\xff")
    selected = replace(PEOPLE, selected=[*range(120)], models=("4-anonymity", "Inclusion"))
    done = call("init", selected.write(tmp_path / "people.deid", {"data/input.csv": data}))
    assert done.code == 2
    assert "data/input.csv in it" in done.err
    assert [each.name for each in tmp_path.iterdir()] == ["people.deid"]


@pytest.mark.parametrize(
    "options", [("--qi", "age"), ("--k", "5"), ("-i",), ("--cautious",), ("--for", "public-use")]
)
def test_options_that_a_project_decides(options: tuple[str, ...], tmp_path: Path) -> None:
    done = made(tmp_path, PEOPLE, *options)
    assert done.code == 2
    assert "only --output, --overwrite, --quiet and --json go with it" in done.err
    assert not (tmp_path / "people").exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"../a.csv": b"a"},
        {"input/config.xml": b"<!DOCTYPE a><config/>"},
        {"data/input.csv": None},
        {"data/input.csv": b'a;b\n"1;2\n'},
        {"data/input.csv": b"other;columns\n1;2\n"},
        {"data/input.csv": b""},
    ],
)
def test_nothing_is_left_of_a_project_that_is_refused(
    changed: dict[str, bytes | None], tmp_path: Path
) -> None:
    path = PEOPLE.write(tmp_path / "people.deid", changed)
    done = call("init", path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {path}: ")
    assert done.err.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["people.deid"]


def test_hierarchy_files_beside_a_csv_file(tmp_path: Path) -> None:
    rows = [["age", "city", "illness"], *([record[1], record[3], record[6]] for record in RECORDS[1:60])]
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    (tmp_path / "hierarchies").mkdir()
    ages = "".join(f"{age};{age // 10}0s;*\n" for age in range(20, 60))
    (tmp_path / "people_hierarchy_age.csv").write_text(ages)
    (tmp_path / "hierarchies" / "city.csv").write_text("Bonn;west;*\nKöln;west\n", encoding="utf-8")
    (tmp_path / "hierarchies" / "illness.csv").write_text("flu;*\n")
    (tmp_path / "out").mkdir()
    done = call("init", tmp_path / "people.csv", "-o", tmp_path / "out" / "people.yaml")
    assert done.code == 0, done.err
    own = yaml.safe_load((tmp_path / "out" / "people.yaml").read_text(encoding="utf-8"))["attributes"]
    assert own["age"]["hierarchy"] == {"file": "../people_hierarchy_age.csv"}
    assert "file" not in own["city"].get("hierarchy", {})
    assert "hierarchy file ../hierarchies/city.csv line 2: has 2 columns" in done.out
    assert "init drafts another one for 'city'" in done.out
    assert "hierarchy file ../hierarchies/illness.csv is not used" in done.out
    assert call("run", tmp_path / "out" / "people.yaml").code == 0


ROOT = Path(__file__).parents[2]


def test_the_project_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows what ``init`` prints for a project."""
    columns = {
        "id": Described(IDENTIFYING),
        "age": Described(kind="Integer", levels=AGES, further={"min": "1", "max": "All"}),
        "city": Described(levels=[[city, region, "*"] for city, region in CITIES.items()]),
        "illness": Described(SENSITIVE),
    }
    project = Made(
        columns,
        [[record[0], record[1], record[3], record[6]] for record in RECORDS],
        models=("5-anonymity", "(1.0,1.0E-6)-DP", "1.0-disclosure privacy for attribute 'illness'"),
        metric="Loss (0.2/0.4/1.0)",
        limit="0.1",
        title=("Clinic", ""),
    )
    project.write(tmp_path / "clinic.deid")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "howto" / "coming-from.md").read_text(encoding="utf-8")
    shown = page.split("```text\n", 1)[1].split("```", 1)[0]
    assert shown == f"$ anonymizer init clinic.deid\n{call('init', 'clinic.deid', '--quiet').out}"
    assert call("run", "clinic/clinic.yaml", "--quiet").code == 0
