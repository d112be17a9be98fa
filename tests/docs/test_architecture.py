"""The drawings of docs/architecture.md are those of the code."""

from __future__ import annotations

import ast
import re
from functools import cache

import networkx as nx
import pytest

from benchmarks.house import PACKAGE, graph, modules
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "architecture.md"
OUTER = ("__init__", "__main__")
"""Modules of the package that are no rooms: they hand on to `api` and `cli`."""

_ARROW = re.compile(r"^  (\w+) -->(?:\|([^|]+)\|)? (\w+)$", re.MULTILINE)

HANDED, IMPORTS = ([_ARROW.findall(block.text) for block in blocks(PAGE, "mermaid")] + [[], []])[:2]


def rooms() -> set[str]:
    """Return the folders and modules directly below the package."""
    folders = (path for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
    found = {path.stem for path in [*folders, *PACKAGE.glob("*.py")]}
    return found - {*OUTER}


def drawn() -> nx.DiGraph:
    """Return the second drawing."""
    return nx.DiGraph((here, there) for here, _, there in IMPORTS)


@cache
def imports() -> set[tuple[str, str]]:
    """Return the imports between rooms, those for types and inside functions included."""
    found = {(_room(here), _room(there)) for here, there in graph(modules()).edges}
    known = rooms()
    return {(here, there) for here, there in found if here != there and {here, there} <= known}


def _room(module: str) -> str:
    return [*module.split("."), ""][1]


@cache
def names(room: str) -> set[str]:
    """Return the names that the modules of a room import or define as classes."""
    path = PACKAGE / room
    found = set[str]()
    for file in [path.with_suffix(".py")] if path.with_suffix(".py").exists() else path.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ClassDef):
                found.add(node.name)
    return found


def test_both_drawings_are_there() -> None:
    blocks_of_page = blocks(PAGE, "mermaid")
    assert len(blocks_of_page) == 2
    arrows = sum(len(_ARROW.findall(block.text)) for block in blocks_of_page)
    lines = sum("-->" in line for block in blocks_of_page for line in block.text.splitlines())
    assert arrows == lines > 0


def test_every_room_is_drawn_and_named() -> None:
    assert set(drawn()) == rooms()
    table = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(table) == sorted(rooms())


def test_contributing_names_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [room for room in sorted(rooms()) if f"`{room}`" not in text] == []


@pytest.mark.parametrize(("here", "there"), [(here, there) for here, _, there in IMPORTS])
def test_every_arrow_is_an_import(here: str, there: str) -> None:
    assert (here, there) in imports()


def test_no_arrow_follows_from_others() -> None:
    assert nx.is_directed_acyclic_graph(drawn())
    assert set(drawn().edges) == set(nx.transitive_reduction(drawn()).edges)


def test_no_import_leads_against_the_arrows() -> None:
    arrows = drawn()
    assert [each for each in sorted(imports()) if not nx.has_path(arrows, *each)] == []


@pytest.mark.quick(3)
@pytest.mark.parametrize(("here", "value", "there"), HANDED)
def test_what_is_handed_on_is_known_to_who_gets_it(here: str, value: str, there: str) -> None:
    """A text in quotes is no class; `job` may unpack a value for a room."""
    assert {here, there} <= rooms()
    assert value.startswith('"') or value in names(there) | names("job")
    assert value.startswith('"') or value in names(here) | names("job")


PAGES = {
    "CONTRIBUTING.md": 10,
    "docs/howto/add-a-privacy-model.md": 10,
    "docs/howto/add-an-attack.md": 5,
    "docs/design/local.md": 4,
}
"""Pages that say how to add something, and the fewest files that they name."""


@pytest.mark.parametrize("page", PAGES)
def test_files_to_read_and_edit_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"(?:`| )((?:anonymizer|tests|docs)/[\w/.-]+)", text)
    assert len(named) >= PAGES[page]
    assert [each for each in named if "ROOM" not in each and not (ROOT / each).exists()] == []


def test_contributing_asks_for_few_files_to_read_and_one_to_edit() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = re.search(r"^\| to add .*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    rows = [row.split("|") for row in table[0].splitlines()[2:-1]]
    read = {row[1].strip(): row[2].count(",") + 1 for row in rows}
    assert max(read.values()) <= 6
    few = (
        "a loss metric",
        "an input format",
        "an attack",
        "a privacy model",
        "a fix in local recoding's bound",
    )
    assert max(read[each] for each in few) <= 2


def _bases(kind: ast.ClassDef) -> list[str]:
    """Return the names of the classes that a class derives from."""
    plain = [each.value if isinstance(each, ast.Subscript) else each for each in kind.bases]
    return [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in plain]


def test_a_method_without_a_docstring_overrides_one_that_has_it() -> None:
    own: dict[str, dict[str, bool]] = {}
    bases: dict[str, list[str]] = {}
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                said = own.setdefault(node.name, {})
                said |= {
                    each.name: bool(ast.get_docstring(each)) or said.get(each.name, False) for each in methods
                }
                bases.setdefault(node.name, []).extend(_bases(node))

    def explained(kind: str, name: str) -> bool:
        above = [each for each in bases.get(kind, []) if each != kind]
        return own.get(kind, {}).get(name, False) or any(explained(each, name) for each in above)

    public = [(kind, name) for kind, methods in own.items() for name in methods if kind[0] != "_" != name[0]]
    assert [f"{kind}.{name}" for kind, name in public if not explained(kind, name)] == []
