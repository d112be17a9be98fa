"""The search problem of a run, prepared from a config and an open input.

If the distinct rows do not fit in memory, the run works on coarser ones or is refused. Attack-based
constraints are measured separately from counted ones. A monitor follows the run and may stop it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.config.attribute import Role
from anonymizer.config.load import check_columns
from anonymizer.config.model import Config, Reference
from anonymizer.data.open import OPTIONS, open_file
from anonymizer.data.relation import Coding, Relation
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
from anonymizer.release.formats import Csv, release_format
from anonymizer.release.query import told
from anonymizer.run.attributes import (
    NO_SOURCES,
    check_number_formats,
    constraints_of,
    quasi_identifiers,
    requests,
    required_size,
    sensitive_attributes,
    weight_columns,
)
from anonymizer.run.engine import Counted, EngineChoice, count_distinct_rows, engine_options, finest
from anonymizer.search.base import AttackCheck, Progress, SearchProblem, Stage, SuppressionMethod


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


def columns_outside_table(config: Config, relation: Relation, columns: Mapping[str, ReadColumn]) -> list[str]:
    """Return the released columns that cannot be written without a look at the records."""
    positions = {read.column.name: read.codes for read in columns.values()}
    roles = {name: config.attributes[name].role for name in relation.columns}
    released = [name for name in relation.columns if roles[name] is not Role.IDENTIFIER]
    if relation.writer is None:
        return released
    return [
        name
        for name in released
        if roles[name] is not Role.QUASI_IDENTIFIER and not told(relation, name, positions)
    ]


def check_beyond_memory(
    config: Config, problem: SearchProblem, found: Counted, untold: Sequence[str]
) -> None:
    """Refuse what asks for every distinct combination at once.

    Parameters
    ----------
    untold: released columns that the frequency table does not tell, nor can the engine join.

    Raises
    ------
    InputError: naming all of it, and what would do.
    """
    refused = [*_refused(config, problem), *_untold(config, untold)]
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


def _refused(config: Config, problem: SearchProblem) -> Iterator[str]:
    if not config.algorithm.plug_in.out_of_core:
        able = [name for name, each in config.algorithm.registry().items() if each.out_of_core]
        yield f"algorithm {config.algorithm.name} (accepted: {', '.join(able)})"
    else:
        yield from config.algorithm.build().out_of_core_gaps(problem)
    if problem.suppression is not SuppressionMethod.CLASSES:
        yield f"suppression.method {problem.suppression.value} (accepted: classes)"
    for constraint in problem.gate.constraints:
        yield f"constraint {constraint.model.name}, whose attackers hold the original records"
    if config.attacks:
        scene = AdversaryView(_published(problem.table, weight_columns(config)))
        for position, each in enumerate(config.attacks):
            lacking = each.build().missing_requirement(scene)
            if lacking is not None:
                yield f"attacks[{position}]: {each.attack}, which needs {lacking}"
            elif getattr(each.settings, "features", each.attack) is None:
                yield f"attacks[{position}]: {each.attack} of original values (accepted: features: published)"
    if config.utility:
        yield "utility, which compares the release with the original records"


def _untold(config: Config, columns: Sequence[str]) -> Iterator[str]:
    """Name the columns that only a look at the records could release, which do not stand in an engine."""
    algorithm = config.algorithm.plug_in
    if columns and algorithm.out_of_core and not algorithm.by_codes:
        named = ", ".join(f"'{name}'" for name in columns)
        yield (
            f"with algorithm {config.algorithm.name} a release of {named}, which "
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
class Job:
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
    kind = release_format(path)
    return open_file(path, CsvDialect(kind.separator if isinstance(kind, Csv) else None), options)


def prepare(config: Config, relation: Relation) -> Job:
    """Read, encode and generalize the columns of an input into a problem.

    Raises
    ------
    InputError: the columns, values or hierarchies do not fit the config.
    """
    job = job_of(config, relation, read_attributes(config, relation))
    check_search(config, job)
    return job


def check_search(config: Config, job: Job) -> None:
    """Refuse a search that asks for every distinct combination, where these do not fit in memory.

    Raises
    ------
    InputError: naming what asks for them.
    """
    if job.problem.source is not None:
        relation = job.encoded.relation
        columns = {read.column.name: read for read in job.encoded.columns}
        untold = columns_outside_table(config, relation, columns) if relation.recoded_writer is None else ()
        check_beyond_memory(config, job.problem, job.counted, untold)


def read_attributes(config: Config, relation: Relation) -> dict[str, ReadColumn]:
    """Read the quasi-identifiers, then the sensitive attributes, each kind in the order of the input.

    Raises
    ------
    InputError: the columns or values do not fit the config.
    """
    check_columns(config, relation.columns, relation.name)
    names = [
        name
        for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        for name in relation.columns
        if config.attributes[name].role is role
    ]
    check_number_formats(config, relation)
    columns = read_columns(relation, requests(config, names), config.input.missing)
    _refuse_stars(relation, [columns[name].column for name in config.with_role(Role.QUASI_IDENTIFIER)])
    return columns


def job_of(
    config: Config,
    relation: Relation,
    columns: Mapping[str, ReadColumn],
    sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES,
) -> Job:
    """Encode and generalize columns that were read into a problem.

    Parameters
    ----------
    sources: hierarchies of quasi-identifiers by name, in place of the config's.

    Raises
    ------
    InputError: the hierarchies do not fit the values.
    """
    known = {name: read.column for name, read in columns.items()}
    attributes, sensitive = quasi_identifiers(config, known, sources), sensitive_attributes(config, known)
    constraints = tuple(constraints_of(config, [attribute.name for attribute in sensitive]))
    found = count_distinct_rows(config, relation, [read.coding for read in columns.values()])
    source = None
    if found.beyond:
        folder = engine_options(config).temp_directory
        source = EngineTables(attributes, sensitive, found.combinations, folder)
    table = finest(attributes, sensitive, found) if source is None else coarsest(source, attributes, found)
    problem = replace(_problem(config, table, constraints), source=source, most=found.most)
    if source is not None and not config.algorithm.plug_in.by_codes:
        problem = replace(problem, placing=bool(columns_outside_table(config, relation, columns)))
    encoded = Encoded(table.codes, table.counts, relation, tuple(columns.values()))
    return Job(problem, encoded, constraints, data_dependent_hierarchies(config), found)


def _problem(config: Config, table: Table, constraints: Sequence[Constraint]) -> SearchProblem:
    """Return what a search is asked of a table that holds all."""
    return SearchProblem(
        table,
        tuple(each for each in constraints if isinstance(each, ClassConstraint)),
        tuple(each for each in constraints if isinstance(each, TableConstraint)),
        config.objective.build(),
        floor(config.suppression.limit * table.records),
        config.suppression.keep_rows,
        config.reference is Reference.RELEASE,
        required_size(config),
        SuppressionMethod(config.suppression.method.value),
        AttackCheck([each for each in constraints if isinstance(each, ReleaseConstraint)], config.seed),
        config.seed,
    )


def data_dependent_hierarchies(config: Config) -> frozenset[str]:
    """Return the sensitive attributes whose hierarchy depends on the data that it is built for."""
    return frozenset(
        name
        for name in config.with_role(Role.SENSITIVE)
        if (given := config.attributes[name].hierarchy) is not None and given.build().rule_built
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


def attack_written_release(job: Job, scene: AdversaryView) -> list[Measurement]:
    """Attack a release that was read back, with targets and randomness that the search had not.

    Parameters
    ----------
    scene: of the release and the input, without the recipe.
    """
    gate = job.problem.gate
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
    """How a run is watched: who is told its progress, and who may stop it.

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
