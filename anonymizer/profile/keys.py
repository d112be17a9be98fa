"""Columns that number units: which columns all records of a value agree in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from anonymizer.data.relation import Relation
from anonymizer.model.table import ValueType
from anonymizer.profile.column_statistics import ColumnFacts
from anonymizer.profile.combinations import UniquenessProfile


def told_by_key(column: ColumnFacts, others: Iterable[ColumnFacts], counter: UniquenessProfile) -> list[str]:
    """Return the columns in which all records of a value agree, if these look like numbers of groups.

    Such a column has many codes that repeat, and tells at least ``KEY_TELLS`` others.
    """
    if not may_number_groups(column):
        return []
    told = [each.name for each in others if each.name != column.name and counter.tells(column, each)]
    return told if len(told) >= KEY_TELLS else []


def may_number_groups(column: ColumnFacts) -> bool:
    """Return whether a column has many whole numbers or codes that repeat, not times of day."""
    coded = column.type is ValueType.INTEGER or (
        column.type is ValueType.TEXT
        and not column.clock
        and all(any(map(str.isdigit, text)) for text in column.texts)
    )
    many = column.distinct >= KEY_VALUES and column.distinctness > KEY_SHARE
    return coded and many and column.distinct < column.present


def may_number_homes(column: ColumnFacts) -> bool:
    """Return whether as many records share a value on average as people live together."""
    return column.present <= MEAN_HOME * column.distinct


MEAN_HOME = 8
"""Maximum mean number of records of a household."""


def released_keys(
    relation: Relation, names: Iterable[str], columns: Mapping[str, ColumnFacts]
) -> dict[str, list[str]]:
    """Return which columns number groups of records, each with the columns in which a group agrees.

    Parameters
    ----------
    relation: open; whose records have an order.
    names: of the columns that are looked at, among ``columns``.
    """
    counter = UniquenessProfile(relation)
    others = [columns[name] for name in relation.columns if name in columns]
    found = {name: told_by_key(columns[name], others, counter) for name in names}
    return {name: told for name, told in found.items() if told}


def time_of_panel(key: ColumnFacts, known: Sequence[ColumnFacts], counter: UniquenessProfile) -> str | None:
    """Return the column that tells the few records of each value of a key apart; None without one."""
    if key.clock or key.type in (ValueType.NUMBER, ValueType.DATE) or key.distinctness < KEY_DISTINCT:
        return None
    most = OFTEN_SEEN * key.present / key.distinct
    for other in sorted(known, key=lambda each: each.distinct):
        if most < other.distinct:
            break
        if counter.joint([key.name, other.name], 2).unique == key.rows:
            return other.name
    return None


OFTEN_SEEN = 4
"""Maximum number of times of a panel by the mean number of records of a person."""

KEY_OF, KEY_DISTINCT = 3, 0.02
"""Minimum number of quasi-identifiers that a key determines, and of its distinct values per record."""

KEY_VALUES, KEY_SHARE, KEY_TELLS = 100, 0.1, 2
"""Minimum number of values of a key that no name tells, values per record, and columns that it tells."""
