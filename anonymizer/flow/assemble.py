"""What a report is made of, gathered."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.data.csv import index_warnings
from anonymizer.flow.attributes import describe_attributes
from anonymizer.flow.diagnose import Diagnosis
from anonymizer.flow.prepare import Job
from anonymizer.flow.publication import publication_of
from anonymizer.flow.target import writes_beside_the_input
from anonymizer.flow.texts import text_warnings
from anonymizer.flow.verified import Verified
from anonymizer.flow.verify import Audited, SecondTable
from anonymizer.model.classes import Released
from anonymizer.model.outcome import Outcome
from anonymizer.report.build import (
    InputFacts,
    ReleaseFacts,
    ReportParts,
    SearchFacts,
    SecondFile,
    attack_entry,
    attack_matrix,
    utility_entry,
)

BESIDE_THE_INPUT = "the database of the release holds the input too: hand over the table, never the database"


def release_facts(names: Sequence[str], promised: Released, audited: Audited) -> ReleaseFacts:
    """Return what the report says of a verified release.

    Parameters
    ----------
    names: paths of its files, none of a DataFrame.
    """
    second = audited.second
    return ReleaseFacts(
        names[0] if names else None,
        audited.sha256,
        audited.rows,
        promised.suppressed,
        promised.recoding.suppressed_cells,
        audited.classes,
        verified=True,
        sensitive_table=None if second is None else _second_file(names, second),
    )


def _second_file(names: Sequence[str], second: SecondTable) -> SecondFile:
    return SecondFile(names[1] if names else None, second.sha256, second.rows)


def report_parts(
    config: Config,
    job: Job,
    outcome: Outcome,
    facts: InputFacts,
    release: ReleaseFacts,
    verified: Verified | None,
    losses: dict[str, float | None],
    diagnosis: Diagnosis | None = None,
) -> ReportParts:
    """Gather what a report is made of."""
    attacks = [] if verified is None else verified.attacks
    entries = [attack_entry(each.finding, each.seconds) for each in attacks]
    return ReportParts(
        config.to_dict(),
        describe_attributes(config, job.problem.table),
        facts,
        release,
        SearchFacts(config.algorithm.name, config.seed),
        outcome,
        () if verified is None else verified.audited.measurements,
        losses,
        entries,
        [] if verified is None else [utility_entry(each.finding, each.seconds) for each in verified.utility],
        attack_matrix([each.model for each in job.constraints], entries, job.problem.k),
        warnings_of(config, job),
        {"name": job.engine.name, "because": job.engine.because},
        None if diagnosis is None else diagnosis.to_dict(),
    )


def warnings_of(config: Config, job: Job) -> list[str]:
    """Return what a steward should look at again before handing the release over."""
    beside = [BESIDE_THE_INPUT] if writes_beside_the_input(config) else []
    protected = {constraint.attribute for constraint in job.constraints}
    return (
        beside
        + [
            f"no constraint protects the sensitive attribute '{name}'; it is released as it is"
            for name in config.with_role(Role.SENSITIVE)
            if name not in protected
        ]
        + index_warnings(job.encoded.relation.unmatched_columns)
        + text_warnings(config, [read.column for read in job.encoded.columns])
        + publication_of(config).warnings(config)
    )
