"""The distinct rows of a file, counted as fine or as coarse as memory allows.

If they do not fit, the run works on coarser ones or is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.config.search import EngineName
from anonymizer.data.relation import Coding, DistinctRows, Relation
from anonymizer.data.table import units_of_stored
from anonymizer.errors import InputError
from anonymizer.model.arrays import freeze
from anonymizer.model.measure import Measure
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute, Table, TableSource
from anonymizer.plan.memory import EngineLimits, combination_bytes

KEY_BYTES = 16
"""Memory for each record while it is counted: its key and the column being added."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The distinct rows of an input, in memory or in the engine.

    Attributes
    ----------
    most: maximum number in memory.
    beyond: whether there are more.
    engine: that counts; as in the config, never auto.
    because: why, in a sentence that may contain numbers of records and distinct rows.
    """

    combinations: DistinctRows
    most: int
    beyond: bool
    engine: str
    because: str


def count_distinct_rows(limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count the distinct rows of the codes of columns with the engine of a config."""
    name = limits.name
    if name == EngineName.MEMORY:
        return _in_memory(relation, codings, "engine.name says so")
    if name == EngineName.AUTO:
        return _estimated(limits, relation, codings)
    return _stored(limits, relation, codings, name, "engine.name says so")


def _estimated(limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count in memory if the rows certainly fit or are estimated to; DuckDB stores them otherwise."""
    each = combination_bytes(len(codings))
    space, most = limits.space, limits.room(len(codings))
    if relation.rows <= most and relation.rows * (KEY_BYTES + each) <= space:
        return _in_memory(relation, codings, f"all {relation.rows:,} records would fit")
    estimate = relation.estimated_combinations([coding.name for coding in codings])
    what = f"about {estimate:,} distinct rows of {relation.rows:,} records"
    if estimate <= most and relation.rows * KEY_BYTES + estimate * each <= space:
        return _in_memory(relation, codings, f"{what} fit")
    because = f"{what} may exceed memory, which holds at most {most:,}"
    return _stored(limits, relation, codings, EngineName.DUCKDB.value, because)


def _in_memory(relation: Relation, codings: Sequence[Coding], because: str) -> Counted:
    found = relation.combinations(codings)
    return Counted(found, found.number, False, EngineName.MEMORY.value, because)


def _stored(
    limits: EngineLimits, relation: Relation, codings: Sequence[Coding], engine: str, because: str
) -> Counted:
    found, most = relation.stored_distinct_rows(codings), limits.room(len(codings))
    return Counted(found, most, found.number > most, engine, because)


def finest(
    attributes: Sequence[QuasiIdentifier], sensitive: Sequence[SensitiveAttribute], found: Counted
) -> Table:
    """Return the frequency table of distinct rows that fit in memory; the engine drops them."""
    with found.combinations as combinations:
        codes, counts = combinations.fetch()
        units = units_of_stored(combinations, codes)
    for array in (codes, counts):
        freeze(array)
    return Table(tuple(attributes), tuple(sensitive), codes, Measure(counts, units))


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


def row_limit_message(found: Counted) -> str:
    """Return how many distinct rows there are, and how many fit in memory."""
    return (
        f"engine {found.engine}: the input has {found.combinations.number:,} distinct rows, "
        f"but only {found.most:,} fit in memory"
    )
