"""A release read by its labels where it has numbers in their place, or by other names of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anonymizer.data.relation import Coding, DistinctRows, Groups, Projection, Relation, ReleaseQuery
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray
from anonymizer.model.labels import NumberColumns
from anonymizer.model.naming import in_spelling_of
from anonymizer.model.table import POINT_SIGN


class ReadNumbers(NamedTuple):
    """How numbers are read as labels.

    Attributes
    ----------
    own: their columns.
    empty: label of empty fields.
    excluded: whether the upper ends do not belong to their intervals.
    """

    own: NumberColumns
    empty: str
    excluded: bool = False


class _Translated(Relation):
    """The records of another relation, read with other columns.

    Parameters
    ----------
    own: the relation; closed with this one.
    """

    def __init__(self, own: Relation) -> None:
        self._own = own
        self.name, self.rows, self.sha256 = own.name, own.rows, own.sha256
        self.separator, self.renamed, self.spelled = own.separator, own.renamed, own.spelled
        self.index_columns, self.labels = own.index_columns, own.labels

    @property
    def ordered(self) -> bool:
        """Whether records have an order."""
        return self._own.ordered

    def records_query(self, projection: Projection, *, shuffled: bool = False) -> ReleaseQuery:
        """Return a query for the records under the names of the other relation."""
        return self._own.records_query(projection, shuffled=shuffled)

    def check_unchanged(self) -> None:
        """Check that the input is unchanged since it was opened."""
        self._own.check_unchanged()

    def close(self) -> None:
        """Close the other relation."""
        self._own.close()


class LabelledRelation(_Translated):
    """The records of a release, with one column of labels in place of each column, or two, of numbers.

    Parameters
    ----------
    stored: the release as it is stored; closed with this relation.
    numbers: by quasi-identifier.
    decimal: sign of numbers in texts.

    Raises
    ------
    DataError: it lacks a column, or two that belong together are not neighbours.
    """

    def __init__(self, stored: Relation, numbers: Mapping[str, ReadNumbers], decimal: str) -> None:
        super().__init__(stored)
        self._numbers = numbers
        self._decimal = decimal
        self.columns = tuple(self._named(stored.columns))

    def _named(self, columns: Sequence[str]) -> list[str]:
        first = {each.own.columns[0]: name for name, each in self._numbers.items()}
        named, rest = [], list(columns)
        while rest:
            column = rest.pop(0)
            name = first.get(column, column)
            for other in self._stored_columns(name)[1:] if column in first else ():
                if not rest or rest.pop(0) != other:
                    raise DataError(f"{self.name}: no column '{other}' next to '{column}'")
            named.append(name)
        lacking = [name for name in self._numbers if name not in named]
        if lacking:
            raise DataError(f"{self.name}: no column '{self._stored_columns(lacking[0])[0]}'")
        return named

    def _stored_columns(self, name: str) -> tuple[str, ...]:
        return self._numbers[name].own.columns if name in self._numbers else (name,)

    @property
    def stored(self) -> Relation:
        """The release with its numbers."""
        return self._own

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct labels of a column with their records, sorted by code point."""
        if column not in self._numbers:
            return self._own.dictionary(column)
        groups = self.group_counts([column])
        records = np.zeros(len(groups.values[0]), dtype=np.int64)
        np.add.at(records, groups.codes[:, 0], groups.counts)
        return list(zip(groups.values[0], records.tolist(), strict=True))

    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,)."""
        if column not in self._numbers:
            return self._own.codes(column)
        own = self._stored_columns(column)
        values = [[text for text, _ in self._own.dictionary(each)] for each in own]
        codes = np.column_stack([self._own.codes(each) for each in own])
        return self._labels(column, values, codes)[1]

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct rows of the labels of columns with their records."""
        found = self._own.group_counts([each for name in columns for each in self._stored_columns(name)])
        values, codes, place = [], [], 0
        for name in columns:
            width = len(self._stored_columns(name))
            own, at = found.values[place : place + width], found.codes[:, place : place + width]
            labels, ranks = self._labels(name, own, at) if name in self._numbers else (own[0], at[:, 0])
            values.append(tuple(labels))
            codes.append(ranks)
            place += width
        return Groups(tuple(values), np.column_stack(codes).astype(np.int32), found.counts)

    def _labels(
        self, name: str, values: Sequence[Sequence[str | None]], codes: CodeArray
    ) -> tuple[list[str], CodeArray]:
        """Return the sorted labels of rows of stored texts, and the position of each row's label."""
        read, decimal = self._numbers[name], self._decimal
        if not self._own.is_text(read.own.columns[0]):
            decimal = POINT_SIGN
        distinct, of_row = np.unique(codes, axis=0, return_inverse=True)
        labels = [
            read.own.read([own[code] for own, code in zip(values, row, strict=True)], decimal, read.empty)
            for row in distinct.tolist()
        ]
        known = sorted(set(labels))
        place = {label: rank for rank, label in enumerate(known)}
        ranks = np.array([place[label] for label in labels], dtype=np.int32)
        return known, ranks[of_row.reshape(-1)]

    def is_text(self, column: str) -> bool:
        """Return whether the values of a column are texts, as labels are."""
        return column in self._numbers or self._own.is_text(column)

    def relabel(self, labels: Mapping[str, Sequence[str | float | None]]) -> None:
        """Replace the values of columns without numbers in place of labels."""
        self._own.relabel(labels)


class RenamedRelation(_Translated):
    """The records of a relation whose columns have other names.

    Parameters
    ----------
    own: the relation; closed with this one.
    names: new names by the ones in the relation.
    """

    def __init__(self, own: Relation, names: Mapping[str, str]) -> None:
        super().__init__(own)
        self.columns = tuple(names.get(each, each) for each in own.columns)
        self._named = dict(zip(self.columns, own.columns, strict=True))
        self.labels = {names.get(each, each): labels for each, labels in own.labels.items()}
        self.marker = own.marker

    def _own_name(self, column: str) -> str:
        self.position(column)
        return self._named[column]

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted by code point."""
        return self._own.dictionary(self._own_name(column))

    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,)."""
        return self._own.codes(self._own_name(column))

    def combinations(self, codings: Sequence[Coding]) -> DistinctRows:
        """Return the distinct rows of the codes of columns, to be closed."""
        return self._own.combinations([replace(each, name=self._own_name(each.name)) for each in codings])

    def is_text(self, column: str) -> bool:
        """Return whether the values of a column are texts, rather than stored numbers or dates."""
        return self._own.is_text(self._own_name(column))

    def holds_texts(self, column: str) -> bool:
        """Return whether the values of a column are texts in every record."""
        return self._own.holds_texts(self._own_name(column))

    def stores_whole_numbers(self, column: str) -> bool:
        """Return whether the values of a column are stored as whole numbers."""
        return self._own.stores_whole_numbers(self._own_name(column))

    def relabel(self, labels: Mapping[str, Sequence[str | float | None]]) -> None:
        """Replace the values of columns."""
        self._own.relabel({self._own_name(name): own for name, own in labels.items()})


def renamed(relation: Relation, names: Mapping[str, str]) -> Relation:
    """Return a relation with other names of columns, where it has them and lacks the new names.

    Parameters
    ----------
    names: new names by the ones in the relation.
    """
    columns = frozenset(relation.columns)
    found = in_spelling_of(columns, names)
    own = {name: new for name, new in found.items() if name in columns and new not in columns}
    return RenamedRelation(relation, own) if own else relation


def labelled(table: Relation, numbers: Mapping[str, ReadNumbers], decimal: str | None) -> Relation:
    """Return a release with labels in place of numbers, itself without such numbers.

    Parameters
    ----------
    decimal: sign of numbers in texts; None for a point.

    Raises
    ------
    DataError: as for ``LabelledRelation``.
    """
    return LabelledRelation(table, numbers, decimal or POINT_SIGN) if numbers else table
