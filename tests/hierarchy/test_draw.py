"""Hierarchies as text."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from anonymizer.hierarchy.draw import draw
from tests.hierarchy.columns import column, compiled


def drawn(most: int, **mapping: object) -> list[str]:
    stream = StringIO()
    Console(file=stream, width=200).print(draw(compiled(column([]), **mapping), most))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_children_beyond_the_first_are_counted() -> None:
    tree = {"*": {"x": ["a", "b", "c"], "y": ["d"], "z": ["e"]}}
    assert drawn(2, tree=tree) == [
        "*",
        "├── x",
        "│   ├── a",
        "│   ├── b",
        "│   └── ... 1 more",
        "├── y",
        "│   └── d",
        "└── ... 1 more",
    ]


def test_padding_is_drawn_once() -> None:
    assert drawn(9, tree={"*": {"x": {"y": ["a"]}, "b": None}}) == [
        "*",
        "├── x",
        "│   └── y",
        "│       └── a",
        "└── b",
    ]


def test_labels_are_neither_markup_nor_control_characters() -> None:
    assert drawn(9, tree={"*": ["[red]x[/red]", "a\nb\x1b[1m"]}) == [
        "*",
        "├── [red]x[/red]",
        "└── a\\nb\\x1b[1m",
    ]
