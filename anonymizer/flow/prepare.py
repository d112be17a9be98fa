"""From a config and an open input to the problem that a search solves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from pathlib import Path
from typing import Any

from anonymizer.config.attribute import Role
from anonymizer.config.load import check_columns
from anonymizer.config.model import Config, Reference
from anonymizer.data.open import OPTIONS, open_file
from anonymizer.data.relation import Coding, Relation
from anonymizer.data.source import CsvDialect, EngineOptions
from anonymizer.data.table import Encoded, EngineTables, ReadColumn, read_columns, recoded_as
from anonymizer.errors import ConfigError, ConfigProblem, DataError
from anonymizer.flow.beyond import check_beyond_memory, coarsest, columns_outside_table
from anonymizer.flow.constraints import constraints_of, required_size
from anonymizer.flow.counting import Counted, EngineChoice, count_distinct_rows, finest
from anonymizer.flow.engine import engine_options
from anonymizer.flow.placing import NO_SOURCES, quasi_identifiers, sensitive_attributes
from anonymizer.flow.requests import check_number_formats, requests
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.arrays import CodeArray
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SUPPRESSED, Column, Table
from anonymizer.privacy.base import ClassConstraint, Constraint, ReleaseConstraint, TableConstraint
from anonymizer.release.formats import Csv, release_format
from anonymizer.search.base import AttackCheck, SearchProblem, SuppressionMethod


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
    source = EngineTables(attributes, sensitive, found.combinations) if found.beyond else None
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
