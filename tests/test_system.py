"""What differs between systems stands in one module, and each call has what is done in its place."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import anonymizer
from anonymizer import system
from anonymizer.errors import OutputError
from anonymizer.system import LockedFolder

HOUSE = Path(anonymizer.__file__).parent
REFUSED = ["CON", "nul.csv", "Com1.parquet", "lpt9 .csv", "aux.tar.gz", "COM¹.csv", "CONIN$", "a.", "a "]
REFUSED += [f"a{character}b.csv" for character in '<>:"|?*\\\t\x1f']
ACCEPTED = [
    "release.csv",
    "console.csv",
    "com.csv",
    "com10.csv",
    "größe [1] (2) #'&%.csv",
    ".hidden",
    "a b.csv",
]


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_windows_refuses(name: str, tmp_path: Path) -> None:
    for path in (name, f"2026/{name}", Path(name) / "share"):
        assert system.output_fault(path) == f"the name {name!r} {system.NOT_PORTABLE}"
    with pytest.raises(OutputError, match="is not possible on Windows"):
        system.write_whole(tmp_path / name, "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*ACCEPTED, "", ".", "..", "../x", "/tmp/x"])
def test_a_name_that_every_system_takes(name: str) -> None:
    assert system.output_fault(name) is None


def test_folders_that_are_there_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "10:30").mkdir()
    assert system.new_path_fault(tmp_path / "10:30" / "release") is None
    fault = system.new_path_fault(tmp_path / "10:30" / "11:30" / "release")
    assert fault is not None
    assert fault.startswith("the name '11:30' ")


@pytest.mark.parametrize("word", ["/proc", "proc/", "symlink_to", "hardlink_to", "hasattr(os,"])
def test_other_modules_name_no_call_of_one_system(word: str) -> None:
    """Ruff refuses imports and functions of ``os``; these are texts and methods, which it cannot see."""
    found = {path.name for path in HOUSE.rglob("*.py") if word in path.read_text(encoding="utf-8")}
    assert found <= {"system.py"}


def test_a_lock_is_of_one_process(tmp_path: Path) -> None:
    folder = LockedFolder.make(tmp_path, "made-")
    with pytest.raises(BlockingIOError):
        LockedFolder(folder.path)
    folder.leave()
    LockedFolder(folder.path).remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_goes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, gone = system._locked, []

    def locked(path: Path) -> int:
        if len(gone) < 3:
            gone.append(path)
            path.rmdir()
        return original(path)

    monkeypatch.setattr(system, "_locked", locked)
    made = LockedFolder.make(tmp_path, "made-")
    assert list(tmp_path.iterdir()) == [made.path]
    monkeypatch.setattr(system, "_locked", lambda path: original(path / "absent"))
    with pytest.raises(OSError, match="disappear as soon as they are made"):
        LockedFolder.make(tmp_path, "made-")


def test_without_symbolic_links_a_copy_stands_for_files_and_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "a required privilege is not held")

    (tmp_path / "data" / "year=2026").mkdir(parents=True)
    (tmp_path / "data" / "year=2026" / "part.csv").write_text("x")
    system.link_to(tmp_path / "linked", tmp_path / "data")
    monkeypatch.setattr(Path, "symlink_to", refuse)
    system.link_to(tmp_path / "copied", tmp_path / "data")
    system.link_to(tmp_path / "one.csv", tmp_path / "data" / "year=2026" / "part.csv")
    assert (tmp_path / "linked").is_symlink()
    assert not (tmp_path / "copied").is_symlink()
    assert (tmp_path / "copied" / "year=2026" / "part.csv").read_text() == "x"
    assert (tmp_path / "one.csv").read_text() == "x"


def test_a_rename_is_tried_again_on_windows_while_a_scanner_has_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, calls = Path.rename, []

    def rename(old: Path, new: Path) -> Path:
        calls.append(old)
        if len(calls) < 3:
            raise PermissionError(errno.EACCES, "is used by another process")
        return original(old, new)

    (tmp_path / "old").touch()
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(PermissionError):
        system.rename(tmp_path / "old", tmp_path / "new")
    monkeypatch.setattr(system, "WINDOWS", True)
    system.rename(tmp_path / "old", tmp_path / "new")
    assert (len(calls), (tmp_path / "new").exists()) == (3, True)


def test_what_is_on_the_disk_on_windows_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(system, "WINDOWS", True)
    monkeypatch.setattr(os, "fsync", synced.append)
    (tmp_path / "file").write_text("x")
    system.sync(tmp_path)
    system.sync(tmp_path / "file")
    assert len(synced) == 1


@pytest.mark.parametrize("windows", [True, False])
def test_a_read_only_file_is_replaced(windows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "WINDOWS", windows)
    path = tmp_path / "config.yaml"
    path.write_text("old")
    path.chmod(0o400)
    system.replace_whole(path, "größe\n")
    assert path.read_bytes() == "größe\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_goes_with_read_only_files_and_folders(tmp_path: Path) -> None:
    inside = tmp_path / "gone" / "deep"
    inside.mkdir(parents=True)
    (inside / "file").touch()
    for path in (inside / "file", inside, inside.parent):
        path.chmod(0o500)
    system.remove_tree(tmp_path / "gone")
    assert list(tmp_path.iterdir()) == []


def test_one_file_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert system.same_file(tmp_path / "a", tmp_path / "link")
    assert system.same_file(tmp_path / "absent", tmp_path / "x" / ".." / "absent")
    assert not system.same_file(tmp_path / "a", tmp_path / "absent")


def test_a_process_apart_is_in_no_group_that_an_interrupt_reaches() -> None:
    words = [sys.executable, "-c", "import os; print(os.getpgid(0) == os.getpid())"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, **system.process_apart())
    assert done.stdout == "True\n"


def test_a_pipe_that_nobody_reads_has_another_error_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.reader_is_gone(BrokenPipeError())
    assert not system.reader_is_gone(OSError(errno.EINVAL, "Invalid argument"))
    monkeypatch.setattr(system, "WINDOWS", True)
    assert system.reader_is_gone(OSError(errno.EINVAL, "Invalid argument"))
    assert not system.reader_is_gone(OSError(errno.ENOSPC, "No space left on device"))


def test_a_process_ends_at_once_where_a_solver_runs_on() -> None:
    script = """
import atexit, sys, time
from anonymizer import system
from anonymizer.cli.main import main
assert system.run_interruptibly(lambda: 3) == 3 and not system.work_runs_on()
system.run_interruptibly(lambda: time.sleep(60), lambda: True)
assert system.work_runs_on()
atexit.register(print, "the thread would be ended")
sys.argv = ["anonymizer", "--version"]
sys.exit(main())
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=50, check=True
    )
    assert ended.stdout.startswith("anonymizer ")
    assert "the thread" not in ended.stdout
