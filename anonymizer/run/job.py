"""The job: from the records of a source to a verified release in a sink."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.data.source import EngineOptions
from anonymizer.errors import ConfigError, ConfigProblem, InputError
from anonymizer.loss.base import all_losses
from anonymizer.model.report import Report
from anonymizer.report.build import build_report
from anonymizer.run.append import AppendSource
from anonymizer.run.assessment import Verified, assess
from anonymizer.run.engine import engine_options
from anonymizer.run.plan import Plan, plan_of
from anonymizer.run.prepare import UNWATCHED, RunMonitor, violated_constraints
from anonymizer.run.report import recoding_entry, release_facts, report_parts, write_reports
from anonymizer.run.result import ReportInputs, Result
from anonymizer.run.search import Task
from anonymizer.run.shape import Found, Shape, auditing
from anonymizer.run.sink import FrameSink, Sink, sink_of
from anonymizer.run.source import DataSource, FrameSource, input_source

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Finished:
    """A job that ended with a release.

    Attributes
    ----------
    found: what was published.
    """

    report: Report
    found: Found


class Job:
    """From records to a verified release.

    Parameters
    ----------
    options: for the engine that reads the records and the release.
    """

    def __init__(self, plan: Plan, options: EngineOptions, watch: RunMonitor = UNWATCHED) -> None:
        self._plan = plan
        self._options = options
        self._watch = watch

    def run(self, source: DataSource, sink: Sink) -> Finished:
        """Open, prepare, search, publish, verify by reading back, attack, report.

        Parameters
        ----------
        sink: gets the release once it is verified, or nothing.

        Raises
        ------
        InputError: the records are not as they should be.
        Infeasible: no release satisfies the constraints, or none was found in the budget.
        AuditFailed: what was written is not what the search promised.
        """
        watch = self._watch
        with source.opened(self._options, watch) as records:
            task = records.prepare(self._plan, watch)
            watch.phase(f"engine {task.prepared.engine.name}: {task.prepared.engine.because}")
            while True:
                found = task.find()
                verified = publish(task.plan, task.shape, found, sink, watch)
                broken = violated_constraints(found.prepared.constraints, verified.audited.measurements)
                if not broken:
                    break
                found.prepared.problem.gate.refuse(found.recoding, broken)
            report = reported(task, found, verified, sink, watch)
            records.relation.check_unchanged()
            sink.commit(lambda: watch.released(report))
        return Finished(report, found)


def publish(plan: Plan, shape: Shape, found: Found, sink: Sink, watch: RunMonitor) -> Verified:
    """Write a release, read it back, verify it and attack it; asked again, it replaces what was written.

    Raises
    ------
    AuditFailed: what was written is not what the search promised.
    """
    watch.phase("writing")
    with ExitStack() as stack:
        queries = shape.queries(found, sink.scratch)
        sink.write(queries)
        watch.phase("reading back and verifying")
        with auditing():
            tables = [stack.enter_context(table) for table in sink.read_back()]
            verified = assess(plan, shape, tables, found, watch)
            for query, table in zip(queries, tables, strict=True):
                query.check(table)
    return verified


def reported(task: Task, found: Found, verified: Verified, sink: Sink, watch: RunMonitor) -> Report:
    """Return the report of a verified release; the sink keeps it with the files that go with it."""
    release = release_facts(sink.titles, found, verified.audited)
    losses = all_losses(found.promised)
    parts = report_parts(task.plan, found.prepared, found.outcome, task.input, release, verified, losses)
    kept = task.stored(found) if sink.titles else None
    applied = task.entry(found)
    differing = [applied["difference"]] if applied and applied["difference"] else []
    warnings = [*parts.warnings, *differing]
    report = build_report(
        replace(parts, recoding_file=recoding_entry(kept), applied=applied, warnings=warnings)
    )
    watch.phase("drawing the report")
    k = found.prepared.problem.k
    sink.keep(lambda folder: write_reports(folder, report, task.facts(found, verified.audited), k, kept))
    return report


def run(config: Config, directory: Path, *, overwrite: bool = False, watch: RunMonitor = UNWATCHED) -> Report:
    """Search, write a release into a folder, read it back, and report.

    Parameters
    ----------
    directory: gets share/ with the release and its public report; report.json and report.html beside it.
    overwrite: whether an earlier release there may be replaced.

    Raises
    ------
    InputError: the config, the input, the output folder or the earlier run is not as it should be.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the written file is not what the search promised.
    """
    source = input_source(config) if config.apply is None else AppendSource(config)
    options, plan = engine_options(config), plan_of(config)
    with sink_of(config, plan, source, directory, options, overwrite=overwrite) as sink:
        return Job(plan, options, watch).run(source, sink).report


def anonymize_frame(
    frame: pandas.DataFrame, config: Config, watch: RunMonitor = UNWATCHED
) -> Result[pandas.DataFrame]:
    """Search, build a release, measure it again, and report.

    Raises
    ------
    InputError: the config does not fit the frame.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the release is not what the search promised.
    """
    if config.apply is not None:
        what = "goes on from a release in files, which a DataFrame does not; remove it, or use anonymizer run"
        raise ConfigError(config.source, [ConfigProblem("apply", what)])
    options = engine_options(config)
    if options.engine is not None:
        raise InputError(f"engine.name: {options.engine} reads files; for a DataFrame set memory or duckdb")
    sink = FrameSink(options)
    done = Job(plan_of(config), options, watch).run(FrameSource(frame), sink)
    prepared = done.found.prepared
    basis = ReportInputs(done.found.promised, prepared.constraints, prepared.problem.moving_reference)
    first, *others = sink.frames
    return Result(first, done.report, basis, *others)
