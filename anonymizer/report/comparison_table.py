"""A comparison as JSON, CSV, a data frame and lines of the terminal, with one record per run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from anonymizer.report.comparison import ComparedRun, Comparison, Measured, Point, numbered
from anonymizer.report.wording import percent

WORDS = {None: "", True: "yes", False: "no"}
"""Texts of a CSV file for values that are not numbers or texts."""


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a record for each run, all with the same keys; None without a value."""
    return [_record(comparison, run) for run in comparison.runs]


def to_csv(comparison: Comparison) -> str:
    """Return CSV with a header and a line for each run."""
    every = records(comparison)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(every[0])
    for record in every:
        writer.writerow(
            WORDS[value] if value is None or isinstance(value, bool) else value for value in record.values()
        )
    return stream.getvalue()


def _record(comparison: Comparison, run: ComparedRun) -> dict[str, Any]:
    settings = dict(run.settings)
    return {
        "run": run.number,
        "algorithm": run.algorithm,
        **{key: settings.get(key) for key in comparison.keys},
        "status": run.status.value,
        "unbeaten": run.number in comparison.unbeaten,
        "seconds": round(run.seconds, 3),
        **_numbers(comparison, run.measured),
        "reason": run.public_reason or None,
        "command": comparison.command_in_folder(run),
    }


def _numbers(comparison: Comparison, own: Measured | None) -> dict[str, Any]:
    metrics = [each.measure for each in comparison.loss_winners]
    # The loss of unchanged quasi-identifiers would be first in every order.
    losses = {} if own is None or own.in_groups else own.utilities
    risks = {} if own is None else own.risks
    numbers: dict[str, Any] = {
        "suppressed_records": None if own is None else own.suppressed,
        "classes": None if own is None else own.classes,
        **{name: losses.get(name) for name in metrics},
        **_weighed(comparison, own),
        "query_error": None if own is None else own.query_error,
    }
    for name in comparison.attacks:
        for part in ("success", "low", "high", "baseline"):
            numbers[f"{name} {part}"] = getattr(risks.get(name), part, None)
    return numbers


def _weighed(comparison: Comparison, own: Measured | None) -> dict[str, Any]:
    """Return what the losses are by, a column of weights or a unit, and the same over records."""
    every = [run.measured for run in comparison.runs if run.measured is not None]
    names = dict.fromkeys(name for each in every for name in each.over_records)
    if not names:
        return {}
    key, name = ("weights", "weights") if any(each.weights for each in every) else ("loss_unit", "unit")
    return {
        key: getattr(own, name, None),
        **{f"{name}_over_records": None if own is None else own.over_records.get(name) for name in names},
    }


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Return the object of ``--json``: all runs, and the command of the recommended one."""
    return {
        "runs": [_run(comparison, run) for run in comparison.runs],
        "recommended": [
            {"run": run.number, "command": comparison.command(run)} for run in comparison.recommended
        ],
        "advice": _advice(comparison),
    }


def _advice(comparison: Comparison) -> dict[str, Any] | None:
    """Return the run to take, with the reason and its neighbors; None without a limit of risk."""
    advice = comparison.advice
    if advice is None:
        return None

    def shown(point: Point | None) -> dict[str, Any] | None:
        if point is None:
            return None
        return {"run": point.run.number, "loss": point.measured.loss, "risk": point.risk.high}

    return {
        **(shown(advice.point) or {}),
        "command": comparison.command(advice.point.run),
        "max_risk": advice.limit,
        "attack": advice.attack,
        "within": advice.within,
        "because": advice.because,
        "less_loss": shown(advice.less_loss),
        "safer": shown(advice.safer),
    }


def _run(comparison: Comparison, run: ComparedRun) -> dict[str, Any]:
    own, risk = run.measured, comparison.risk(run)
    winners = [*comparison.loss_winners, *comparison.attack_winners]
    return {
        "run": run.number,
        "algorithm": run.algorithm,
        "settings": dict(run.settings),
        "status": run.status.value,
        "unbeaten": run.number in comparison.unbeaten,
        "reason": run.reason or None,
        "made_by": None if own is None else own.algorithm,
        "optimal": None if own is None else own.proven,
        "suppressed_records": None if own is None else own.suppressed,
        "classes": None if own is None else own.classes,
        "in_groups": None if own is None else own.in_groups,
        "loss": None if own is None else own.losses,
        **_weighed(comparison, own),
        "query_error": None if own is None else own.query_error,
        "risk": None if risk is None else {"attack": comparison.attack, **risk.entry()},
        "attacks": None if own is None else {name: risk.entry() for name, risk in own.risks.items()},
        "best_by": [each.measure for each in winners if run.number in each.runs],
        "seconds": round(run.seconds, 3),
        "command": comparison.command(run),
    }


def lines(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of the terminal: the run to take, all runs, best runs by measure, and commands."""
    yield comparison.headline()
    yield from advice_lines(comparison)
    yield ""
    yield from aligned([_header(comparison), *(_cells(comparison, run) for run in comparison.runs)])
    if comparison.attack is not None:
        yield f"* Pareto-optimal. Risk: by {comparison.attack}, {comparison.attack_is}."
    elif comparison.in_groups:
        yield "* Pareto-optimal among the Anatomy releases, by query error and risk."
    yield from comparison.remarks()
    for status, reason, runs in comparison.without_release():
        yield f"{numbered(runs)} {status.value}: {reason}"
    winners = [*comparison.loss_winners, *comparison.attack_winners]
    if winners:
        yield ""
        rows = [[each.measure, numbered(each.runs), f"{each.value:.4g}", each.note] for each in winners]
        yield from aligned([["best by", "run", "value", ""], *rows])
    if comparison.pareto_runs:
        yield ""
        yield f"Pareto-optimal, {comparison.order}:"
        yield from (f"  {run.number}  {comparison.command(run)}" for run in comparison.pareto_runs)


def advice_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what other runs would cost and the command of the run to take, or how to get one named."""
    if comparison.advice is not None:
        yield from comparison.advice.neighbors()
        yield f"  {comparison.command(comparison.advice.point.run)}"
    elif len(comparison.pareto) > 1:
        yield "To have one run named, say how much risk is acceptable, such as --max-risk 0.1."


def _header(comparison: Comparison) -> list[str]:
    return [
        "",
        "run",
        "algorithm",
        *comparison.keys,
        "risk",
        "95 %",
        "loss",
        "query error",
        "suppressed",
        "seconds",
    ]


def _cells(comparison: Comparison, run: ComparedRun) -> list[str]:
    own, risk = run.measured, comparison.risk(run)
    first = ["*" if run.number in comparison.unbeaten else "", str(run.number), run.made_by]
    first += [value for _, value in run.settings]
    if own is None:
        return [*first, run.status.value, "", "", "", "", f"{run.seconds:.1f}"]
    loss = "Anatomy" if own.in_groups else f"{own.loss:.4f}" + (" proven" if own.proven else "")
    return [
        *first,
        "" if risk is None else percent(risk.success).replace("\xa0", " "),
        "" if risk is None else risk.interval,
        loss,
        "" if own.query_error is None else f"{own.query_error:.4f}",
        f"{own.suppressed:,}",
        f"{run.seconds:.1f}",
    ]


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Yield the lines of a table, without columns that only the header fills."""
    used = [place for place in range(len(rows[0])) if any(row[place] for row in rows[1:])]
    widths = [max(len(row[place]) for row in rows) for place in used]
    for row in rows:
        cells = (row[place].ljust(width) for place, width in zip(used, widths, strict=True))
        yield "  ".join(cells).rstrip()
