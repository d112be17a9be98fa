"""A release is written like the input, or as ``output`` says; whoever reads it needs the report only."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.csv import open_text
from anonymizer.data.relation import encode_file
from anonymizer.errors import OutputError
from tests.run.commands import Job, call, people

ACCENTED = {"F": "Fémme", "M": "Hómme"}


def accented(separator: str, encoding: str) -> bytes:
    """Return records with accents as text."""
    lines = [("name", "age", "zip", "sex", "diagnosis", "note"), *people()]
    rows = [separator.join(ACCENTED.get(cell, cell) for cell in line) for line in lines]
    return ("\n".join(rows) + "\n").encode(encoding)


def job_of(folder: Path, separator: str, encoding: str, output: dict[str, str] | None = None) -> Job:
    """Return a job whose input has a separator and an encoding."""
    job = Job(folder)
    job.data = accented(separator, encoding)
    given = {"path": "people.csv"} | ({} if encoding == "utf-8" else {"encoding": encoding})
    return job.set("input", **given).set("output", **(output or {}))


def public(job: Job) -> dict[str, Any]:
    """Return the ``release`` entry of the public report."""
    entry: dict[str, Any] = json.loads((job.output / "share" / "report.public.json").read_text())["release"]
    return entry


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", ["lattice", "anatomy"])
@pytest.mark.parametrize(
    ("separator", "encoding"),
    [
        (";", "cp1252"),
        *(
            pytest.param(*own, marks=pytest.mark.slow)
            for own in ((",", "utf-8"), ("\t", "utf-8"), ("|", "utf-16"))
        ),
    ],
)
def test_a_release_is_written_like_its_input(
    separator: str, encoding: str, algorithm: str, tmp_path: Path
) -> None:
    job = job_of(tmp_path, separator, encoding).set("algorithm", name=algorithm)
    done = job.run("--quiet")
    assert done.code == 0, done.err
    assert (public(job)["separator"], public(job)["encoding"]) == (separator, encoding)
    for path in (job.output / "share").glob("release*.csv"):
        header = path.read_bytes().decode(encoding).splitlines()[0]
        assert header.count(separator) == (2 if ".st." in path.name else 4), header
    release = job.output / "share" / ("release.csv" if algorithm == "lattice" else "release.qit.csv")
    audited = call("audit", release, "--json")
    assert audited.code == 0, audited.out
    assert audited.json["findings"] == []
    assert not {"release.separator", "release.encoding"} & set(audited.json["not_checked"])
    if algorithm == "lattice":
        assert "bytes of the files around their values" not in audited.json["not_checked"]
    assert call("attack", release, "-c", job.file, "--quiet").code == 0
    checked = call("check", release, "-c", job.file, "--json")
    assert checked.code == 0, checked.err
    assert all(each["satisfied"] for each in checked.json["constraints"])


def test_the_config_decides_otherwise(tmp_path: Path) -> None:
    job = job_of(
        tmp_path, ";", "cp1252", {"path": "release.csv.gz", "separator": "|", "encoding": "utf-8-sig"}
    )
    assert job.run("--quiet").code == 0
    content = gzip.decompress(job.release.read_bytes())
    assert content.startswith("\ufeff".encode())
    assert content.decode("utf-8-sig").splitlines()[0].count("|") == 4
    assert "Fémme" in content.decode() or "*" in content.decode()
    assert call("audit", job.release).code == 0
    first = job.release.read_bytes()
    assert job.run("--overwrite", "--quiet").code == 0
    assert job.release.read_bytes() == first
    assert call("attack", job.release, "-c", job.file, "--quiet").code == 0
    assert call("check", job.release, "-c", job.file).code == 0


def test_records_are_appended_to_a_release_in_another_encoding(tmp_path: Path) -> None:
    job = job_of(tmp_path, ";", "cp1252")
    assert job.run("--quiet").code == 0
    job.set("apply", report="job-release/report.json")
    done = job.run("-o", tmp_path / "second", "--quiet")
    assert done.code == 0, done.err
    appended = tmp_path / "second" / "share" / "release.csv"
    assert len(appended.read_bytes()) > 1.8 * len(job.release.read_bytes())
    assert appended.read_text("cp1252").splitlines()[0] == job.release.read_text("cp1252").splitlines()[0]
    assert call("audit", appended).code == 0


def test_a_report_with_another_separator_is_not_verified(tmp_path: Path) -> None:
    job = job_of(tmp_path, ";", "utf-8")
    assert job.run("--quiet").code == 0
    path = job.output / "share" / "report.public.json"
    path.write_text(path.read_text().replace('"separator": ";"', '"separator": "|"'))
    assert call("audit", job.release).code == 1
    path.write_text(path.read_text().replace('"separator": "|"', '"separator": "ab"'))
    assert call("audit", job.release).code == 2


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({"separator": ""}, "output.separator: ''; accepted: one character"),
        ({"encoding": "latin-99"}, "output.encoding: 'latin-99'; accepted: a text encoding"),
        ({"path": "r.parquet", "separator": ";"}, "output.separator: applies to text files only; remove it"),
        ({"path": "r.parquet", "encoding": "utf-8"}, "output.encoding: applies to text files only; remove"),
        (
            {"encoding": "ascii"},
            "release.csv: encoding ascii lacks the character 'é' (U+00E9); set output.encoding: utf-8",
        ),
    ],
)
def test_outputs_that_are_refused(output: dict[str, str], words: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, ",", "utf-8", output)
    job.set("suppression", limit=0.1).attribute("sex", role="insensitive")
    done = job.run()
    assert (done.code, words in done.err) == (2, True), done.err
    assert not job.output.exists()


@pytest.mark.slow
@given(
    text=st.text(st.characters(codec="cp1252"), max_size=30),
    encoding=st.sampled_from(["cp1252", "utf-16", "utf-8-sig"]),
)
def test_an_encoded_file_has_the_same_text(text: str, encoding: str, tmp_path_factory: Any) -> None:
    for name in ("a.csv", "a.csv.gz"):
        path = tmp_path_factory.mktemp("encoded") / name
        content = text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        encode_file(path, encoding)
        with open_text(path, encoding) as found:
            assert found.read() == text
        assert [each.name for each in path.parent.iterdir()] == [name]


def test_a_character_that_an_encoding_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n€\n", encoding="utf-8")
    with pytest.raises(OutputError, match=r"lacks the character '€' \(U\+20AC\)"):
        encode_file(path, "latin-1")
