"""A release that follows from the frequency table alone, without another look at the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anonymizer.data.relation import CountedRows, Relation
from anonymizer.model.arrays import CodeArray, ranks_of
from anonymizer.model.counting import Packing, count, rank
from anonymizer.model.recoding import PublishedColumn, Recoding


def counted_rows(
    relation: Relation, recoding: Recoding, positions: Mapping[str, CodeArray], columns: Sequence[str]
) -> CountedRows | None:
    """Return the distinct published rows, sorted by what is published, with their records.

    Parameters
    ----------
    positions: for each sensitive attribute the code of each text in the dictionary, shape (texts,).
    columns: that are released.

    Returns
    -------
    None where the table does not tell what is released: a column is not in it, or its code stands for more
    than one text or for a value that is no text.
    """
    released, recoding = sorted(columns, key=relation.position), recoding.merged
    known = {published.name: published for published in recoding.published()}
    for name in released:
        if name not in known:
            unchanged = _unchanged(relation, recoding, name, positions)
            if unchanged is None:
                return None
            known[name] = unchanged
    kept = ~recoding.removed
    packing = Packing(int(kept.sum()))
    for name in released:
        published = known[name]
        packing.add(_places(published)[published.codes[kept]], len(published.labels))
    groups, distinct = rank(packing.take_keys())
    codes = packing.unpack(distinct)
    return CountedRows(
        tuple(released),
        tuple(tuple(sorted(known[name].labels)) for name in released),
        tuple(codes[:, place] for place in range(len(released))),
        count(groups.astype(np.int64), recoding.table.counts[kept], len(distinct)),
    )


def told(relation: Relation, name: str, positions: Mapping[str, CodeArray]) -> bool:
    """Tell whether the codes of a sensitive attribute tell what stands in the input.

    Parameters
    ----------
    positions: as for ``counted_rows``.
    """
    if name not in positions or not relation.holds_texts(name):
        return False
    return len(np.unique(positions[name])) == len(positions[name])


def _unchanged(
    relation: Relation, recoding: Recoding, name: str, positions: Mapping[str, CodeArray]
) -> PublishedColumn | None:
    """Return a sensitive attribute as it stands in the input, None where its codes do not tell."""
    if not told(relation, name, positions):
        return None
    of_texts = positions[name]
    texts = [text for text, _ in relation.dictionary(name) if text is not None]
    by_code = np.empty(len(of_texts), dtype=np.int32)
    by_code[of_texts] = np.arange(len(of_texts), dtype=np.int32)
    return PublishedColumn(name, tuple(texts), by_code[recoding.table.sensitive_codes(name)])


def _places(published: PublishedColumn) -> CodeArray:
    """Return the place of each label among the sorted ones, shape (labels,), int32."""
    return ranks_of(sorted(range(len(published.labels)), key=published.labels.__getitem__))
