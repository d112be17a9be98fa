"""The report of a run with its warnings, and the files written next to the release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from anonymizer.config.written import flow
from anonymizer.data.relation import Relation
from anonymizer.data.source import CsvDialect
from anonymizer.exposure.finding import ROWS_ARE_PERSONS
from anonymizer.hierarchy.auto import AutoSource
from anonymizer.hierarchy.order import OrderSource
from anonymizer.job.assessment import NOT_VERIFIED, Verified
from anonymizer.job.diagnose import Diagnosis
from anonymizer.job.verify import numbers_entry, numbers_of
from anonymizer.model.dates import ISO_FORM, date_remedy, reading_of
from anonymizer.model.recoding import Outcome
from anonymizer.model.report import Report, metadata_name
from anonymizer.model.table import COMMA, Column, Role, ValueType
from anonymizer.model.units import PERSON
from anonymizer.model.warning import Harm, Warned, with_harm
from anonymizer.people.keys import keys_by_name
from anonymizer.people.population import population_facts
from anonymizer.people.released import unit_facts
from anonymizer.people.warnings import records_warnings, released_key_warnings, unit_warnings
from anonymizer.people.weights import rounding_warnings
from anonymizer.plan.columns import Columns
from anonymizer.plan.goal import Goal
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found, Prepared
from anonymizer.profile.column_statistics import (
    SAMPLE,
    measure_column,
    uneven_codes,
    weight_warnings,
    writing_of,
)
from anonymizer.profile.spellings import (
    key_warnings,
    padding_warnings,
    sensitive_warnings,
    unused_code_warnings,
)
from anonymizer.release.folder import (
    CODEBOOK,
    LEGEND,
    PAGE,
    PUBLIC_REPORT,
    RECODING,
    ReleaseFolder,
)
from anonymizer.release.recoding import StoredRecoding
from anonymizer.report.build import (
    InputFacts,
    ReleaseFacts,
    ReportParts,
    attack_entry,
    attack_matrix,
    utility_entry,
)
from anonymizer.report.codebook import codebook
from anonymizer.report.csvw import csvw_texts
from anonymizer.report.described import DescribedColumn
from anonymizer.report.facts import Facts, useless_columns
from anonymizer.report.legend import legend
from anonymizer.report.page import page
from anonymizer.report.public import public_report
from anonymizer.report.scenarios import of_all_knowledge, scenario_entries
from anonymizer.report.small_counts import smallest_shown
from anonymizer.report.wording import useless_warnings


def text_warnings(planned: Columns, goal: Goal, columns: Sequence[Column]) -> list[str]:
    """Return warnings about texts that may not mean what they are read as.

    Small counts, which could disclose a person, are replaced by words.
    """
    smallest = smallest_shown(goal.k_of_reports)
    warnings: list[str] = []
    for column in columns:
        dates = planned[column.name].dates
        if column.type is ValueType.DATE and (other := dates.swapped(column.present)) is not None:
            what = (
                f"column '{column.name}' is read as {dates}, and {other} fits all its values, too; "
                "check whether day or month comes first"
            )
            warnings.append(Warned(what, Harm.DATA))
        if column.type is not ValueType.TEXT:
            continue
        if planned[column.name].role is Role.SENSITIVE:
            warnings += sensitive_warnings(column, smallest)
        hierarchy = planned[column.name].hierarchy
        masked = hierarchy is not None and hierarchy.source.masks_right
        if masked and (uneven := uneven_codes(column.present)):
            warnings.append(Warned(f"column '{column.name}': {uneven}", Harm.DATA))
        if _is_read_as_text(column):
            what = (
                f"column '{column.name}' contains numbers with decimal commas, which are read as text; "
                "set input.decimal to ','"
            )
            warnings.append(Warned(what, Harm.DATA))
        if (harm := _harm_of_spelled_dates(planned, column)) is not None:
            what = (
                f"column '{column.name}' looks like dates, but {harm}; {date_remedy(column.present)}, with "
                "`type: date`"
            )
            # Two spellings of one sensitive date count as two values.
            own = planned[column.name].role
            warnings.append(Warned(what, Harm.PRIVACY if own is Role.SENSITIVE else Harm.DATA))
    padded = [each for each in columns if each.padded]
    numbers, texts = (
        [each.name for each in padded if each.type.numeric is numeric] for numeric in (True, False)
    )
    return [*warnings, *padding_warnings(numbers, texts)]


def _input_warnings(plan: Plan, relation: Relation) -> list[str]:
    """Return warnings about keys that look alike, and about codes of missing values that no column has."""
    unnamed = {}
    if ROWS_ARE_PERSONS not in plan.assessment.acknowledged:
        unnamed = keys_by_name(((name, own.role) for name, own in plan.columns.items()), plan.counting.units)
    alike = key_warnings(relation, plan.counting.units, unnamed, smallest_shown(plan.goal.k_of_reports))
    return [*alike, *unused_code_warnings(relation, plan.columns.missing)]


def _harm_of_spelled_dates(columns: Columns, column: Column) -> str | None:
    """Return what is wrong with a column of texts that are dates of some form; None if nothing is."""
    own = columns[column.name]
    source = None if own.hierarchy is None else own.hierarchy.source
    by_order = isinstance(source, OrderSource) and source.settings.values is None
    if not (own.role is Role.SENSITIVE or by_order or isinstance(source, AutoSource)):
        return None
    found = reading_of(column.present)
    if found is None or found.format.forms == (ISO_FORM,):
        return None
    if own.role is Role.SENSITIVE:
        return "is counted by spelling: two spellings of one day are two values"
    return "is grouped by spelling, not by time"


def _is_read_as_text(column: Column) -> bool:
    """Return whether a sample of the texts of a column are numbers with decimal commas."""
    texts = column.present[:: len(column.present) // SAMPLE + 1]
    found = writing_of({column.name: [(text, 1) for text in texts]}, None)
    return column.numerals != COMMA and found.numerals == COMMA


IN_INPUT_DATABASE = (
    "the database of the release also contains the input: share the released table, never the database"
)


def input_facts(title: str | None, relation: Relation) -> InputFacts:
    """Return the ``input`` entry of the report.

    Parameters
    ----------
    title: of the input; None for a DataFrame.
    """
    return InputFacts(title, relation.sha256, relation.rows, len(relation.columns), relation.separator)


def release_facts(
    names: Sequence[str], dialect: CsvDialect | None, found: Found, verified: Verified
) -> ReleaseFacts:
    """Return the ``release`` entry of the report.

    Parameters
    ----------
    names: of the released tables; empty for DataFrames.
    dialect: of files of text, else None.
    """
    audited, second = verified.audited, verified.audited.second
    path, other = (*names, None, None)[:2]
    return ReleaseFacts(
        path,
        audited.sha256,
        audited.rows,
        found.promised.suppressed,
        found.recoding.suppressed_cells,
        len(audited.sizes),
        verified=True,
        separator=None if dialect is None else dialect.separator,
        encoding=None if dialect is None else dialect.encoding,
        sensitive_table=None
        if second is None
        else {"path": other, "sha256": second.sha256, "rows": second.rows},
        numbers={name: numbers_entry(each) for name, each in numbers_of(found.recoding).items()},
        left_by={
            each.name: {label: asdict(own) for label, own in each.left_by.items()}
            for each in verified.columns
            if each.left_by
        },
    )


def report_parts(
    prepared: Prepared,
    outcome: Outcome,
    facts: InputFacts,
    verified: Verified = NOT_VERIFIED,
    diagnosis: Diagnosis | None = None,
) -> ReportParts:
    """Return the parts of a report that every run has, with or without a release."""
    plan, constraints, measured = prepared.plan, prepared.constraints, verified.audited.measurements
    entries = [attack_entry(each.finding, each.seconds) for each in verified.attacks]
    units = unit_facts(prepared, outcome.recoding)
    of_everybody = [each for each in constraints if each.scenario is None]
    matrix = attack_matrix(of_everybody, entries, plan.goal.k, persons=PERSON in plan.counting.units)
    return ReportParts(
        plan.shown,
        attributes_of(prepared),
        facts,
        ReleaseFacts(),
        plan.goal.algorithm.name,
        plan.goal.seed,
        outcome,
        of_all_knowledge(constraints, measured),
        {},
        (entries, matrix),
        [utility_entry(each.finding, each.seconds) for each in verified.utility],
        [
            *warnings_of(prepared, units),
            *records_warnings(
                plan.counting,
                plan.assessment,
                [(each.by, each.finding.knowledge) for each in verified.attacks],
                verified.answers,
            ),
            *_unattacked(verified.unattacked),
        ],
        {"name": prepared.engine, "because": prepared.counted.because},
        further={
            "diagnosis": None if diagnosis is None else diagnosis.to_dict(),
            "scenarios": scenario_entries(plan.shown.get("scenarios", {}), constraints, measured),
            "units": units,
            "population": population_facts(prepared.problem.table.population),
            "three_questions": [each.entry() for each in verified.answers] or None,
        },
    )


def attributes_of(prepared: Prepared) -> dict[str, Any]:
    """Return the ``attributes`` entry of the report, with the input's labels of columns and codes."""
    columns, labels = prepared.plan.columns, prepared.encoded.relation.labels
    described = columns.described(prepared.problem.table)
    for name in columns.released(described):
        title = labels[name].title if name in labels else ""
        if title:
            described[name]["label"] = title
    codes = columns.labels_of_codes(prepared.encoded.relation, prepared.problem.table)
    for name, own in codes.items():
        described[name]["codes"] = own
    return described


def warnings_of(prepared: Prepared, units: dict[str, Any] | None) -> list[str]:
    """Return the warnings to read before handing the release over.

    Parameters
    ----------
    units: as ``unit_facts`` returns them.
    """
    plan = prepared.plan
    return [
        *([IN_INPUT_DATABASE] if plan.target.in_input_database else []),
        *_unprotected(prepared),
        *with_harm(Harm.DATA, prepared.encoded.relation.header_warnings),
        *text_warnings(plan.columns, plan.goal, [read.column for read in prepared.encoded.columns]),
        *_input_warnings(plan, prepared.encoded.relation),
        *(anatomy_warnings(plan) if plan.goal.algorithm.in_groups else []),
        *filter(None, [plan.goal.algorithm.hindrance]),
        *_weight_warnings(prepared),
        *unit_warnings(units),
    ]


def _unprotected(prepared: Prepared) -> Iterator[str]:
    """Yield a warning for each sensitive attribute without a constraint, with the one that `init` drafts."""
    plan, protected = prepared.plan, {constraint.attribute for constraint in prepared.constraints}
    for name in plan.columns.with_role(Role.SENSITIVE):
        if name in protected:
            continue
        from anonymizer.profile.proposal import proposed_constraint  # noqa: PLC0415 - loads much

        proposed = proposed_constraint(measure_column(prepared.encoded.relation, name, plan.columns.numerals))
        yield Warned(
            f"no constraint protects the sensitive attribute '{name}', which is released "
            f"{'in groups' if name in plan.columns.bands else 'unchanged'}",
            Harm.PRIVACY,
            None if proposed is None else f"constraints.+={flow(proposed[0])}",
        )


def release_warnings(found: Found) -> list[str]:
    """Return the warnings about columns of a release that say next to nothing, or too much."""
    merged = found.promised.merged
    return [
        *_key_warnings(found),
        *useless_warnings(useless_columns(merged), len(merged.table.quasi_identifiers)),
    ]


MOST_EXACT = 30
"""Maximum number of unchanged columns that are looked at for keys: more would take longer than the run."""


def _key_warnings(found: Found) -> Iterator[str]:
    """Yield the warnings about keys that are released unchanged, unless the records are out of core."""
    plan = found.prepared.plan
    if found.prepared.problem.source is not None:
        return
    relation = found.prepared.encoded.relation
    roles = {name: plan.columns[name].role for name in plan.columns.released(relation.columns)}
    shown = [name for name, role in roles.items() if role in (Role.SENSITIVE, Role.INSENSITIVE)][:MOST_EXACT]
    exact = [name for name in shown if name not in plan.columns.bands]
    measured = {name: measure_column(relation, name, plan.columns.numerals) for name in exact}
    kept = {name: own.role for name, own in plan.columns.items() if name in relation.columns}
    yield from released_key_warnings(relation, kept, plan.columns.numerals, measured)


def _unattacked(names: Sequence[str]) -> list[str]:
    """Return the warning about attacks that the user ended."""
    if not names:
        return []
    return [f"you interrupted the attacks; not run: {', '.join(names)} (the command attack runs them)"]


def _weight_warnings(prepared: Prepared) -> Iterator[str]:
    plan = prepared.plan
    relation, population = prepared.encoded.relation, prepared.problem.table.population
    summed = rounding_warnings(plan.columns, relation, [plan.counting.loss_weights])
    counted = () if population is None else population.warnings
    yield from with_harm(Harm.NOTE, dict.fromkeys([*summed, *counted]))
    released = plan.columns.released(plan.columns.with_role(Role.WEIGHT))
    for name in plan.columns.with_role(Role.WEIGHT):
        k = plan.goal.k_of_reports or 2
        yield from weight_warnings(
            relation, name, plan.columns.missing, plan.columns.numerals, k, released=name in released
        )


def anatomy_warnings(plan: Plan) -> list[str]:
    """Return warnings about risks of an Anatomy release that its constraints do not cover."""
    warnings = [
        "quasi-identifiers are published exactly, so bucket size does not bound re-identification risk; "
        "`vulnerability` and `uniqueness` measure that risk on the exact values",
    ]
    if plan.seed_is_default:
        warnings.append(
            "the buckets are drawn from the seed: an adversary who knows it can confirm a guess of the whole "
            "table; set an unpredictable seed (the default is 0) and keep it secret"
        )
    names = [each.model.name for each in plan.goal.planned]
    counting = [name for name in names if name in ("k-anonymity", "alpha-k-anonymity")]
    if counting:
        warnings.append(
            f"{counting[0]} holds for the buckets: it says how many records share a bucket's sensitive "
            "values, not that these values differ"
        )
    return warnings


def recoding_entry(kept: StoredRecoding | None) -> dict[str, Any] | None:
    """Return the ``recoding_file`` entry of the report; None without recoding.json."""
    if kept is None:
        return None
    return {"path": RECODING, "sha256": hashlib.sha256(kept.encoded).hexdigest()}


class Shared(NamedTuple):
    """What the files for the recipient say beside the report.

    Attributes
    ----------
    columns: of the released tables.
    k: of the config; counts below it are hidden.
    """

    columns: Sequence[DescribedColumn]
    k: int | None


def write_reports(
    folder: ReleaseFolder, report: Report, facts: Facts, shared: Shared, kept: StoredRecoding | None
) -> None:
    """Write the page, the recipient's report, legend and codebook, the recoding, and the internal report.

    Parameters
    ----------
    facts: shown on the page in addition to the report.
    """
    folder.internal(PAGE).write_text(page(report, facts), encoding="utf-8", newline="\n")
    public = public_report(report, shared.k)
    content = public.to_dict()
    texts = {
        PUBLIC_REPORT: public.to_json(),
        LEGEND: legend(content),
        CODEBOOK: codebook(content, shared.columns, smallest_shown(shared.k)),
        **{metadata_name(name): text for name, text in csvw_texts(content, shared.columns).items()},
    }
    for name, text in texts.items():
        folder.shared(name).write_text(text, encoding="utf-8", newline="\n")
    if kept is not None:
        folder.internal(RECODING).write_bytes(kept.encoded)
    folder.report.write_text(report.to_json(), encoding="utf-8", newline="\n")
