"""The report of a run, assembled, and the files written with the release: folder, reports, recoding.

It warns of ambiguous texts in the input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from anonymizer.config.attribute import Role
from anonymizer.data.csv import index_warnings
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Report
from anonymizer.model.table import COMMA, Column, ValueType
from anonymizer.profile.column_statistics import BLANKS, SAMPLE, differing_by_blanks, writing_of
from anonymizer.release.folder import PAGE, RECODING, ReleaseFolder
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
from anonymizer.report.distribution import smallest_shown
from anonymizer.report.facts import Facts
from anonymizer.report.page import page
from anonymizer.report.public import public_report
from anonymizer.run.assessment import Verified
from anonymizer.run.diagnose import Diagnosis
from anonymizer.run.earlier_release import StoredRecoding
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import Prepared
from anonymizer.run.shape import Audited, Found


def text_warnings(plan: Plan, columns: Sequence[Column]) -> list[str]:
    """Return which columns have values that differ by blanks, or numbers that are read as text.

    Values so few that their number could tell of somebody are not counted.
    """
    smallest = smallest_shown(plan.k)
    warnings = []
    for column in columns:
        if column.type is not ValueType.TEXT:
            continue
        differing = differing_by_blanks(column.present)
        if differing:
            number = f"{differing:,}" if differing >= smallest else "a few"
            warnings.append(f"column '{column.name}': {number} of its values differ {BLANKS}")
        if _is_read_as_text(column):
            warnings.append(
                f"column '{column.name}' holds numbers with decimal commas, which are read as text; "
                "set input.decimal to ','"
            )
    return warnings


def _is_read_as_text(column: Column) -> bool:
    """Tell whether the texts of a column, or of many of them some, are numbers in any case."""
    texts = column.present[:: len(column.present) // SAMPLE + 1]
    found = writing_of({column.name: [(text, 1) for text in texts]}, None)
    return column.numerals != COMMA and found.numerals == COMMA


BESIDE_THE_INPUT = "the database of the release holds the input too: hand over the table, never the database"


def release_facts(names: Sequence[str], found: Found, audited: Audited) -> ReleaseFacts:
    """Return what the report says of a verified release.

    Parameters
    ----------
    names: of its tables, none of a DataFrame.
    """
    second = audited.second
    path, other = (*names, None, None)[:2]
    return ReleaseFacts(
        path,
        audited.sha256,
        audited.rows,
        found.promised.suppressed,
        found.recoding.suppressed_cells,
        len(audited.sizes),
        verified=True,
        sensitive_table=None if second is None else SecondFile(other, second.sha256, second.rows),
    )


def report_parts(
    plan: Plan,
    prepared: Prepared,
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
        plan.shown,
        plan.described(prepared.problem.table),
        facts,
        release,
        SearchFacts(plan.algorithm.name, plan.seed),
        outcome,
        () if verified is None else verified.audited.measurements,
        losses,
        entries,
        [] if verified is None else [utility_entry(each.finding, each.seconds) for each in verified.utility],
        attack_matrix([each.model for each in prepared.constraints], entries, prepared.problem.k),
        warnings_of(plan, prepared),
        {"name": prepared.engine.name, "because": prepared.engine.because},
        None if diagnosis is None else diagnosis.to_dict(),
    )


def warnings_of(plan: Plan, prepared: Prepared) -> list[str]:
    """Return what a steward should look at again before handing the release over."""
    beside = [BESIDE_THE_INPUT] if plan.beside_the_input else []
    protected = {constraint.attribute for constraint in prepared.constraints}
    return (
        beside
        + [
            f"no constraint protects the sensitive attribute '{name}'; it is released as it is"
            for name in plan.with_role(Role.SENSITIVE)
            if name not in protected
        ]
        + index_warnings(prepared.encoded.relation.index_columns)
        + text_warnings(plan, [read.column for read in prepared.encoded.columns])
        + (group_warnings(plan) if plan.algorithm.in_groups else [])
    )


def group_warnings(plan: Plan) -> list[str]:
    """Return what a release in groups does not protect from, whatever its constraints say."""
    names = [each.model.name for each in plan.planned]
    asked = [name for name in names if name in ("k-anonymity", "alpha-k-anonymity")]
    warnings = [
        "the quasi-identifiers are published exact: the size of a group does not bound re-identification, "
        "which `vulnerability` and `uniqueness` measure on the exact values",
    ]
    if plan.seed_is_default:
        warnings.append(
            "the groups are drawn from the seed: whoever knows it and guesses all records can tell whether "
            "the guess is right; set one that nobody guesses (the default is 0), and keep it"
        )
    if asked:
        warnings.append(
            f"{asked[0]} holds for the groups: it says how many records share their values, "
            "not that these differ"
        )
    return warnings


def recoding_entry(kept: StoredRecoding | None) -> dict[str, Any] | None:
    """Return what the report says of recoding.json."""
    if kept is None:
        return None
    return {"path": RECODING, "sha256": hashlib.sha256(kept.encoded).hexdigest()}


def write_reports(
    folder: ReleaseFolder, report: Report, facts: Facts, k: int | None, kept: StoredRecoding | None
) -> None:
    """Write the page, the recipient's report, the recoding, and the internal report.

    Parameters
    ----------
    facts: what the page shows beside the report.
    k: of the config, which bounds what the recipient is told.
    """
    folder.internal(PAGE).write_text(page(report, facts), encoding="utf-8", newline="\n")
    folder.public_report.write_text(public_report(report, k).to_json(), encoding="utf-8", newline="\n")
    if kept is not None:
        folder.internal(RECODING).write_bytes(kept.encoded)
    folder.report.write_text(report.to_json(), encoding="utf-8", newline="\n")
