"""Figures of the package's structure: ``python -m benchmarks.house``.

What is counted: modules and lines; arrows (pairs of modules, one importing the other, imports under
``TYPE_CHECKING`` and inside functions included); circles of them; modules that only one module of their own
folder imports; functions that only check or refuse; modules of the package that ``run examples/minimal.yaml``
loads; and the way of the config through the calls of ``anonymizer.anonymize``, followed while they run.

``python -m benchmarks.house --tests [FOLDER]`` counts the tests of this checkout, or of another one, instead:
functions, the cases that pytest makes of them, property tests and the examples that they try with the profile
of CI (the sum over their cases), cases against twins, oracles and conformance suites, and the same of what
the quick run takes. So two commits can be shown to test as much as each other.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import networkx as nx

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "anonymizer"
FOLLOWED = 300
"""Calls that get the config or a section of it, in the order in which they are made."""


def modules() -> dict[str, Path]:
    """Return the files of the package by their dotted names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of the package that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def graph(known: Mapping[str, Path]) -> nx.DiGraph:
    """Return which module imports which."""
    arrows = nx.DiGraph()
    arrows.add_nodes_from(known)
    for name, path in known.items():
        arrows.add_edges_from((name, other) for other in imported(path, known) if other != name)
    return arrows


def of_one_sibling(arrows: nx.DiGraph, known: Mapping[str, Path]) -> list[str]:
    """Return the modules that are imported by one module only, which is in the same folder."""
    found = []
    for name in arrows:
        users = list(arrows.predecessors(name))
        sibling = len(users) == 1 and users[0].rpartition(".")[0] == name.rpartition(".")[0]
        if sibling and known[name].name != "__init__.py" and known[users[0]].name != "__init__.py":
            found.append(name)
    return sorted(found)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions in it."""
    rest: list[ast.AST] = list(function.body)
    while rest:
        node = rest.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            rest.extend(ast.iter_child_nodes(node))


PROBLEMS = re.compile(r"ConfigProblem|InitErrorDetails|Conflict|KeyPath, str")
FAULTS = re.compile(r"(^|_)(fault|lack|missing_requirement|refus|unsupported|wrong|gaps|problems|promises)")
CHECKS = ("check", "refuse", "require")


def only_refuses(function: ast.FunctionDef) -> bool:
    """Return whether a function raises or gives problems, and nothing else but what it was given."""
    given = {
        each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    }
    nodes = list(_own_nodes(function))
    kind = ast.unparse(function.returns) if function.returns else ""
    of_problems = bool(PROBLEMS.search(kind) or (FAULTS.search(function.name) and "str" in kind))
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in nodes):
        return of_problems
    values = [each.value for each in nodes if isinstance(each, ast.Return) and each.value is not None]
    passed = [
        (isinstance(each, ast.Name) and each.id in given)
        or (isinstance(each, ast.Constant) and each.value is None)
        for each in values
    ]
    if not all(passed):
        return of_problems
    stored = [each for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
    called = [ast.unparse(each.func) for each in nodes if isinstance(each, ast.Call)]
    raises = any(isinstance(each, ast.Raise) for each in nodes)
    checks = function.name.lstrip("_").startswith(CHECKS) and any(
        each.rpartition(".")[2].lstrip("_").startswith(CHECKS) for each in called
    )
    return not stored and (raises or checks)


def refusing(known: Mapping[str, Path]) -> list[int]:
    """Return the lines of each function that only checks or refuses."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in known.values())
    functions = (each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
    return [(each.end_lineno or 0) - each.lineno + 1 for each in functions if only_refuses(each)]


def loaded() -> list[str]:
    """Return the modules of the package that a run of the smallest example loads."""
    script = (
        "import json, sys; from anonymizer.cli.main import main; main(sys.argv[1:]); "
        "print(json.dumps(sorted(m for m in sys.modules if m.split('.')[0] == 'anonymizer')))"
    )
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", str(ROOT / "examples/minimal.yaml"), "-o", f"{folder}/release", "--quiet"]
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True, cwd=ROOT
        )
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


class Way:
    """The files that the config goes through, a call at a time."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call that is handed the config or a section of it."""
        name = frame.f_globals.get("__name__", "")
        if event != "call" or self.calls >= FOLLOWED or not name.startswith("anonymizer."):
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        kinds = [type(frame.f_locals.get(each)).__module__ for each in names]
        if any(kind.startswith("anonymizer.config") for kind in kinds):
            self.calls += 1
            if not self.files or self.files[-1] != name:
                self.files.append(name)


def way_of_config(arrows: nx.DiGraph) -> tuple[int, int, int]:
    """Follow the config through ``anonymizer.anonymize``.

    Returns
    -------
    files, moves from a file to one that imports it (directly or through others), and calls followed.
    """
    import pandas as pd

    import anonymizer

    data = pd.read_csv(ROOT / "examples/clinic.csv")
    config = anonymizer.load_config(ROOT / "examples/minimal.yaml")
    # What imports do is no part of the way.
    anonymizer.anonymize(data, config)
    way = Way()
    sys.setprofile(way)
    try:
        anonymizer.anonymize(data, config)
    finally:
        sys.setprofile(None)
    climbs = sum(nx.has_path(arrows, there, here) for here, there in pairwise(way.files))
    return len(set(way.files)), climbs, way.calls


COUNTING = """
import ast, pathlib

def pytest_collection_finish(session):
    from hypothesis import settings
    groups = {"cases": session.items}
    groups["functions"] = {each.nodeid.split("[")[0] for each in session.items}
    drawn = [each for each in session.items if each.get_closest_marker("hypothesis")]
    groups["property tests"] = {each.nodeid.split("[")[0] for each in drawn}
    used = [getattr(each.obj, "_hypothesis_internal_use_settings", None) or settings() for each in drawn]
    texts = {each.path: each.path.read_text() for each in session.items}
    groups["examples"] = range(sum(each.max_examples for each in used))
    for kind in ("twins", "oracles", "conformance"):
        own = [e for e in session.items if kind in e.path.parts or f"tests.{kind}" in texts[e.path]]
        groups[f"cases of {kind}"] = own
    print("COUNTED", {name: len(group) for name, group in groups.items()})
"""
"""A plug-in of pytest, run in the checkout that is counted."""


def counted(folder: Path, *words: str) -> dict[str, int]:
    """Return how many tests of each kind pytest collects in a checkout.

    Raises
    ------
    RuntimeError: pytest cannot collect them.
    """
    with tempfile.TemporaryDirectory() as own:
        (Path(own) / "counted_tests.py").write_text(COUNTING, encoding="utf-8")
        # -q twice: no list of the tests, only what the plug-in prints.
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "counted_tests",
            "-n0",
            "--collect-only",
            "-qq",
            *words,
        ]
        environment = {**os.environ, "CI": "true", "PYTHONPATH": own}
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env=environment
        )
    for line in done.stdout.splitlines() if done.returncode == 0 else ():
        if line.startswith("COUNTED "):
            found: dict[str, int] = ast.literal_eval(line.removeprefix("COUNTED "))
            return found
    raise RuntimeError(done.stdout + done.stderr)


def print_tests(folder: Path) -> None:
    """Print how much the tests of a checkout do, by the whole and by the quick run."""
    whole, quick = counted(folder, "-m", "slow or not slow"), counted(folder)
    twins = [
        node.name
        for path in (folder / "tests/twins").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    print(f"twins, functions and classes {len(twins)}")
    for name, number in whole.items():
        print(f"{name:22} {number:8,} quick {quick[name]:8,}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description=__doc__)
    parser.add_argument("--tests", nargs="?", const=ROOT, type=Path, help="count tests, of which checkout")
    asked = parser.parse_args()
    if asked.tests is not None:
        print_tests(asked.tests)
        return
    known = modules()
    arrows = graph(known)
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in known.items()}
    rooms: dict[str, list[int]] = defaultdict(list)
    for name, number in lines.items():
        rooms[".".join(name.split(".")[1:2])].append(number)
    circles = [sorted(each) for each in nx.strongly_connected_components(arrows) if len(each) > 1]
    lone = of_one_sibling(arrows, known)
    files, climbs, calls = way_of_config(arrows)
    full = sorted(number for name, number in lines.items() if known[name].name != "__init__.py")
    print(f"modules {len(known)}, lines {sum(lines.values())}")
    print(f"lines a module: median {full[len(full) // 2]}, longest {full[-1]}")
    print(f"arrows {arrows.number_of_edges()}   circles {len(circles)}")
    for circle in circles:
        print("  " + " ".join(circle))
    print(f"imported by one sibling only {len(lone)}: {' '.join(lone)}")
    refused = refusing(known)
    print(f"functions that only check or refuse {len(refused)}, lines {sum(refused)}")
    print(f"loaded by run examples/minimal.yaml {len(loaded())}")
    print(f"the config in its first {calls} calls: {files} files, {climbs} climbs")
    for room, numbers in sorted(rooms.items()):
        print(f"  {room or '(top)':14} {len(numbers):4} modules {sum(numbers):6} lines")


if __name__ == "__main__":
    main()
