"""The pages of the documentation, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Return every page of the documentation."""
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        ROOT / "examples" / "README.md",
        ROOT / "hierarchies" / "README.md",
    ]


def name(page: Path) -> str:
    """Return what a test calls a page."""
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, and the line where it begins."""

    language: str
    text: str
    line: int


def blocks(page: Path, language: str) -> list[Block]:
    """Return the fenced blocks of a page in a language."""
    text = page.read_text(encoding="utf-8")
    return [each for each in _blocks(text) if each.language == language]


def _blocks(text: str) -> Iterator[Block]:
    for found in _FENCE.finditer(text):
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))
