"""The main job on a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.core.outcome import Outcome
from anonymizer.core.released import Released
from anonymizer.core.report import Report
from anonymizer.engines.open import open_frame
from anonymizer.flow.prepare import engine_options, prepare
from anonymizer.flow.run import (
    Verified,
    release_facts,
    released_columns,
    report_parts,
    search_until_it_stands,
    verified_release,
)
from anonymizer.flow.verify import auditing
from anonymizer.flow.watch import UNWATCHED, Watch
from anonymizer.loss.all_metrics import all_losses
from anonymizer.release.order import ROW_ORDERS
from anonymizer.release.write import project, release_frame
from anonymizer.report.build import InputFacts, build_report

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Result:
    """A release in memory.

    Attributes
    ----------
    data: the released records, with a new index; recoded columns are text, the others keep their type.
    report: what report.json would hold; paths and hashes of files are None.
    """

    data: pandas.DataFrame
    report: Report


def anonymize_frame(frame: pandas.DataFrame, config: Config, watch: Watch = UNWATCHED) -> Result:
    """Search, build a release, measure it again, and report.

    Raises
    ------
    InputError: the config does not fit the frame.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the release is not what the search promised.
    """
    options = engine_options(config)
    with open_frame(frame, options) as relation:
        job = prepare(config, relation)
        facts = InputFacts(None, None, relation.rows, len(relation.columns))

        built: list[pandas.DataFrame] = []

        def publish(outcome: Outcome, promised: Released) -> Verified:
            columns = released_columns(config, relation)
            projection = project(relation, job.combination, promised.recoding, columns)
            data = release_frame(relation, projection, frame, ROW_ORDERS[config.output.order.value])
            built.append(data)
            with auditing(), open_frame(data, options) as release:
                return verified_release(config, job, relation, release, (outcome, promised), watch)

        outcome, promised, verified = search_until_it_stands(config, job, facts, watch, publish)
    found = release_facts(None, promised, verified.audited)
    parts = report_parts(config, job, outcome, facts, found, verified, all_losses(promised))
    return Result(built[-1], build_report(parts))
