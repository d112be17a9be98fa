"""A run: it reads, searches, writes, verifies and reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.data.source import EngineOptions
from anonymizer.job.advice import advice_of
from anonymizer.job.assessment import Verified, assess
from anonymizer.job.clock import UNWATCHED, Phase, PhaseClock, RunMonitor
from anonymizer.job.columns import columns_entry, describer_of, seen_columns
from anonymizer.job.constraints import violated_constraints
from anonymizer.job.exposure import (
    UNMEASURED,
    exposure_entry,
    exposure_in,
    refuse_exposed,
    unused_warnings,
)
from anonymizer.job.preset import preset_entry, refuse_departing
from anonymizer.job.report import (
    Shared,
    recoding_entry,
    release_facts,
    release_warnings,
    report_parts,
    write_reports,
)
from anonymizer.job.search import Task
from anonymizer.job.sinks import Sink
from anonymizer.job.source import DataSource
from anonymizer.job.table import check_marker
from anonymizer.job.verify import Shape, auditing
from anonymizer.loss.base import all_losses, losses_over, weighted_losses
from anonymizer.model.report import Report
from anonymizer.people.released import shares_of_persons
from anonymizer.people.warnings import key_warnings
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found
from anonymizer.report.build import build_report


@dataclass(frozen=True, eq=False)
class Finished:
    """A job that ended with a release: its report, and the recoding that was published."""

    report: Report
    found: Found


@dataclass(frozen=True)
class Terms:
    """On which terms a release is made, beside its config.

    Attributes
    ----------
    refuses: returns whether a release that shows too much beyond its constraints is refused.
    mended: what was changed in the config for what earlier releases of it showed, as entries of the report;
        None where nobody asked for that.
    """

    refuses: Callable[[Report], bool] = lambda _: False
    mended: Sequence[Mapping[str, Any]] | None = None

    def entries(self, loss: float | None) -> list[dict[str, Any]] | None:
        """Return what was mended, with the loss that it came to.

        Parameters
        ----------
        loss: of the release.
        """
        if self.mended is None:
            return None
        return [{"loss_after": loss, **each} for each in self.mended]


USUAL = Terms()


class Job:
    """From records to a verified release.

    Parameters
    ----------
    options: of the engine that reads the records and the release.
    """

    def __init__(
        self, plan: Plan, options: EngineOptions, watch: RunMonitor = UNWATCHED, terms: Terms = USUAL
    ) -> None:
        self._plan = plan
        self._options = options
        self._terms = terms
        self._watch = replace(watch, clock=PhaseClock())

    def run(self, source: DataSource, sink: Sink) -> Finished:
        """Open, prepare, search, publish, read back and verify, attack, report.

        Parameters
        ----------
        sink: receives the release if it is verified, otherwise nothing.

        Raises
        ------
        InputError: the records do not fit the config.
        Infeasible: no release satisfies the constraints, or none was found in the budget.
        AuditFailed: the written release differs from the one that was found.
        Exposed: the release shows too much beyond its constraints, and the terms refuse it.
        """
        watch = self._watch
        with source.task(self._plan, self._options, watch) as task:
            watch.phase(f"engine {task.prepared.engine}: {task.prepared.counted.because}")
            while True:
                found = task.find()
                verified = publish(task.shape, found, sink, watch)
                violated = violated_constraints(found.prepared.constraints, verified.audited.measurements)
                if not violated:
                    break
                found.prepared.problem.gate.refuse(found.recoding, violated)
            report = reported(task, found, verified, sink, watch, self._terms)
            if self._terms.refuses(report):
                refuse_exposed(report)
                refuse_departing(report)
            task.prepared.encoded.relation.check_unchanged()
            sink.commit(lambda: watch.released(report))
        return Finished(report, found)


def publish(shape: Shape, found: Found, sink: Sink, watch: RunMonitor) -> Verified:
    """Write a release, read it back, verify it and attack it; a second call replaces the first release.

    Raises
    ------
    AuditFailed: the written release differs from the one that was found.
    """
    watch.begin(Phase.WRITE, "writing")
    with ExitStack() as stack:
        plan = found.prepared.plan
        for column in found.recoding.merged.published() if plan.target.marker is not None else ():
            check_marker(plan.config, plan.target, column.name, column.labels)
        queries = shape.queries(found, sink.scratch)
        sink.write(queries, found.prepared.encoded.relation)
        watch.begin(Phase.VERIFY, "reading back and verifying")
        with auditing(sink.named):
            read = [stack.enter_context(table) for table in sink.read_back()]
            tables = [shape.read(table, found) for table in read]
            verified = assess(shape, tables, found, watch)
            for query, table in zip(queries, read, strict=True):
                query.check(table)
            watch.begin(Phase.EXPOSE, "measuring what the columns of the release show together")
            # It is told the values of columns while these are counted; only files are described.
            describer = describer_of(found, read, sink.dialect) if sink.titles else None
            verified = replace(
                verified,
                exposure=exposure_in(found, read),
                columns=seen_columns(found, tables, describer.tell if describer else lambda *_: None),
                preset=preset_entry(plan, read, verified.audited),
                described=describer.columns() if describer else (),
            )
    return verified


def reported(
    task: Task, found: Found, verified: Verified, sink: Sink, watch: RunMonitor, terms: Terms
) -> Report:
    """Return the report of a verified release, and write all reports to the sink."""
    watch.begin(Phase.ADVISE, "measuring the loss and what would lower it")
    parts = report_parts(found.prepared, found.outcome, task.input, verified)
    kept = task.stored(found) if sink.titles else None
    applied = task.entry(found)
    differing = [applied["difference"]] if applied and applied["difference"] else []
    useless = [] if applied else release_warnings(found)
    plan = found.prepared.plan
    exposure = (
        None
        if verified.exposure is None
        else exposure_entry(plan, verified.exposure, terms.entries(found.outcome.objective))
    )
    parts = replace(
        parts,
        release=release_facts(sink.titles, sink.dialect, found, verified),
        loss=all_losses(found.promised),
        warnings=[
            *key_warnings(found.prepared, found.recoding),
            *parts.warnings,
            *differing,
            *([] if exposure else [UNMEASURED]),
            *unused_warnings(verified.exposure),
            *useless,
        ],
        further={
            **parts.further,
            "recoding_file": recoding_entry(kept),
            "applied": applied,
            "advice": None if applied else advice_of(found, watch.stopped),
            "exposure": exposure,
            "columns": columns_entry(plan.goal, plan.assessment, verified.columns, verified.exposure),
            "preset": verified.preset,
            "weighted_loss": weighted_loss(found),
            "unit_loss": unit_loss(found),
        },
    )
    report = build_report(replace(parts, seconds=watch.clock.so_far()))
    watch.phase("drawing the report")
    k = plan.goal.k_of_reports
    shared = Shared(verified.described, k)
    sink.keep(lambda folder: write_reports(folder, report, task.facts(found, verified.audited), shared, kept))
    return report


def weighted_loss(found: Found) -> dict[str, Any] | None:
    """Return the ``weighted_loss`` entry of the report; None where losses are not by sampling weights."""
    sampling, people = found.prepared.problem.table.sampling, found.prepared.people
    if sampling is None or people is None or sampling.unit is not None:
        return None
    return {
        "weights": sampling.name,
        "people": float(people),
        **weighted_losses(found.promised),
    }


def unit_loss(found: Found) -> dict[str, Any] | None:
    """Return the ``unit_loss`` entry of the report: the losses over persons, or over the objective's unit.

    None where there are none, or where it is not known which record is in which row of the release.
    """
    prepared, plan = found.prepared, found.prepared.plan
    if plan.counting.loss_unit is not None and prepared.people is not None:
        # Rounded weights add up to the number of units but for less than one half.
        own = weighted_losses(found.promised)
        return {"unit": plan.counting.loss_unit, "units": round(prepared.people), **own}
    shares = None if plan.columns.applied else shares_of_persons(prepared, found.recoding)
    if shares is None:
        return None
    return {**shares[1], **losses_over(found.recoding, shares[0])}
