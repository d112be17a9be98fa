"""Values that are hard to carry from file to file come through whole runs unchanged."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.run.commands import Job, call, people, read_rows

ODD = {
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+1",
    "at": "@SUM(A1)",
    "separators": "a,b;c\td",
    "quotes": 'she said "no", twice: ""',
    "newlines": "one\ntwo\r\nthree",
    "right to left": "\u202eabc שלום مرحبا",
    "blanks": "  around  ",
    "looks missing": "NULL",
    "emoji": "👩‍👩‍👧 𝔘𝔫𝔦",
    "backslash": "C:\\new\\table",
}


@pytest.mark.parametrize("output", ["release.csv", "release.csv.gz"])
def test_insensitive_and_sensitive_values_come_through(output: str, tmp_path: Path) -> None:
    rows = [list(row) for row in people(120)]
    for number, text in enumerate(ODD.values()):
        for row in rows[number * 8 : number * 8 + 8 : 2]:
            row[5] = text
        rows[number * 8][4] = text
    job = Job(tmp_path).rows(rows).set("output", path=output).set("suppression", limit=0)
    done = job.run()
    assert done.code == 0, done.err
    assert Counter((row[-2], row[-1]) for row in read_rows(job.release)) == Counter(
        (row[4], row[5]) for row in rows
    )


@pytest.mark.quick(4)
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_values_of_quasi_identifiers_come_through_at_level_0(text: str, tmp_path: Path) -> None:
    rows = [list(row) for row in people(60)]
    for row in rows[::2]:
        row[3] = text
    job = Job(tmp_path).rows(rows)
    job.attribute("age", role="insensitive").attribute("zip", role="insensitive")
    job.attribute("sex", role="quasi-identifier", type="text", levels={"max": 0})
    done = job.run()
    assert done.code == 0, done.err
    released = [row[2] for row in read_rows(job.release)]
    assert Counter(released) == Counter(row[3] for row in rows)


@pytest.mark.slow
def test_a_text_of_a_megabyte_comes_through(tmp_path: Path) -> None:
    rows = [list(row) for row in people(60)]
    long = "lorem ipsum, " * 80_000
    rows[0][5] = long
    job = Job(tmp_path).rows(rows).set("suppression", limit=0)
    done = job.run()
    assert done.code == 0, done.err
    limit = csv.field_size_limit(2 * len(long))
    try:
        assert Counter(row[-1] for row in read_rows(job.release))[long] == 1
    finally:
        csv.field_size_limit(limit)


def test_leading_zeros_and_spellings_of_numbers_stay(tmp_path: Path) -> None:
    spellings = ["007", "7.0", "7", "7e0"]
    rows = [[*row[:5], spelled] for row, spelled in zip(people(4) * 5, spellings * 5, strict=True)]
    job = Job(tmp_path).rows(rows).constraints({"model": "k-anonymity", "k": 3})
    done = job.run()
    assert done.code == 0, done.err
    assert Counter(row[-1] for row in read_rows(job.release)) == dict.fromkeys(spellings, 5)


@pytest.mark.parametrize("odd", ["> 9", "inf", "NaN"])
def test_a_few_texts_among_the_numbers_of_an_insensitive_column_come_through(
    odd: str, tmp_path: Path
) -> None:
    rows = [[*row[:5], str(place % 7)] for place, row in enumerate(people(60))]
    rows[17][5] = odd
    job = Job(tmp_path).rows(rows).constraints({"model": "k-anonymity", "k": 3}).set("suppression", limit=0)
    done = job.run()
    assert done.code == 0, done.err
    assert Counter(row[-1] for row in read_rows(job.release)) == Counter(row[5] for row in rows)
    done = call("audit", job.release, "--report", job.output / "report.json")
    assert done.code == 0, done.out
