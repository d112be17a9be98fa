"""What can be wrong with the place of a release: each is one message and changes nothing."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest

from tests.run.commands import Job, assert_message, call, snapshot, spawn


@pytest.mark.parametrize("way", ["path", "symbolic link", "hard link", "hierarchy", "config"])
def test_an_output_that_is_an_input(way: str, tmp_path: Path) -> None:
    job = Job(tmp_path)
    output = job.output
    share = output / "share"
    share.mkdir(parents=True)
    if way == "path":
        job.set("input", path="job-release/share/release.csv")
    elif way == "hierarchy":
        (share / "release.csv").write_text("F,*\nM,*\n", encoding="utf-8")
        job.attribute("sex", role="quasi-identifier", hierarchy={"file": "job-release/share/release.csv"})
    elif way == "config":
        job.path = "job-release/report.json"
        job.set("input", path=str(tmp_path / "people.csv"))
    job.write()
    if way == "symbolic link":
        (share / "release.csv").symlink_to(job.input)
    elif way == "hard link":
        (share / "release.csv").hardlink_to(job.input)
    before = snapshot(tmp_path)
    done = call("run", job.file, "-o", output, "--overwrite")
    assert done.code == 2
    assert_message(done.err, ("input", "-o"))
    assert snapshot(tmp_path) == before


def test_an_output_folder_below_a_file(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    before = snapshot(tmp_path)
    done = call("run", job.file, "-o", job.input / "release")
    assert done.code == 2
    assert_message(done.err, ("people.csv", "cannot be written", "-o"))
    assert snapshot(tmp_path) == before


def without_overriding_permissions() -> None:
    """Let the superuser, too, keep to the permissions of files in the program that is started next."""
    drop_from_bounding_set, override = 24, 1
    ctypes.CDLL(None).prctl(drop_from_bounding_set, override, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX systems")
def test_an_output_folder_that_is_not_writable(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    before = snapshot(tmp_path)
    done = spawn("run", job.file, "-o", locked / "release", preexec_fn=without_overriding_permissions)
    assert done.code == 2
    assert_message(done.err, ("locked", "cannot be written", "Permission denied", "-o"))
    assert snapshot(tmp_path) == before


def test_something_else_in_the_output_folder(tmp_path: Path) -> None:
    job = Job(tmp_path)
    (job.output / "share").mkdir(parents=True)
    (job.output / "share" / "thesis.txt").write_text("mine", encoding="utf-8")
    job.write()
    before = snapshot(tmp_path)
    done = call("run", job.file, "--overwrite")
    assert done.code == 2
    assert_message(done.err, ("thesis.txt", "-o"))
    assert snapshot(tmp_path) == before
