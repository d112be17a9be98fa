"""The main job: from a config and a file to a verified release."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.flow.applying.kept import store_recoding
from anonymizer.flow.applying.run import run_applied
from anonymizer.flow.assemble import release_facts, report_parts
from anonymizer.flow.output import input_facts, recoding_entry, release_folder, watched_open, write_reports
from anonymizer.flow.prepare import Job, prepare
from anonymizer.flow.publication import publication_of
from anonymizer.flow.searching import search_until_verified
from anonymizer.flow.source import input_source
from anonymizer.flow.target import ReleaseTarget, release_target
from anonymizer.flow.verified import Verified, verified_release
from anonymizer.flow.verify import auditing
from anonymizer.flow.watch import UNWATCHED, RunMonitor
from anonymizer.loss.base import all_losses
from anonymizer.model.classes import Released
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Report
from anonymizer.report.build import build_report
from anonymizer.report.facts import gather


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
    with outcome.keeping_ends(), ExitStack() as stack:
        written = publication_of(config).publishable(config, job, relation, promised, outcome.ends)
        target.write(written)
        watch.phase("reading back and verifying")
        with auditing():
            tables = [stack.enter_context(table) for table in target.read_back()]
            verified = verified_release(config, job, relation, tables, found, watch)
            for each, table in zip(written, tables, strict=True):
                each.compare(table)
        return verified
