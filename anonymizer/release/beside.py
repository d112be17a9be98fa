"""Records that join an earlier release, which goes on with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anonymizer.data.relation import AppendedFile, AppendWriter, CountedRows, Groups, Relation
from anonymizer.model.arrays import CodeArray
from anonymizer.model.counting import Packing, add_up
from anonymizer.release.formats import release_format
from anonymizer.release.order import SORTED, RowOrder
from anonymizer.release.publishable import Publishable


@dataclass(frozen=True, eq=False)
class FileAppend(Publishable):
    """Records that are written to a file of their own first, which an engine reads beside the earlier ones.

    Attributes
    ----------
    earlier: path of the earlier release, whose kind of file it is, so that both have the same types.
    writer: of the earlier records.
    new: what is published of the new ones.
    scratch: a folder for the file.
    """

    earlier: Path
    writer: AppendWriter
    new: Publishable
    scratch: Path

    def write(self, path: Path, order: RowOrder) -> None:
        """Write all records.

        Raises
        ------
        OutputError: the file cannot be written.
        DataError: a column holds another type in the new records, or the earlier file has changed.
        AuditFailed: the new records were not written as they should be.
        """
        new = self.scratch / f"new{''.join(self.earlier.suffixes[-2:])}"
        self.new.write(new, SORTED)
        further = AppendedFile(new, self.new.compare)
        release_format(path).write_beside(self.writer, further, path, order.secret())
        new.unlink()


def count_union(
    earlier: Relation, groups: Groups, names: Sequence[str], new: CountedRows
) -> CountedRows | None:
    """Return the distinct rows of an earlier release and of new records, sorted, with the records of both.

    Parameters
    ----------
    groups: of the earlier release, by the columns ``names``.

    Returns
    -------
    None where the groups do not tell the earlier release: a column is not among theirs, or has values that
    are no texts. The columns are in its order.
    """
    columns = earlier.columns
    if set(columns) != set(names) or not all(earlier.holds_texts(name) for name in columns):
        return None
    packing, labels = Packing(len(groups.counts) + len(new.counts)), []
    for name in columns:
        position, place = names.index(name), new.columns.index(name)
        before, own = groups.values[position], new.labels[place]
        both = sorted({text or "" for text in before} | set(own))
        codes = [_codes(before, both)[groups.codes[:, position]], _codes(own, both)[new.codes[place]]]
        packing.add(np.concatenate(codes), len(both))
        labels.append(tuple(both))
    records = np.concatenate([groups.counts, new.counts])
    distinct, counts = add_up(packing.take_keys(), records, packing.space)
    codes_of = packing.unpack(distinct)
    return CountedRows(
        columns, tuple(labels), tuple(codes_of[:, place] for place in range(len(columns))), counts
    )


def _codes(texts: Sequence[str | None], labels: Sequence[str]) -> CodeArray:
    """Return the place of each text among sorted labels, shape (texts,), int32."""
    places = {label: place for place, label in enumerate(labels)}
    return np.array([places[text or ""] for text in texts], dtype=np.int32)
