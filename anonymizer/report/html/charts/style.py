"""What all charts share: colours by role, the space around the axes, short labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Palette:
    """Colours by what they say.

    Attributes
    ----------
    ink, soft, grid, paper: of text, of less important text, of lines behind, and of the ground.
    before, after: of the input and of the release.
    alarm: of what exceeds a promise.
    """

    ink: str
    soft: str
    grid: str
    paper: str
    before: str
    after: str
    alarm: str


NOTEBOOK = Palette("#1c2430", "#566072", "#dfe3e8", "#ffffff", "#8a5a2b", "#1f5fa8", "#b3261e")
"""For a white ground; each but the grid has a contrast of 5:1 or more."""

LONGEST = 32
"""Characters of a label; what is longer is cut, the table below the chart has it whole."""

FONT = 12.0
"""Size of text in a chart, in points."""


def short(label: str, longest: int = LONGEST) -> str:
    r"""Return a label that fits beside an axis, a dot for what has no shape, such as the end of a line.

    >>> short("a" * 40, 5), short("a\tb")
    ('aaaa…', 'a·b')
    """
    cut = label if len(label) <= longest else label[: longest - 1] + "…"
    return "".join(each if each.isprintable() else "·" for each in cut)


def bare(axes: Axes, palette: Palette) -> None:
    """Take away what says nothing: frame, tick marks, background."""
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, labelsize=FONT, labelcolor=palette.soft, pad=5)
    axes.set_axisbelow(True)


def rows(axes: Axes, labels: Sequence[str], palette: Palette, longest: int = LONGEST) -> None:
    """Name rows from top to bottom."""
    axes.set_yticks(range(len(labels)), [_plain(short(label, longest)) for label in labels])
    axes.tick_params(axis="y", labelcolor=palette.ink, pad=10)
    axes.set_ylim(len(labels) - 0.45, -0.55)


def _plain(text: str) -> str:
    r"""Keep matplotlib from reading a pair of dollars as a formula.

    >>> _plain("$5 to $9")
    '\\$5 to \\$9'
    """
    return text.replace("$", r"\$")


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights so that texts at them do not overlap.

    >>> apart([0.3, 0.3, 0.1], 0.05)
    [0.3, 0.25, 0.1]
    """
    moved = list(heights)
    order = sorted(range(len(moved)), key=lambda place: (-moved[place], place))
    for upper, lower in pairwise(order):
        moved[lower] = min(moved[lower], moved[upper] - least)
    return moved
