"""``anonymizer hierarchy``, called as from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.cli.main import main
from tests.helpers.messages import exchange

DATA = "age,zip,day,grade\n" + (
    "17,01234,2021-03-05,a\n20,01239,2021-04-01,b\n25,99999,1999-01-01,c\n25,,1999-01-02,d\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "grades.csv").write_text("a,good,*\nb,good,*\nc,bad,*\nd,bad,*\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_show_draws_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hierarchy", "show", "grades.csv", "--children", "1"]) == 0
    out = capsys.readouterr().out
    assert [line.rstrip() for line in out.splitlines()] == [
        "*",
        "├── good",
        "│   ├── a",
        "│   └── ... 1 more",
        "└── ... 1 more",
        "3 levels, 4 leaves",
    ]


@pytest.mark.usefixtures("folder")
def test_show_tells_the_size_of_a_ready_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hierarchy", "show", "sex", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"levels": 2, "leaves": 5, "problems": []}


@pytest.mark.usefixtures("folder")
def test_validate_accepts_a_hierarchy_that_places_everything(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["hierarchy", "validate", "grades.csv", "--data", "data.csv", "--column", "grade"]
    assert main(words) == 0
    assert "places all 4 values of 'grade'" in capsys.readouterr().out
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_validate_lists_what_a_hierarchy_lacks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "grades.csv").write_text("a,good,*\nb,good,*\nc,bad,*\n")
    words = ["hierarchy", "validate", "grades.csv", "--data", "data.csv", "--column", "grade"]
    assert main(words) == 1
    assert "hierarchy grades.csv lacks 1 value (1 row): 'd'" in capsys.readouterr().out
    assert main([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["levels"], found["leaves"], len(found["problems"])) == (3, 3, 1)


def test_validate_lists_why_a_file_is_no_tree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "grades.csv").write_text("a,good,*\nb,good,+\n")
    words = ["hierarchy", "validate", "grades.csv", "--data", "data.csv", "--column", "grade", "--json"]
    assert main(words) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["levels"], found["leaves"]) == (None, None)
    assert "'good' (level 1) has two parents" in found["problems"][0]


@pytest.mark.parametrize(
    ("column", "options", "row"),
    [
        ("age", ["--by", "auto"], "17,*"),
        ("age", ["--by", "intervals=5,10"], "17,15-19,10-19,*"),
        ("zip", ["--by", "mask=right"], "01234,0123*,012**,01***,0****,*"),
        ("day", ["--by", "date"], "2021-03-05,2021-03,2021-Q1,2021,2020s,*"),
        ("grade", ["--by", "order=2"], "a,\"{a, b}\",*"),
    ],
)  # fmt: skip
def test_build_writes_one_row_per_value(
    folder: Path, capsys: pytest.CaptureFixture[str], column: str, options: list[str], row: str
) -> None:
    words = ["hierarchy", "build", "--data", "data.csv", "--column", column, *options, "-o", "h.csv"]
    assert main([*words, "--json"]) == 0
    rows = (folder / "h.csv").read_text().splitlines()
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == []
    assert found["leaves"] == len(rows)
    assert row in rows
    assert main(["hierarchy", "validate", "h.csv", "--data", "data.csv", "--column", column]) == 0


def test_dates_are_built_by_their_formats(folder: Path) -> None:
    (folder / "data.csv").write_text("day\n5.3.2021\n31.12.1999\n2020-01-02\n")
    dates = ["--data", "data.csv", "--column", "day", "--format", "%d.%m.%Y", "--format", "%Y-%m-%d"]
    assert main(["hierarchy", "build", *dates, "--by", "date", "-o", "h.csv"]) == 0
    assert (folder / "h.csv").read_text().splitlines() == [
        "1999-12-31,1999-12,1999-Q4,1999,1990s,*",
        "2020-01-02,2020-01,2020-Q1,2020,2020s,*",
        "2021-03-05,2021-03,2021-Q1,2021,2020s,*",
    ]
    assert main(["hierarchy", "validate", "h.csv", *dates]) == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "words",
    [
        "show none.csv",
        "show contry",
        "show age",
        "build --data data.csv --column age -o h.csv",
        "build --data data.csv --column age --by intervals=5,x -o h.csv",
        "build --data data.csv --column age --by auto -o grades.csv",
        "build --data data.csv --column age --by auto -o data.csv --overwrite",
        "validate grades.csv --data data.csv --column grad",
        "build --data data.csv --column day --by date --format %d.%m -o h.csv",
        "build --data data.csv --column day --by date --format %d.%m.%Y --format %m.%d.%Y -o h.csv",
        "build --data data.csv --column grade --by date --format %d.%m.%Y -o h.csv",
    ],
)
def test_wrong_usage_is_one_message(
    words: str, capsys: pytest.CaptureFixture[str], message: SnapshotAssertion
) -> None:
    assert main(["hierarchy", *words.split()]) == 2
    captured = capsys.readouterr()
    assert exchange(words, captured.err.rstrip()) == message
    assert captured.out == ""


def test_an_existing_file_is_replaced_only_on_request(folder: Path) -> None:
    words = [
        "hierarchy",
        "build",
        "--data",
        "data.csv",
        "--column",
        "grade",
        "--by",
        "auto",
        "-o",
        "grades.csv",
    ]
    before = (folder / "grades.csv").read_text()
    assert main(words) == 2
    assert (folder / "grades.csv").read_text() == before
    assert main([*words, "--overwrite", "--quiet"]) == 0
    assert (folder / "grades.csv").read_text() != before
    assert (folder / "data.csv").read_text() == DATA


def test_a_column_of_missing_values_alone_makes_no_hierarchy(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "data.csv").write_text("a,b\n1,\n2,\n")
    words = ["hierarchy", "build", "--data", "data.csv", "--column", "b", "--by", "auto", "-o", "h.csv"]
    assert main(words) == 2
    assert "column 'b' has only missing values" in capsys.readouterr().err
    assert not (folder / "h.csv").exists()
