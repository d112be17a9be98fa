"""Originals beside a release whose quasi-identifiers were recoded."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.attacks.spreading import UniformExpansion, expand_uniformly
from anonymizer.attacks.truth import same_values
from anonymizer.errors import InputError
from anonymizer.model.adversary import AnatomyRelease, Original
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.counting import count, numbered
from anonymizer.model.table import Column
from anonymizer.utility.base import Comparison
from anonymizer.utility.spread_estimate import SpreadColumn, SpreadEstimate


def comparison_of(scene: AdversaryView) -> Comparison:
    """Return what the measures compare: the attributes that the release and the originals share.

    Raises
    ------
    InputError: the scene has no original records.
    """
    original = scene.original
    if original is None:
        raise InputError(f"{scene.release.source}: utility is measured against original records; give them")
    columns = {meaning.column.name: meaning.column for meaning in original.meanings}
    columns |= {name: own.attribute.column for name, own in original.sensitive.items()}
    sensitive = tuple(original.sensitive)
    codes = _codes(original)
    return Comparison(
        scene.release.source,
        columns,
        original.names,
        sensitive,
        counted(columns, codes, original.counts),
        _of_release(scene, original) if scene.grouped is None else _of_groups(scene.grouped, original),
        _suppressed(columns, {name: codes[name] for name in sensitive}, original.counts),
        scene,
    )


def counted(columns: dict[str, Column], codes: dict[str, IntArray], counts: IntArray) -> SpreadEstimate:
    """Return records as they are.

    Parameters
    ----------
    columns: the values of each attribute, by name.
    codes: value of each combination by attribute, shape (combinations,).
    counts: records of each combination, shape (combinations,), int64.
    """
    own = {name: SpreadColumn.as_it_is(codes[name], column.size) for name, column in columns.items()}
    return SpreadEstimate(own, counts)


def _suppressed(
    columns: dict[str, Column], sensitive: dict[str, IntArray], counts: IntArray
) -> SpreadEstimate:
    """Return records of which only the sensitive values are published."""
    keys, first = numbered([*sensitive.values()], len(counts))
    own = {
        name: SpreadColumn.as_it_is(sensitive[name][first], column.size)
        if name in sensitive
        else SpreadColumn.kept_suppressed(len(first), column.size)
        for name, column in columns.items()
    }
    return SpreadEstimate(own, count(keys, counts, len(first)))


def _codes(original: Original) -> dict[str, IntArray]:
    own = {name: original.codes[:, position].astype(np.int64) for position, name in enumerate(original.names)}
    return own | {name: each.codes for name, each in original.sensitive.items()}


def _of_release(scene: AdversaryView, original: Original) -> SpreadEstimate:
    release = scene.release
    columns = {}
    for name, meaning in zip(original.names, original.meanings, strict=True):
        codes = release.codes[:, release.names.index(name)].astype(np.int64)
        columns[name] = SpreadColumn(
            codes, len(meaning.sizes), meaning.column.size, expand_uniformly(meaning)
        )
    for name, own in original.sensitive.items():
        published = release.sensitive[name]
        meaning = same_values(own, published)
        size = own.attribute.column.size
        columns[name] = SpreadColumn(published.codes, len(meaning.sizes), size, expand_uniformly(meaning))
    return SpreadEstimate(columns, release.counts)


def _of_groups(grouped: AnatomyRelease, original: Original) -> SpreadEstimate:
    """Return records in groups, each of them with every value of its group in the same parts."""
    columns = {}
    for name, meaning in zip(original.names, original.meanings, strict=True):
        codes = grouped.codes[:, grouped.names.index(name)].astype(np.int64)
        columns[name] = SpreadColumn(
            codes, len(meaning.sizes), meaning.column.size, expand_uniformly(meaning)
        )
    held = grouped.sensitive
    shares = held.counts / grouped.sizes[held.owners]
    for name, own in original.sensitive.items():
        same = expand_uniformly(same_values(own, SensitiveCodes(held.attribute, held.values)))
        value = np.full(held.attribute.column.size, -1, dtype=np.int64)
        value[same.texts] = same.values
        known = value[held.values] >= 0
        parts = UniformExpansion(held.owners[known], value[held.values[known]], shares[known])
        columns[name] = SpreadColumn(grouped.group, len(grouped.groups), own.attribute.column.size, parts)
    return SpreadEstimate(columns, grouped.counts)
