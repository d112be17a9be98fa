"""No file and no function is longer than a reader can hold in mind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE, FUNCTION = 300, 40
"""Most lines of each, docstrings and blank lines included."""


def too_long(source: str) -> Iterator[tuple[str, int]]:
    """Return what is too long in a file, with its lines; the file itself is called ``file``."""
    lines = len(source.splitlines())
    if lines > FILE:
        yield "file", lines
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION:
                yield node.name, lines


@pytest.mark.parametrize("folder", ["anonymizer", "benchmarks", "docs", "examples"])
def test_nothing_is_too_long(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = {str(path.relative_to(ROOT)): list(too_long(path.read_text(encoding="utf-8"))) for path in files}
    assert {name: parts for name, parts in found.items() if parts} == {}


def test_what_is_too_long_is_found() -> None:
    longest = "def right():\n" + "    pass\n" * (FUNCTION - 1)
    longer = "class A:\n    async def wrong(self):\n" + "        pass\n" * FUNCTION
    assert list(too_long(longest)) == []
    assert list(too_long(longer)) == [("wrong", FUNCTION + 1)]
    assert list(too_long("\n" * FILE)) == []
    assert list(too_long("\n" * (FILE + 1))) == [("file", FILE + 1)]
