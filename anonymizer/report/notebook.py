"""A chart on matplotlib's axes, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymizer.report.drawing import FONT, Axis, Bars, Drawing, Element, Level, Line, Marks, Spans, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as MatplotlibAxis


def plotted(ax: Axes | None, title: str, drawing: Drawing | str) -> Axes:
    """Draw a chart, or words in its place, with the title and legend that the page has in its text.

    Parameters
    ----------
    ax: to draw onto; None for a new figure.
    """
    axes = ax or _new_axes()
    if isinstance(drawing, str):
        axes.set_axis_off()
        axes.text(0.5, 0.5, drawing, ha="center", va="center", transform=axes.transAxes)
    else:
        draw_on(axes, drawing)
    axes.set_title(title, fontweight="bold")
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=len(labels), frameon=False
        )
    return axes


def _new_axes() -> Axes:
    from matplotlib import pyplot  # noqa: PLC0415 - half a second that only plots need

    axes: Axes = pyplot.subplots(layout="constrained")[1]
    return axes


def draw_on(axes: Axes, drawing: Drawing) -> None:
    """Draw a chart without frame, tick marks and background."""
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    for element in drawing.elements:
        _add(axes, element)
    axes.set_xlim(drawing.x.low, drawing.x.high)
    axes.set_ylim(drawing.y.low, drawing.y.high)
    if drawing.x.places is None:
        axes.locator_params(axis="x", nbins=drawing.x.most)
    if drawing.y.places is None:
        axes.locator_params(axis="y", nbins=drawing.y.most)
    _mark(axes.xaxis, drawing.x)
    _mark(axes.yaxis, drawing.y)


def _mark(axis: MatplotlibAxis, own: Axis) -> None:
    """Set the ticks, the grid and the title of an axis."""
    axis.set_tick_params(length=0, labelsize=FONT, labelcolor=own.color, pad=own.pad)
    if own.places is not None and own.labels is None:
        axis.set_ticks(list(own.places))
    elif own.places is not None and own.labels is not None:
        axis.set_ticks(list(own.places), [_plain(text) for text, _ in own.labels])
        for label, (_, align) in zip(axis.get_ticklabels(), own.labels, strict=True):
            if align != "center":
                label.set_horizontalalignment(align)
    if own.formatter is not None:
        write = own.formatter
        axis.set_major_formatter(lambda value, _: write(value))
    if own.grid is not None:
        axis.grid(visible=True, color=own.grid.color, linewidth=own.grid.width)
    if own.title is not None:
        axis.set_label_text(own.title[0], color=own.title[1], fontsize=FONT)


def _add(axes: Axes, element: Element) -> None:
    if isinstance(element, Text):
        _write(axes, element)
    elif isinstance(element, Bars):
        _bars(axes, element)
    elif isinstance(element, Level):
        own = element.stroke
        through = axes.axvline if element.upright else axes.axhline
        through(element.place, color=own.color, linewidth=own.width, linestyle=own.style, alpha=own.opacity)
    elif isinstance(element, Spans):
        own = element.stroke
        axes.hlines(
            element.y, element.low, element.high, color=own.color, linewidth=own.width, alpha=own.opacity
        )
    elif isinstance(element, Line):
        own = element.stroke
        axes.plot(
            element.x, element.y, own.style, color=own.color, linewidth=own.width, alpha=own.opacity,
            label=element.label, clip_on=element.inside
        )  # fmt: skip
    else:
        _marks(axes, element)


def _marks(axes: Axes, marks: Marks) -> None:
    axes.plot(
        marks.x, marks.y, marks.shape, markersize=marks.size, markerfacecolor=marks.fill,
        markeredgecolor=marks.edge.color, markeredgewidth=marks.edge.width, alpha=marks.edge.opacity,
        label=marks.label, clip_on=marks.inside,
        transform=axes.get_yaxis_transform() if marks.beside else axes.transData
    )  # fmt: skip


def _bars(axes: Axes, bars: Bars) -> None:
    edge = ("none", 0.0) if bars.edge is None else (bars.edge.color, bars.edge.width)
    draw = axes.bar if bars.upright else axes.barh
    drawn = draw(bars.places, bars.lengths, bars.width, label=bars.label)
    for each in drawn:
        each.set(facecolor=bars.fill, edgecolor=edge[0], linewidth=edge[1], alpha=bars.opacity)


def _write(axes: Axes, text: Text) -> None:
    places = {
        (False, False): axes.transData,
        (True, False): axes.get_yaxis_transform(),
        (True, True): axes.transAxes,
    }
    axes.annotate(
        _plain(text.text), (text.x, text.y), text.moved, xycoords=places[text.shares],
        textcoords="offset points", ha=text.align, va="center" if text.centered else "baseline",
        color=text.color, fontsize=FONT, fontweight="bold" if text.bold else "normal",
        style="italic" if text.italic else "normal", annotation_clip=False
    )  # fmt: skip


def _plain(text: str) -> str:
    r"""Escape dollar signs, which matplotlib reads as formulas.

    >>> _plain("$5 to $9")
    '\\$5 to \\$9'
    """
    return text.replace("$", r"\$")
