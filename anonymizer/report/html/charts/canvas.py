"""A chart as a piece of a page: inline SVG whose colours are those of the page and whose ids are its own."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from anonymizer.report.html.charts.style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_SALT = "anonymizer"

_MARKS = Palette("#010203", "#020304", "#030405", "#040506", "#050607", "#060708", "#070809")
"""Colours that stand for variables of the page's style sheet."""

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
    """The space of a chart in pixels: the whole, and what is kept free around the axes."""

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
    draw: draws onto axes in the colours of a palette.
    name: of the chart, unlike that of any other on the page; every id begins with it.
    label: what the chart shows, for those who do not see it.

    Returns
    -------
    An ``svg`` element; the same chart gives the same bytes.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - half a second that only pages need
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(_RC), warnings.catch_warnings():  # type: ignore[arg-type]
        # The text stays text: the reader's own fonts draw it.
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
        _recolour(element)
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
    """Make ids, and what refers to them, unlike those of other charts."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))


def _recolour(element: ElementTree.Element) -> None:
    """Put the page's variables in the place of marks; an attribute holds none, so it becomes a style."""
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
