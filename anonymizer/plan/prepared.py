"""What a run holds: the problem that was read for the search, and what the search found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from anonymizer.data.relation import Coding
from anonymizer.data.table import Encoded, recoded_as
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.classes import Released
from anonymizer.model.recoding import Outcome, Recoding
from anonymizer.plan.counted import Counted
from anonymizer.plan.plan import Plan
from anonymizer.privacy.base import Constraint
from anonymizer.search.base import SearchProblem


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


@dataclass(frozen=True, eq=False)
class Found:
    """A release that a search found.

    Attributes
    ----------
    prepared: the records and the table of the recoding.
    outcome: with a recoding.
    promised: the recoding with its classes.
    """

    prepared: Prepared
    outcome: Outcome
    promised: Released

    @property
    def recoding(self) -> Recoding:
        """The recoding of the table."""
        return self.promised.recoding
