"""Figures of the package's structure: ``python -m benchmarks.house``.

What is counted: modules and lines, those of code alone too; arrows (pairs of modules, one importing the
other, imports under ``TYPE_CHECKING`` and inside functions included); circles of them; modules that only one
module of their own folder imports; functions that only check or refuse, and what they look at; files outside
the rooms of people whose functions name persons, households or units; the most fields of a value; imports
inside functions; lines of tests; pages and words of docs/design. Of this checkout also: modules of the
package that the smallest run loads (``examples/minimal.yaml`` with the lattice and no attacks); and the ways
of the config and of the table through the calls of the same run, followed while they run: moves up to a file
that imports the one before, and how many rooms they lead between. ``--of FOLDER`` counts another checkout,
without these. ``--list FIGURE`` prints what a figure counts: refusals, units, fields, imports, loaded or
climbs.

``python -m benchmarks.house --tests [FOLDER]`` counts the tests of this checkout, or of another one, instead:
functions, the cases that pytest makes of them, property tests and the examples that they try with the profile
of CI (the sum over their cases), cases against twins, oracles and conformance suites, and the same of what
the quick run takes. So two commits can be shown to test as much as each other.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import networkx as nx

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "anonymizer"
FOLLOWED = 3000
"""Calls that get the config or the table, in the order in which they are made."""

SMALLEST = ("--quiet", "--set", "algorithm=lattice", "--set", "attacks=none")
"""What makes a run of the smallest example the one that issues speak of, whatever its defaults are."""

PEOPLE = re.compile(r"(^|_)(persons?|households?|units?)($|_)", re.IGNORECASE)
"""Words of a name that is about what constraints count."""

OF_PEOPLE = ("people", "units.py", "households.py", "household_risk.py", "population.py")
"""Rooms and files that are about them."""

OF_OTHER_UNITS = (
    "data/arrow.py",
    "data/duckdb/types.py",
    "data/memory.py",
    "data_spark/options.py",
    "hierarchy/auto.py",
    "hierarchy/labels.py",
    "model/labels.py",
    "plan/memory.py",
    "report/svg.py",
    "system.py",
)
"""Files whose units are those of time, memory, numbers or a drawing."""


def is_elsewhere(path: Path) -> bool:
    """Return whether a file is about something else than persons, households and other units."""
    return not set(OF_PEOPLE) & set(path.parts) and not path.as_posix().endswith(OF_OTHER_UNITS)


WAYS = {
    "config": ("anonymizer.config",),
    "table": ("anonymizer.data.relation", "anonymizer.data.duckdb.relation", "anonymizer.model.table"),
}
"""What is followed, by the beginnings of the modules that define it."""


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Return the files of the package by their dotted names."""
    found = {}
    for path in sorted((root / PACKAGE.name).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
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
        path = str(ROOT / "examples/minimal.yaml")
        words = ["run", path, "-o", f"{folder}/release", *SMALLEST]
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True, cwd=ROOT
        )
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


class Way:
    """The files that values from some modules go through, a call at a time."""

    def __init__(self, *origins: str) -> None:
        self.origins = origins
        self.files: list[str] = []
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call that is handed such a value."""
        name = frame.f_globals.get("__name__", "")
        if event != "call" or self.calls >= FOLLOWED or not name.startswith("anonymizer."):
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        kinds = [type(frame.f_locals.get(each)).__module__ for each in names]
        if any(kind.startswith(self.origins) for kind in kinds):
            self.calls += 1
            if not self.files or self.files[-1] != name:
                self.files.append(name)


def way_of(arrows: nx.DiGraph, *origins: str) -> tuple[Way, list[tuple[str, str]]]:
    """Follow values through the command ``run``.

    Parameters
    ----------
    origins: beginnings of the modules that define them.

    Returns
    -------
    the way, and its climbs: different moves from a file to one that imports it, directly or through others.
    """
    from anonymizer.cli.main import main

    way = Way(*origins)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        words = ["run", str(ROOT / "examples/minimal.yaml"), "-o", f"{folder}/release", *SMALLEST]
        # What imports do is no part of the way.
        main(words)
        sys.setprofile(way)
        try:
            main([*words, "--overwrite"])
        finally:
            sys.setprofile(None)
    moves = dict.fromkeys(pairwise(way.files))
    return way, [move for move in moves if move[0] in arrows and nx.has_path(arrows, move[1], move[0])]


def _rooms(move: tuple[str, str]) -> tuple[str, ...]:
    """Return the rooms that a move leads from and to; one if it stays inside."""
    return tuple(dict.fromkeys(each.split(".")[1] for each in move))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield all functions and methods of a file."""
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def names_in(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that a function uses."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name


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


def listed(figure: str, known: Mapping[str, Path]) -> Iterator[str]:
    """Yield what a figure counts, a line each."""
    if figure == "loaded":
        yield from loaded()
    elif figure == "climbs":
        for what, origins in WAYS.items():
            for here, there in way_of(graph(known), *origins)[1]:
                yield f"{what}: {here} -> {there}"
    else:
        lines = [
            (checked_in(name) if figure == "refusals" else "", f"{name} {line}")
            for name, path in known.items()
            for line in COUNTED[figure](path.read_text(encoding="utf-8"), path)
        ]
        for kind, number in Counter(kind for kind, _ in lines).items():
            yield from [f"{number} {kind}:"] if kind else []
            yield from (line for own, line in lines if own == kind)


def _refusals(text: str, _: Path) -> Iterator[str]:
    """Yield the functions of a file that only check or refuse, with their lines."""
    for each in refusing(ast.parse(text)):
        yield f"{each.lineno} {each.name}, {(each.end_lineno or 0) - each.lineno + 1} lines"


def _units(text: str, path: Path) -> Iterator[str]:
    """Yield the names about persons, households or units that functions of a file elsewhere use."""
    uses = Counter(
        name for each in functions(ast.parse(text)) for name in names_in(each) if PEOPLE.search(name)
    )
    if uses and is_elsewhere(path):
        yield f"{uses.total()}: {', '.join(name for name, _ in uses.most_common())}"


def _fields(text: str, _: Path) -> Iterator[str]:
    """Yield the values of a file that have more than ten fields."""
    yield from (f"{name} {number}" for number, name in fields_of(ast.parse(text)) if number > 10)


def _lazy(text: str, _: Path) -> Iterator[str]:
    """Yield the imports inside functions of a file."""
    for each in functions(ast.parse(text)):
        own = [node for node in _own_nodes(each) if isinstance(node, ast.Import | ast.ImportFrom)]
        yield from (f"{node.lineno} {ast.unparse(node)}" for node in own)


COUNTED: dict[str, Callable[[str, Path], Iterator[str]]] = {
    "refusals": _refusals,
    "units": _units,
    "fields": _fields,
    "imports": _lazy,
}
"""How each figure finds what it counts in a file, given its text and its path."""


CHECKED = {
    "settings, each alone": "cli commands config distribution plugins",
    "combinations of settings": "attacks config.attribute config.entries config.features config.model "
    "config.search config.sections job.assessment masking model.adversary model.feature_rows model.owners "
    "plan privacy search",
    "what is read or written": "adversary append commands.dossier commands.dossier_forms data data_spark "
    "hierarchy job people profile release model system",
    "results": "append.release audit commands.save job.exposure job.preset job.search job.verify "
    "people.released report",
    "plug-ins, by conformance suites": "testing",
}
"""What functions that only check or refuse look at, by the rooms and modules that they are in."""


def checked_in(module: str) -> str:
    """Return what a module's functions that only check or refuse look at, by its longest name in the table.

    >>> checked_in("anonymizer.job.table"), checked_in("anonymizer.job.verify")
    ('what is read or written', 'results')
    """
    parts = module.split(".")[1:]
    names = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return next(
        (kind for name in names for kind, rooms in CHECKED.items() if name in rooms.split()), "anything else"
    )


def refusing(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions of a file that only check or refuse.

    One that writes, prints or renames and may fail at it does more than that, unless it is called a check.
    """
    found = [each for each in functions(tree) if only_refuses(each)]
    names = {each.name for each in found}
    return [each for each in found if each.name.lstrip("_").startswith(CHECKS) or not _acts(each, names)]


def _acts(function: ast.FunctionDef, checks: Set[str]) -> bool:
    """Return whether a function calls something for what it does, beyond checks and its own variables."""
    nodes = list(_own_nodes(function))
    own = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for each in nodes:
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            *receiver, called = re.split(r"\.(?=\w+$)", ast.unparse(each.value.func))
            if not (
                called in checks
                or called.lstrip("_").startswith(CHECKS)
                or (receiver and re.split(r"\W", receiver[0])[0] in {*own, "super"})
            ):
                return True
    return False


def fields_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the fields of each class of a file, and its name; those of the config's sections aside."""
    for node in ast.walk(tree):
        bases = [ast.unparse(each) for each in node.bases] if isinstance(node, ast.ClassDef) else []
        if isinstance(node, ast.ClassDef) and not any(
            "Section" in each or "Settings" in each for each in bases
        ):
            own = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            yield sum("ClassVar" not in ast.unparse(each.annotation) for each in own), node.name


def code_lines(text: str) -> int:
    """Return the lines of a file that are neither empty, nor comments, nor docstrings."""
    lines = [line.strip() for line in text.splitlines()]
    prose = set[int]()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(bool(line) and line[0] != "#" and at not in prose for at, line in enumerate(lines, 1))


def print_shape(root: Path) -> None:
    """Print what can be counted without running anything."""
    texts = {path: path.read_text(encoding="utf-8") for path in modules(root).values()}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    names = {path: name for name, path in modules(root).items()}
    refusals = [(names[path], each) for path, tree in trees.items() for each in refusing(tree)]
    elsewhere = filter(is_elsewhere, trees)
    naming = [
        path
        for path in elsewhere
        if any(PEOPLE.search(name) for each in functions(trees[path]) for name in names_in(each))
    ]
    most, value = max(found for tree in trees.values() for found in fields_of(tree))
    pages = [path.read_text(encoding="utf-8") for path in (root / "docs/design").glob("*.md")]
    tests = [path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*.py")]
    print(f"lines {sum(len(text.splitlines()) for text in texts.values()):,}", end="")
    print(f", of code {sum(map(code_lines, texts.values())):,}")
    lines = sum((each.end_lineno or 0) - each.lineno + 1 for _, each in refusals)
    print(f"functions that only check or refuse {len(refusals)}, {lines:,} lines: ", end="")
    kinds = Counter(checked_in(name) for name, _ in refusals)
    print("; ".join(f"{kinds[kind]} {kind}" for kind in [*CHECKED, "anything else"] if kinds[kind]))
    print(f"files elsewhere whose functions name persons, households or units {len(naming)}")
    print(f"most fields of a value {most} ({value})")
    print(f"imports inside functions {sum(len(list(_lazy(text, path))) for path, text in texts.items())}")
    print(f"lines of tests {sum(len(text.splitlines()) for text in tests):,}")
    print(f"pages of docs/design {len(pages)}, words {sum(len(text.split()) for text in pages):,}")


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
    parser.add_argument(
        "--of", type=Path, metavar="FOLDER", help="count another checkout, without running it"
    )
    parser.add_argument("--list", choices=[*COUNTED, "loaded", "climbs"], help="print what a figure counts")
    asked = parser.parse_args()
    if asked.tests is not None:
        print_tests(asked.tests)
        return
    root = asked.of or ROOT
    known = modules(root)
    if asked.list is not None:
        print(*listed(asked.list, known), sep="\n")
        return
    arrows = graph(known)
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in known.items()}
    rooms: dict[str, list[int]] = defaultdict(list)
    for name, number in lines.items():
        rooms[".".join(name.split(".")[1:2])].append(number)
    circles = [sorted(each) for each in nx.strongly_connected_components(arrows) if len(each) > 1]
    lone = of_one_sibling(arrows, known)
    full = sorted(number for name, number in lines.items() if known[name].name != "__init__.py")
    print(f"modules {len(known)}, lines {sum(lines.values())}")
    print(f"lines a module: median {full[len(full) // 2]}, longest {full[-1]}")
    print(f"arrows {arrows.number_of_edges()}   circles {len(circles)}")
    for circle in circles:
        print("  " + " ".join(circle))
    print(f"imported by one sibling only {len(lone)}: {' '.join(lone)}")
    print_shape(root)
    if asked.of is None:
        print(f"loaded by the smallest run {len(loaded())}")
        for what, origins in WAYS.items():
            way, climbs = way_of(arrows, *origins)
            print(f"the {what} in its first {way.calls} calls: {len(set(way.files))} files", end="")
            between = {each for each in map(_rooms, climbs) if len(each) > 1}
            print(f", {len(climbs)} climbs, between {len(between)} pairs of rooms")
    for room, numbers in sorted(rooms.items()):
        print(f"  {room or '(top)':14} {len(numbers):4} modules {sum(numbers):6} lines")


if __name__ == "__main__":
    main()
