"""A distribution over nodes of a hierarchy, all at one level."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import Released
from anonymizer.model.recoding import value_labels
from anonymizer.model.table import SUPPRESSED, Column
from anonymizer.report.facts.drafts import Draft

MOST_COARSER = 0.1
"""Local recodings are drawn at the lowest level that at most this share of the records is coarser than."""

LOOKED_AT = 40
"""Entries whose labels are looked at, the largest; a chart has room for a quarter of them."""


def by_nodes(released: Released, position: int, smallest: int) -> Draft:
    """Count the nodes of the level that is published, or of the lowest that most records are published at.

    Values that are published as sets, without a hierarchy, are counted where they stand alone.
    """
    table, recoding = released.table, released.recoding
    attribute = table.quasi_identifiers[position]
    codes = table.quasi_identifier_codes(position)
    published = recoding.published()[position]
    kept_suppressed = np.array([label == SUPPRESSED for label in published.labels])[published.codes]
    after = np.where(recoding.removed, 0, table.counts)
    depth = np.where(kept_suppressed, attribute.hierarchy.height + 1, _levels(released, position))
    level = _level(released, position, depth, after)
    nodes, own_node = np.unique(attribute.nodes(level), return_inverse=True)
    fine = np.where(depth <= level, after, 0)
    before = np.bincount(own_node, attribute.column.counts, len(nodes))
    counts = np.column_stack([before, np.bincount(own_node[codes], fine, len(nodes))]).astype(np.int64)
    labels = attribute.hierarchy.labels if level else value_labels(attribute)
    names = tuple(labels[node] for node in nodes.tolist())
    # Of many nodes only the largest can be drawn; no other label is looked at.
    hidden = np.ones(len(names), dtype=bool)
    looked_at = np.argsort(-counts[:, 0], kind="stable")[:LOOKED_AT]
    own = [names[place] for place in looked_at.tolist()]
    hidden[looked_at] = _untold(own, set(published.labels), attribute.column, smallest)
    return Draft(
        _entries(released, level),
        names,
        counts,
        hidden,
        int(after.sum() - fine.sum()),
        np.array([table.records, after.sum()]),
    )


def _levels(released: Released, position: int) -> CodeArray:
    """Return the level that each row is published at; of sets, 0 for those of one value."""
    cells = released.recoding.cells(position)
    if cells.values.levels is not None:
        return cells.values.levels[cells.codes]
    top = released.table.quasi_identifiers[position].hierarchy.height
    return np.where(cells.values.covered[cells.codes] == 1, 0, max(top, 1)).astype(np.int32)


def _level(released: Released, position: int, depth: CodeArray, after: IntArray) -> int:
    """Return the level to draw."""
    own = released.recoding.levels
    if own is not None:
        return own[position]
    top = released.table.quasi_identifiers[position].hierarchy.height
    if released.recoding.cells(position).values.levels is None:
        return 0
    most = MOST_COARSER * after.sum()
    return next((level for level in range(top) if after[depth > level].sum() <= most), max(top - 1, 0))


def _entries(released: Released, level: int) -> str:
    if level == 0:
        return "values"
    if released.recoding.levels is not None:
        return f"published nodes (level {level})"
    return f"nodes of level {level}"


def _untold(names: Sequence[str], published: set[str], column: Column, smallest: int) -> BoolArray:
    """Tell which labels are not published and name a value that few people have, shape (names,)."""
    rare = [
        text for text, records in zip(column.texts, column.counts.tolist(), strict=True) if records < smallest
    ]
    words = {text for text in rare if re.fullmatch(r"\w+", text)}
    longer = [text for text in rare if text not in words]
    return np.array(
        [
            name not in published
            and (not words.isdisjoint(re.findall(r"\w+", name)) or any(text in name for text in longer))
            for name in names
        ],
        dtype=bool,
    )
