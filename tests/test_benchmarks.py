"""Every benchmark starts; what it measures takes minutes and is no test."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"
PEERS = {"peer": "pycanon", "mondrian_peer": "anonypy", "bvmlib_peer": "bvmlib"}
"""Scripts that are started by path in an environment without this package, and the package that they need."""

LAUNCHER = "launch"


def script(name: str) -> str:
    return str(FOLDER / f"{name}.py")


def is_program(path: Path) -> bool:
    """Return whether a module runs when it is started."""
    tests = (node.test for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.If))
    return any(ast.unparse(test) == "__name__ == '__main__'" for test in tests)


MODULES = {path.stem for path in FOLDER.glob("*.py")}
PROGRAMS = sorted(name for name in MODULES if is_program(FOLDER / f"{name}.py"))


def test_no_module_has_the_name_of_one_of_pythons() -> None:
    """Scripts started by path see this folder first: numpy would import our `numbers`."""
    assert not MODULES & sys.stdlib_module_names


def test_scripts_that_are_started_by_path_are_named() -> None:
    assert {*PEERS, LAUNCHER} < {*PROGRAMS}
    assert len(PROGRAMS) > 25


IMPORTED = sorted(
    {
        (node.module, alias.name)
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anonymizer")
        for alias in node.names
    }
)


def test_what_benchmarks_import_exists() -> None:
    """Says at once what starting each of them says after minutes."""
    assert len(IMPORTED) > 50
    assert not [
        (module, name)
        for module, name in IMPORTED
        if not hasattr(importlib.import_module(module), name)
        and not importlib.util.find_spec(f"{module}.{name}")
    ]


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    command, folder = [sys.executable, *arguments], FOLDER.parent
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=folder)


EXPLAINING = """
import gc, importlib, json, os, runpy, sys
programs, loaded = map(json.loads, sys.argv[1:])
for name in ["duckdb", "numpy", "pandas", *loaded]:
    importlib.import_module(name)
gc.freeze()
told = {}
for name in programs:
    end, start = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(start, 1)
        os.close(start)
        sys.argv = [name, "--help"]
        runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)
        sys.exit("went on")
    os.close(start)
    with open(end) as said:
        told[name] = [said.read(), os.waitpid(child, 0)[1]]
print(json.dumps(told))
"""
"""Asks each of them in a process of its own that has loaded what all of them load."""


@pytest.mark.slow
def test_benchmarks_explain_themselves() -> None:
    names = [each for each in PROGRAMS if each not in {*PEERS, LAUNCHER}]
    loaded = sorted({module for module, _ in IMPORTED})
    found = started("-c", EXPLAINING, json.dumps(names), json.dumps(loaded))
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)
    assert list(told) == names
    wrong = {name: own for name, own in told.items() if not own[0].startswith("usage:") or own[1]}
    assert not wrong, found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_a_script_of_a_peer_needs_nothing_but_its_package(name: str) -> None:
    missing = started(script(name)).stderr.strip().rsplit("\n", 1)[-1]
    assert missing == f"ModuleNotFoundError: No module named '{PEERS[name]}'"


def test_the_launcher_measures_a_command() -> None:
    found = json.loads(started(script(LAUNCHER), sys.executable, "-c", "raise SystemExit(3)").stdout)
    assert found["code"] == 3
    assert found["peak_bytes"] > 0
