"""Too little memory, a full disk and a closed stdout: one message that names the cause."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer.cli.main as cli
from anonymizer.data.duckdb.database import Database, system_reason
from anonymizer.data.source import EngineOptions
from anonymizer.errors import InputError, OutputError
from anonymizer.system import memory_fault
from tests.run.commands import Done, call
from tests.run.test_release_formats import ROWS, write

LITTLE = [
    MemoryError(),
    RuntimeError("can't start new thread"),
    OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
    ImportError("libx.so: failed to map segment from shared object"),
]


@pytest.mark.parametrize("error", LITTLE, ids=lambda each: type(each).__name__)
def test_too_little_memory_is_said(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> Any:
        raise error

    monkeypatch.setattr(cli, "load_command", fail)
    done = call("run", "c.yaml")
    assert done.code == 2
    assert "memory that the system gives" in done.err
    assert done.err.count("\n") == 1


def test_other_errors_are_not_about_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_fault(RuntimeError("a bug")) is None

    def fail(name: str) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(cli, "load_command", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        call("run", "c.yaml")


def test_a_thread_that_cannot_start_is_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with Database(EngineOptions()) as database:

        def fail(work: Any) -> Any:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patched:
            patched.setattr(database._worker, "submit", fail)
            with pytest.raises(InputError, match="memory that the system gives"):
                database.run("SELECT 1")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_said_in_the_words_of_the_system(
    number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = (
        'IO Error: Async write failed: {"exception_type":"IO","exception_message":"Could not write file '
        f'\\"x\\": {os.strerror(number)}","errno":"{number}"}}'
    )
    assert system_reason(duckdb.IOException(text)) == os.strerror(number)
    with Database(EngineOptions()) as database:

        def fail(work: Any) -> Any:
            raise duckdb.IOException(text)

        with monkeypatch.context() as patched:
            patched.setattr(database, "_finished", fail)
            with pytest.raises(OutputError) as refused:
                database.copy("COPY", [], tmp_path / "release.csv")
    assert str(refused.value) == (
        f"release.csv: cannot be written: {os.strerror(number)}; is there space left?"
    )


class Closed(io.StringIO):
    """A stream whose descriptor is closed."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def test_a_closed_stdout_is_named_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write(tmp_path, ROWS, "range", {"path": "release.csv"})
    err = io.StringIO()
    monkeypatch.setattr(sys, "stdout", Closed())
    monkeypatch.setattr(sys, "stderr", err)
    code = cli.main(["run", str(config), "-q"])
    monkeypatch.undo()
    done = Done(code, "", err.getvalue())
    assert done.code == 1
    assert done.err.startswith("error: standard output: cannot be written: Bad file descriptor")
    assert not (tmp_path / "c-release").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_internal_files_are_for_their_owner(tmp_path: Path) -> None:
    config = write(tmp_path, ROWS, "range", {"path": "release.csv"})
    mask = os.umask(0)
    try:
        assert call("run", config, "-q").code == 0
    finally:
        os.umask(mask)
    folder = tmp_path / "c-release"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()}
    assert modes == dict.fromkeys(["report.json", "report.html", "recoding.json"], 0o600)
