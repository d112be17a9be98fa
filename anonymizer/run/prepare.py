"""The search problem of a run, prepared from a plan and an open input.

If the distinct rows do not fit in memory, the run works on coarser ones or is refused. Attack-based
constraints are measured separately from counted ones. A monitor follows the run and may stop it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.config.attribute import Role
from anonymizer.config.load import check_columns
from anonymizer.config.model import Config
from anonymizer.data.open import OPTIONS, open_file
from anonymizer.data.relation import Coding, EngineRelation, Relation
from anonymizer.data.source import CsvDialect, EngineOptions
from anonymizer.data.table import Encoded, EngineTables, ReadColumn, read_columns, recoded_as
from anonymizer.errors import ConfigError, ConfigProblem, DataError, InputError
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.arrays import CodeArray
from anonymizer.model.classes import Measurement, SensitiveCodes
from anonymizer.model.out_of_core import TableSource
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Report
from anonymizer.model.table import SUPPRESSED, Column, QuasiIdentifier, Table
from anonymizer.privacy.base import (
    ClassConstraint,
    Constraint,
    CountedConstraint,
    ReleaseConstraint,
    TableConstraint,
    describe,
)
from anonymizer.release.formats import release_separator
from anonymizer.release.query import told
from anonymizer.run.engine import Counted, EngineChoice, count_distinct_rows, engine_options, finest
from anonymizer.run.plan import NO_SOURCES, Plan, check_number_formats
from anonymizer.search.base import (
    SEARCH_ALGORITHMS,
    AttackCheck,
    Progress,
    SearchProblem,
    Stage,
    SuppressionMethod,
)


def coarsest(source: TableSource, attributes: Sequence[QuasiIdentifier], found: Counted) -> Table:
    """Return the table at the highest allowed levels, with attributes that may be used at every allowed one.

    Raises
    ------
    InputError: even that does not fit.
    """
    table = source.at([attribute.maximum for attribute in attributes], found.most)
    if table is None:
        raise InputError(
            f"{row_limit_message(found)}, even at the highest levels that attributes.*.levels allow; "
            "allow higher levels, or more memory (engine.memory_limit, engine.options.combinations)"
        )
    return replace(table, quasi_identifiers=tuple(attributes))


def columns_outside_table(plan: Plan, relation: Relation, columns: Mapping[str, ReadColumn]) -> list[str]:
    """Return the released columns that cannot be written without a look at the records."""
    positions = {read.column.name: read.codes for read in columns.values()}
    released = plan.released(relation.columns)
    if not isinstance(relation, EngineRelation):
        return released
    return [
        name
        for name in released
        if plan.columns[name].role is not Role.QUASI_IDENTIFIER and not told(relation, name, positions)
    ]


def check_beyond_memory(plan: Plan, problem: SearchProblem, found: Counted, untold: Sequence[str]) -> None:
    """Refuse what asks for every distinct combination at once.

    Parameters
    ----------
    untold: released columns that the frequency table does not tell, nor can the engine join.

    Raises
    ------
    InputError: naming all of it, and what would do.
    """
    refused = [*_refused(plan, problem), *_untold(plan, untold)]
    if refused:
        raise InputError(
            f"{row_limit_message(found)}, so that they stay in the engine, where these cannot be had: "
            f"{'; '.join(refused)}. Remove them, or allow more memory (engine.memory_limit, "
            "engine.options.combinations)"
        )


def row_limit_message(found: Counted) -> str:
    """Say how many combinations there are, and how many fit."""
    return (
        f"engine {found.choice.name}: the input has {found.combinations.number:,} distinct combinations, "
        f"where memory has room for {found.most:,}"
    )


def _refused(plan: Plan, problem: SearchProblem) -> Iterator[str]:
    if not plan.algorithm.out_of_core:
        able = [name for name, each in SEARCH_ALGORITHMS.items() if each.out_of_core]
        yield f"algorithm {plan.algorithm.name} (accepted: {', '.join(able)})"
    else:
        yield from plan.algorithm.out_of_core_gaps(problem)
    if problem.suppression is not SuppressionMethod.CLASSES:
        yield f"suppression.method {problem.suppression.value} (accepted: classes)"
    for constraint in problem.gate.constraints:
        yield f"constraint {constraint.model.name}, whose attackers hold the original records"
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


def _untold(plan: Plan, columns: Sequence[str]) -> Iterator[str]:
    """Name the columns that only a look at the records could release, which do not stand in an engine."""
    algorithm = plan.algorithm
    if columns and algorithm.out_of_core and not algorithm.by_codes:
        named = ", ".join(f"'{name}'" for name in columns)
        yield (
            f"with algorithm {algorithm.name} a release of {named}, which "
            f"{'is' if len(columns) == 1 else 'are'} in a DataFrame (accepted: files and tables)"
        )


def _published(table: Table, weights: Sequence[str]) -> PublishedTable:
    """Return a table of what a release at the highest levels would show, to ask attacks what they lack."""
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
    """A problem with the way back to the records.

    Attributes
    ----------
    encoded: the input's records, whose combinations are the rows of the problem's table.
    constraints: of the problem, in the order of the config.
    grown: sensitive attributes whose hierarchy was grown from the input's values.
    counted: the combinations of all records.
    """

    problem: SearchProblem
    encoded: Encoded
    constraints: tuple[Constraint, ...]
    grown: frozenset[str]
    counted: Counted

    @property
    def engine(self) -> EngineChoice:
        """What counts the combinations."""
        return self.counted.choice

    @property
    def positions(self) -> dict[str, CodeArray]:
        """The code of each text in the dictionary of each column that was read, by its name."""
        return {read.column.name: read.codes for read in self.encoded.columns}

    def rows(self, recoding: Recoding) -> CodeArray:
        """Return the row of the searched table for each record of the input, shape (records,), int32.

        Parameters
        ----------
        recoding: what was found; where the problem has a source of tables, the one that it is of is meant.
        """
        return self._encoded_as(recoding).combination

    def codings(self, recoding: Recoding) -> list[Coding]:
        """Return how the texts of records become the codes of the same table."""
        return [read.coding for read in self._encoded_as(recoding).columns]

    def _encoded_as(self, recoding: Recoding) -> Encoded:
        return self.encoded if self.problem.source is None else recoded_as(self.encoded, recoding.table)


def input_path(config: Config) -> Path:
    """Return where the input file of a config lies.

    Raises
    ------
    ConfigError: the config names none.
    """
    if config.input.path is None:
        what = "missing; accepted: the path of a .csv, .csv.gz, .tsv or .parquet file"
        raise ConfigError(config.source, [ConfigProblem("input.path", what)])
    return config.folder / config.input.path


def open_as(config: Config, path: Path) -> Relation:
    """Open a file as the config says its input is to be read."""
    dialect = CsvDialect(config.input.separator, config.input.encoding)
    return open_file(path, dialect, engine_options(config))


def open_described(config: Config, path: Path) -> Relation:
    """Open a file that a config describes: its input, or another file with such columns, however written.

    Raises
    ------
    DataError: it cannot be read, neither as UTF-8 with a separator that is detected nor as the input is.
    """
    given = config.input.path
    if given is not None and (config.folder / given).resolve() == path.resolve():
        return open_as(config, path)
    try:
        return open_file(path, options=engine_options(config))
    except DataError:
        return open_as(config, path)


def open_foreign_release(config: Config, path: Path) -> Relation:
    """Open a release that may be somebody else's, and then have a separator of its own.

    Raises
    ------
    DataError: as for ``open_described``.
    """
    try:
        return open_release(path, engine_options(config))
    except DataError:
        return open_described(config, path)


def open_release(path: Path, options: EngineOptions = OPTIONS) -> Relation:
    """Open a released file, whose separator is that of its format and not to be guessed."""
    return open_file(path, CsvDialect(release_separator(path)), options)


def prepare(plan: Plan, relation: Relation) -> Prepared:
    """Read, encode and generalize the columns of an input into a problem.

    Raises
    ------
    InputError: the columns, values or hierarchies do not fit the config.
    """
    prepared = prepare_table(plan, relation)
    check_search(plan, prepared)
    return prepared


def prepare_table(plan: Plan, relation: Relation) -> Prepared:
    """Do the same for what searches nothing; the table may then not fit in memory."""
    return problem_of(plan, relation, read_attributes(plan, relation))


def check_search(plan: Plan, prepared: Prepared) -> None:
    """Refuse a search that asks for every distinct combination, where these do not fit in memory.

    Raises
    ------
    InputError: naming what asks for them.
    """
    if prepared.problem.source is not None:
        relation = prepared.encoded.relation
        columns = {read.column.name: read for read in prepared.encoded.columns}
        stored = isinstance(relation, EngineRelation)
        untold = () if stored else columns_outside_table(plan, relation, columns)
        check_beyond_memory(plan, prepared.problem, prepared.counted, untold)


def read_attributes(plan: Plan, relation: Relation) -> dict[str, ReadColumn]:
    """Read the quasi-identifiers, then the sensitive attributes, each kind in the order of the input.

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
    columns = read_columns(relation, plan.requests(names), plan.missing)
    _refuse_stars(relation, [columns[name].column for name in plan.with_role(Role.QUASI_IDENTIFIER)])
    return columns


def problem_of(
    plan: Plan,
    relation: Relation,
    columns: Mapping[str, ReadColumn],
    sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES,
) -> Prepared:
    """Encode and generalize columns that were read into a problem.

    Parameters
    ----------
    sources: hierarchies of quasi-identifiers by name, in place of the config's.

    Raises
    ------
    InputError: the hierarchies do not fit the values.
    """
    known = {name: read.column for name, read in columns.items()}
    attributes, sensitive = plan.quasi_identifiers(known, sources), plan.sensitive_attributes(known)
    constraints = tuple(plan.constraints([attribute.name for attribute in sensitive]))
    found = count_distinct_rows(plan.engine, relation, [read.coding for read in columns.values()])
    source = None
    if found.beyond:
        source = EngineTables(attributes, sensitive, found.combinations, plan.engine.temp_directory)
    table = finest(attributes, sensitive, found) if source is None else coarsest(source, attributes, found)
    problem = replace(_problem(plan, table, constraints), source=source, most=found.most)
    if source is not None and not plan.algorithm.by_codes:
        problem = replace(problem, placing=bool(columns_outside_table(plan, relation, columns)))
    encoded = Encoded(table.codes, table.counts, relation, tuple(columns.values()))
    return Prepared(problem, encoded, constraints, plan.grown, found)


def _problem(plan: Plan, table: Table, constraints: Sequence[Constraint]) -> SearchProblem:
    """Return what a search is asked of a table that holds all."""
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
        AttackCheck([each for each in constraints if isinstance(each, ReleaseConstraint)], plan.seed),
        plan.seed,
    )


def _refuse_stars(relation: Relation, columns: Sequence[Column]) -> None:
    for column in columns:
        if SUPPRESSED in column.texts:
            records = int(column.counts[column.texts.index(SUPPRESSED)])
            raise DataError(
                f"{relation.name}: column '{column.name}' holds '{SUPPRESSED}' in {records} rows, which "
                "stands for suppressed in a release; list it in input.missing, or write another value"
            )


def countable_constraints(constraints: Sequence[Constraint]) -> list[CountedConstraint]:
    """Return the constraints that the classes of a release suffice to measure."""
    return [each for each in constraints if not isinstance(each, ReleaseConstraint)]


def in_order(
    constraints: Sequence[Constraint], own: Sequence[Measurement], attacked: Sequence[Measurement]
) -> list[Measurement]:
    """Return measurements in the order of the constraints.

    Parameters
    ----------
    own, attacked: of the counted constraints, and of the others.
    """
    first, second = iter(own), iter(attacked)
    return [next(second if isinstance(each, ReleaseConstraint) else first) for each in constraints]


def unmeasured(constraint: ReleaseConstraint) -> Measurement:
    """Return what a file alone tells of a constraint that an attack measures: nothing."""
    return _measurement(constraint, None, None)


def attack_written_release(prepared: Prepared, scene: AdversaryView) -> list[Measurement]:
    """Attack a release that was read back, with targets and randomness that the search had not.

    Parameters
    ----------
    scene: of the release and the input, without the recipe.
    """
    gate = prepared.problem.gate
    found = []
    for constraint in gate.constraints:
        measured = constraint.measured(scene, gate.random(constraint, Stage.AUDIT))
        found.append(_measurement(constraint, measured, constraint.holds(measured)))
    return found


def violated_constraints(constraints: Sequence[Constraint], measurements: Sequence[Measurement]) -> list[str]:
    """Return the constraints that an attack on the release broke, with what it reached."""
    return [
        f"{describe(constraint)} {each.measured:.4g} in the audit"
        for constraint, each in zip(constraints, measurements, strict=True)
        if isinstance(constraint, ReleaseConstraint) and each.satisfied is False
    ]


def _measurement(constraint: ReleaseConstraint, measured: float | None, held: bool | None) -> Measurement:
    name, parameters = constraint.model.name, constraint.parameters()
    return Measurement(name, constraint.attribute, parameters, measured, held, 0, False)


@dataclass(frozen=True)
class RunMonitor:
    """Callbacks that follow a run and may stop it.

    Attributes
    ----------
    progress: told how far the search is.
    phase: told what begins.
    stopped: asked whether the user wants the search to end.
    released: given the report once the release is in its place and can still be taken back; when this fails,
        it is taken back, and an earlier one is as it was.
    """

    progress: Callable[[Progress], None] | None = None
    phase: Callable[[str], None] = lambda _: None
    stopped: Callable[[], bool] = lambda: False
    released: Callable[[Report], None] = lambda _: None


UNWATCHED = RunMonitor()
