"""Standard streams that are closed, full or read in part, and what of a release is left then."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.helpers.slow import slow_but
from tests.run.commands import PROGRAM, ROOT, Job, snapshot

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="the shell and its devices are those of Linux")

CLOSED = "error: standard output: cannot be written: it is closed; "
NO_SPACE = "error: standard output: cannot be written: No space left on device; "


def in_shell(command: str, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a shell, whose text has ``"$@"`` for it and redirections after that."""
    words = [*PROGRAM, *map(str, args)]
    shell = ["bash", "-o", "pipefail", "-c", command, "bash", *words]
    return subprocess.run(shell, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("stdout", "said"), [("> /dev/full", NO_SPACE), (">&-", CLOSED)], ids=["full", "closed"]
)
@pytest.mark.parametrize("options", slow_but(1, [(), ("--json",)]), ids=["text", "json"])
def test_a_result_that_cannot_be_written_leaves_no_release(
    stdout: str, said: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    job = Job(tmp_path).write()
    before = snapshot(tmp_path)
    done = in_shell(f'"$@" {stdout}', "run", "--quiet", job.file, *options)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert snapshot(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize(("stdout", "output"), [("> /dev/full", "release.csv"), (">&-", "other.csv")])
def test_a_result_that_cannot_be_written_leaves_the_earlier_release(
    stdout: str, output: str, tmp_path: Path
) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    before = snapshot(job.output)
    job.set("output", path=output).write()
    done = in_shell(f'"$@" {stdout}', "run", job.file, "--overwrite", "--set", "constraints.0.k=8")
    assert done.returncode == 1
    assert snapshot(job.output) == before


@pytest.mark.slow
def test_a_result_that_cannot_be_written_leaves_no_table(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    job = Job(tmp_path)
    job.config["output"] = {"database": "made.duckdb", "table": "people"}
    job.write()
    duckdb.connect(tmp_path / "made.duckdb").close()
    done = in_shell('"$@" > /dev/full', "run", "--quiet", job.file)
    assert (done.returncode, done.stderr.startswith(NO_SPACE)) == (1, True)
    assert not job.output.exists()
    with duckdb.connect(tmp_path / "made.duckdb", read_only=True) as database:
        assert database.execute("SELECT count(*) FROM information_schema.tables").fetchone() == (0,)


@pytest.mark.slow
@pytest.mark.parametrize("stderr", slow_but(1, ["2>&-", "2> /dev/full", "2>&- <&-"]))
def test_messages_that_nobody_can_read_change_nothing(stderr: str, tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    done = in_shell(f'"$@" {stderr}', "run", job.file)
    assert (done.returncode, done.stdout.splitlines()[0][:9]) == (0, "SATISFIED")
    found = snapshot(job.output)
    assert job.run("--overwrite").code == 0
    expected = snapshot(job.output)
    assert found["share/release.csv"] == expected["share/release.csv"]
    assert set(found) == set(expected)
    refused = in_shell(f'"$@" {stderr}', "run", job.file)
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.slow
def test_neither_stream_is_there(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    before = snapshot(tmp_path)
    assert in_shell('"$@" >&- 2>&-', "run", job.file).returncode == 1
    assert in_shell('"$@" > /dev/full 2> /dev/full', "run", job.file).returncode == 1
    assert snapshot(tmp_path) == before


@pytest.mark.slow
def test_a_reader_who_has_enough_gets_the_release(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    done = in_shell('"$@" | true', "run", job.file)
    assert (done.returncode, done.stderr) == (0, "")
    assert job.release.is_file()
    done = in_shell('"$@" | head -c 1', "schema")
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


@pytest.mark.slow
def test_a_reader_who_has_enough_does_not_change_the_verdict(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    job.release.write_bytes(job.release.read_bytes() + b"\n")
    assert in_shell('"$@" | true', "audit", job.release).returncode in (1, 2)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("schema",),
        ("hierarchy", "show", "country"),
        ("attack", "people.csv", "-c", "job.json"),
        ("audit", "job-release/share/release.csv"),
        pytest.param(("init", "people.csv"), marks=pytest.mark.slow),
        pytest.param(("compare", "job.json", "--algorithm", "lattice"), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_no_command_ends_with_a_traceback(words: tuple[str, ...], tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    places = [tmp_path / word if (tmp_path / word).exists() else word for word in words]
    for stdout, said in (("> /dev/full", NO_SPACE), (">&-", CLOSED)):
        done = in_shell(f'"$@" {stdout}', *places)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith(said)
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_result_is_for_stdout_though_the_live_line_is_on_a_terminal(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [*PROGRAM, "run", job.file],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=slave,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout.splitlines()[0].startswith("SATISFIED")
        assert b"SATISFIED" not in os.read(master, 100_000)
    finally:
        os.close(master)
        os.close(slave)
