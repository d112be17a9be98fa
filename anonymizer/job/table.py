"""The table of a run: the input read, checked, counted, and put as a search problem."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.adversary.candidate import KnownOwners, adversary_of
from anonymizer.config.load import check_columns
from anonymizer.data.relation import EngineRelation, Relation
from anonymizer.data.table import ColumnRequest, Encoded, EngineTables, ReadColumn, read_columns
from anonymizer.data.values import absent_texts, number_key
from anonymizer.errors import DataError, InputError, listed
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.job.exposure import check_acknowledged
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.feature_rows import NO_WORDS, Stage
from anonymizer.model.features import Feature
from anonymizer.model.identity import identity_pattern, text_identity
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.table import COMMA, Column, QuasiIdentifier, Role, Table, ValueType
from anonymizer.people.population import check_held_out, open_people, with_counted_people
from anonymizer.people.units import (
    by_content,
    stored_units,
    unit_limit_of,
    units_of_records,
    with_ties,
    with_units,
)
from anonymizer.people.weights import sampling_of
from anonymizer.plan.columns import NO_SOURCES, Columns
from anonymizer.plan.counted import (
    Counted,
    coarsest,
    count_distinct_rows,
    finest,
    row_limit_message,
)
from anonymizer.plan.goal import Goal
from anonymizer.plan.plan import Plan, Target
from anonymizer.plan.prepared import Prepared
from anonymizer.privacy.base import (
    ClassConstraint,
    Constraint,
    ReleaseConstraint,
    TableConstraint,
)
from anonymizer.release.query import follows_from_codes
from anonymizer.search.base import AttackCheck, SearchProblem, SeenBy


def columns_outside_table(
    planned: Columns, relation: Relation, columns: Mapping[str, ReadColumn]
) -> list[str]:
    """Return the released columns that cannot be written from the distinct rows alone."""
    positions = {read.column.name: read.codes for read in columns.values()}
    released = planned.released(relation.columns)
    if not isinstance(relation, EngineRelation):
        return released
    return [
        name
        for name in released
        if planned[name].role is not Role.QUASI_IDENTIFIER
        and not follows_from_codes(relation, name, positions)
    ]


def _unsupported(plan: Plan, problem: SearchProblem) -> Iterator[str]:
    """Yield what the config asks for that needs all distinct rows in memory."""
    if Feature.OUT_OF_CORE in plan.goal.algorithm.supports:
        yield from plan.goal.algorithm.out_of_core_gaps(problem)
    yield from (each.what for each in plan.conflicts(Stage.SEARCH, NO_WORDS))
    if plan.assessment.attacks:
        view = AdversaryView(_published(problem.table, plan.assessment.weights))
        for position, each in enumerate(plan.assessment.attacks):
            lacking = each.missing_requirement(view)
            if lacking is not None:
                yield f"attacks[{position}]: {each.name}, which needs {lacking}"


def _published(table: Table, weights: Sequence[str]) -> PublishedTable:
    """Return the release at the highest levels, by which attacks state their missing requirements."""
    attributes = table.quasi_identifiers
    return PublishedTable(
        "the release",
        tuple(attribute.name for attribute in attributes),
        tuple(attribute.column.texts for attribute in attributes),
        table.codes[:, : len(attributes)],
        {
            each.name: SensitiveCodes(each, table.sensitive_codes(each.name).astype(np.int64))
            for each in table.sensitive
        },
        table.counts,
        {name: np.ones(len(table.counts)) for name in weights},
    )


def prepare(plan: Plan, relation: Relation) -> Prepared:
    """Read, encode and generalize the columns of an input into a problem.

    Raises
    ------
    InputError: the columns, values or hierarchies do not fit the config.
    """
    if plan.counting.control is not None:
        with open_people(plan.counting.control) as others:
            check_held_out(plan, relation, others)
    check_acknowledged(plan.assessment, relation.columns)
    prepared = prepare_table(plan, relation)
    check_search(prepared)
    if prepared.problem.source is not None:
        _refuse(plan, relation, prepared.counted, Stage.COMPARED)
    return prepared


def prepare_table(plan: Plan, relation: Relation) -> Prepared:
    """Do the same without a search; the distinct rows may then exceed memory."""
    return problem_of(plan, relation, read_attributes(plan.columns, plan.target, relation))


def check_search(prepared: Prepared) -> None:
    """Check that a search supports distinct rows that do not fit in memory.

    Raises
    ------
    InputError: it does not; names everything that needs them in memory.
    """
    plan = prepared.plan
    if prepared.problem.source is None:
        return
    refused, algorithm = [*_unsupported(plan, prepared.problem)], plan.goal.algorithm
    relation, frame = prepared.encoded.relation, ""
    able = Feature.OUT_OF_CORE in algorithm.supports and not algorithm.by_codes
    if able and not isinstance(relation, EngineRelation):
        # Only an engine can join records to their recoding.
        columns = plan.columns.released(relation.columns)
        named = ", ".join(f"'{name}'" for name in columns)
        frame = (
            f". Out of core, {algorithm.name} cannot release columns {named} from a DataFrame; read the "
            "input from a file or table"
        )
    others = f", which does not support: {'; '.join(refused)}. Change or remove these" if refused else ""
    if others or frame:
        raise InputError(
            f"{row_limit_message(prepared.counted)}, so the run is out of core{others}{frame}, or raise "
            "engine.memory_limit or engine.options.combinations"
        )


def read_attributes(planned: Columns, target: Target, relation: Relation) -> dict[str, ReadColumn]:
    """Read the quasi-identifiers and then the sensitive attributes, both in the order of the input.

    Raises
    ------
    InputError: the columns or values do not fit the config.
    """
    check_columns(planned, relation.columns, relation.name, planned.config)
    names = [
        name
        for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        for name in relation.columns
        if planned[name].role is role
    ]
    _refuse_kinds_of_missing(planned, relation)
    _check_number_formats(planned, target, relation)
    if not target.is_text and not target.in_duckdb:
        quasi_identifiers = frozenset(planned.with_role(Role.QUASI_IDENTIFIER))
        unchanged = [name for name in planned.released(relation.columns) if name not in quasi_identifiers]
        relation.check_storable(unchanged)
    columns = read_columns(relation, planned.requests(names), planned.missing)
    _refuse_stars(relation, [columns[name].column for name in planned.with_role(Role.QUASI_IDENTIFIER)])
    return columns


def _refuse_kinds_of_missing(planned: Columns, relation: Relation) -> None:
    """Check that no sensitive column has values that its file declares as missing and the config does not.

    They would count as values that differ: "refused" is no diagnosis, and protects nobody's.

    Raises
    ------
    InputError: one has.
    """
    for name in planned.with_role(Role.SENSITIVE):
        labels = relation.labels.get(name)
        kinds = [] if labels is None else list(labels.absent)
        unknown = sorted(set(kinds) - planned.absent_among(name, kinds))
        if unknown:
            codes = listed([f"'{each}'" for each in unknown[:4]])
            raise InputError(
                f"{relation.name}: '{name}' has values that the file declares as missing: {codes}; list them "
                "in input.missing, so that they do not count as values (init does so)"
            )


def problem_of(
    plan: Plan,
    relation: Relation,
    columns: Mapping[str, ReadColumn],
    sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES,
) -> Prepared:
    """Return the search problem of columns that were read.

    Parameters
    ----------
    sources: hierarchies of quasi-identifiers by name, in place of the config's.

    Raises
    ------
    InputError: the hierarchies do not fit the values.
    """
    known = {name: read.column for name, read in columns.items()}
    attributes, sensitive = (
        plan.columns.quasi_identifiers(known, sources),
        plan.columns.sensitive_attributes(known),
    )
    _refuse_taken_marker(plan.columns, plan.target, relation, attributes)
    constraints = tuple(plan.goal.constraints([attribute.name for attribute in sensitive]))
    sampling = sampling_of(plan.columns, plan.counting, relation)
    every = [*columns.values(), *([] if sampling is None else [sampling[0]])]
    codings = [read.coding for read in every]
    found = count_distinct_rows(plan.engine, relation, codings)
    stored = found.beyond or not relation.ordered
    if stored:
        _refuse(plan, relation, found, Stage.STORED)
    if found.beyond:
        _refuse(plan, relation, found, Stage.BEYOND)
    if stored:
        found.combinations.units = stored_units(plan.counting, relation, codings)
    source = None
    if found.beyond:
        source = EngineTables(attributes, sensitive, found.combinations, plan.engine.temp_directory)
    table = finest(attributes, sensitive, found) if source is None else coarsest(source, attributes, found)
    table = replace(table, sampling=None if sampling is None else sampling[1])
    encoded = Encoded(table.codes, table.counts, relation, tuple(every))
    units = (
        {}
        if stored
        else by_content(plan.columns, plan.counting, encoded, units_of_records(plan.counting, relation))
    )
    if plan.counting.whole is not None:
        table, encoded = with_ties(
            table, encoded, units[plan.counting.whole], linked=plan.counting.pseudonym is not None
        )
    asked = {plan.counting.whole, *plan.counting.counted_units}
    own = {name: each for name, each in units.items() if name in asked}
    if own:
        table, encoded = with_units(plan.counting, table, encoded, own)
    if plan.counting.counts_population or plan.counting.needs_households:
        table = with_counted_people(plan, relation, table, encoded, units)
    owners = KnownOwners.of(plan, encoded, units) if plan.counting.attacks_units else None
    seen = adversary_of if owners is None else owners.candidate
    problem = _problem(plan.goal, table.by_weight(), constraints, seen)
    problem = replace(problem, source=source, most=found.most)
    if plan.counting.limit is not None:
        unit_limit = unit_limit_of(plan.counting, plan.goal.most, relation, plan.counting.limit, units)
        problem = replace(problem, unit_limit=unit_limit).losing_at_most(unit_limit.most)
    if source is not None:
        plan, problem = _beyond_memory(plan, problem, relation, columns)
    return Prepared(plan, problem, encoded, constraints, found, units)


def _beyond_memory(
    plan: Plan, problem: SearchProblem, relation: Relation, columns: Mapping[str, ReadColumn]
) -> tuple[Plan, SearchProblem]:
    """Return the plan with the algorithm of a problem that has a source, and what its outcome must say."""
    algorithm = plan.goal.algorithm.beyond_memory(problem, joins=isinstance(relation, EngineRelation))
    outside = not algorithm.by_codes and bool(columns_outside_table(plan.columns, relation, columns))
    return replace(plan, goal=replace(plan.goal, algorithm=algorithm)), replace(problem, placing=outside)


def _refuse(plan: Plan, relation: Relation, found: Counted, stage: Stage) -> None:
    """Refuse what needs the rows of every record, where an engine stores the distinct rows.

    Raises
    ------
    InputError: the config asks for it.
    """
    for each in plan.conflicts(stage, {"input": relation.name, "rows": row_limit_message(found)}):
        raise InputError(each.what)


def _problem(goal: Goal, table: Table, constraints: Sequence[Constraint], seen: SeenBy) -> SearchProblem:
    """Return the search problem of a table in memory.

    Raises
    ------
    InputError: a constraint measures nothing on it.
    """
    goal.check_measurable(constraints, table.sensitive)
    goal.check_attacked(constraints, table.quasi_identifiers, table.sensitive_names)
    return SearchProblem(
        table,
        tuple(each for each in constraints if isinstance(each, ClassConstraint)),
        tuple(each for each in constraints if isinstance(each, TableConstraint)),
        goal.metric,
        goal.most(table.records),
        goal.keep_rows,
        goal.moving_reference,
        goal.k,
        goal.suppression,
        AttackCheck(
            [each for each in constraints if isinstance(each, ReleaseConstraint)],
            goal.seed,
            every_step=goal.every_step,
            seen=seen,
        ),
        goal.seed,
    )


def _check_number_formats(columns: Columns, target: Target, relation: Relation) -> None:
    """Check that a release writes its numbers in one format.

    Stored numbers are written into a text file with a decimal point. Read with decimal commas, 1.125 would
    become 1,125.

    Raises
    ------
    InputError: naming the column with stored numbers.
    """
    if columns.numerals != COMMA or relation.is_frame or not target.is_text:
        return
    for name in relation.columns:
        if not columns[name].released or relation.is_text(name):
            continue
        if any(text is not None and "." in text for text, _ in relation.dictionary(name)):
            raise InputError(
                f"{relation.name}: column '{name}' stores numbers, which would be written to {target.path} "
                "with decimal points, but input.decimal is ','; set output.decimal to ',', or output.path to "
                "a .parquet file, or remove input.decimal"
            )


def _refuse_stars(relation: Relation, columns: Sequence[Column]) -> None:
    for column in columns:
        records = sum(
            int(count)
            for text, count in zip(column.texts, column.counts, strict=True)
            if text_identity(text) == SUPPRESSED
        )
        if records:
            raise DataError(
                f"{relation.name}: column '{column.name}' contains '{SUPPRESSED}' in {records} rows, but "
                f"'{SUPPRESSED}' marks suppressed values; add it to input.missing, or replace it in the file"
            )


def _refuse_taken_marker(
    columns: Columns, target: Target, relation: Relation, attributes: Sequence[QuasiIdentifier]
) -> None:
    """Check that the marker of missing values has no other meaning in a released column."""
    if target.marker is None:
        return
    labels = {each.name: each.hierarchy.labels for each in attributes}
    for name in columns.released(relation.columns):
        if name in labels:
            check_marker(columns.config, target, name, labels[name])
        elif _has_value(columns, relation, name, target.marker):
            check_marker(columns.config, target, name, [target.marker])


def _has_value(columns: Columns, relation: Relation, name: str, text: str) -> bool:
    """Return whether a column has a value, however it is spelled."""
    if number_key(text) is None:
        return bool(relation.profiling.count_matching(name, identity_pattern(text)))
    known = {own for own, _ in relation.dictionary(name) if own is not None}
    request = columns.request(name, columns[name].type) if name in columns else ColumnRequest(name)
    return bool(request.absent_among(known, [text]))


def check_marker(config: str, target: Target, name: str, labels: Collection[str]) -> None:
    """Check that no value or label of a column is the marker of missing values, in any spelling.

    Raises
    ------
    InputError: one is.
    """
    if target.marker is not None and absent_texts(labels, [target.marker], ValueType.NUMBER):
        raise InputError(
            f"{config}: output.missing: {target.marker!r} is also a value or a label of column '{name}', "
            "so recipients would mistake it for a missing value; set another text"
        )
