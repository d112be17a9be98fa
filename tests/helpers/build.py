"""The product's values from plain specifications."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

from anonymizer.hierarchy.source import compile_tree
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.labels import MISSING
from anonymizer.model.measure import DividedRows, Measure, Ties
from anonymizer.model.table import Column, Hierarchy, QuasiIdentifier, SensitiveAttribute, Table, ValueType
from anonymizer.model.units import Units
from anonymizer.privacy.base import PRIVACY_MODELS, PrivacyModel
from tests.twins.microdata import Microdata, Path, Value, in_order


def model(name: str, parameters: Mapping[str, Any]) -> PrivacyModel:
    """Return a privacy model with parameters as they stand in a config."""
    plug_in = PRIVACY_MODELS[name]
    return plug_in.of(plug_in.Settings.model_validate(dict(parameters)))


def hierarchy(paths: Mapping[Value, Path], name: str) -> tuple[Hierarchy, dict[Value, int]]:
    """Return the compiled tree and the leaf position of each value."""
    tree: nx.DiGraph[tuple[int, str]] = nx.DiGraph()
    for path in paths.values():
        tree.add_node((len(path) - 1, path[-1]))
        for level in range(len(path) - 1):
            tree.add_edge((level + 1, path[level + 1]), (level, path[level]))
    compiled = compile_tree(tree, name)
    position = {compiled.labels[node]: leaf for leaf, node in enumerate(compiled.ancestors[0])}
    return compiled, {value: position[path[0]] for value, path in paths.items()}


def column(name: str, cells: list[Value], *, numeric: bool) -> tuple[Column, np.ndarray]:
    """Return the dictionary-encoded column and the code of each cell."""
    values = in_order(set(cells))
    occurrences = Counter(cells)
    numbers = np.array([np.nan if value is None else value for value in values]) if numeric else None
    own = Column(
        name,
        ValueType.INTEGER if numeric else ValueType.TEXT,
        tuple(MISSING if value is None else str(value) for value in values),
        np.array([occurrences[value] for value in values], dtype=np.int64),
        None if numbers is None else numbers.astype(np.float64),
        len(values) - 1 if None in occurrences else None,
    )
    code = {value: position for position, value in enumerate(values)}
    return own, np.array([code[cell] for cell in cells], dtype=np.int32)


def _quasi_identifier(data: Microdata, position: int) -> tuple[QuasiIdentifier, np.ndarray]:
    spec, cells = data.quasi_identifiers[position], data.column(position)
    own, codes = column(spec.name, cells, numeric=spec.numeric)
    tree, leaf = hierarchy(spec.paths, spec.name)
    leaves = np.array([leaf[value] for value in in_order(set(cells))], dtype=np.int32)
    return QuasiIdentifier(own, tree, leaves, spec.weight, spec.minimum, spec.maximum), codes


def _sensitive(data: Microdata, number: int) -> tuple[SensitiveAttribute, np.ndarray]:
    spec = data.sensitive[number]
    cells = data.column(len(data.quasi_identifiers) + number)
    own, codes = column(spec.name, cells, numeric=spec.numeric)
    if spec.paths is None:
        return SensitiveAttribute(own, None, None, spec.distance), codes
    tree, leaf = hierarchy(spec.paths, spec.name)
    leaves = np.array([leaf[value] for value in in_order(set(cells))], dtype=np.int32)
    return SensitiveAttribute(own, tree, leaves, spec.distance), codes


def table(
    data: Microdata,
    *,
    whole: bool = False,
    linked: bool = False,
    divided: bool = False,
    recorded: bool = False,
) -> Table:
    """Return the frequency table of the records, with those of a person tied if suppressed as a whole.

    Parameters
    ----------
    divided: whether its rows are divided by persons.
    recorded: whether the records of each person in each row are counted.
    """
    found = table_and_rows(data, whole=whole, linked=linked, recorded=recorded)[0]
    return found.divided(divided_rows(data, recorded=recorded)) if divided else found


def table_and_rows(
    data: Microdata, *, whole: bool = False, linked: bool = False, recorded: bool = False
) -> tuple[Table, np.ndarray]:
    """Return the same without divided rows, and the row of each record."""
    own = [_quasi_identifier(data, position) for position in range(len(data.quasi_identifiers))]
    sensitive = [_sensitive(data, number) for number in range(len(data.sensitive))]
    codes = np.stack([codes for _, codes in [*own, *sensitive]], axis=1)
    distinct, row_of, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    row_of, units, ties = row_of.ravel().astype(np.int64), {}, None
    if data.persons:
        own_persons = persons(data)
        if whole or linked:
            row_of, rows, ties = Ties.of_records(row_of, own_persons, len(counts), linked=linked)
            distinct, counts = distinct[rows], np.bincount(row_of)
        units["person"] = Units.of_items(row_of, own_persons, len(counts), recorded=recorded)
    found = Table(
        tuple(attribute for attribute, _ in own),
        tuple(attribute for attribute, _ in sensitive),
        np.ascontiguousarray(distinct),
        Measure(counts.astype(np.int64), units, ties),
    )
    return found, row_of


def persons(data: Microdata) -> IntArray:
    """Return the person of each record, -1 for one of its own."""
    return np.array([-1 if each is None else each for each in data.persons], dtype=np.int64)


def divided_rows(data: Microdata, *, recorded: bool = False) -> DividedRows:
    """Return the distinct rows of the records, divided by persons."""
    _, row_of = table_and_rows(data)
    return DividedRows.of(row_of, {"person": persons(data)}, ["person"] if recorded else [])


def classes(data: Microdata, class_of: list[int]) -> Classes:
    """Return a partition of the records into classes that are numbered from 0 without a gap."""
    codes = {
        spec.name: SensitiveCodes(attribute, own.astype(np.int64))
        for spec, (attribute, own) in zip(
            data.sensitive, (_sensitive(data, number) for number in range(len(data.sensitive))), strict=True
        )
    }
    ones = np.ones(len(class_of), dtype=np.int64)
    return Classes(np.array(class_of, dtype=np.int64), Measure(ones), max(class_of) + 1, codes)
