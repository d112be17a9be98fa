"""Folders of living runs stay, those of killed runs go at the next start."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anonymizer import system
from anonymizer.data.memory import SpillFolder
from anonymizer.errors import InputError

KEEPER = """
import sys
from pathlib import Path
from anonymizer.data.memory import SpillFolder
folder = SpillFolder(Path(sys.argv[1]))
(folder.path / "records").write_text("x")
print("made", flush=True)
sys.stdin.read()
"""


def test_what_a_killed_run_left_goes_at_the_next_start(tmp_path: Path) -> None:
    foreign = tmp_path / "anonymizer-of-another-host"
    foreign.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "made\n"
        (theirs,) = [path for path in tmp_path.iterdir() if path != foreign]
        own = SpillFolder(tmp_path)
        assert theirs.exists()
        keeper.kill()
    assert theirs.exists()
    other = SpillFolder(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([foreign, own.path, other.path])
    own.remove()
    other.remove()
    other.remove()
    assert list(tmp_path.iterdir()) == [foreign]


def test_a_folder_that_nobody_refers_to_goes(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    assert list(tmp_path.iterdir()) == [folder.path]
    del folder
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.touch()
    with pytest.raises(InputError, match=r"engine\.options\.temp_directory: .*/file: Not a directory"):
        SpillFolder(place)


@pytest.mark.parametrize("lacking", [errno.ENOTSUP, errno.ENOLCK])
def test_where_there_are_no_locks_folders_of_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: int
) -> None:
    """As on some network file systems; nothing tells there whether another run still lives."""
    first = SpillFolder(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(lacking, os.strerror(lacking))

    monkeypatch.setattr(system.fcntl, "flock", refuse)
    second = SpillFolder(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([first.path, second.path])
    first.remove()
    second.remove()
    assert list(tmp_path.iterdir()) == []


def test_on_systems_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "fcntl", None)
    first, second = SpillFolder(tmp_path), SpillFolder(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([first.path, second.path])
    first.remove()
    second.remove()
    assert list(tmp_path.iterdir()) == []
