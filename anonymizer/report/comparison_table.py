"""A comparison as a table for scripts, the terminal, spreadsheets and data frames, one record per run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from anonymizer.report.comparison import ComparedRun, Comparison, Measured, Risk, Winner, numbered
from anonymizer.report.wording import percent

WORDS = {None: "", True: "yes", False: "no"}
"""How a CSV file writes what is no number or text."""


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a record for each run, all with the same keys; None where a run has no value."""
    keys = list(dict.fromkeys(key for run in comparison.runs for key, _ in run.settings))
    return [_record(comparison, run, keys) for run in comparison.runs]


def to_csv(comparison: Comparison) -> str:
    """Return a header and a line for each run."""
    every = records(comparison)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(every[0])
    for record in every:
        writer.writerow(
            WORDS[value] if value is None or isinstance(value, bool) else value for value in record.values()
        )
    return stream.getvalue()


def _record(comparison: Comparison, run: ComparedRun, keys: list[str]) -> dict[str, Any]:
    settings = dict(run.settings)
    return {
        "run": run.number,
        "algorithm": run.algorithm,
        **{key: settings.get(key) for key in keys},
        "status": run.status.value,
        "unbeaten": run.number in comparison.unbeaten,
        "seconds": round(run.seconds, 3),
        **_numbers(comparison, run.measured),
        "reason": run.public_reason or None,
        "command": comparison.command_beside(run),
    }


def _numbers(comparison: Comparison, own: Measured | None) -> dict[str, Any]:
    metrics = [each.measure for each in comparison.loss_winners]
    # The loss of quasi-identifiers that are published as they were would win every sorting.
    losses = {} if own is None or own.in_groups else own.utilities
    risks = {} if own is None else own.risks
    numbers: dict[str, Any] = {
        "suppressed_records": None if own is None else own.suppressed,
        "classes": None if own is None else own.classes,
        **{name: losses.get(name) for name in metrics},
        "query_error": None if own is None else own.query_error,
    }
    for name in comparison.attacks:
        for part in ("success", "low", "high", "baseline"):
            numbers[f"{name} {part}"] = getattr(risks.get(name), part, None)
    return numbers


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Return what ``--json`` prints: every run, and the numbers and commands of those that no other beats."""
    return {
        "runs": [_run(comparison, run) for run in comparison.runs],
        "recommended": [
            {"run": run.number, "command": comparison.command(run)} for run in comparison.recommended_runs
        ],
    }


def _run(comparison: Comparison, run: ComparedRun) -> dict[str, Any]:
    own = run.measured
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
        "query_error": None if own is None else own.query_error,
        "risk": None if own is None else _risk(comparison, own.risks),
        "attacks": None if own is None else {name: vars(risk) for name, risk in own.risks.items()},
        "best_by": [each.measure for each in winners if run.number in each.runs],
        "seconds": round(run.seconds, 3),
        "command": comparison.command(run),
    }


def _risk(comparison: Comparison, risks: dict[str, Risk]) -> dict[str, Any] | None:
    attack = comparison.attack
    return None if attack is None or attack not in risks else {"attack": attack, **vars(risks[attack])}


def lines(comparison: Comparison) -> Iterator[str]:
    """Yield what the terminal shows: the headline, a row for each run, who wins by what, and the commands."""
    yield comparison.headline()
    yield ""
    yield from _aligned([_header(comparison), *(_cells(comparison, run) for run in comparison.runs)])
    if comparison.attack is not None:
        yield f"* Pareto-optimal. Risk: {comparison.attack}, the strongest attack on all."
    elif comparison.in_groups:
        yield "* no other run in groups answers count queries better at no more risk."
    yield from comparison.remarks()
    for status, reason, runs in comparison.without_release():
        yield f"{numbered(runs)} {status.value}: {reason}"
    winners = [*comparison.loss_winners, *comparison.attack_winners]
    if winners:
        yield ""
        yield from _aligned([["best by", "run", "value", ""], *(_winner(each) for each in winners)])
    if comparison.recommended_runs:
        yield ""
        yield f"Recommended, {comparison.order}:"
        yield from (f"  {run.number}  {comparison.command(run)}" for run in comparison.recommended_runs)


def _header(comparison: Comparison) -> list[str]:
    keys = dict.fromkeys(key for run in comparison.runs for key, _ in run.settings)
    return ["", "run", "algorithm", *keys, "risk", "95 %", "loss", "query error", "suppressed", "seconds"]


def _cells(comparison: Comparison, run: ComparedRun) -> list[str]:
    own, attack = run.measured, comparison.attack
    first = ["*" if run.number in comparison.unbeaten else "", str(run.number), run.made_by]
    first += [value for _, value in run.settings]
    if own is None:
        return [*first, run.status.value, "", "", "", "", f"{run.seconds:.1f}"]
    risk = own.risks.get(attack) if attack is not None else None
    loss = "in groups" if own.in_groups else f"{own.loss:.4f}" + (" proven" if own.proven else "")
    return [
        *first,
        "" if risk is None else percent(risk.success).replace("\xa0", " "),
        "" if risk is None else span(risk),
        loss,
        "" if own.query_error is None else f"{own.query_error:.4f}",
        f"{own.suppressed:,}",
        f"{run.seconds:.1f}",
    ]


def span(risk: Risk) -> str:
    """Return the interval of an estimate; empty for what was counted."""
    return "" if risk.low == risk.high else f"{100 * risk.low:.3g} to {100 * risk.high:.3g}"


def _winner(each: Winner) -> list[str]:
    return [each.measure, numbered(each.runs), f"{each.value:.4g}", each.note]


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    used = [place for place in range(len(rows[0])) if any(row[place] for row in rows[1:])]
    widths = [max(len(row[place]) for row in rows) for place in used]
    for row in rows:
        cells = (row[place].ljust(width) for place, width in zip(used, widths, strict=True))
        yield "  ".join(cells).rstrip()
