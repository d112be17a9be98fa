"""The last lines of a run: what was promised, what was lost, what to give and what to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any

from anonymizer.cli.attack import line
from anonymizer.core.report import Report

IN_ONE_LINE = 2
"""Up to so many promises stand beside the verdict; more get a line each."""


def summary(report: Report, directory: Path) -> Iterator[str]:
    """Yield the lines that a satisfied run ends with."""
    content = report.to_dict()
    promises = [promise(each) for each in content["constraints"]]
    if len(promises) <= IN_ONE_LINE:
        yield f"SATISFIED  {'; '.join(promises)}"
    else:
        yield from ("SATISFIED", *(f"  {each}" for each in promises))
    yield from (f"Warning: {warning}" for warning in content["warnings"])
    released, source, search = content["release"], content["input"], content["search"]
    if content["interrupted"]:
        yield f"Interrupted after {search['steps']:,} steps: the best so far"
    suppressed = released["suppressed_records"]
    starred = released["rows"] - (source["rows"] - suppressed)
    kept = f"Kept {source['rows'] - suppressed:,} of {source['rows']:,} records"
    if starred:
        kept += f", {starred:,} more with * in every quasi-identifier"
    yield f"{kept}; {content['config']['objective']['metric']} {search['objective']:.4g} ({proof(search)})"
    if search["best_possible"] is not None and search["best_possible"] != search["bound"]:
        yield f"Any recoding along the hierarchies: at least {floored(search['best_possible'])}"
    yield from how(content)
    yield from (f"Attack {line(each)}" for each in content["attacks"])
    yield "Read back and verified."
    yield f"Give:  {directory / 'share'}/    {Path(released['path']).name}  report.public.json"
    yield f"Keep:  {directory}/    report.json  (internal)"


def how(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield how the records were recoded: who chose the algorithm, and what can be said in a line."""
    search, levels = content["search"], content["recoding"]["levels"]
    if search["chosen_because"]:
        yield f"Chosen: {search['algorithm']}, {'; '.join(search['chosen_because'])}"
    if levels is not None:
        yield "Levels: " + ", ".join(f"{name} {level}" for name, level in levels.items())
    cells = content["release"]["suppressed_cells"]
    if cells:
        yield f"Blanked: {cells:,} cells"


def promise(constraint: Mapping[str, Any]) -> str:
    """Return a constraint with what was asked and measured."""
    name = constraint["model"] + (f"({constraint['attribute']})" if constraint["attribute"] else "")
    asked = " ".join(f"{key}={value}" for key, value in constraint["parameters"].items())
    measured = constraint["measured"]
    return f"{name} {asked}: {'not measured' if measured is None else f'measured {shown(measured)}'}"


def shown(measured: Any) -> str:
    """Return a measure for people."""
    if isinstance(measured, list):
        return ", ".join(shown(each) for each in measured)
    return f"{measured:.4g}" if isinstance(measured, float) else str(measured)


def proof(search: Mapping[str, Any]) -> str:
    """Return what is proven about the objective."""
    if search["optimal"]:
        return f"proven best of {search['candidates']:,}, {search['evaluated']:,} evaluated"
    if search["gap"] is None:
        return "not proven best"
    return f"not proven best: gap {100 * search['gap']:.1f} %"


def floored(bound: float) -> str:
    """Return a lower bound with two digits, never above it.

    >>> floored(0.1899), floored(0.0446), floored(0.0)
    ('0.18', '0.044', '0')
    """
    exact = Decimal(bound)
    return (
        f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_FLOOR)):.2g}" if bound else "0"
    )
