"""The main job on a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.core.released import released
from anonymizer.core.report import Report
from anonymizer.engines.open import open_frame
from anonymizer.flow.prepare import engine_options, prepare
from anonymizer.flow.run import (
    UNWATCHED,
    Verified,
    Watch,
    attacks_of_run,
    refusal,
    release_facts,
    released_columns,
    report_parts,
    search,
)
from anonymizer.flow.verify import auditing, verify
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
        outcome = search(config, job, watch)
        facts = InputFacts(None, None, relation.rows, len(relation.columns))
        if outcome.recoding is None:
            raise refusal(config, job, outcome, facts, watch)
        promised = released(outcome.recoding, job.problem.k)
        columns = released_columns(config, relation)
        projection = project(relation, job.combination, outcome.recoding, columns)
        data = release_frame(relation, projection, frame, ROW_ORDERS[config.output.order.value])
        with auditing(), open_frame(data, options) as release:
            audited = verify(release, relation, job, promised, columns)
            attacks = attacks_of_run(config, job, outcome, release, watch)
    found = release_facts(None, promised, audited)
    parts = report_parts(config, job, outcome, facts, found, Verified(audited, attacks), all_losses(promised))
    return Result(data, build_report(parts))
