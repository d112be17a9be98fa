"""Scenes in which it is known which original record became which released one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonymizer.attacks.coverage import meaning_of
from anonymizer.model.adversary import AdversaryView, Links, Original, PublishedTable
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.owners import Owners
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute
from tests.attacks.published import release
from tests.helpers.build import column, hierarchy
from tests.twins.microdata import Path, Value

Row = Sequence[Value]


def flat(values: Sequence[Value]) -> dict[Value, Path]:
    """Return a tree of two levels."""
    return {value: ("<missing>" if value is None else str(value), "*") for value in values}


def original(
    names: Sequence[str],
    rows: Sequence[Row],
    published: PublishedTable,
    became: Sequence[Sequence[str | None] | None],
    sensitive: Sequence[str] = (),
    trees: Mapping[str, Mapping[Value, Path]] | None = None,
) -> Original:
    """Return the original records; the sensitive columns come last, None became of a suppressed record."""
    width = len(names) - len(sensitive)
    distinct = list(dict.fromkeys(tuple(row) for row in rows))
    place = {row: position for position, row in enumerate(distinct)}
    released = _places(published)
    pairs = Counter(
        (place[tuple(row)], released[tuple(own)]) for row, own in zip(rows, became, strict=True) if own
    )
    meanings, codes, secret = [], [], {}
    for position, name in enumerate(names):
        cells = [row[position] for row in distinct]
        numeric = any(isinstance(cell, int | float) for cell in cells)
        own, own_codes = column(name, cells, numeric=numeric)
        if position >= width:
            secret[name] = SensitiveCodes(SensitiveAttribute(own), own_codes.astype(np.int64))
            continue
        paths = (trees or {}).get(name) or flat(list(dict.fromkeys(cells)))
        tree, leaf = hierarchy(paths, name)
        leaves = np.array([leaf[_value(text, paths)] for text in own.texts], dtype=np.int32)
        attribute = QuasiIdentifier(own, tree, leaves, 1.0, 0, tree.height)
        meanings.append(meaning_of(attribute, published.labels[published.names.index(name)]))
        codes.append(own_codes)
    numbers = Counter(tuple(row) for row in rows)
    links = sorted(pairs)
    return Original(
        "original.csv",
        tuple(meanings),
        np.column_stack(codes),
        secret,
        np.array([numbers[row] for row in distinct], dtype=np.int64),
        Links(
            np.array([pair[0] for pair in links], dtype=np.int64),
            np.array([pair[1] for pair in links], dtype=np.int64),
            np.array([pairs[pair] for pair in links], dtype=np.int64),
        ),
        tuple(names[:width]),
    )


def _value(text: str, paths: Mapping[Value, Path]) -> Value:
    return next(value for value, path in paths.items() if path[0] == text)


def _places(published: PublishedTable) -> dict[tuple[str | None, ...], int]:
    columns = [
        [labels[code] for code in published.codes[:, position]]
        for position, labels in enumerate(published.labels)
    ]
    for own in published.sensitive.values():
        texts = [
            None if code == own.attribute.column.missing else own.attribute.column.texts[code]
            for code in own.codes
        ]
        columns.append(texts)
    return {row: position for position, row in enumerate(zip(*columns, strict=True))}


def owned(
    own: Original,
    published: PublishedTable,
    rows: Sequence[Row],
    became: Sequence[Sequence[str | None] | None],
    units: Mapping[str, Sequence[int]],
) -> Original:
    """Return original records as ``original`` does, with the unit of each."""
    distinct = list(dict.fromkeys(tuple(row) for row in rows))
    places = _places(published)
    placed = [-1 if row is None else places[tuple(row)] for row in became]
    at = [distinct.index(tuple(row)) for row in rows]
    numbers = {name: np.array(each, dtype=np.int64) for name, each in units.items()}
    return replace(own, owners=Owners.of(np.array(at), np.array(placed), numbers))


def scene(
    names: Sequence[str],
    rows: Sequence[Row],
    became: Sequence[Sequence[str | None] | None],
    sensitive: Sequence[str] = (),
    trees: Mapping[str, Mapping[Value, Path]] | None = None,
) -> AdversaryView:
    """Return the scene of a release and the original."""
    published = release(names, [row for row in became if row], sensitive)
    return AdversaryView(published, None, original(names, rows, published, became, sensitive, trees))
