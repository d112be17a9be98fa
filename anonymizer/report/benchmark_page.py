"""benchmark.html: the results of a benchmark as one self-contained page with curves.

A curve has a point for each value of one varied key: the mean over the tables, with a bar from the smallest
to the largest value. Each setting of the other keys has charts of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from anonymizer.report.benchmark import MIB, Benchmark, Cell, Spread, attack_cells, first_cells, head, rows
from anonymizer.report.charts import percent_tick
from anonymizer.report.comparison_page import MARKERS
from anonymizer.report.drawing import Drawing, Line, Marks, Palette, Stroke
from anonymizer.report.page import TEMPLATES, environment
from anonymizer.report.svg import Frame, inline_svg
from anonymizer.report.wording import Chart, Grid, number, percent

SECTIONS = (
    ("results", "Results"),
    ("curves", "Curves"),
    ("command", "Command"),
)
"""Sections by id and name."""


def benchmark_page(benchmark: Benchmark) -> str:
    """Return the page of a benchmark, without scripts and links; the same results give the same text."""
    template = environment().get_template("benchmark.html.jinja")
    return template.render(
        style=files(__package__).joinpath(TEMPLATES, "page.css").read_text(encoding="utf-8"),
        title=benchmark.headline(),
        sections=SECTIONS,
        remarks=list(benchmark.remarks()),
        results=_results(benchmark),
        attacks=_attacks(benchmark),
        without=list(benchmark.without_release(lambda run: run.public_reason)),
        curves=list(curves(benchmark)),
        command=benchmark.command,
        released=any(cell.releases for cell in benchmark.cells),
        version=benchmark.environment["anonymizer"],
    )


def _results(benchmark: Benchmark) -> Grid:
    filled = tuple(tuple(map(_cell, row)) for row in rows(benchmark))
    return Grid("Mean and standard deviation over the tables", head(benchmark), filled)


def _attacks(benchmark: Benchmark) -> Grid | None:
    if not benchmark.attacks:
        return None
    found = tuple(
        (*first_cells(benchmark, cell), *map(_cell, attack_cells(benchmark, cell)))
        for cell in benchmark.cells
    )
    return Grid("Success of attacks, in percent", (*benchmark.keys, "algorithm", *benchmark.attacks), found)


def _cell(text: str) -> str:
    """Return a cell of a table, which is not broken at its deviation."""
    return text.replace(" ± ", "\xa0±\xa0") or "–"


@dataclass(frozen=True)
class Measure:
    """What a curve shows.

    Attributes
    ----------
    title: of the chart and of its vertical axis.
    of: returns it for a cell.
    text: returns a value in words.
    tick: returns the label of a tick; None for plain numbers.
    """

    title: str
    of: Callable[[Cell], Spread | None]
    text: Callable[[float], str]
    tick: Callable[[float], str] | None = None


def measures(benchmark: Benchmark) -> Iterator[Measure]:
    """Yield what the curves of a benchmark show."""
    yield Measure("loss", lambda cell: cell.loss, number)
    yield Measure("gap", lambda cell: cell.gap, number)
    for name in benchmark.attacks:
        yield Measure(f"success of {name}", _success_of(name), percent, percent_tick)
    yield Measure("seconds of search", lambda cell: cell.search_cpu_seconds, number)
    yield Measure("MiB of memory", _mebibytes, number)


def _success_of(attack: str) -> Callable[[Cell], Spread | None]:
    return lambda cell: cell.success(attack)


def _mebibytes(cell: Cell) -> Spread | None:
    found = cell.peak_bytes
    if found is None:
        return None
    sd = None if found.sd is None else found.sd / MIB
    return Spread(found.mean / MIB, sd, found.low / MIB, found.high / MIB, found.values)


@dataclass(frozen=True)
class Curve:
    """The lines of a chart, one for each algorithm.

    Attributes
    ----------
    key: on the horizontal axis; empty if nothing varies.
    values: of the key, in order.
    algorithms: all of the benchmark; each has one look in all charts.
    lines: by algorithm, the place of a value and what was measured there.
    """

    key: str
    values: tuple[str, ...]
    measure: Measure
    algorithms: tuple[str, ...]
    lines: dict[str, list[tuple[float, Spread]]]

    @property
    def places(self) -> list[float]:
        """The horizontal places of the values: numbers are where they are, names beside each other."""
        try:
            return [float(each) for each in self.values]
        except ValueError:
            return [float(place) for place in range(len(self.values))]


def axis_of(benchmark: Benchmark) -> str:
    """Return the key on the horizontal axis, the first one with numbers, else the first; may be empty."""
    varied = {key: list(dict.fromkeys(_values(benchmark, key))) for key in benchmark.keys}
    several = {key: values for key, values in varied.items() if len(values) > 1} or varied
    numbers = (key for key, values in several.items() if all(map(_is_number, values)))
    return next(numbers, next(iter(several), ""))


def _values(benchmark: Benchmark, key: str) -> list[str]:
    return [value for cell in benchmark.cells for name, value in cell.settings if name == key]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def curves(benchmark: Benchmark) -> Iterator[Chart]:
    """Yield a chart of each measure for each setting of the keys that are not on the horizontal axis."""
    key = axis_of(benchmark)
    algorithms = tuple(dict.fromkeys(cell.algorithm for cell in benchmark.cells))
    groups: dict[tuple[tuple[str, str], ...], list[Cell]] = {}
    for cell in benchmark.cells:
        groups.setdefault(tuple(each for each in cell.settings if each[0] != key), []).append(cell)
    for measure in measures(benchmark):
        for place, (others, cells) in enumerate(groups.items()):
            settings = (f"{name}={value}" for name, value in others)
            title = " ".join((measure.title[0].upper() + measure.title[1:], *settings))
            curve = _curve(key, measure, algorithms, cells)
            if curve.lines:
                yield _chart(curve, title, f"{_slug(measure.title)}-{place}")


def _slug(title: str) -> str:
    return "".join(each if each.isalnum() else "-" for each in title.lower())


def _curve(key: str, measure: Measure, algorithms: tuple[str, ...], cells: Sequence[Cell]) -> Curve:
    # Without a varied key, algorithms are beside each other.
    named = [dict(cell.settings).get(key, cell.algorithm) for cell in cells]
    curve = Curve(key, tuple(dict.fromkeys(named)), measure, algorithms, {})
    places = dict(zip(curve.values, curve.places, strict=True))
    for cell, value in zip(cells, named, strict=True):
        found = measure.of(cell)
        if found is not None:
            curve.lines.setdefault(cell.algorithm, []).append((places[value], found))
    return curve


def _chart(curve: Curve, title: str, name: str) -> Chart:
    legend = -(-len(curve.lines) // 4)
    svg = inline_svg(
        name,
        f"Chart of {curve.measure.title} by {curve.key or 'algorithm'}; data in the table below",
        Frame(780, 340 + 20 * legend, 72, 24, 20 + 20 * legend, 48),
        draw_curve,
        curve,
    )
    text, shown = curve.measure.text, dict(zip(curve.places, curve.values, strict=True))
    points = [(algorithm, *point) for algorithm, own in curve.lines.items() for point in own]
    table = tuple(
        (
            shown[place],
            algorithm,
            text(found.mean),
            "–" if found.sd is None else text(found.sd),
            text(found.low),
            text(found.high),
            str(found.values),
        )
        for algorithm, place, found in points
    )
    algorithm, place, least = min(points, key=lambda each: each[2].mean)
    at = f" at {curve.key}={shown[place]}" if curve.key else ""
    columns = (curve.key or "of", "algorithm", "mean", "standard deviation", "smallest", "largest", "runs")
    return Chart(
        title,
        svg,
        f"Smallest mean: {text(least.mean)}, {algorithm}{at}.",
        Grid(f"{title} by {curve.key or 'algorithm'}", columns, table),
    )


STYLES = ("-", "--", ":")


def draw_curve(curve: Curve, palette: Palette) -> Drawing:
    """Draw a line through the means of each algorithm, with bars from the smallest to the largest value."""
    chart = Drawing(palette)
    colors = (palette.after, palette.before, palette.alarm, palette.ink, palette.soft)
    for algorithm, points in curve.lines.items():
        place = curve.algorithms.index(algorithm)
        color, style = colors[place % len(colors)], STYLES[place // len(colors) % len(STYLES)]
        ordered = sorted(points, key=lambda each: each[0])
        across, means = [each for each, _ in ordered], [found.mean for _, found in ordered]
        for each, found in ordered:
            chart.add(Line([each, each], [found.low, found.high], Stroke(color, 4, 0.35), inside=False))
        chart.add(
            Line(across, means, Stroke(color, 2, style=style), inside=False),
            Marks(
                across, means, MARKERS[place % len(MARKERS)], 8, color, Stroke(color), algorithm, inside=False
            ),
        )
    chart.legend = min(len(curve.lines), 4)
    low, high = min(curve.places), max(curve.places)
    margin = 0.06 * (high - low) or 0.5
    chart.x.mark(curve.places, curve.values)
    chart.x.between(low - margin, high + margin)
    chart.x.title, chart.x.pad = (curve.key or "algorithm", palette.soft), 9.0
    top = max(found.high for points in curve.lines.values() for _, found in points)
    chart.y.between(0, 1.08 * top or 1.0)
    chart.y.grid, chart.y.title = Stroke(palette.grid), (curve.measure.title, palette.soft)
    chart.y.formatter = curve.measure.tick
    return chart
