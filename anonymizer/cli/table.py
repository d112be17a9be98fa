"""A table of texts on a terminal: aligned, and no wider than it is."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from anonymizer.report.columns import columns_grid, columns_legend

GAP = "  "
"""Between two columns."""

NARROW = {0: 16, 2: 21, 3: 12}
"""Width to which names, treatments and examples are narrowed first, by their place."""

NARROWEST = 8
"""Least width of these."""


def terminal_width() -> int:
    """Return the characters of a line; 80 where nobody says."""
    return shutil.get_terminal_size((80, 24)).columns


def column_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of what the recipient sees; the findings of a column follow in lines of their own.

    Parameters
    ----------
    content: of a report.
    """
    grid, width = columns_grid(content), terminal_width()
    yield f"{grid.caption}:"
    *head, _ = grid.head
    rows = [[_printed(cell) for cell in row[:-1]] for row in grid.rows]
    widths = _widths([head, *rows], width)
    yield _line(head, widths)
    for row, (*_, finding) in zip(rows, grid.rows, strict=True):
        lines = [_cut(row[0], widths[0]), row[1], wrap(row[2], widths[2]), _cut(row[3], widths[3]), row[4]]
        for cells in zip_longest(
            *([each] if isinstance(each, str) else each for each in lines), fillvalue=""
        ):
            yield _line(cells, widths)
        if finding:
            indent = 2 * GAP
            yield from wrap(
                _printed(f"! {finding}"), width, initial_indent=indent, subsequent_indent=f"{indent}  "
            )
    for sentence in columns_legend(content):
        yield from wrap(sentence, width)


def text_width(text: str) -> int:
    """Return the columns of a terminal that a text takes.

    >>> text_width("age"), text_width("年齢")
    (3, 4)
    """
    marks = (0 if unicodedata.combining(each) else 1 for each in text)
    return sum(marks) + sum(unicodedata.east_asian_width(each) in "WF" for each in text)


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the width of each column: names, treatments and examples are cut or wrapped, widest first."""
    widths = [max(map(text_width, cells)) for cells in zip(*rows, strict=True)]
    room = width - len(GAP) * (len(widths) - 1)
    for least in (NARROW, dict.fromkeys(NARROW, NARROWEST)):
        while sum(widths) > room:
            widest = max(least, key=lambda place: widths[place] - least[place])
            if widths[widest] <= least[widest]:
                break
            widths[widest] -= 1
    return widths


def _printed(text: str) -> str:
    """Return a text without line ends and other characters that would break the lines."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _cut(text: str, width: int) -> str:
    """Return a text that fits, with … in place of its end.

    >>> _cut("marital_status", 10), _cut("age", 10), _cut("年齢区分", 5)
    ('marital_s…', 'age', '年齢…')
    """
    if text_width(text) <= width:
        return text
    kept = text
    while kept and text_width(kept) > width - 1:
        kept = kept[:-1]
    return f"{kept}…"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell}{' ' * (width - text_width(cell))}" for cell, width in zip(cells, widths, strict=True))
    return GAP.join(padded).rstrip()
