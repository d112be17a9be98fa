"""Columns released in groups: their labels, and the columns of a file put into them.

The values become the groups at once. Search, measures, attacks and audit then see what the recipient sees.
The groups are those of level 1 of the column's hierarchy, built from all records.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from anonymizer.config.load import check_columns
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, ReadColumn, read_columns
from anonymizer.errors import DataError, HierarchyError
from anonymizer.hierarchy.placement import Placement, place
from anonymizer.model.labels import SUPPRESSED, NumberLabels, in_natural_order, interval_of, number_text
from anonymizer.model.table import Numerals
from anonymizer.plan.columns import Bands, Columns

BandLabels = Sequence[str | float | None]
"""The label of each text in the dictionary of a column."""


def put_in_bands(columns: Columns, relation: Relation) -> None:
    """Replace the values of columns of an input by the groups that the plan releases.

    Raises
    ------
    InputError: a value or a hierarchy does not fit the config, or the engine cannot replace values.
    """
    if columns.bands:
        check_columns(columns, relation.columns, relation.name, columns.config)
        relation.relabel({name: _labels(columns, relation, name, own) for name, own in columns.bands.items()})


def put_values_in_bands(columns: Columns, relation: Relation) -> None:
    """Do the same for a file that may be a release, whose columns may have the groups already."""
    found = {}
    for name, own in columns.bands.items():
        with suppress(DataError, HierarchyError):
            found[name] = _labels(columns, relation, name, own)
    if found:
        relation.relabel(found)


def _labels(columns: Columns, relation: Relation, name: str, own: Bands) -> BandLabels:
    """Return what is released for each text of a column; missing values stay as they are.

    Raises
    ------
    DataError: a value is not of the column's type.
    HierarchyError: the hierarchy does not fit the values, or has nothing to release in their place.
    """
    request = ColumnRequest(name, own.column.type, columns.numerals, own.column.dates)
    read = read_columns(relation, [request], columns.missing)[name]
    hierarchy, leaf = place(
        read.column,
        own.hierarchy.source,
        Placement(columns.folder, own.hierarchy.unknown, columns.missing),
    )
    if hierarchy.height < 2:
        raise HierarchyError(
            f"attributes.{name}.labels: its hierarchy has nothing between the values and '{SUPPRESSED}'; "
            "add a level, or set role: drop"
        )
    nodes = hierarchy.ancestors[1, leaf].tolist()
    shown: list[str | float | None] = [hierarchy.labels[node] for node in nodes]
    if columns[name].distance == "ordered":
        groups = [hierarchy.labels[node] for node in nodes[: len(read.column.present)]]
        _check_order(groups, name, columns.numerals.decimal)
    if own.form is NumberLabels.MIDPOINT:
        stored = not relation.is_text(name)
        shown = [
            None
            if code == read.column.missing
            else _midpoint(str(label), name, columns.numerals, stored=stored)
            for code, label in enumerate(shown)
        ]
    return _for_texts(relation.dictionary(name), read, shown)


def _check_order(labels: Sequence[str], name: str, decimal: str) -> None:
    """Check that recipients, who see the labels alone, put them in the order of the values."""
    own = list(dict.fromkeys(labels))
    if own != in_natural_order(own, decimal):
        raise HierarchyError(
            f"attributes.{name}.labels: the texts of its groups, such as '{own[0]}', are not sorted in the "
            "order of the values, which distance: ordered needs; use labels: midpoint, or distance: equal"
        )


def _for_texts(
    dictionary: Sequence[tuple[str | None, int]], read: ReadColumn, shown: BandLabels
) -> BandLabels:
    missing, codes = read.column.missing, read.codes.tolist()
    return [
        text if code == missing else shown[code] for (text, _), code in zip(dictionary, codes, strict=True)
    ]


def _midpoint(label: str, name: str, numerals: Numerals, *, stored: bool) -> str | float:
    """Return the middle of a group of numbers, as text or as a stored number."""
    found = interval_of(label, numerals.decimal)
    if found is None or found.low is None or found.high is None:
        what = "has no lower or no upper end" if found else "is no interval of numbers"
        raise HierarchyError(
            f"attributes.{name}.labels: '{label}' {what}, so it has no midpoint; use labels: range, or "
            "hierarchy intervals"
        )
    text = number_text((found.low + found.high) / 2)
    if text is None:
        raise HierarchyError(
            f"attributes.{name}.labels: the midpoint of '{label}' has more digits than numbers of 64 bits "
            "hold; use labels: range"
        )
    return float(text) if stored else text.replace(".", numerals.decimal)
