"""The pages for authors of plug-ins need one module of the package, and its test suites."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from anonymizer import plugin
from tests.docs.pages import ROOT

PAGES = sorted((ROOT / "docs/howto").glob("add-a*.md"))
ALLOWED = {"anonymizer", "anonymizer.plugin", "anonymizer.testing"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_imports_from_one_place(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anonymizer"):
                assert node.module in ALLOWED, f"{page}: {node.module}"


def test_every_name_is_there() -> None:
    assert all(hasattr(plugin, name) for name in plugin.__all__)
