"""The search problem of a run, prepared from a plan and an open input.

If the distinct rows do not fit in memory, the run works on coarser ones or is refused. Attack-based
constraints are measured separately from those that counts determine. A monitor follows the run and may stop
it.

The population that the input is a sample of is a table of it, or the input with its sampling weights. Values
that the input lacks are placed in the same hierarchies, so that a generalized value stands for the same
values in both.

The values of columns that are released in groups without being generalized become the groups at once. Search,
measures, attacks and audit then see what the recipient sees. The groups are those of level 1 of the column's
hierarchy, built from all records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, prod
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.adversary_view import owners_of_records
from anonymizer.attacks.base import AttackResult
from anonymizer.config.load import check_columns
from anonymizer.config.section import dotted
from anonymizer.data.open import open_file
from anonymizer.data.relation import Coding, EngineRelation, Groups, Relation, StoredUnits
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import (
    ColumnRequest,
    Encoded,
    EngineTables,
    ReadColumn,
    column_of,
    read_columns,
    recoded_as,
)
from anonymizer.data.values import absent_texts, key_of, number_key, shared_keys
from anonymizer.errors import DataError, HierarchyError, InputError, plural
from anonymizer.hierarchy.placement import Placement, place
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.arrays import SPACE, CodeArray, IntArray, count, count_exactly, freeze, numbered
from anonymizer.model.classes import Classes, Measurement, SensitiveCodes
from anonymizer.model.households import MEMBERS, Households, households_of_persons
from anonymizer.model.identity import identity_pattern, text_identity
from anonymizer.model.natural import in_natural_order
from anonymizer.model.population import LARGEST, Population, PopulationAttribute, PopulationSizes, RowOwners
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Report
from anonymizer.model.table import (
    MISSING,
    POINT,
    SUPPRESSED,
    Column,
    NumberLabels,
    Numerals,
    QuasiIdentifier,
    Role,
    SamplingWeights,
    Table,
    TableSource,
    ValueType,
    interval_of,
    number_text,
)
from anonymizer.model.units import (
    HOUSEHOLD,
    PERSON,
    RECORD,
    DividedRows,
    Ties,
    Units,
    UnitsByName,
    numbered_by_content,
)
from anonymizer.privacy.base import (
    AttackModel,
    ClassConstraint,
    Constraint,
    CountedConstraint,
    ReleaseConstraint,
    TableConstraint,
    describe,
)
from anonymizer.release.query import follows_from_codes, rows_of_records
from anonymizer.run.plan import (
    NO_SOURCES,
    Bands,
    Counted,
    Plan,
    PlannedPeople,
    check_number_formats,
    check_types,
    check_weights,
    count_distinct_rows,
    finest,
)
from anonymizer.search.base import (
    SEARCH_ALGORITHMS,
    AttackCheck,
    Progress,
    SearchProblem,
    Stage,
    SuppressionMethod,
    UnitLimit,
)
from anonymizer.search.rollup import RollUp


def coarsest(source: TableSource, attributes: Sequence[QuasiIdentifier], found: Counted) -> Table:
    """Return the table at the highest allowed levels; its attributes keep all their allowed levels.

    Raises
    ------
    InputError: even this table does not fit in memory.
    """
    table = source.at([attribute.maximum for attribute in attributes], found.most)
    if table is None:
        raise InputError(
            f"{row_limit_message(found)}, even at the highest levels that attributes.*.levels allow; "
            "allow higher levels, or raise engine.memory_limit or engine.options.combinations"
        )
    return replace(table, quasi_identifiers=tuple(attributes))


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


def row_limit_message(found: Counted) -> str:
    """Return how many distinct rows there are, and how many fit in memory."""
    return (
        f"engine {found.engine}: the input has {found.combinations.number:,} distinct rows, "
        f"but only {found.most:,} fit in memory"
    )


def out_of_core(found: Counted, what: str, remedy: str = "") -> InputError:
    """Return the error of a run that its distinct rows make impossible.

    Parameters
    ----------
    what: is impossible; end of a sentence.
    remedy: besides more memory; end of a sentence.
    """
    return InputError(
        f"{row_limit_message(found)}, so the run is out of core{what}; raise engine.memory_limit or "
        f"engine.options.combinations{remedy}"
    )


def _unsupported(plan: Plan, problem: SearchProblem) -> Iterator[str]:
    """Yield what the config asks for that needs all distinct rows in memory."""
    if not plan.algorithm.out_of_core:
        able = [name for name, each in SEARCH_ALGORITHMS.items() if each.out_of_core]
        yield f"algorithm {plan.algorithm.name} (accepted: {', '.join(able)})"
    else:
        yield from plan.algorithm.out_of_core_gaps(problem)
    if problem.suppression is not SuppressionMethod.CLASSES:
        yield f"suppression.method {problem.suppression.value} (accepted: classes)"
    for constraint in problem.gate.constraints:
        yield f"constraint {constraint.model.name}, whose adversary holds the original records"
    if plan.attacks:
        scene = AdversaryView(_published(problem.table, plan.weights))
        for position, each in enumerate(plan.attacks):
            lacking = each.missing_requirement(scene)
            if lacking is not None:
                yield f"attacks[{position}]: {each.name}, which needs {lacking}"
            elif getattr(each.settings, "features", each.name) is None:
                yield f"attacks[{position}]: {each.name} of original values (accepted: features: published)"
    if plan.utility:
        yield "utility, which compares the release with the original records"


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


@dataclass(frozen=True, eq=False)
class Prepared:
    """A search problem with its records.

    Attributes
    ----------
    encoded: the records of the input; their distinct rows are the rows of the problem's table.
    constraints: of the problem, in the order of the config.
    counted: the distinct rows of all records.
    units: the unit of each record by the name of the unit, shape (records,), int64; -1 without one. Empty if
        the engine stores them.
    """

    plan: Plan
    problem: SearchProblem
    encoded: Encoded
    constraints: tuple[Constraint, ...]
    counted: Counted
    units: Mapping[str, IntArray] = field(default_factory=dict)

    @property
    def people(self) -> Fraction | None:
        """People, or units, that losses are averaged over; None if these are records."""
        table = self.problem.table
        return None if table.sampling is None else Fraction(table.people, table.sampling.scale)

    @property
    def engine(self) -> str:
        """The engine that counts the distinct rows."""
        return self.counted.engine

    @property
    def positions(self) -> dict[str, CodeArray]:
        """The codes of the texts in a column's dictionary, shape (texts,), by the name of the column."""
        table = self.problem.table
        known = {*table.sensitive_names, *(each.name for each in table.quasi_identifiers)}
        return {read.column.name: read.codes for read in self.encoded.columns if read.column.name in known}

    def rows(self, recoding: Recoding) -> CodeArray:
        """Return for each record of the input its row in the recoding's table, shape (records,), int32."""
        return self._encoded_as(recoding).combination

    def codings(self, recoding: Recoding) -> list[Coding]:
        """Return how the texts of records become the codes of the recoding's table."""
        return [read.coding for read in self._encoded_as(recoding).columns]

    def _encoded_as(self, recoding: Recoding) -> Encoded:
        return self.encoded if self.problem.source is None else recoded_as(self.encoded, recoding.table)


def prepare(plan: Plan, relation: Relation) -> Prepared:
    """Read, encode and generalize the columns of an input into a problem.

    Raises
    ------
    InputError: the columns, values or hierarchies do not fit the config.
    """
    if plan.control is not None:
        with open_people(plan.control) as others:
            check_held_out(plan, relation, others)
    prepared = prepare_table(plan, relation)
    check_search(prepared)
    if plan.control is not None and prepared.problem.source is not None:
        what = " and cannot compare records with held-out people"
        raise out_of_core(prepared.counted, what, f", or remove {plan.control.key}")
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
    if not isinstance(relation, EngineRelation) and algorithm.out_of_core and not algorithm.by_codes:
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
        _check_storable(plan, relation, found)
        found.combinations.units = stored_units(plan, relation, codings)
    source = None
    if found.beyond:
        source = EngineTables(attributes, sensitive, found.combinations, plan.engine.temp_directory)
    table = finest(attributes, sensitive, found) if source is None else coarsest(source, attributes, found)
    table = replace(table, sampling=None if sampling is None else sampling[1])
    encoded = Encoded(table.codes, table.counts, relation, tuple(every))
    units = {} if stored else _by_content(plan, encoded, units_of_records(plan, relation))
    if plan.whole is not None:
        table, encoded = _tied(table, encoded, units[plan.whole], linked=plan.pseudonym is not None)
    asked = {plan.whole, *plan.counted_units}
    own = {name: each for name, each in units.items() if name in asked}
    if own:
        table, encoded = _with_units(plan, table, encoded, own)
    if plan.counts_population and source is not None:
        raise out_of_core(found, ", where constraints cannot count the population")
    if plan.counts_population or plan.needs_households:
        table = _with_counted_people(plan, relation, table, encoded, units)
    problem = _problem(plan, table.by_weight(), constraints, _owning(plan, encoded, units))
    problem = replace(problem, source=source, most=found.most)
    if plan.limit_unit is not None:
        unit_limit = _unit_limit(plan, relation, plan.limit_unit, units)
        problem = replace(problem, unit_limit=unit_limit).losing_at_most(unit_limit.most)
    if source is not None and not plan.algorithm.by_codes:
        problem = replace(problem, placing=bool(columns_outside_table(plan, relation, columns)))
    return Prepared(plan, problem, encoded, constraints, found, units)


def _check_storable(plan: Plan, relation: Relation, found: Counted) -> None:
    """Refuse what needs the rows of every record, where an engine stores the distinct rows."""
    if plan.whole is not None:
        what = "link the rows of persons" if plan.pseudonym is not None else "suppress whole units"
        key = "suppression.whole" if plan.pseudonym is None else "input.person.release_as"
        raise out_of_core(found, f" and cannot {what}", f", or remove {key}")
    for each in plan.planned:
        if each.unit is not None and isinstance(each.model, AttackModel):
            raise InputError(
                f"{relation.name}: {each.model.name} can count persons and other units in memory only; set "
                f"engine.name to memory, or unit: {RECORD}"
            )
    if plan.suppression is not SuppressionMethod.CLASSES and plan.counted_units:
        raise InputError(
            f"{relation.name}: with suppression.method {plan.suppression}, constraints can count persons and "
            f"other units in memory only; set suppression.method to {SuppressionMethod.CLASSES}, engine.name "
            f"to memory, or unit: {RECORD}"
        )
    if plan.algorithm.most_parts == inf and plan.counted_units:
        raise InputError(
            f"{relation.name}: algorithm {plan.algorithm.name} can count persons and other units in memory "
            "only; set algorithm.name to lattice, engine.name to memory, or unit: record"
        )
    if plan.needs_households:
        raise out_of_core(found, ", where constraints cannot count households", ", or use engine memory")
    if found.beyond and (plan.loss_weights or plan.loss_unit):
        key, what = "weights", "cannot be averaged by weights"
        if plan.loss_unit is not None:
            key, what = "unit", f"cannot count each {plan.loss_unit} once"
        raise out_of_core(found, f", where losses {what}", f", or remove objective.{key}")


def sampling_of(plan: Plan, relation: Relation) -> tuple[ReadColumn, SamplingWeights] | None:
    """Return the column of weights by which losses are averaged, and its weights; None without one.

    Raises
    ------
    DataError: as for ``exact_weights``, or a record lacks the unit that it must have.
    """
    if plan.loss_unit is not None:
        return _shares_of_units(plan, relation, plan.loss_unit)
    name = plan.loss_weights
    if name is None:
        return None
    relation.position(name)
    dictionary = relation.dictionary(name)
    texts = [str(text) for text, _ in dictionary]
    found, scale = _exact(plan, relation, name, texts)
    distinct, codes = np.unique(np.array(found, dtype=np.int64), return_inverse=True)
    shown = dict(zip(codes.tolist(), texts, strict=True))
    records = np.array([number for _, number in dictionary], dtype=np.int64)
    counts = count_exactly(codes, records, len(distinct))
    labels, numbers = tuple(shown[code] for code in range(len(distinct))), distinct / scale
    column = Column(name, ValueType.NUMBER, labels, counts, numbers, None, plan.numerals)
    return ReadColumn(column, codes.astype(np.int32)), SamplingWeights(name, distinct, scale)


def _shares_of_units(plan: Plan, relation: Relation, unit: str) -> tuple[ReadColumn, SamplingWeights]:
    """Return the key of a unit, coded by the weight of the records with each key, and these weights."""
    name = plan.units[unit]
    relation.position(name)
    dictionary, absent = relation.dictionary(name), plan.absent
    records = np.array([number for _, number in dictionary], dtype=np.int64)
    unknown = np.array([text in absent for text, _ in dictionary], dtype=np.bool_)
    missing = int(records[unknown].sum())
    if missing and plan.whole_units:
        raise DataError(_without_unit(relation, unit, name, missing))
    if missing and unit == HOUSEHOLD and PERSON in plan.units:
        # A weight belongs to a key, and the household of such a record follows from that of its person.
        raise DataError(
            f"{relation.name}: column '{name}' is empty in {plural(missing, 'record')}, so the records of "
            f"each household cannot be counted; fill in the column, or set objective.unit: {PERSON}"
        )
    sizes, numbers = np.where(unknown, 1, records), np.where(unknown, records, 1)
    weights, codes = SamplingWeights.of_units(unit, name, sizes, numbers)
    counts = count_exactly(codes, records, len(weights.values))
    shares = weights.values / weights.scale
    column = Column(name, ValueType.NUMBER, tuple(map(str, shares.tolist())), counts, shares, None)
    return ReadColumn(column, codes), weights


def _check_measurable(plan: Plan, table: Table, constraints: Sequence[Constraint]) -> None:
    """Refuse constraints that measure nothing on the quasi-identifiers of a table."""
    for path, constraint in zip(plan.paths(table.sensitive_names), constraints, strict=True):
        model = constraint.model
        fault = model.fault(table.quasi_identifiers) if isinstance(model, AttackModel) else None
        if fault is not None:
            raise InputError(f"{plan.config}: {dotted(path)}: {model.name}: {fault}")


def stored_units(
    plan: Plan, relation: Relation, codings: Sequence[Coding], recorded: Collection[str] = ()
) -> Mapping[str, StoredUnits]:
    """Return the units that constraints count in distinct rows of codes, stored by the engine.

    Parameters
    ----------
    recorded: names of units whose records in each row are counted, besides those that constraints need.

    Raises
    ------
    InputError: the engine counts records only.
    DataError: as for ``units_of_records``.
    """
    asked = plan.counted_units
    if not asked:
        return {}
    absent = plan.absent
    for name, column in plan.units.items():
        if plan.whole_units and (missing := relation.unit_facts(column, absent).without):
            raise DataError(_without_unit(relation, name, column, missing))
    if PERSON in plan.units and HOUSEHOLD in plan.units:
        nested = plan.units[PERSON], plan.units[HOUSEHOLD]
        _check_households(plan, relation, relation.units_in_several(*nested, absent))
        without = relation.unit_facts(plan.units[HOUSEHOLD], absent).without if HOUSEHOLD in asked else 0
        if without:
            raise DataError(
                f"{relation.name}: column '{plan.units[HOUSEHOLD]}' is empty in {plural(without, 'record')}, "
                "and only a run in memory looks up a household in other records of the person; fill it in, "
                "or set engine.name to memory"
            )
    columns = {name: plan.units[name] for name in asked}
    return relation.stored_units(codings, columns, absent, plan.recorded_units.union(recorded))


def _unit_limit(plan: Plan, relation: Relation, unit: str, units: Mapping[str, IntArray]) -> UnitLimit:
    """Return how many units may lose a record.

    Parameters
    ----------
    units: of each record, as ``units_of_records`` returns them; none where the engine stores them.
    """
    if unit in units:
        return UnitLimit.of_records(unit, plan.most, units[unit])
    own = relation.unit_facts(plan.units[unit], plan.absent)
    number, most = own.units + own.without, max(own.most, 1)
    return UnitLimit(unit, plan.most(number), number, lambda lost: min(lost * most, relation.rows))


def _with_units(
    plan: Plan, table: Table, encoded: Encoded, units: Mapping[str, IntArray]
) -> tuple[Table, Encoded]:
    """Return a table that counts units; divided by these where parts of a row may be published differently.

    Parameters
    ----------
    units: that constraints count, as ``units_of_records`` returns them.
    """
    rows, most = encoded.combination.astype(np.int64), plan.most_parts
    if most and plan.whole is None:
        divided = DividedRows.of(rows, units, plan.recorded_units)
        if len(divided.counts) <= most:
            table, row_of = table.divided(divided), divided.of_record.astype(np.int32)
            for array in (table.codes, table.counts, row_of):
                freeze(array)
            return table, replace(encoded, codes=table.codes, counts=table.counts, rows=row_of)
    found = units_of_rows(units, rows, table.combinations, plan.recorded_units)
    return replace(table, units=found), encoded


def _with_counted_people(
    plan: Plan, relation: Relation, table: Table, encoded: Encoded, units: Mapping[str, IntArray]
) -> Table:
    """Return a table with the households and the population that constraints count.

    Parameters
    ----------
    units: of each record, as ``units_of_records`` returns them; none where the engine stores them.
    """
    if plan.counts_population and PERSON in plan.units and not units:
        raise InputError(
            f"{relation.name}: constraints that count the population count persons in memory only; set "
            "engine.name to memory"
        )
    row_of, persons = None, units.get(PERSON)
    if persons is not None or plan.needs_households:
        row_of = encoded.combination.astype(np.int64)
    if plan.needs_households:
        assert row_of is not None, "the records are in memory"
        households = Households.of_records(row_of, units[HOUSEHOLD], table.combinations, person_of=persons)
        table = replace(table, units={**table.units, MEMBERS: households})
    own = None if row_of is None or persons is None else (row_of, persons)
    return replace(table, population=population_of(plan, relation, table, own))


def _tied(table: Table, encoded: Encoded, units: IntArray, *, linked: bool) -> tuple[Table, Encoded]:
    """Return a table with rows of their own for units that have records in several distinct rows.

    Parameters
    ----------
    units: that are suppressed as a whole, of each record, shape (records,).
    linked: whether the release links the records of a unit.
    """
    own = encoded.combination.astype(np.int64)
    items, rows, ties = Ties.of_records(own, units, table.combinations, linked=linked)
    codes, counts = table.codes[rows], np.bincount(items, minlength=len(rows))
    row_of = items.astype(np.int32)
    for array in (codes, counts, row_of):
        freeze(array)
    table = replace(table, codes=codes, counts=counts, ties=ties)
    return table, replace(encoded, codes=codes, counts=counts, rows=row_of)


def units_of_records(plan: Plan, relation: Relation) -> dict[str, IntArray]:
    """Return the unit of each record by the name of the unit, shape (records,), int64; -1 without one.

    A person is in one household, also in records that do not name it.

    Raises
    ------
    DataError: a record lacks a unit that it must have, or a person is in two households.
    """
    found = {name: _units(plan, relation, name, column) for name, column in plan.units.items()}
    if PERSON in found and HOUSEHOLD in found:
        _check_households(plan, relation, _in_several(found[PERSON], found[HOUSEHOLD]))
        found[HOUSEHOLD] = households_of_persons(found[HOUSEHOLD], found[PERSON])
    return found


def _by_content(plan: Plan, encoded: Encoded, units: dict[str, IntArray]) -> dict[str, IntArray]:
    """Number units by what is released of their records, where rows are divided by them."""
    if not units or not (plan.most_parts or plan.whole):
        return units
    relation, keys = encoded.relation, set(plan.units.values())
    table = {each.column.name for each in encoded.columns}
    unchanged = [name for name in plan.released(relation.columns) if name not in table | keys]
    columns = [encoded.combination, *map(relation.codes, unchanged)]
    return numbered_by_content(numbered(columns, relation.rows)[0], units)


def _units(plan: Plan, relation: Relation, name: str, column: str) -> IntArray:
    units = relation.unit_codes(column, plan.absent)
    if plan.whole_units and (missing := int((units < 0).sum())):
        raise DataError(_without_unit(relation, name, column, missing))
    return units


def _without_unit(relation: Relation, name: str, column: str, records: int) -> str:
    """Return the message about records without a unit that they must have."""
    return (
        f"{relation.name}: column '{column}' is empty in {plural(records, 'record')}; fill it in, or set "
        f"input.missing_person: own, which counts each of them as a {name} of its own"
    )


def _in_several(inner: IntArray, outer: IntArray) -> int:
    """Return the number of units that have records in several units of another kind, by record."""
    known = (inner >= 0) & (outer >= 0)
    pairs = np.unique(np.stack([inner[known], outer[known]]), axis=1)
    return len(np.unique(pairs[0, 1:][pairs[0, 1:] == pairs[0, :-1]]))


def _check_households(plan: Plan, relation: Relation, persons: int) -> None:
    """Refuse persons in two households, given their number."""
    if persons:
        person, household = plan.units[PERSON], plan.units[HOUSEHOLD]
        raise DataError(
            f"{relation.name}: {plural(persons, 'person')} of column '{person}' belong to two "
            f"households of column '{household}'; a person must have only one household; if persons moved, "
            f"name the column in input.units (units: {{home: {household}}}) and not in input.household"
        )


def units_of_rows(
    units: Mapping[str, IntArray],
    row_of: NDArray[np.integer],
    rows: int,
    recorded: Collection[str] = (),
) -> UnitsByName:
    """Return the units of the distinct rows of a table.

    Parameters
    ----------
    units: of each record, as ``units_of_records`` returns them.
    row_of: distinct row of each record, shape (records,).
    recorded: names of units whose records in each row are counted.
    """
    items = row_of.astype(np.int64, copy=False)
    return {name: Units.of_items(items, own, rows, recorded=name in recorded) for name, own in units.items()}


Owning = Callable[[Table, Recoding, AdversaryView], AdversaryView]
"""Returns the view of a release with the owners of its records, given the searched table and its recoding."""


def _owning(plan: Plan, encoded: Encoded, units: Mapping[str, IntArray]) -> Owning | None:
    """Return how the attacks of constraints learn whose the records are; None if they count records."""
    if all(each.unit is None for each in plan.planned if isinstance(each.model, AttackModel)):
        return None
    return partial(owned_view, plan, encoded, units)


def owned_view(
    plan: Plan,
    encoded: Encoded,
    units: Mapping[str, IntArray],
    table: Table,
    recoding: Recoding,
    view: AdversaryView,
) -> AdversaryView:
    """Return the view of a release that is known with its original, with the owners of its records.

    Parameters
    ----------
    encoded: the records; their distinct rows are those of ``table``, the searched one.
    units: of each record, as ``units_of_records`` returns them.
    """
    assert view.original is not None, "whose records are owned"
    released = tuple(plan.released(encoded.relation.columns))
    rows = rows_of_records(encoded.relation, encoded.combination, recoding, released)
    owners = owners_of_records(table, recoding, rows, units, view.release, view.original)
    owners = replace(owners, linked=plan.pseudonym is not None)
    return replace(view, original=replace(view.original, owners=owners))


def _problem(
    plan: Plan, table: Table, constraints: Sequence[Constraint], owning: Owning | None
) -> SearchProblem:
    """Return the search problem of a table in memory.

    Raises
    ------
    InputError: a constraint measures nothing on it.
    """
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


def countable_constraints(constraints: Sequence[Constraint]) -> list[CountedConstraint]:
    """Return the constraints that are measured on the classes of a release, without an attack."""
    return [each for each in constraints if not isinstance(each, ReleaseConstraint)]


def in_order(
    constraints: Sequence[Constraint], own: Sequence[Measurement], attacked: Sequence[Measurement]
) -> list[Measurement]:
    """Return measurements in the order of the constraints.

    Parameters
    ----------
    own: of the countable constraints.
    attacked: of the attack-based ones.
    """
    first, second = iter(own), iter(attacked)
    return [next(second if isinstance(each, ReleaseConstraint) else first) for each in constraints]


def unmeasured(constraint: Constraint) -> Measurement:
    """Return the measurement of a constraint that needs more than the file at hand: unknown."""
    return _measurement(constraint, None, None)


def attack_written_release(
    prepared: Prepared, scene: AdversaryView, phase: Callable[[str], None]
) -> list[Measurement]:
    """Attack a release that was read back, with other targets and randomness than those of the search.

    Parameters
    ----------
    scene: the release and the input, without the recipe.
    phase: receives which constraint is measured.
    """
    gate, found = prepared.problem.gate, []
    for each in gate.constraints:
        phase(f"attacking the written release: {describe(each)}")
        found.append(attacked(each, scene, gate.random(each, Stage.AUDIT)))
    return found


def attacked(constraint: ReleaseConstraint, scene: AdversaryView, random: np.random.Generator) -> Measurement:
    """Return the measurement of a constraint by its attack."""
    measured = constraint.measured(scene, random)
    found = _measurement(constraint, measured, constraint.holds(measured))
    return replace(found, verifiable_from_release=constraint.of_release_alone)


def violated_constraints(
    constraints: Sequence[Constraint], measurements: Sequence[Measurement]
) -> list[tuple[ReleaseConstraint, float]]:
    """Return the attack-based constraints that the release violates, with the success of the attack."""
    return [
        (constraint, each.measured)
        for constraint, each in zip(constraints, measurements, strict=True)
        if isinstance(constraint, ReleaseConstraint) and each.satisfied is False
    ]


def _measurement(constraint: Constraint, measured: float | None, held: bool | None) -> Measurement:
    name, parameters = constraint.model.name, constraint.parameters()
    return Measurement(name, constraint.attribute, parameters, measured, held, 0, False)


def population_of(
    plan: Plan, relation: Relation, table: Table, persons: tuple[IntArray, IntArray] | None = None
) -> Population | None:
    """Return the population of a table of the input; None if no constraint counts it.

    Parameters
    ----------
    persons: distinct row and person of each record of the input, -1 without one, both of shape (records,),
        int64; None where records are persons.

    Raises
    ------
    InputError: the population cannot be read, or the input cannot be a sample of it.
    """
    if not plan.counts_population:
        return None
    with ExitStack() as stack:
        source, weight = relation, plan.sampling_weight
        if plan.population is not None:
            source = stack.enter_context(open_people(plan.population))
            weight = plan.population.weight
            _check_columns(source, relation, [each.name for each in table.quasi_identifiers])
        return _Reader(plan, relation, source, table, persons).population(weight)


def open_people(given: PlannedPeople) -> Relation:
    """Open a table of other people.

    Raises
    ------
    InputError: there is no such file, or it cannot be read.
    """
    if not given.path.exists():
        raise InputError(f"{given.path}: no such file; check {given.key}")
    options = EngineOptions(strict_header=given.strict_header, spelling=given.columns, keys=given.units)
    return open_file(given.path, given.dialect, options)


def _check_columns(people: Relation, own: Relation, names: Iterable[str]) -> None:
    """Refuse a table of other people that lacks a column of the input."""
    for name in names:
        if name not in people.columns:
            raise DataError(
                f"{people.name}: no column '{name}', which {own.name} has; add it, or rename the column that "
                "has these values"
            )


def check_held_out(plan: Plan, original: Relation, control: Relation) -> None:
    """Check that nobody who is held out is in the input, as far as both have columns of units.

    Raises
    ------
    InputError: a unit is in both, those who are held out lack a column, or groups of a sensitive attribute
        would be others.
    """
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        _check_columns(control, original, () if plan.foreign_names else plan.with_role(role))
    sources = {name: each.hierarchy.source for name, each in plan.bands.items()}
    first, second = (
        read_columns(each, plan.requests([*sources]), plan.missing) for each in (original, control)
    )
    for name, source in sources.items():
        if source.depends_on(first[name].column) != source.depends_on(second[name].column):
            raise InputError(
                f"attributes.{name}.hierarchy: {source.describe()} is built from the values, and those of "
                f"{control.name} would give another one than those of {original.name}; write it to a file "
                "with the command hierarchy build before the run, with the values of both, and use it as "
                "hierarchy: {file: ...}"
            )
    for name, column in plan.units.items():
        if column in original.columns and column in control.columns:
            own, held = (
                {text for text, _ in each.dictionary(column) if text is not None and text not in plan.absent}
                for each in (original, control)
            )
            shared = shared_keys(own, held, plan.numerals)
            if shared:
                raise InputError(
                    f"{control.name}: has records of {plural(len(shared), name)} of {original.name} (column "
                    f"'{column}'); held-out people must not be in the release: give a control file without "
                    "them, or remove them from the input"
                )


@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads a population in the codes of its values and those of the input.

    Attributes
    ----------
    relation: the input.
    source: the population; the input itself if people are estimated by its weights.
    table: of the input.
    persons: distinct row and person of each record of the input; None where records are persons.
    """

    plan: Plan
    relation: Relation
    source: Relation
    table: Table
    persons: tuple[IntArray, IntArray] | None

    def population(self, weight: str | None) -> Population:
        """Return the population.

        Parameters
        ----------
        weight: column of the source with the people that a record stands for; None for one each.
        """
        own, estimated = self.table.quasi_identifiers, self.source is self.relation
        names = [each.name for each in own]
        groups, scaled, scale, owners = _counted(self.plan, self.source, names, weight, sample=estimated)
        found = [self._placed(attribute, groups, place) for place, attribute in enumerate(own)]
        if prod(int(each.nodes.shape[1]) for each, _, _ in found) >= SPACE:
            raise InputError(
                f"{self.plan.config}: constraints that count the population need fewer quasi-identifiers, "
                f"or fewer distinct values: {len(own)} are too many to compare"
            )
        codes = np.stack([codes for _, codes, _ in found], axis=1)
        attributes = tuple(each for each, _, _ in found)
        notes = tuple(rounding_warnings(self.plan, self.source, [weight]))
        people = Population(self.source.name, attributes, codes, scaled, scale, estimated, owners, notes)
        if not estimated:
            self._check_sample(people, [sample for _, _, sample in found])
        return people

    def _placed(
        self, attribute: QuasiIdentifier, groups: Groups, place: int
    ) -> tuple[PopulationAttribute, CodeArray, IntArray]:
        """Return an attribute, the code of each group, and the code of each value of the input."""
        texts, read = self._read(attribute.column)
        code_of = dict(zip(texts, read.codes.tolist(), strict=True))
        sample = np.zeros(attribute.column.size, dtype=np.int64)
        for text, code in zip(
            [text for text, _ in self.relation.dictionary(attribute.name)],
            self._sample_codes(attribute.column),
            strict=True,
        ):
            sample[code] = code_of[text]
        values = groups.values[place]
        codes = np.array([code_of[text] for text in values], dtype=np.int32)
        present = np.zeros(read.column.size, dtype=bool)
        present[codes] = True
        lacking = np.flatnonzero(~present[sample])
        if len(lacking):
            text, records = attribute.column.texts[lacking[0]], int(attribute.column.counts[lacking[0]])
            raise DataError(
                f"{self.source.name}: column '{attribute.name}' lacks the value '{text}', which "
                f"{plural(records, 'record')} of {self.relation.name} have; the population must contain "
                "everyone in the input"
            )
        return self._nodes(attribute, read.column, sample), codes[groups.codes[:, place]], sample

    def _sample_codes(self, column: Column) -> list[int]:
        """Return the code of each text of the input's dictionary."""
        dictionary = self.relation.dictionary(column.name)
        request = self.plan.request(column.name, column.type)
        codes: list[int] = column_of(self.relation.name, dictionary, request, self._missing).codes.tolist()
        return codes

    @property
    def _missing(self) -> frozenset[str]:
        return frozenset({*self.plan.missing, MISSING})

    def _read(self, column: Column) -> tuple[list[str | None], Any]:
        """Return the texts of a column in either table, and the column of all of them."""
        counts: Counter[str | None] = Counter(dict(self.relation.dictionary(column.name)))
        request = self.plan.request(column.name, column.type, "the input")
        if self.source is not self.relation:
            others = self.source.dictionary(column.name)
            # Messages count the records of the population alone.
            column_of(self.source.name, others, request, self._missing)
            counts.update(dict(others))
        texts = sorted(counts, key=lambda text: (text is None, text or ""))
        dictionary = [(text, counts[text]) for text in texts]
        return texts, column_of(self.source.name, dictionary, request, self._missing)

    def _nodes(self, attribute: QuasiIdentifier, column: Column, sample: IntArray) -> PopulationAttribute:
        """Return the nodes of the input's hierarchy for all values.

        Raises
        ------
        InputError: the hierarchy lacks a value, or is another one with the values of the population.
        """
        try:
            (other,) = self.plan.quasi_identifiers({attribute.name: column})
        except HierarchyError as error:
            raise HierarchyError(f"{self.source.name}: {error}") from None
        own, height = attribute.hierarchy, attribute.hierarchy.height
        found = np.full((height + 1, column.size), -1, dtype=np.int32)
        steady = other.hierarchy.height == height
        for level in range(height + 1) if steady else ():
            theirs, mine = other.nodes(level), attribute.nodes(level)
            node = np.full(len(other.hierarchy.labels), -1, dtype=np.int32)
            node[theirs[sample]] = mine
            back = {(int(node[one]), int(one)) for one in np.unique(theirs[sample])}
            labels = {(own.labels[one], other.hierarchy.labels[two]) for one, two in back}
            steady = bool((node[theirs[sample]] == mine).all()) and len({one for one, _ in back}) == len(back)
            steady = steady and (level == 0 or all(one == two for one, two in labels))
            if not steady:
                break
            found[level] = node[theirs]
        if not steady:
            raise InputError(
                f"{self.source.name}: the hierarchy of '{attribute.name}' is built from the values of the "
                "input, and the values of the population would change its groups; use a hierarchy that does "
                "not depend on values, such as a file, a tree, or intervals with an origin"
            )
        return PopulationAttribute(own.labels, found)

    def _check_sample(self, people: Population, sample: Sequence[IntArray]) -> None:
        """Check that the population has everyone of the input.

        Raises
        ------
        DataError: it does not; names the values.
        """
        table, sizes = self.table, [each.nodes.shape[1] for each in people.attributes]
        strides = [prod(sizes[position + 1 :]) for position in range(len(sizes))]
        keys = np.zeros(table.combinations, dtype=np.int64)
        for position, (codes, stride) in enumerate(zip(sample, strides, strict=True)):
            keys += codes[table.quasi_identifier_codes(position)] * stride
        distinct, first, group = np.unique(keys, return_index=True, return_inverse=True)
        records = count(group, table.counts, len(distinct))
        if self.persons is not None:
            row_of, person_of = self.persons
            records = Units.of_items(group[row_of], person_of, len(distinct)).counted(
                np.arange(len(distinct)), len(distinct)
            )
        found = people.sizes(distinct, [np.arange(size) for size in sizes], strides)
        smaller = np.flatnonzero(found.scaled < records * people.scale)
        if len(smaller):
            own, row = table.quasi_identifiers, first[smaller[0]]
            texts = [each.column.texts[table.codes[row, place]] for place, each in enumerate(own)]
            number, names = int(records[smaller[0]]), [each.name for each in own]
            what = RECORD if self.persons is None else PERSON
            raise _too_few(people.source, "the input", names, texts, found.people[smaller[0]], number, what)


def exact_weights(
    plan: Plan, relation: Relation, name: str, groups: Groups, place: int
) -> tuple[IntArray, int]:
    """Return the weight of each group times a scale, shape (groups,), int64, and the scale.

    Parameters
    ----------
    relation: whose groups they are.
    place: of the column of weights in the groups.

    Raises
    ------
    DataError: a weight is not a positive number, or has too many digits to be added exactly.
    """
    scaled, scale = _exact(plan, relation, name, groups.values[place])
    return np.array(scaled, dtype=np.int64)[groups.codes[:, place]], scale


AS_FLOAT = 13
"""Number of digits from which on a weight is a floating-point number: R and pandas write 15 to 17."""

ROUNDED = 6
"""Digits that remain of such a weight after its point, or of one below 1 from the first that is not 0."""


def _exact(plan: Plan, relation: Relation, name: str, texts: Sequence[str | None]) -> tuple[list[int], int]:
    """Return the weights written as texts times a scale that makes them whole, and the scale.

    Each weight is rounded by itself, so that a weight is the same in the input and in its release.

    Raises
    ------
    DataError: as for ``exact_weights``.
    """
    numerals = check_weights(plan, relation, name)
    weights = [Decimal(numerals.plain(str(text)) or "").normalize() for text in texts]
    few = [_rounded(each) for each in weights]
    most = [own if _as_float(each) else each for each, own in zip(weights, few, strict=True)]
    for tried in (most, few):
        digits = max(0, *(-int(each.as_tuple().exponent) for each in tried))
        scaled = [int(each.scaleb(digits)) for each in tried]
        if max(scaled, default=0) * relation.rows <= LARGEST and 10**digits <= LARGEST:
            return scaled, 10**digits
    raise DataError(
        f"{relation.name}: the weights in column '{name}' differ too much, or are too large, to be added "
        f"exactly, even rounded to {ROUNDED} decimals; raise the smallest ones, or divide all by the same "
        "number"
    )


def _as_float(weight: Decimal) -> bool:
    return len(weight.as_tuple().digits) >= AS_FLOAT


def _rounded(weight: Decimal) -> Decimal:
    """Return a positive weight with ``ROUNDED`` decimals, or as many significant digits if it is below 1.

    >>> _rounded(Decimal("504.5696202531645")), _rounded(Decimal("0.000123456789"))
    (Decimal('504.569620'), Decimal('0.000123457'))
    """
    decimals = max(ROUNDED, ROUNDED - 1 - weight.adjusted())
    if -int(weight.as_tuple().exponent) <= decimals:
        return weight
    return weight.quantize(Decimal(1).scaleb(-decimals))


def rounding_warnings(plan: Plan, relation: Relation, names: Iterable[str | None]) -> list[str]:
    """Return the warnings about columns of weights that are summed rounded, as they could not be exactly.

    Parameters
    ----------
    names: of the columns; those that are None or not in the relation are passed over.
    """
    found = []
    for name in dict.fromkeys(names):
        if name is None or name not in relation.columns:
            continue
        dictionary = relation.dictionary(name)
        scaled, scale = _exact(plan, relation, name, [text for text, _ in dictionary])
        numerals = check_weights(plan, relation, name)
        rounded = sum(
            records
            for (text, records), own in zip(dictionary, scaled, strict=True)
            if Fraction(numerals.plain(str(text)) or "") != Fraction(own, scale)
        )
        if rounded:
            found.append(
                f"{relation.name}: {rounded:,} of {relation.rows:,} records have weights in column '{name}' "
                f"with too many digits for exact sums. For sums, they are rounded to {ROUNDED} decimals, "
                f"or to {ROUNDED} significant digits if they are below 1. The file and the release keep all "
                "digits"
            )
    return found


def with_people(classes: Classes, groups: Groups, table: Table, recoding: Recoding) -> Classes:
    """Return the classes of a release with their people, found by the texts of the release.

    Whether the population has classes without a record of the input does not follow from the release: some
    of its classes may be suppressed.

    Parameters
    ----------
    groups: distinct rows of the release, its quasi-identifiers first.
    table: that was recoded, with its population.
    """
    population, levels = table.population, recoding.levels
    assert population is not None, "the table has a population"
    assert levels is not None, "only full-domain recoding serves populations"
    width = len(population.attributes)
    first = np.zeros(classes.number, dtype=np.int64)
    first[classes.class_of] = np.arange(len(groups.counts))
    found = population.in_release(groups.values[:width], groups.codes[first, :width], levels)
    whole = RollUp.of(table).classes(levels).population
    assert whole is not None, "the table has a population"
    return classes.with_population(replace(found, absent=whole.absent))


def people_of_rows(table: Table, recoding: Recoding, rows: IntArray) -> PopulationSizes:
    """Return the people of the classes of some distinct rows of a table, in the given order."""
    assert recoding.levels is not None, "only full-domain recoding serves populations"
    classes = RollUp.of(table).classes(recoding.levels)
    assert classes.population is not None, "the table has a population"
    return classes.population.keep(classes.class_of[rows])


def people_of_file(
    plan: Plan, relation: Relation, names: Sequence[str], persons: IntArray | None
) -> PopulationSizes | None:
    """Return the people of the classes of a file, in the order of its rows; None if they are unknown.

    They are known from the file's own weights, or from a population whose values, or generalized values of
    one level in each column, are those of the file.

    Parameters
    ----------
    names: of the quasi-identifiers.
    persons: of each class, shape (classes,), int64; None where the records of the file are persons.

    Raises
    ------
    DataError: the population has fewer people with some values than the file has, or the weights of a person
        differ.
    """
    if plan.population is None:
        weight = plan.sampling_weight
        asked = [weight, plan.units.get(PERSON, weight)]
        if weight is None or any(each not in relation.columns for each in asked):
            return None
        return _by_weight(plan, relation, names, weight)
    groups = relation.group_counts(names)
    order = np.lexsort(groups.codes.T[::-1])
    rows = groups.codes[order]
    with open_people(plan.population) as source:
        _check_columns(source, relation, names)
        typed = plan.typed(_types_in_population(plan, source, relation, names), "the input")
        people = _alone(typed, source, names, plan.population.weight)
    values, fitting = [], []
    for name, attribute, texts in zip(names, people.attributes, groups.values, strict=True):
        shown = [{attribute.labels[node] for node in np.unique(own)} for own in attribute.nodes]
        known = _as_labels(plan, name, texts, shown[0])
        fitting.append([level for level, own in enumerate(shown) if own.issuperset(known)])
        values.append(known)
    if not all(fitting):
        return None
    sample, what = (groups.counts[order], RECORD) if persons is None else (persons, PERSON)
    if persons is None and PERSON in plan.units:  # a release shows only that a class has a person
        sample, what = np.ones_like(sample), PERSON
    found, smaller = _at_lowest(people, values, rows, fitting, sample)
    if len(smaller):
        first = smaller[0]
        own = [texts[code] for texts, code in zip(values, rows[first], strict=True)]
        number = int(sample[first])
        raise _too_few(people.source, relation.name, names, own, found.people[first], number, what)
    return found


def _at_lowest(
    people: Population,
    values: Sequence[Sequence[str | None]],
    rows: CodeArray,
    fitting: Sequence[Sequence[int]],
    sample: IntArray,
) -> tuple[PopulationSizes, IntArray]:
    """Return the people of classes by the lowest levels at which none has fewer than the sample.

    A label may stand at several levels; the lowest has the fewest people.

    Parameters
    ----------
    fitting: levels of each quasi-identifier that have all its texts.

    Returns
    -------
    The people; and the classes with too few, all by the lowest levels, if no other levels fit.
    """
    tried = []
    for levels in sorted(product(*fitting), key=sum):
        found = people.in_release(values, rows, levels)
        tried.append((found, np.flatnonzero(found.scaled < sample * people.scale)))
        if not len(tried[-1][1]):
            return tried[-1]
    return tried[0]


def _types_in_population(
    plan: Plan, source: Relation, relation: Relation, names: Sequence[str]
) -> dict[str, ValueType | None]:
    """Return the types of the columns of a file whose values are those of a population, by name.

    A run reads its population so. Where the file has generalized values, they say nothing about the type.
    """
    found: dict[str, ValueType | None] = {}
    for request in plan.requests(names):
        try:
            column = read_columns(relation, [request], plan.missing)[request.name].column
        except DataError:
            continue
        key = key_of(column.type, column.numerals, column.dates)
        people = {key(text) for text, _ in source.dictionary(request.name) if text is not None}
        if column.present and people.issuperset(map(key, column.present)):
            found[request.name] = column.type
    return found


def _as_labels(plan: Plan, name: str, texts: Sequence[str | None], labels: Collection[str]) -> list[str]:
    """Return the texts of a column as other labels of the column spell equal values."""
    absent = plan.absent_among(name, texts)
    # Labels that numbers stand for have a decimal point, whatever the file has.
    shown = plan.numerals if plan.columns[name].labels is NumberLabels.RANGE else POINT
    keys = [text_identity, key_of(ValueType.NUMBER, plan.numerals), key_of(ValueType.DATE)]
    of_labels = [text_identity, key_of(ValueType.NUMBER, shown), key_of(ValueType.DATE)]
    spelled: dict[Any, str] = {key(label): label for key in of_labels for label in sorted(labels)}
    spelled.pop(None, None)

    def as_label(text: str) -> str:
        return next((spelled[key(text)] for key in keys if key(text) in spelled), text)

    return [MISSING if text is None or text in absent else as_label(text) for text in texts]


def _too_few(
    population: str,
    sample: str,
    names: Sequence[str],
    values: Sequence[str | None],
    people: float,
    number: int,
    what: str,
) -> DataError:
    """Return the error of a population with fewer people than the sample has of them."""
    shown = ", ".join(f"{name} '{value}'" for name, value in zip(names, values, strict=True))
    return DataError(
        f"{population}: the number of people with {shown} is {people:g}, but {sample} has "
        f"{plural(number, what)} with these values; the population must contain everyone in {sample}"
    )


def _alone(plan: Plan, source: Relation, names: Sequence[str], weight: str | None) -> Population:
    """Return a population in the hierarchies of its own values."""
    groups, scaled, scale, _ = _counted(plan, source, names, weight, sample=False)
    read = read_columns(source, plan.requests(names), plan.missing)
    own = plan.quasi_identifiers({name: each.column for name, each in read.items()})
    attributes = tuple(
        PopulationAttribute(
            each.hierarchy.labels,
            np.stack([each.nodes(level) for level in range(each.hierarchy.height + 1)]),
        )
        for each in own
    )
    codes = [read[name].codes[groups.codes[:, place]] for place, name in enumerate(names)]
    return Population(source.name, attributes, np.stack(codes, axis=1), scaled, scale)


def _counted(
    plan: Plan, source: Relation, names: Sequence[str], weight: str | None, *, sample: bool
) -> tuple[Groups, IntArray, int, RowOwners | None]:
    """Return the distinct rows of a population, their people times a scale, the scale, and their owners.

    Parameters
    ----------
    sample: whether the rows are those of the input, where a person may have several and counts once.

    Raises
    ------
    DataError: a weight is no positive number, or a person of the sample has two.
    """
    person = plan.units.get(PERSON) if sample else None
    asked = [*names, *(each for each in (weight, person) if each is not None)]
    for name in asked:
        source.position(name)
    groups = source.group_counts(asked)
    if weight is None:
        return groups, groups.counts, 1, None
    each, scale = exact_weights(plan, source, weight, groups, len(names))
    if person is None:
        return groups, groups.counts * each, scale, None
    known = np.array([text not in plan.absent for text in groups.values[-1]], dtype=np.bool_)
    person_of = groups.codes[:, -1].astype(np.int64)
    person_of = np.where(known[person_of], person_of, -1)
    owned = np.flatnonzero(person_of >= 0)
    own = np.zeros(len(known), dtype=np.int64)
    own[person_of[owned]] = each[owned]
    other = owned[own[person_of[owned]] != each[owned]]
    if len(other):
        two = sorted({int(own[person_of[other[0]]]), int(each[other[0]])})
        weights = " and ".join(f"{number / scale:g}" for number in two)
        raise DataError(
            f"{source.name}: column '{weight}' has different weights in the records of "
            f"{plural(len(np.unique(person_of[other])), 'person')} of column '{person}', such as {weights}; "
            "a person must have the same weight in all records"
        )
    owners = RowOwners.of(person_of, groups.counts)
    return groups, each * owners.persons, scale, owners


def _by_weight(plan: Plan, relation: Relation, names: Sequence[str], weight: str) -> PopulationSizes:
    groups, scaled, scale, owners = _counted(plan, relation, names, weight, sample=True)
    class_of, first = numbered(groups.codes[:, : len(names)].T, len(groups.counts))
    owners = RowOwners(np.full(len(class_of), -1), groups.counts) if owners is None else owners
    people, persons = (owners.added(class_of, len(first), each) for each in (scaled, owners.persons))
    return PopulationSizes(people, scale, estimated=True, persons=persons)


def population_facts(population: Population | None) -> dict[str, Any] | None:
    """Return the ``population`` entry of the report; None without one."""
    if population is None:
        return None
    return {
        "source": "sampling weights" if population.estimated else "table",
        "people": population.people,
    }


BandLabels = Sequence[str | float | None]
"""The label of each text in the dictionary of a column."""


def put_in_bands(plan: Plan, relation: Relation) -> None:
    """Replace the values of columns of an input by the groups that the plan releases.

    Raises
    ------
    InputError: a value or a hierarchy does not fit the config, or the engine cannot replace values.
    """
    if plan.bands:
        check_columns(plan.columns, relation.columns, relation.name, plan.config)
        relation.relabel({name: _labels(plan, relation, name, own) for name, own in plan.bands.items()})


def put_values_in_bands(plan: Plan, relation: Relation) -> None:
    """Do the same for a file that may be a release, whose columns may have the groups already."""
    found = {}
    for name, own in plan.bands.items():
        with suppress(DataError, HierarchyError):
            found[name] = _labels(plan, relation, name, own)
    if found:
        relation.relabel(found)


def _labels(plan: Plan, relation: Relation, name: str, own: Bands) -> BandLabels:
    """Return what is released for each text of a column; missing values stay as they are.

    Raises
    ------
    DataError: a value is not of the column's type.
    HierarchyError: the hierarchy does not fit the values, or has nothing to release in their place.
    """
    request = ColumnRequest(name, own.column.type, plan.numerals, own.column.dates)
    read = read_columns(relation, [request], plan.missing)[name]
    hierarchy, leaf = place(
        read.column, own.hierarchy.source, Placement(plan.folder, own.hierarchy.unknown, plan.missing)
    )
    if hierarchy.height < 2:
        raise HierarchyError(
            f"attributes.{name}.labels: its hierarchy has nothing between the values and '{SUPPRESSED}'; "
            "add a level, or set role: drop"
        )
    nodes = hierarchy.ancestors[1, leaf].tolist()
    shown: list[str | float | None] = [hierarchy.labels[node] for node in nodes]
    if plan.columns[name].distance == "ordered":
        groups = [hierarchy.labels[node] for node in nodes[: len(read.column.present)]]
        _check_order(groups, name, plan.numerals.decimal)
    if own.form is NumberLabels.MIDPOINT:
        stored = not relation.is_text(name)
        shown = [
            None if code == read.column.missing else _midpoint(str(label), name, plan.numerals, stored=stored)
            for code, label in enumerate(shown)
        ]
    return _for_texts(relation.dictionary(name), read, shown)


def _check_order(labels: Sequence[str], name: str, decimal: str) -> None:
    """Check that recipients, who see the labels alone, put them in the order of the values."""
    own = list(dict.fromkeys(labels))
    if own != in_natural_order(own, decimal):
        raise HierarchyError(
            f"attributes.{name}.labels: the texts of its groups, such as '{own[0]}', are not sorted in the "
            "order of the values, which distance: ordered needs; use labels: midpoint, or distance: equal"
        )


def _for_texts(
    dictionary: Sequence[tuple[str | None, int]], read: ReadColumn, shown: BandLabels
) -> BandLabels:
    missing, codes = read.column.missing, read.codes.tolist()
    return [
        text if code == missing else shown[code] for (text, _), code in zip(dictionary, codes, strict=True)
    ]


def _midpoint(label: str, name: str, numerals: Numerals, *, stored: bool) -> str | float:
    """Return the middle of a group of numbers, as text or as a stored number."""
    found = interval_of(label, numerals.decimal)
    if found is None or found.low is None or found.high is None:
        what = "has no lower or no upper end" if found else "is no interval of numbers"
        raise HierarchyError(
            f"attributes.{name}.labels: '{label}' {what}, so it has no midpoint; use labels: range, or "
            "hierarchy intervals"
        )
    text = number_text((found.low + found.high) / 2)
    if text is None:
        raise HierarchyError(
            f"attributes.{name}.labels: the midpoint of '{label}' has more digits than numbers of 64 bits "
            "hold; use labels: range"
        )
    return float(text) if stored else text.replace(".", numerals.decimal)


class Phase(StrEnum):
    """What a run spends its time on; the report has the seconds of each."""

    READ = "read"
    PREPARE = "prepare"
    SEARCH = "search"
    BOUND = "bound"
    DIAGNOSE = "diagnose"
    WRITE = "write"
    VERIFY = "verify"
    ATTACK = "attack"
    UTILITY = "utility"
    ADVISE = "advise"


class PhaseClock:
    """The seconds of each phase of a run."""

    def __init__(self) -> None:
        self._seconds: dict[Phase, float] = {}
        self._now: Phase | None = None
        self._since = 0.0

    def begin(self, phase: Phase) -> None:
        """End the phase before, and begin one, perhaps again."""
        now = perf_counter()
        if self._now is not None:
            self._seconds[self._now] += now - self._since
        self._seconds.setdefault(phase, 0.0)
        self._now, self._since = phase, now

    def so_far(self) -> dict[str, float]:
        """Return the seconds of each phase, in the order in which they began."""
        if self._now is not None:
            self.begin(self._now)
        return {phase.value: round(seconds, 3) for phase, seconds in self._seconds.items()}


@dataclass(frozen=True)
class RunMonitor:
    """Callbacks that follow a run and may stop it.

    Attributes
    ----------
    progress: receives the progress of the search.
    phase: receives the name of each phase, or of a part of it, as it begins.
    say: receives lines about a phase, such as how long an attack will take.
    attacked: receives the results of each attack as it ends.
    stopped: returns whether the user wants the search, or the attacks after it, to end.
    released: receives the report when the release is in place but can still be undone; an error undoes it and
        restores an earlier release.
    clock: of the phases.
    """

    progress: Callable[[Progress], None] | None = None
    phase: Callable[[str], None] = lambda _: None
    say: Callable[[str], None] = lambda _: None
    attacked: Callable[[Sequence[AttackResult]], None] = lambda _: None
    stopped: Callable[[], bool] = lambda: False
    released: Callable[[Report], None] = lambda _: None
    clock: PhaseClock = field(default_factory=PhaseClock)

    def begin(self, phase: Phase, name: str) -> None:
        """Begin a phase, and say its name."""
        self.clock.begin(phase)
        self.phase(name)


UNWATCHED = RunMonitor()
