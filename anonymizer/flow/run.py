"""The main job: from a config and a file to a verified release."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from anonymizer.config.model import Config
from anonymizer.core.outcome import Outcome
from anonymizer.core.released import Released
from anonymizer.core.report import Report
from anonymizer.engines.base import Relation
from anonymizer.flow.assemble import release_facts, report_parts
from anonymizer.flow.attributes import hierarchy_files
from anonymizer.flow.prepare import Job, engine_options, prepare
from anonymizer.flow.publication import publication_of
from anonymizer.flow.searching import search_until_it_stands
from anonymizer.flow.source import DataSource, input_source
from anonymizer.flow.target import ReleaseTarget, release_target
from anonymizer.flow.verified import Verified, verified_release
from anonymizer.flow.verify import auditing
from anonymizer.flow.watch import UNWATCHED, Watch
from anonymizer.loss.all_metrics import all_losses
from anonymizer.release.existing import PAGE
from anonymizer.release.publish import ReleaseFolder
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts.gather import gather
from anonymizer.report.html.page import page
from anonymizer.report.public import public_report


def run(config: Config, directory: Path, *, overwrite: bool = False, watch: Watch = UNWATCHED) -> Report:
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
    source = input_source(config)
    with (
        _folder(config, directory, overwrite=overwrite) as folder,
        release_target(config, directory, folder, overwrite=overwrite) as target,
        _watched_open(config, source, watch) as relation,
    ):
        publication_of(config).check(config, relation)
        job = prepare(config, relation)
        facts = InputFacts(
            source.title, relation.sha256, relation.rows, len(relation.columns), relation.separator
        )

        def publish(outcome: Outcome, promised: Released) -> Verified:
            return _write_and_verify(config, job, relation, (outcome, promised), target, watch)

        outcome, promised, verified = search_until_it_stands(config, job, facts, watch, publish)
        release = release_facts(target.titles, promised, verified.audited)
        report = build_report(
            report_parts(config, job, outcome, facts, release, verified, all_losses(promised))
        )
        watch.phase("drawing the report")
        _write_reports(folder, report, job, promised)
        target.commit()
    return report


def _write_reports(folder: ReleaseFolder, report: Report, job: Job, promised: Released) -> None:
    facts = gather(promised, job.constraints, moving_reference=job.problem.moving_reference)
    folder.internal(PAGE).write_text(page(report, facts), encoding="utf-8")
    folder.public_report.write_text(public_report(report, job.problem.k).to_json(), encoding="utf-8")
    folder.report.write_text(report.to_json(), encoding="utf-8")


def _folder(config: Config, directory: Path, *, overwrite: bool) -> ReleaseFolder:
    names = () if config.output.path is None else publication_of(config).names(config.output.path)
    first, second = (*names, None, None)[:2]
    return ReleaseFolder(directory, first, _files_read(config), overwrite=overwrite, second_name=second)


def _files_read(config: Config) -> list[Path]:
    """Return every file that a run reads, none of which its output may replace."""
    own = [Path(config.source)] if Path(config.source).is_file() else []
    return [*input_source(config).files, *hierarchy_files(config), *own]


def _watched_open(config: Config, source: DataSource, watch: Watch) -> Relation:
    watch.phase(f"reading {source.title.rpartition('/')[2]}")
    return source.open(engine_options(config))


def _write_and_verify(
    config: Config,
    job: Job,
    relation: Relation,
    found: tuple[Outcome, Released],
    target: ReleaseTarget,
    watch: Watch,
) -> Verified:
    watch.phase("writing")
    target.write(relation, publication_of(config).projections(config, job, relation, found[1]))
    watch.phase("reading back and verifying")
    with auditing(), ExitStack() as stack:
        tables = [stack.enter_context(table) for table in target.read_back()]
        return verified_release(config, job, relation, tables, found, watch)
