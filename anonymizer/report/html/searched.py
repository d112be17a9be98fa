"""Section 7: how the search went and what it proves."""

from __future__ import annotations

from typing import Any

from anonymizer.report.html.charts.canvas import Frame
from anonymizer.report.html.charts.search import draw_search, progress_of
from anonymizer.report.html.parts import WIDE, Chart, Grid, drawn
from anonymizer.report.html.words import number
from anonymizer.report.numbers import floored, percent

MOST_ROWS = 30
"""Improvements that the table below the chart lists."""


def search_chart(report: dict[str, Any]) -> Chart | None:
    """Return the best loss by candidate; None where the search took no steps of that kind."""
    search = report["search"]
    progress = progress_of(report["steps"], search)
    if not progress.best or progress.steps < 2:
        return None
    svg = drawn(
        "search",
        "Step chart of the best objective found, against the number of candidates looked at, with the proven "
        "bound; data in the table below",
        Frame(WIDE, 280, 52, 150, 10, 46),
        lambda axes, palette: draw_search(axes, progress, palette),
    )
    best = progress.best[-MOST_ROWS:]
    rows = tuple((f"{step:,}", number(objective)) for step, objective in best)
    caption = "Improvements" if len(best) == len(progress.best) else f"The last {MOST_ROWS} improvements"
    step = progress.best[-1][0]
    finding = f"The best was found at candidate {step:,} of {progress.steps:,}. {proof(search)}"
    grid = Grid(caption, ("candidate", report["config"]["objective"]["metric"]), rows)
    return Chart(f"Best {report['config']['objective']['metric']} found so far", svg, finding, grid)


def proof(search: dict[str, Any]) -> str:
    """Say what is proven."""
    if search["optimal"]:
        return "It equals the proven bound: no other candidate loses less."
    if search["gap"] is not None:
        return f"The proven bound leaves a gap of {percent(search['gap'])}."
    return "Nothing is proven about what else there is."


def facts_of_search(report: dict[str, Any]) -> Grid:
    """Return the numbers of the search."""
    search = report["search"]
    rows = [
        ("algorithm", search["algorithm"]),
        ("candidates", number(search["candidates"])),
        ("evaluated", number(search["evaluated"])),
        ("steps", number(search["steps"])),
        ("objective", f"{report['config']['objective']['metric']} {number(search['objective'])}"),
    ]
    if search["bound"] is not None:
        rows.append(("bound", number(search["bound"])))
    if search["gap"] is not None:
        rows.append(("gap", percent(search["gap"])))
    if search["best_possible"] is not None:
        rows.append(("bound on any recoding along the hierarchies", floored(search["best_possible"])))
    rows.append(("ended by the user", "yes" if report["interrupted"] else "no"))
    rows += [("chosen because", reason) for reason in search["chosen_because"]]
    return Grid("The search in numbers", ("what", "value"), tuple(rows))
