"""The examples in docstrings."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITH_EXAMPLES = [
    path for path in sorted((ROOT / "anonymizer").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")
]


def test_there_are_examples() -> None:
    assert len(WITH_EXAMPLES) > 40


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "anonymizer").with_suffix(""))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=pytest.mark.spark if "data_spark" in path.parts else ())
        for path in WITH_EXAMPLES
    ],
)
def test_examples_give_what_they_say(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
