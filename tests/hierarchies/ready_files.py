"""Reading the shipped value trees with nothing but csv and yaml."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "hierarchies"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def entry(name: str) -> dict[str, Any]:
    loaded = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def rows(file: str) -> list[list[str]]:
    with (FOLDER / file).open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream, strict=True))


def normalised(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


@cache
def parents(name: str) -> dict[str, list[str]]:
    """Ancestors of each leaf."""
    return {row[0]: row[1:] for row in rows(entry(name)["hierarchy"]["file"])}


def lookup(name: str, value: str) -> list[str]:
    """Ancestors of a value as the README says values are placed."""
    placed = parents(name)
    if "codes" in entry(name):
        digits = value.strip().replace(".", "")
        group = digits if len(digits) == 2 else f"{digits[:2]}.{digits[2]}"
        return [group, digits[:2], *placed[digits[:2]]]
    aliases = dict(rows(entry(name)["aliases"])) if "aliases" in entry(name) else {}
    if value in placed:
        return placed[value]
    loose = {normalised(leaf): leaf for leaf in placed}
    if normalised(value) in loose:
        return placed[loose[normalised(value)]]
    return placed[{normalised(other): leaf for other, leaf in aliases.items()}[normalised(value)]]
