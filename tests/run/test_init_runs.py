"""``init`` and then ``run``, with no edit between them, on files that others made."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.run.commands import call
from tests.shared import shared

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.csv"
ADULT = {
    **dict.fromkeys(
        ("age", "workclass", "education", "marital-status", "race", "sex", "native-country"),
        "quasi-identifier",
    ),
    "salary-class": "sensitive",
}


def drafted_and_run(
    folder: Path, content: bytes, name: str = "data.csv"
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the report of the run, and the roles of the columns."""
    (folder / name).write_bytes(content)
    drafted = call("init", folder / name, "--json")
    assert drafted.code == 0, drafted.err
    done = call("run", folder / "data.yaml", "--json")
    assert done.code == 0, done.err
    assert done.json["status"] == "satisfied"
    assert done.json["loss"]["loss"] < 1
    assert all(each["satisfied"] for each in done.json["constraints"])
    return done.json, {column: each["role"] for column, each in drafted.json["columns"].items()}


def as_bytes(*parts: str) -> bytes:
    """Return the text of a shared data set."""
    return gzip.decompress(shared("data", *parts, "data.csv.gz").read_bytes())


@pytest.mark.slow
def test_fars(tmp_path: Path) -> None:
    _, roles = drafted_and_run(tmp_path, as_bytes("fars_sample"))
    assert [name for name, role in roles.items() if role == "sensitive"] == ["iinjury"]
    assert set(roles.values()) == {"quasi-identifier", "sensitive"}


@pytest.mark.slow
def test_household_survey(tmp_path: Path) -> None:
    _, roles = drafted_and_run(tmp_path, as_bytes("sdc_testdata"))
    assert roles["ori_hid"] == "identifier"
    assert roles["sampling_weight"] == "insensitive"
    assert {name for name, role in roles.items() if role == "sensitive"} == {"expend", "income", "savings"}


@pytest.mark.slow
def test_nothing_that_is_shared_depends_on_the_largest_number(tmp_path: Path) -> None:
    random = Random(3)
    votes = [int(random.lognormvariate(5, 2)) for _ in range(600)]
    others = [f"{random.choice('abc')},{random.randint(1, 31)}" for _ in range(601)]
    shared_files = []
    for largest in (157_608, 9_000_000):
        lines = [f"{vote},{other}" for vote, other in zip([*votes, largest], others, strict=True)]
        folder = tmp_path / str(largest)
        folder.mkdir()
        drafted_and_run(folder, ("hours,genre,day\n" + "\n".join(lines) + "\n").encode())
        assert "hours: {role: quasi-identifier, type: integer, hierarchy: {auto: {}}}" in (
            folder / "data.yaml"
        ).read_text(encoding="utf-8")
        files = sorted((folder / "data-release" / "share").iterdir())
        shared_files.append({file.name: file.read_text(encoding="utf-8") for file in files})
    one, other = shared_files
    assert one == other
    labels = {row["hours"] for row in csv.DictReader(io.StringIO(one["release.csv"]))}
    assert any(label.endswith("+") for label in labels)
    assert not [label for label in labels if str(max(votes)) in label]


@pytest.mark.slow
def test_sample(tmp_path: Path) -> None:
    _, roles = drafted_and_run(tmp_path, SAMPLE.read_bytes())
    assert roles["person_id"] == "identifier"
    assert {name for name, role in roles.items() if role == "sensitive"} == {"income_class", "diagnosis"}


@pytest.mark.slow
def test_adult(tmp_path: Path) -> None:
    report, roles = drafted_and_run(tmp_path, as_bytes("adult"))
    assert {name: roles[name] for name in ADULT} == ADULT
    assert report["loss"]["loss"] < 0.2


@pytest.mark.slow
def test_adult_full(tmp_path: Path) -> None:
    lines = as_bytes("adult_full").splitlines(keepends=True)
    report, roles = drafted_and_run(tmp_path, b"".join(lines[:12_000]))
    assert {name: roles[name] for name in ADULT} == ADULT
    assert roles["education-num"] == "drop"
    assert report["config"]["input"]["missing"] == ["", "?"]


ALL = ("adult", "adult_full", "fars_sample", "sample", "sdc_testdata")
ENOUGH = 3000
"""Records whose dialect is read: as many as show each of its peculiarities."""


def read(name: str) -> list[list[str]]:
    """Return the header and the first records of a data set, the shipped sample among them."""
    content = SAMPLE.read_bytes() if name == "sample" else as_bytes(name)
    return list(islice(csv.reader(io.StringIO(content.decode(), newline="")), ENOUGH + 1))


def written(rows: list[list[str]], **dialect: Any) -> bytes:
    """Return rows as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, **dialect).writerows(rows)
    return text.getvalue().encode()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL[::2])
def test_a_byte_order_mark_semicolons_and_line_ends_of_windows(name: str, tmp_path: Path) -> None:
    content = codecs.BOM_UTF8 + written(read(name), delimiter=";", lineterminator="\r\n")
    drafted_and_run(tmp_path, content)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL[1::2])
def test_quoted_commas_in_names_and_fields(name: str, tmp_path: Path) -> None:
    header, *records = read(name)
    named = [f"{column}, or so" for column in header]
    fields = [[f"{field}, or so" if field.isalpha() else field for field in record] for record in records]
    content = codecs.BOM_UTF8 + written([named, *fields], lineterminator="\n")
    drafted_and_run(tmp_path, gzip.compress(content), "data.csv.gz")


@pytest.mark.quick(1)
@pytest.mark.parametrize("dot", [".", ""])
def test_codes_of_nace_are_generalized_to_groups_and_divisions(dot: str, tmp_path: Path) -> None:
    """The release keeps the spelling of the codes, and is verified at each level."""
    codes = [f"{division}{dot}{number}" for division in ("01", "10", "62") for number in (11, 12, 21)]
    groups = {f"{division}.{digit}" for division in ("01", "10", "62") for digit in "12"}
    lines = [f"{code},{'mf'[n % 2]},{('flu', 'none', 'cold')[n % 3]}" for code in codes for n in range(12)]
    report, _ = drafted_and_run(tmp_path, "\n".join(["nace,sex,diagnosis", *lines]).encode())
    assert report["config"]["attributes"]["nace"]["hierarchy"]["ready"] == "nace"
    for level, expected in enumerate([set(codes), groups, {"01", "10", "62"}]):
        folder = tmp_path / str(level)
        levels = f"attributes.nace.levels={{min: {level}, max: {level}}}"
        done = call("run", tmp_path / "data.yaml", "--set", levels, "-o", folder)
        assert done.code == 0, done.err
        release = (folder / "share" / "release.csv").read_text().splitlines()[1:]
        found = {line.split(",")[0] for line in release}
        assert found == expected
        assert call("audit", folder / "share" / "release.csv").code == 0
