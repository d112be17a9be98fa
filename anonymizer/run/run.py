"""The main job: from a config and a file or DataFrame to a verified release."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.data.open import open_frame
from anonymizer.data.relation import Relation
from anonymizer.errors import ConfigError, ConfigProblem, InputError
from anonymizer.loss.base import all_losses
from anonymizer.model.classes import Released
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Report
from anonymizer.release.formats import ROW_ORDERS
from anonymizer.release.query import release_frame
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts import gather
from anonymizer.run.append import run_applied
from anonymizer.run.assessment import Verified, verified_release
from anonymizer.run.earlier_release import store_recoding
from anonymizer.run.engine import engine_options
from anonymizer.run.job import UNWATCHED, Job, RunMonitor, prepare
from anonymizer.run.publication import publication_of
from anonymizer.run.report import (
    input_facts,
    recoding_entry,
    release_facts,
    release_folder,
    report_parts,
    watched_open,
    write_reports,
)
from anonymizer.run.result import ReportInputs, Result
from anonymizer.run.search import search_until_verified
from anonymizer.run.source import input_source
from anonymizer.run.target import ReleaseTarget, release_target
from anonymizer.run.verify import auditing

if TYPE_CHECKING:
    import pandas


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
    publication = publication_of(config)
    with open_frame(frame, options) as relation:
        publication.check(config, relation)
        job = prepare(config, relation)
        watch.phase(f"engine {job.engine.name}: {job.engine.because}")
        facts = InputFacts(None, None, relation.rows, len(relation.columns))
        built: list[pandas.DataFrame] = []

        def publish(outcome: Outcome, promised: Released) -> Verified:
            order = ROW_ORDERS[config.output.order.value]
            projections = publication.projections(config, job, relation, promised)
            built[:] = [release_frame(relation, each, frame, order) for each in projections]
            with auditing(), ExitStack() as stack:
                tables = [stack.enter_context(open_frame(each, options)) for each in built]
                return verified_release(config, job, relation, tables, (outcome, promised), watch)

        outcome, promised, verified = search_until_verified(config, job, facts, watch, publish)
    found = release_facts([], promised, verified.audited)
    parts = report_parts(config, job, outcome, facts, found, verified, all_losses(promised))
    basis = ReportInputs(promised, job.constraints, job.problem.moving_reference)
    return Result(built[0], build_report(parts), basis, *built[1:])


def run(config: Config, directory: Path, *, overwrite: bool = False, watch: RunMonitor = UNWATCHED) -> Report:
    """Search, write a release into a folder, read it back, and report.

    Parameters
    ----------
    directory: gets share/ with the release and its public report; report.json and report.html beside it.
    overwrite: whether an earlier release there may be replaced.

    Raises
    ------
    InputError: the config, the input or the output folder is not as it should be.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the written file is not what the search promised.
    """
    if config.apply is not None:
        return run_applied(config, directory, overwrite=overwrite, watch=watch)
    source = input_source(config)
    with (
        release_folder(config, directory, overwrite=overwrite) as folder,
        release_target(config, directory, folder, overwrite=overwrite) as target,
        watched_open(config, source, watch) as relation,
    ):
        publication_of(config).check(config, relation)
        job = prepare(config, relation)
        watch.phase(f"engine {job.engine.name}: {job.engine.because}")
        facts = input_facts(source, relation)

        def publish(outcome: Outcome, promised: Released) -> Verified:
            return _write_and_verify(config, job, relation, (outcome, promised), target, watch)

        outcome, promised, verified = search_until_verified(config, job, facts, watch, publish)
        release = release_facts(target.titles, promised, verified.audited)
        kept = store_recoding(config, job, outcome)
        parts = report_parts(config, job, outcome, facts, release, verified, all_losses(promised))
        report = build_report(replace(parts, recoding_file=recoding_entry(kept)))
        watch.phase("drawing the report")
        shown = gather(promised, job.constraints, moving_reference=job.problem.moving_reference)
        write_reports(folder, report, shown, job, kept)
        relation.check_unchanged()
        target.commit(lambda: watch.released(report))
    return report


def _write_and_verify(
    config: Config,
    job: Job,
    relation: Relation,
    found: tuple[Outcome, Released],
    target: ReleaseTarget,
    watch: RunMonitor,
) -> Verified:
    watch.phase("writing")
    outcome, promised = found
    with ExitStack() as stack:
        written = publication_of(config).publishable(config, job, relation, promised, outcome.ends)
        target.write(written)
        watch.phase("reading back and verifying")
        with auditing():
            tables = [stack.enter_context(table) for table in target.read_back()]
            verified = verified_release(config, job, relation, tables, found, watch)
            for each, table in zip(written, tables, strict=True):
                each.compare(table)
        return verified
