"""Figures of the package's structure: ``python -m benchmarks.house``.

What is counted: modules and lines; arrows (pairs of modules, one importing the other, imports under
``TYPE_CHECKING`` and inside functions included); circles of them; modules that only one module of their own
folder imports; modules of the package that ``run examples/minimal.yaml`` loads; and the way of the config
through the calls of ``anonymizer.anonymize``, followed while they run.
"""

from __future__ import annotations

import ast
import json
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
    way = Way()
    sys.setprofile(way)
    try:
        anonymizer.anonymize(data, config)
    finally:
        sys.setprofile(None)
    climbs = sum(nx.has_path(arrows, there, here) for here, there in pairwise(way.files))
    return len(set(way.files)), climbs, way.calls


def main() -> None:
    """Print the figures."""
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
    print(f"loaded by run examples/minimal.yaml {len(loaded())}")
    print(f"the config in its first {calls} calls: {files} files, {climbs} climbs")
    for room, numbers in sorted(rooms.items()):
        print(f"  {room or '(top)':14} {len(numbers):4} modules {sum(numbers):6} lines")


if __name__ == "__main__":
    main()
