"""What a search is: a problem in, an outcome out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from anonymizer.loss.base import LossMetric
from anonymizer.model.out_of_core import TableSource
from anonymizer.model.outcome import Outcome
from anonymizer.model.table import Table
from anonymizer.plugins import Settings as PlugInSettings
from anonymizer.privacy.base import ClassConstraint, TableConstraint
from anonymizer.search.control import Control
from anonymizer.search.gate import AttackCheck


class SuppressionMethod(StrEnum):
    """What is suppressed of a class that fails a constraint."""

    CLASSES = "classes"
    RECORDS = "records"
    CELLS = "cells"


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What a search is asked.

    Attributes
    ----------
    table: the frequency table with its hierarchies and the levels that may be used.
    class_constraints, table_constraints: all must hold on the release.
    metric: to be minimised.
    limit: most records that may be suppressed.
    keep_rows: whether suppressed records stay, with ``*`` in every quasi-identifier, where that class holds.
    moving_reference: whether p is that of the release instead of the input's.
    k: of the config's k-anonymity, None without one.
    suppression: what is suppressed of a class that fails.
    gate: attackers that must not break the release either.
    seed: of everything random.
    source: finer tables of the same records, where ``table`` tells them apart at the highest allowed levels
        only, as one that tells all apart does not fit in memory; None where ``table`` does.
    most: combinations that may be held in memory where there is a source.
    placing: whether it is asked in which region each combination of the source is at the end, as what is
        released is not in the table.
    """

    table: Table
    class_constraints: tuple[ClassConstraint, ...]
    table_constraints: tuple[TableConstraint, ...]
    metric: LossMetric
    limit: int
    keep_rows: bool
    moving_reference: bool
    k: int | None
    suppression: SuppressionMethod = SuppressionMethod.CLASSES
    gate: AttackCheck = field(default_factory=AttackCheck)
    seed: int = 0
    source: TableSource | None = None
    most: int = 0
    placing: bool = False

    @property
    def minimum_size(self) -> int:
        """No class with fewer records satisfies every constraint."""
        return max((each.model.minimum_size for each in self.class_constraints), default=1)


class NoSettings(PlugInSettings):
    """The parameters of an algorithm that has none."""


class SearchAlgorithm(ABC):
    """Proposes recodings until one satisfies every constraint and none better is left.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    suppressions: the methods of suppression that it can use.
    in_groups: whether what it finds is published in two tables, joined by the group of each record.
    out_of_core: whether a source of tables will do, where the frequency table does not fit in memory.
    by_codes: whether what it finds beyond memory tells of any record, by its codes, what becomes of it; else
        only columns that are in the table can be released then.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoSettings
    suppressions: ClassVar[frozenset[SuppressionMethod]] = frozenset({SuppressionMethod.CLASSES})
    in_groups: ClassVar[bool] = False
    out_of_core: ClassVar[bool] = False
    by_codes: ClassVar[bool] = True

    def __init__(self, settings: PlugInSettings | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()

    def out_of_core_gaps(self, problem: SearchProblem) -> Iterator[str]:  # noqa: ARG002 - of any problem
        """Say what of its parameters or of a problem it cannot do where the table does not fit in memory.

        Asked only where it can do anything at all then.
        """
        yield from ()

    @abstractmethod
    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best recoding found, with what is proven about it.

        Deterministic: the same problem and the same number of steps give the same outcome.
        """
