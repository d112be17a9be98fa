"""Project files of ARX are read as plain values, and others are refused with one message."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import DataError
from anonymizer.profile import deid
from anonymizer.profile.deid import read_project
from anonymizer.profile.java_objects import MAGIC, JavaObject, NotJava, read_object
from tests.profile.deid_files import (
    JAVA,
    SENSITIVE,
    Described,
    Made,
    element,
    java_class,
    java_enum,
    java_longs,
    java_object,
    utf,
)

AGES = [[str(age), "<50" if age < 50 else ">=50", "*"] for age in range(100)]
MADE = Made(
    {
        "age": Described(
            kind="Integer",
            levels=AGES,
            further={"min": "1", "max": "2", "microaggregationFunction": "Median", "response": "true"},
        ),
        "born": Described(kind="Date/Time", further={"format": "dd.MM.yyyy", "locale": "DE"}),
        "illness": Described(SENSITIVE),
    },
    [["30", "01.02.1990", "flu"]] * 70,
    models=("5-anonymity", "distinct-2-diversity for attribute 'illness'"),
    weights={"age": "0.25"},
    limit="0.05",
)


def test_everything_is_read(tmp_path: Path) -> None:
    project = read_project(MADE.write(tmp_path / "a.deid"))
    assert (project.version, project.title, project.separator) == ("3.9.2", "Made: by a test", ";")
    age, born, illness = project.columns
    assert (age.kind, age.lowest, age.highest, age.aggregated) == ("Integer", 1, 2, "Median")
    assert (age.hierarchy, age.response, age.weight) == ("input/hierarchies/age.csv", True, Decimal("0.25"))
    assert (born.form, born.locale, born.hierarchy, born.lowest) == ("dd.MM.yyyy", "DE", None, None)
    assert (illness.role, illness.weight) == (SENSITIVE, None)
    assert project.models == MADE.models
    assert (project.metric, project.aggregate) == ("Loss (0.5/1.0/1.0)", "GEOMETRIC_MEAN")
    assert (project.limit, project.selection, project.objects) == (Decimal("0.05"), None, True)


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    made = replace(MADE, config="<riddle>7</riddle><practicalMonotonicity>true</practicalMonotonicity>")
    project = read_project(made.write(tmp_path / "a.deid", {"secret.bin": b"?", "clipboard.xml": b"<a/>"}))
    told = "\n".join(project.unused)
    for name in ("historySize", "output/", "lattice.xml", "clipboard.xml", "project.dat", "secret.bin"):
        assert name in told
    assert "1 unknown setting: riddle" in told


def test_a_selection_of_records(tmp_path: Path) -> None:
    chosen = [0, 1, 63, 64, 69]
    project = read_project(replace(MADE, selected=chosen).write(tmp_path / "a.deid"))
    assert project.selection is not None
    assert np.flatnonzero(project.selection.records).tolist() == chosen
    assert (len(project.selection.records), project.selection.size) == (70, 5)


@pytest.mark.parametrize("objects", [None, b"", b"PK", JAVA, JAVA + b"s", JAVA + b"p"])
def test_objects_that_cannot_be_read_are_not_needed(objects: bytes | None, tmp_path: Path) -> None:
    project = read_project(MADE.write(tmp_path / "a.deid", {"input/config.dat": objects}))
    assert (project.objects, project.aggregate, project.selection) == (False, "", None)


@pytest.mark.parametrize(
    ("criterion", "model"),
    [
        ("<criterion>K_ANONYMITY</criterion><k>7</k>", "7-anonymity"),
        (
            "<criterion>L_DIVERSITY</criterion><l>3</l><c>2.0</c>"
            "<lDiversityCriterion>RECURSIVE</lDiversityCriterion>",
            "recursive-(2.0,3)-diversity",
        ),
        (
            "<criterion>L_DIVERSITY</criterion><l>3</l><lDiversityCriterion>DISTINCT</lDiversityCriterion>",
            "distinct-3-diversity",
        ),
        (
            "<criterion>T_CLOSENESS</criterion><t>0.2</t><tClosenessCriterion>EMD_EQUAL</tClosenessCriterion>",
            "0.2-closeness with equal ground-distance",
        ),
        ("<criterion>D_PRESENCE</criterion>", "D_PRESENCE"),
    ],
)
def test_the_first_version_had_one_model(criterion: str, model: str, tmp_path: Path) -> None:
    made = replace(MADE, models=(), config=criterion, vocabulary=None, version="1.0-alpha")
    assert read_project(made.write(tmp_path / "a.deid")).models == (model,)


def test_settings_of_windows_before_utf8(tmp_path: Path) -> None:
    """Java wrote XML in the encoding of the system, without saying which."""
    named = "<project><name>Größe</name></project>".encode("cp1252")
    project = read_project(MADE.write(tmp_path / "a.deid", {"project.xml": named}))
    assert (project.title, project.separator) == ("Größe", ";")


ENTITIES = b"<!DOCTYPE a [<!ENTITY b 'lol'><!ENTITY c '&b;&b;'>]><config><metric>&c;</metric></config>"
REFUSED: dict[str, tuple[dict[str, bytes | None], str]] = {
    "entities": ({"input/config.xml": ENTITIES}, "declares a document type or an entity; refused"),
    "no XML": ({"input/config.xml": b"<config><metric>"}, "input/config.xml in it is not XML"),
    "no project": ({"metadata.xml": None}, "is a zip, but no project file of ARX: it lacks metadata.xml"),
    "no data": ({"data/input.csv": None}, "a project without data"),
    "no definition": ({"input/definition.xml": None}, "a damaged project: it lacks input/definition.xml"),
    "no columns": ({"input/definition.xml": b"<definition/>"}, "describes no column"),
    "leaves its folder": ({"../up.csv": b"a"}, "the name '../up.csv' in it leads out of its folder; refused"),
    "leaves it deeply": ({"data/../../up.csv": b"a"}, "leads out of its folder; refused"),
    "absolute": ({"/etc/up.csv": b"a"}, "leads out of its folder; refused"),
    "other system": ({"C:\\up.csv": b"a"}, "leads out of its folder; refused"),
    "version": (
        {"metadata.xml": element("metadata", version="9.0", vocabulary="7.0")},
        "its XML has version '7.0'; accepted: 1.0 and 2.0",
    ),
    "limit": (
        {"input/config.xml": element("config", relativeMaxOutliers="1E+999999999")},
        "relativeMaxOutliers is '1E+999999999'; accepted: a number",
    ),
    "level": (
        {
            "input/definition.xml": b"<definition><assigment><name>a</name><min>x</min></assigment>"
            b"</definition>"
        },
        "a level of column 'a' is 'x'; accepted: a number, or All",
    ),
    "separator": ({"project.xml": element("project", separator="ab")}, "its separator is 'ab'"),
    "bomb": ({"data/input.csv": b"0" * (1 << 27)}, "which no project needs; refused"),
    "bomb of XML": ({"project.xml": b" " * (1 << 24) + b"<a/>"}, "which no project needs; refused"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    changed, message = REFUSED[case]
    path = MADE.write(tmp_path / "a.deid", changed)
    with pytest.raises(DataError) as refused:
        read_project(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 and no more"])
def test_no_zip(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.deid"
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a project file of ARX, or a damaged one"):
        read_project(path)


def test_a_damaged_or_encrypted_member(tmp_path: Path) -> None:
    path = MADE.write(tmp_path / "a.deid")
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("input/config.xml")
    start = info.header_offset + 30 + len(info.filename)
    path.write_bytes(whole[: start + 9] + bytes(20) + whole[start + 29 :])
    with pytest.raises(DataError, match="not a project file of ARX, or a damaged one"):
        read_project(path)
    directory = whole.index(b"PK\x01\x02")
    path.write_bytes(whole[: directory + 8] + b"\x01" + whole[directory + 9 :])
    with pytest.raises(DataError, match="is encrypted"):
        read_project(path)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_project(tmp_path / "a.deid")


def test_limits_are_of_what_is_read(tmp_path: Path) -> None:
    """Members that nobody reads may be of any size."""
    path = MADE.write(tmp_path / "a.deid", {"infoloss.dat": b"0" * (1 << 27)})
    assert read_project(path).models == MADE.models
    assert deid.SMALL < 1 << 27


# Java objects

OBJECT = JAVA + java_object(
    "a.B",
    {"n": 7, "e": java_enum("a.E", "ON"), "l": java_longs([1, -1]), "t": b"t" + utf("ü"), "o": b"p"},
)


def test_objects_are_plain_values() -> None:
    found = read_object(OBJECT)
    assert isinstance(found, JavaObject)
    assert found.fields["l"].tolist() == [1, -1]
    assert {key: value for key, value in found.fields.items() if key != "l"} == {
        "n": 7,
        "e": "ON",
        "t": "ü",
        "o": None,
    }


def test_repeated_values_and_what_classes_write_themselves() -> None:
    pairs = (
        b"w\x08" + bytes(8) + b"t" + utf("age") + b"t" + utf("ON") + b"t" + utf("sex") + b"q\x00\x7e\x00\x03"
    )
    found = read_object(JAVA + b"s" + java_class("java.util.HashMap", {}, 3) + pairs + b"x")
    assert found.entries() == {"age": "ON", "sex": "ON"}


@given(st.integers(0, len(OBJECT)), st.binary(max_size=9))
def test_damaged_objects_are_no_java(place: int, noise: bytes) -> None:
    damaged = OBJECT[:place] + noise + OBJECT[place + len(noise) :]
    try:
        read_object(damaged)
    except NotJava:
        return


@given(st.binary(max_size=60))
def test_noise_is_no_java(noise: bytes) -> None:
    try:
        read_object(MAGIC + noise)
    except NotJava:
        return


def test_a_class_that_is_its_own_parent() -> None:
    own = java_class("a.B", {})[:-1] + b"q\x00\x7e\x00\x00"
    with pytest.raises(NotJava, match="too many ancestors"):
        read_object(JAVA + b"s" + own)


def test_numbers_beyond_the_end() -> None:
    huge = b"u" + java_class("[J", {}) + struct.pack(">I", 2**32 - 1)
    with pytest.raises(NotJava, match=r"cut off|damaged"):
        read_object(JAVA + huge)


def test_nesting_has_a_limit() -> None:
    with pytest.raises(NotJava):
        read_object(JAVA + (b"u" + java_class("[Ljava.lang.Object;", {}) + bytes(3) + b"\x01") * 100_000)
