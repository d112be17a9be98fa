"""The table of a run: the input read, checked, counted, and put as a search problem."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.config.load import check_columns
from anonymizer.config.section import dotted
from anonymizer.data.relation import EngineRelation, Relation
from anonymizer.data.table import ColumnRequest, Encoded, EngineTables, ReadColumn, read_columns
from anonymizer.data.values import absent_texts, number_key
from anonymizer.errors import DataError, InputError
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.job.exposure import check_acknowledged
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.feature_rows import NO_WORDS, Stage
from anonymizer.model.features import Feature
from anonymizer.model.identity import identity_pattern, text_identity
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.table import Column, QuasiIdentifier, Role, Table, ValueType
from anonymizer.people.population import check_held_out, open_people, with_counted_people
from anonymizer.people.units import (
    Owning,
    by_content,
    owning_of,
    stored_units,
    unit_limit_of,
    units_of_records,
    with_ties,
    with_units,
)
from anonymizer.people.weights import sampling_of
from anonymizer.plan.columns import NO_SOURCES
from anonymizer.plan.counted import (
    Counted,
    coarsest,
    count_distinct_rows,
    finest,
    row_limit_message,
)
from anonymizer.plan.plan import Plan, check_number_formats, check_suited, check_types
from anonymizer.plan.prepared import Prepared
from anonymizer.privacy.base import (
    AttackModel,
    ClassConstraint,
    Constraint,
    ReleaseConstraint,
    TableConstraint,
)
from anonymizer.release.query import follows_from_codes
from anonymizer.search.base import AttackCheck, SearchProblem


def columns_outside_table(plan: Plan, relation: Relation, columns: Mapping[str, ReadColumn]) -> list[str]:
    """Return the released columns that cannot be written from the distinct rows alone."""
    positions = {read.column.name: read.codes for read in columns.values()}
    released = plan.released(relation.columns)
    if not isinstance(relation, EngineRelation):
        return released
    return [
        name
        for name in released
        if plan.columns[name].role is not Role.QUASI_IDENTIFIER
        and not follows_from_codes(relation, name, positions)
    ]


def _unsupported(plan: Plan, problem: SearchProblem) -> Iterator[str]:
    """Yield what the config asks for that needs all distinct rows in memory."""
    if Feature.OUT_OF_CORE in plan.algorithm.supports:
        yield from plan.algorithm.out_of_core_gaps(problem)
    yield from (each.what for each in plan.conflicts(Stage.SEARCH, NO_WORDS))
    if plan.attacks:
        scene = AdversaryView(_published(problem.table, plan.weights))
        for position, each in enumerate(plan.attacks):
            lacking = each.missing_requirement(scene)
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
    if plan.control is not None:
        with open_people(plan.control) as others:
            check_held_out(plan, relation, others)
    check_acknowledged(plan, relation.columns)
    prepared = prepare_table(plan, relation)
    check_search(prepared)
    if prepared.problem.source is not None:
        _refuse(plan, relation, prepared.counted, Stage.COMPARED)
    return prepared


def prepare_table(plan: Plan, relation: Relation) -> Prepared:
    """Do the same without a search; the distinct rows may then exceed memory."""
    return problem_of(plan, relation, read_attributes(plan, relation))


def check_search(prepared: Prepared) -> None:
    """Check that a search supports distinct rows that do not fit in memory.

    Raises
    ------
    InputError: it does not; names everything that needs them in memory.
    """
    plan = prepared.plan
    if prepared.problem.source is None:
        return
    refused, algorithm = [*_unsupported(plan, prepared.problem)], plan.algorithm
    relation, frame = prepared.encoded.relation, ""
    able = Feature.OUT_OF_CORE in algorithm.supports and not algorithm.by_codes
    if able and not isinstance(relation, EngineRelation):
        # Only an engine can join records to their recoding.
        columns = plan.released(relation.columns)
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


def read_attributes(plan: Plan, relation: Relation) -> dict[str, ReadColumn]:
    """Read the quasi-identifiers and then the sensitive attributes, both in the order of the input.

    Raises
    ------
    InputError: the columns or values do not fit the config.
    """
    check_columns(plan.columns, relation.columns, relation.name, plan.config)
    names = [
        name
        for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        for name in relation.columns
        if plan.columns[name].role is role
    ]
    check_number_formats(plan, relation)
    check_types(plan, relation)
    columns = read_columns(relation, plan.requests(names), plan.missing)
    _refuse_stars(relation, [columns[name].column for name in plan.with_role(Role.QUASI_IDENTIFIER)])
    return columns


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
    attributes, sensitive = plan.quasi_identifiers(known, sources), plan.sensitive_attributes(known)
    _refuse_taken_marker(plan, relation, attributes)
    constraints = tuple(plan.constraints([attribute.name for attribute in sensitive]))
    sampling = sampling_of(plan, relation)
    every = [*columns.values(), *([] if sampling is None else [sampling[0]])]
    codings = [read.coding for read in every]
    found = count_distinct_rows(plan.engine, relation, codings)
    stored = found.beyond or not relation.ordered
    if stored:
        _refuse(plan, relation, found, Stage.STORED)
    if found.beyond:
        _refuse(plan, relation, found, Stage.BEYOND)
    if stored:
        found.combinations.units = stored_units(plan, relation, codings)
    source = None
    if found.beyond:
        source = EngineTables(attributes, sensitive, found.combinations, plan.engine.temp_directory)
    table = finest(attributes, sensitive, found) if source is None else coarsest(source, attributes, found)
    table = replace(table, sampling=None if sampling is None else sampling[1])
    encoded = Encoded(table.codes, table.counts, relation, tuple(every))
    units = {} if stored else by_content(plan, encoded, units_of_records(plan, relation))
    if plan.whole is not None:
        table, encoded = with_ties(table, encoded, units[plan.whole], linked=plan.pseudonym is not None)
    asked = {plan.whole, *plan.counted_units}
    own = {name: each for name, each in units.items() if name in asked}
    if own:
        table, encoded = with_units(plan, table, encoded, own)
    if plan.counts_population or plan.needs_households:
        table = with_counted_people(plan, relation, table, encoded, units)
    problem = _problem(plan, table.by_weight(), constraints, owning_of(plan, encoded, units))
    problem = replace(problem, source=source, most=found.most)
    if plan.limit_unit is not None:
        unit_limit = unit_limit_of(plan, relation, plan.limit_unit, units)
        problem = replace(problem, unit_limit=unit_limit).losing_at_most(unit_limit.most)
    if source is not None and not plan.algorithm.by_codes:
        problem = replace(problem, placing=bool(columns_outside_table(plan, relation, columns)))
    return Prepared(plan, problem, encoded, constraints, found, units)


def _refuse(plan: Plan, relation: Relation, found: Counted, stage: Stage) -> None:
    """Refuse what needs the rows of every record, where an engine stores the distinct rows.

    Raises
    ------
    InputError: the config asks for it.
    """
    for each in plan.conflicts(stage, {"input": relation.name, "rows": row_limit_message(found)}):
        raise InputError(each.what)


def _check_measurable(plan: Plan, table: Table, constraints: Sequence[Constraint]) -> None:
    """Refuse constraints that measure nothing on the quasi-identifiers of a table."""
    for path, constraint in zip(plan.paths(table.sensitive_names), constraints, strict=True):
        model = constraint.model
        fault = model.fault(table.quasi_identifiers) if isinstance(model, AttackModel) else None
        if fault is not None:
            raise InputError(f"{plan.config}: {dotted(path)}: {model.name}: {fault}")


def _problem(
    plan: Plan, table: Table, constraints: Sequence[Constraint], owning: Owning | None
) -> SearchProblem:
    """Return the search problem of a table in memory.

    Raises
    ------
    InputError: a constraint measures nothing on it.
    """
    check_suited(plan, constraints, table.sensitive)
    _check_measurable(plan, table, constraints)
    return SearchProblem(
        table,
        tuple(each for each in constraints if isinstance(each, ClassConstraint)),
        tuple(each for each in constraints if isinstance(each, TableConstraint)),
        plan.metric,
        plan.most(table.records),
        plan.keep_rows,
        plan.moving_reference,
        plan.k,
        plan.suppression,
        AttackCheck(
            [each for each in constraints if isinstance(each, ReleaseConstraint)],
            plan.seed,
            every_step=plan.attacks_every_step,
            owned=owning,
        ),
        plan.seed,
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


def _refuse_taken_marker(plan: Plan, relation: Relation, attributes: Sequence[QuasiIdentifier]) -> None:
    """Check that the marker of missing values has no other meaning in a released column."""
    if plan.marker is None:
        return
    labels = {each.name: each.hierarchy.labels for each in attributes}
    for name in plan.released(relation.columns):
        if name in labels:
            check_marker(plan, name, labels[name])
        elif _has_value(plan, relation, name, plan.marker):
            check_marker(plan, name, [plan.marker])


def _has_value(plan: Plan, relation: Relation, name: str, text: str) -> bool:
    """Return whether a column has a value, however it is spelled."""
    if number_key(text) is None:
        return bool(relation.profiling.count_matching(name, identity_pattern(text)))
    known = {own for own, _ in relation.dictionary(name) if own is not None}
    request = plan.request(name, plan.columns[name].type) if name in plan.columns else ColumnRequest(name)
    return bool(request.absent_among(known, [text]))


def check_marker(plan: Plan, name: str, labels: Collection[str]) -> None:
    """Check that no value or label of a column is the marker of missing values, in any spelling.

    Raises
    ------
    InputError: one is.
    """
    if plan.marker is not None and absent_texts(labels, [plan.marker], ValueType.NUMBER):
        raise InputError(
            f"{plan.config}: output.missing: {plan.marker!r} is also a value or a label of column '{name}', "
            "so recipients would mistake it for a missing value; set another text"
        )
