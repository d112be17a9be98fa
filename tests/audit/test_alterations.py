"""Reports and releases with one thing altered: the audit notices it, or says that it did not look there."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import operator
import os
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonymizer.audit.against_input import AGAINST_THE_INPUT, COLUMN_ORDER, GROUP_ORDER
from anonymizer.audit.audit import AROUND_VALUES, COLUMN_TYPES, LEFT_OUT, MISSING_CELLS, audit_release
from anonymizer.audit.claims import Key, dotted_key
from anonymizer.errors import InputError
from tests.helpers.slow import slow_but
from tests.run.commands import Job, people, read_rows

ATTACKS = ["vulnerability", "uniqueness", "homogeneity", "background", "skewness"]
OPTIONAL = ("type", "levels", "distance")
"""Keys of an attribute that stand for something else than a default where they are left out."""

MEANS = ("zip", "sex")

JOBS: dict[str, dict[str, Any]] = {
    "classes": {"suppression": {"limit": 0.1}, "attacks": [*ATTACKS, "wildcard", "linkage"]},
    "kept rows": {"suppression": {"limit": 0.1, "keep_rows": True}, "attacks": ATTACKS},
    "records": {"suppression": {"limit": 0.1, "method": "records"}},
    "cells": {"suppression": {"limit": 0.1, "method": "cells"}, "attacks": ["wildcard"]},
    "mondrian": {"algorithm": {"name": "mondrian"}, "attacks": ATTACKS},
    "local": {"algorithm": {"name": "local"}, "attacks": ATTACKS},
    "midpoint": {"suppression": {"limit": 0.1, "keep_rows": True}},
    "low-high": {"suppression": {"limit": 0.1, "method": "cells"}},
    "microaggregation": {"algorithm": {"name": "microaggregation"}},
    "anatomy": {
        "algorithm": {"name": "anatomy"},
        "constraints": [{"model": "l-diversity", "l": 2}],
        "attacks": ATTACKS,
    },
}


@dataclass(frozen=True)
class Alteration:
    """One change of a report: a key, what is done to it, and how."""

    key: Key
    what: str
    change: Callable[[Any, Any], None]

    def __str__(self) -> str:
        return f"{dotted_key(self.key)} {self.what}"

    def of(self, report: dict[str, Any]) -> dict[str, Any]:
        """Return a report with the change."""
        altered = deepcopy(report)
        self.change(at(altered, self.key[:-1]), self.key[-1])
        return altered


def made_release(folder: Path, name: str) -> Job:
    job = Job(folder)
    job.config.update(deepcopy(JOBS[name]))
    if name in ("midpoint", "low-high"):
        job.config["attributes"]["age"]["labels"] = name
    if name == "microaggregation":
        for column in MEANS:
            job.attribute(column, role="insensitive")
    done = job.run()
    assert done.code == 0, done.err
    return job


class Releases(Mapping[str, Job]):
    """A release of every kind, made when it is first asked for; tests leave it as it is."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._made: dict[str, Job] = {}

    def __getitem__(self, name: str) -> Job:
        if name not in self._made:
            self._made[name] = made_release(self._folders.mktemp("job"), name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(JOBS)

    def __len__(self) -> int:
        return len(JOBS)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(tmp_path_factory)


def leaves(value: Any, key: Key = ()) -> Iterator[Key]:
    """Give the keys of all figures, and those of empty lists and mappings."""
    parts: list[Any] = list(value) if isinstance(value, dict) else []
    if isinstance(value, list):
        parts = list(range(len(value)))
    if not parts:
        yield key
    for part in parts:
        yield from leaves(value[part], (*key, part))


def other_values(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value, "yes"]
    if isinstance(value, int):
        return [value + 1, max(value - 1, 0) if value else 7, str(value)]
    if isinstance(value, float):
        return [value * 1.5 + 0.1, value / 2 if value else 0.25]
    if isinstance(value, str):
        return [value + "x"]
    return [["x"]] if value == [] else [{"x": 1}] if value == {} else [5]


def setitem(place: Any, key: str | int, value: Any) -> None:
    place[key] = value


def alterations(report: dict[str, Any]) -> Iterator[Alteration]:
    """Give a report with each figure altered, each key dropped, and each mapping with a further key."""
    for key in leaves(report):
        value = at(report, key)
        for other in other_values(value):
            yield Alteration(key, f"{value!r} -> {other!r}", partial(setitem, value=other))
    for key in dict.fromkeys(leaf[:length] for leaf in leaves(report) for length in range(1, len(leaf) + 1)):
        if isinstance(key[-1], str):
            yield Alteration(key, "dropped", operator.delitem)
    for key in {leaf[:length] for leaf in leaves(report) for length in range(len(leaf) + 1)}:
        if isinstance(at(report, key), dict):
            yield Alteration((*key, "further"), "added", partial(setitem, value=1))


def at(report: Any, key: Key) -> Any:
    for part in key:
        report = report[part]
    return report


def unnoticed(job: Job, given: Path, alteration: Alteration) -> bool:
    """Tell whether an audit neither minds an altered report nor lists the key."""
    path = given.with_name("altered.json")
    report = json.loads(given.read_text(encoding="utf-8"))
    path.write_text(json.dumps(alteration.of(report)), encoding="utf-8")
    try:
        found = audit_release(job.release, path)
    except InputError:
        return False
    finally:
        path.unlink()
    return found.verified and not listed(alteration, found.not_checked)


def listed(alteration: Alteration, not_checked: list[str]) -> bool:
    key = alteration.key
    if alteration.what == "dropped" and key[0] == "config" and key[-1] in OPTIONAL:
        return LEFT_OUT in not_checked
    return any(dotted_key(key[:length]) in not_checked for length in range(1, len(key) + 1))


def report_of(job: Job, *, internal: bool) -> Path:
    return job.output / "report.json" if internal else job.public_report


def all_alterations(releases: Mapping[str, Job]) -> list[tuple[str, Path, Alteration]]:
    found = []
    for name, job in releases.items():
        for internal in (False, True):
            given = report_of(job, internal=internal)
            report = json.loads(given.read_text(encoding="utf-8"))
            found += [(name, given, each) for each in alterations(report)]
    return sorted(found, key=lambda each: (each[0], each[1].name, str(each[2])))


def missed(releases: Mapping[str, Job], chosen: list[tuple[str, Path, Alteration]]) -> list[str]:
    return [
        f"{name} {given.name}: {alteration}"
        for name, given, alteration in chosen
        if unnoticed(releases[name], given, alteration)
    ]


@pytest.mark.slow
def test_every_release_is_verified_by_either_report(releases: Mapping[str, Job]) -> None:
    for name, job in releases.items():
        for internal in (False, True):
            found = audit_release(job.release, report_of(job, internal=internal))
            assert (found.verified, found.findings) == (True, []), name
            by_owner = internal and name not in ("microaggregation", "anatomy")
            assert (AGAINST_THE_INPUT in found.not_checked) is not by_owner, name


@pytest.mark.slow
def test_every_key_of_a_report_can_be_altered(releases: Mapping[str, Job]) -> None:
    assert len(all_alterations(releases)) > 3000


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_altered_reports_of_each_kind(name: str, releases: Mapping[str, Job]) -> None:
    every = all_alterations({name: releases[name]})
    assert missed(releases, Random(16).sample(every, 15)) == []


Rows = list[list[str]]


def swapped(rows: Rows) -> Rows:
    other = next(place for place, row in enumerate(rows) if row != rows[0])
    rows[0], rows[other] = rows[other], rows[0]
    return rows


def reversed_rows(rows: Rows) -> Rows:
    return rows[::-1]


def doubled(rows: Rows) -> Rows:
    return [rows[0], *rows]


def one_less(rows: Rows) -> Rows:
    return rows[:-1]


def other_cell(column: int) -> Callable[[Rows], Rows]:
    """Return what gives the first record another value, one that the column has, and sorts the file again."""

    def altered(rows: Rows) -> Rows:
        rows[0][column] = next(row[column] for row in rows if row[column] != rows[0][column])
        return sorted(rows)

    return altered


def new_cell(column: int) -> Callable[[Rows], Rows]:
    def altered(rows: Rows) -> Rows:
        rows[-1][column] += "?"
        return sorted(rows)

    return altered


def rewritten(job: Job, change: Callable[[Rows], Rows]) -> None:
    """Alter a release of one file, and both reports so that the hash is that of the altered file."""
    rows = list(csv.reader(io.StringIO(job.release.read_text(encoding="utf-8"), newline="")))
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([rows[0], *change(rows[1:])])
    job.release.write_bytes(stream.getvalue().encode())
    digest = hashlib.sha256(job.release.read_bytes()).hexdigest()
    for internal in (False, True):
        path = report_of(job, internal=internal)
        report = json.loads(path.read_text(encoding="utf-8"))
        report["release"]["sha256"] = digest
        path.write_text(json.dumps(report), encoding="utf-8")


QUICK = ("classes", "cells", "microaggregation")
OF_ONE_FILE = [
    pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in JOBS if name != "anatomy"
]
OF_ROWS = [swapped, reversed_rows, doubled, one_less]


@pytest.mark.parametrize("change", OF_ROWS, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", OF_ONE_FILE)
def test_altered_rows_are_noticed_by_both(
    name: str, change: Callable[[Rows], Rows], releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases[name].copied(tmp_path)
    rewritten(job, change)
    for internal in (False, True):
        assert not audit_release(job.release, report_of(job, internal=internal)).verified


@pytest.mark.slow
@pytest.mark.parametrize("altered", [other_cell, new_cell], ids=["other", "new"])
@pytest.mark.parametrize("name", slow_but(1, (name for name in JOBS if name != "anatomy")))
def test_an_altered_cell_is_noticed_by_the_owner_or_listed(
    name: str, altered: Callable[[int], Callable[[Rows], Rows]], releases: Mapping[str, Job], tmp_path: Path
) -> None:
    # Each column of each job by one of both, and by the other in the next job.
    for column in range((list(JOBS).index(name) + (altered is new_cell)) % 2, 5, 2):
        job = releases[name].copied(tmp_path / str(column))
        rewritten(job, altered(column))
        recipient = audit_release(job.release)
        assert not recipient.verified or AGAINST_THE_INPUT in recipient.not_checked
        # Means are of no record of the input, and are compared with none.
        owner = audit_release(job.release, report_of(job, internal=True))
        assert not owner.verified or (name, column) == ("microaggregation", 0), column


def lies(report: dict[str, Any]) -> Iterator[tuple[Key, Any]]:
    """Give what a report that passed for true once could say."""
    release, constraint = report["release"], ("constraints", 0)
    yield ("status",), "infeasible"
    yield ("release", "verified"), False
    yield (*constraint, "satisfied"), False
    yield (*constraint, "worst_classes"), report["constraints"][0]["worst_classes"] + 1
    yield (*constraint, "verifiable_from_release"), False
    yield ("release", "suppressed_records"), release["suppressed_records"] + 1
    yield ("config", "suppression", "limit"), 0.01
    yield ("loss", "discernibility"), report["loss"]["discernibility"] + 1
    yield ("loss", "average_class_size"), report["loss"]["average_class_size"] + 0.1
    yield ("recoding", "levels", "age"), 1
    yield ("attributes", "zip", "role"), "insensitive"
    yield ("attributes", "zip", "hierarchy_sha256"), 64 * "0"


@pytest.mark.parametrize("number", range(12))
def test_what_file_and_report_tell_is_compared(
    number: int, releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["classes"].copied(tmp_path)
    report = json.loads(job.public_report.read_text(encoding="utf-8"))
    key, value = list(lies(report))[number]
    at(report, key[:-1])[key[-1]] = value
    job.public_report.write_text(json.dumps(report), encoding="utf-8")
    found = audit_release(job.release)
    assert not found.verified
    assert any(str(key[-1]) in finding or "limit" in finding for finding in found.findings), found.findings


@pytest.mark.slow
def test_the_owner_compares_losses_with_the_input(releases: Mapping[str, Job], tmp_path: Path) -> None:
    for name in ("classes", "kept rows", "cells", "local"):
        job = releases[name].copied(tmp_path / name)
        path = report_of(job, internal=True)
        report = json.loads(path.read_text(encoding="utf-8"))
        for section, key in (("loss", "ncp"), ("loss", "precision"), ("input", "rows")):
            altered = deepcopy(report)
            altered[section][key] += 1
            path.write_text(json.dumps(altered), encoding="utf-8")
            found = audit_release(job.release, path)
            assert any(f"{section}.{key}: " in finding for finding in found.findings), (name, key)


def test_an_unknown_key_lists_itself(releases: Mapping[str, Job], tmp_path: Path) -> None:
    job = releases["classes"].copied(tmp_path)
    report = json.loads(job.public_report.read_text(encoding="utf-8"))
    report["release"]["notes"], report["extra"] = "all is well", {"a": [1, 2]}
    job.public_report.write_text(json.dumps(report), encoding="utf-8")
    found = audit_release(job.release)
    assert found.verified
    assert {"release.notes", "extra"} <= set(found.not_checked)


SHAPES: list[dict[str, Any]] = [
    {"suppression": {"limit": 0.1, "keep_rows": True}},
    {"suppression": {"limit": 0.1, "method": "cells"}, "constraints": [{"model": "k-anonymity", "k": 9}]},
    {"algorithm": {"name": "local"}},
    {"algorithm": {"name": "mondrian", "labels": "set", "mode": "relaxed"}},
    {"algorithm": {"name": "mondrian"}, "suppression": {"limit": 0.1, "keep_rows": True}},
    {"algorithm": {"name": "mondrian", "labels": "interval"}, "output": {"path": "release.parquet"}},
    {"output": {"path": "release.csv.gz", "order": "shuffled"}, "reference": "input"},
]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_labels_that_several_levels_have_and_missing_values_are_no_alarm(
    shape: dict[str, Any], tmp_path: Path
) -> None:
    random = Random(4)
    rows = [
        (
            f"person {number}",
            random.choice(["", *map(str, range(20, 60))]),
            random.choice(["1", "12", "123", "45", "4567"]),
            random.choice(["F", "M", ""]),
            random.choice(["asthma", "cancer", "flu", ""]),
            random.choice(["", "n1", "n2"]),
        )
        for number in range(50)
    ]
    job = Job(tmp_path).rows(rows)
    job.config.update({"constraints": [{"model": "k-anonymity", "k": 3}], "attacks": ATTACKS, **shape})
    assert job.run().code == 0
    for internal in (False, True):
        found = audit_release(job.release, report_of(job, internal=internal))
        assert (found.verified, found.findings) == (True, [])
        assert (AGAINST_THE_INPUT in found.not_checked) is not internal


def test_a_star_below_the_top_of_a_hierarchy_is_no_blank(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.data = b"zip,sex,diagnosis\n100,F,a\n101,F,b\n130,F,a\n131,F,b\n"
    (tmp_path / "zip.csv").write_text("100,10,*\n101,10,*\n130,*,*\n131,*,*\n", encoding="utf-8")
    zips = {"type": "text", "hierarchy": {"file": "zip.csv"}, "levels": {"min": 1, "max": 1}}
    job.config["attributes"] = {
        "zip": {"role": "quasi-identifier", **zips},
        "sex": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive"},
    }
    job.config["constraints"] = [{"model": "k-anonymity", "k": 2}]
    job.config["suppression"] = {"limit": 0.2, "method": "cells"}
    done = job.run()
    assert done.code == 0, done.err
    assert [row[0] for row in read_rows(job.release)] == ["*", "*", "10", "10"]
    assert audit_release(job.release).verified


def blanked(rows: Rows) -> Rows:
    """Replace the age of the first class by ``*``, and sort again."""
    first = rows[0][:3]
    return sorted([["*", *row[1:]] if row[:3] == first else row for row in rows])


def test_blanks_that_no_method_makes_are_noticed(releases: Mapping[str, Job], tmp_path: Path) -> None:
    job = releases["classes"].copied(tmp_path)
    rewritten(job, blanked)
    assert not audit_release(job.release).verified


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"rows": 57', '"rows": 57.0'),
        ('"satisfied": true', '"satisfied": false, "satisfied": true'),
        ('"path": "share/release.csv"', '"path": "x://evil/other.csv"'),
    ],
)
def test_what_other_readers_would_read_otherwise_is_noticed(
    old: str, new: str, releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["classes"].copied(tmp_path)
    text = job.public_report.read_text(encoding="utf-8")
    assert old in text
    job.public_report.write_text(text.replace(old, new, 1), encoding="utf-8")
    try:
        verified = audit_release(job.release).verified
    except InputError:
        verified = False
    assert not verified


@pytest.mark.parametrize("number", ["NaN", "Infinity", "9" * 400, "1e300"])
@pytest.mark.parametrize("key", ["rows", "suppressed_records"])
def test_numbers_that_no_run_writes_are_refused(
    key: str, number: str, releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["classes"].copied(tmp_path)
    text = re.sub(rf'"{key}": \d+', f'"{key}": {number}', job.public_report.read_text(encoding="utf-8"))
    job.public_report.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        audit_release(job.release)


def altered_report(job: Job, *changes: tuple[Key, Any], internal: bool = False) -> Path:
    """Change figures of a report; return its path."""
    path = report_of(job, internal=internal)
    report = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes:
        at(report, key[:-1])[key[-1]] = value
    path.write_text(json.dumps(report), encoding="utf-8")
    return path


@pytest.mark.parametrize("internal", [False, True])
def test_a_hierarchy_that_has_no_digest_is_refuted(
    internal: bool, releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["classes"].copied(tmp_path)
    key = ("config", "attributes", "sex", "hierarchy")
    made = {"mask": {"from": "right", "widths": None, "character": "*"}, "unknown": "error"}
    zips = at(json.loads(job.public_report.read_text(encoding="utf-8")), (*key[:2], "zip", "hierarchy"))
    found = audit_release(job.release, altered_report(job, (key, zips or made), internal=internal))
    assert not found.verified
    assert any(each.startswith("attributes.sex.hierarchy_sha256: ") for each in found.findings)


def test_hidden_figures_make_nothing_else_checked(releases: Mapping[str, Job], tmp_path: Path) -> None:
    job = releases["classes"].copied(tmp_path)
    hidden: list[tuple[Key, Any]] = [
        (("attributes", "zip", "role"), None),
        (("attributes", "zip", "type"), None),
        (("release", "path"), None),
    ]
    found = audit_release(job.release, altered_report(job, *hidden))
    listed = {"config.attributes.zip.role", "config.attributes.zip.type", "config.output.path"}
    assert listed <= set(found.not_checked)


@pytest.mark.parametrize("internal", [False, True])
def test_the_objective_is_the_loss_of_its_name(internal: bool, tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.config["objective"] = {"metric": "average-class-size"}
    assert job.run().code == 0
    assert audit_release(job.release, report_of(job, internal=internal)).verified
    path = altered_report(job, (("search", "objective"), 99.5), internal=internal)
    found = audit_release(job.release, path)
    assert [each.partition(":")[0] for each in found.findings] == ["search.objective"]


def test_what_attacks_measured_is_listed(releases: Mapping[str, Job]) -> None:
    for internal in (False, True):
        job = releases["classes"]
        found = audit_release(job.release, report_of(job, internal=internal))
        assert found.verified
        assert {"attacks", "attack_matrix", "config.attacks"} <= set(found.not_checked)


@pytest.mark.parametrize("version", [True, 1.0, "1", 2, None])
def test_the_version_of_a_report_is_a_whole_number(
    version: Any, releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["classes"].copied(tmp_path)
    with pytest.raises(InputError, match="schema"):
        audit_release(job.release, altered_report(job, (("schema",), version)))


def test_a_type_that_the_release_does_not_tell_is_no_alarm(tmp_path: Path) -> None:
    """Distances are of texts where a suppressed record had no number; the recipient cannot know."""
    rows = [(*row[:4], str(10 * number % 40), "") for number, row in enumerate(people(12))]
    odd = [("person", "99", "9999", "F", text, "") for text in ("unknown", "none")]
    job = Job(tmp_path).rows([*rows, *odd])
    job.config["attributes"]["age"]["levels"] = {"max": 2}
    job.config["suppression"] = {"limit": 0.2}
    job.constraints({"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.9})
    done = job.run()
    assert done.code == 0, done.err
    assert job.report()["attributes"]["diagnosis"]["type"] == "text"
    assert "unknown" not in job.release.read_text(encoding="utf-8")
    for internal in (False, True):
        found = audit_release(job.release, report_of(job, internal=internal))
        assert (found.verified, found.findings) == (True, [])


OUTSIDE = ["/etc/passwd", "../people.csv", "folder", "pipe", "link", "/dev/zero", "share/../../people.csv"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_public_report_names_files_of_its_own_folder_alone(
    path: str, releases: Mapping[str, Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = releases["classes"].copied(tmp_path)
    share = job.public_report.parent
    (share / "folder").mkdir()
    os.mkfifo(share / "pipe")
    (share / "link").symlink_to(job.input)
    hierarchy = {"file": path, "unknown": "error"}
    changes: list[tuple[Key, Any]] = [
        (("config", "attributes", "zip", "hierarchy"), hierarchy),
        # It says that it is internal.
        (("steps",), []),
    ]
    altered_report(job, *changes)
    read: list[Path] = []
    monkeypatch.setattr(Path, "read_bytes", lambda self, own=Path.read_bytes: read.append(self) or own(self))
    found = audit_release(job.release)
    assert not found.verified
    assert len(found.findings) == 1
    assert "as a hierarchy, which is not " in found.findings[0]
    assert "put the files next to it" in found.findings[0]
    assert {each.parent for each in read} == {share}
    assert {each.name for each in read} <= {job.public_report.name, job.release.name}


def test_an_internal_report_names_regular_files_alone(releases: Mapping[str, Job], tmp_path: Path) -> None:
    job = releases["classes"].copied(tmp_path)
    hierarchy = {"file": "/dev/zero", "unknown": "error"}
    change = (("config", "attributes", "zip", "hierarchy"), hierarchy)
    found = audit_release(job.release, altered_report(job, change, internal=True))
    assert len(found.findings) == 1
    assert "which is not a regular file" in found.findings[0]


def rewritten_pair(job: Job, change: Callable[[str], str], *, sort: bool = True) -> None:
    """Alter the numbers of groups in both tables, and the hashes in both reports."""
    tables = (job.release.with_name("release.qit.csv"), job.release.with_name("release.st.csv"))
    for path in tables:
        header, *rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
        place = header.index("group")
        rows = [[change(cell) if at == place else cell for at, cell in enumerate(row)] for row in rows]
        if sort:
            rows.sort(
                key=lambda row: [(0, int(cell), "") if cell.isdigit() else (1, 0, cell) for cell in row]
            )
        stream = io.StringIO(newline="")
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
        path.write_bytes(stream.getvalue().encode())
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in tables]
    for internal in (False, True):
        altered_report(
            job,
            (("release", "sha256"), hashes[0]),
            (("release", "sensitive_table", "sha256"), hashes[1]),
            internal=internal,
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda text: f"g{text}",
        lambda text: str(int(text) + 1),
        lambda text: f"0{text}",
        lambda text: text * 2,
    ],
    ids=["named", "shifted", "padded", "gaps"],
)
def test_groups_are_numbered_from_1(
    change: Callable[[str], str], releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["anatomy"].copied(tmp_path)
    rewritten_pair(job, change)
    for internal in (False, True):
        found = audit_release(job.release, report_of(job, internal=internal))
        assert not found.verified
        assert any("buckets should be numbered" in each for each in found.findings), found.findings


def test_the_order_of_groups_is_compared_by_the_owner_and_listed_for_others(
    releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["anatomy"].copied(tmp_path)
    assert GROUP_ORDER in audit_release(job.release).not_checked
    assert GROUP_ORDER not in audit_release(job.release, report_of(job, internal=True)).not_checked
    rewritten_pair(job, lambda text: {"1": "2", "2": "1"}.get(text, text))
    assert GROUP_ORDER in audit_release(job.release).not_checked
    found = audit_release(job.release, report_of(job, internal=True))
    assert any(
        "buckets are not numbered in the order of their published rows" in each for each in found.findings
    )


def widened(job: Job, labels: str) -> None:
    """Put one more value of the input into a label of all records of one class, and sort again."""

    def change(rows: Rows) -> Rows:
        first = next(row[:3] for row in rows if row[0] != "*")
        own = first[0]
        wide = {"interval": f"[{own[1:3]}, 59]", "set": f"{own[:-1]}, 59}}", "hierarchy": "*"}[labels]
        assert own != wide
        return sorted([[wide, *row[1:]] if row[:3] == first else row for row in rows])

    rewritten(job, change)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
@pytest.mark.parametrize("labels", ["interval", "set", "hierarchy"])
def test_labels_of_mondrian_that_are_wider_than_the_input_needs(
    labels: str, mode: str, tmp_path: Path
) -> None:
    job = Job(tmp_path).rows(people(200)).constraints({"model": "k-anonymity", "k": 3})
    job.config["algorithm"] = {"name": "mondrian", "labels": labels, "mode": mode}
    assert job.run().code == 0
    owner = audit_release(job.release, report_of(job, internal=True))
    # Where boxes overlap, a record can be of several classes, and another match need not be as narrow.
    assert owner.verified
    assert mode == "relaxed" or AGAINST_THE_INPUT not in owner.not_checked
    assert labels != "hierarchy" or "loss" not in " ".join(owner.not_checked)
    widened(job, labels)
    found = audit_release(job.release, report_of(job, internal=True))
    # Records of other classes can stand under a root, so that it need not be wider; its cuts tell.
    wide = ["wider than the values of the input in its class", "cannot be matched with records of the input"]
    noticed = any(each in finding for each in wide for finding in found.findings)
    assert noticed or (labels == "hierarchy" and AGAINST_THE_INPUT in found.not_checked)


def quoted_cells(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b",F,", b',"F",'))


def named_gzip(path: Path) -> None:
    content = gzip.decompress(path.read_bytes())
    with path.open("wb") as raw, gzip.GzipFile("secret.csv", "wb", fileobj=raw, mtime=7) as stream:
        stream.write(content)


def with_metadata(path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(path).replace_schema_metadata({"note": "secret"}), path)


@pytest.mark.parametrize(
    ("name", "change"),
    [("release.csv", quoted_cells), ("release.csv.gz", named_gzip), ("release.parquet", with_metadata)],
)
def test_bytes_around_values_are_compared_or_listed(
    name: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    job = Job(tmp_path).set("output", path=name)
    assert job.run().code == 0
    assert AROUND_VALUES not in audit_release(job.release).not_checked
    change(job.release)
    digest = hashlib.sha256(job.release.read_bytes()).hexdigest()
    found = audit_release(job.release, altered_report(job, (("release", "sha256"), digest)))
    assert not found.verified or AROUND_VALUES in found.not_checked


def reordered(path: Path, order: Callable[[list[int]], list[int]]) -> str:
    """Put the columns of a file in another order, and its rows in theirs again; return the hash."""
    header, *rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
    places = order(list(range(len(header))))
    counted = [header[place] in ("group", "count") for place in places]
    changed = [[row[place] for place in places] for row in rows]
    changed.sort(key=lambda row: [int(x) if whole else x for x, whole in zip(row, counted, strict=True)])
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([[header[place] for place in places], *changed])
    path.write_bytes(stream.getvalue().encode())
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rehashed(job: Job, *changes: tuple[Key, Any]) -> None:
    for internal in (False, True):
        altered_report(job, *changes, internal=internal)


@pytest.mark.slow
def test_the_order_of_columns_is_compared_by_the_owner_and_listed_for_others(
    releases: Mapping[str, Job], tmp_path: Path
) -> None:
    """It could carry log2 of n! bits."""
    for name in ("classes", "mondrian", "anatomy"):
        job = releases[name].copied(tmp_path / name)
        path = job.release if name != "anatomy" else job.release.with_name("release.qit.csv")
        assert COLUMN_ORDER in audit_release(path).not_checked
        assert COLUMN_ORDER not in audit_release(path, report_of(job, internal=True)).not_checked
        # The group stays the last one.
        digest = reordered(path, lambda places: [places[-2], *places[:-2], places[-1]])
        rehashed(job, (("release", "sha256"), digest))
        found = audit_release(path)
        assert not found.verified or COLUMN_ORDER in found.not_checked
        owner = audit_release(path, report_of(job, internal=True))
        assert any("in another order than in the input" in each for each in owner.findings), name


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("release.qit.csv", ("release", "sha256")),
        ("release.st.csv", ("release", "sensitive_table", "sha256")),
    ],
)
def test_columns_of_groups_have_their_places(
    name: str, key: Key, releases: Mapping[str, Job], tmp_path: Path
) -> None:
    job = releases["anatomy"].copied(tmp_path)
    path = job.release.with_name(name)
    rehashed(job, (key, reordered(path, lambda places: [places[-1], *places[:-1]])))
    found = audit_release(path)
    assert any(f"{name}: has columns " in each for each in found.findings), found.findings


def parquet_job(folder: Path) -> Job:
    """A release whose notes are missing in every third record."""
    rows = [(*row[:5], "" if place % 3 else row[5]) for place, row in enumerate(people(60))]
    job = Job(folder).rows(rows).set("output", path="release.parquet")
    assert job.run().code == 0
    return job


def rewritten_parquet(job: Job, selected: str) -> None:
    import duckdb

    other = job.release.with_name("other.parquet")
    duckdb.sql(f"COPY (SELECT {selected} FROM '{job.release}') TO '{other}' (FORMAT parquet)")
    other.replace(job.release)
    rehashed(job, (("release", "sha256"), hashlib.sha256(job.release.read_bytes()).hexdigest()))


def test_nulls_and_empty_texts_are_told_apart(tmp_path: Path) -> None:
    """One of each kind in every record with a missing value could tell which ones the publisher marked."""
    job = parquet_job(tmp_path)
    assert MISSING_CELLS not in audit_release(job.release).not_checked
    marked = "CASE WHEN note = '' AND hash(age || zip) % 2 = 0 THEN NULL ELSE note END"
    rewritten_parquet(job, f"* REPLACE ({marked} AS note)")
    assert MISSING_CELLS in audit_release(job.release).not_checked
    owner = audit_release(job.release, report_of(job, internal=True))
    assert any("has nulls instead of empty texts" in each for each in owner.findings)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["blob", "enum"])
def test_types_of_columns_are_listed_and_recoded_ones_are_texts(kind: str, tmp_path: Path) -> None:
    job = parquet_job(tmp_path)
    for internal in (False, True):
        assert COLUMN_TYPES in audit_release(job.release, report_of(job, internal=internal)).not_checked
    changed = {"blob": "zip::BLOB AS zip", "enum": "sex::ENUM('F', 'M', '*') AS sex"}[kind]
    rewritten_parquet(job, f"* REPLACE ({changed})")
    found = audit_release(job.release)
    assert kind == "enum" or any(
        "is recoded, but does not contain texts only" in each for each in found.findings
    )
    assert not found.verified or {COLUMN_TYPES, AROUND_VALUES} <= set(found.not_checked)


def test_types_are_not_listed_for_separated_text(releases: Mapping[str, Job]) -> None:
    assert COLUMN_TYPES not in audit_release(releases["classes"].release).not_checked


def test_whole_numbers_are_exact(releases: Mapping[str, Job], tmp_path: Path) -> None:
    job = releases["classes"].copied(tmp_path)
    loss = json.loads(job.public_report.read_text(encoding="utf-8"))["loss"]["discernibility"]
    cut = int(float(f"{loss:.2g}"))
    assert (cut != loss, isinstance(loss, int)) == (True, True)
    found = audit_release(job.release, altered_report(job, (("loss", "discernibility"), cut)))
    assert any(each.startswith("loss.discernibility: ") for each in found.findings)


def rooted_job(folder: Path, name: str) -> Job:
    """A release that keeps suppressed rows, of which there are none, and has a class at all roots."""
    rows = [f"{10 + each % 10},p,{each % 3}" for each in range(12)]
    rows += ["35,q,0", "47,r,1", "58,t,2", "65,u,0", "99,z,5"]
    job = Job(folder)
    job.data = "\n".join(["a,b,s", *rows, ""]).encode()
    job.config["attributes"] = {
        "a": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [10]}}},
        "b": {"role": "quasi-identifier"},
        "s": {"role": "sensitive"},
    }
    job.config["algorithm"] = {"name": name}
    job.config["suppression"] = {"limit": 0, "keep_rows": True}
    assert job.run().code == 0
    return job


@pytest.mark.parametrize("name", ["local", "mondrian"])
def test_a_class_at_all_roots_is_not_taken_for_suppressed(name: str, tmp_path: Path) -> None:
    job = rooted_job(tmp_path, name)
    alone = sum(row[:2] == ["*", "*"] for row in read_rows(job.release))
    assert alone > 0
    own = job.report()
    assert own["release"]["suppressed_records"] == 0
    for internal in (False, True):
        found = audit_release(job.release, report_of(job, internal=internal))
        assert (found.verified, found.findings) == (True, [])
        assert "release.suppressed_records" in found.not_checked
    loss = own["loss"]["discernibility"] - alone**2 + alone * own["input"]["rows"]
    lie: list[tuple[Key, Any]] = [
        (("release", "suppressed_records"), alone),
        (("loss", "discernibility"), loss),
        (("config", "suppression", "limit"), 0.5),
    ]
    for internal in (False, True):
        found = audit_release(job.release, altered_report(job, *lie, internal=internal))
        assert not found.verified or "release.suppressed_records" in found.not_checked


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("lowest", [0, 1])
def test_groups_at_their_lowest_levels_are_no_alarm(lowest: int, *, missing: bool, tmp_path: Path) -> None:
    random = Random(5)
    rows = [(*row[:1], "" if missing and random.random() < 0.2 else row[1], *row[2:]) for row in people(40)]
    job = Job(tmp_path).rows(rows).constraints({"model": "l-diversity", "l": 2})
    job.config |= {"algorithm": {"name": "anatomy"}, "suppression": {"limit": 0.3}}
    job.config["attributes"]["age"]["levels"] = {"min": lowest}
    done = job.run()
    assert done.code == 0, done.err
    for internal in (False, True):
        found = audit_release(job.release, report_of(job, internal=internal))
        assert (found.verified, found.findings) == (True, [])
    path = job.release.with_name("release.qit.csv")
    header, first, *others = path.read_text(encoding="utf-8").splitlines()
    cells = first.split(",")
    cells[0] = next(row.split(",")[0] for row in others if row.split(",")[0] not in (cells[0], "<missing>"))
    path.write_text("\n".join([header, ",".join(cells), *others]) + "\n", encoding="utf-8")
    rehashed(job, (("release", "sha256"), hashlib.sha256(path.read_bytes()).hexdigest()))
    owner = audit_release(path, report_of(job, internal=True))
    assert any("column 'age' does not contain the values of the input" in each for each in owner.findings)


def test_keys_of_further_records_that_are_missing_are_listed(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    earlier = job.output.rename(tmp_path / "earlier")
    job.config["apply"] = str(earlier / "report.json")
    done = job.rows([(f"new {each}", *row[1:]) for each, row in enumerate(people(30, seed=2))]).run()
    assert done.code == 0, done.err
    path = report_of(job, internal=True)
    report = json.loads(path.read_text(encoding="utf-8"))
    for name in ("recoding", "rows_added"):
        altered = deepcopy(report)
        del altered["applied"][name]
        path.write_text(json.dumps(altered), encoding="utf-8")
        found = audit_release(job.release, path)
        assert not found.verified or {"applied", f"applied.{name}"} & set(found.not_checked)
