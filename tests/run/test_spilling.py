"""Runs that spill: a full disk ends them with an error, and nothing of them stays."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Collection, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.data.duckdb import database
from anonymizer.data.duckdb.database import Database
from anonymizer.data.source import EngineOptions
from tests.run.commands import call

QUASI = ("a", "b", "c")
# Mondrian spills less than the lattice: with as many records it would be about one megabyte, by chance less.
ALGORITHMS = pytest.mark.parametrize(
    ("algorithm", "job"),
    [
        pytest.param("lattice", (400_000, "80MB"), id="lattice"),
        pytest.param("mondrian", (1_000_000, "120MB"), id="mondrian", marks=pytest.mark.slow),
    ],
    indirect=["job"],
)


@pytest.fixture
def job(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Records nearly all distinct, and a limit that the database cannot keep to without spilling."""
    records, limit = request.param
    columns = ", ".join(f"'{name}' || hash(i * 3 + {n}) % 1000 AS {name}" for n, name in enumerate(QUASI))
    path = tmp_path / "records.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {columns} FROM range({records}) AS r(i)) TO '{path}'")
    (tmp_path / "spill").mkdir()
    config: dict[str, Any] = {
        "input": {"path": path.name},
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": {"mask": {"from": "right"}}} for name in QUASI
        },
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "suppression": {"limit": 0.02},
        "output": {"path": "release.parquet"},
        "engine": {
            "name": "duckdb",
            "memory_limit": limit,
            "options": {"threads": 1, "temp_directory": "spill", "combinations": 100_000},
        },
    }
    (tmp_path / "job.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path / "job.json"


@pytest.fixture
def spilled(job: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the bytes that lay in the folder of spilling, as often as somebody waited for a statement."""
    found: list[int] = []

    def watching(futures: Collection[Future[Any]], timeout: float) -> None:
        wait(futures, timeout=min(timeout, 0.005))
        sizes = 0
        for path in (job.parent / "spill").rglob("*"):
            # A file may go at any moment.
            with suppress(FileNotFoundError):
                sizes += path.stat().st_size
        found.append(sizes)

    monkeypatch.setattr(database, "wait", watching)
    return found


@pytest.mark.slow
@ALGORITHMS
def test_a_run_spills_and_cleans_up(job: Path, algorithm: str, spilled: list[int]) -> None:
    done = call("run", job, "--json", "--set", f"algorithm.name={algorithm}")
    assert done.code == 0, done.err
    assert done.json["engine"] == {"name": "duckdb", "because": "engine.name says so"}
    assert max(spilled, default=0) > 1_000_000
    assert list((job.parent / "spill").iterdir()) == []


@ALGORITHMS
def test_a_full_disk_ends_it(job: Path, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Database.__init__

    def small(self: Database, options: EngineOptions) -> None:
        make(self, options)
        self.run("SET max_temp_directory_size = '1MB'")

    monkeypatch.setattr(Database, "__init__", small)
    assert_no_space(job, algorithm)


@pytest.fixture
def full_disk(job: Path) -> Iterator[None]:
    """Let the folder of spilling be a file system of its own, with room for a part of what spills."""
    folder = job.parent / "spill"
    if shutil.which("mount") is None:
        pytest.skip("no file system can be mounted here: there is no command for it")
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("job", [(400_000, "80MB")], indirect=True)
@pytest.mark.usefixtures("full_disk")
def test_a_file_system_that_is_full(job: Path) -> None:
    """The same, told by the system and not by the database's own limit."""
    assert_no_space(job, "lattice")


def assert_no_space(job: Path, algorithm: str) -> None:
    done = call("run", job, "--set", f"algorithm.name={algorithm}")
    assert done.code == 2
    said = " ".join(done.err.split())
    assert "engine.options.temp_directory" in said
    assert "no space left" in said
    assert not list((job.parent / "job-release").rglob("release.parquet"))
    assert list((job.parent / "spill").iterdir()) == []
