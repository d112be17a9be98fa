"""Who counts the distinct combinations of an input, and whether they are held in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anonymizer.config.model import Config
from anonymizer.config.search import EngineName
from anonymizer.data.distinct_rows import DistinctRows
from anonymizer.data.relation import Coding, Relation
from anonymizer.flow.engine import combination_bytes, room, search_bytes
from anonymizer.model.arrays import freeze
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute, Table

KEY_BYTES = 16
"""Held for each record while it is counted in memory: its key and the column being added."""


@dataclass(frozen=True)
class EngineChoice:
    """Which engine counts.

    Attributes
    ----------
    name: as in the config, never auto.
    because: a sentence that may name numbers of records and combinations.
    """

    name: str
    because: str


@dataclass(frozen=True, eq=False)
class Counted:
    """The distinct combinations of an input, wherever they are kept.

    Attributes
    ----------
    most: that a search may hold in memory.
    beyond: whether there are more.
    """

    combinations: DistinctRows
    most: int
    beyond: bool
    choice: EngineChoice


class Engine(ABC):
    """Counts the combinations of an input."""

    @abstractmethod
    def counted(self, config: Config, relation: Relation, codings: Sequence[Coding]) -> Counted:
        """Return the combinations of some columns."""


class MemoryEngine(Engine):
    """Counts in memory, whatever their number."""

    def counted(
        self,
        config: Config,  # noqa: ARG002 - whatever the limits
        relation: Relation,
        codings: Sequence[Coding],
    ) -> Counted:
        """Return the combinations in memory."""
        return _in_memory(relation, codings, "engine.name says so")


class OutOfCoreEngine(Engine):
    """Lets the engine of the relation count and keep what does not fit.

    Parameters
    ----------
    name: of that engine.
    """

    def __init__(self, name: EngineName) -> None:
        self._name = name

    def counted(self, config: Config, relation: Relation, codings: Sequence[Coding]) -> Counted:
        """Return the combinations, fetched only where they fit."""
        return _kept(config, relation, codings, EngineChoice(self._name.value, "engine.name says so"))


class EstimatingEngine(Engine):
    """Counts in memory what surely fits there, or is estimated to; lets DuckDB keep the rest."""

    def counted(self, config: Config, relation: Relation, codings: Sequence[Coding]) -> Counted:
        """Return the combinations where an estimate of their number suggests."""
        each = combination_bytes(len(codings))
        space = search_bytes(config)
        most = room(config, len(codings))
        if relation.rows <= most and relation.rows * (KEY_BYTES + each) <= space:
            return _in_memory(relation, codings, f"all {relation.rows:,} records would fit")
        estimate = relation.estimated_combinations([coding.name for coding in codings])
        what = f"about {estimate:,} distinct combinations of {relation.rows:,} records"
        if estimate <= most and relation.rows * KEY_BYTES + estimate * each <= space:
            return _in_memory(relation, codings, f"{what} fit")
        because = f"{what} may not fit in the memory, which has room for {most:,}"
        return _kept(config, relation, codings, EngineChoice(EngineName.DUCKDB.value, because))


ENGINES: Mapping[EngineName, Engine] = {
    EngineName.AUTO: EstimatingEngine(),
    EngineName.MEMORY: MemoryEngine(),
    EngineName.DUCKDB: OutOfCoreEngine(EngineName.DUCKDB),
    EngineName.SPARK: OutOfCoreEngine(EngineName.SPARK),
}
"""What each name in a config stands for."""


def count_distinct_rows(config: Config, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count the distinct combinations of the codes of columns as the config says."""
    return ENGINES[config.engine.name].counted(config, relation, codings)


def _in_memory(relation: Relation, codings: Sequence[Coding], because: str) -> Counted:
    combinations = relation.combinations(codings)
    choice = EngineChoice(EngineName.MEMORY.value, because)
    return Counted(combinations, combinations.number, beyond=False, choice=choice)


def _kept(config: Config, relation: Relation, codings: Sequence[Coding], choice: EngineChoice) -> Counted:
    combinations = relation.stored_distinct_rows(codings)
    most = room(config, len(codings))
    return Counted(combinations, most, beyond=combinations.number > most, choice=choice)


def finest(
    attributes: Sequence[QuasiIdentifier], sensitive: Sequence[SensitiveAttribute], found: Counted
) -> Table:
    """Return the frequency table of combinations that fit in memory; they are kept no longer."""
    with found.combinations as combinations:
        codes, counts = combinations.fetch()
    for array in (codes, counts):
        freeze(array)
    return Table(tuple(attributes), tuple(sensitive), codes, counts)
