"""The last lines of a run: constraints, loss, the files to share and the files to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anonymizer.cli.table import column_lines
from anonymizer.cli.verdict import constraint_line
from anonymizer.errors import format_measure, plural
from anonymizer.model.invocation import RunCommand
from anonymizer.model.recoding import TELLING
from anonymizer.model.report import Report
from anonymizer.model.warning import Harm, harm_of, override_of
from anonymizer.report.exposure import (
    but_of,
    changes_made,
    findings_of,
    limits_reached,
    mended_lines,
    remedy_of_few,
    seen_of,
    unproven_end,
)
from anonymizer.report.preset import preset_lines
from anonymizer.report.public import recipient_warnings
from anonymizer.report.wording import (
    COARSE,
    LINKED_MORE,
    LOOK_AGAIN,
    STARRED,
    attack_sentence,
    beside_tables,
    best_of,
    by_unit,
    by_weights,
    exposed_sentence,
    floored,
    in_table,
    rejected_by_estimates,
    units_lost,
)

MOST_FINDINGS = 5
"""Findings about a release that follow the worst one."""

IN_ONE_LINE = 2
"""Maximum number of constraints on the line of the verdict; more get a line each."""


def summary(report: Report, directory: Path, command: RunCommand, *, columns: bool = False) -> Iterator[str]:
    """Yield the last lines of a run with a release, which a command started.

    Parameters
    ----------
    columns: whether the table of what the recipient sees follows the verdict.
    """
    content = report.to_dict()
    command = command.changed(*changes_made(content))
    yield from satisfied_lines(content, command)
    yield from preset_lines(content)
    yield from column_lines(content) if columns else ()
    yield from (*_seen_lines(content, command), *mended_lines(content))
    look_again = [each for each in content["warnings"] if each.startswith(LOOK_AGAIN)]
    yield from warning_lines(content, command, look_again)
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
    yield f"{kept}; {objective(content['config']['objective'], search)}"
    if (lost := units_lost(content.get("units"))) is not None:
        yield lost
    if _tells(search) and search["bound"] not in (None, search["best_possible"]):
        least = floored(search["best_possible"])
        own = f"The proof covers only recodings by {search['algorithm']}"
        yield f"{own}; other recodings with these hierarchies lose at least {least}"
    yield from recoding_lines(content)
    yield from (f"Attack {line}" for line in attack_lines(content["attacks"]))
    yield from (f"Utility {utility_line(each)}" for each in content["utility"])
    yield from advice_lines(content.get("advice"), command)
    yield "Release read back and verified."
    # Anybody sees columns without values in the release; an attack that succeeds takes a decision.
    if any(not each.startswith((STARRED, COARSE)) for each in look_again):
        yield "Before you share the files, read the verdict in report.html:"
    yield from (each for each in look_again if not each.startswith(LINKED_MORE))
    yield from files_to_share(content, directory / "share")
    yield from (f"       report.public.json warns: {warning}" for warning in recipient_warnings(content))
    yield _kept_line(content, directory)


def warning_lines(content: Mapping[str, Any], command: RunCommand, later: Sequence[str]) -> Iterator[str]:
    """Yield the warnings but for those that come later, each with the command that removes its cause.

    Where records are appended, the constraints are those of the earlier release.
    """
    for warning in (each for each in content["warnings"] if each not in later):
        yield f"{'Note' if harm_of(warning) is Harm.NOTE else 'Warning'}: {warning}"
        override = override_of(warning)
        if override is not None and content.get("applied") is None:
            yield f"  add one: {command.changed(override).replacing()}"


def _kept_line(content: Mapping[str, Any], directory: Path) -> str:
    """Return which files stay with the owner."""
    names = ["report.json", "report.html", *(["recoding.json"] if content.get("recoding_file") else [])]
    names += ["mended.yaml"] if changes_made(content) else []
    return f"Keep:  {directory.as_posix()}/    {'  '.join(names)}  (internal)"


def satisfied_lines(content: Mapping[str, Any], command: RunCommand) -> Iterator[str]:
    """Yield the verdict with the constraints, and a line for each scenario with its sentence.

    That an attacker links more than a constraint allows its own belongs to the verdict.
    """
    constraints = [constraint_line(each) for each in content["constraints"]]
    scenarios = content.get("scenarios", {})
    alike = unproven_end(content)
    if alike is not None:
        yield f"SATISFIED, BUT {alike}"
        yield from _longer(content, command)
        yield from (f"  also: {each['sentence']}" for each in findings_of(content)[:MOST_FINDINGS])
        yield from (f"  {each}" for each in constraints)
    elif but_of(content) is not None:
        yield from _but_lines(content["exposure"]["findings"], command)
        yield from (f"  {each}" for each in constraints)
    elif scenarios and not constraints:
        yield f"SATISFIED  {plural(len(scenarios), 'scenario')}"
    elif len(constraints) <= IN_ONE_LINE:
        yield f"SATISFIED  {'; '.join(constraints)}"
    else:
        yield from ("SATISFIED", *(f"  {each}" for each in constraints))
    yield from (each for each in content["warnings"] if each.startswith(LINKED_MORE))
    for name, scenario in scenarios.items():
        measured = "; ".join(constraint_line(each) for each in scenario["constraints"])
        yield f"  {name}: {scenario['sentence']} ({measured})"
    yield from (f"  {each['sentence']}" for each in content.get("three_questions", ()))


def _seen_lines(content: Mapping[str, Any], command: RunCommand) -> Iterator[str]:
    """Yield what acquaintances see, and what mends it that they find a few."""
    yield from seen_of(content)
    few = remedy_of_few(content)
    if few is not None:
        yield f"  mend: {_mend(few, command)}"


def _mend(remedy: Mapping[str, Any], command: RunCommand) -> object:
    """Return the command that mends what a release shows, in words if none does."""
    return command.changed(*remedy["set"]).replacing() if remedy["set"] else remedy["remedy"]


def _longer(content: Mapping[str, Any], command: RunCommand) -> Iterator[str]:
    """Yield the command with ten times the limits that ended the search, where some did."""
    changes = [f"budget.{name}={10 * value}" for name, value in limits_reached(content)]
    if changes:
        yield f"  mend: {command.changed(*changes).replacing()}"


def _but_lines(findings: Sequence[Mapping[str, Any]], command: RunCommand) -> Iterator[str]:
    """Yield the verdict with the worst finding, what mends it, and others."""
    worst, *others = findings
    yield f"SATISFIED, BUT {worst['sentence']}"
    yield f"  mend: {_mend(worst, command)}"
    yield from (f"  also: {each['sentence']}" for each in others[:MOST_FINDINGS])
    if len(others) > MOST_FINDINGS:
        yield f"  and {plural(len(others) - MOST_FINDINGS, 'more finding')} in report.html"


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
    """Return a utility measure with its values on the original data and on a release of `*` only.

    >>> entry = {"measure": "prediction", "value": 0.1234, "untouched": 0.5, "suppressed": 0, "details": {}}
    >>> utility_line(entry)
    'prediction: 0.123 (original data 0.5, all suppressed 0)'
    """
    of = entry["details"].get("predicted")
    title = entry["measure"] + (f" of {of}" if of else "")
    references = f"original data {entry['untouched']:.3g}, all suppressed {entry['suppressed']:.3g}"
    return f"{title}: {entry['value']:.3g} ({references})"


def advice_lines(advice: Mapping[str, Any] | None, command: RunCommand) -> Iterator[str]:
    """Yield the changes that gain most, each with its measured gain and the command that makes it.

    >>> change = {"change": "leave out zip", "left_out": ["zip"], "set": ["attributes.zip=drop"]}
    >>> change |= {"loss_before": 0.8, "loss_after": 0.5}
    >>> advice = {"measured_by": "mondrian", "records": 2000, "changes": [change]}
    >>> print(list(advice_lines(advice, RunCommand("a.yaml")))[1])
      leave out zip: loss 0.5 instead of 0.8 in the remaining columns
        anonymizer run a.yaml --set attributes.zip=drop --overwrite
    """
    if advice is None or not advice["changes"]:
        return
    how = f"a quick search ({advice['measured_by']}) on {advice['records']:,} records"
    yield f"What would lower the loss most, measured by {how}:"
    for each in advice["changes"]:
        loss = f"loss {each['loss_after']:g} instead of {each['loss_before']:g}"
        loss += " in the remaining columns" if each["left_out"] else ""
        yield f"  {each['change']}: {loss}\n    {command.changed(*each['set']).replacing()}"


def files_to_share(content: Mapping[str, Any], share: Path) -> Iterator[str]:
    """Yield the files to share, with their folder."""
    release, beside = content["release"], "  ".join(beside_tables(content))
    if in_table(content):
        yield f"Give:  {release['path']}    the table"
        yield f"       {share.as_posix()}/    {beside}"
    else:
        tables = [release, *([release["sensitive_table"]] if "sensitive_table" in release else [])]
        names = "  ".join(Path(each["path"]).name for each in tables)
        yield f"Give:  {share.as_posix()}/    {names}  {beside}"
    if content["config"].get("sign"):
        from anonymizer.commands.run import key_line  # noqa: PLC0415 - quick start-up

        yield f"       {key_line(share)}"


def tried_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the other algorithms that a search tried, with what they found and why that is not the release.

    >>> steps = [
    ...     {"candidate": {"algorithm": "mondrian"}, "objective": 0.125, "seconds": 4.12, "failed": []},
    ...     {"candidate": {"algorithm": "lattice"}, "objective": None, "seconds": 0.3, "failed": ["a"]},
    ... ]
    >>> for line in tried_lines({"steps": steps, "search": {"objective": 0.117}}):
    ...     print(line)
      tried: mondrian, loss 0.125 in 4.1 s, more than the release
      tried: lattice, a in 0.3 s
    """
    for step in (each for each in content["steps"] if "seconds" in each):
        name, failed = step["candidate"]["algorithm"], "; ".join(step["failed"])
        took = f"{step['seconds']:.1f}"
        if step["objective"] is None:
            yield f"  tried: {name}, {failed} in {took} s"
            continue
        same = step["objective"] <= content["search"]["objective"] * (1 + 1e-9)
        why = f"which breaks {failed}" if failed else "the release" if same else "more than the release"
        yield f"  tried: {name}, loss {format_measure(step['objective'])} in {took} s, {why}"


def recoding_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield how the records were recoded: why this algorithm, the levels, the suppressed cells."""
    search, levels = content["search"], content["recoding"]["levels"]
    if search["chosen_because"]:
        yield f"Algorithm: {search['algorithm']} (chosen by auto: {'; '.join(search['chosen_because'])})"
        yield from tried_lines(content)
    if levels is not None:
        yield "Levels: " + ", ".join(f"{name} {level}" for name, level in levels.items())
    cells = content["release"]["suppressed_cells"]
    if cells:
        yield f"Locally suppressed: {cells:,} cells"


def objective(settings: Mapping[str, Any], search: Mapping[str, Any]) -> str:
    """Return the loss of a release, and how much less the best one can lose.

    >>> found = {"objective": 0.403, "optimal": False, "bound": None, "best_possible": 0.1}
    >>> objective({"metric": "loss"}, found)
    'loss 0.403 of 1; the best possible is between 0.1 and 0.403'
    >>> objective({"metric": "loss", "weights": "w"}, found | {"best_possible": None})
    "loss 0.403 of 1 by the sampling weights in column 'w'; how much lower the best possible is, is not known"
    >>> objective({"metric": "loss", "unit": "person"}, found)
    'loss 0.403 of 1 with each person counted once; the best possible is between 0.1 and 0.403'
    """
    metric = settings["metric"]
    found = f"{search['objective']:.4g}"
    own = f"{metric} {found}{' of 1' if metric == 'loss' else ''}"
    own += f" {by_unit(settings['unit'])}" if settings.get("unit") else ""
    own += f" {by_weights(settings['weights'])}" if settings.get("weights") else ""
    if search["optimal"]:
        return f"{own}, proven best of {best_of(search)}"
    if search["bound"] is not None:
        between = f"{own}; the best recoding of this kind is between {floored(search['bound'])} and {found}"
        return f"{between}{rejected_by_estimates(search)}"
    if _tells(search):
        return f"{own}; the best possible is between {floored(search['best_possible'])} and {found}"
    return f"{own}; how much lower the best possible is, is not known"


def _tells(search: Mapping[str, Any]) -> bool:
    least, own = search["best_possible"], search["objective"]
    return least is not None and bool(least > TELLING * own)


def attack_lines(entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each result of an attack.

    >>> known = {"attributes": ["age", "zip"], "target": "re-identification"}
    >>> list(attack_lines([{"attack": "vulnerability", "knowledge": known, "success": 0.151,
    ...                     "baseline": 0.0002, "low": 0.151, "high": 0.151}]))
    ["vulnerability: An adversary who knows a person's age and zip finds the right record in 15.1 % of \
cases; by chance 0.02 %."]
    """
    for entry in entries:
        said = f"{entry['attack']}: {attack_sentence(entry)} {exposed_sentence(entry)}"
        yield said.rstrip().replace("\xa0", " ")
