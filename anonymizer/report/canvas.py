"""A chart as inline SVG with the colors of its page, and the style of all charts."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Palette:
    """Colors by purpose.

    Attributes
    ----------
    ink, soft, grid, paper: of text, secondary text, grid lines and the background.
    before, after: of the input and the release.
    alarm: of contradicted claims.
    """

    ink: str
    soft: str
    grid: str
    paper: str
    before: str
    after: str
    alarm: str


NOTEBOOK = Palette("#1c2430", "#566072", "#dfe3e8", "#ffffff", "#8a5a2b", "#1f5fa8", "#b3261e")
"""For a white background; all except the grid have a contrast of at least 5:1."""

LONGEST = 32
"""Maximum number of characters of a label; the table below the chart has the whole text."""

FONT = 12.0
"""Size of text in a chart, in points."""


def short(label: str, longest: int = LONGEST) -> str:
    r"""Return a label cut to fit next to an axis, with a dot for each unprintable character.

    >>> short("a" * 40, 5), short("a\tb")
    ('aaaa…', 'a·b')
    """
    cut = label if len(label) <= longest else label[: longest - 1] + "…"
    return "".join(each if each.isprintable() else "·" for each in cut)


def bare(axes: Axes, palette: Palette) -> None:
    """Remove frame, tick marks and background."""
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, labelsize=FONT, labelcolor=palette.soft, pad=5)
    axes.set_axisbelow(True)


def rows(axes: Axes, labels: Sequence[str], palette: Palette, longest: int = LONGEST) -> None:
    """Label the rows from top to bottom."""
    axes.set_yticks(range(len(labels)), [_plain(short(label, longest)) for label in labels])
    axes.tick_params(axis="y", labelcolor=palette.ink, pad=10)
    axes.set_ylim(len(labels) - 0.45, -0.55)


def _plain(text: str) -> str:
    r"""Escape dollar signs, which matplotlib reads as formulas.

    >>> _plain("$5 to $9")
    '\\$5 to \\$9'
    """
    return text.replace("$", r"\$")


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Return heights at which texts do not overlap, moved down where needed.

    >>> apart([0.3, 0.3, 0.1], 0.05)
    [0.3, 0.25, 0.1]
    """
    moved = list(heights)
    order = sorted(range(len(moved)), key=lambda place: (-moved[place], place))
    for upper, lower in pairwise(order):
        moved[lower] = min(moved[lower], moved[upper] - least)
    return moved


SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_SALT = "anonymizer"

_MARKS = Palette("#010203", "#020304", "#030405", "#040506", "#050607", "#060708", "#070809")
"""Colors that are replaced by variables of the page's style sheet."""

_RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": _SALT,
    "font.size": 12.0,
    "font.family": "DejaVu Sans",
    "axes.unicode_minus": False,
    "hatch.linewidth": 1.0,
}


@dataclass(frozen=True)
class Frame:
    """The size of a chart and its margins around the axes, in pixels."""

    width: float
    height: float
    left: float = 10.0
    right: float = 10.0
    top: float = 8.0
    bottom: float = 8.0

    def box(self) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of the axes as parts of the whole."""
        return (
            self.left / self.width,
            self.bottom / self.height,
            (self.width - self.left - self.right) / self.width,
            (self.height - self.top - self.bottom) / self.height,
        )


def inline_svg(draw: Callable[[Axes, Palette], object], frame: Frame, name: str, label: str) -> str:
    """Draw a chart for a page.

    Parameters
    ----------
    draw: draws onto axes in the colors of a palette.
    name: unique on the page; prefix of every id.
    label: description for screen readers.

    Returns
    -------
    An ``svg`` element; the same chart gives the same bytes.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - half a second that only pages need
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(_RC), warnings.catch_warnings():  # type: ignore[arg-type]
        # Text is not converted to paths: the reader's fonts draw it.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        figure = Figure(figsize=(frame.width / 72, frame.height / 72), facecolor="none")
        FigureCanvasSVG(figure)
        draw(figure.add_axes(frame.box()), _MARKS)
        text = io.StringIO()
        figure.savefig(
            text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    return _settled(text.getvalue(), frame, name, label)


def _settled(text: str, frame: Frame, name: str, label: str) -> str:
    """Return matplotlib's SVG as part of a page."""
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}title"):
                parent.remove(child)
    for element in root.iter():
        _prefix(element, name)
        _recolor(element)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("viewBox", f"0 0 {frame.width:g} {frame.height:g}")
    root.set("role", "img")
    root.set("aria-label", label)
    root.set("style", f"--width: {frame.width:g}px")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _prefix(element: ElementTree.Element, name: str) -> None:
    """Prefix ids and references to them, so that they are unique on the page."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))


def _recolor(element: ElementTree.Element) -> None:
    """Replace marks by variables of the page; as attributes cannot hold variables, they become styles."""
    for key in ("fill", "stroke", "stop-color"):
        value = element.attrib.get(key)
        if value is not None and value.lower() in _VARIABLES:
            del element.attrib[key]
            element.set("style", f"{key}: {value}; {element.get('style', '')}")
    style = element.get("style")
    if style is None:
        return
    for mark, variable in _VARIABLES.items():
        style = style.replace(mark, variable)
    # The font is the page's; its size is the chart's.
    style = re.sub(r"font: (?:(\d+) )?([\d.]+)px [^;]*", _font, style)
    style = re.sub(r"font-family: [^;]*(; )?", "", style)
    element.set("style", style)


def _font(found: re.Match[str]) -> str:
    weight = f"font-weight: {found[1]}; " if found[1] else ""
    return f"{weight}font-size: {found[2]}px"


_VARIABLES = {getattr(_MARKS, each.name): f"var(--{each.name})" for each in fields(Palette)}
