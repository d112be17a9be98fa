"""From a file of SPSS, Stata or Excel to a release in its format, without an edit of the config between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyreadstat
import pytest
import yaml

import anonymizer as an
from anonymizer.cli.main import main
from anonymizer.config.load import load_config
from anonymizer.data.open import open_file

N = 240


def survey() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "q1": np.where(rng.random(N) < 0.1, 999.0, rng.integers(20, 80, N)),
            "q2": rng.integers(1, 3, N).astype(float),
            "q3": rng.integers(1, 6, N).astype(float),
            "q4": rng.integers(1, 11, N).astype(float),
        }
    )


LABELS = {
    "q1": {999: "No answer"},
    "q2": {1: "Male", 2: "Female"},
    "q3": {number: f"Diagnosis {number}" for number in range(1, 6)},
}
TITLES = {"q1": "Age in years", "q2": "Sex", "q3": "Main diagnosis", "q4": "How satisfied are you?"}


def drafted(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Draft a config, run it, and return what the draft said."""
    assert main(["init", str(path), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert main(["run", str(path.with_suffix(".yaml")), "--quiet"]) == 0
    assert "read back and verified" in capsys.readouterr().out
    return said


def test_a_survey_keeps_its_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        survey(), path, column_labels=TITLES, variable_value_labels=LABELS, missing_ranges={"q1": [999]}
    )
    said = drafted(path, capsys)
    # The text of a question says what q1 does not.
    assert "label suggests demography" in said
    text = path.with_suffix(".yaml").read_text(encoding="utf-8")
    assert "# labels of the codes: 1 Male, 2 Female\n" in text
    config = yaml.safe_load(text)
    assert config["input"]["missing"] == ["", "No answer"]
    assert config["attributes"]["q1"]["type"] == "integer"
    assert "output" not in config
    share = tmp_path / "survey-release" / "share"
    found, facts = pyreadstat.read_sav(share / "release.sav", user_missing=True)
    assert facts.column_names_to_labels == TITLES
    assert facts.variable_value_labels["q3"] == LABELS["q3"]
    # Groups of ages are whole numbers with the groups as labels.
    ages = facts.variable_value_labels["q1"]
    assert set(found["q1"]) == set(ages)
    assert any("-" in label for label in ages.values())
    assert main(["audit", str(share / "release.sav")]) == 0


def test_stata_and_excel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = survey().rename(columns={"q1": "age", "q2": "sex", "q3": "diagnosis", "q4": "score"})
    frame["age"] = frame["age"].replace(999.0, np.nan)
    pyreadstat.write_dta(frame, tmp_path / "people.dta", variable_value_labels={"sex": LABELS["q2"]})
    drafted(tmp_path / "people.dta", capsys)
    with open_file(tmp_path / "people-release" / "share" / "release.dta") as release:
        assert {text for text, _ in release.dictionary("sex")} <= {"Male", "Female", "*"}
    frame.to_excel(tmp_path / "table.xlsx", index=False)
    drafted(tmp_path / "table.xlsx", capsys)
    sheet = openpyxl.load_workbook(tmp_path / "table-release" / "share" / "release.xlsx").active
    assert [cell.value for cell in sheet[1]] == list(frame.columns)
    # Scores are released unchanged, as numbers.
    assert isinstance(sheet["D2"].value, int)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"input": {"path": "a.csv.gz"}}, "release.csv"),
        ({"input": {"path": "a.PARQUET"}}, "release.parquet"),
        ({"input": {"path": "a.zsav"}, "output": {"order": "shuffled"}}, "release.sav"),
        ({"input": {"path": "a.xpt"}}, "release.csv"),
        ({"input": {"path": "a.dta"}, "output": {"separator": ";"}}, "release.csv"),
        ({"input": {"path": "a.dta"}, "output": {"path": "b.xlsx"}}, "b.xlsx"),
    ],
)
def test_without_a_name_the_release_has_the_format_of_the_input(config: dict[str, object], name: str) -> None:
    rest = {"attributes": {"a": {"role": "quasi-identifier"}}, "constraints": [{"k-anonymity": 2}]}
    assert load_config({**config, **rest}).output.path == name


def test_a_name_that_the_format_lacks_is_refused_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("hours per week\n1\n1\n", encoding="utf-8")
    config = {
        "input": {"path": "a.csv"},
        "attributes": {"hours per week": {"role": "quasi-identifier"}},
        "constraints": [{"k-anonymity": 2}],
        "output": {"path": "release.sav"},
    }
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    assert main(["run", str(tmp_path / "a.yaml"), "-o", str(tmp_path / "out")]) == 2
    assert "SPSS has no column named 'hours per week'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_frame_is_saved_in_the_format_of_the_config(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [20, 21, 30, 31] * 3, "sex": ["m", "f"] * 6})
    config = {
        "attributes": {
            "age": {"role": "quasi-identifier", "type": "integer"},
            "sex": {"role": "insensitive"},
        },
        "constraints": [{"k-anonymity": 3}],
        "output": {"path": "release.feather"},
    }
    an.anonymize(frame, config).save(tmp_path)
    with open_file(tmp_path / "share" / "release.feather") as release:
        assert release.rows == 12


def refusal(folder: Path, frame: pd.DataFrame, config: dict[str, object], **facts: object) -> str:
    path = folder / "ill.sav"
    pyreadstat.write_sav(frame, path, **facts)
    with pytest.raises(an.AnonymizerError) as raised:
        an.run({"input": {"path": str(path)}, **config}, folder / "out")
    assert not (folder / "out").exists()
    return str(raised.value)


def people_and(ill: dict[str, object]) -> dict[str, object]:
    return {
        "attributes": {"ill": ill, "age": {"role": "quasi-identifier"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }


ILL = pd.DataFrame({"ill": [1.0, 9.0, 2.0, 8.0] * 5, "age": [30.0, 40.0] * 10})


def test_kinds_of_missing_are_no_diagnoses(tmp_path: Path) -> None:
    labels = {"ill": {1: "flu", 2: "asthma", 8: "cough", 9: "refused"}}
    config = people_and({"role": "sensitive"})
    said = refusal(tmp_path, ILL, config, variable_value_labels=labels, missing_ranges={"ill": [9]})
    assert "declares as missing: 'refused'; list them in input.missing" in said


def test_a_kind_of_missing_is_not_read_as_a_value(tmp_path: Path) -> None:
    config = people_and({"role": "insensitive"})
    said = refusal(
        tmp_path, ILL, config, variable_value_labels={"ill": {9: "2"}}, missing_ranges={"ill": [9]}
    )
    assert "column 'ill': the label '2' of missing values is another value" in said


def test_two_kinds_of_missing_have_two_labels(tmp_path: Path) -> None:
    config = people_and({"role": "insensitive"})
    labels = {"ill": {8: "gone", 9: "gone"}}
    said = refusal(tmp_path, ILL, config, variable_value_labels=labels, missing_ranges={"ill": [8, 9]})
    assert "column 'ill': the label 'gone'" in said


def test_a_record_of_nothing_is_no_row_of_a_sheet(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text('{"age": 30, "ill": "flu"}\n' * 4 + '{"age": null, "ill": null}\n' * 4, encoding="utf-8")
    config = {
        "input": {"path": str(path)},
        **people_and({"role": "sensitive"}),
        "output": {"path": "release.xlsx", "missing": ""},
    }
    with pytest.raises(an.AnonymizerError, match="a record of missing values alone would be an empty row"):
        an.run(config, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sheet_is_chosen_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, name = tmp_path / "book.xlsx", "Patients 2024.v2"
    people = survey().rename(columns={"q1": "age", "q2": "sex", "q3": "diagnosis"}).astype(int)
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["about"], "file": ["this one"]}).to_excel(book, sheet_name="Info", index=False)
        people.to_excel(book, sheet_name=name, index=False)
    asked = ["--table", name, "--qi", "age,sex", "--sensitive", "diagnosis", "--quiet"]
    assert main(["init", str(path), *asked]) == 0
    config = load_config(tmp_path / "book.yaml")
    assert config.input.table == name
    assert main(["run", str(tmp_path / "book.yaml"), "--quiet"]) == 0
    share = tmp_path / "book-release" / "share"
    internal = str(share.parent / "report.json")
    assert main(["audit", str(share / "release.xlsx"), "--report", internal]) == 0
    with open_file(share / "release.xlsx") as relation:
        assert relation.rows == N
    for command in (
        ["check", str(path), *asked[:4]],
        ["check", str(path), "--config", str(tmp_path / "book.yaml")],
    ):
        capsys.readouterr()
        # The input itself does not satisfy the constraints of its config.
        assert main(command) == ("--config" in command)
        assert f"{N} records" in capsys.readouterr().out
    assert main(["init", str(path), "--table", "None", "-o", str(tmp_path / "other.yaml")]) == 2
    assert "no sheet 'None'; accepted: 'Info' or 'Patients 2024.v2'" in capsys.readouterr().err


TOWNS = {1: "Hamburg", 2: "Bremen", 3: "Munich", 4: "Augsburg", 5: "Berlin", 6: "Cologne", 99: "Refused"}


def of_towns(folder: Path, name: str) -> Path:
    """Write a file whose towns are codes with labels."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "town": np.where(rng.random(400) < 0.03, 99.0, rng.integers(1, 7, 400)),
            "sex": rng.integers(1, 3, 400).astype(float),
            "job": rng.integers(1, 4, 400).astype(float),
        }
    )
    labels: Any = {"town": TOWNS, "sex": LABELS["q2"], "job": {1: "nurse", 2: "cook", 3: "smith"}}
    path = folder / name
    if name.endswith(".dta"):
        pyreadstat.write_dta(frame, path, variable_value_labels=labels)
    else:
        missing: Any = {"town": [99]}
        pyreadstat.write_sav(frame, path, variable_value_labels=labels, missing_ranges=missing)
    return path


@pytest.mark.parametrize("algorithm", ["lattice", "local"])
@pytest.mark.parametrize("form", ["file", "tree"])
@pytest.mark.parametrize(
    ("given", "released"),
    [("p.sav", "release.sav"), ("p.sav", "release.dta"), ("p.dta", "release.dta"), ("p.sav", "release.csv")],
)
def test_a_hierarchy_over_codes_is_one_over_labels(
    given: str, released: str, form: str, algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_towns(tmp_path, given)
    shares, books = [], []
    for names in ({code: str(code) for code in TOWNS}, TOWNS):
        rows = {1: "north", 2: "north", 3: "south", 4: "south"}
        text = "".join(f"{name},{rows.get(code, name)},*\n" for code, name in names.items())
        (tmp_path / "town.csv").write_text(text, encoding="utf-8")
        tree: dict[str, Any] = {"north": [names[1], names[2]], "south": [names[3], names[4]]}
        tree |= {names[code]: None for code in (5, 6, 99)}
        config = {
            "input": {"path": given, "missing": ["", "Refused"]},
            "attributes": {
                "town": {
                    "role": "quasi-identifier",
                    "hierarchy": {"file": "town.csv"} if form == "file" else {"tree": {"*": tree}},
                },
                "sex": {"role": "quasi-identifier"},
                "job": {"role": "sensitive", "hierarchy": {"tree": {"*": {"care": [1, 2], "craft": 3}}}},
            },
            "constraints": [{"k-anonymity": 40}, {"model": "t-closeness", "t": 0.5, "attribute": "job"}],
            "algorithm": algorithm,
            "output": {"path": released},
        }
        (tmp_path / "a.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        out = tmp_path / f"out-{names[1]}"
        assert main(["run", str(tmp_path / "a.yaml"), "-o", str(out), "--quiet"]) == 0
        for report in (out / "report.json", out / "share" / "report.public.json"):
            assert main(["audit", str(out / "share" / released), "--report", str(report)]) == 0
        shares.append((out / "share" / released).read_bytes())
        books.append((out / "share" / "codebook.csv").read_text(encoding="utf-8"))
    assert "REFUTED" not in capsys.readouterr().out
    assert shares[0] == shares[1]
    assert books[0] == books[1]
    assert ("one of Hamburg and Bremen" in books[0]) is (form == "tree" and algorithm == "local")


def test_records_are_appended_by_a_hierarchy_over_codes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_towns(tmp_path, "p.sav")
    config = {
        "input": {"path": "p.sav", "missing": ["", "Refused"]},
        "attributes": {
            "town": {
                "role": "quasi-identifier",
                "hierarchy": {
                    "tree": {"*": {"north": [1, 2], "south": [3, 4], "west": [5, 6], "none": [99]}}
                },
            },
            "sex": {"role": "quasi-identifier"},
            "job": {"role": "sensitive", "hierarchy": {"tree": {"*": {"care": [1, 2], "craft": 3}}}},
        },
        "constraints": [{"k-anonymity": 5}],
        "algorithm": "lattice",
        "output": {"path": "release.sav"},
    }
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    assert main(["run", str(tmp_path / "a.yaml"), "--quiet", "-o", str(tmp_path / "first")]) == 0
    # With the input at hand, the audit compares the labels of codes, too.
    assert main(["audit", str(tmp_path / "first" / "share" / "release.sav")]) == 0
    config["apply"] = "first/report.json"
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    code = main(["run", str(tmp_path / "b.yaml"), "--quiet", "-o", str(tmp_path / "second")])
    assert (code, capsys.readouterr().err) == (0, "")
