"""A table of texts on a terminal: aligned, and no wider than it is."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from anonymizer.report.columns import UNKNOWN, columns_grid, columns_legend

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
    for (name, role, treatment, example, changed), (*_, finding) in zip(rows, grid.rows, strict=True):
        first, *more = wrap(treatment, widths[2])
        yield _line([_cut(name, widths[0]), role, first, _cut(example, widths[3]), changed], widths)
        yield from (_line(["", "", each, "", ""], widths) for each in more)
        if finding not in ("", UNKNOWN):
            yield from _wrapped(f"! {_printed(finding)}", width, 2 * GAP)
    for sentence in columns_legend(content):
        yield from wrap(sentence, width)


def text_width(text: str) -> int:
    """Return the columns of a terminal that a text takes.

    >>> text_width("age"), text_width("年齢")
    (3, 4)
    """
    marks = (0 if unicodedata.combining(each) else 1 for each in text)
    return sum(marks) + sum(unicodedata.east_asian_width(each) in "WF" for each in text)


def _wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    """Yield the lines of a text, indented, and further ones by two characters more."""
    line, begun = indent, False
    for word in text.split():
        longer = f"{line} {word}" if begun else f"{line}{word}"
        if begun and text_width(longer) > width:
            yield line
            longer = f"{indent}{GAP}{word}"
        line, begun = longer, True
    yield line


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
