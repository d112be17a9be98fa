"""What a release shows beyond its constraints, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.errors import format_measure, plural
from anonymizer.exposure.detector import Said, named
from anonymizer.exposure.finding import ROWS_ARE_PERSONS, Exposure, Finding
from anonymizer.model.recoding import Status
from anonymizer.report.small_counts import masked_count
from anonymizer.report.wording import percent


def said_of(finding: Finding, exposure: Exposure, smallest: int) -> Said:
    """Return the numbers of a finding in words; smaller ones than ``smallest`` are masked."""
    number = masked_count(finding.records, smallest, exposure.units)
    of = f"{number} of {plural(exposure.units, exposure.unit)}"
    return Said(number, of, percent(finding.share), plural(exposure.k, exposure.unit))


def seen_by_acquaintances(exposure: Exposure, smallest: int) -> str | None:
    """Return what somebody sees who also knows the insensitive columns; None where there are none to know."""
    if not exposure.beside:
        return None
    unique, below = (
        masked_count(each, smallest, exposure.units) for each in (exposure.unique, exposure.below_k)
    )
    few, unit = plural(exposure.k, exposure.unit), plural(exposure.units, exposure.unit)
    return (
        f"Who also knows {named(exposure.beside)} finds {unique} of {unit} unique, and {below} in groups of "
        f"fewer than {few}."
    )


def read_findings(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each finding that somebody has read, with the reason and the name."""
    for each in content["config"].get("acknowledge") or ():
        own = each if isinstance(each, Mapping) else {"finding": each}
        said = "; ".join(own[key] for key in ("because", "by") if own.get(key))
        reason = f" ({said})" if said else ""
        if own["finding"] != ROWS_ARE_PERSONS:
            yield f"Acknowledged: {own['finding']}{reason}."


def findings_of(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the findings about a release that exceed their thresholds, the worst first."""
    findings: Sequence[Mapping[str, Any]] = content.get("exposure", {}).get("findings", ())
    return findings


def but_of(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the worst finding about a release; None if none exceeds its threshold."""
    return next(iter(findings_of(content)), None)


def seen_of(content: Mapping[str, Any]) -> list[str]:
    """Return the sentence of ``seen_by_acquaintances`` in a report, if it has one."""
    own = content.get("exposure", {}).get("sentence")
    return [own] if own else []


def remedy_of_few(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what mends the sentence of ``seen_of`` in a report; None if nothing need, or a finding does."""
    found: Mapping[str, Any] | None = content.get("exposure", {}).get("mend")
    return found if seen_of(content) else None


def mended_of(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return what was changed in the config for what earlier releases showed, as entries of a report."""
    entries: Sequence[Mapping[str, Any]] = content.get("exposure", {}).get("mended") or ()
    return entries


def changes_made(content: Mapping[str, Any]) -> list[str]:
    """Return the overrides of the config that are in a release."""
    return [change for each in mended_of(content) if "taken_back" not in each for change in each["set"]]


def mended_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was changed, why, and what it cost, a line for each finding that was mended."""
    entries = mended_of(content)
    for number in sorted({each["round"] for each in entries}):
        own = [each for each in entries if each["round"] == number]
        for each in own:
            lead = "Not mended" if "taken_back" in each else "Mended"
            yield f"{lead}: {each['change']}, as {each['finding']}"
        first = own[0]
        if "taken_back" in first:
            yield f"  with this, no release was possible: {first['taken_back']}"
        else:
            yield f"  loss {_loss(first['loss_after'])} in place of {_loss(first['loss_before'])}"


def _loss(loss: float | None) -> str:
    """Return a loss, which a run ended by a budget may not have, as text."""
    return "unknown" if loss is None else format_measure(loss)


def unproven_end(content: Mapping[str, Any]) -> str | None:
    """Return the sentence about a release in which all records are alike; None where nothing better exists.

    >>> search = {"optimal": False, "seconds": 1.2, "steps": 3, "evaluated": 3}
    >>> content = {"loss": {"loss": 1.0}, "release": {"classes": 1}, "search": search}
    >>> unproven_end(content | {"config": {"budget": {"seconds": 1}}})
    'all records are published alike, as nothing better was found within the budget'
    """
    if content["release"]["classes"] != 1 or content["loss"]["loss"] == 0 or content["search"]["optimal"]:
        return None
    if content.get("applied") is not None:
        # Its recoding was given.
        return None
    where = " within the budget" if limits_reached(content) else ""
    return f"all records are published alike, as nothing better was found{where}"


SPENT = 0.9
"""Part of a limit of time from which on a search is taken to have ended by it."""


def limits_reached(content: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the limits of the budget that a search has reached, with their values.

    Processor time is not in a report, so that its limit is taken to be reached after half as many seconds.
    """
    search, budget = content["search"], content["config"].get("budget") or {}
    used = {
        "seconds": search["seconds"] / SPENT,
        "cpu_seconds": 2 * search["seconds"] / SPENT,
        "nodes": search["evaluated"],
        "steps": search["steps"],
    }
    limits = ((name, value) for name, value in budget.items() if value is not None)
    return [(name, value) for name, value in limits if used[name] >= value]


def in_one_line(content: Mapping[str, Any]) -> str:
    """Return the verdict of a report in the words of the first line of a run."""
    if content["status"] != Status.SATISFIED:
        return "NOT SATISFIED"
    alike, worst = unproven_end(content), but_of(content)
    if alike is not None:
        return f"SATISFIED, BUT {alike}"
    return "SATISFIED" if worst is None else f"SATISFIED, BUT {worst['sentence']}"
