"""Made-up runs to compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from anonymizer.report.comparison import ComparedRun, Comparison, Measured, Risk, RunStatus

LINKAGE = "linkage nearest euclidean"


def counted(success: float, baseline: float = 0.0) -> Risk:
    """Return a risk without an interval."""
    return Risk(success, success, success, baseline)


def run(
    number: int,
    loss: float,
    risk: Risk | Mapping[str, Risk],
    settings: tuple[tuple[str, str], ...] = (),
    **losses: float | None,
) -> ComparedRun:
    """Return a run with a release."""
    risks = {LINKAGE: risk} if isinstance(risk, Risk) else dict(risk)
    own = Measured({"loss": loss, **losses}, risks, False, 0, 10, "lattice")
    overrides = (f"constraints.0.k={number}",)
    return ComparedRun(number, "lattice", settings, overrides, RunStatus.SATISFIED, 1.0, measured=own)


def without(number: int, status: RunStatus, reason: str = "why", bound: float | None = None) -> ComparedRun:
    """Return a run without a release."""
    return ComparedRun(number, "local", (), ("algorithm={name: local}",), status, 2.0, reason, bound)


def comparison(*runs: ComparedRun) -> Comparison:
    """Return a comparison of some runs."""
    return Comparison("desk/job.yaml", "people.csv", 60, 7, runs)


def of_every_kind() -> Comparison:
    """Return runs that are beaten and not, and that ended without a release for every reason."""
    settings = (("constraints.0.k", "2"),)
    return comparison(
        run(1, 0.1, Risk(0.2, 0.15, 0.25, 0.01), settings, ncp=0.3),
        run(2, 0.2, counted(0.1, 0.01), settings, ncp=0.2),
        run(3, 0.3, counted(0.26, 0.01), settings, ncp=0.4),
        replace(without(4, RunStatus.UNDECIDED, "the budget ended", 0.05), algorithm="mondrian"),
        without(5, RunStatus.INFEASIBLE, "no release <of> this family"),
        without(6, RunStatus.REFUSED, "value 'secret' is unknown"),
    )
