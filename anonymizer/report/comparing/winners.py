"""Which runs each measure by itself calls best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.report.comparing.pareto import DIGITS
from anonymizer.report.comparing.runs import ComparedRun, Measured


@dataclass(frozen=True)
class Winner:
    """The best runs by one measure.

    Attributes
    ----------
    measure: the loss metric or attack.
    value: the smallest.
    runs: numbers of those that have it, or cannot be told from those that do.
    of: how many runs have a value.
    note: why it says less than others; empty when it does not.
    """

    measure: str
    value: float
    runs: tuple[int, ...]
    of: int
    note: str = ""


def loss_winners(runs: Sequence[ComparedRun], varied: Sequence[str]) -> list[Winner]:
    """Return the best runs by each loss metric, and by query error, where some run has a value for it.

    Parameters
    ----------
    runs: all of them; those without a release have no value.
    varied: constraint parameters whose value is not the same in all runs.
    """
    measured = _measured(runs)
    found = []
    for name in measured[0][1].utilities if measured else ():
        values = {number: own.utilities[name] for number, own in measured}
        known = {number: round(value, DIGITS) for number, value in values.items() if value is not None}
        if not known:
            continue
        least = min(known.values())
        best = tuple(number for number, value in known.items() if value == least)
        found.append(Winner(name, least, best, len(known), _note(name, len(known), len(measured), varied)))
    return found


def _note(name: str, known: int, runs: int, varied: Sequence[str]) -> str:
    if name == "average_class_size" and "k" in varied:
        return "each run is divided by its own k"
    return f"only {known} of {runs} have it" if known < runs else ""


def attack_winners(runs: Sequence[ComparedRun], attacks: Sequence[str]) -> list[Winner]:
    """Return the runs that each attack reaches least on, and those whose interval meets theirs."""
    measured = _measured(runs)
    found = []
    for name in attacks:
        risks = {number: own.risks[name] for number, own in measured}
        least = min(risks.values(), key=lambda each: (each.success, each.high))
        best = tuple(number for number, risk in risks.items() if risk.overlaps(least))
        together = len(best) > 1 and any(risks[number].low < risks[number].high for number in best)
        note = "not distinguishable: their intervals overlap" if together else ""
        found.append(Winner(name, least.success, best, len(risks), note))
    return found


def disagreement(winners: Sequence[Winner], runs: int) -> str:
    """Return what measures that all runs can be compared by disagree about; empty when one run wins all."""
    fair = [each for each in winners if each.of == runs and not each.note.startswith("each run")]
    if not fair or set.intersection(*(set(each.runs) for each in fair)):
        return ""
    parts: dict[tuple[int, ...], list[str]] = {}
    for each in fair:
        parts.setdefault(each.runs, []).append(each.measure)
    return "; ".join(f"{numbered(best)} by {' and '.join(names)}" for best, names in parts.items())


def numbered(runs: Sequence[int]) -> str:
    """Return numbers of runs as a reader says them.

    >>> numbered([3]), numbered([1, 2, 5])
    ('3', '1, 2 and 5')
    """
    *most, last = map(str, runs)
    return f"{', '.join(most)} and {last}" if most else last


def _measured(runs: Sequence[ComparedRun]) -> list[tuple[int, Measured]]:
    return [(run.number, run.measured) for run in runs if run.measured is not None]
