"""The main job on a DataFrame."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.data.open import open_frame
from anonymizer.errors import ConfigError, ConfigProblem, InputError
from anonymizer.flow.assemble import release_facts, report_parts
from anonymizer.flow.engine import engine_options
from anonymizer.flow.prepare import prepare
from anonymizer.flow.publication import publication_of
from anonymizer.flow.result import ReportInputs, Result
from anonymizer.flow.searching import search_until_verified
from anonymizer.flow.verified import Verified, verified_release
from anonymizer.flow.verify import auditing
from anonymizer.flow.watch import UNWATCHED, RunMonitor
from anonymizer.loss.base import all_losses
from anonymizer.model.classes import Released
from anonymizer.model.outcome import Outcome
from anonymizer.release.formats import ROW_ORDERS
from anonymizer.release.query import release_frame
from anonymizer.report.build import InputFacts, build_report

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
    if options.spark is not None:
        raise InputError("engine.name: spark reads files; for a DataFrame set memory or duckdb")
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
