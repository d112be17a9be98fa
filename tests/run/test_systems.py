"""The whole flow where calls of the system are absent, and what is the same on every system."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonymizer import system
from anonymizer.release import folder as release_folder
from tests.helpers.slow import slow_but
from tests.run.commands import (
    COLUMNS,
    PROGRAM,
    ROOT,
    Job,
    call,
    csv_bytes,
    people,
    python,
    shared_files,
    snapshot,
)
from tests.run.grouped import anatomy_job


def _absent(*_: Any, **__: Any) -> Any:
    raise OSError(1, "Operation not permitted")


ABSENT: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "renameat2 and malloc_trim": lambda patch: patch.setattr(system, "_c_function", lambda _: None),
    "fcntl": lambda patch: patch.setattr(system, "fcntl", None),
    "symbolic links": lambda patch: patch.setattr(Path, "symlink_to", _absent),
    "the processors of a process": lambda patch: patch.delattr(os, "sched_getaffinity", raising=False),
    "/proc": lambda patch: patch.setattr("anonymizer.data.memory.SYSTEM", Path("/absent")),
    "folders that can be opened": lambda patch: patch.setattr(system, "WINDOWS", True),
}


@pytest.mark.parametrize("lacking", slow_but(1, ["all", *ABSENT]))
def test_run_overwrite_audit_append_and_compare(
    lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another test's run would take folders that are not locked for those of a killed run.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, remove in ABSENT.items():
        if lacking in (name, "all"):
            remove(monkeypatch)
    folder = tmp_path / "data [1]"  # a pattern to DuckDB, which is given a link or a copy
    folder.mkdir()
    job = Job(folder).rows(people(100))
    assert job.run("--quiet").code == 0
    first = snapshot(job.output)
    done = job.run("--overwrite", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert snapshot(job.output)["share/release.csv"] == first["share/release.csv"]
    assert call("audit", job.release).code == 0
    job.set("apply", report="job-release/report.json").rows(people(160)[100:])
    assert job.run("-o", folder / "second", "--quiet").code == 0
    assert call("audit", folder / "second" / "share" / "release.csv").code == 0
    if lacking == "all":
        # Its processes take longer than all the rest.
        del job.config["apply"]
        job.rows(people(100)).write()
        words = ("--algorithm", "lattice", "--algorithm", "mondrian", "--quiet", "-o", folder / "compared")
        assert call("compare", job.file, *words).code == 0
    assert list(folder.rglob(".*")) == []


KILLED = """
import os, sys
from pathlib import Path
from anonymizer import system
from anonymizer.cli.main import main
from anonymizer.config.search import Defaults
from anonymizer.release import folder
Defaults.algorithm, Defaults.attacks = "lattice", "none"
system._c_function = lambda name: None
if sys.argv[3] == "no locks":
    system.fcntl = None
left = [int(sys.argv[2])]
def rename(old, new, original=system.rename):
    original(old, new)
    left[0] -= 1
    if not left[0]:
        os._exit(9)
folder.rename = rename
sys.exit(main(["run", sys.argv[1], "--overwrite", "--quiet"]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "locks"), [(1, "locks"), (2, "locks"), (2, "no locks"), (3, "locks"), (4, "no locks")]
)
def test_a_run_that_was_killed_between_two_renames(
    step: int, locks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    before = snapshot(job.output)
    assert python("-c", KILLED, job.file, str(step), locks).code == 9
    if locks == "no locks":
        monkeypatch.setattr(system, "fcntl", None)
    release_folder.remove_leftovers(job.output)
    after = {name: text for name, text in snapshot(job.output).items() if ".tmp-" not in name}
    assert set(after) == set(before)
    assert after["share/release.csv"] == before["share/release.csv"]
    assert job.run("--overwrite", "--quiet").code == 0
    assert call("audit", job.release).code == 0


def opened_under(*folders: Path) -> list[str]:
    """Return the open files of this process in some folders, their own descriptors included."""
    links = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [link for link in links for folder in folders if Path(link).is_relative_to(folder)]


@pytest.mark.quick(2)
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="tells open files only on Linux")
@pytest.mark.parametrize("kind", ["release.csv", "release.csv.gz", "release.parquet", "anatomy", "append"])
def test_no_file_is_open_in_a_folder_that_is_renamed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def watched(original: Callable[[Path, Path], Any]) -> Callable[[Path, Path], Any]:
        def moved(old: Path, new: Path) -> Any:
            looked.append(new.name)
            assert opened_under(old, new) == []
            return original(old, new)

        return moved

    job = anatomy_job(tmp_path) if kind == "anatomy" else Job(tmp_path)
    if kind.startswith("release"):
        job.set("output", path=kind)
    if kind == "append":
        assert job.run("--quiet").code == 0
        job.set("apply", report="job-release/report.json").rows(people(90)[60:])
    words = ("-o", tmp_path / "made", "--quiet")
    for name in ("rename", "exchange_at_once"):
        monkeypatch.setattr(release_folder, name, watched(getattr(release_folder, name)))
    for more in ((), ("--overwrite",)):
        looked.clear()
        done = job.run(*words, *more)
        assert (done.code, done.err) == (0, "")
        assert {"share", "report.json"} <= set(looked)


@pytest.mark.parametrize("name", ["nul.csv", "a:b.csv", "a?.parquet", "Com1.csv.gz", "tab\t.csv"])
def test_a_release_has_a_name_on_every_system(name: str, tmp_path: Path) -> None:
    done = Job(tmp_path).set("output", path=name).run()
    assert done.code == 2
    assert done.err.count(system.NOT_PORTABLE) == 1 or "control character" in done.err
    assert not (tmp_path / "job-release").exists()


def test_so_have_its_folder_its_table_and_a_comparison(tmp_path: Path) -> None:
    job = Job(tmp_path)
    refused = [job.run("-o", tmp_path / "aux"), job.run("-o", tmp_path / "a " / "b")]
    refused.append(call("compare", job.file, "--algorithm", "lattice", "-o", tmp_path / "lpt1"))
    job.config["output"] = {"database": "nul.duckdb", "table": "people"}
    refused.append(job.run())
    for done in refused:
        assert done.code == 2
        assert done.err.count(system.NOT_PORTABLE) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.json", "people.csv"]


@pytest.mark.parametrize(
    ("suffix", "line"),
    [
        ("yaml", r'input: {path: "C:\data\x.csv"}'),
        ("yaml", r'input: {path: "C:\users\x.csv"}'),
        ("yaml", r'input: {path: "C:\new\x.csv"}'),
        ("toml", r'input.path = "C:\data\x.csv"'),
        ("toml", r'input.path = "C:\new\x.csv"'),
        ("json", r'{"input": {"path": "C:\data\x.csv"}}'),
        ("json", r'{"input": {"path": "C:\new\x.csv"}}'),
    ],
)
def test_a_path_whose_backslashes_are_escapes_is_explained(suffix: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / f"config.{suffix}"
    path.write_text(line)
    done = call("run", path)
    assert done.code == 2
    assert done.err.count("write a path in single quotes or with forward slashes") == 1


@pytest.mark.parametrize("path", [r"path: 'C:\data\x.csv'", r"path: C:\data\x.csv", "path: C:/data/x.csv"])
def test_other_ways_to_write_it_are_understood(path: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        f"input: {{{path}}}\nattributes: {{age: {{role: quasi-identifier}}}}\n"
        "constraints: [{model: k-anonymity, k: 2}]\n"
    )
    done = call("run", config)
    assert done.code == 2
    assert "x.csv" in done.err
    assert "no such file" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    slow_but(1, [{"PYTHONIOENCODING": "cp437"}, {"PYTHONIOENCODING": "ascii:strict"}, {"LC_ALL": "C"}]),
    ids=str,
)
def test_output_is_utf_8_whatever_the_console_has(environment: dict[str, str], tmp_path: Path) -> None:
    job = Job(tmp_path).attribute("größe→漢", role="insensitive")
    job.data = csv_bytes([(*row, "ß") for row in people()], (*COLUMNS, "größe→漢"))
    job.write()
    for words, code in ((("run", job.file, "--overwrite", "--json"), 0), (("run", tmp_path / "ß→.yaml"), 2)):
        done = subprocess.run(
            [*PROGRAM, *words],
            cwd=ROOT,
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, **environment},
        )
        assert done.returncode == code, done.stderr
        assert ("größe→漢" if code == 0 else "ß→.yaml") in (done.stdout + done.stderr).decode("utf-8")
    assert "größe→漢" in (job.output / "report.json").read_text(encoding="utf-8")


def test_ends_of_lines_of_the_input_do_not_change_the_release(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = Job(tmp_path / "one"), Job(tmp_path / "two")
    two.data = two.data.replace(b"\n", b"\r\n")
    assert (one.run("--quiet").code, two.run("--quiet").code) == (0, 0)
    assert one.release.read_bytes() == two.release.read_bytes()
    assert b"\r" not in b"".join(snapshot(two.output).values())


def test_read_only_files_are_replaced_and_names_that_differ_in_capitals(tmp_path: Path) -> None:
    job = Job(tmp_path).set("output", path="Release.csv")
    assert job.run("--quiet").code == 0
    for path in (*job.output.rglob("*"), job.output / "share"):
        path.chmod(0o500 if path.is_dir() else 0o400)
    job.set("output", path="release.csv")
    assert job.run("--overwrite", "--quiet").code == 0
    assert {path.name for path in (job.output / "share").iterdir()} == shared_files("release.csv")
    assert list(job.output.glob(".*")) == []
