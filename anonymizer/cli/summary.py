"""The last lines of a run: constraints, loss, the files to share and the files to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anonymizer.model.report import Report
from anonymizer.report.wording import floored

IN_ONE_LINE = 2
"""Up to so many constraints are on the line of the verdict; more get a line each."""


def summary(report: Report, directory: Path) -> Iterator[str]:
    """Yield the lines that a satisfied run ends with."""
    content = report.to_dict()
    constraints = [constraint_line(each) for each in content["constraints"]]
    if len(constraints) <= IN_ONE_LINE:
        yield f"SATISFIED  {'; '.join(constraints)}"
    else:
        yield from ("SATISFIED", *(f"  {each}" for each in constraints))
    yield from (f"Warning: {warning}" for warning in content["warnings"])
    released, source, search = content["release"], content["input"], content["search"]
    if content["interrupted"]:
        yield f"Interrupted after {search['steps']:,} steps; this is the best release found so far"
    suppressed = released["suppressed_records"]
    applied = content.get("applied")
    if applied is not None:
        yield from append_line(applied, released["rows"])
    kept_suppressed = 0 if applied else released["rows"] - (source["rows"] - suppressed)
    kept = f"Kept {source['rows'] - suppressed:,} of {source['rows']:,} records"
    if kept_suppressed:
        kept += f"; {kept_suppressed:,} of the others kept with * in every quasi-identifier"
    yield f"{kept}; {content['config']['objective']['metric']} {search['objective']:.4g} ({proof(search)})"
    if search["best_possible"] is not None and search["best_possible"] != search["bound"]:
        yield f"Lower bound over all recodings with these hierarchies: {floored(search['best_possible'])}"
    yield from recoding_lines(content)
    yield from (f"Attack {line}" for line in attack_lines(content["attacks"]))
    yield from (f"Utility {utility_line(each)}" for each in content["utility"])
    yield "Release read back and verified."
    tables = [released, *([released["sensitive_table"]] if "sensitive_table" in released else [])]
    yield from files_to_share(
        [each["path"] for each in tables], content["config"]["output"], directory / "share"
    )
    yield f"Keep:  {directory.as_posix()}/    report.json  report.html  (internal)"


def append_line(applied: Mapping[str, Any], rows: int) -> Iterator[str]:
    """Yield the line about new records that were appended to an earlier release.

    >>> applied = {"rows_before": 900, "rows_added": 100, "recoding": "applied"}
    >>> next(append_line(applied, 1000))
    'Appended 100 new records (same recoding) to 900 released earlier: 1,000 records'
    """
    how = "same recoding" if applied["recoding"] == "applied" else "new recoding"
    before, added = applied["rows_before"], applied["rows_added"]
    yield f"Appended {added:,} new records ({how}) to {before:,} released earlier: {rows:,} records"


def utility_line(entry: Mapping[str, Any]) -> str:
    """Return a measure of utility with its values on the originals and on a release of `*` only.

    >>> entry = {"measure": "prediction", "value": 0.1234, "untouched": 0.5, "suppressed": 0, "details": {}}
    >>> utility_line(entry)
    'prediction: 0.123 (original data 0.5, all suppressed 0)'
    """
    of = entry["details"].get("predicted")
    title = entry["measure"] + (f" of {of}" if of else "")
    references = f"original data {entry['untouched']:.3g}, all suppressed {entry['suppressed']:.3g}"
    return f"{title}: {entry['value']:.3g} ({references})"


def files_to_share(tables: Sequence[str], output: Mapping[str, Any], share: Path) -> Iterator[str]:
    """Yield the files to share, with their folder."""
    if "table" in output:
        yield f"Give:  {tables[0]}    the table"
        yield f"       {share.as_posix()}/    report.public.json"
    else:
        names = "  ".join(Path(each).name for each in tables)
        yield f"Give:  {share.as_posix()}/    {names}  report.public.json"


def recoding_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield how the records were recoded: why this algorithm, the levels, the suppressed cells."""
    search, levels = content["search"], content["recoding"]["levels"]
    if search["chosen_because"]:
        yield f"Algorithm: {search['algorithm']} (chosen by auto: {'; '.join(search['chosen_because'])})"
    if levels is not None:
        yield "Levels: " + ", ".join(f"{name} {level}" for name, level in levels.items())
    cells = content["release"]["suppressed_cells"]
    if cells:
        yield f"Locally suppressed: {cells:,} cells"


def constraint_line(constraint: Mapping[str, Any]) -> str:
    """Return a constraint with its requested and its measured value."""
    name = constraint["model"] + (f"({constraint['attribute']})" if constraint["attribute"] else "")
    asked = " ".join(f"{key}={value}" for key, value in constraint["parameters"].items())
    measured = constraint["measured"]
    return f"{name} {asked}: {'not measured' if measured is None else f'measured {format_measure(measured)}'}"


def format_measure(measured: Any) -> str:
    """Return a measure with four significant digits."""
    if isinstance(measured, list):
        return ", ".join(format_measure(each) for each in measured)
    return f"{measured:.4g}" if isinstance(measured, float) else str(measured)


def proof(search: Mapping[str, Any]) -> str:
    """Return what is proven of the objective."""
    if search["optimal"]:
        return f"proven best of {search['candidates']:,}, {search['evaluated']:,} evaluated"
    if search["gap"] is None:
        return "not proven best"
    return f"not proven best: gap {100 * search['gap']:.1f} %"


SHOWN = ("target", "sensitive", "measure", "attribute", "linkage", "distance")
"""Entries of an attack's knowledge that its line shows."""

AIM = 30
"""Least width of the column that shows them."""


def attack_lines(entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield one line per attack with its success and baseline, in columns as wide as the longest needs.

    >>> known = {"attributes": ["age", "zip"], "sensitive": "illness"}
    >>> list(attack_lines([{"attack": "homogeneity", "knowledge": known, "success": 0.25, "baseline": 0.0,
    ...                     "low": 0.25, "high": 0.25}]))
    ['homogeneity      illness                          0.25   baseline 0']
    """
    wide = max((len(_aim(entry)) for entry in entries), default=0)
    for entry in entries:
        aim = f"{_aim(entry):{max(wide, AIM)}}"
        text = f"{entry['attack']:16} {aim} {entry['success']:6.4g}   baseline {entry['baseline']:.3g}"
        if entry["low"] != entry["high"]:
            text += f"   95% interval {entry['low']:.4g} to {entry['high']:.4g}"
        yield text


def _aim(entry: dict[str, Any]) -> str:
    """Return the target of an attack and its method."""
    return " ".join(str(entry["knowledge"][key]) for key in SHOWN if entry["knowledge"].get(key))
