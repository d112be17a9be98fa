"""How what a search found is published: as one table, or as two that are joined by a group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.config.search import EngineName
from anonymizer.data.relation import Projection, Relation
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.classes import Released
from anonymizer.model.out_of_core import PlacedRows
from anonymizer.release.anatomy import pair_columns, pair_named, project_pair
from anonymizer.release.query import (
    FromEngine,
    FromRecords,
    FromTable,
    Publishable,
    counted_rows,
    project,
    recoded_rows,
    regions_rows,
)
from anonymizer.run.adversary import scene_of_run
from anonymizer.run.attributes import weight_columns
from anonymizer.run.job import Job
from anonymizer.run.verify import (
    Audited,
    attribute_in_groups,
    groups_of_run,
    pair_warnings,
    scene_of_groups,
    verify,
    verify_pair,
)

Tables = Sequence[Relation]
"""A release that was read back: one table, or two."""


def released_columns(config: Config, relation: Relation) -> list[str]:
    """Return the columns of the release, in the order of the input: all but the identifiers."""
    return [name for name in relation.columns if config.attributes[name].role is not Role.IDENTIFIER]


class Publication(ABC):
    """A shape of releases."""

    @abstractmethod
    def names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files of a release, given what the config calls it."""

    @abstractmethod
    def check(self, config: Config, relation: Relation) -> None:
        """Refuse an input that cannot be published so, before anything is searched.

        Raises
        ------
        InputError: saying what stands in the way.
        """

    @abstractmethod
    def projections(
        self, config: Config, job: Job, relation: Relation, promised: Released
    ) -> tuple[Projection, ...]:
        """Say what of each record is published in each table."""

    def publishable(
        self,
        config: Config,
        job: Job,
        relation: Relation,
        promised: Released,
        ends: PlacedRows | None = None,  # noqa: ARG002 - what is beyond memory is one table
    ) -> tuple[Publishable, ...]:
        """Return the tables of the release, ready to be written.

        Parameters
        ----------
        ends: as of the outcome of the search.
        """
        projections = self.projections(config, job, relation, promised)
        return tuple(FromRecords(relation, projection) for projection in projections)

    @abstractmethod
    def verify(
        self, config: Config, job: Job, relation: Relation, promised: Released, tables: Tables
    ) -> Audited:
        """Measure a release that was read back, and compare it with what was promised.

        Raises
        ------
        AuditFailed: it is not what was promised, or does not satisfy every constraint.
        DataError: it has a column or value that the input has not.
        """

    @abstractmethod
    def scene(self, config: Config, job: Job, promised: Released, tables: Tables) -> AdversaryView:
        """Return what adversaries have, of a release that was read back."""

    @abstractmethod
    def warnings(self, config: Config) -> list[str]:
        """Return what a steward should know of any release of this shape."""


class SingleTablePublication(Publication):
    """All columns of a record in one row."""

    def names(self, path: str) -> tuple[str, ...]:
        """Return the one name."""
        return (path,)

    def check(self, config: Config, relation: Relation) -> None:
        """Every input will do."""

    def projections(
        self, config: Config, job: Job, relation: Relation, promised: Released
    ) -> tuple[Projection, ...]:
        """Say what of each record is published."""
        return (
            project(
                relation, job.rows(promised.recoding), promised.recoding, released_columns(config, relation)
            ),
        )

    def publishable(
        self,
        config: Config,
        job: Job,
        relation: Relation,
        promised: Released,
        ends: PlacedRows | None = None,
    ) -> tuple[Publishable, ...]:
        """Return the table, from the frequency table where that tells all that is released."""
        columns = released_columns(config, relation)
        positions = {read.column.name: read.codes for read in job.encoded.columns}
        if relation.writer is not None:
            rows = counted_rows(relation, promised.recoding, positions, columns)
            if rows is not None:
                return (FromTable(relation.writer, rows),)
        writer, recoding = relation.recoded_writer, promised.recoding
        # Which record goes to which part of a combination is found in memory, where records have an order.
        in_memory = job.engine.name == EngineName.MEMORY or recoding.owner is not None
        if writer is None or (relation.ordered and in_memory):
            return super().publishable(config, job, relation, promised)
        if job.problem.placing:
            codings = [read.coding for read in job.encoded.columns]
            return (FromEngine(writer, regions_rows(recoding, codings, columns, ends)),)
        return (FromEngine(writer, recoded_rows(recoding, job.codings(recoding), columns)),)

    def verify(
        self, config: Config, job: Job, relation: Relation, promised: Released, tables: Tables
    ) -> Audited:
        """Measure the table."""
        return verify(tables[0], relation, job, promised, released_columns(config, relation))

    def scene(self, config: Config, job: Job, promised: Released, tables: Tables) -> AdversaryView:
        """Return the table, and the input with what became of each record."""
        return scene_of_run(config, job, promised.recoding, tables[0], weight_columns(config))

    def warnings(self, config: Config) -> list[str]:  # noqa: ARG002 - nothing to say of any
        """Return nothing."""
        return []


class AnatomyPublication(Publication):
    """Quasi-identifiers with a group in one table, the sensitive values of each group in another."""

    def names(self, path: str) -> tuple[str, ...]:
        """Return the names of the pair."""
        return pair_named(Path(path)).names

    def check(self, config: Config, relation: Relation) -> None:
        """Refuse more than one sensitive attribute, and columns named like the new ones."""
        pair_columns(released_columns(config, relation), attribute_in_groups(config))

    def projections(
        self, config: Config, job: Job, relation: Relation, promised: Released
    ) -> tuple[Projection, ...]:
        """Say what of each record is published in each table."""
        columns = released_columns(config, relation)
        return project_pair(relation, job.rows(promised.recoding), groups_of_run(promised), columns)

    def verify(
        self, config: Config, job: Job, relation: Relation, promised: Released, tables: Tables
    ) -> Audited:
        """Measure the groups."""
        records, values = tables
        return verify_pair((records, values), relation, job, promised, released_columns(config, relation))

    def scene(self, config: Config, job: Job, promised: Released, tables: Tables) -> AdversaryView:
        """Return the tables, and the input with what became of each record."""
        records, values = tables
        return scene_of_groups(config, job, groups_of_run(promised), (records, values))

    def warnings(self, config: Config) -> list[str]:
        """Return what groups do not protect from."""
        return pair_warnings(config)


def publication_of(config: Config) -> Publication:
    """Return the shape of what the algorithm of a config finds."""
    return AnatomyPublication() if config.algorithm.plug_in.in_groups else SingleTablePublication()
